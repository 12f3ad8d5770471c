"""Runs: their number by filter values, all their columns, which have values, their order."""

from collections.abc import Sequence
from typing import Any, Final

from data.catalogue import Catalogue
from data.selection import Selection

_EXTRA: Final = "system_label, performance_metric, is_baseline, is_synthetic"
ALL: Final = Selection()
# Amounts of work whose greatest is more than so many times the least are unlike.
UNLIKE: Final = 1.05


def runs_query(
    selection: Selection, limit: int, measured: str = "", *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the runs that match the filters, by run id.

    Args:
        limit: Maximum number of rows.
        measured: A metric; runs without a finite value of it are left out.

    Returns:
        SQL and parameters. All columns of `runs`.
    """
    condition, parameters = selection.predicate()
    if measured:
        condition = f"({condition}) AND isfinite({catalogue.metric(measured).name}::DOUBLE)"
    return f"SELECT * FROM runs WHERE {condition} ORDER BY run_id LIMIT {limit:d}", parameters


def chosen_counts_query(
    selection: Selection,
    columns: Sequence[str],
    measured: str = "",
    *,
    catalogue: Catalogue,
    most_runs: int | None = None,
) -> tuple[str, list[Any]]:
    """Build the query of how many of the chosen runs have a value in each column; one row.

    Args:
        measured: A metric; only runs with a value of it count. Empty for all.
        most_runs: So many runs are read; None for all.
    """
    condition, parameters = selection.predicate()
    counts = ", ".join(f"count({catalogue.metric(name).name}) AS {name}" for name in columns)
    having = f" AND {catalogue.metric(measured).name} IS NOT NULL" if measured else ""
    rows = f"FROM runs WHERE ({condition}){having}"
    if most_runs is not None:
        rows = f"FROM (SELECT * {rows} LIMIT {most_runs:d})"
    return f"SELECT {counts} {rows}", parameters


def ranges_query(
    selection: Selection, columns: Sequence[str], by: Sequence[str], limit: int
) -> tuple[str, list[Any]]:
    """Build the query of how many of the chosen runs have a value in each column, and its range.

    Args:
        columns: Numeric columns of `runs`.
        by: Columns of which each combination has a row of its own; empty for one row.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. The columns of `by`; of the column at I, `runs_I`, `low_I`, `high_I`.
    """
    condition, parameters = selection.predicate()
    ranges = ", ".join(
        f"count({name}) AS runs_{at}, min({name}) AS low_{at}, max({name}) AS high_{at}"
        for at, name in enumerate(columns)
    )
    groups = f" GROUP BY {', '.join(by)}" if by else ""
    asked = ", ".join((*by, ranges))
    return f"SELECT {asked} FROM runs WHERE ({condition}){groups} LIMIT {limit:d}", parameters


def zeros_query(selection: Selection, columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Build the query of in which columns most of the values are 0; one row."""
    condition, parameters = selection.predicate()
    zeros = ", ".join(f"2 * count_if({n} = 0) > count({n}) AS {n}" for n in columns)
    return f"SELECT {zeros} FROM runs WHERE ({condition})", parameters


def valued_datasets_query(columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Build the query of the datasets of which a row has a value in one of some columns."""
    there = " OR ".join(f"{name} IS NOT NULL" for name in columns)
    return f"SELECT DISTINCT dataset::VARCHAR AS dataset FROM runs WHERE {there}", []


def unlike_work_query(
    selection: Selection, of_item: str, choice: Sequence[str]
) -> tuple[str, list[Any]]:
    """Build the query of whether runs of one choice did amounts of work that differ by over 5 %.

    The amount is the energy of a run by that of an item of its work.

    Args:
        of_item: Column of `runs` with the energy of an item.
        choice: Columns of what was given; runs that agree in them are compared with each other.
    """
    condition, parameters = selection.predicate()
    return (
        f"SELECT coalesce(max(most) > {UNLIKE}, FALSE) FROM (SELECT max(energy_j / {of_item}) "
        f"/ min(energy_j / {of_item}) AS most FROM runs WHERE ({condition}) AND energy_j > 0 "
        f"AND {of_item} > 0 GROUP BY {', '.join(choice)})",
        parameters,
    )


def unlike_counts_query(
    selection: Selection, total: str, count: str, choice: Sequence[str]
) -> tuple[str, list[Any]]:
    """Build the query of the range of a count of work where runs of one choice differ in it.

    It is the work of a total where the total of an item is more alike than the totals: runs that
    take equally long do what they can, and a tool repeats a short step more often.

    Args:
        total: Column of `runs` that grows with the work, such as the time.
        count: Column with the number of its items.

    Returns:
        SQL and parameters. One row: `low` and `high`, NULL where all runs did like work.
    """
    condition, parameters = selection.predicate()
    return (
        f"SELECT min(low) AS low, max(high) AS high FROM (SELECT min({count}) AS low, "
        f"max({count}) AS high FROM runs WHERE ({condition}) AND {total} > 0 AND {count} > 0 "
        f"GROUP BY {', '.join(choice)} HAVING high > {UNLIKE} * low AND "
        f"stddev_pop(ln({total}) - ln({count})) < stddev_pop(ln({total})))",
        parameters,
    )


def one_measurement_query(
    selection: Selection, x: str, y: str, choice: Sequence[str] = ()
) -> tuple[str, list[Any]]:
    """Build the query of whether y follows from x: their ratio or product is one, within 3 %.

    So are the energy and the power of runs that took equally long, and the time and the speed-up of
    each program. Three runs tell, whose x differs by ten times as much.

    Args:
        x, y: Columns of `runs`.
        choice: Columns of what was given; ratio or product is one among runs that agree in them.
    """
    condition, parameters = selection.predicate()
    spreads = ", ".join(
        f"ln(max({y} {by} {x}::DOUBLE) / min({y} {by} {x}::DOUBLE)) AS {name}"
        for by, name in (("/", "ratio"), ("*", "product"))
    )
    return (
        "SELECT coalesce(bool_and(ratio <= most) OR bool_and(product <= most), FALSE) FROM ("
        f"SELECT {spreads}, least(0.03, ln(max({x}) / min({x})) / 10) AS most FROM runs "
        f"WHERE ({condition}) AND {x} > 0 AND {y} > 0 GROUP BY {', '.join(choice) or '()'} "
        "HAVING count(*) > 2)",
        parameters,
    )


def order_query(
    selection: Selection, metrics: Sequence[str], catalogue: Catalogue, limit: int
) -> tuple[str, list[Any]]:
    """Build the query of the single runs of a selection.

    Args:
        metrics: Columns of `runs`.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. One row a run: `run_id`, `start_unix_s`, `replicate`, `system_label`,
        the columns of a choice and of a setting, the metrics (NULL where not above 0). Sorted by
        run id.
    """
    condition, parameters = selection.predicate()
    columns = ", ".join((*catalogue.choice_columns, *catalogue.setting_columns))
    values = ", ".join(
        f"CASE WHEN {name} > 0 THEN {name}::DOUBLE END AS {name}"
        for name in (catalogue.metric(metric).name for metric in metrics)
    )
    return (
        f"SELECT run_id, start_unix_s, replicate, system_label, {columns}, {values} FROM runs "
        f"WHERE ({condition}) AND {catalogue.aggregates.weight_sql()} = 1 "
        f"ORDER BY run_id LIMIT {limit:d}",
        parameters,
    )


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
