"""Statistics of one column by combination of filter values or cells of two knobs, and by replicate.

The ids of all runs of replicates would cost most of the time; few runs are odd.
"""

from collections.abc import Collection, Sequence
from typing import Any

from data.catalogue import Catalogue
from data.selection import Selection


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
        SQL and parameters. The facets' columns, then `n` (runs that have a value), `mean`, `sd`
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
        f"SELECT {named}{rows.count_sql()} AS n, ({rows.mean_sql(column)})::DOUBLE AS mean, "
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
        f"{rows.sd_sql(column)} AS sd, {rows.count_sql()} AS n FROM runs "
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
