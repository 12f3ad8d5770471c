"""The runs that models are fitted to, and those of the network study: counters, energy, latency."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from data.catalogue import Catalogue
from data.queries.statement import literal
from data.selection import Selection

_COLUMNS: Final = (
    "duration_s", "energy_j", "throughput_qps", "requests", "instructions", "ref_cycles",
    "interrupts", "rx_desc", "latency_mean_us", "latency_p50_us", "latency_p99_us",
)  # fmt: skip


# Knobs that a sweep varies within one system, workload and load.
_SWEPT: Final = ("itr_us", "itr_policy", "dvfs_ghz", "dvfs_policy", "rapl_w")
_SYSTEMS: Final = ("linux_default", "linux_tuned", "ebbrt_tuned", "ebbrt_poll")
_WORKLOADS: Final = ("nodejs", "netpipe", "memcached", "memcached-silo")
# Open loops without a load are none of its runs.
_IS_STUDY: Final = (
    f"system IN ({', '.join(literal(name) for name in _SYSTEMS)}) AND "
    f"workload IN ({', '.join(literal(name) for name in _WORKLOADS)}) AND "
    "(load_qps IS NOT NULL OR workload NOT LIKE 'memcached%')"
)


def model_runs_query(
    selection: Selection, limit: int, *, catalogue: Catalogue
) -> tuple[str, list[Any]]:
    """Build the query of the runs that have a duration and reference cycles or interrupts.

    If more runs match than the limit, they are taken in turn: one of each combination of the knobs
    that a sweep does not vary (workload, load, system and so on), then a second one; of such a
    combination first one replicate of each configuration, in the order of a digest.

    Args:
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `duration_s`,
        `energy_j`, `throughput_qps`, `requests`, `instructions`, `ref_cycles`, `interrupts`,
        `rx_desc`, `latency_mean_us`, `latency_p50_us`, `latency_p99_us`, `core_count` and `tsc_hz`
        of the cores' logs (NULL without logs), `matching` (number of runs without the limit).
        Sorted by run id.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(
        f"r.{name}" for name in (*catalogue.configuration, "run_id", "replicate", *_COLUMNS)
    )
    fixed = ", ".join(name for name in catalogue.configuration if name not in _SWEPT)
    return (
        f"WITH replicates AS (SELECT run_id, {fixed}, row_number() OVER (PARTITION BY "
        f"{', '.join(catalogue.configuration)} ORDER BY run_id) AS number FROM runs "
        f"WHERE ({condition}) AND duration_s > 0 "
        "AND (ref_cycles IS NOT NULL OR interrupts IS NOT NULL)), "
        "taken AS (SELECT run_id, count(*) OVER () AS matching FROM replicates ORDER BY "
        f"row_number() OVER (PARTITION BY {fixed} ORDER BY number, md5(run_id)), md5(run_id) "
        f"LIMIT {limit:d}) "
        f"SELECT {listed}, c.core_count, c.tsc_hz, taken.matching FROM taken "
        "JOIN runs r ON r.run_id = taken.run_id LEFT JOIN "
        "(SELECT run_id, count(*) AS core_count, max(tsc_hz) AS tsc_hz FROM cores GROUP BY run_id) "
        "c ON c.run_id = r.run_id ORDER BY r.run_id",
        parameters,
    )


def queue_units_query(
    runs: str, cores: int, tsc_ghz: float, serving: Mapping[str, int], most_busy: float
) -> str:
    """Build the query of runs in the units of one queue: `with_queue_units`, in SQL.

    Args:
        runs: SQL of `model_runs_query` without parameters.
        cores, tsc_ghz: Of a run without logs.
        serving: Cores of workloads that use a known number.
        most_busy: Greatest busy share that is possible.
    """
    whens = " ".join(f"WHEN {literal(name)} THEN {count}" for name, count in serving.items())
    return (
        "SELECT * EXCLUDE (busy, share), CASE WHEN share <= "
        f"{most_busy} THEN busy END AS busy_s, CASE WHEN share <= {most_busy} THEN share END AS "
        "busy_share FROM (SELECT * EXCLUDE (requests), coalesce(core_count::DOUBLE, "
        f"(CASE workload::VARCHAR {whens} ELSE {cores} END)::DOUBLE) AS cores, "
        "coalesce(requests::DOUBLE, throughput_qps * duration_s) AS requests, "
        f"ref_cycles / coalesce(tsc_hz, {tsc_ghz * 1e9!r}::DOUBLE) AS busy, "
        "energy_j / duration_s AS power_w, rx_desc / duration_s / cores / 1e3 AS lam_kpps, "
        "busy / duration_s / cores AS share, interrupts / duration_s / cores AS interrupts_per_s "
        f"FROM ({runs}))"
    )


def queue_means_query(
    units: str, groups: Sequence[Mapping[str, Any]], swept: Sequence[str], means: Sequence[str]
) -> str:
    """Build the query of means of configurations in the units of one queue: `points`, in SQL.

    Args:
        units: Answer of `queue_units_query`.
        groups: Of each group its columns and `group`.
        swept: Columns that vary within a group.
        means: Columns of the answer, each with its deviation as `<name>_sd`.
    """
    columns = list(groups[0])
    rows = ", ".join(f"({', '.join(map(literal, group.values()))})" for group in groups)
    alike = " AND ".join(
        f"u.{name} IS NOT DISTINCT FROM g.{name}" for name in columns if name != "group"
    )
    values = ", ".join(f"avg({name}) AS {name}, stddev_samp({name}) AS {name}_sd" for name in means)
    named = ", ".join(f'"{name}"' for name in columns)
    by = ", ".join([*(f"g.{name}" for name in columns if name != "group"), *swept])
    return (
        f"SELECT *, coalesce(latency_mean_us, latency_p50_us) AS latency_us, CASE WHEN "
        "latency_mean_us IS NULL THEN latency_p50_us_sd ELSE latency_mean_us_sd END AS "
        f'latency_us_sd FROM (SELECT g."group", {by}, {values}, count(*) AS n FROM ({units}) u '
        f"JOIN (VALUES {rows}) g({named}) ON {alike} GROUP BY ALL)"
    )


def cumulated_sizes_query() -> str:
    """Build the query of the shares of frames up to each size, over the table of an artifact."""
    return (
        "SELECT size_bytes, sum(share) OVER (ORDER BY size_bytes) AS cumulated "
        "FROM read_parquet('tables/models-sizes.parquet')"
    )


def energy_curves_query(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Build the query of latency and mean power by frequency, over the table of an artifact.

    Args:
        values: Parameters of `data.models.energy`, of which the table has alpha, beta, detection.
        keys: Columns that tell the rows of the table apart.
    """
    work_w = f"({values['static_w']} + {values['dynamic_w']} * dvfs ** (2 + beta))"
    latency = f"(detect_share + {values['work_share']} / dvfs ** (1 + alpha))"
    detect_w = work_w if values["detection"] == "busy" else "0"
    power = (
        f"{detect_w} * detect_share + {work_w} * ({latency} - detect_share) "
        f"+ {values['sleep_w']} * (1 - {latency})"
    )
    shown = ", ".join(
        f"CASE WHEN {latency} <= 1 + 1e-12 THEN {sql} END AS {column}"
        for column, sql in (("latency_share", latency), ("power_w", power))
    )
    return f"SELECT {', '.join(keys)}, {shown} FROM read_parquet('tables/models-energy.parquet')"


def network_studies_query() -> tuple[str, list[Any]]:
    """Build the query of the datasets and machines that hold runs of the study's systems.

    Returns:
        SQL and parameters. Columns `dataset`, `machine`, `is_synthetic`, `runs`; measured ones
        first, then by falling number of runs.
    """
    return (
        "SELECT dataset::VARCHAR AS dataset, machine::VARCHAR AS machine, "
        "coalesce(bool_or(is_synthetic), FALSE) AS is_synthetic, count(*) AS runs FROM runs "
        f"WHERE {_IS_STUDY} GROUP BY ALL ORDER BY is_synthetic, runs DESC, dataset, machine",
        [],
    )


def network_runs_query(dataset: str | None, machine: str | None) -> tuple[str, list[Any]]:
    """Build the query of the study's runs.

    Returns:
        SQL and parameters. One row a run: `workload`, `place` (load or message size), `system`,
        `itr`, `ghz`, `rapl`, `duration_s`, `latency_p99_us`, `energy_j`, `instructions`,
        `interrupts`, `requests`, `ipc`.
    """
    return (
        "SELECT workload::VARCHAR AS workload, coalesce(load_qps, message_bytes::DOUBLE) AS place, "
        "system::VARCHAR AS system, itr_us AS itr, dvfs_ghz AS ghz, rapl_w AS rapl, duration_s, "
        "latency_p99_us, energy_j, instructions, interrupts, requests, ipc FROM runs "
        f"WHERE {_IS_STUDY} AND dataset IS NOT DISTINCT FROM ? AND machine IS NOT DISTINCT FROM ? "
        "AND energy_j > 0 ORDER BY run_id",
        [dataset, machine],
    )
