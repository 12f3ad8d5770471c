"""The runs in their order: when each started, its setting and some metrics."""

from collections.abc import Sequence
from typing import Any

from data.catalogue import Catalogue
from data.selection import Selection


def order_query(
    selection: Selection, metrics: Sequence[str], catalogue: Catalogue, limit: int
) -> tuple[str, list[Any]]:
    """Build the query of the single runs of a selection.

    Args:
        metrics: Columns of `runs`.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. One row a run: `run_id`, `start_unix_s`, `replicate`, the columns of a
        choice and of a setting, the metrics (NULL where not above 0). Sorted by run id.
    """
    condition, parameters = selection.predicate()
    columns = ", ".join((*catalogue.choice_columns, *catalogue.setting_columns))
    values = ", ".join(
        f"CASE WHEN {name} > 0 THEN {name}::DOUBLE END AS {name}"
        for name in (catalogue.metric(metric).name for metric in metrics)
    )
    return (
        f"SELECT run_id, start_unix_s, replicate, {columns}, {values} FROM runs "
        f"WHERE ({condition}) AND {catalogue.aggregates.weight_sql()} = 1 "
        f"ORDER BY run_id LIMIT {limit:d}",
        parameters,
    )
