"""The runs that models are compared with and fitted to: counters, energy, latency, cores."""

from typing import Any, Final

from data.catalogue import Catalogue
from data.selection import Selection

_COLUMNS: Final = (
    "duration_s", "energy_j", "throughput_qps", "requests", "instructions", "ref_cycles",
    "interrupts", "rx_desc", "latency_mean_us", "latency_p50_us", "latency_p99_us",
)  # fmt: skip


# Knobs that a sweep varies within one system, workload and load.
_SWEPT: Final = ("itr_us", "itr_policy", "dvfs_ghz", "dvfs_policy", "rapl_w")


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
