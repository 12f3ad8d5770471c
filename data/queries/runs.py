"""All columns of some runs, and which columns have values."""

from collections.abc import Sequence
from typing import Any

from data.catalogue import Catalogue
from data.selection import Selection


def runs_query(
    selection: Selection, limit: int, measured: str = "", *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the runs that match the filters, by run id.

    Args:
        limit: Maximum number of rows.
        measured: A metric; runs without a finite value of it are left out.

    Returns:
        SQL and parameters. All columns of `runs`.
    """
    condition, parameters = selection.predicate()
    if measured:
        condition = f"({condition}) AND isfinite({catalogue.metric(measured).name}::DOUBLE)"
    return f"SELECT * FROM runs WHERE {condition} ORDER BY run_id LIMIT {limit:d}", parameters


def chosen_counts_query(
    selection: Selection,
    columns: Sequence[str],
    measured: str = "",
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of how many of the chosen runs have a value in each column; one row.

    Args:
        measured: A metric; only runs with a value of it count. Empty for all.
    """
    condition, parameters = selection.predicate()
    counts = ", ".join(f"count({catalogue.metric(name).name}) AS {name}" for name in columns)
    having = f" AND {catalogue.metric(measured).name} IS NOT NULL" if measured else ""
    return f"SELECT {counts} FROM runs WHERE ({condition}){having}", parameters
