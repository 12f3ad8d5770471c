"""The number of runs of each combination of filter values, for menus and their counts."""

from typing import Any, Final

from data.catalogue import Catalogue
from data.selection import Selection

_EXTRA: Final = "system_label, performance_metric, is_baseline, is_synthetic"
ALL: Final = Selection()


def facet_cube_query(
    limit: int = 500_000,
    selection: Selection = ALL,
    *,
    catalogue: Catalogue,
    is_logged: bool = False,
) -> tuple[str, list[Any]]:
    """Build the query of the filter cube.

    Args:
        limit: Maximum number of combinations.
        selection: The runs that count.
        is_logged: Only runs with a per-interrupt log count.

    Returns:
        SQL and parameters. One row per combination that occurs: the facets' columns,
        `system_label`, `performance_metric`, `is_baseline`, `is_synthetic`, and `runs` (count;
        a row that is the mean of several counts as these).
    """
    columns = ", ".join(f.column for f in catalogue.facets.values())
    condition, parameters = selection.predicate()
    condition = f"has_log AND {condition}" if is_logged else condition
    return (
        f"SELECT {columns}, {_EXTRA}, {catalogue.aggregates.count_sql()} AS runs FROM runs "
        f"WHERE {condition} GROUP BY {columns}, {_EXTRA} ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )


def outline_query(limit: int, *, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of what a lake holds at large, which stays small in a lake of any size.

    Returns:
        SQL and no parameters. One row per combination that occurs of `dataset`, `workload`,
        `system`, `system_label`, `is_synthetic` and `is_storage` (has a request size), and `runs`
        (count, as in `facet_cube_query`).
    """
    return (
        "SELECT dataset, workload, system, system_label, is_synthetic, "
        f"request_bytes IS NOT NULL AS is_storage, {catalogue.aggregates.count_sql()} AS runs "
        f"FROM runs GROUP BY ALL ORDER BY ALL LIMIT {limit:d}",
        [],
    )
