"""Compiled loops over the rows of a run's cores: cut to the window, merge by time, count steps."""

from typing import Final

import numpy as np
from numba import njit

from ingest.machine_words import leading_zeros

GAP_BINS: Final = 64
LATEST: Final = np.iinfo(np.int64).max

# Slots of what `cut_interrupts` keeps of a core: sums and maxima of the window, where it is.
RX_DESC: Final = 0
RX_BYTES: Final = 1
TX_DESC: Final = 2
TX_BYTES: Final = 3
COUNT: Final = 4
MAX_RX_DESC: Final = 5
MAX_TX_DESC: Final = 6
LAST_NS: Final = 7
BIN: Final = 8
TALLY_SLOTS: Final = 9

# Rows of the interrupt bins, as `overview` names its columns.
INTERRUPT_BINS: Final = (
    "interrupts",
    "rx_bytes",
    "tx_bytes",
    "max_rx_bytes",
    "max_tx_bytes",
    "max_gap_ns",
)
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
SAMPLE_BINS: Final = ("energy_uj", "instructions", "cycles", "ref_cycles", "llc_misses")
_BINNED: Final = np.array([JOULES, 1, 2, 3, 4])

_INT32_MAX: Final = np.iinfo(np.int32).max


@njit(nogil=True, cache=True)
def cut_interrupts(
    raw: np.ndarray,
    start_tsc: int,
    end_tsc: int,
    ns_per_tick: float,
    queue: np.ndarray,
    at: int,
    edges: np.ndarray,
    bins: np.ndarray,
    tally: np.ndarray,
    gaps: np.ndarray,
) -> int:
    """Append one core's rows within the window to its queue, and count what happened there.

    Args:
        raw: Time stamp and the four NIC columns, int64, shape (5, n), in time order.
        queue: int64, shape (room, 4): time, bytes received, bytes sent, and the descriptors, the
            received ones in the low half. A row is half a cache line: merging jumps from queue to
            queue.
        at: Where the queue ends.
        edges: First nanosecond of each bin, and one behind the last that no time reaches.
        bins: int64, shape (6, bins), rows as `INTERRUPT_BINS`. A gap counts in the bin of its
            later interrupt; the first interrupt ends no gap.
        tally: int64, shape (TALLY_SLOTS,), zeros but for `LAST_NS`, which is -1.
        gaps: int64, shape (64,): times between interrupts by their power of two, 0 in bin 0.
    Returns:
        Where the queue ends now.
    """
    last, b = tally[LAST_NS], tally[BIN]
    for i in range(raw.shape[1]):
        tsc = raw[0, i]
        if tsc < start_tsc:
            continue
        if tsc > end_tsc:
            break
        now = np.int64(np.rint((tsc - start_tsc) * ns_per_tick))
        rx_desc, rx_bytes = raw[1, i], raw[2, i]
        tx_desc, tx_bytes = raw[3, i], raw[4, i]
        queue[at, 0] = now
        queue[at, 1] = rx_bytes
        queue[at, 2] = tx_bytes
        queue[at, 3] = min(tx_desc, _INT32_MAX) << 32 | min(rx_desc, _INT32_MAX)
        at += 1
        tally[RX_DESC] += rx_desc
        tally[RX_BYTES] += rx_bytes
        tally[TX_DESC] += tx_desc
        tally[TX_BYTES] += tx_bytes
        tally[COUNT] += 1
        tally[MAX_RX_DESC] = max(tally[MAX_RX_DESC], rx_desc)
        tally[MAX_TX_DESC] = max(tally[MAX_TX_DESC], tx_desc)
        while now >= edges[b + 1]:
            b += 1
        bins[0, b] += 1
        bins[1, b] += rx_bytes
        bins[2, b] += tx_bytes
        bins[3, b] = max(bins[3, b], rx_bytes)
        bins[4, b] = max(bins[4, b], tx_bytes)
        if last >= 0:
            gap = now - last
            bins[5, b] = max(bins[5, b], gap)
            gaps[63 - np.int64(leading_zeros(np.uint64(gap | 1)))] += 1
        last = now
    tally[LAST_NS], tally[BIN] = last, b
    return at


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
        ends: Where each queue ends.
        cores: The number of each queue's core.
        at: Where the output starts.
    Returns:
        Where the output ends. Equal times keep the order of the queues.
    """
    # A tournament without branches to mispredict: leaves are the queues' next times with the
    # queue's place in their low bits, and each inner node is the least of what is below it.
    leaves, shift = 1, 0
    while leaves < heads.size:
        leaves *= 2
        shift += 1
    least = np.full(2 * leaves, LATEST, np.int64)
    for i in range(heads.size):
        if heads[i] < ends[i]:
            least[leaves + i] = queues[i, heads[i], 0] << shift | i
    for node in range(leaves - 1, 0, -1):
        least[node] = min(least[2 * node], least[2 * node + 1])
    while at < out_t_ns.size and least[1] != LATEST:
        first = least[1] & (leaves - 1)
        head = heads[first]
        out_core[at] = cores[first]
        out_t_ns[at] = least[1] >> shift
        out_octets[0, at] = queues[first, head, 1]
        out_octets[1, at] = queues[first, head, 2]
        descriptors = queues[first, head, 3]
        out_descriptors[0, at] = descriptors & _INT32_MAX
        out_descriptors[1, at] = descriptors >> 32
        at += 1
        head += 1
        heads[first] = head
        now = queues[first, head, 0] << shift | first if head < ends[first] else LATEST
        node = leaves + first
        least[node] = now
        while node > 1:
            now = min(now, least[node ^ 1])
            node >>= 1
            least[node] = now
    return at


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
) -> None:
    """Turn counters into what they counted since the sample before of the same core.

    Args:
        samples: int64, shape (12, n), in time order: place of the core, then rows as `SAMPLED`.
        last: int64, shape (k, 11): each core's sample before; -1 as its time if there is none.
        is_total: Whether a row is a running total, shape (k, 11); else each sample has its own.
        energy_mask: The energy counter's bits, by which its steps wrap.
        steps: Output, int64, shape (11, n); 0 where `is_first`.
        is_first: Output, shape (n,): first of its core, which only starts the count.
        sums: int64, shape (k, 11), added to: of totals last less first, else all samples.
        falls: int64, shape (k, 11), added to: how often a counter ran backwards.
        edges: As in `cut_interrupts`.
        bins: int64, shape (k, 5, bins), added to: rows as `SAMPLE_BINS`, energy in counter steps.
    """
    b = 0
    for i in range(samples.shape[1]):
        core = samples[0, i]
        now = samples[1, i]
        while now >= edges[b + 1]:
            b += 1
        begins = last[core, 0] < 0
        is_first[i] = begins
        for row in range(samples.shape[0] - 1):
            value = samples[row + 1, i]
            step = np.int64(0)
            if not is_total[core, row]:
                sums[core, row] += value
                if not begins:
                    step = value
            elif not begins:
                step = value - last[core, row]
                falls[core, row] += step < 0
                if row == JOULES:
                    step &= energy_mask
                sums[core, row] += step
            steps[row, i] = step
            last[core, row] = value
        for row in range(bins.shape[1]):
            bins[core, row, b] += steps[_BINNED[row], i]
