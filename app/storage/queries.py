"""The queries behind the views of Storage, as text for explanations."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from app.kit.settings import MAX_ROWS
from app.storage.cells import Cells, differences_of, means_of
from app.storage.study import MOST_IDLE, MOST_PROFILED, Study
from app.storage.view import View
from data.analysis.like_with_like import Slice
from data.queries.runs import runs_query
from data.queries.statement import statement
from data.queries.storage import (
    function_sums_query,
    idle_query,
    peak_query,
    storage_cells_query,
    storage_query,
)
from data.selection import Selection


def _written(title: str, sql: str, parameters: list[Any]) -> str:
    return f"{title}:\n\n{statement(sql, parameters)}"


def _means(study: Study, selection: Selection) -> str:
    query = storage_query(selection, MAX_ROWS, catalogue=study.catalogue)
    return _written("configurations", *query)


def configurations_query(study: Study, _: View) -> str:
    """Write the query of all configurations."""
    return _means(study, study.state.selection)


def place_query(study: Study, _: View) -> str:
    """Write the query of the configurations at the place."""
    return _means(study, study.place)


def proportions_query(study: Study, _: View) -> str:
    """Write the query of the configurations of energy proportionality."""
    return _of_devices(study, *study.proportions)


def _of_devices(study: Study, rows: pl.DataFrame, part: Slice) -> str:
    selection = part.narrow(study.state.selection)
    modes, size = rows["mode"].unique().to_list(), [study.state.at_request]
    drawn: dict[str, Sequence[Any]] = {"rw": study.accesses, "request": size, "mode": modes}
    for name, values in drawn.items():
        facet = study.catalogue.facets[name]
        words = [facet.null_word if value is None else value for value in values]
        selection = selection.with_values(facet, words)
    return _means(study, selection)


def device_lines_query(study: Study, view: View) -> str:
    """Write the query of the lines of devices."""
    return _of_devices(study, *study.of_devices(view.x, view.y))


def means_query(study: Study, view: View) -> str:
    """Write the query of a heatmap's cells."""
    return _cells_query(study, view, means_of(study, view))


def differences_query(study: Study, view: View) -> str:
    """Write the query of the cells that reading and writing have."""
    return _cells_query(study, view, differences_of(study, view))


def _cells_query(study: Study, view: View, cells: Cells) -> str:
    own, columns = study.catalogue, cells.columns
    query = storage_cells_query(cells.narrow(study), columns, view.y, MAX_ROWS, catalogue=own)
    return _written("cells", *query)


def idle_runs_query(study: Study, _: View) -> str:
    """Write the query of idle power."""
    alike = study.idle_part.narrow(Selection())
    query = idle_query(study.state.selection, MOST_IDLE, alike, catalogue=study.catalogue)
    return _written("idle", *query)


def peaks_query(study: Study, _: View) -> str:
    """Write the query of the greatest power of the system."""
    query = peak_query(study.state.selection, catalogue=study.catalogue)
    return _written("greatest power", *query)


def functions_query(study: Study, _: View) -> str:
    """Write the query of the functions of all runs at the place."""
    return _functions(study, study.place)


def subsystems_query(study: Study, view: View) -> str:
    """Write the query of the functions that bars of subsystems show."""
    return _functions(study, study.shown_moves(study.functions, view.y)[1].narrow(study.place))


def sources_query(study: Study, view: View) -> str:
    """Write the query of the functions that bars of sources show."""
    return _functions(study, study.shown_moves(study.moves, view.y)[1].narrow(study.place))


def _functions(study: Study, filters: Selection) -> str:
    query = function_sums_query(filters, MOST_PROFILED, catalogue=study.catalogue)
    return _written("loads and stores by run, subsystem and part", *query)


def all_runs_query(study: Study, _: View) -> str:
    """Write the query of all columns of the runs."""
    return _written("runs", *runs_of(study))


def runs_of(study: Study) -> tuple[str, list[Any]]:
    """Build the query of all columns of the filtered storage runs."""
    # A storage run has a request size.
    selection, own = study.state.selection, study.catalogue
    return runs_query(selection, MAX_ROWS, measured="request_bytes", catalogue=own)
