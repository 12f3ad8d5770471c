"""The interrupts of a window, core by core, and their statistics in equal bins of time.

A gap is the time between two consecutive interrupts of a core. A window includes its start and
excludes its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data.analysis.log_bins import SLOTS, slot_of
from data.schema import COUNTED_INTERRUPTS
from data.timeline.time_cells import Cells, bin_of, equal_edges

# A time that does not exist.
NONE: Final = -1

# Further columns of `interrupts`, by name.
Columns = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class CoreRows:
    """Interrupts of some cores in a window, sorted by core, then time.

    Attributes:
        place: Index of the core among the requested ones, int64, shape (n,).
        t_ns: int64, shape (n,).
        gap_ns: Time since the core's previous interrupt, which may lie before the window; NONE if
            there is none.
        columns: Bytes and descriptors, shape (n,) each.
        starts: First row of each core, int64, shape (k + 1,).
        tail_ns: The gap that ends after the window, from the core's last interrupt in or before
            it; int64, shape (k,); NONE if there is none.
    """

    place: np.ndarray
    t_ns: np.ndarray
    gap_ns: np.ndarray
    columns: Columns
    starts: np.ndarray
    tail_ns: np.ndarray

    def of_cores(self, places: Sequence[int]) -> "CoreRows":
        """Select some cores' rows and renumber their places; returns itself for all cores."""
        if len(places) == len(self.tail_ns):
            return self
        parts = [np.arange(self.starts[at], self.starts[at + 1]) for at in places]
        picked = np.concatenate([np.empty(0, np.int64), *parts])
        sizes = [len(part) for part in parts]
        return CoreRows(
            np.repeat(np.arange(len(places)), sizes),
            self.t_ns[picked],
            self.gap_ns[picked],
            {name: values[picked] for name, values in self.columns.items()},
            np.cumsum([0, *sizes]),
            self.tail_ns[list(places)],
        )


def rows_by_core(
    core_index: np.ndarray,
    t_ns: np.ndarray,
    columns: Columns,
    before: np.ndarray,
    after: np.ndarray,
) -> CoreRows:
    """Sort a window's rows by core.

    Args:
        core_index: Index of each row's core, 0 to below k, shape (n,).
        t_ns: Never falling, shape (n,).
        columns: Further columns of the rows.
        before: Time of each core's last interrupt before the window, shape (k,); NONE if none.
        after: Time of each core's first interrupt after the window, shape (k,); NONE if none.
    """
    order = np.argsort(core_index.astype(np.int16), kind="stable")
    core_index, t_ns = core_index[order], t_ns[order]
    starts = np.searchsorted(core_index, np.arange(len(before) + 1))
    previous = np.empty(len(t_ns), np.int64)
    previous[1:] = t_ns[:-1]
    has_rows = starts[:-1] < starts[1:]
    previous[starts[:-1][has_rows]] = before[has_rows]
    last = before.copy()
    last[has_rows] = t_ns[starts[1:][has_rows] - 1]
    return CoreRows(
        core_index,
        t_ns,
        np.where(previous == NONE, NONE, t_ns - previous),
        {name: values[order] for name, values in columns.items()},
        starts,
        np.where((last == NONE) | (after == NONE), NONE, after - last),
    )


def bin_rows(rows: CoreRows, edges: np.ndarray) -> Cells:
    """Count a window's rows in bins of time.

    Args:
        edges: First nanosecond of each bin, from `equal_edges`, and the window's end.

    Returns:
        Cells named as the interrupt columns of `overview`, plus `min_rx_bytes`, `min_tx_bytes`. The
        longest gap counts in every bin that it touches.
    """
    bins, cores = len(edges) - 1, len(rows.tail_ns)
    cell = rows.place * bins + bin_of(rows.t_ns, edges)
    counts = np.bincount(cell, minlength=cores * bins)
    ends = np.cumsum(counts)
    parts = _Parts(np.flatnonzero(counts), (ends - counts)[counts > 0], (bins, cores))
    values = {"interrupts": counts.reshape(cores, bins).T.astype(np.float64)}
    for name in ("rx_bytes", "tx_bytes"):
        octets = rows.columns[name]
        values[name] = np.nan_to_num(parts.reduce(np.add, octets))
        values[f"max_{name}"] = parts.reduce(np.maximum, octets)
        values[f"min_{name}"] = parts.reduce(np.minimum, octets)
    gap = np.where(rows.gap_ns == NONE, np.nan, rows.gap_ns)
    values["min_gap_ns"] = parts.reduce(np.fmin, gap)
    # The gap that spans each cell's end, up to the core's next interrupt.
    tails = np.where(rows.tail_ns == NONE, np.nan, rows.tail_ns)
    core = np.arange(len(ends)) // bins
    is_last = ends >= rows.starts[core + 1]
    behind = np.where(is_last, tails[core], np.append(gap, np.nan)[ends])
    values["max_gap_ns"] = np.fmax(parts.reduce(np.fmax, gap), behind.reshape(cores, bins).T)
    return Cells(edges, values)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The nonempty cells, whose rows are contiguous: cell numbers and first rows."""

    full: np.ndarray
    first: np.ndarray
    shape: tuple[int, int]

    def reduce(self, how: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Reduce values per cell to float64, shape (bins, cores); NaN in empty cells."""
        bins, cores = self.shape
        reduced = np.full(bins * cores, np.nan)
        if len(self.full):
            reduced[self.full] = how.reduceat(values, self.first)
        return reduced.reshape(cores, bins).T


def count_sizes(rows: CoreRows) -> dict[str, np.ndarray]:
    """Count the gaps that end in the window, and the interrupts, by size.

    Returns:
        `gap_ns`, `rx_bytes`, `tx_bytes`: counts by slot, int64, shape (SLOTS,).
    """
    measured = {"gap_ns": rows.gap_ns[rows.gap_ns != NONE]}
    measured |= {name: rows.columns[name] for name in ("rx_bytes", "tx_bytes")}
    return {
        name: np.bincount(slot_of(values), minlength=SLOTS) for name, values in measured.items()
    }


def interrupt_extremes(
    rows: CoreRows, edges: np.ndarray, parts: int, packages: Sequence[int | None]
) -> dict[str, np.ndarray]:
    """Count a window's rows in equal steps of its bins; return the extremes of each bin.

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
