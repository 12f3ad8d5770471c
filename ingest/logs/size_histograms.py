"""Compiled loops that count values by their size, a stretch of time at a time.

What a core counted in a stretch becomes words: stretch, row, slot and count, from the highest bit
down. So they are few where little happens, and their order is that of the stretches.
"""

from typing import Any, Final

import numpy as np
from numba import njit

from data.analysis.log_bins import FINE_BITS, SLOTS
from ingest.files.machine_words import leading_zeros

# Rows of counts: whose sizes they are of.
GAP_SIZES: Final = 0
RX_SIZES: Final = 1
TX_SIZES: Final = 2
SIZE_ROWS: Final = 3
STRETCH_SHIFT: Final = 48
_ROW_SHIFT: Final = 44
_SLOT_SHIFT: Final = 32
_ROW_BITS: Final = STRETCH_SHIFT - _ROW_SHIFT
_SLOT_BITS: Final = _ROW_SHIFT - _SLOT_SHIFT


@njit(nogil=True)
def slot_of(value: int) -> int:
    """The slot of a value, as `data.analysis.log_bins` numbers them."""
    if value < 1 << FINE_BITS:
        return value
    octave: Any = 63 - np.int64(leading_zeros(np.uint64(value)))
    fine = value >> (octave - FINE_BITS)
    slot = ((octave - FINE_BITS) << FINE_BITS) + fine
    return slot if slot < SLOTS else SLOTS - 1


@njit(nogil=True, cache=True)
def hand_out_sizes(sizes: np.ndarray, stretch: int, out: np.ndarray, at: int) -> int:
    """Turn the counts of a stretch into words and begin again at zero.

    Args:
        sizes: int64, shape (SIZE_ROWS, SLOTS).
        out: Words, int64; there must be room.
        at: Where they begin.
    Returns:
        Where they end.
    """
    for row in range(SIZE_ROWS):
        for slot in range(SLOTS):
            if sizes[row, slot]:
                place = stretch << STRETCH_SHIFT | row << _ROW_SHIFT | slot << _SLOT_SHIFT
                out[at] = place | sizes[row, slot]
                sizes[row, slot] = 0
                at += 1
    return at


def read_words(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, slot and count of what `hand_out_sizes` gave, int64 each."""
    row = words >> _ROW_SHIFT & ((1 << _ROW_BITS) - 1)
    slot = words >> _SLOT_SHIFT & ((1 << _SLOT_BITS) - 1)
    return row, slot, words & ((1 << _SLOT_SHIFT) - 1)


@njit(nogil=True, cache=True)
def join_words(
    words: np.ndarray, heads: np.ndarray, ends: np.ndarray, joined: int, out: np.ndarray
) -> int:
    """Add up the words of neighbouring stretches, by time, then core, row and slot.

    Args:
        words: Of one core after the other, int64, rising within each.
        heads: Where each core's words start; moved to their ends.
        ends: Where each core's words end.
        joined: How many stretches become one.
        out: int64, shape (5, words at most): joined stretch, core's place, row, slot, count.
    Returns:
        How many columns of `out` were filled.
    """
    sizes = np.zeros((SIZE_ROWS, SLOTS), np.int64)
    at = 0
    while True:
        now = np.int64(-1)
        for place in range(heads.size):
            if heads[place] < ends[place]:
                stretch = (words[heads[place]] >> STRETCH_SHIFT) // joined
                now = stretch if now < 0 else min(now, stretch)
        if now < 0:
            return at
        limit = ((now + 1) * joined) << STRETCH_SHIFT
        for place in range(heads.size):
            head = heads[place]
            while head < ends[place] and words[head] < limit:
                word = words[head]
                row = word >> _ROW_SHIFT & ((1 << _ROW_BITS) - 1)
                slot = word >> _SLOT_SHIFT & ((1 << _SLOT_BITS) - 1)
                sizes[row, slot] += word & ((1 << _SLOT_SHIFT) - 1)
                head += 1
            if head == heads[place]:
                continue
            heads[place] = head
            for row in range(SIZE_ROWS):
                for slot in range(SLOTS):
                    if sizes[row, slot]:
                        out[0, at], out[1, at], out[2, at] = now, place, row
                        out[3, at], out[4, at] = slot, sizes[row, slot]
                        sizes[row, slot] = 0
                        at += 1
