"""Minimum and maximum interrupt counts of the fine steps in each drawn bin, computed from rows."""

from collections.abc import Sequence

import numpy as np

from data.schema import COUNTED_INTERRUPTS
from data.timeline.row_bins import CoreRows
from data.timeline.time_cells import bin_of, equal_edges


def interrupt_extremes(
    rows: CoreRows, edges: np.ndarray, parts: int, packages: Sequence[int | None]
) -> dict[str, np.ndarray]:
    """Count a window's rows in equal steps of its bins.

    Args:
        edges: First nanosecond of each bin, from `equal_edges`, and the window's end.
        parts: Number of equal steps per bin.
        packages: Package of each core.

    Returns:
        `min_` and `max_` of COUNTED_INTERRUPTS, float64, shape (bins, cores). Counts of a package
        are in the column of its first core, those of the run in the first column; NaN elsewhere.
    """
    bins, cores = len(edges) - 1, len(packages)
    fine = bin_of(rows.t_ns, equal_edges(int(edges[0]), int(edges[-1]), bins * parts))
    firsts = (
        np.arange(cores),
        np.array([packages.index(package) for package in packages]),
        np.zeros(cores, np.int64),
    )
    extremes: dict[str, np.ndarray] = {}
    for name, first in zip(COUNTED_INTERRUPTS, firsts, strict=True):
        least, most = np.full((cores, bins), np.nan), np.full((cores, bins), np.nan)
        groups = np.unique(first)
        least[groups], most[groups] = 0, 0
        step = np.sort(first[rows.place] * (bins * parts) + fine)
        begins = np.flatnonzero(np.diff(step, prepend=-1))
        counts = np.diff(begins, append=len(step))
        cells, at, filled = np.unique(step[begins] // parts, return_index=True, return_counts=True)
        if len(cells):
            most.ravel()[cells] = np.maximum.reduceat(counts, at)
            full = np.minimum.reduceat(counts, at)
            least.ravel()[cells] = np.where(filled == parts, full, 0)
        extremes |= {f"min_{name}": least.T, f"max_{name}": most.T}
    return extremes
