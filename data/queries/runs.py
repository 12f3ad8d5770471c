"""All columns of the runs that a page shows, for downloads."""

from typing import Any

from data.metrics import metric
from data.selection import Selection


def runs_query(
    selection: Selection, limit: int, measured: str | None = None
) -> tuple[str, list[Any]]:
    """Build the query of the runs that the filters leave, sorted by `run_id`.

    Args:
        limit: At most this many rows.
        measured: Leave out the runs without a finite value of this metric.

    Returns:
        SQL and parameters. All columns of `runs`.
    """
    condition, parameters = selection.predicate()
    if measured:
        condition = f"({condition}) AND isfinite({metric(measured).name}::DOUBLE)"
    return f"SELECT * FROM runs WHERE {condition} ORDER BY run_id LIMIT {limit:d}", parameters
