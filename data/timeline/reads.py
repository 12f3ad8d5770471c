"""Reads a window of one run from its big files: bins, rows, samples, sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from data.errors import LakeError
from data.run_files import BigFile, RunFacts, RunFiles
from data.schema import (
    COUNTED_INTERRUPTS,
    EXTREMES,
    OVERVIEW_LEAST_COUNTED_NS,
    OVERVIEW_LEVELS,
)
from data.timeline.row_bins import (
    NONE,
    CoreRows,
    bin_rows,
    count_sizes,
    interrupt_extremes,
    rows_by_core,
)
from data.timeline.sample_rates import rate_extremes, share_samples
from data.timeline.stretch_sizes import Sizes, stretch_sizes, whole_stretches
from data.timeline.time_cells import COVERED_NS, Cells, covered_ns
from data.timeline.window_plan import RunShape, bin_start

NIC: Final = ("rx_bytes", "tx_bytes")
NIC_FIELDS: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
COUNTERS: Final = (
    "energy_uj", "instructions", "cycles", "ref_cycles", "llc_misses",
    "c1", "c1e", "c3", "c6", "c7",
)  # fmt: skip
TRAFFIC: Final = (
    "interrupts", "rx_bytes", "tx_bytes", "max_rx_bytes", "max_tx_bytes", "min_gap_ns",
    "max_gap_ns",
)  # fmt: skip
COUNT_EXTREMES: Final = tuple(f"{end}_{name}" for name in COUNTED_INTERRUPTS for end in EXTREMES)
# How far after a window to look for the sample whose interval overlaps its end.
_NEXT_SAMPLE_NS: Final = 50_000_000

# Number of rows to search first for each core's nearest interrupt outside the window.
SEARCHED_FIRST_ROWS: Final = 1 << 11


@dataclass
class RunReads:
    """Reads windows of one run; arrays hold all its cores, in the order of their numbers."""

    files: RunFiles
    facts: RunFacts
    rows_read: int = field(default=0)

    @cached_property
    def _overview(self) -> BigFile:
        return self.files.file(self.facts, "overview")

    @cached_property
    def _interrupts(self) -> BigFile:
        return self.files.file(self.facts, "interrupts")

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Levels of the overview, rising.

        Raises:
            LakeError: The file is missing, or does not hold all cores' bins.
        """
        low, high = self._overview.spans["level"]
        found = set(low.tolist()) | set(high.tolist())
        levels = tuple(level for level in OVERVIEW_LEVELS if level in found)
        rows = self._overview.first_rows[-1]
        if rows != sum(levels) * len(self.facts.cores):
            raise LakeError(f"its overview has {rows} rows, not all bins of all cores")
        return levels

    @cached_property
    def shape(self) -> RunShape:
        """The facts that decide how a window is read."""
        length = self.facts.length_ns
        counted = (
            level
            for level in self.levels
            if level == OVERVIEW_LEVELS[0] or length >= level * OVERVIEW_LEAST_COUNTED_NS
        )
        interrupts = int(self._interrupts.first_rows[-1])
        return RunShape(length, len(self.facts.cores), interrupts, self.levels, tuple(counted))

    def overview(self, level: int, first: int, end: int, columns: Sequence[str]) -> Cells:
        """Read the bins of a level from `first` to `end`, exclusive."""
        cores = len(self.facts.cores)
        above = sum(one for one in self.levels if one < level)
        begin, stop = (above + first) * cores, (above + end) * cores
        groups = self._overview.groups_of_rows(begin, stop)
        read = self._overview.read(groups, columns)
        self.rows_read += stop - begin
        part = slice(begin - int(self._overview.first_rows[groups.start]), None)
        edges = -(-np.arange(first, end + 1, dtype=np.int64) * self.facts.length_ns // level)
        shape = (end - first, cores)
        return Cells(
            edges,
            {
                name: values[part][: stop - begin].reshape(shape).astype(np.float64, copy=False)
                for name, values in read.items()
            },
        )

    def rows(self, from_ns: int, to_ns: int, columns: Sequence[str] = NIC) -> CoreRows:
        """Read the interrupts from `from_ns` to `to_ns`, exclusive unless it is the run's end."""
        to_ns += to_ns == self.facts.length_ns
        file = self._interrupts
        groups = file.groups_between(from_ns, to_ns - 1)
        read = file.read(groups, ("core", "t_ns", *columns))
        core, t_ns = read["core"], read["t_ns"]
        begin, end = np.searchsorted(t_ns, (from_ns, to_ns))
        before = self._first_of_each(core[:begin][::-1], t_ns[:begin][::-1])
        after = self._first_of_each(core[end:], t_ns[end:])
        if from_ns > 0:
            self._seek(before, groups.start, from_ns, is_back=True)
        if to_ns <= self.facts.length_ns:
            self._seek(after, groups.stop, to_ns, is_back=False)
        self.rows_read += int(end - begin)
        kept = {name: read[name][begin:end] for name in columns}
        place = self._places(core[begin:end])
        return rows_by_core(place, t_ns[begin:end], kept, before, after)

    def _first_of_each(self, core: np.ndarray, t_ns: np.ndarray) -> np.ndarray:
        """Return the time of each core's first row, NONE if none; stops once all are found."""
        firsts = np.full(len(self.facts.cores), NONE)
        begin, size = 0, SEARCHED_FIRST_ROWS
        while begin < len(core) and (firsts == NONE).any():
            part = slice(begin, begin + size)
            times = np.full(len(firsts), NONE)
            times[self._places(core[part][::-1])] = t_ns[part][::-1]
            firsts = np.where(firsts == NONE, times, firsts)
            begin, size = part.stop, 4 * size
        return firsts

    def _places(self, core: np.ndarray) -> np.ndarray:
        if self.facts.cores == tuple(range(len(self.facts.cores))):
            return core.astype(np.int64)
        table = np.zeros(self.facts.cores[-1] + 1, np.int64)
        table[list(self.facts.cores)] = np.arange(len(self.facts.cores))
        places: np.ndarray = table[core]
        return places

    @cached_property
    def _busy_bins(self) -> np.ndarray:
        """Whether each core has interrupts in each coarse bin, shape (bins, cores)."""
        level = self.levels[0]
        counts = self.overview(level, 0, level, ("interrupts",)).values["interrupts"]
        busy: np.ndarray = counts > 0
        return busy

    def _seek(self, nearest: np.ndarray, group: int, t_ns: int, is_back: bool) -> None:
        """Find the nearest interrupt before a time, or from it on, for cores without one.

        Args:
            nearest: Times by core; NONE entries are replaced.
            group: First row group that was read, or the one after the last.
        """
        file, level = self._interrupts, self.levels[0]
        limit = min(t_ns * level // self.facts.length_ns, level - 1)
        for core_index in np.flatnonzero(nearest == NONE):
            busy = np.flatnonzero(self._busy_bins[:, core_index])
            near = busy[busy <= limit][::-1] if is_back else busy[busy >= limit]
            # In the nearest bin all interrupts may lie on the window's side of the time.
            for at in near[:2].tolist():
                ends = [bin_start(self.facts.length_ns, level, at + more) for more in (0, 1)]
                within = file.groups_between(ends[0], ends[1])
                first = within.start if is_back else max(within.start, group)
                groups = range(first, min(within.stop, group) if is_back else within.stop)
                nearest[core_index] = self._nearest(int(core_index), groups, t_ns, is_back)
                if nearest[core_index] != NONE:
                    break

    def _nearest(self, core_index: int, groups: range, t_ns: int, is_back: bool) -> int:
        """Return a core's last interrupt before a time, or its first from it on; NONE if none."""
        read = self._interrupts.read(groups, ("core", "t_ns"))
        is_there = read["t_ns"] < t_ns if is_back else read["t_ns"] >= t_ns
        times = read["t_ns"][is_there & (read["core"] == self.facts.cores[core_index])]
        return int(times[-1 if is_back else 0]) if len(times) else NONE

    def samples(self, from_ns: int, to_ns: int) -> dict[str, np.ndarray]:
        """Read `samples` from a window's start to the last one whose interval overlaps it.

        Returns:
            Columns by name, `place` instead of `core`; some of the last rows may not overlap.
        """
        file = self.files.file(self.facts, "samples")
        # Tools that see no interrupts sample rarely.
        reach_ns = _NEXT_SAMPLE_NS if self.shape.interrupts else self.facts.length_ns
        groups = file.groups_between(from_ns, to_ns + reach_ns)
        read = file.read(groups, ("core", "t_ns", "dt_ns", *COUNTERS))
        first = int(np.searchsorted(read["t_ns"], from_ns))
        begins = read["t_ns"] - np.nan_to_num(read["dt_ns"])
        touching = np.flatnonzero(begins <= to_ns)
        last = int(touching[-1]) + 1 if len(touching) else first
        self.rows_read += max(last - first, 0)
        rows = {name: values[first:last] for name, values in read.items()}
        return rows | {"place": self._places(rows.pop("core"))}

    def touching_samples(self, from_ns: int, to_ns: int) -> dict[str, np.ndarray]:
        """Read the `samples` whose interval since the previous sample overlaps the window."""
        rows = self.samples(from_ns, to_ns)
        touches = rows["t_ns"] - np.nan_to_num(rows["dt_ns"]) < to_ns
        return {name: values[touches] for name, values in rows.items()}

    def traffic(self, level: int, first: int, end: int) -> Cells:
        """Read the interrupt columns of a level's bins, with extremes over the finest bins."""
        finest = self.levels[-1]
        if level == finest:
            return self.overview(level, first, end, TRAFFIC)
        found = self.overview(level, first, end, (*TRAFFIC, *COUNT_EXTREMES))
        return Cells(found.edges, found.values, self.facts.length_ns / finest)

    def binned_rows(self, rows: CoreRows, edges: np.ndarray) -> Cells:
        """Count interrupts in bins of a window, and in steps of the finest level's length."""
        cells = bin_rows(rows, edges)
        length_ns, bins = int(edges[-1] - edges[0]), len(edges) - 1
        parts = round(length_ns / bins * self.levels[-1] / self.facts.length_ns)
        if parts < 2:
            return cells
        packages = [self.facts.packages[core] for core in self.facts.cores]
        extremes = interrupt_extremes(rows, edges, parts, packages)
        return Cells(edges, cells.values | extremes, length_ns / (bins * parts))

    def counters(self, level: int, first: int, end: int, rates: Sequence[str] = ()) -> Cells:
        """Read the counters of a level's bins, and the time covered by samples in each.

        Args:
            rates: Those of RATES whose extremes are needed.
        """
        extremes = [f"{end}_{name}" for name in rates for end in EXTREMES]
        cells = self.overview(level, first, end, (*COUNTERS, *extremes))
        covered = covered_ns(cells.edges, self.files.once(self.facts, self._sampled_spans))
        return Cells(cells.edges, cells.values | {COVERED_NS: covered})

    def done(self, column: str) -> np.ndarray:
        """Return the sum of a column until each bin of the finest level, and at the run's end.

        Args:
            column: One of NIC.

        Returns:
            Float64, shape (bins + 1,), never falling.
        """
        level = self.levels[-1]

        def read() -> np.ndarray:
            values = self.overview(level, 0, level, (column,)).values[column]
            return np.concatenate([[0.0], np.cumsum(np.nan_to_num(values).sum(axis=1))])

        return self.files.once(self.facts, read, f"done {column}")

    def _sampled_spans(self) -> np.ndarray:
        """Return first and last sample of each core, shape (cores, 2), else the run's bounds."""
        file = self.files.file(self.facts, "samples")
        count = len(file.first_rows) - 1
        spans = np.tile([0.0, float(self.facts.length_ns)], (len(self.facts.cores), 1))
        for end, groups in ((0, range(min(count, 1))), (1, range(max(count - 1, 0), count))):
            read = file.read(groups, ("core", "t_ns"))
            places = self._places(read["core"])
            # Of several samples of a core the last assignment wins.
            step = 1 if end else -1
            spans[places[::step], end] = read["t_ns"][::step]
        return spans

    def shared_samples(
        self, from_ns: int, to_ns: int, edges: np.ndarray, rates: Sequence[str] = ()
    ) -> Cells:
        """Compute counters by bins of a window from samples.

        Args:
            rates: Those of RATES whose extremes are needed.
        """
        rows = self.samples(from_ns, to_ns)
        steps = {name: rows[name] for name in COUNTERS}
        cores = len(self.facts.cores)
        place, t_ns, dt_ns = rows["place"], rows["t_ns"], rows["dt_ns"]
        cells = share_samples(place, t_ns, dt_ns, steps, cores, edges)
        extremes = rate_extremes(place, t_ns, dt_ns, steps, tuple(rates), cores, edges)
        return Cells(edges, cells.values | extremes)

    def sizes(self, from_ns: int, to_ns: int, places: Sequence[int]) -> Sizes:
        """Count gaps and interrupts of a window by size.

        Combines whole stretches of `histograms` with rows at the window's two ends.

        Args:
            places: Indices of the cores to count.

        Returns:
            As `count_sizes`.
        """
        file = self.files.file(self.facts, "histograms")
        low, high = file.spans["level"]
        levels = sorted(set(low.tolist()) | set(high.tolist()))
        length = self.facts.length_ns
        if not levels:
            return count_sizes(self.rows(from_ns, to_ns).of_cores(places))
        finest = levels[-1]
        first = -(-from_ns * finest // length)
        end = to_ns * finest // length
        if bin_start(length, finest, first) < from_ns or first >= end:
            return count_sizes(self.rows(from_ns, to_ns).of_cores(places))
        is_all = len(places) == len(self.facts.cores)
        cores = None if is_all else [self.facts.cores[at] for at in places]
        by_name, rows = stretch_sizes(file, whole_stretches(levels, first, end), cores)
        self.rows_read += rows
        inner = bin_start(length, finest, first), bin_start(length, finest, end)
        for begin, stop in ((from_ns, inner[0]), (inner[1], to_ns)):
            if begin < stop:
                edge = count_sizes(self.rows(begin, stop).of_cores(places))
                by_name = {name: counts + edge[name] for name, counts in by_name.items()}
        return by_name
