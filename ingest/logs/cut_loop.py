"""Compiled loops that cut the rows of one core to the window and count them."""

from typing import Any, Final

import numpy as np

from ingest.files.compiled import compile_loop, compile_part
from ingest.logs.row_layout import LATEST, MAX_GAP, MIN_GAP
from ingest.logs.size_histograms import GAP_SIZES, RX_SIZES, TX_SIZES, hand_out_sizes, slot_of

# Slots of the state that `cut_interrupts` keeps for a core between calls.
LAST_NS: Final = 0
BIN: Final = 1
STRETCH: Final = 2
# The sum of each of the four NIC columns.
FIRST_SUM: Final = 3
TALLY_SLOTS: Final = 7


@compile_part
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


@compile_loop(
    *("int64[:, :]", "int64", "float64", "int64[:, ::1]", "int64", "int64[::1]"),
    *("int64[:, ::1]", "int64[::1]", "int64[::1]", "int64[:, ::1]", "int64[::1]"),
    "int64[:, ::1]",
    results=2,
)
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
    size_words: np.ndarray,
    desc_sizes: np.ndarray,
) -> tuple[int, int]:
    """Append one core's rows within the window to its queue and count them.

    Args:
        raw: Time stamp and the four NIC columns, int64, shape (5, n), in time order; all within
            the window. Readers refuse descriptors beyond 31 bits.
        queue: int64, shape (room, 4): time, bytes received, bytes sent, and the descriptors, the
            received ones in the low half. A row is half a cache line, since merging reads the
            queues in turn.
        at: End of the queue.
        edges: First nanosecond of each bin, then `LATEST` as the end of the last.
        bins: int64, shape (7, bins), rows as `INTERRUPT_BINS`. The shortest gap counts in the bin
            of its later interrupt, the longest in all bins that it touches. The first interrupt
            ends no gap.
        tally: int64, shape (TALLY_SLOTS,), zeros but for `LAST_NS`, which is -1.
        stretches: As `edges`, for the stretches of the histograms.
        sizes: int64, shape (SIZE_ROWS, SLOTS): counts of the current stretch.
        size_words: int64, shape (SIZE_ROWS * (n + SLOTS),): output, counts of completed stretches.
        desc_sizes: int64, shape (2, SLOTS), added to: descriptors received and sent.
    Returns:
        New end of the queue, and number of words.
    """
    last, b, stretch = tally[LAST_NS], tally[BIN], tally[STRETCH]
    word_count: Any = np.int64(0)
    rx_descs, rx_total = tally[FIRST_SUM], tally[FIRST_SUM + 1]
    tx_descs, tx_total = tally[FIRST_SUM + 2], tally[FIRST_SUM + 3]
    # The current bin is kept in registers and written when it is complete.
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
        queue[at, 3] = tx_desc << 32 | rx_desc
        at += 1
        rx_descs += rx_desc
        rx_total += rx_bytes
        tx_descs += tx_desc
        tx_total += tx_bytes
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
            word_count = hand_out_sizes(sizes, stretch, size_words, word_count)
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
        desc_sizes[0, slot_of(rx_desc)] += 1
        desc_sizes[1, slot_of(tx_desc)] += 1
        if last >= 0:
            gap = now - last
            gap_least = max(gap_least, LATEST - gap)
            sizes[GAP_SIZES, slot_of(gap)] += 1
        last = now
    _put_bin(bins, b, count, rx_sum, tx_sum, rx_most, tx_most, gap_least, gap_most)
    tally[LAST_NS], tally[BIN], tally[STRETCH] = last, b, stretch
    tally[FIRST_SUM], tally[FIRST_SUM + 1] = rx_descs, rx_total
    tally[FIRST_SUM + 2], tally[FIRST_SUM + 3] = tx_descs, tx_total
    return at, word_count


@compile_loop("int64[:, :]", "int64[::1]", "int64", "float64", "int64", "int64[:, ::1]")
def cut_samples(
    raw: np.ndarray,
    rows: np.ndarray,
    start_tsc: int,
    ns_per_tick: float,
    core_index: int,
    samples: np.ndarray,
) -> None:
    """Copy one core's samples to rows.

    Args:
        raw: Time stamp and the log's sample columns, int64, shape (k, n), in time order; all within
            the window.
        rows: Row in `raw` of each of `SAMPLED` but the first, int64; below 0 if it is missing.
        core_index: The core's index among the run's.
        samples: Output, input for `step_samples`, int64, shape (n, 12); 0 where `raw` has no row.
    """
    for i in range(samples.shape[0]):
        samples[i, 0] = core_index
        samples[i, 1] = np.int64(np.rint((raw[0, i] - start_tsc) * ns_per_tick))
    for at in range(rows.size):
        for i in range(samples.shape[0]):
            samples[i, 2 + at] = raw[rows[at], i] if rows[at] >= 0 else np.int64(0)
