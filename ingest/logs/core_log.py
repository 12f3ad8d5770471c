"""One core's log cut to the workload window: rows go to a queue, sums and bins are counted."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data.analysis.log_bins import SLOTS, slot_starts
from data.analysis.log_metrics import SIZES
from data.schema import (
    HISTOGRAM_LEAST_NS,
    HISTOGRAM_MOST_STRETCHES,
    OVERVIEW_LEAST_COUNTED_NS,
    OVERVIEW_LEAST_NS,
    OVERVIEW_LEVELS,
)
from data.timeline.time_cells import equal_edges
from ingest.formats.log_reader import LogFacts
from ingest.logs import cut_loop, row_layout, size_histograms
from ingest.records import Problem, Window
from ingest.settings.dataset import Machine

_GAP_BINS: Final = 64
_SAMPLED: Final = row_layout.SAMPLED[1:]
_COUNTED: Final = row_layout.SAMPLED[1 : row_layout.JOULES]
# Columns of interrupts after the time stamp.
_NIC: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
# A log has a sample about every millisecond. If its samples miss more of the window than this time,
# and more than this share of it, its energy is not used.
_MISSED_NS: Final = 20_000_000
_MISSED_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Cutting:
    """The window of a run and its divisions.

    Edges are the first nanosecond of each part of the window, and `LATEST` as the end of the last
    part, so that the last instant of the window falls into the last part.

    Attributes:
        length_ns: The window's length in whole nanoseconds.
        levels: Numbers of bins of the run's `overview` levels, rising.
        edges: Edges of the finest overview bins.
        counted_edges: Edges of the finest bins in which samples are counted.
        stretches: Edges of the stretches of `histograms`.
    """

    window: Window
    ns_per_tick: float
    length_ns: int
    levels: tuple[int, ...]
    edges: np.ndarray
    counted_edges: np.ndarray
    stretches: np.ndarray

    @property
    def bins(self) -> int:
        """Number of the finest bins."""
        return len(self.edges) - 1

    @property
    def counted_bins(self) -> int:
        """Number of the finest bins in which samples are counted."""
        return len(self.counted_edges) - 1


def cutting(window: Window, tsc_hz: float) -> Cutting:
    """Compute the divisions of a window."""
    ns_per_tick = 1e9 / tsc_hz
    length_ns = int(np.rint((window.end_tsc - window.start_tsc) * ns_per_tick))
    levels = _levels(length_ns, OVERVIEW_LEAST_NS)
    counted = max(_levels(length_ns, OVERVIEW_LEAST_COUNTED_NS))
    stretches = 1
    while stretches < HISTOGRAM_MOST_STRETCHES and length_ns // stretches >= 2 * HISTOGRAM_LEAST_NS:
        stretches *= 2
    edges = (
        np.append(bin_starts_ns(max(length_ns, 1), bins), row_layout.LATEST)
        for bins in (max(levels), counted, stretches)
    )
    return Cutting(window, ns_per_tick, length_ns, levels, *edges)


def _levels(length_ns: int, least_ns: int) -> tuple[int, ...]:
    finer = (level for level in OVERVIEW_LEVELS[1:] if length_ns >= level * least_ns)
    return OVERVIEW_LEVELS[0], *finer


def bin_starts_ns(duration_ns: int, bins: int) -> np.ndarray:
    """Return the first whole nanosecond of each of `bins` equal bins of a window, int64."""
    return equal_edges(0, duration_ns, bins)[:-1]


class Queues:
    """Rows of a run's cores that are cut and not yet merged: one queue per core, in time order."""

    def __init__(self, cores: int, room: int) -> None:
        self.rows = np.empty((cores, room, 4), np.int64)
        self.heads = np.zeros(cores, np.int64)
        self.ends = np.zeros(cores, np.int64)

    def waiting(self, index: int) -> int:
        """Return the number of rows in a core's queue."""
        return int(self.ends[index] - self.heads[index])

    def make_room(self, index: int, room: int) -> None:
        """Move the rows to the queue's start if fewer than `room` rows fit behind them."""
        head, end = int(self.heads[index]), int(self.ends[index])
        if head and end + room > self.rows.shape[1]:
            self.rows[index, : end - head] = self.rows[index, head:end].copy()
            self.heads[index], self.ends[index] = 0, end - head


class CoreCut:
    """Counts of one core within the window, built block by block.

    Attributes:
        floor_ns: Lower bound for the times of rows still to come.
        interrupt_bins: int64, shape (7, bins), rows as `row_layout.INTERRUPT_BINS`; empty after
            `forget_bins`.
        sizes: int64, shape (5, SLOTS), all values by size, rows as `log_metrics.SIZES`; complete
            after `finish_sizes`.
        interrupts: Number of interrupts in the window.
        samples: Number of samples in the window.
        samples_waiting: Number of samples that `samples_until` can return.
        sample_span_ns: Times of the first and the last sample.
        totals: By column of `cores`, over the window; None if not measured. Counters are last
            minus first sample; so are sleep states that are running totals, others are summed.
            Counters are set by `set_totals`.
    """

    def __init__(self, core: int, index: int, machine: Machine, by: Cutting) -> None:
        self.core = core
        self.index = index
        self.package = machine.package_of(core)
        self.floor_ns = -1
        self.interrupt_bins = np.zeros((len(row_layout.INTERRUPT_BINS), by.bins), np.int64)
        self.sizes = np.zeros((len(SIZES), SLOTS), np.int64)
        self.samples = 0
        self.samples_waiting = 0
        self.sample_span_ns = (0, 0)
        self.totals: dict[str, int | None] = {}
        self.interrupts = 0
        self.problems: list[Problem] = []
        self._by = by
        self._tally = np.zeros(cut_loop.TALLY_SLOTS, np.int64)
        self._tally[cut_loop.LAST_NS] = -1
        self._names: tuple[str, ...] = ()
        self._rows = np.full(len(_SAMPLED), -1, np.int64)
        self._waiting: list[np.ndarray] = []
        self._sizes = np.zeros((size_histograms.SIZE_ROWS, SLOTS), np.int64)
        self._words: list[np.ndarray] = []
        self._room = np.empty(0, np.int64)

    @property
    def sample_span_length_ns(self) -> int:
        """Time from the first to the last sample."""
        return self.sample_span_ns[1] - self.sample_span_ns[0]

    def has(self, name: str) -> bool:
        """Return whether the log's samples have a column."""
        return name in self._names

    def add_rows(
        self,
        interrupts: np.ndarray,
        samples: np.ndarray,
        names: tuple[str, ...] | None,
        queues: Queues,
    ) -> None:
        """Add further rows of the log, as `LogReader.take` returns them."""
        if not interrupts.shape[1]:
            return
        window, index = self._by.window, self.index
        if interrupts.shape[1] > queues.rows.shape[1] - queues.ends[index]:
            raise AssertionError(f"BUG: no room for {interrupts.shape[1]} rows of core {self.core}")
        first = int(np.searchsorted(interrupts[0], window.start_tsc, side="left"))
        beyond = int(np.searchsorted(interrupts[0], window.end_tsc, side="right"))
        inside = interrupts[:, first:beyond]
        needed = size_histograms.SIZE_ROWS * (interrupts.shape[1] + SLOTS)
        if self._room.size < needed:
            self._room = np.empty(needed, np.int64)
        queues.ends[index], word_count = cut_loop.cut_interrupts(
            inside,
            window.start_tsc,
            self._by.ns_per_tick,
            queues.rows[index],
            int(queues.ends[index]),
            self._by.edges,
            self.interrupt_bins,
            self._tally,
            self._by.stretches,
            self._sizes,
            self._room,
            self.sizes[size_histograms.SIZE_ROWS :],
        )
        self.interrupts += inside.shape[1]
        if word_count:
            self._words.append(self._room[:word_count].copy())
        is_beyond = interrupts[0, -1] > window.end_tsc
        self.floor_ns = row_layout.LATEST if is_beyond else int(self._tally[cut_loop.LAST_NS])
        if names is not None and samples.shape[1]:
            self._add_samples(samples, names)

    def finish_sizes(self) -> np.ndarray:
        """Return the packed counts of `cut_loop.cut_interrupts`, sorted, once the log is read."""
        last = size_histograms.words_of(self._sizes, int(self._tally[cut_loop.STRETCH]))
        joined, self._words = np.concatenate([*self._words, last]), []
        row, slot, count = size_histograms.read_words(joined)
        counts = np.bincount(row * SLOTS + slot, count, size_histograms.SIZE_ROWS * SLOTS)
        self.sizes[: size_histograms.SIZE_ROWS] = counts.reshape(-1, SLOTS)
        return joined

    @property
    def gap_hist(self) -> np.ndarray:
        """Times between interrupts by power of two, int64, shape (64,); after `finish_sizes`."""
        octave = np.log2(np.maximum(slot_starts()[:-1], 1)).astype(np.int64)
        counts = np.bincount(octave, self.sizes[size_histograms.GAP_SIZES], _GAP_BINS)
        return counts.astype(np.int64)

    def forget_bins(self) -> None:
        """Free the bins, 1 MiB per core, once they are written."""
        self.interrupt_bins = self.interrupt_bins[:, :0].copy()
        self._room = np.empty(0, np.int64)

    def _add_samples(self, samples: np.ndarray, names: tuple[str, ...]) -> None:
        if names != self._names:
            self._names = names
            self._rows = np.array([names.index(n) if n in names else -1 for n in _SAMPLED])
        window = self._by.window
        first = int(np.searchsorted(samples[0], window.start_tsc, side="left"))
        beyond = int(np.searchsorted(samples[0], window.end_tsc, side="right"))
        if first == beyond:
            return
        inside = np.empty((beyond - first, 1 + len(row_layout.SAMPLED)), np.int64)
        cut_loop.cut_samples(
            *(samples[:, first:beyond], self._rows, window.start_tsc, self._by.ns_per_tick),
            *(self.index, inside),
        )
        begin = self.sample_span_ns[0] if self.samples else int(inside[0, 1])
        self.sample_span_ns = (begin, int(inside[-1, 1]))
        self.samples += len(inside)
        self.samples_waiting += len(inside)
        self._waiting.append(inside)

    def samples_until(self, t_ns: int) -> list[np.ndarray]:
        """Remove and return the samples up to a time, inclusive, as arrays for `step_samples`."""
        pieces: list[np.ndarray] = []
        while self._waiting:
            piece = self._waiting[0]
            end = int(np.searchsorted(piece[:, 1], t_ns, side="right"))
            if end < len(piece):
                if end:
                    pieces.append(piece[:end])
                    self._waiting[0] = piece[end:]
                break
            pieces.append(self._waiting.pop(0))
        self.samples_waiting -= sum(map(len, pieces))
        return pieces

    def set_totals(self, sums: np.ndarray, falls: np.ndarray, facts: LogFacts) -> None:
        """Set the totals from the samples' steps, and report values that cannot be right."""
        self.totals = {"interrupts": self.interrupts}
        self.totals |= zip(_NIC, self._tally[cut_loop.FIRST_SUM :].tolist(), strict=True)
        backwards = []
        for name in _COUNTED:
            row = row_layout.SAMPLED.index(name)
            is_measured = self.has(name) and self.samples > 1
            self.totals[name] = int(sums[row]) if is_measured and not falls[row] else None
            if is_measured and falls[row]:
                backwards.append(name)
        self._check(facts, backwards)

    def doubt_coverage(self) -> bool:
        """Return whether the samples miss too much of the window; if so, add a problem."""
        length_ns = self._by.length_ns
        missed_ns = length_ns - self.sample_span_length_ns
        if self.samples < 2 or missed_ns <= max(_MISSED_NS, _MISSED_SHARE * length_ns):
            return False
        detail = (
            f"samples of core {self.core} miss {missed_ns * 1e-9:.3g} s of the window's "
            f"{length_ns * 1e-9:.3g} s; the package's energy is NULL, its counters lack that time"
        )
        self.problems.append(Problem("log_short", "doubted", detail))
        return True

    def _check(self, facts: LogFacts, backwards: list[str]) -> None:
        if not self.interrupts:
            window = self._by.window
            detail = (
                f"no line of the log is within the window {window.start_tsc} to {window.end_tsc}; "
                f"it covers {facts.span_tsc[0]} to {facts.span_tsc[1]}"
            )
            self.problems.append(Problem("log_outside_window", "doubted", detail))
        if backwards:
            detail = f"counted backwards: {', '.join(backwards)}; NULL for core {self.core}"
            self.problems.append(Problem("counter_backwards", "doubted", detail))


@dataclass(frozen=True, slots=True)
class PackageEnergy:
    """Energy of a run's packages.

    Attributes:
        energy_j: Package to joules; None where no core has two samples.
        carriers: The cores, one per package, whose counter gives the package's energy.
        has_wrapped: Whether one of those counters wrapped.
    """

    energy_j: dict[int | None, float | None] = field(default_factory=dict)
    carriers: frozenset[int] = frozenset()
    has_wrapped: bool = False


def find_carriers(cuts: list[CoreCut]) -> frozenset[int]:
    """Return each package's core whose samples span most of the window; of equals the lowest."""
    carriers: dict[int | None, CoreCut] = {}
    for cut in sorted((cut for cut in cuts if cut.samples), key=lambda cut: cut.core):
        widest = carriers.setdefault(cut.package, cut)
        if cut.sample_span_length_ns > widest.sample_span_length_ns:
            carriers[cut.package] = cut
    return frozenset(cut.core for cut in carriers.values())


def energy_by_package(
    cuts: list[CoreCut],
    carriers: frozenset[int],
    steps: np.ndarray,
    falls: np.ndarray,
    machine: Machine,
) -> PackageEnergy:
    """Return joules of each package from its core's counter; None if its samples miss too much.

    Args:
        carriers: The cores, one per package, whose counter gives the package's energy.
        steps: Sum of each core's energy counter over the window, unwrapped, int64, shape (k,).
        falls: How often each core's counter wrapped, shape (k,).
    """
    energy: dict[int | None, float | None] = {cut.package: None for cut in cuts}
    wrapped = False
    for cut in cuts:
        if cut.core in carriers:
            if cut.doubt_coverage():
                continue
            if cut.samples > 1:
                energy[cut.package] = int(steps[cut.index]) * machine.energy_unit_j
            wrapped = wrapped or bool(falls[cut.index])
    return PackageEnergy(energy, carriers, wrapped)
