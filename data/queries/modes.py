"""The replicates of each configuration, and the runs of a cell, for the map of winners."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from data.catalogue import Catalogue
from data.queries.moments import moments_sql
from data.selection import Selection, Value

_RUN = ("run_id", "replicate", "coalesce(has_log, FALSE) AS has_log")


def configurations_query(
    selection: Selection,
    column: str,
    against: str,
    limit: int,
    known: Collection[str] = (),
    limited: str = "",
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of every configuration with its replicates.

    It names no axes: its rows answer any two knobs, any competitor and any narrower filter.

    Args:
        column: The compared metric.
        against: A second metric, for the Pareto view.
        limit: Maximum number of rows.
        known: Columns that follow from the others, such as those with one value in all runs. The
            answer omits them: grouping by fewer columns takes two thirds of the time.
        limited: A metric to which a limit applies; empty for none.

    Returns:
        SQL and parameters. Columns: a configuration's without `known`; `values`, the finite
        measurements of `column`, ascending, at least one; `against` and `against_sd`, mean and
        sample standard deviation of the second metric over the same runs (NULL where not
        measured, and `against_sd` for one run). Of `limited` the moments of `moments_query`, over
        the same runs. In a lake with rows that are means also `pooled_n`,
        `pooled_mean`, `pooled_sd` of `column` over all their runs. Sorted by configuration. Runs
        without a value of `column`, and configurations without such a run, are left out.
    """
    catalogue.metric(column)
    catalogue.metric(against)
    condition, parameters = selection.predicate()
    names = [name for name in catalogue.configuration if name not in known]
    listed = ", ".join(names)
    other = f"{against}::DOUBLE"
    there, rows = f"FILTER (isfinite({other}))", catalogue.aggregates
    pooled = (
        f"{rows.count_sql()} AS pooled_n, {rows.mean_sql(column)} AS pooled_mean, "
        f"{rows.sd_sql(column)} AS pooled_sd, "
    )
    return (
        f"SELECT {''.join(f'{name}, ' for name in names)}"
        f"list_sort(list({column}::DOUBLE)) AS values, "
        f"{pooled if rows.has_means else ''}"
        f"{moments_sql(catalogue.metric(limited).name, rows) + ', ' if limited else ''}"
        f"{rows.mean_sql(other, there)} AS against, {rows.sd_sql(other, there)} AS against_sd "
        f"FROM runs WHERE ({condition}) AND isfinite({column}::DOUBLE) "
        f"GROUP BY {listed or '()'} HAVING count(*) > 0 {_order(names)}LIMIT {limit:d}",
        parameters,
    )


def _order(names: Sequence[str]) -> str:
    listed = ", ".join(f"{name} NULLS LAST" for name in names)
    return f"ORDER BY {listed} " if names else ""


def cell_query(
    selection: Selection,
    column: str,
    cell: Mapping[str, Value | None],
    limit: int,
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of the runs of one cell, or of all cells.

    Args:
        column: The compared metric.
        cell: Knob column to its value in the cell; None for NULL. Empty for all cells.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `has_log`, `value`
        (in the metric's unit). Runs without a finite value are left out. Sorted by configuration,
        replicate and run.
    """
    catalogue.metric(column)
    condition, parameters = selection.predicate()
    here = "".join(f"{catalogue.metric(name).name} IS NOT DISTINCT FROM ? AND " for name in cell)
    names = catalogue.configuration
    return (
        f"SELECT {', '.join((*names, *_RUN))}, {column}::DOUBLE AS value FROM runs "
        f"WHERE ({condition}) AND {here}isfinite({column}::DOUBLE) "
        f"{_order((*names, 'replicate', 'run_id'))}LIMIT {limit:d}",
        [*parameters, *cell.values()],
    )
