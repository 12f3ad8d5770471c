"""The rows behind the views of Storage, and text on how each view was computed."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import polars as pl

from app.kit.lake_view import LakeView
from app.kit.settings import MAX_ROWS
from app.storage.answer import cells_of
from app.storage.published import comparisons, judged_claims, published_moves
from app.storage.state import (
    BY_NAME,
    CLAIMS,
    DEPTH,
    PUBLISHED,
    RUNS,
    VIEWS,
    StorageState,
    View,
    knob_columns,
)
from app.storage.study import MOST_IDLE, MOST_PROFILED, Study, study_of
from data.analysis.verdicts import unit_of
from data.queries.runs import runs_query
from data.queries.statement import statement
from data.queries.storage import (
    function_sums_query,
    idle_query,
    peak_query,
    storage_cells_query,
    storage_query,
)
from data.reference.claims import claims
from data.reference.tables import published_tables
from data.selection import Selection

_HOW: Final = {
    "lines": "Means over the replicates of each configuration at one device, access and size.",
    "subsystems": "Sums over the functions of each subsystem, means over the replicates of a mode "
    "and depth; a run that lists no function of a subsystem counts as 0 there.",
    "sources": "Loads and stores of all kernel functions by source file, means over the replicates "
    "of a mode and depth; functions of programs (user) are left out. Published: table 2 of "
    "HotStorage '22.",
    "devices": "Idle: means over the idle runs of a device. Active: for each device and mode, the "
    "configurations with the lowest and the highest mean power.",
    "difference": "Mean power of writing minus mean power of reading, for cells that have both; "
    "Welch's confidence intervals.",
    "proportionality": "Configurations of one request size and one completion mode. Power: the "
    "mean over the greatest mean of any configuration of the machine, over all devices and "
    "workloads. IO rate: the mean over the greatest mean of the device and access. Curves: a "
    "quadratic by least squares for each device and access.",
    "efficiency": "Means over the replicates of a mode, size and depth; of pooled knobs, over all "
    "their runs.",
    RUNS: "All columns of the storage runs that match the filters.",
    CLAIMS: "\n".join(f"{one.source}: {one.rule}" for one in claims()),
    PUBLISHED: "Each published value beside the mean of the replicates of the configuration that\n"
    "its table describes; of several, the one with most runs, which is named;\n"
    "devices are matched by device_pattern (data/reference/). Latency and IO rate by mode: random\n"
    "reads of 4 KiB, as many in flight as threads. Latency by kind of device: random reads of\n"
    "4 KiB, one in flight, completed by interrupts. Context switches: at the device, access and\n"
    "size of the lines. Loads and stores: at these, with as many threads as\n"
    "published; parts by function_pattern; the total includes functions of unknown place, the\n"
    "other sources do not.",
}


def rows_behind(view: LakeView, state: StorageState, name: str) -> pl.DataFrame:
    """Return the rows of a download.

    Args:
        name: A view; `runs` (all columns of the filtered runs); `published` (published values
            beside measured ones); `claims` (one row per compared pair of means).
    """
    study = study_of(view, state)
    if name == RUNS:
        return view.lake.polars(*_runs_query(study))
    return _ROWS[_kind(name)](study, BY_NAME.get(name))


def explain(view: LakeView, state: StorageState, name: str) -> str:
    """Return how a view was computed: version, filters, steps, queries."""
    study, kind = study_of(view, state), _kind(name)
    queries = [written(study, BY_NAME.get(name)) for written in _QUERIES[kind]]
    return "\n\n".join([f"{_heading(study)}\n{_HOW[kind]}", *queries])


def explain_all(study: Study) -> str:
    """Return how all views of the page were computed."""
    how = [f"{', '.join(v.title for v in VIEWS if v.kind == kind) or kind.capitalize()}: {words}"
           for kind, words in _HOW.items() if kind != RUNS]  # fmt: skip
    queries = [written(study, None) for written in (_configurations, _idle, _functions)]
    return "\n\n".join([_heading(study), "\n".join(how), *queries])


def _kind(name: str) -> str:
    return BY_NAME[name].kind if name in BY_NAME else name


def _heading(study: Study) -> str:
    error = "95 % confidence interval (Student's t)" if study.scene.is_interval else "sd"
    return (
        f"{study.view.words}\n"
        f"filters: {study.state.selection.in_words()}\n"
        f"views of one device show: {study.scene.place_words or 'none'}\n"
        f"error bars: {error}"
    )


def _written(title: str, sql: str, parameters: list[Any]) -> str:
    return f"{title}:\n\n{statement(sql, parameters)}"


def _means(study: Study, selection: Selection) -> str:
    query = storage_query(selection, MAX_ROWS, catalogue=study.catalogue)
    return _written("configurations", *query)


def _configurations(study: Study, _: View | None) -> str:
    return _means(study, study.state.selection)


def _here(study: Study, _: View | None) -> str:
    return _means(study, study.place)


def _proportions(study: Study, _: View | None) -> str:
    rows, part = study.proportions
    selection = part.narrow(study.state.selection)
    modes = rows["mode"].unique().to_list()
    size = [study.state.at_request]
    drawn: dict[str, Sequence[Any]] = {"rw": study.accesses, "request": size, "mode": modes}
    for name, values in drawn.items():
        facet = study.catalogue.facets[name]
        words = [facet.null_word if value is None else value for value in values]
        selection = selection.with_values(facet, words)
    return _means(study, selection)


def _cells(study: Study, shown: View | None) -> str:
    view = shown or BY_NAME["bytes-joule"]
    cells = cells_of(study, view)
    filters = study.place.with_values("request", study.state.selection.values("request"))
    if cells.accesses:
        filters = filters.with_values("rw", cells.accesses)
    selection, own = cells.part.narrow(filters), study.catalogue
    query = storage_cells_query(selection, cells.columns, view.y, MAX_ROWS, catalogue=own)
    return _written("cells", *query)


def _idle(study: Study, _: View | None) -> str:
    alike = study.idle_part.narrow(Selection())
    query = idle_query(study.state.selection, MOST_IDLE, alike, catalogue=study.catalogue)
    return _written("idle", *query)


def _peaks(study: Study, _: View | None) -> str:
    query = peak_query(study.state.selection, catalogue=study.catalogue)
    return _written("greatest power", *query)


def _functions(study: Study, shown: View | None) -> str:
    filters = study.place
    if shown:
        functions = study.moves if shown.kind == "sources" else study.functions
        filters = study.shown_moves(functions, shown.y)[1].narrow(filters)
    query = function_sums_query(filters, MOST_PROFILED, catalogue=study.catalogue)
    return _written("loads and stores by run, subsystem and part", *query)


def _runs(study: Study, _: View | None) -> str:
    return _written("runs", *_runs_query(study))


def _runs_query(study: Study) -> tuple[str, list[Any]]:
    # A storage run has a request size.
    selection, own = study.state.selection, study.catalogue
    return runs_query(selection, MAX_ROWS, measured="request_bytes", catalogue=own)


# Kind of view to the functions that write its queries.
_QUERIES: Final[dict[str, tuple[Callable[[Study, View | None], str], ...]]] = {
    "lines": (_here,),
    "sources": (_functions,),
    "subsystems": (_functions,),
    "devices": (_configurations, _idle),
    "difference": (_cells,),
    "proportionality": (_proportions, _peaks, _idle),
    "efficiency": (_cells,),
    RUNS: (_runs,),
    CLAIMS: (_configurations, _functions),
    PUBLISHED: (_configurations, _idle, _functions),
}


def _values(column: str) -> list[str]:
    return [column, f"{column}_sd", f"{column}_n"]


def _line_rows(study: Study, view: View) -> pl.DataFrame:
    columns = _values(view.y) if view.x == DEPTH else [*_values(view.x), *_values(view.y)]
    return study.here.select(*knob_columns(study.catalogue), *columns)


def _move_rows(study: Study, view: View) -> pl.DataFrame:
    functions = study.moves if view.kind == "sources" else study.functions
    shown, _ = study.shown_moves(functions, view.y)
    return shown.select("run_id", "mode", "io_depth", "subsystem", "part", view.y)


def _source_rows(study: Study, view: View) -> pl.DataFrame:
    """Return measured values, then published ones, which have no run."""
    measured = _move_rows(study, view)
    values = [
        {"mode": p.mode, "io_depth": p.io_depth, "subsystem": p.subsystem, view.y: p.per_s}
        for p in published_moves(study)
    ]
    names = ("mode", "io_depth", "subsystem", view.y)
    published = pl.DataFrame(values, schema={name: measured.schema[name] for name in names})
    rows = [measured.with_columns(is_published=False), published.with_columns(is_published=True)]
    return pl.concat(rows, how="diagonal")


def _device_rows(study: Study, view: View) -> pl.DataFrame:
    active = study.rows.select(*knob_columns(study.catalogue), *_values(view.y))
    idle = study.idle.select("device", *_values(view.y)).with_columns(is_idle=pl.lit(True))
    return pl.concat([active, idle], how="diagonal_relaxed").with_columns(
        pl.col("is_idle").fill_null(False)
    )


def _proportion_rows(study: Study, view: View) -> pl.DataFrame:
    shares, knobs = ("rate_share", "peak_w", "power_share"), knob_columns(study.catalogue)
    return study.proportions[0].select(*knobs, *_values("iops"), *_values(view.y), *shares)


def _cell_rows(study: Study, view: View) -> pl.DataFrame:
    column = f"{view.y}_write_minus_read" if view.kind == "difference" else view.y
    cells = cells_of(study, view).rows
    return cells.select("mode", "request_bytes", "io_depth", pl.col("value").alias(column))


def _claim_rows(study: Study, _: View | None) -> pl.DataFrame:
    """Return one row per compared pair of means; one row for a claim that compares none."""
    rows = []
    for judged in judged_claims(study):
        row = {
            "claim": judged.claim.text, "source": judged.claim.source,
            "outcome": judged.verdict.said(study.scene.note), "because": judged.verdict.words,
            "rule": judged.claim.rule,
        }  # fmt: skip
        numbers = [
            {"of": c.what, "where": c.where, "metric": c.column, "unit": unit_of(c.column),
             "first": c.pair.means[0], "second": c.pair.means[1], "first_n": c.pair.n[0],
             "second_n": c.pair.n[1], "test": c.test, "p": c.pair.p}
            for c in judged.verdict.comparisons
        ]  # fmt: skip
        rows += [row | each for each in numbers or [{}]]
    return pl.DataFrame(rows, schema_overrides=_CLAIM_NUMBERS, infer_schema_length=None)


def _published_rows(study: Study, _: View | None) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"table": name, "source": published_tables()[name].source, "of": line.words,
             "mode": line.mode,
             "metric": line.column, "unit": line.unit, "published": line.value,
             "measured": line.mean, "n": line.n}
            for name, lines in comparisons(study).items()
            for line in lines
        ],
        schema_overrides={"mode": pl.String, "published": pl.Float64, "measured": pl.Float64},
    )  # fmt: skip


_CLAIM_NUMBERS: Final = {
    "of": pl.String, "where": pl.String, "metric": pl.String, "unit": pl.String,
    "first": pl.Float64, "second": pl.Float64, "first_n": pl.Int64, "second_n": pl.Int64,
    "test": pl.String, "p": pl.Float64,
}  # fmt: skip


_ROWS: Final[dict[str, Callable[[Study, Any], pl.DataFrame]]] = {
    "lines": _line_rows,
    "sources": _source_rows,
    "subsystems": _move_rows,
    "devices": _device_rows,
    "proportionality": _proportion_rows,
    "difference": _cell_rows,
    "efficiency": _cell_rows,
    CLAIMS: _claim_rows,
    PUBLISHED: _published_rows,
}
