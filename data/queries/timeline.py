"""The runs of a timeline, its reference run, and other runs to offer."""

from collections.abc import Sequence
from typing import Any, Final

from data.catalogue import Catalogue
from data.knob_table import SUBJECT
from data.queries.statement import literal
from data.schema import REQUESTS


def run_facts_query(run_ids: Sequence[str], *, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the facts that a timeline needs before it reads the runs' files.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `duration_s`,
        `interrupts`, `has_log`, `requests`, `is_of_trace` (whether a row of a table has a trace);
        `cores` and `files` as in `data.schema`. Unknown runs have no row.
    """
    marks = ", ".join("?" * len(run_ids)) or "NULL"
    return (
        f"SELECT {', '.join(catalogue.configuration)}, run_id, replicate, duration_s, interrupts, "
        "coalesce(has_log, FALSE) AS has_log, "
        f"{REQUESTS} AS requests, coalesce(list_contains(flags, 'trace_joined'), FALSE) "
        f"AS is_of_trace, cores, files FROM _runs_all WHERE run_id IN ({marks})",
        list(run_ids),
    )


def reference_query(run_id: str) -> tuple[str, list[Any]]:
    """Build the query of the run to compare with: the default system's at the same load.

    Returns:
        SQL and parameters. Column `run_id`; one row, or none if no such run has a log.
    """
    same = " AND ".join(f"o.{name} IS NOT DISTINCT FROM m.{name}" for name in SUBJECT)
    return (
        f"SELECT o.run_id FROM runs o JOIN runs m ON {same} WHERE m.run_id = ? AND o.is_baseline "
        "AND o.has_log ORDER BY o.replicate IS DISTINCT FROM m.replicate, o.replicate, o.run_id "
        "LIMIT 1",
        [run_id],
    )


def others_query(run_id: str, limit: int, *, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the runs with a log that are nearest to a run without one.

    Order: the same configuration, then the same system and load, then the same load, then the same
    workload.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`.
    """
    is_same = {
        name: f"(o.{name} IS NOT DISTINCT FROM m.{name})::INTEGER"
        for name in catalogue.configuration
    }
    subject = " + ".join(is_same[name] for name in SUBJECT if name in is_same)
    shown = ", ".join(f"o.{name}" for name in catalogue.configuration)
    return (
        f"SELECT {shown}, o.run_id, o.replicate FROM runs o JOIN runs m "
        "ON o.dataset = m.dataset AND o.workload = m.workload "
        f"WHERE m.run_id = ? AND o.run_id <> m.run_id AND o.has_log ORDER BY {subject} DESC, "
        f"{is_same['system']} DESC, {' + '.join(is_same.values())} DESC, o.run_id LIMIT {limit:d}",
        [run_id],
    )


def window_rows_query(path: str, cores: Sequence[int], from_ns: int, to_ns: int) -> str:
    """Return the SQL of a window's rows, for explanations; `data.timeline` reads row groups."""
    return _of_file(path, f"t_ns >= {from_ns:d} AND t_ns < {to_ns:d}", cores)


def window_bins_query(path: str, cores: Sequence[int], level: int, first: int, end: int) -> str:
    """Return the SQL of a window's bins of one overview level; `end` is exclusive."""
    return _of_file(path, f"level = {level:d} AND bin >= {first:d} AND bin < {end:d}", cores)


def window_intervals_query(
    path: str, cores: Sequence[int], quantities: Sequence[str], from_ns: int, to_ns: int
) -> str:
    """Return the SQL of a tool's intervals that overlap a window, of some quantities."""
    named = ", ".join(f"'{name}'" for name in quantities)
    return _of_file(
        path,
        f"t_s > {from_ns / 1e9!r} AND t_s - dt_s < {to_ns / 1e9!r} AND quantity IN ({named})",
        cores,
    )


def _of_file(path: str, condition: str, cores: Sequence[int]) -> str:
    listed = ", ".join(map(str, cores))
    return f"SELECT * FROM lake_file('{path}') WHERE {condition} AND core IN ({listed})"


# What the tables of an artifact have of the runs in a window: bins, interrupts, samples, counts.
_BINS, _ROWS, _SAMPLES, _GAPS = (
    f"read_parquet('tables/timeline-{name}.parquet')"
    for name in ("bins", "interrupts", "samples", "gaps")
)
_FACTS: Final = (
    "facts AS (SELECT run_id, count(*) AS cores, max(tsc_hz) AS tsc_hz FROM cores GROUP BY run_id)"
)
# Bins with whole nanoseconds, `a` to `z`.
_EDGES: Final = (
    "b AS (SELECT *, round(from_s * 1e9)::BIGINT AS a, round(to_s * 1e9)::BIGINT AS z "
    f"FROM {_BINS})"
)


def bins_again_query(stored: Sequence[str]) -> str:
    """Build the query that computes the bins of all cores again, over the tables of an artifact.

    A step of a counter counts in all bins since the sample before, by the time in each bin. Bins of
    an overview have the whole counts until each edge, of energy the whole steps of its counter,
    which are the greatest power of two of a joule that divides all energies.

    Args:
        stored: The runs whose counters are those of an overview.

    Returns:
        SQL. Columns `run_id`, `group`, `axis`, `from_s`, and those of the bins that are means,
        counts or extremes.
    """
    listed = ", ".join(map(literal, stored)) or "NULL"
    steps = dict.fromkeys(("instructions", "cycles", "ref_cycles"), 1) | {"energy_uj": "uj"}
    shared = ", ".join(
        f"CASE WHEN is_stored THEN ({step} * (floor({name} / {step} * until) - "
        f"floor({name} / {step} * since))) ELSE {name} * (until - since) END AS {name}"
        for name, step in steps.items()
    )
    return (
        f"WITH {_EDGES}, {_FACTS}, "
        "arrived AS (SELECT b.run_id, b.from_s, count(*) AS n, sum(rx_bytes) AS rx, "
        "sum(tx_bytes) AS tx, max(rx_bytes) AS rx_max, max(tx_bytes) AS tx_max, "
        f"min(gap_ns) AS gap FROM {_ROWS} i ASOF JOIN "
        "(FROM b WHERE axis = 'interrupts' AND \"group\" = 'all') b "
        "ON i.run_id = b.run_id AND i.t_ns >= b.a GROUP BY ALL), "
        f"units AS (SELECT run_id, 1e6 / 2 ** k AS uj FROM {_SAMPLES}, range(40) r(k) "
        "WHERE energy_uj IS NOT NULL GROUP BY run_id, k HAVING bool_and(energy_uj * 2 ** k % 1e6 = "
        "0) QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY k) = 1), "
        "touched AS (SELECT s.*, uj, b.from_s, dt_ns::DOUBLE AS dt, "
        f"s.run_id IN ({listed}) AS is_stored, "
        "greatest(b.a - (t_ns - dt_ns), 0) / dt AS since, least(b.z - (t_ns - dt_ns), dt) / dt "
        f"AS until FROM {_SAMPLES} s JOIN b ON s.run_id = b.run_id AND s.t_ns > b.a "
        "AND s.t_ns - s.dt_ns < b.z LEFT JOIN units ON s.run_id = units.run_id "
        "WHERE b.axis = 'counters' AND b.\"group\" = 'all'), "
        f"parts AS (SELECT run_id, core, from_s, dt * (until - since) AS ns, {shared} "
        "FROM touched), "
        "stepped AS (SELECT run_id, from_s, sum(instructions) AS instructions, "
        "sum(cycles) AS cycles, sum(ref_cycles) AS ref_cycles, "
        "sum(energy_uj) AS energy_uj, sum(ns) AS ns, "
        "sum(ns) FILTER (energy_uj IS NOT NULL) AS energy_ns, "
        "count(DISTINCT core) FILTER (energy_uj IS NOT NULL) AS packages FROM parts GROUP BY ALL) "
        'SELECT b.run_id, b."group", axis, b.from_s, '
        "CASE WHEN axis = 'interrupts' THEN coalesce(n, 0) END AS interrupts_in_bin, "
        "CASE WHEN axis = 'interrupts' THEN coalesce(n, 0) / ((z - a) * 1e-9) END "
        "AS interrupts_mean, arrived.rx / n AS rx_mean, arrived.rx_max, arrived.tx / n AS tx_mean, "
        "arrived.tx_max, (z - a) * 1e-3 * cores / n AS gap_mean, gap * 1e-3 AS gap_min, "
        "CASE WHEN \"group\" = 'all' THEN instructions / cycles END AS ipc_mean, "
        "CASE WHEN \"group\" = 'all' THEN ref_cycles / (ns * 1e-9 * tsc_hz) END AS busy_mean, "
        "CASE WHEN \"group\" = 'all packages' THEN energy_uj * 1e3 * packages / energy_ns END "
        "AS power_mean FROM b JOIN facts USING (run_id) "
        "LEFT JOIN arrived ON axis = 'interrupts' AND b.run_id = arrived.run_id "
        "AND b.from_s = arrived.from_s "
        "LEFT JOIN stepped ON axis = 'counters' AND b.run_id = stepped.run_id "
        "AND b.from_s = stepped.from_s"
    )


def totals_again_query() -> str:
    """Build the query that computes the totals of all cores again.

    Returns:
        SQL. Columns `run_id`, `name`, `value`.
    """
    values = {
        "window_s": "s", "interrupts": "n", "interrupts_per_s": "n / s", "rx_bytes": "rx",
        "tx_bytes": "tx", "rx_bytes_each": "rx / n", "tx_bytes_each": "tx / n",
        "gap_mean_us": "s * 1e6 * cores / n", "gap_min_us": "shortest * 1e-3",
        "gap_max_us": "longest * 1e-3", "energy_j": "j", "power_w": "j / s",
        "ipc": "instructions / cycles", "busy": "ref_cycles / (ns * 1e-9 * tsc_hz)",
    }  # fmt: skip
    counted = ("instructions", "cycles", "llc_misses", "c1", "c1e", "c3", "c6", "c7")
    values |= {name: name for name in counted}
    sums = ", ".join(f"sum({name}) AS {name}" for name in (*counted, "ref_cycles"))
    listed = ", ".join(f"{{'name': '{name}', 'value': {sql}}}" for name, sql in values.items())
    return (
        f"WITH {_EDGES}, {_FACTS}, "
        "span AS (SELECT run_id, (max(z) - min(a)) * 1e-9 AS s FROM b GROUP BY run_id), "
        "traffic AS (SELECT run_id, count(*) AS n, sum(rx_bytes) AS rx, sum(tx_bytes) AS tx, "
        f"min(gap_ns) AS shortest, max(gap_ns) AS longest FROM {_ROWS} GROUP BY run_id), "
        f"counted AS (SELECT run_id, sum(energy_uj) * 1e-6 AS j, sum(dt_ns) AS ns, {sums} "
        f"FROM {_SAMPLES} GROUP BY run_id) "
        f"SELECT run_id, v.name, v.value FROM (SELECT run_id, unnest([{listed}]) AS v FROM span "
        "JOIN facts USING (run_id) JOIN traffic USING (run_id) LEFT JOIN counted USING (run_id))"
    )


def gaps_again_query() -> str:
    """Build the query that counts gaps and sizes again, in the ranges of the distributions."""
    return (
        f"WITH g AS (FROM {_GAPS}), v AS (UNPIVOT (SELECT run_id, gap_ns::BIGINT AS gap_ns, "
        f"rx_bytes::BIGINT AS rx_bytes, tx_bytes::BIGINT AS tx_bytes FROM {_ROWS}) "
        "ON gap_ns, rx_bytes, tx_bytes INTO NAME quantity VALUE value) "
        'SELECT g.run_id, g.quantity, g."from", g.below, count(*) AS count FROM v ASOF JOIN g '
        'ON v.run_id = g.run_id AND v.quantity = g.quantity AND v.value >= g."from" '
        "WHERE value < below GROUP BY ALL"
    )
