"""The rows behind the views of Storage, for downloads, and how they came about."""

from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.settings import MAX_ROWS
from app.storage.answer import cells_of
from app.storage.cells import table_of
from app.storage.defaults import place_words
from app.storage.published import comparisons
from app.storage.state import KNOBS, StorageState
from app.storage.study import MOST_PROFILED, Study, counted_functions, place_selection, study_of
from app.storage.views import BY_NAME, DEPTH, PREFIX, VIEWS, View
from data.errors import SelectionError
from data.metrics import metric
from data.queries.storage import (
    IS_STORAGE,
    SUBSYSTEM_SUMS,
    idle_query,
    profiled_query,
    storage_query,
)
from data.reference.tables import published_tables

RUNS: Final = "runs"
PUBLISHED: Final = "published"
_HOW: Final = {
    "lines": "Means over the replicates of each configuration at one device, access and size.",
    "subsystems": "Sums over the functions of each subsystem, means over the runs of a mode and "
    "depth; a run that lists no function of a subsystem did nothing in it.",
    "devices": "Idle: means over idle runs. At work: of each device and mode the configurations "
    "with the least and the most mean power.",
    "difference": "Mean power of writing minus mean power of reading, of cells that have both; "
    "intervals by Welch.",
    "proportionality": "Mean power and mean throughput of each configuration, each over the "
    "device's highest mean; a quadratic by least squares for each device and mode.",
    "efficiency": "Means over all runs of a mode, size and depth.",
}


_HOW_PUBLISHED: Final = (
    "Each published value beside the mean of the configurations that its table names; devices\n"
    "are matched by device_pattern (data/reference/). Latency by mode: random reads of 4 KiB,\n"
    "as many in flight as threads. Latency by kind of device: random reads of 4 KiB, one in\n"
    "flight, completed by interrupts. Context switches: at the device, access and size of the\n"
    "lines, over all depths."
)


def rows_behind(view: LakeView, state: StorageState, picture: str) -> pl.DataFrame:
    """The rows that a download gives.

    Args:
        picture: A view's name, with or without its prefix; `runs`: all runs that the filters
            leave; `published`: published values beside measured ones.

    Raises:
        SelectionError: No such picture.
    """
    name = picture.removeprefix(PREFIX)
    if name == RUNS:
        return view.lake.polars(*_runs_query(state))
    study = study_of(view, state)
    if name == PUBLISHED:
        return _published_rows(study)
    return _ROWS[_view(name).kind](view, study, _view(name))


def explain(view: LakeView, state: StorageState, picture: str) -> str:
    """How a picture was computed: in words, the query, the filters, the lake's version."""
    name = picture.removeprefix(PREFIX)
    study = study_of(view, state)
    if name == PUBLISHED:
        sql, parameters = storage_query(state.selection, MAX_ROWS)
        return f"{_HOW_PUBLISHED}\n\n{sql}\n\nparameters: {parameters}"
    one = _view(name)
    sql, parameters = _query_behind(study, one)
    return f"{_heading(view, study)}\n{_HOW[one.kind]}\n\n{sql}\n\nparameters: {parameters}"


def explain_all(study: Study, view: LakeView) -> str:
    """How all pictures of a page were computed."""
    how = dict.fromkeys(f"{', '.join(_titles(kind))}: {words}" for kind, words in _HOW.items())
    queries = [
        ("configurations", storage_query(study.state.selection, MAX_ROWS)),
        ("idle", idle_query(study.state.selection, MAX_ROWS)),
        ("functions of these runs", profiled_query(place_selection(study), MOST_PROFILED)),
    ]
    parts = [_heading(view, study), "\n".join(how), f"Published values: {_HOW_PUBLISHED}"]
    parts += [f"{name}:\n{sql}\nparameters: {parameters}" for name, (sql, parameters) in queries]
    return "\n\n".join([*parts, f"aggregated to:\n{SUBSYSTEM_SUMS}"])


def _titles(kind: str) -> list[str]:
    return [view.title for view in VIEWS if view.kind == kind]


def _heading(view: LakeView, study: Study) -> str:
    error = "95 % confidence interval (Student's t)" if study.scene.is_interval else "sd"
    return (
        f"lake {view.lake.path.name}, version {view.version}\n"
        f"filters: {study.state.selection.in_words()}\n"
        f"views of one device show: {place_words(study.place) or 'none'}\n"
        f"error bars: {error}"
    )


def _view(name: str) -> View:
    if name not in BY_NAME:
        raise SelectionError(f"no picture {name!r}")
    return BY_NAME[name]


def _runs_query(state: StorageState) -> tuple[str, list[Any]]:
    condition, parameters = state.selection.predicate()
    return (
        f"SELECT * FROM runs WHERE ({condition}) AND {IS_STORAGE} ORDER BY run_id LIMIT {MAX_ROWS}",
        parameters,
    )


def _query_behind(study: Study, view: View) -> tuple[str, list[Any]]:
    if view.kind == "subsystems":
        sql, parameters = profiled_query(place_selection(study), MOST_PROFILED)
        return f"{sql}\n\nof the functions of these runs:\n{SUBSYSTEM_SUMS}", parameters
    sql, parameters = storage_query(study.state.selection, MAX_ROWS)
    if view.kind in ("devices", "proportionality"):
        idle, more = idle_query(study.state.selection, MAX_ROWS)
        return f"{sql}\n\nidle:\n{idle}", [*parameters, *more]
    return sql, parameters


def _values(column: str) -> list[str]:
    return [column, f"{column}_sd", f"{column}_n"]


def _line_rows(_: LakeView, study: Study, view: View) -> pl.DataFrame:
    columns = _values(view.y) if view.x == DEPTH else [*_values(view.x), *_values(view.y)]
    return study.here.select(*KNOBS, *columns)


def _subsystem_rows(view: LakeView, study: Study, one: View) -> pl.DataFrame:
    counted = counted_functions(view, study)
    return counted.select("run_id", "mode", "io_depth", "subsystem", one.y)


def _device_rows(_: LakeView, study: Study, view: View) -> pl.DataFrame:
    active = study.rows.select(*KNOBS, *_values(view.y))
    idle = study.idle.select("device", *_values(view.y)).with_columns(is_idle=pl.lit(True))
    return pl.concat([active, idle], how="diagonal_relaxed").with_columns(
        pl.col("is_idle").fill_null(False)
    )


def _proportion_rows(_: LakeView, study: Study, view: View) -> pl.DataFrame:
    use = study.state.use
    return study.rows.select(
        *KNOBS,
        *_values(use),
        *_values(view.y),
        utilisation=pl.col(use) / pl.col(use).max().over("device"),
        power_share=pl.col(view.y) / pl.col(view.y).max().over("device"),
    )


def _cell_rows(_: LakeView, study: Study, view: View) -> pl.DataFrame:
    column = f"{view.y}_write_minus_read" if view.kind == "difference" else view.y
    return table_of(cells_of(study, view), column)


def _published_rows(study: Study) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"table": name, "source": published_tables()[name].source, "of": line.what,
             "metric": line.column, "unit": metric(line.column).unit, "published": line.value,
             "measured": line.mean, "n": line.n}
            for name, lines in comparisons(study).items()
            for line in lines
        ],
        schema_overrides={"published": pl.Float64, "measured": pl.Float64},
    )  # fmt: skip


_ROWS: Final = {
    "lines": _line_rows,
    "subsystems": _subsystem_rows,
    "devices": _device_rows,
    "proportionality": _proportion_rows,
    "difference": _cell_rows,
    "efficiency": _cell_rows,
}
