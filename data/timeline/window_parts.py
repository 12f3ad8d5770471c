"""Parallel reads for a window of one run: interrupts, counters, sizes."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from data.run_files import RunFacts, RunFiles
from data.timeline.reads import NIC, NIC_FIELDS, RunReads
from data.timeline.residency import residency_cells
from data.timeline.row_bins import CoreRows, count_sizes
from data.timeline.stretch_sizes import Sizes
from data.timeline.time_cells import Cells, equal_edges
from data.timeline.window_plan import Plan, bins_between

# Maximum number of interrupts that are drawn one by one, for all runs together.
RAW_MOST: Final = 4800
# Minimum length of a counter bin, unless there would be fewer than FEWEST_SAMPLED.
SAMPLED_BIN_NS: Final = 250_000
FEWEST_SAMPLED: Final = 50
# While one read waits for Python, another decodes. Shared by all visitors; the threads that answer
# do the other part of the work.
_POOL: Final = ThreadPoolExecutor(max(os.cpu_count() or 1, 1), thread_name_prefix="read")


@dataclass(frozen=True, slots=True)
class WindowParts:
    """The data read for a window.

    Attributes:
        cells: `interrupts` and `counters`, of all cores.
        rows: The interrupts, if they were read; with all columns if they may be few enough to
            be drawn one by one.
        sizes: Sizes of the chosen cores; None if not requested.
        rows_read: Number of rows read from the run's files.
    """

    cells: dict[str, Cells]
    rows: CoreRows | None
    sizes: Sizes | None
    rows_read: int


def read_parts(
    files: RunFiles,
    facts: RunFacts,
    plan: Plan,
    bins: int,
    rates: Sequence[str],
    chosen: Sequence[int] | None,
    residencies: Sequence[str] = (),
) -> WindowParts:
    """Read a window of a run.

    Args:
        bins: Maximum number of bins in a line.
        rates: Those of RATES whose extremes are needed.
        chosen: Indices of the cores whose sizes are needed; None for no sizes.
        residencies: Those of RESIDENCIES that are needed.

    Raises:
        LakeError: A file of the run is missing or broken.
    """
    traffic, counters, sizes = (RunReads(files, facts) for _ in range(3))
    window = plan.from_ns, plan.to_ns
    if plan.level is None:
        (rows, interrupts), counted = side_by_side(
            lambda: _rows(traffic, plan, bins), lambda: _counters(counters, plan, bins, rates)
        )
        counts = None if chosen is None else count_sizes(rows.of_cores(chosen))
    else:
        level, span = plan.level, bins_between(facts.length_ns, plan.level, *window)
        rows = None
        interrupts, counted, counts = side_by_side(
            lambda: traffic.traffic(level, *span),
            lambda: _counters(counters, plan, bins, rates),
            lambda: None if chosen is None else sizes.sizes(*window, chosen),
        )
    if residencies and not counters.shape.interrupts:
        # Beside a log the tool's clock may be its own.
        counted.values.update(residency_cells(files, facts, residencies, counted.edges))
    read = sum(one.rows_read for one in (traffic, counters, sizes))
    return WindowParts({"interrupts": interrupts, "counters": counted}, rows, counts, read)


def _rows(reads: RunReads, plan: Plan, bins: int) -> tuple[CoreRows, Cells]:
    share = (plan.to_ns - plan.from_ns) / reads.facts.length_ns
    is_few = reads.shape.interrupts * share < 8 * RAW_MOST
    rows = reads.rows(plan.from_ns, plan.to_ns, NIC_FIELDS if is_few else NIC)
    cells = reads.binned_rows(rows, equal_edges(plan.from_ns, plan.to_ns, bins))
    if not reads.shape.interrupts:
        # Such a run was sampled by a tool that sees no interrupts.
        nothing = {name: np.full_like(values, np.nan) for name, values in cells.values.items()}
        cells = Cells(cells.edges, nothing, cells.step_ns)
    return rows, cells


def _counters(reads: RunReads, plan: Plan, bins: int, rates: Sequence[str]) -> Cells:
    if plan.counted is not None:
        span = bins_between(reads.facts.length_ns, plan.counted, plan.from_ns, plan.to_ns)
        return reads.counters(plan.counted, *span, rates)
    length_ns = plan.to_ns - plan.from_ns
    wanted = min(max(length_ns // SAMPLED_BIN_NS, FEWEST_SAMPLED), max(bins // 2, 1))
    edges = equal_edges(plan.from_ns, plan.to_ns, int(wanted))
    return reads.shared_samples(plan.from_ns, plan.to_ns, edges, rates)


def side_by_side(*calls: Callable[[], Any]) -> list[Any]:
    """Call functions in parallel, the first of them in this thread.

    They must not use `side_by_side` themselves: they would wait for their own thread.

    Returns:
        Their results, in their order.
    Raises:
        Exception: The first function's exception, in their order, once all have ended.
    """
    others = [_POOL.submit(call) for call in calls[1:]]
    try:
        results = [calls[0]()] if calls else []
    finally:
        wait(others)
    return results + [other.result() for other in others]
