"""The runs of a timeline, its reference run, and other runs to offer."""

from collections.abc import Sequence
from typing import Any

from data.catalogue import Catalogue
from data.knob_table import SUBJECT
from data.schema import REQUESTS


def run_facts_query(run_ids: Sequence[str], *, catalogue: Catalogue) -> tuple[str, list[Any]]:
    """Build the query of the facts that a timeline needs before it reads the runs' files.

    Returns:
        SQL and parameters. Columns: a configuration's, `run_id`, `replicate`, `duration_s`,
        `interrupts`, `has_log`, `requests`; `cores` and `files` as in `data.schema`. Unknown
        runs have no row.
    """
    marks = ", ".join("?" * len(run_ids)) or "NULL"
    return (
        f"SELECT {', '.join(catalogue.configuration)}, run_id, replicate, duration_s, interrupts, "
        "coalesce(has_log, FALSE) AS has_log, "
        f"{REQUESTS} AS requests, "
        f"cores, files FROM _runs_all WHERE run_id IN ({marks})",
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
