"""Mean energy and performance of every configuration, for the table of best settings."""

from typing import Any, Final

from data.aggregates import count_sql, mean_sql
from data.queries.points import CONFIGURATION, points_query
from data.schema import SUBJECT
from data.selection import Selection

# Facets of tuned settings; filters on them do not exclude baseline runs.
_TUNED_FACETS = ("system", "mode", "itr", "dvfs", "rapl")
_PLACE: Final = ", ".join(SUBJECT)


def candidates_query(
    selection: Selection, performance: str, limit: int, cost: str = "energy_j"
) -> tuple[str, list[Any]]:
    """Build the query of the configurations that could be best.

    Returns:
        SQL and parameters. Columns as of `points_query`: `x` is the mean of the limited metric, in
        its unit, `y` the mean of the cost.
    """
    return points_query(selection, {"x": performance, "y": cost}, means=True, limit=limit)


def baselines_query(
    selection: Selection, performance: str, limit: int = 50_000, cost: str = "energy_j"
) -> tuple[str, list[Any]]:
    """Build the query of the default configuration of each SUBJECT; of several that with most runs.

    Filters on system, mode, ITR, DVFS and power limit do not apply to it.

    Args:
        limit: Maximum number of rows.
        cost: The metric that the best settings have least of.

    Returns:
        SQL and parameters. Columns SUBJECT, `performance` (mean, in the metric's unit), `cost`
        (mean), `n`.
    """
    for facet in _TUNED_FACETS:
        selection = selection.with_values(facet, ())
    condition, parameters = selection.predicate()
    listed = ", ".join(CONFIGURATION)
    order = ", ".join(f"{name} NULLS LAST" for name in CONFIGURATION)
    return (
        f"SELECT {_PLACE}, performance, cost, n FROM (SELECT {listed}, "
        f"({mean_sql(performance)})::DOUBLE AS performance, ({mean_sql(cost)})::DOUBLE AS cost, "
        f"{count_sql()} AS n FROM runs WHERE ({condition}) AND is_baseline "
        f"AND {performance} IS NOT NULL AND {cost} IS NOT NULL GROUP BY {listed}) "
        f"QUALIFY row_number() OVER (PARTITION BY {_PLACE} ORDER BY n DESC, {order}) = 1 "
        f"ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )
