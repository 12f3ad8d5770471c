"""Compiled loops that count values by size, one stretch of time at a time.

The counts of a core become int64 words: stretch, row, slot and count, from the highest bit down.
Only nonzero counts become words, and sorted words are in order of the stretches.
"""

from typing import Any, Final

import numpy as np

from data.analysis.log_bins import FINE_BITS, SLOTS
from ingest.files.compiled import compile_loop, compile_part
from ingest.files.machine_words import leading_zeros

# Rows of the counts: the quantity whose sizes they count.
GAP_SIZES: Final = 0
RX_SIZES: Final = 1
TX_SIZES: Final = 2
SIZE_ROWS: Final = 3
STRETCH_SHIFT: Final = 48
_ROW_SHIFT: Final = 44
_SLOT_SHIFT: Final = 32
_ROW_BITS: Final = STRETCH_SHIFT - _ROW_SHIFT
_SLOT_BITS: Final = _ROW_SHIFT - _SLOT_SHIFT


@compile_part
def slot_of(value: int) -> int:
    """Return the slot of a value, numbered as in `data.analysis.log_bins`."""
    # Without a branch: the least values have the octave of the first divided one.
    octave: Any = 63 - np.int64(leading_zeros(np.uint64(value | 1 << FINE_BITS)))
    coarse = octave - FINE_BITS
    return min((coarse << FINE_BITS) + (value >> coarse), SLOTS - 1)


@compile_part
def hand_out_sizes(sizes: np.ndarray, stretch: int, out: np.ndarray, at: int) -> int:
    """Convert the counts of a stretch to words and reset them to zero.

    Args:
        sizes: int64, shape (SIZE_ROWS, SLOTS).
        out: Output words, int64; must have room.
        at: Index of the first word.
    Returns:
        Index after the last word.
    """
    for row in range(SIZE_ROWS):
        for slot in range(SLOTS):
            if sizes[row, slot]:
                address = stretch << STRETCH_SHIFT | row << _ROW_SHIFT | slot << _SLOT_SHIFT
                out[at] = address | sizes[row, slot]
                sizes[row, slot] = 0
                at += 1
    return at


def words_of(sizes: np.ndarray, stretch: int) -> np.ndarray:
    """Return the words of a stretch's counts, as of `hand_out_sizes`."""
    row, slot = np.nonzero(sizes)
    address = stretch << STRETCH_SHIFT | row << _ROW_SHIFT | slot << _SLOT_SHIFT
    return address | sizes[row, slot]


def read_words(size_words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split words of `hand_out_sizes` into row, slot and count, int64 each."""
    row = size_words >> _ROW_SHIFT & ((1 << _ROW_BITS) - 1)
    slot = size_words >> _SLOT_SHIFT & ((1 << _SLOT_BITS) - 1)
    return row, slot, size_words & ((1 << _SLOT_SHIFT) - 1)


@compile_loop(
    *("int64[::1]", "int64[::1]", "int64[::1]", "int64", "int64[:, ::1]", "int64[:, ::1]"),
    results=1,
)
def join_words(
    size_words: np.ndarray,
    heads: np.ndarray,
    ends: np.ndarray,
    joined: int,
    out: np.ndarray,
    sizes: np.ndarray,
) -> int:
    """Sum the words of neighbouring stretches, sorted by time, core, row and slot.

    Args:
        size_words: The words of each core in turn, int64, rising within each core.
        heads: Start of each core's words; advanced to their ends.
        ends: End of each core's words.
        joined: Number of stretches that become one.
        out: int64, shape (5, words or more): joined stretch, core's index, row, slot, count.
        sizes: Room for the counts of a stretch, int64, shape (SIZE_ROWS, SLOTS), zeros.
    Returns:
        Number of columns of `out` that were filled.
    """
    at = 0
    while True:
        now = np.int64(-1)
        for core_index in range(heads.size):
            if heads[core_index] < ends[core_index]:
                stretch = (size_words[heads[core_index]] >> STRETCH_SHIFT) // joined
                now = stretch if now < 0 else min(now, stretch)
        if now < 0:
            return at
        limit = ((now + 1) * joined) << STRETCH_SHIFT
        for core_index in range(heads.size):
            head = heads[core_index]
            while head < ends[core_index] and size_words[head] < limit:
                word = size_words[head]
                row = word >> _ROW_SHIFT & ((1 << _ROW_BITS) - 1)
                slot = word >> _SLOT_SHIFT & ((1 << _SLOT_BITS) - 1)
                sizes[row, slot] += word & ((1 << _SLOT_SHIFT) - 1)
                head += 1
            if head == heads[core_index]:
                continue
            heads[core_index] = head
            for row in range(SIZE_ROWS):
                for slot in range(SLOTS):
                    if sizes[row, slot]:
                        out[0, at], out[1, at], out[2, at] = now, core_index, row
                        out[3, at], out[4, at] = slot, sizes[row, slot]
                        sizes[row, slot] = 0
                        at += 1
