"""The scatter's rows: one row per run, or one per configuration with means and deviations."""

from collections.abc import Collection
from typing import Any, Final

from data.catalogue import Catalogue
from data.selection import Selection

# Points of one drawn trace are adjacent: a system's governor and adaptive runs last. The order
# covers all knobs, so that the same data always gives the same rows in the same order.
_FIRST: Final = (
    "system", "dvfs_ghz IS NULL", "itr_us IS NULL", "dataset", "workload", "load_qps",
    "message_bytes", "dvfs_ghz", "itr_us", "rapl_w",
)  # fmt: skip


def points_query(
    selection: Selection,
    columns: dict[str, str],
    means: bool,
    limit: int,
    left_out: Collection[str] = (),
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of the scatter's rows.

    Args:
        selection: The filters.
        columns: Name in the answer to column of `runs`; each also gives `<name>_sd` (sample
            standard deviation over the replicates; NULL for one).
        means: Return one row per configuration (mean over its replicates) instead of one per run.
        limit: Maximum number of rows.
        left_out: Columns that have one value in all runs of the selection, or follow from others.
            The answer has none of them; the rows are the same in half the time.

    Returns:
        SQL and parameters. Columns: a configuration's without `left_out`, `run_id` and `replicate`
        (NULL for means), `n` (number of replicates, those in rows that are means included),
        `logged` (number of rows whose interrupts are in the lake), `flags` (all their flags,
        sorted, in one text; NULL for none), then the requested ones, in their units. Runs in which
        `x` or `y` was not measured are left out.
    """
    rows = catalogue.aggregates
    for column in columns.values():
        catalogue.metric(column)
    condition, parameters = selection.predicate()
    measured = " AND ".join(
        f"{columns[name]} IS NOT NULL" for name in ("x", "y") if name in columns
    )
    where = f"({condition})" + (f" AND {measured}" if measured else "")
    listed = [name for name in catalogue.configuration if name not in left_out]
    every = dict.fromkeys((*_FIRST, *catalogue.configuration))
    order = [each for each in every if each.split()[0] not in left_out]
    named = "".join(f"{name}, " for name in listed)
    if means:
        ordering = f"ORDER BY {', '.join(order)} " if order else ""
        values = ", ".join(
            f"({rows.mean_sql(c)})::DOUBLE AS {name}, {rows.sd_sql(c)} AS {name}_sd"
            for name, c in columns.items()
        )
        sql = (
            f"SELECT {named}NULL::VARCHAR AS run_id, NULL::BIGINT AS replicate, "
            f"{rows.count_sql()} AS n, count(*) FILTER (has_log) AS logged, "
            f"{_flags('flatten(list(DISTINCT flags))')} AS flags, {values} "
            f"FROM runs WHERE {where} GROUP BY {', '.join(listed) or '()'} HAVING count(*) > 0 "
            f"{ordering}LIMIT {limit:d}"
        )
    else:
        values = ", ".join(
            f"{c}::DOUBLE AS {name}, {rows.row_sd_sql(c)} AS {name}_sd"
            for name, c in columns.items()
        )
        sql = (
            f"SELECT {named}run_id, replicate, {rows.weight_sql()}::BIGINT AS n, "
            f"coalesce(has_log, FALSE)::BIGINT AS logged, "
            # Sorting the few flags of each run would take as long as reading it.
            f"CASE WHEN len(flags) < 2 THEN nullif(flags[1], '') ELSE {_flags('flags')} END "
            f"AS flags, {values} FROM runs "
            f"WHERE {where} ORDER BY {', '.join((*order, 'replicate', 'run_id'))} LIMIT {limit:d}"
        )
    return sql, parameters


def _flags(lists: str) -> str:
    return f"nullif(array_to_string(list_sort(list_distinct({lists})), ', '), '')"


def shown_points_query(
    selection: Selection,
    columns: dict[str, str],
    means: bool,
    limit: int,
    left_out: Collection[str] = (),
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build `points_query` with fewer columns, so that its answer can be cached in memory.

    Returns:
        SQL and parameters. Columns: SHOWN without `left_out`, the requested ones, `x_sd`, `y_sd`;
        rows of `points_query`.
    """
    sql, parameters = points_query(selection, columns, means, limit, left_out, catalogue=catalogue)
    shown = [name for name in catalogue.shown if name not in left_out]
    return f"SELECT {', '.join((*shown, *columns, 'x_sd', 'y_sd'))} FROM ({sql})", parameters
