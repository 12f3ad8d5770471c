"""Logarithmic bins for times and sizes: eight bins for each doubling, at most 12.5 % wide.

Values below 8 have a slot each. From 8 on, slot `8 (m - 3) + j` with j in 8..15 holds the values
from j 2^(m-3) to below (j + 1) 2^(m-3), where m is the highest bit set. The last slot has no end.
The layout is that of Gil Tene's high dynamic range histograms (HdrHistogram), with 3 bits.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

FINE_BITS: Final = 3
SLOTS: Final = 320
# Half width of what counts as at the interrupt delay, as a share of it.
LIMIT_SHARE: Final = 0.05
_IDENTITY: Final = 1 << FINE_BITS
# The top 15 bits of a float64 are its exponent and the three bits below it.
_SHIFT: Final = 52 - FINE_BITS
_OFFSET: Final = ((1023 + FINE_BITS) << FINE_BITS) - _IDENTITY


def slot_of(values: np.ndarray) -> np.ndarray:
    """Return the bin number of each value.

    Args:
        values: Whole numbers from 0 to below 2**53, any shape.

    Returns:
        int64, the same shape, each from 0 to below SLOTS.
    """
    tops = (np.asarray(values, np.float64).view(np.int64) >> _SHIFT) - _OFFSET
    return np.minimum(np.where(values < _IDENTITY, values, tops), SLOTS - 1)


def slot_starts(slots: np.ndarray | Sequence[int] | None = None) -> np.ndarray:
    """Return the smallest value of each bin, int64; by default of all SLOTS and of the next one."""
    slot = np.arange(SLOTS + 1, dtype=np.int64) if slots is None else np.asarray(slots, np.int64)
    octave = np.maximum((slot >> FINE_BITS) - 1, 0)
    fine = np.where(slot < _IDENTITY, slot, (slot & (_IDENTITY - 1)) | _IDENTITY)
    starts: np.ndarray = fine << octave
    return starts


def slots_near(value: float, share: float) -> tuple[int, int]:
    """Return the range of bins that a value's neighbourhood overlaps.

    Args:
        value: Positive.
        share: Half width of the neighbourhood, as a share of the value.

    Returns:
        The first slot, and the slot after the last.
    """
    ends = np.array([value * (1 - share), value * (1 + share)])
    first, last = slot_of(np.floor(ends).astype(np.int64))
    return int(first), int(last) + 1
