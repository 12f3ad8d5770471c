"""The rooms and the one-way rule between them, read from the imports themselves."""

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import app.pages
from data.knob_table import KNOB_TABLE

ROOT = Path(__file__).resolve().parents[1]
CODE = ("data", "ingest", "app", "bench", "scripts", "tests")
PAGES = tuple(page.name for page in app.pages.PAGES)
FIGURED = tuple(page for page in PAGES if (ROOT / "app" / page / "figures").is_dir())
# Who (a module or a folder) may not import what (top-level packages, modules or folders).
FORBIDDEN = [
    ("data", ("ingest", "app", "bench", "tests", "scripts", "dash", "plotly", "flask")),
    ("data/queries", ("plotly", "dash", "duckdb", "polars")),
    ("data/models", ("duckdb", "deltalake", "polars", "data.connection", "data.queries")),
    ("data/analysis", ("duckdb", "deltalake", "data.connection", "data.queries")),
    ("ingest", ("app", "bench", "tests", "scripts", "dash", "plotly")),
    ("app", ("ingest", "bench", "tests", "scripts")),
    ("app/kit", (*(f"app.{page}" for page in PAGES), "app.serve", "app.pages", "app.server")),
    ("app/serve", (*(f"app.{page}" for page in PAGES), "app.pages", "app.server")),
    *[
        (f"app/{page}", (*(f"app.{p}" for p in PAGES if p != page), "app.pages", "app.server"))
        for page in PAGES
    ],
    *[(f"app/{page}/figures", ("data.connection", "data.queries")) for page in FIGURED],
    ("app/kit/url_state.py", ("dash", "plotly", "duckdb")),
    ("app/kit/clause.py", ("dash", "plotly", "duckdb")),
    ("app", ("duckdb",)),
    ("bench", ("tests",)),
    ("scripts", ("tests",)),
]
# Folders and modules of ingest: each imports only those before it, and no other of its own row.
INGEST_ORDER = (
    ("declarations",),
    ("records",),
    ("settings",),
    ("files",),
    ("formats",),
    ("lake",),
    ("discover",),
    ("logs", "meters", "tables"),
    ("runs",),
    ("cluster",),
    ("proposals", "meter_clocks"),
    ("unread",),
    ("report",),
    ("propose",),
    ("proposed_settings",),
    ("pipeline", "derive"),
    ("outline",),
    ("correct",),
    ("arguments",),
    ("__main__",),
)
MOST_FLOORS = 8


# A program of its own, which leaves with an artifact: nothing of ours imports it, it imports none.
LEAVES = ROOT / "app/artifact/verify"


def modules(folder: str) -> list[Path]:
    start = ROOT / folder
    if start.suffix:
        return [start]
    return sorted(path for path in start.rglob("*.py") if path.parent != LEAVES)


_SQL = re.compile(r"\b(SELECT|FROM|WHERE|GROUP BY)\b")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the tests ask of a module: no tree is kept, since all of them are a gigabyte.

    Attributes:
        imports: Every dotted name that it imports, wherever in it: `from a import b` gives `a.b`.
        calls: Line and name of what is called by a plain name and prints or exits.
        queries: Line and beginning of texts that are SQL.
    """

    imports: tuple[str, ...]
    calls: tuple[str, ...]
    queries: tuple[str, ...]


@cache
def facts_of(path: Path) -> Facts:
    imports: list[str] = []
    calls: list[str] = []
    queries: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} imports relatively"
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("print", "exit", "breakpoint"):
                calls.append(f"{node.lineno} {node.func.id}")
        elif isinstance(node, ast.Constant) and re.search(_SQL, str(node.value)):
            queries.append(f"{node.lineno} {str(node.value)[:60]!r}")
    return Facts(tuple(imports), tuple(calls), tuple(queries))


def imports(path: Path) -> tuple[str, ...]:
    return facts_of(path).imports


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize(("who", "what"), FORBIDDEN, ids=[f"{w}-{n[0]}" for w, n in FORBIDDEN])
def test_the_one_way_rule(who: str, what: tuple[str, ...]) -> None:
    found = modules(who)
    assert found, f"there is no {who}"
    bad = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in found
        for name in imports(path)
        for package in what
        if is_inside(name, package)
    ]
    assert bad == []


@cache
def ingest_imports() -> dict[str, set[str]]:
    """Each module of ingest but the generator's, with the modules of ingest that it imports."""
    paths = [path for path in modules("ingest") if path.parent.name != "sample"]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    known = {name.removesuffix(".__init__") for name in names.values()}
    return {
        name.removesuffix(".__init__"): {
            full if full in known else full.rpartition(".")[0]
            for full in imports(path)
            if is_inside(full, "ingest")
        }
        for path, name in names.items()
    }


def ingest_folder(module: str) -> str:
    return f"{module}.".split(".")[1]


def test_each_folder_of_ingest_imports_only_those_before_it() -> None:
    place = {folder: at for at, row in enumerate(INGEST_ORDER) for folder in row}
    found = {ingest_folder(module) for module in ingest_imports()} - {""}
    assert found == set(place)
    bad = [
        f"{module} imports {other}"
        for module, others in ingest_imports().items()
        for other in others
        if ingest_folder(module) != ingest_folder(other)
        and (module, other) != ("ingest.__main__", "ingest.sample")
        and place.get(ingest_folder(other), 99) >= place[ingest_folder(module)]
    ]
    assert bad == []


def test_dask_is_imported_by_the_folder_of_clusters_alone() -> None:
    dask = ("dask", "dask_jobqueue", "distributed")
    found = {
        path.relative_to(ROOT).parts[:2]
        for folder in ("data", "ingest", "app")
        for path in modules(folder)
        if any(is_inside(name, package) for name in imports(path) for package in dask)
    }
    assert found == {("ingest", "cluster")}


def test_the_generator_of_raw_logs_imports_nothing_else_of_ingest() -> None:
    bad = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("ingest/sample")
        for name in imports(path)
        if is_inside(name, "ingest") and not is_inside(name, "ingest.sample")
    ]
    assert bad == []


@pytest.mark.parametrize("folder", [folder for row in INGEST_ORDER[2:10] for folder in row])
def test_a_folder_of_ingest_has_few_floors(folder: str) -> None:
    inside = {
        module: {other for other in others if is_inside(other, f"ingest.{folder}")}
        for module, others in ingest_imports().items()
        if is_inside(module, f"ingest.{folder}") and module != f"ingest.{folder}"
    }

    def floor(module: str) -> int:
        return 1 + max((floor(other) for other in inside.get(module, ())), default=0)

    assert max(map(floor, inside)) <= MOST_FLOORS


def test_the_rule_sees_imports_inside_functions(tmp_path: Path) -> None:
    late = tmp_path / "late.py"
    late.write_text("def f():\n    import dash.html\n    from app import ids\n")
    assert list(imports(late)) == ["dash.html", "app.ids"]


def test_the_program_that_leaves_needs_python_and_duckdb_alone() -> None:
    named = {name for path in LEAVES.glob("*.py") for name in imports(path)}
    own = {name for name in named if is_inside(name, "app.artifact.verify")}
    assert {name.split(".")[0] for name in named - own} - sys.stdlib_module_names == {"duckdb"}
    of_ours = {name for folder in CODE for path in modules(folder) for name in imports(path)}
    assert not any(is_inside(name, "app.artifact.verify") for name in of_ours)


def test_no_catch_all_module() -> None:
    names = {path.stem for folder in CODE for path in modules(folder)}
    assert not names & {"utils", "util", "helpers", "misc", "common"}


def test_every_folder_of_code_belongs_to_a_room() -> None:
    skipped = {".venv", "lake", "sample-raw"}
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."]
    top = {folder.name for folder in folders if any(folder.rglob("*.py"))}
    assert top - skipped <= set(CODE)


@pytest.mark.parametrize("folder", ["data", "ingest", "app"])
def test_only_the_rim_prints_or_exits(folder: str) -> None:
    bad = [
        f"{path.relative_to(ROOT)}:{call}"
        for path in modules(folder)
        if path.name != "__main__.py"
        for call in facts_of(path).calls
    ]
    assert bad == []


def test_of_a_page_only_its_page_and_layout_modules_know_dash() -> None:
    bad = [
        f"{path.relative_to(ROOT)} imports {name}"
        for page in PAGES
        for path in modules(f"app/{page}")
        if not path.name.startswith(("page", "layout"))
        for name in imports(path)
        if is_inside(name, "dash") or name.startswith("dash_")
    ]
    assert bad == []


def test_of_a_page_only_its_routes_know_http() -> None:
    bad = [
        f"{path.relative_to(ROOT)} imports {name}"
        for page in PAGES
        for path in modules(f"app/{page}")
        if path.name != "routes.py"
        for name in imports(path)
        if is_inside(name, "app.serve")
    ]
    assert bad == []


def test_no_sql_in_app() -> None:
    bad = [
        f"{path.relative_to(ROOT)}:{query}"
        for path in modules("app")
        for query in facts_of(path).queries
    ]
    assert bad == []


@pytest.mark.parametrize("page", PAGES)
def test_views_work_without_dash(page: str) -> None:
    views = sorted((ROOT / "assets" / page).glob("view*.js"))
    assert views or page == "lake", f"assets/{page} has no view*.js"
    words = ("dash_clientside", "set_props", "setProps", "clientside")
    bad = [f"{v.name} names {w}" for v in views for w in words if w in v.read_text("utf-8")]
    assert bad == []


def globals_of(folder: str) -> set[str]:
    """Names that the scripts of a folder give to `wattlas`."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "assets" / folder).glob("*.js"))]
    named = {name for text in texts for name in re.findall(r"wattlas\.(\w+) = ", text)}
    return named | {n for text in texts for n in re.findall(r"\(wattlas\.(\w+) = ", text)}


@pytest.mark.parametrize("page", PAGES)
def test_scripts_of_a_page_use_the_kit_and_their_own_folder(page: str) -> None:
    others = set().union(*(globals_of(p) for p in PAGES if p != page))
    others -= globals_of(page) | globals_of("_kit")
    bad = [
        f"{path.name} uses wattlas.{name}"
        for path in sorted((ROOT / "assets" / page).glob("*.js"))
        for name in sorted(set(re.findall(r"wattlas\.(\w+)", path.read_text("utf-8"))) & others)
    ]
    assert bad == []


def test_scripts_of_the_kit_use_no_page() -> None:
    others = set().union(*(globals_of(page) for page in PAGES)) - globals_of("_kit")
    bad = [
        f"{path.name} uses wattlas.{name}"
        for path in sorted((ROOT / "assets" / "_kit").glob("*.js"))
        for name in sorted(set(re.findall(r"wattlas\.(\w+)", path.read_text("utf-8"))) & others)
    ]
    assert bad == []


def test_scripts_and_styles_of_the_kit_name_no_page() -> None:
    """Neither as a text, nor in an address, a class or an id."""
    # `lake` is also the key of the lake's version in every link.
    pages = "|".join(page for page in PAGES if page != "lake")
    named = re.compile(rf"""["'`/.#](?:{pages})(?=["'`/ ?:,.-])""")
    bad = [
        f"{path.name}:{number}: {line.strip()}"
        for path in sorted((ROOT / "assets" / "_kit").glob("*.[jc]s*"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if named.search(line)
    ]
    assert bad == []


def test_keys_of_the_page_have_one_listener_on_the_app_and_one_in_exports() -> None:
    """A control may have its own keys, such as a menu's arrows: they do not reach the page."""
    found = {
        str(path.relative_to(ROOT / "assets"))
        for path in sorted((ROOT / "assets").rglob("*.js"))
        if re.search(
            r"(?<![\w.])((document|window)\.)?addEventListener\(\s*\"key", path.read_text("utf-8")
        )
    }
    assert found == {"_kit/page.js", "_kit/exported.js"}


# A screen at the editor's usual size.
SCREEN_LINES = 60


@pytest.mark.parametrize("top", ["app", "assets", "bench", "data", "ingest"])
def test_every_folder_has_a_readme_that_fits_on_a_screen(top: str) -> None:
    folders = {
        path.parent
        for pattern in ("*.py", "*.js", "*.css", "*.toml", "*.csv")
        for path in (ROOT / top).rglob(pattern)
        if "__pycache__" not in path.parts
    }
    missing = [str(f.relative_to(ROOT)) for f in folders if not (f / "README.md").is_file()]
    assert missing == []
    texts = {str(f.relative_to(ROOT)): (f / "README.md").read_text("utf-8") for f in folders}
    assert [folder for folder, text in texts.items() if not text.startswith("# ")] == []
    assert [f for f, text in texts.items() if len(text.splitlines()) > SCREEN_LINES] == []


def test_columns_are_no_ambient_state() -> None:
    """What columns a lake has is an argument: a version's catalogue."""
    holders = [
        str(path.relative_to(ROOT))
        for folder in ("data", "app")
        for path in modules(folder)
        if "contextvars" in path.read_text("utf-8")
    ]
    assert holders == []


def test_one_file_lists_the_knobs() -> None:
    """Elsewhere a knob is named where it means something, and lists follow from the table."""
    names = [
        knob.column
        for knob in KNOB_TABLE
        if not knob.is_further and knob.column not in ("dataset", "workload", "system")
    ]
    assert len(names) == 12
    # A name in quotes, as a key or as an argument.
    any_name = "|".join(names)
    is_listed = re.compile(
        rf"""["'`]({any_name})["'`]|^[ \t]*\[?({any_name})\]?\s*[=:]|\b({any_name})=""", re.M
    )
    listed = {
        str(path.relative_to(ROOT)): {
            name for found in is_listed.findall(path.read_text("utf-8")) for name in found if name
        }
        for folder in ("app", "data", "ingest", "assets", "bench")
        for ending in ("*.py", "*.js", "*.toml")
        for path in (ROOT / folder).rglob(ending)
    }
    assert [path for path, had in listed.items() if len(had) >= 9] == ["data/knob_table.py"]
