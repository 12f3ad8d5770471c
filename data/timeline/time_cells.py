"""Quantities by bins of time and cores, joined to drawn lines without losing an extreme.

Sums are added first and divided once, so a mean is never a mean of means. NaN means not measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

COVERED_NS: Final = "covered_ns"
_NS: Final = 1e9
_LATEST_NS: Final = np.iinfo(np.int64).max
_US: Final = 1e-3
_PCT: Final = 100.0
SAMPLED: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
SLEEP_STATES: Final = ("c1", "c1e", "c3", "c6", "c7")

_EXTREMES: Final = {"min": np.fmin, "max": np.fmax}

# A line: `mean`, plus `min` and `max` where they differ; float64, one value per drawn bin.
Line = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Cells:
    """Quantities in bins of time.

    Attributes:
        edges: First nanosecond of each bin, and the end of the last; int64, shape (n + 1,).
        values: Float64, shape (n, cores) each. COVERED_NS, if present, is the measured part of each
            bin: before a core's first sample and after its last, counters are unknown, not 0.
        step_ns: Length of the steps of `min_run_interrupts` and the like.
    """

    edges: np.ndarray
    values: dict[str, np.ndarray]
    step_ns: float = 0.0


def covered_ns(edges: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Return how much of each bin lies within each core's span.

    Args:
        spans: First and last time of each core, shape (cores, 2); NaN: none.

    Returns:
        Float64, shape (bins, cores).
    """
    begin = np.maximum(edges[:-1, None], spans[None, :, 0])
    end = np.minimum(edges[1:, None], spans[None, :, 1])
    return np.nan_to_num(np.maximum(end - begin, 0))


def equal_edges(from_ns: int, to_ns: int, bins: int) -> np.ndarray:
    """Return the first whole nanosecond of each equal bin, then the window's end; (bins + 1,)."""
    at = np.arange(bins + 1, dtype=np.int64)
    # The product of bin number and window length may exceed 63 bits.
    whole, rest = divmod(to_ns - from_ns, bins)
    return from_ns + at * whole - (-at * rest // bins)


def bin_of(t_ns: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the equal bin of each time; the window's end belongs to the last."""
    bins, begin, length = len(edges) - 1, int(edges[0]), int(edges[-1] - edges[0])
    at: np.ndarray
    if length < _LATEST_NS // bins:
        at = (t_ns - begin) * bins // length
    else:
        at = np.searchsorted(edges, t_ns, side="right") - 1
    return np.minimum(at, bins - 1)


def fold_starts(bins: int, most: int) -> np.ndarray:
    """Return the first of each group of joined bins, so that about `most` groups are left.

    Up to a quarter more than `most` is allowed, instead of halving the number.
    """
    return np.arange(0, bins, -(-bins // (most + most // 4)))


class Lines:
    """Lines of a group of cores by drawn bins; each drawn bin joins one or more bins."""

    def __init__(self, cells: Cells, columns: Sequence[int], starts: np.ndarray) -> None:
        """Prepare to join bins.

        Args:
            columns: Column indices of the group's cores.
            starts: From `fold_starts`.
        """
        self._cells = cells
        self._columns = np.asarray(columns, np.intp)
        self._starts = starts
        width = next((values.shape[1] for values in cells.values.values()), 0)
        self._is_all = len(columns) == width
        self._fine_s = np.diff(cells.edges) / _NS
        self._drawn_s = np.add.reduceat(self._fine_s, starts)
        self._sums: dict[str, np.ndarray] = {}

    @property
    def _is_joined(self) -> bool:
        return len(self._starts) < len(self._fine_s)

    def has(self, name: str) -> bool:
        """Return whether any core of the group measured a quantity."""
        values = self._cells.values.get(name)
        return values is not None and bool(self._measured(values).any())

    def _measured(self, values: np.ndarray) -> np.ndarray:
        """Return which of the group's cores measured anything, shape (columns,)."""
        found: np.ndarray = ~np.isnan(self._chosen(values)).all(axis=0)
        return found

    def _chosen(self, values: np.ndarray) -> np.ndarray:
        """Return the columns of the group's cores, in any order."""
        return values if self._is_all else np.ascontiguousarray(values[:, self._columns])

    def fine(self, name: str) -> np.ndarray:
        """Return the group's sum in each bin, shape (n,); all NaN if no core measured it."""
        if name not in self._sums:
            self._sums[name] = self._add(self._cells.values.get(name))
        return self._sums[name]

    def _add(self, values: np.ndarray | None) -> np.ndarray:
        if values is None:
            return np.full(len(self._fine_s), np.nan)
        chosen = self._chosen(values)
        total: np.ndarray = chosen @ np.ones(chosen.shape[1])
        if np.isnan(total).any():
            measured = ~np.isnan(chosen).all(axis=0)
            if not measured.any():
                return np.full(len(total), np.nan)
            total = np.nan_to_num(chosen[:, measured]) @ np.ones(int(measured.sum()))
        return total

    def drawn(self, name: str) -> np.ndarray:
        """Return the group's sum in each drawn bin."""
        joined: np.ndarray = np.add.reduceat(self.fine(name), self._starts)
        return joined

    def rate(self, name: str, scale: float = 1.0) -> Line:
        """Return the rate per second, with minimum and maximum.

        With extremes of cores, those of a group are the sums of its cores' extremes, which bound
        the group's rate but may not be reached. Without, they are the extremes over the joined
        bins.
        """
        cores = max(self.measured_count(name), 1)
        fine_s = self._core_s(name) / cores
        drawn_s = np.add.reduceat(fine_s, self._starts)
        line = self._ratio(self.drawn(name) * scale, drawn_s, self.fine(name) * scale, fine_s)
        rate = "power_w" if name == "energy_uj" else f"{name}_per_s"
        return self._with_extremes(line, rate, self._sum_of)

    def interrupts(self) -> Line:
        """Return interrupts per second, with the extremes over the steps of a drawn bin.

        The extremes come from the cells if they have them, else from the joined bins.
        """
        line = self.rate("interrupts")
        scope = "run_" if self._is_all else "" if len(self._columns) == 1 else "package_"
        for word, how in _EXTREMES.items():
            counts = self._cells.values.get(f"{word}_{scope}interrupts")
            if counts is not None:
                line[word] = self._joined(counts[:, self._columns[0]], how) / self._cells.step_ns
                line[word] *= _NS
        return line

    def _sum_of(self, name: str, how: np.ufunc) -> np.ndarray:  # noqa: ARG002
        """Return the group's sum in each bin, scaled up if only some cores have a value."""
        chosen = self._chosen(self._cells.values[name])
        ones = np.ones(chosen.shape[1])
        total: np.ndarray = chosen @ ones
        if np.isnan(total).any():
            is_there = ~np.isnan(chosen)
            count = is_there.any(axis=0).sum()
            total = _divide(np.where(is_there, chosen, 0) @ ones * count, is_there @ ones)
        return total

    def _extreme_of(self, name: str, how: np.ufunc) -> np.ndarray:
        """Return the extreme of the group's cores in each bin."""
        chosen = self._chosen(self._cells.values[name])
        extreme = chosen[:, 0].copy()
        for at in range(1, chosen.shape[1]):
            how(extreme, chosen[:, at], out=extreme)
        return extreme

    def _joined(self, fine: np.ndarray, how: np.ufunc) -> np.ndarray:
        """Return the extreme over the bins that each drawn bin joins."""
        joined: np.ndarray = how.reduceat(fine, self._starts) if self._is_joined else fine
        return joined

    def _with_extremes(
        self,
        line: Line,
        rate: str,
        across: Callable[[str, np.ufunc], np.ndarray],
        scale: float = 1.0,
    ) -> Line:
        """Extend a line's extremes by those of a rate in the cells, if there are any."""
        for word, how in _EXTREMES.items():
            if f"{word}_{rate}" in self._cells.values:
                extreme = self._joined(across(f"{word}_{rate}", how), how) * scale
                line[word] = how(extreme, line["mean"])
        return line

    def measured_count(self, name: str) -> int:
        """Return how many cores of the group measured a quantity."""
        values = self._cells.values.get(name)
        return 0 if values is None else int(self._measured(values).sum())

    def _core_s(self, name: str) -> np.ndarray:
        """Return the total time of the cores that measured a quantity, per bin; shape (n,)."""
        covered = self._cells.values.get(COVERED_NS)
        if covered is None or name not in self._cells.values:
            return self._fine_s * self.measured_count(name)
        measured = self._measured(self._cells.values[name])
        total: np.ndarray = self._chosen(covered)[:, measured].sum(axis=1) / _NS
        return total

    def ipc(self) -> Line:
        """Return instructions per cycle; the extremes are those of single cores."""
        names = ("instructions", "cycles")
        (above, below), (fine, finer) = map(self.drawn, names), map(self.fine, names)
        return self._with_extremes(self._ratio(above, below, fine, finer), "ipc", self._extreme_of)

    def busy(self, tsc_hz: float) -> Line:
        """Return reference cycles divided by time-stamp ticks of the cores that measured them.

        The extremes are those of single cores.
        """
        ticks = self._core_s("ref_cycles") * tsc_hz
        drawn = np.add.reduceat(ticks, self._starts)
        line = self._ratio(self.drawn("ref_cycles"), drawn, self.fine("ref_cycles"), ticks)
        return self._with_extremes(line, "ref_cycles_per_s", self._extreme_of, 1 / tsc_hz)

    def residency_pct(self, name: str) -> Line:
        """Return the time in a C-state, percent of the time of the cores that report it.

        The extremes are those of the bins that a drawn bin joins.

        Args:
            name: One of `residency.RESIDENCIES`.
        """
        core_s = self._core_s(name)
        drawn_s = np.add.reduceat(core_s, self._starts)
        scale = _PCT / _NS
        return self._ratio(self.drawn(name) * scale, drawn_s, self.fine(name) * scale, core_s)

    def frequency_ghz(self, tsc_hz: float) -> Line:
        """Return the frequency while the cores were not halted: cycles by time of reference cycles.

        The extremes are those of the bins that a drawn bin joins.
        """
        names = ("cycles", "ref_cycles")
        (above, below), (fine, finer) = map(self.drawn, names), map(self.fine, names)
        line = self._ratio(above, below, fine, finer)
        return {name: values * tsc_hz / _NS for name, values in line.items()}

    def bytes_each(self, name: str) -> Line:
        """Return bytes per interrupt: the mean, and the largest and smallest interrupt."""
        line = {"mean": _divide(self.drawn(name), self.drawn("interrupts"))}
        is_empty = self.drawn("interrupts") == 0
        for word, how in _EXTREMES.items():
            if f"{word}_{name}" in self._cells.values:
                line[word] = np.where(is_empty, np.nan, self._extreme(f"{word}_{name}", how))
        return line

    def gap(self) -> Line:
        """Return the time between a core's interrupts, us; the mean is core time by interrupts."""
        core_s = self._drawn_s * len(self._columns)
        return {
            "mean": _divide(core_s * 1e6, self.drawn("interrupts")),
            "min": self._extreme("min_gap_ns", np.fmin) * _US,
            "max": self._extreme("max_gap_ns", np.fmax) * _US,
        }

    def _extreme(self, name: str, how: np.ufunc) -> np.ndarray:
        return self._joined(self._extreme_of(name, how), how)

    def _ratio(
        self, above: np.ndarray, below: np.ndarray, fine: np.ndarray, finer: np.ndarray
    ) -> Line:
        line = {"mean": _divide(above, below)}
        if self._is_joined:
            each = _divide(fine, finer)
            line["min"] = np.fmin.reduceat(each, self._starts)
            line["max"] = np.fmax.reduceat(each, self._starts)
        return line


class ByCore:
    """Rates of each core by drawn bins: all cores at once, shape (bins, cores)."""

    def __init__(self, cells: Cells, starts: np.ndarray) -> None:
        self._cells = cells
        self._starts = starts
        whole = np.diff(cells.edges)[:, None]
        self._drawn_s = np.add.reduceat(cells.values.get(COVERED_NS, whole) / _NS, starts, axis=0)

    def _drawn(self, name: str) -> np.ndarray:
        joined: np.ndarray = np.add.reduceat(self._cells.values[name], self._starts, axis=0)
        return joined

    def rate(self, name: str) -> np.ndarray:
        """Return the rate per second."""
        return _divide(self._drawn(name), self._drawn_s)

    def ipc(self) -> np.ndarray:
        """Return instructions per cycle."""
        return _divide(self._drawn("instructions"), self._drawn("cycles"))

    def busy(self, tsc_hz: float) -> np.ndarray:
        """Return reference cycles divided by time-stamp ticks."""
        return _divide(self._drawn("ref_cycles"), self._drawn_s * tsc_hz)

    def frequency_ghz(self, tsc_hz: float) -> np.ndarray:
        """Return the frequency while a core was not halted."""
        return _divide(self._drawn("cycles"), self._drawn("ref_cycles")) * tsc_hz / _NS

    def residency_pct(self, name: str) -> np.ndarray:
        """Return the time in a C-state, percent; NaN for cores that do not report it."""
        if name not in self._cells.values:
            return np.full_like(self._drawn_s, np.nan)
        return _divide(self._drawn(name) * (_PCT / _NS), self._drawn_s)

    def longest_gap(self) -> np.ndarray:
        """Return the longest gap that touches each bin, us."""
        longest = np.fmax.reduceat(self._cells.values["max_gap_ns"], self._starts, axis=0)
        return longest * _US


def _divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide; NaN where the divisor is not above 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)
