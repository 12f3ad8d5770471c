"""The values of one metric in each replicate of each configuration, to find odd runs."""

from collections.abc import Collection
from typing import Any

from data.aggregates import weight_sql
from data.metrics import metric
from data.queries.points import CONFIGURATION
from data.selection import Selection


def replicates_query(
    selection: Selection, column: str, limit: int, left_out: Collection[str] = ()
) -> tuple[str, list[Any]]:
    """Build the query of a metric's values by configuration.

    Args:
        column: The metric; only values above 0 of single runs, since odd is odd in logarithms.
        limit: Maximum number of rows.
        left_out: Columns of CONFIGURATION that have one value, or follow from others.

    Returns:
        SQL and parameters. Columns: CONFIGURATION without `left_out`, `run_ids` and `values`, two
        lists in the order of the run ids; NULL instead of ids for fewer than three runs.
    """
    metric(column)
    condition, parameters = selection.predicate()
    listed = ", ".join(name for name in CONFIGURATION if name not in left_out)
    named, grouped = (f"{listed}, ", listed) if listed else ("", "()")
    return (
        f"SELECT {named}CASE WHEN count(*) > 2 THEN list(run_id ORDER BY run_id) END AS run_ids, "
        f"list({column}::DOUBLE ORDER BY run_id) AS values FROM runs WHERE ({condition}) "
        f"AND {column} > 0 AND {weight_sql()} = 1 GROUP BY {grouped} HAVING count(*) > 0 "
        f"ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )
