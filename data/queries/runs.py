"""All columns of some runs, and which columns have values."""

from collections.abc import Sequence
from typing import Any

from data.metrics import metric
from data.selection import Selection


def runs_query(selection: Selection, limit: int, measured: str = "") -> tuple[str, list[Any]]:
    """Build the query of the runs that match the filters, by run id.

    Args:
        limit: Maximum number of rows.
        measured: A metric; runs without a finite value of it are left out.

    Returns:
        SQL and parameters. All columns of `runs`.
    """
    condition, parameters = selection.predicate()
    if measured:
        condition = f"({condition}) AND isfinite({metric(measured).name}::DOUBLE)"
    return f"SELECT * FROM runs WHERE {condition} ORDER BY run_id LIMIT {limit:d}", parameters


def value_counts_query(workload: str, columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Build the query of how many runs of a workload have a value in each column.

    Returns:
        SQL and parameters. One row; each of `columns` holds its count.
    """
    counts = ", ".join(f"count({metric(name).name}) AS {name}" for name in columns)
    return f"SELECT {counts} FROM runs WHERE workload = ?", [workload]
