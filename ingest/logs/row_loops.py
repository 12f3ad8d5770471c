"""Compiled loops over the rows of a run's cores: cut to the window, merge by time, count steps."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import njit

from data.schema import RATES
from ingest.logs.size_histograms import GAP_SIZES, RX_SIZES, TX_SIZES, hand_out_sizes, slot_of

LATEST: Final = np.iinfo(np.int64).max

# Slots of where in the window `cut_interrupts` is with a core.
LAST_NS: Final = 0
BIN: Final = 1
STRETCH: Final = 2
TALLY_SLOTS: Final = 3

# Rows of the interrupt bins, as `overview` names its columns. Gaps stand there so that the largest
# of several bins is what they have together, and 0 is none: the longest gap and 1, and how much
# shorter than LATEST the shortest is.
INTERRUPT_BINS: Final = (
    "interrupts",
    "rx_bytes",
    "tx_bytes",
    "max_rx_bytes",
    "max_tx_bytes",
    "min_gap_ns",
    "max_gap_ns",
)
MIN_GAP: Final = INTERRUPT_BINS.index("min_gap_ns")
MAX_GAP: Final = INTERRUPT_BINS.index("max_gap_ns")
# Rows of a sample in memory. All but the first are counters; `joules` is the raw energy counter.
SAMPLED: Final = (
    "t_ns",
    "instructions",
    "cycles",
    "ref_cycles",
    "llc_misses",
    "c1",
    "c1e",
    "c3",
    "c6",
    "c7",
    "joules",
)
FIRST_SLEEP_STATE: Final = 5
JOULES: Final = 10
# Rows of the sample bins, and which row of a sample each sums.
SAMPLE_BINS: Final = ("energy_uj", *SAMPLED[1:JOULES])
_BINNED: Final = np.array([JOULES, *range(1, JOULES)])
# Which row of a sample each of RATES is the rate of; the last is a ratio of two.
IPC: Final = RATES.index("ipc")
_POWER: Final = RATES.index("power_w")
RATED: Final = (
    *(JOULES if n == "power_w" else SAMPLED.index(n.removesuffix("_per_s")) for n in RATES[:IPC]),
)
OF_IPC: Final = (SAMPLED.index("instructions"), SAMPLED.index("cycles"))
_INSTRUCTIONS, _CYCLES = OF_IPC

_INT32_MAX: Final = np.iinfo(np.int32).max


@njit(nogil=True)
def _put_bin(
    bins: np.ndarray,
    b: int,
    count: int,
    rx_sum: int,
    tx_sum: int,
    rx_most: int,
    tx_most: int,
    gap_least: int,
    gap_most: int,
) -> None:
    bins[0, b], bins[1, b], bins[2, b] = count, rx_sum, tx_sum
    bins[3, b], bins[4, b] = rx_most, tx_most
    bins[MIN_GAP, b], bins[MAX_GAP, b] = gap_least, gap_most


@njit(nogil=True, cache=True)
def cut_interrupts(
    raw: np.ndarray,
    start_tsc: int,
    ns_per_tick: float,
    queue: np.ndarray,
    at: int,
    edges: np.ndarray,
    bins: np.ndarray,
    tally: np.ndarray,
    stretches: np.ndarray,
    sizes: np.ndarray,
    words: np.ndarray,
) -> tuple[int, int]:
    """Append one core's rows within the window to its queue, and count what happened there.

    Args:
        raw: Time stamp and the four NIC columns, int64, shape (5, n), in time order; all within
            the window.
        queue: int64, shape (room, 4): time, bytes received, bytes sent, and the descriptors, the
            received ones in the low half. A row is half a cache line: merging jumps from queue to
            queue.
        at: Where the queue ends.
        edges: First nanosecond of each bin, and one behind the last that no time reaches.
        bins: int64, shape (7, bins), rows as `INTERRUPT_BINS`. The shortest gap counts in the bin
            of its later interrupt; the longest in all that it touches, for nobody looks past what
            is in view. The first interrupt ends no gap. Bytes that add up to over 63 bits wrap.
        tally: int64, shape (TALLY_SLOTS,), zeros but for `LAST_NS`, which is -1.
        stretches: As `edges`, of the stretches of time whose sizes are counted together.
        sizes: int64, shape (SIZE_ROWS, SLOTS): sizes in the stretch that is not over yet.
        words: int64, shape (SIZE_ROWS * (n + SLOTS),): sizes of the stretches that ended.
    Returns:
        Where the queue ends now, and how many words there are.
    """
    last, b, stretch = tally[LAST_NS], tally[BIN], tally[STRETCH]
    said = 0
    # The bin at hand is counted in registers and written when it is over.
    count, rx_sum, tx_sum, rx_most = bins[0, b], bins[1, b], bins[2, b], bins[3, b]
    tx_most, gap_least, gap_most = bins[4, b], bins[MIN_GAP, b], bins[MAX_GAP, b]
    bin_end, stretch_end = edges[b + 1], stretches[stretch + 1]
    for i in range(raw.shape[1]):
        now = np.int64(np.rint((raw[0, i] - start_tsc) * ns_per_tick))
        rx_desc, rx_bytes = raw[1, i], raw[2, i]
        tx_desc, tx_bytes = raw[3, i], raw[4, i]
        queue[at, 0] = now
        queue[at, 1] = rx_bytes
        queue[at, 2] = tx_bytes
        queue[at, 3] = min(tx_desc, _INT32_MAX) << 32 | min(rx_desc, _INT32_MAX)
        at += 1
        longest = now - last + 1 if last >= 0 else np.int64(0)
        gap_most = max(gap_most, longest)
        if now >= bin_end:
            _put_bin(bins, b, count, rx_sum, tx_sum, rx_most, tx_most, gap_least, gap_most)
            count = rx_sum = tx_sum = rx_most = tx_most = gap_least = np.int64(0)
            gap_most = longest
            b += 1
            while now >= edges[b + 1]:
                bins[MAX_GAP, b] = longest
                b += 1
            bin_end = edges[b + 1]
        if now >= stretch_end:
            said = hand_out_sizes(sizes, stretch, words, said)
            while now >= stretches[stretch + 1]:
                stretch += 1
            stretch_end = stretches[stretch + 1]
        count += 1
        rx_sum += rx_bytes
        tx_sum += tx_bytes
        rx_most = max(rx_most, rx_bytes)
        tx_most = max(tx_most, tx_bytes)
        sizes[RX_SIZES, slot_of(rx_bytes)] += 1
        sizes[TX_SIZES, slot_of(tx_bytes)] += 1
        if last >= 0:
            gap = now - last
            gap_least = max(gap_least, LATEST - gap)
            sizes[GAP_SIZES, slot_of(gap)] += 1
        last = now
    _put_bin(bins, b, count, rx_sum, tx_sum, rx_most, tx_most, gap_least, gap_most)
    tally[LAST_NS], tally[BIN], tally[STRETCH] = last, b, stretch
    return at, said


def cut_samples(
    raw: np.ndarray,
    rows: Sequence[int],
    start_tsc: int,
    end_tsc: int,
    ns_per_tick: float,
    place: int,
) -> np.ndarray:
    """Copy one core's samples within the window.

    Args:
        raw: Time stamp and what the log has of a sample, int64, shape (k, n), in time order.
        rows: Where in `raw` each row of `SAMPLED` but the first is; below 0 if it is not there.
        place: The core's place among the run's.
    Returns:
        As `step_samples` wants them, int64, shape (12, m); 0 where a row is not there.
    """
    first = np.searchsorted(raw[0], start_tsc, side="left")
    beyond = np.searchsorted(raw[0], end_tsc, side="right")
    kept = np.zeros((2 + len(rows), beyond - first), np.int64)
    kept[0] = place
    kept[1] = np.rint((raw[0, first:beyond] - start_tsc) * ns_per_tick)
    for number, row in enumerate(rows, 2):
        if row >= 0:
            kept[number] = raw[row, first:beyond]
    return kept


def ends_within_reach(queues: np.ndarray, heads: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Where in each queue the rows end that one call of `merge_rows` can take.

    All of them, but in windows of years: a time and the place of its queue must fit 63 bits.

    Args:
        queues, heads, ends: As `merge_rows` has them; some queue is not empty.
    """
    places = np.flatnonzero(heads < ends)
    first_ns = int(queues[places, heads[places], 0].min())
    last_ns = int(queues[places, ends[places] - 1, 0].max())
    reach_ns = LATEST >> (heads.size - 1).bit_length()
    if last_ns - first_ns < reach_ns:
        return ends
    within = ends.copy()
    for place in places.tolist():
        waiting = queues[place, heads[place] : ends[place], 0]
        within[place] = heads[place] + np.searchsorted(waiting, first_ns + reach_ns)
    return within


@njit(nogil=True, cache=True)
def merge_rows(
    queues: np.ndarray,
    heads: np.ndarray,
    ends: np.ndarray,
    cores: np.ndarray,
    out_core: np.ndarray,
    out_t_ns: np.ndarray,
    out_descriptors: np.ndarray,
    out_octets: np.ndarray,
    at: int,
) -> int:
    """Merge queues by time into output columns, until the queues or the output end.

    Args:
        queues: As `cut_interrupts` fills them, shape (k, room, 4).
        heads: Where each queue starts; moved on.
        ends: Where each queue ends, as `ends_within_reach` has it.
        cores: The number of each queue's core.
        at: Where the output starts.
    Returns:
        Where the output ends. Equal times keep the order of the queues.
    """
    # A tournament without branches to mispredict: leaves are the queues' next times, from the
    # earliest on, with the queue's place in their low bits, and each inner node is the least of
    # what is below it.
    base = LATEST
    for i in range(heads.size):
        if heads[i] < ends[i]:
            base = min(base, queues[i, heads[i], 0])
    leaves, shift = 1, 0
    while leaves < heads.size:
        leaves *= 2
        shift += 1
    least = np.empty(2 * leaves, np.int64)
    for i in range(least.size):
        least[i] = LATEST
    # The time behind each queue's first is at hand before it is asked for.
    second = np.empty(heads.size, np.int64)
    for i in range(heads.size):
        second[i] = LATEST
        if heads[i] < ends[i]:
            least[leaves + i] = (queues[i, heads[i], 0] - base) << shift | i
        if heads[i] + 1 < ends[i]:
            second[i] = (queues[i, heads[i] + 1, 0] - base) << shift | i
    for node in range(leaves - 1, 0, -1):
        least[node] = min(least[2 * node], least[2 * node + 1])
    while at < out_t_ns.size and least[1] != LATEST:
        first = least[1] & (leaves - 1)
        head = heads[first]
        out_core[at] = cores[first]
        out_t_ns[at] = (least[1] >> shift) + base
        out_octets[0, at] = queues[first, head, 1]
        out_octets[1, at] = queues[first, head, 2]
        descriptors = queues[first, head, 3]
        out_descriptors[0, at] = descriptors & _INT32_MAX
        out_descriptors[1, at] = descriptors >> 32
        at += 1
        head += 1
        heads[first] = head
        now = second[first]
        is_there = head + 1 < ends[first]
        following = (queues[first, head + 1, 0] - base) << shift | first
        second[first] = following if is_there else LATEST
        node = leaves + first
        least[node] = now
        while node > 1:
            now = min(now, least[node ^ 1])
            node >>= 1
            least[node] = now
    return at


@njit(nogil=True)
def _rate(steps: np.ndarray, at: int, unit_uj: float, rates: np.ndarray) -> None:
    """Rates of one sample, float32, as RATES, from its steps; NaN where there is none."""
    dt_ns = np.float64(steps[0, at])
    for row in range(IPC):
        rates[row] = steps[RATED[row], at] * 1e9 / dt_ns
    rates[_POWER] = steps[JOULES, at] * unit_uj * 1e3 / dt_ns
    cycles = steps[_CYCLES, at]
    rates[IPC] = steps[_INSTRUCTIONS, at] / cycles if cycles > 0 else np.nan


@njit(nogil=True)
def _widen(extremes: np.ndarray, rates: np.ndarray) -> None:
    """Let the least and greatest of some bins, shape (bins, 2, 10), reach to some rates."""
    for part in range(extremes.shape[0]):
        least, most = extremes[part, 0], extremes[part, 1]
        for row in range(rates.size):
            least[row] = rates[row] if rates[row] < least[row] else least[row]
            most[row] = rates[row] if rates[row] > most[row] else most[row]


@njit(nogil=True, cache=True)
def step_samples(
    samples: np.ndarray,
    last: np.ndarray,
    is_total: np.ndarray,
    energy_mask: int,
    steps: np.ndarray,
    is_first: np.ndarray,
    sums: np.ndarray,
    falls: np.ndarray,
    edges: np.ndarray,
    bins: np.ndarray,
    last_bin: np.ndarray,
    unit_uj: float,
    extremes: np.ndarray,
) -> None:
    """Turn counters into what they counted since the sample before of the same core.

    Args:
        samples: int64, shape (12, n), in time order: place of the core, then rows as `SAMPLED`.
        last: int64, shape (k, 11): each core's sample before; -1 as its time if there is none.
        is_total: Whether a row is a running total, shape (k, 11); else each sample has its own.
        energy_mask: The energy counter's bits, by which its steps wrap.
        steps: Output, int64, shape (11, n); 0 where `is_first`.
        is_first: Output, shape (n,): first of its core, which only starts the count.
        sums: int64, shape (k, 11), added to: of totals last less first, else all samples. LATEST
            stands for all that 63 bits cannot hold.
        falls: int64, shape (k, 11), added to: how often a counter ran backwards.
        edges: As in `cut_interrupts`, of the bins here.
        bins: int64, shape (k, 10, bins), added to: rows as `SAMPLE_BINS`, energy in counter steps.
            A step counts in all bins since the sample before it, by the time in each.
        last_bin: int64, shape (k,): the bin of each core's sample before.
        unit_uj: A step of the energy counter, microjoules.
        extremes: Float32, shape (k, bins, 2, 10): least and greatest of the rates between two
            samples, in the order of RATES. A rate stands in all bins from that of the sample
            before to that of its own.
    """
    b = 0
    rates = np.empty(extremes.shape[3], np.float32)
    for i in range(samples.shape[1]):
        core = samples[0, i]
        now = samples[1, i]
        while now >= edges[b + 1]:
            b += 1
        before = last[core, 0]
        begins = before < 0
        is_first[i] = begins
        for row in range(samples.shape[0] - 1):
            value = samples[row + 1, i]
            step = np.int64(0)
            counted: Any = step
            if not is_total[core, row]:
                counted = value
                if not begins:
                    step = value
            elif not begins:
                step = value - last[core, row]
                falls[core, row] += step < 0
                if row == JOULES:
                    step &= energy_mask
                counted = step
            # Where a counter ran backwards its sum counts for nothing.
            sums[core, row] = min(sums[core, row], LATEST - max(counted, 0)) + counted
            steps[row, i] = step
            last[core, row] = value
        if not begins:
            for row in range(bins.shape[1]):
                step, done = steps[_BINNED[row], i], np.int64(0)
                for part in range(last_bin[core], b):
                    share = (edges[part + 1] - before) / (now - before)
                    # A real number may be above the whole one that it stands for.
                    until = min(np.int64(np.floor(step * share)), max(step, 0))
                    if share >= 1:
                        until = step
                    bins[core, row, part] += until - done
                    done = until
                bins[core, row, b] += step - done
            if steps[0, i] > 0:
                _rate(steps, i, unit_uj, rates)
                _widen(extremes[core, last_bin[core] : b + 1], rates)
        last_bin[core] = b
