"""Write a study as a folder: pages, tables, runs, claims, descriptions, and its verification.

The parts of `verify/` go into the folder as one program.
"""

import ast
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl
import polars.selectors as cs

from app.artifact.claims import (
    ALPHA,
    MARGIN,
    MODELS,
    MOVES,
    PAPERS,
    PRINTED,
    claim_checks,
    paper_checks,
    paper_count,
)
from app.artifact.metadata import CRATE, PACKAGE, crate, data_package, sums
from app.artifact.tables import ViewTable, view_tables
from app.kit.context import Lakes
from app.kit.export import fill, page_html
from app.kit.lake_view import LakeView
from app.kit.links import open_page
from app.kit.page import Page
from data.analysis.claims_of_schemes import model_values
from data.analysis.verdicts import LOADS_STORES
from data.csv_cells import guarded
from data.errors import DataError
from data.findings import claims
from data.published import published_claims, storage_study
from data.queries.recomputed import ARTIFACT_COUNTS, ARTIFACT_RUNS, COUNTS, whole_query
from data.reference.tables import published_tables

# Their numbers are computed again as those of the claims.
_CLAIMS: Final = ("tables/findings-claims", "tables/findings-published")
_FOLDER: Final = Path(__file__).with_name("verify")
_PACKAGE: Final = "app.artifact.verify"
# Each part uses only those before it.
PARTS: Final = (
    "report", "functions", "noise", "sets", "claims", "effects", "shares", "order", "maps",
    "papers", "models", "tables", "main",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Artifact:
    """What was written.

    Attributes:
        numbers: How many numbers verify.py computes again.
        unchecked: Tables, and their columns that it does not.
    """

    files: int
    size_bytes: int
    runs: int
    claims: int
    numbers: int
    unchecked: dict[str, tuple[str, ...]]


def write_artifact(
    lakes: Lakes,
    pages: Sequence[Page],
    out: Path,
    licence: Path | None = None,
    citation: Path | None = None,
) -> Artifact:
    """Write the newest version of a lake as a folder, which appears when it is whole.

    Args:
        lakes: Of some datasets, or all.
        out: Must not exist, or be an empty folder.
        licence, citation: Files to put in as LICENSE and CITATION.cff.

    Raises:
        DataError: The folder holds something, or the lake has no run.
        OSError: A file cannot be read or written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out} is there already; give a folder that does not exist")
    view = lakes.at(None)
    missing = set(lakes.datasets) - set(view.outline["dataset"].to_list())
    if missing or not view.runs:
        words = f"dataset {', '.join(sorted(missing))}" if missing else "run"
        raise DataError(f"{view.words} has no {words}")
    partial = out.with_name(out.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        written = _write(lakes, view, pages, partial, (licence, citation))
        if out.exists():
            out.rmdir()
        partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return written


def _write(
    lakes: Lakes,
    view: LakeView,
    pages: Sequence[Page],
    root: Path,
    given: tuple[Path | None, Path | None],
) -> Artifact:
    for name in ("data", "pages", "tables"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for path, name in zip(given, ("LICENSE", "CITATION.cff"), strict=True):
        if path is not None:
            shutil.copyfile(path, root / name)
    for name, rows in (("runs", "_runs_all"), ("problems", "problems")):
        _write_parquet(view.lake.polars(*whole_query(rows)),
                       root / f"data/{name}.parquet")  # fmt: skip
    # Over an object store there is no view of the logs of all runs.
    counts = view.lake.polars(COUNTS) if view.lake.log_views.folder else pl.DataFrame()
    if len(counts):
        _write_parquet(counts, root / "data/distributions.parquet")
    tables: list[ViewTable] = []
    for page in pages:
        _, state, _ = open_page(page, lakes, f"lake={view.version}")
        if page.missing is not None and page.missing(view, state):
            continue
        own = list(view_tables(view, page, state, root))
        for table in own:
            _write_table(root, table)
        tables += own
        text = page_html(view, page.name, page.export(view, state))
        (root / "pages" / f"{page.name}.html").write_text(text, "utf-8")
    storage = storage_study(view.lake)
    if storage is not None:
        columns = ("run_id", "mode", "io_depth", "subsystem", LOADS_STORES)
        _write_parquet(storage.runs.moves.select(columns), root / MOVES)
    for file in PRINTED.values():
        printed = published_tables()[Path(file).stem].rows
        _write_parquet(pl.DataFrame(printed, infer_schema_length=None), root / file)
    models = model_values()
    _write_parquet(models, root / MODELS)
    of_all = claims(view.lake, ALPHA, MARGIN)
    of_tables = [check for table in tables for check in table.checks]
    checks: dict[str, Any] = {
        "lake": view.words,
        "views": [ARTIFACT_RUNS, *([ARTIFACT_COUNTS] if len(counts) else []),
                  *(sql for sql in view.lake.views
                    if sql.startswith(("CREATE VIEW runs ", "CREATE VIEW cores ")))],
        "tables": of_tables,
        "claims": claim_checks(view, of_all, of_tables),
        "papers": paper_checks(published_claims(view.lake), storage),
    }  # fmt: skip
    (root / "checks.json").write_text(json.dumps(checks, indent=1), "utf-8")
    (root / "verify.py").write_text(joined(), "utf-8")
    shutil.copyfile(PAPERS, root / PAPERS.name)
    numbers = len(of_all) * 7 + sum(check["count"] for check in of_tables)
    numbers += paper_count(checks["papers"]) + 3 * len(models.filter(pl.col("kind") != "simulated"))
    unchecked = {t.file: t.unchecked for t in tables if t.unchecked and t.file not in _CLAIMS}
    _describe(view, root, tables, len(of_all), numbers, unchecked)
    files = [path for path in root.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Artifact(len(files), size, view.runs, len(of_all), numbers, unchecked)


def _write_table(root: Path, table: ViewTable) -> None:
    # CSV has no lists; infinite numbers are written as data packages have them.
    plain = guarded(table.rows.with_columns(cs.list().list.join(" ")))
    is_infinite = {
        name: pl.when(pl.col(name).is_infinite())
        .then(pl.when(pl.col(name) > 0).then(pl.lit("INF")).otherwise(pl.lit("-INF")))
        .otherwise(pl.col(name).cast(pl.String))
        for name in plain.select(cs.float()).columns
        if plain[name].is_infinite().any()
    }
    plain.with_columns(**is_infinite).write_csv(root / f"{table.file}.csv")
    (root / f"{table.file}.txt").write_text(table.how + "\n", "utf-8")


def _write_parquet(rows: pl.DataFrame, path: Path) -> None:
    rows.write_parquet(path, compression="zstd")


def _describe(
    view: LakeView,
    root: Path,
    tables: Sequence[ViewTable],
    claim_count: int,
    numbers: int,
    unchecked: dict[str, tuple[str, ...]],
) -> None:
    names = view.outline["dataset"].unique().sort().to_list()
    title = f"{', '.join(names)}: energy and latency"
    description = (
        f"{view.runs:,} runs and {claim_count} claims of {view.words}, with tables, pages and a "
        "program that computes the numbers again"
    )
    package = data_package(root, title, str(view.version), tables, view.catalogue)
    (root / PACKAGE).write_text(json.dumps(package, indent=1), "utf-8")
    has_licence = (root / "LICENSE").exists()
    readme = fill(
        "artifact.md", title=title, description=description, numbers=f"{numbers:,}",
        is_synthetic=view.is_synthetic, tables=[(t.title, t.file) for t in tables],
        unchecked={name: ", ".join(columns) for name, columns in unchecked.items()},
        has_licence=has_licence, has_citation=(root / "CITATION.cff").exists(),
    )  # fmt: skip
    (root / "README.md").write_text(readme, "utf-8")
    column: dict[str, Any] = {}
    for table in tables:
        column |= {f"{table.file}{end}": table.title for end in (".csv", ".parquet")}
        column[f"{table.file}.txt"] = f"{table.title}: how it was computed"
    made = crate(
        root, title, description, datetime.now(UTC).date().isoformat(),
        "LICENSE" if has_licence else None, column,
    )  # fmt: skip
    (root / CRATE).write_text(json.dumps(made, indent=1), "utf-8")
    (root / "SHA256SUMS").write_text(sums(root), "utf-8")


def joined() -> str:
    """Return the parts as one program: the words of the last one, all imports, then each part."""
    imports: set[str] = set()
    bodies, title = [], ""
    for part in PARTS:
        text = (_FOLDER / f"{part}.py").read_text("utf-8")
        lines, (first, *rest) = text.splitlines(), ast.parse(text).body
        title = ast.get_source_segment(text, first) or ""
        found = [node for node in rest if isinstance(node, ast.Import | ast.ImportFrom)]
        end = found[-1].end_lineno if found else first.end_lineno
        for node in found:
            if not (isinstance(node, ast.ImportFrom) and str(node.module).startswith(_PACKAGE)):
                imports.add(ast.unparse(node))
        body = "\n".join(lines[end:]).strip("\n")
        bodies.append(f"# {title.strip(chr(34))}\n\n{body}" if part != PARTS[-1] else body)
    ours = [line for line in sorted(imports) if "duckdb" not in line]
    return "\n\n\n".join([f"{title}\n\n" + "\n".join([*ours, "", "import duckdb"]), *bodies]) + "\n"
