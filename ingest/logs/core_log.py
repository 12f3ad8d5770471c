"""One core's log cut to the workload window as it comes: rows queued, all else counted."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data.analysis.log_bins import SLOTS, slot_starts
from data.schema import (
    HISTOGRAM_LEAST_NS,
    HISTOGRAM_MOST_STRETCHES,
    OVERVIEW_LEAST_COUNTED_NS,
    OVERVIEW_LEAST_NS,
    OVERVIEW_LEVELS,
)
from data.timeline.time_cells import equal_edges
from ingest.logs import cut_loop, row_layout, size_histograms
from ingest.records import LogFacts, Problem, Window
from ingest.settings.dataset import Machine

_GAP_BINS: Final = 64
_COUNTED: Final = row_layout.SAMPLED[1 : row_layout.JOULES]
# Columns of interrupts after the time stamp.
_NIC: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_DESCRIPTORS: Final = ("rx_desc", "tx_desc")
# A log is sampled about every millisecond. What it may miss of its window before its energy counts
# for nothing: this much, or this share of a long one.
_MISSED_NS: Final = 20_000_000
_MISSED_SHARE: Final = 0.02
_INT32_MAX: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Cutting:
    """What the cores of a run are cut by.

    Edges are the first nanosecond of each part of the window, and one behind the last that no time
    reaches, so that the last instant falls into the last part.

    Attributes:
        length_ns: The window's length in whole nanoseconds.
        levels: Numbers of bins that `overview` has of this run, rising.
        edges: Of the finest of these bins.
        counted_edges: Of the finest bins in which samples count.
        stretches: Of the stretches whose sizes are counted together.
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
        """The finest bins."""
        return len(self.edges) - 1

    @property
    def counted_bins(self) -> int:
        """The finest bins in which samples count."""
        return len(self.counted_edges) - 1


def cutting(window: Window, tsc_hz: float) -> Cutting:
    """Prepare to cut logs to a window."""
    ns_per_tick = 1e9 / tsc_hz
    length_ns = int(np.rint((window.end_tsc - window.start_tsc) * ns_per_tick))
    levels = _levels(length_ns, OVERVIEW_LEAST_NS)
    counted = max(_levels(length_ns, OVERVIEW_LEAST_COUNTED_NS))
    stretches = 1
    while stretches < HISTOGRAM_MOST_STRETCHES and length_ns // stretches >= 2 * HISTOGRAM_LEAST_NS:
        stretches *= 2
    edges = (_edges(length_ns, bins) for bins in (max(levels), counted, stretches))
    return Cutting(window, ns_per_tick, length_ns, levels, *edges)


def _levels(length_ns: int, least_ns: int) -> tuple[int, ...]:
    finer = (level for level in OVERVIEW_LEVELS[1:] if length_ns >= level * least_ns)
    return OVERVIEW_LEVELS[0], *finer


def _edges(length_ns: int, bins: int) -> np.ndarray:
    return np.append(bin_starts_ns(max(length_ns, 1), bins), row_layout.LATEST)


def bin_starts_ns(duration_ns: int, bins: int) -> np.ndarray:
    """Give the first whole nanosecond of each of `bins` equal bins of a window, int64."""
    return equal_edges(0, duration_ns, bins)[:-1]


class Queues:
    """Rows of a run's cores between cutting and merging; each core's own, in time order."""

    def __init__(self, cores: int, room: int) -> None:
        self.rows = np.empty((cores, room, 4), np.int64)
        self.heads = np.zeros(cores, np.int64)
        self.ends = np.zeros(cores, np.int64)

    def waiting(self, place: int) -> int:
        """How many rows of a core wait."""
        return int(self.ends[place] - self.heads[place])

    def make_room(self, place: int, room: int) -> None:
        """Move what waits to the queue's front, if there is less room than so much behind it."""
        head, end = int(self.heads[place]), int(self.ends[place])
        if head and end + room > self.rows.shape[1]:
            self.rows[place, : end - head] = self.rows[place, head:end].copy()
            self.heads[place], self.ends[place] = 0, end - head


class CoreCut:
    """What one core did within the window, counted block by block.

    Attributes:
        floor_ns: No later row of this log can be earlier than this.
        interrupt_bins: int64, shape (7, bins), rows as `row_layout.INTERRUPT_BINS`; gone with
            `forget_bins`.
        gap_hist: int64, shape (64,), times between interrupts by their power of two; of all gaps
            only once `finish_sizes` was called.
        interrupts: How many interrupts are in the window.
        samples: How many samples are in the window.
        samples_waiting: How many of them `samples_until` can give away.
        sample_span_ns: Times of the first and last of them.
        totals: By column of `cores`, over the window; None where it was not measured. Counters
            are last less first sample; sleep states likewise where they are running totals, and
            added where each sample has its own. Counters only once `take_steps` was called.
        too_large: Columns of `cores` and `overview` whose sum no column can hold: NULL in both.
    """

    def __init__(self, core: int, place: int, machine: Machine, by: Cutting) -> None:
        self.core = core
        self.place = place
        self.package = machine.package_of(core)
        self.floor_ns = -1
        self.interrupt_bins = np.zeros((len(row_layout.INTERRUPT_BINS), by.bins), np.int64)
        self.gap_hist = np.zeros(_GAP_BINS, np.int64)
        self.samples = 0
        self.samples_waiting = 0
        self.sample_span_ns = (0, 0)
        self.totals: dict[str, int | None] = {}
        self.too_large: frozenset[str] = frozenset()
        self.interrupts = 0
        self.problems: list[Problem] = []
        self._by = by
        self._tally = np.zeros(cut_loop.TALLY_SLOTS, np.int64)
        self._tally[cut_loop.LAST_NS] = -1
        self._sums = [0] * len(_NIC)
        self._most = np.zeros(len(_NIC), np.int64)
        self._names: frozenset[str] = frozenset()
        self._waiting: list[np.ndarray] = []
        self._sizes = np.zeros((size_histograms.SIZE_ROWS, SLOTS), np.int64)
        self._words: list[np.ndarray] = []
        self._room = np.empty(0, np.int64)

    @property
    def sample_span_length_ns(self) -> int:
        """From the first sample to the last."""
        return self.sample_span_ns[1] - self.sample_span_ns[0]

    def has(self, name: str) -> bool:
        """Whether the log has a column of samples."""
        return name in self._names

    def take(
        self,
        interrupts: np.ndarray,
        samples: np.ndarray,
        names: tuple[str, ...] | None,
        queues: Queues,
    ) -> None:
        """Take further rows of the log in, as `LogReader.take` gives them."""
        if not interrupts.shape[1]:
            return
        window, place = self._by.window, self.place
        if interrupts.shape[1] > queues.rows.shape[1] - queues.ends[place]:
            raise AssertionError(f"BUG: no room for {interrupts.shape[1]} rows of core {self.core}")
        first = int(np.searchsorted(interrupts[0], window.start_tsc, side="left"))
        beyond = int(np.searchsorted(interrupts[0], window.end_tsc, side="right"))
        inside = interrupts[:, first:beyond]
        self._add_up(inside[1:])
        needed = size_histograms.SIZE_ROWS * (interrupts.shape[1] + SLOTS)
        if self._room.size < needed:
            self._room = np.empty(needed, np.int64)
        queues.ends[place], said = cut_loop.cut_interrupts(
            inside,
            window.start_tsc,
            self._by.ns_per_tick,
            queues.rows[place],
            int(queues.ends[place]),
            self._by.edges,
            self.interrupt_bins,
            self._tally,
            self._by.stretches,
            self._sizes,
            self._room,
        )
        if said:
            self._words.append(self._room[:said].copy())
        is_beyond = interrupts[0, -1] > window.end_tsc
        self.floor_ns = row_layout.LATEST if is_beyond else int(self._tally[cut_loop.LAST_NS])
        if names is not None and samples.shape[1]:
            self._take_samples(samples, names)

    def _add_up(self, nic: np.ndarray) -> None:
        """Add further rows within the window to the sums, shape (4, n), to the last digit."""
        count = nic.shape[1]
        if not count:
            return
        most = nic.max(axis=1)
        if int(most.max()) <= row_layout.LATEST // count:
            added = nic.sum(axis=1).tolist()
        else:
            added = [sum(values.tolist()) for values in nic]
        self._sums = [before + more for before, more in zip(self._sums, added, strict=True)]
        self._most = np.maximum(self._most, most)
        self.interrupts += count

    def finish_sizes(self) -> np.ndarray:
        """Give away the words of `cut_loop.cut_interrupts`, rising: the log is at its end."""
        words = np.empty(self._sizes.size, np.int64)
        stretch = int(self._tally[cut_loop.STRETCH])
        said = size_histograms.hand_out_sizes(self._sizes, stretch, words, 0)
        given, self._words = np.concatenate([*self._words, words[:said]]), []
        row, slot, count = size_histograms.read_words(given)
        is_gap = row == size_histograms.GAP_SIZES
        octave = np.log2(np.maximum(slot_starts(slot[is_gap]), 1)).astype(np.int64)
        np.add.at(self.gap_hist, octave, count[is_gap])
        return given

    def forget_bins(self) -> None:
        """Let go of the bins, of a MiB a core, once they are written."""
        self.interrupt_bins = self.interrupt_bins[:, :0].copy()
        self._room = np.empty(0, np.int64)

    def _take_samples(self, samples: np.ndarray, names: tuple[str, ...]) -> None:
        self._names = frozenset(names)
        window = self._by.window
        rows = [names.index(name) if name in names else -1 for name in row_layout.SAMPLED[1:]]
        kept = cut_loop.cut_samples(
            samples,
            rows,
            window.start_tsc,
            window.end_tsc,
            self._by.ns_per_tick,
            self.place,
        )
        if not kept.shape[1]:
            return
        begin = self.sample_span_ns[0] if self.samples else int(kept[1, 0])
        self.sample_span_ns = (begin, int(kept[1, -1]))
        self.samples += kept.shape[1]
        self.samples_waiting += kept.shape[1]
        self._waiting.append(kept)

    def samples_until(self, t_ns: int) -> list[np.ndarray]:
        """Give away the samples that wait up to a time, both ends in, as `step_samples` wants."""
        given: list[np.ndarray] = []
        while self._waiting:
            piece = self._waiting[0]
            end = int(np.searchsorted(piece[1], t_ns, side="right"))
            if end < piece.shape[1]:
                if end:
                    given.append(piece[:, :end])
                    self._waiting[0] = piece[:, end:]
                break
            given.append(self._waiting.pop(0))
        self.samples_waiting -= sum(piece.shape[1] for piece in given)
        return given

    def take_steps(self, sums: np.ndarray, falls: np.ndarray, facts: LogFacts) -> None:
        """Take over the totals of the samples' steps, and doubt what cannot be."""
        self.totals = {"interrupts": self.interrupts}
        self.totals |= zip(_NIC, self._sums, strict=True)
        backwards = []
        for name in _COUNTED:
            row = row_layout.SAMPLED.index(name)
            is_measured = self.has(name) and self.samples > 1
            self.totals[name] = int(sums[row]) if is_measured and not falls[row] else None
            if is_measured and falls[row]:
                backwards.append(name)
        over = [n for n, sum_ in zip(_NIC, self._sums, strict=True) if sum_ > row_layout.LATEST]
        over += [n for n in _COUNTED if self.totals[n] == row_layout.LATEST]
        over += ["energy_uj"] if sums[row_layout.JOULES] == row_layout.LATEST else []
        self.totals |= dict.fromkeys(name for name in over if name in self.totals)
        self.too_large = frozenset(over)
        self._check(facts, backwards, over)

    def doubt_coverage(self) -> bool:
        """Whether the samples miss too much of the window to stand for it; then it is a problem."""
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

    def _check(self, facts: LogFacts, backwards: list[str], over: list[str]) -> None:
        if not self.interrupts:
            window = self._by.window
            detail = (
                f"no line of the log is in the window {window.start_tsc} to {window.end_tsc}; "
                f"it covers {facts.span_tsc[0]} to {facts.span_tsc[1]}"
            )
            self.problems.append(Problem("log_outside_window", "doubted", detail))
        for name in _DESCRIPTORS:
            if (most := int(self._most[_NIC.index(name)])) > _INT32_MAX:
                detail = (
                    f"{name} of {most} does not fit its column, where it stands as {_INT32_MAX}"
                )
                self.problems.append(Problem("value_range", "doubted", detail))
        if over:
            names = ", ".join(over)
            detail = f"add up to more than 63 bits: {names}; NULL for core {self.core} and the run"
            self.problems.append(Problem("value_range", "doubted", detail))
        if backwards:
            detail = f"counted backwards: {', '.join(backwards)}; NULL for core {self.core}"
            self.problems.append(Problem("counter_backwards", "doubted", detail))


@dataclass(frozen=True, slots=True)
class PackageEnergy:
    """What the packages of a run used.

    Attributes:
        energy_j: Package to joules; None where no core has two samples.
        carriers: Cores whose counter stands for their package.
        has_wrapped: Whether one of those counters wrapped.
    """

    energy_j: dict[int | None, float | None] = field(default_factory=dict)
    carriers: frozenset[int] = frozenset()
    has_wrapped: bool = False


def find_carriers(cuts: list[CoreCut]) -> frozenset[int]:
    """The core of each package whose samples span the most of the window; of equals the lowest."""
    found: dict[int | None, CoreCut] = {}
    for cut in sorted((cut for cut in cuts if cut.samples), key=lambda cut: cut.core):
        widest = found.setdefault(cut.package, cut)
        if cut.sample_span_length_ns > widest.sample_span_length_ns:
            found[cut.package] = cut
    return frozenset(cut.core for cut in found.values())


def energy_by_package(
    cuts: list[CoreCut],
    carriers: frozenset[int],
    steps: np.ndarray,
    falls: np.ndarray,
    machine: Machine,
) -> PackageEnergy:
    """Joules of each package, from the core that stands for it; None if its samples end short.

    Args:
        steps: Steps of each core's energy counter over the window, unwrapped, int64, shape (k,).
        falls: How often each core's counter wrapped, shape (k,).
    """
    energy: dict[int | None, float | None] = {cut.package: None for cut in cuts}
    wrapped = False
    for cut in cuts:
        if cut.core in carriers:
            if cut.doubt_coverage():
                continue
            if cut.samples > 1 and "energy_uj" not in cut.too_large:
                energy[cut.package] = int(steps[cut.place]) * machine.energy_unit_j
            wrapped = wrapped or bool(falls[cut.place])
    return PackageEnergy(energy, carriers, wrapped)
