"""Means of each storage configuration, idle power, loads and stores."""

from collections.abc import Sequence
from typing import Any, Final

from data.catalogue import Aggregates, Catalogue
from data.reference.loads_stores import MOVES, UNKNOWN, patterns
from data.selection import Selection

# The metrics of the page's views.
MEASURED: Final = (
    "iops", "bandwidth_bytes_s", "latency_mean_us", "latency_p99_us", "cpu_pct", "cpu_sys_pct",
    "power_w", "context_switches_per_s", "context_switches_per_io", "interrupts_per_s",
    "bytes_per_joule", "ios_per_joule",
)  # fmt: skip
ALL: Final = Selection()
# Only storage runs have a request size; idle and network runs do not.
IS_STORAGE: Final = "request_bytes IS NOT NULL"
IDLE_WORKLOAD: Final = "idle"
# Filters that also apply to idle runs.
_IDLE_FACETS: Final = ("dataset", "system", "device", "dvfs", "rapl")
# Filters that also apply to the peak of the system.
_SYSTEM_FACETS: Final = ("dataset", "system", "machine")


def _part() -> str:
    """Return the published part that a function of a subsystem is of; NULL for none."""
    whens = [
        f"WHEN subsystem = '{subsystem}' AND regexp_full_match(function, '{pattern}') THEN '{part}'"
        for (subsystem, part), pattern in patterns().items()
    ]
    return f"CASE {' '.join(whens)} END"


# The columns that `functions` is aggregated to, by run, subsystem and published part of it.
# Functions without a known subsystem go to `unknown`; a sum is NULL where nothing was counted.
FUNCTION_SUMS: Final = (
    f"run_id, coalesce(subsystem, '{UNKNOWN}') AS subsystem, {_part()} AS part, "
    + ", ".join(f"sum({name}) AS {name}" for name in MOVES)
)


def storage_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of every storage configuration.

    Args:
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: a configuration's; `runs` (count); for each metric of MEASURED
        its mean over the replicates that have it, `<metric>_sd` (sample standard deviation; NULL
        for one) and `<metric>_n`. A mean is NULL without a value. Sorted by configuration.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(catalogue.configuration)
    values = ", ".join(
        _moments(catalogue.metric(name).name, catalogue.aggregates) for name in MEASURED
    )
    return (
        f"SELECT {listed}, count(*) AS runs, {values} FROM runs "
        f"WHERE ({condition}) AND {IS_STORAGE} GROUP BY {listed} "
        f"ORDER BY {', '.join(f'{name} NULLS LAST' for name in catalogue.configuration)} "
        f"LIMIT {limit:d}",
        parameters,
    )


def idle_query(
    selection: Selection, limit: int, others: Selection = ALL, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of idle power by device.

    Only the filters on dataset, system, device, DVFS and power limit apply. The system without a
    device under test is included whatever the filter on devices.

    Args:
        others: Values of the other knobs, of which idle runs have several.

    Returns:
        SQL and parameters. Columns `device` (NULL: none under test), `runs`, `power_w`,
        `power_w_sd`, `power_w_n`, `is_synthetic`. Sorted by device, NULL first.
    """
    condition, parameters = _is_idle(selection, others)
    return (
        f"SELECT device, count(*) AS runs, {_moments('power_w', catalogue.aggregates)}, "
        "coalesce(bool_and(is_synthetic), FALSE) AS is_synthetic FROM runs "
        f"WHERE {condition} GROUP BY device ORDER BY device NULLS FIRST LIMIT {limit:d}",
        parameters,
    )


def idle_knobs_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the combinations of knobs of idle runs whose power was measured.

    Returns:
        SQL and parameters. The facets' columns and `runs`; the filters are those of `idle_query`.
    """
    condition, parameters = _is_idle(selection)
    listed = ", ".join(facet.column for facet in catalogue.facets.values())
    return (
        f"SELECT {listed}, count(*) AS runs FROM runs WHERE {condition} AND power_w IS NOT NULL "
        f"GROUP BY {listed} ORDER BY ALL LIMIT {limit:d}",
        parameters,
    )


def _is_idle(selection: Selection, others: Selection = ALL) -> tuple[str, list[Any]]:
    own = Selection(tuple(c for c in selection.clauses if c.facet.name in _IDLE_FACETS))
    condition, parameters = own.predicate(exclude="device")
    devices, more = Selection(tuple(c for c in own.clauses if c.facet.name == "device")).predicate()
    chosen, values = others.predicate()
    return (
        f"({condition}) AND (({devices}) OR device IS NULL) AND ({chosen}) AND workload = ?",
        [*parameters, *more, *values, IDLE_WORKLOAD],
    )


def storage_cells_query(
    selection: Selection,
    knobs: Sequence[str],
    column: str,
    limit: int,
    *,
    catalogue: Catalogue,
) -> tuple[str, list[Any]]:
    """Build the query of one metric for each cell of some knobs.

    Args:
        knobs: Columns of the knobs.
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. The knobs' columns, and the metric's mean, `_sd` and `_n` as of
        `storage_query`. Sorted by the knobs. Cells without a measurement are absent.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(catalogue.metric(name).name for name in knobs)
    return (
        f"SELECT {listed}, {_moments(catalogue.metric(column).name, catalogue.aggregates)} "
        f"FROM runs WHERE ({condition}) AND {IS_STORAGE} AND isfinite({column}::DOUBLE) "
        f"GROUP BY {listed} "
        f"ORDER BY {', '.join(f'{name} NULLS LAST' for name in knobs)} LIMIT {limit:d}",
        parameters,
    )


def peak_query(selection: Selection, *, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the greatest mean power of any storage configuration, by machine.

    Only the filters on dataset, system and machine apply: the peak is that of the whole system,
    over all devices and workloads. Runs of an unknown machine are one machine per dataset.

    Returns:
        SQL and parameters. Columns `machine`, `peak_w`. Sorted by machine.
    """
    kept = Selection(tuple(c for c in selection.clauses if c.facet.name in _SYSTEM_FACETS))
    condition, parameters = kept.predicate()
    means = (
        "SELECT coalesce(machine, dataset)::VARCHAR AS machine, "
        f"{_moments('power_w', catalogue.aggregates)} FROM runs "
        f"WHERE ({condition}) AND {IS_STORAGE} GROUP BY {', '.join(catalogue.configuration)}"
    )
    return (
        f"SELECT machine, max(power_w) AS peak_w FROM ({means}) GROUP BY machine ORDER BY machine",
        parameters,
    )


def profiled_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the storage runs whose functions may have been counted.

    Returns:
        SQL and parameters. Columns `run_id` and those of all filters; sorted by replicate first, so
        that a limit drops replicates rather than modes or depths.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(facet.column for facet in catalogue.facets.values())
    return (
        f"SELECT run_id, {listed} FROM runs WHERE ({condition}) AND {IS_STORAGE} "
        "ORDER BY replicate NULLS LAST, mode NULLS LAST, io_depth NULLS LAST, run_id "
        f"LIMIT {limit:d}",
        parameters,
    )


def function_sums_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the sums over functions of the runs of `profiled_query`, for explanations.

    The pages read the files of these runs; the query reads the files of all runs in a folder.

    Returns:
        SQL and parameters. `mode`, `io_depth` and the columns of FUNCTION_SUMS.
    """
    runs, parameters = profiled_query(selection, limit, catalogue=catalogue)
    sums = f"SELECT {FUNCTION_SUMS} FROM lake_file('functions/*/*.parquet') GROUP BY ALL"
    return (
        f"SELECT mode, io_depth, s.* FROM ({runs}) JOIN ({sums}) s USING (run_id) ORDER BY ALL",
        parameters,
    )


def _moments(name: str, rows: Aggregates) -> str:
    value = f"{name}::DOUBLE"
    there = f"FILTER (isfinite({value}))"
    return (
        f"{rows.mean_sql(value, there)} AS {name}, {rows.sd_sql(value, there)} AS {name}_sd, "
        f"{rows.count_sql(value, there)} AS {name}_n"
    )
