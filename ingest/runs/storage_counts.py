"""Count a run's interrupts between two snapshots, and its loads and stores by function."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from data.schema import FUNCTIONS
from ingest.records import FunctionCounts, InterruptCounts, Problem
from ingest.settings.dataset import Settings

# The kernel's counters of interrupts are 32 bits wide for each queue and CPU.
_WRAPS_AT: Final = 2**32


def count_interrupts(
    looks: Sequence[tuple[str, InterruptCounts]], duration_s: float | None, ramp_s: float = 0.0
) -> int | Problem:
    """Return the interrupts of a run's storage, by /proc/interrupts before and after it.

    The interrupts between the snapshots are assumed to be evenly distributed over the time between
    them, which the snapshots may state, else over the run with its ramp. The run gets its share.

    Args:
        looks: File name and content of the snapshots, before, then after; one may be missing.
    """
    if len(looks) != 2:
        return _uncounted("one_snapshot", f"only {looks[0][0]}: a count needs two snapshots")
    (_, before), (_, after) = looks
    if before.cpus != after.cpus:
        said = f"{len(before.cpus)} CPUs before, {len(after.cpus)} after"
        detail = f"the snapshots have different CPUs ({said}); interrupts are left unset"
        return Problem("other_cpus", "refused", detail)
    if not before.queues and not after.queues:
        return _uncounted(
            "no_io_queues", "no row of an IO queue such as nvme0q1, or of ahci, in either snapshot"
        )
    if lacking := sorted(before.queues.keys() ^ after.queues.keys()):
        detail = f"{len(lacking)} queues in one snapshot only, such as {', '.join(lacking[:3])}"
        return _uncounted("other_queues", detail)
    counted = 0
    for queue, counts in before.queues.items():
        for cpu, count_before, count_after in zip(
            before.cpus, counts, after.queues[queue], strict=True
        ):
            raised = _raised(count_before, count_after)
            if raised is None:
                detail = f"{queue} on {cpu}: {count_before} before, {count_after} after"
                return _uncounted("counter_backwards", detail)
            counted += raised
    if not duration_s:
        return counted
    between_s = duration_s + ramp_s
    if before.taken_unix_s is not None and after.taken_unix_s is not None:
        between_s = after.taken_unix_s - before.taken_unix_s
        if between_s <= 0:
            return _uncounted(
                "counter_backwards", f"the second snapshot is {-between_s:.6g} s before the first"
            )
    return round(counted * min(duration_s / between_s, 1.0))


def _raised(before: int, after: int) -> int | None:
    """Return the difference of a counter between two snapshots; None if the counter was reset.

    A counter that wrapped was in the upper half of its range before and is in the lower half after.
    """
    if after >= before:
        return after - before
    has_wrapped = after < _WRAPS_AT // 2 <= before < _WRAPS_AT
    return after - before + _WRAPS_AT if has_wrapped else None


def _uncounted(kind: str, why: str) -> Problem:
    return Problem(kind, "doubted", f"{why}; interrupts are left unset")


def function_rates(
    counts: FunctionCounts, row: Mapping[str, Any], settings: Settings
) -> tuple[dict[str, int], pa.Table | None]:
    """Return the loads and stores of a run; per second of each function if the duration is known.

    Returns:
        The run's totals by column of `runs`, and rows of `functions`.
    """
    totals = {
        name: sum(count)
        for name in ("loads", "stores")
        if (count := [v for f in counts.functions if (v := getattr(f, name)) is not None])
    }
    duration_s = row.get("duration_s")
    if not duration_s:
        return totals, None
    known = settings.functions
    rows = [
        {
            "run_id": row["run_id"],
            "function": each.function,
            "source_file": (source := each.source_file or known.source_of(each.function)),
            "subsystem": known.subsystem_of(source, each.module),
            "loads_per_s": None if each.loads is None else each.loads / duration_s,
            "stores_per_s": None if each.stores is None else each.stores / duration_s,
        }
        for each in counts.functions
    ]
    return totals, pa.Table.from_pylist(rows, schema=FUNCTIONS)
