"""The runs of the network study: of its systems and workloads, in one dataset and machine."""

from typing import Any, Final

from data.queries.statement import literal

_SYSTEMS: Final = ("linux_default", "linux_tuned", "ebbrt_tuned", "ebbrt_poll")
_WORKLOADS: Final = ("nodejs", "netpipe", "memcached", "memcached-silo")
# Open loops without a load are none of its runs.
_IS_STUDY: Final = (
    f"system IN ({', '.join(literal(name) for name in _SYSTEMS)}) AND "
    f"workload IN ({', '.join(literal(name) for name in _WORKLOADS)}) AND "
    "(load_qps IS NOT NULL OR workload NOT LIKE 'memcached%')"
)


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
