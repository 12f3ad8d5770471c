"""What the pictures of Explore ask: points, statistics of one column, values of replicates.

The ids of all runs of replicates would cost most of the time; few runs are odd.
"""

from collections.abc import Collection, Sequence
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


def metric_cube_query(
    selection: Selection,
    column: str,
    limit: int,
    left_out: Collection[str] = (),
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of one column's statistics for each combination that occurs.

    Args:
        limit: Maximum number of rows.
        left_out: Facets' columns that are constant or follow from the others; the answer has none
            of them.

    Returns:
        SQL and parameters. The facets' columns, then `n` (of `values_sql`), `mean`, `sd`
        (sample standard deviation; NULL for one run), `low`, `high`, in the column's unit.
        Combinations without a measurement are absent.
    """
    rows = catalogue.aggregates
    catalogue.metric(column)
    condition, parameters = selection.predicate()
    facets = [f.column for f in catalogue.facets.values() if f.column not in left_out]
    listed = ", ".join(facets)
    named = "".join(f"{name}, " for name in facets)
    return (
        f"SELECT {named}{rows.values_sql(column)} AS n, ({rows.mean_sql(column)})::DOUBLE AS mean, "
        f"{rows.sd_sql(column)} AS sd, min({column})::DOUBLE AS low, "
        f"max({column})::DOUBLE AS high FROM runs WHERE ({condition}) AND {column} IS NOT NULL "
        f"GROUP BY {listed or '()'} HAVING count(*) > 0 ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )


def medians_query(
    selection: Selection,
    knobs: Sequence[str],
    column: str,
    limit: int,
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of one column's median for each cell of some knobs; arguments as there.

    Returns:
        SQL and parameters. The knobs' columns, `value` (median of the runs), `low` and `high` (the
        quartiles), `n`; sorted by the knobs, NULL last.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(catalogue.metric(name).name for name in knobs)
    name = catalogue.metric(column).name
    quartiles = ", ".join(
        f"quantile_cont({name}::DOUBLE, {share}) AS {end}"
        for end, share in (("value", 0.5), ("low", 0.25), ("high", 0.75))
    )
    return (
        f"SELECT {listed}, {quartiles}, count(*) AS n FROM runs "
        f"WHERE ({condition}) AND {name} IS NOT NULL GROUP BY {listed} "
        f"ORDER BY {', '.join(f'{knob} NULLS LAST' for knob in knobs)} LIMIT {limit:d}",
        parameters,
    )


def cells_query(
    selection: Selection,
    knobs: Sequence[str],
    column: str,
    limit: int,
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of one column's statistics for each cell of some knobs.

    Args:
        knobs: Columns of the knobs.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. The knobs' columns, `mean`, `sd` and `n` as of `metric_cube_query`;
        sorted by the knobs, NULL last.
    """
    rows = catalogue.aggregates
    condition, parameters = selection.predicate()
    listed = ", ".join(catalogue.metric(name).name for name in knobs)
    return (
        f"SELECT {listed}, ({rows.mean_sql(catalogue.metric(column).name)})::DOUBLE AS mean, "
        f"{rows.sd_sql(column)} AS sd, {rows.values_sql(column)} AS n FROM runs "
        f"WHERE ({condition}) AND {column} IS NOT NULL GROUP BY {listed} "
        f"ORDER BY {', '.join(f'{name} NULLS LAST' for name in knobs)} LIMIT {limit:d}",
        parameters,
    )


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
