"""The values of one metric in each replicate of each configuration, to find odd runs.

The ids of all runs would cost most of the time; few runs are odd.
"""

from collections.abc import Collection, Sequence
from typing import Any

from data.catalogue import Catalogue
from data.selection import Selection


def replicates_query(
    selection: Selection,
    column: str,
    limit: int,
    left_out: Collection[str] = (),
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of a metric's values by configuration.

    Args:
        column: The metric; only values above 0 of single runs, since odd is odd in logarithms.
        limit: Maximum number of rows.
        left_out: Columns of a configuration that have one value, or follow from others.

    Returns:
        SQL and parameters. Columns: a configuration's without `left_out`, `values`, a sorted list.
    """
    condition, parameters = _condition(selection, column, catalogue)
    listed = [name for name in catalogue.configuration if name not in left_out]
    return (
        f"SELECT {''.join(f'{name}, ' for name in listed)}"
        f"list({column}::DOUBLE ORDER BY {column}) AS values FROM runs WHERE {condition} "
        f"GROUP BY {', '.join(listed) or '()'} HAVING count(*) > 0 ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )


def run_ids_query(
    selection: Selection,
    column: str,
    values: Sequence[float],
    limit: int,
    left_out: Collection[str] = (),
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of the runs of `replicates_query` with some values.

    Returns:
        SQL and parameters. Columns: a configuration's without `left_out`, `value`, `run_id`.
    """
    condition, parameters = _condition(selection, column, catalogue)
    listed = "".join(f"{name}, " for name in catalogue.configuration if name not in left_out)
    return (
        f"SELECT {listed}{column}::DOUBLE AS value, run_id FROM runs WHERE {condition} "
        f"AND value IN ({', '.join('?' * len(values))}) ORDER BY run_id LIMIT {limit:d}",
        [*parameters, *values],
    )


def _condition(selection: Selection, column: str, catalogue: Catalogue) -> tuple[str, list[Any]]:
    catalogue.metric(column)
    condition, parameters = selection.predicate()
    return f"({condition}) AND {column} > 0 AND {catalogue.aggregates.weight_sql()} = 1", parameters
