"""One metric over DVFS x ITR for one system: the mean of each cell's runs."""

from typing import Any

from data.metrics import metric
from data.selection import Selection


def heatmap_query(selection: Selection, system: str, column: str) -> tuple[str, list[Any]]:
    """Build the query of the heatmap's cells.

    Returns:
        SQL and parameters. Columns `dvfs_ghz` (NULL: governor), `itr_us` (NULL: adaptive),
        `mean`, `sd` (sample standard deviation over the runs; NULL for one), `n`. Cells in which
        nothing was measured are absent.
    """
    metric(column)
    condition, parameters = selection.predicate(exclude="system")
    return (
        f"SELECT dvfs_ghz, itr_us, avg({column})::DOUBLE AS mean, stddev_samp({column}) AS sd, "
        f"count({column}) AS n FROM runs WHERE ({condition}) AND system = ? "
        f"AND {column} IS NOT NULL GROUP BY dvfs_ghz, itr_us "
        "ORDER BY dvfs_ghz NULLS LAST, itr_us NULLS LAST",
        [*parameters, system],
    )
