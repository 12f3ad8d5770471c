"""Every metric, command, setting, format and flag is named in a README, or these fail."""

import argparse
import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

import ingest.settings.layout
import ingest.settings.patterns
from data.catalogue import SHIPPED
from data.schema import COUNTERS, DERIVED, IDENTITY, KNOBS, MEASUREMENTS, RUN_TABLES
from ingest.formats import FORMATS
from ingest.records import Severity

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
READMES = [
    ROOT / "README.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(ROOT.glob("*/README.md")),
    *sorted(ROOT.glob("*/*/README.md")),
]


def documentation() -> str:
    return "\n".join(path.read_text("utf-8") for path in READMES if path.is_file())


def is_named(word: str, text: str) -> bool:
    """Whether a text holds a word as such, not as a part of a longer one."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def parser_of(module: str) -> argparse.ArgumentParser:
    """The parser of a command line."""
    parser = importlib.import_module(f"{module}.__main__").build_parser()
    assert isinstance(parser, argparse.ArgumentParser)
    return parser


def spoken(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every command and every long option, those of the commands included."""
    for action in parser._actions:
        yield from (o for o in action.option_strings if o.startswith("--") and o != "--help")
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield name
                yield from spoken(sub)


def keys_of(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Dotted keys of a settings file; the names that users choose stand as NAME."""
    for key, value in table.items():
        if len(path) == 1 and path[0] in ingest.settings.layout.NAMED_SECTIONS:
            here: tuple[str, ...] = (*path, "NAME")
        elif path == ("machine", "packages"):
            continue
        else:
            here = (*path, key)
        if here in [("tables", key) for key in ("columns", "skip", "split", "totals", "whole")]:
            yield ".".join(here)  # Its keys are the headings of tables.
        elif isinstance(value, dict) and here != ("machine", "packages"):
            yield from keys_of(value, here)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for entry in value:
                yield from keys_of(entry, here)
        else:
            yield ".".join(here)


def flags_set(source: str) -> Iterator[str]:
    """Texts that a module adds to some `flags`: by add, update, append, or as a literal list."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            name = getattr(owner, "attr", getattr(owner, "id", ""))
            if name == "flags" and node.func.attr in ("add", "append", "update", "extend"):
                yield from _texts(node.args)
        elif isinstance(node, ast.keyword) and node.arg == "flags":
            yield from _texts([node.value])
        elif isinstance(node, ast.BinOp) and getattr(node.left, "attr", "") == "flags":
            yield from _texts([node.right])


def kinds_reported(source: str) -> Iterator[str]:
    """Texts that stand before a severity in some call: `add("no_load", "doubted", ...)`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            for kind, severity in pairwise(node.args):
                if isinstance(severity, ast.Constant) and severity.value in get_args(Severity):
                    yield from _texts([kind])


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    """The texts in some expressions, those that only look a column up left out."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif not isinstance(node, ast.Subscript):
            yield from _texts([n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)])


def test_metrics_describe_exactly_the_columns_of_the_schema() -> None:
    assert sorted(SHIPPED.metrics) == sorted([*IDENTITY, *KNOBS, *MEASUREMENTS, *DERIVED, "flags"])
    # A run's counters are sums of its cores'.
    assert {name: MEASUREMENTS[name] for name in COUNTERS} == COUNTERS


def test_a_metric_says_what_it_is() -> None:
    for name, measure in SHIPPED.metrics.items():
        assert measure.title, name
        assert measure.short, name
        assert measure.description.endswith("."), name
        assert measure.better in ("less", "more", None), name


@pytest.mark.parametrize(
    ("ending", "unit"),
    [("_us", "us"), ("_s", "s"), ("_j", "J"), ("_w", "W"), ("_ghz", "GHz"), ("_js", "J s"),
     ("_pct", "%"), ("_bytes", "B"), ("_bytes_s", "B/s"), ("_qps", "1/s"), ("_per_s", "1/s")],
)  # fmt: skip
def test_a_name_ends_in_its_unit(ending: str, unit: str) -> None:
    longer = ("_bytes_s", "_per_s")
    named = [
        m
        for name, m in SHIPPED.metrics.items()
        if name.endswith(ending) and not (ending == "_s" and name.endswith(longer))
    ]
    assert named
    assert {m.unit for m in named} == {unit}


@pytest.mark.parametrize("module", ["ingest", "app"])
def test_every_command_and_option_is_named(module: str) -> None:
    text = documentation()
    words = sorted(set(spoken(parser_of(module))))
    assert words
    assert [w for w in words if not is_named(w, text)] == []


def test_every_shipped_setting_is_named() -> None:
    text = (DOCS / "settings.md").read_text("utf-8")
    shipped = tomllib.loads((ROOT / "ingest" / "settings" / "published.toml").read_text("utf-8"))
    keys = set(keys_of(shipped))
    assert "machine.tsc_khz" in keys
    assert "workloads.NAME.loop" in keys
    assert [key for key in sorted(keys) if not is_named(key, text)] == []


def test_every_setting_that_is_allowed_is_named() -> None:
    text = (DOCS / "settings.md").read_text("utf-8")
    between = dict.fromkeys(ingest.settings.layout.NAMED_SECTIONS, "NAME.")
    allowed = [
        f"{section}.{between.get(section, '')}{key}"
        for section, kind in ingest.settings.layout.SECTIONS.items()
        for key in kind.__struct_fields__
    ]
    assert [key for key in allowed if not is_named(key, text)] == []


def test_every_group_of_a_name_pattern_is_named() -> None:
    text = (DOCS / "settings.md").read_text("utf-8")
    assert [g for g in sorted(ingest.settings.patterns.GROUPS) if not is_named(g, text)] == []


def test_every_format_is_named() -> None:
    text = (DOCS / "formats.md").read_text("utf-8")
    assert [f.name for f in FORMATS if not is_named(f.name, text)] == []


def test_every_flag_is_named() -> None:
    text = (DOCS / "flags-and-problems.md").read_text("utf-8")
    sources = sorted((ROOT / "ingest").rglob("*.py"))
    flags = {flag for path in sources for flag in flags_set(path.read_text("utf-8"))}
    assert {"no_window", "unknown_system"} <= flags
    assert [flag for flag in sorted(flags) if not is_named(f"`{flag}`", text)] == []


def test_every_kind_of_problem_is_named() -> None:
    text = (DOCS / "flags-and-problems.md").read_text("utf-8") + (DOCS / "formats.md").read_text()
    sources = sorted((ROOT / "ingest").rglob("*.py"))
    kinds = {kind for path in sources for kind in kinds_reported(path.read_text("utf-8"))}
    assert {"empty_file", "field_count"} <= kinds
    assert [kind for kind in sorted(kinds) if not is_named(f"`{kind}`", text)] == []


def test_every_table_of_a_run_is_a_view_of_the_design() -> None:
    text = documentation()
    assert [name for name in RUN_TABLES if not is_named(name, text)] == []


def test_every_public_function_of_data_has_a_docstring() -> None:
    bare = []
    for path in sorted((ROOT / "data").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        for key, member in vars(module).items():
            is_ours = getattr(member, "__module__", "") == name
            if (
                is_ours
                and not key.startswith("_")
                and callable(member)
                and inspect.isroutine(member)
            ):
                bare += [] if inspect.getdoc(member) else [f"{name}.{key}"]
    assert bare == []


FOLDERS = sorted((ROOT / "ingest").glob("*/README.md"))


@pytest.mark.parametrize("readme", FOLDERS, ids=[path.parent.name for path in FOLDERS])
def test_a_readme_of_ingest_fits_on_a_screen_and_says_what_may_not_live_there(readme: Path) -> None:
    text = readme.read_text("utf-8")
    assert len(text.splitlines()) <= 40
    assert "Not here:" in text


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in READMES
        if page.is_file()
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_the_papers_figures_name_tests_that_exist() -> None:
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", (DOCS / "papers.md").read_text("utf-8"))
    assert len(named) > 30
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    lost = [f"{file}::{name}" for file, name in named if f"def {name}(" not in files.get(file, "")]
    assert lost == []
