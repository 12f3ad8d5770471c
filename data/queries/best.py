"""Means of every configuration in energy and performance, for the table of best settings."""

from typing import Any

from data.queries.points import points_query
from data.selection import Selection

# A baseline run stays comparable whatever tuned settings the filters leave.
_TUNED_FACETS = ("system", "mode", "itr", "dvfs", "rapl")


def candidates_query(
    selection: Selection, performance: str, limit: int, cost: str = "energy_j"
) -> tuple[str, list[Any]]:
    """Build the query of the configurations that could be best; columns as `points_query`'s.

    `x` is the metric with the limit, `y` is the cost.
    """
    return points_query(selection, {"x": performance, "y": cost}, means=True, limit=limit)


def baselines_query(
    selection: Selection, performance: str, limit: int = 50_000, cost: str = "energy_j"
) -> tuple[str, list[Any]]:
    """Build the query of the default configuration of each dataset, workload and load.

    The filters on system, ITR, DVFS and power limit do not apply to it.

    Args:
        limit: Most rows.
        cost: The metric that the best settings have least of.

    Returns:
        SQL and parameters. Columns `dataset`, `workload`, `load_qps`, `message_bytes`,
        `performance`, `cost` (means), `n`.
    """
    for facet in _TUNED_FACETS:
        selection = selection.with_values(facet, ())
    condition, parameters = selection.predicate()
    return (
        "SELECT dataset, workload, load_qps, message_bytes, "
        f"avg({performance})::DOUBLE AS performance, avg({cost})::DOUBLE AS cost, count(*) AS n "
        f"FROM runs WHERE ({condition}) AND is_baseline AND {performance} IS NOT NULL "
        f"AND {cost} IS NOT NULL GROUP BY dataset, workload, load_qps, message_bytes "
        f"ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )
