"""The number of runs of each combination of filter values, for menus and their counts."""

from typing import Any

from data.aggregates import count_sql
from data.selection import FACETS


def facet_cube_query(limit: int = 500_000) -> tuple[str, list[Any]]:
    """Build the query of the filter cube.

    Args:
        limit: Maximum number of combinations.

    Returns:
        SQL and no parameters. One row per combination that occurs: the facets' columns,
        `system_label`, `performance_metric`, `is_baseline`, `is_synthetic`, and `runs` (count;
        a row that is the mean of several counts as these).
    """
    columns = ", ".join(f.column for f in FACETS.values())
    extra = "system_label, performance_metric, is_baseline, is_synthetic"
    return (
        f"SELECT {columns}, {extra}, {count_sql()} AS runs FROM runs GROUP BY {columns}, {extra} "
        f"ORDER BY ALL LIMIT {limit:d}",
        [],
    )
