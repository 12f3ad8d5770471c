"""The runs that models are compared with and fitted to: counters, energy, latency, cores."""

from typing import Any, Final

from data.queries.points import CONFIGURATION
from data.selection import Selection

_COLUMNS: Final = (
    "duration_s", "energy_j", "throughput_qps", "requests", "instructions", "ref_cycles",
    "interrupts", "rx_desc", "latency_mean_us", "latency_p50_us", "latency_p99_us",
)  # fmt: skip


def model_runs_query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
    """Build the query of the runs that have a duration and reference cycles or interrupts.

    Args:
        limit: Maximum number of rows.

    Returns:
        SQL and parameters. Columns: CONFIGURATION, `run_id`, `replicate`, `duration_s`, `energy_j`,
        `throughput_qps`, `requests`, `instructions`, `ref_cycles`, `interrupts`, `rx_desc`,
        `latency_mean_us`, `latency_p50_us`, `latency_p99_us`, `core_count` and `tsc_hz` of the
        cores' logs (NULL without logs). Sorted by run id.
    """
    condition, parameters = selection.predicate()
    listed = ", ".join(f"r.{name}" for name in (*CONFIGURATION, "run_id", "replicate", *_COLUMNS))
    return (
        f"SELECT {listed}, c.core_count, c.tsc_hz FROM runs r LEFT JOIN "
        "(SELECT run_id, count(*) AS core_count, max(tsc_hz) AS tsc_hz FROM cores GROUP BY run_id) "
        f"c ON c.run_id = r.run_id WHERE r.run_id IN (SELECT run_id FROM runs WHERE {condition}) "
        "AND r.duration_s > 0 AND (r.ref_cycles IS NOT NULL OR r.interrupts IS NOT NULL) "
        f"ORDER BY r.run_id LIMIT {limit:d}",
        parameters,
    )
