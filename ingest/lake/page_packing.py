"""Compiled loops that pack a column's values for a Parquet page.

Source: Apache Parquet, "Encodings" (DELTA_BINARY_PACKED, RLE / bit-packing hybrid,
BYTE_STREAM_SPLIT).
"""

from typing import Any, Final

import numpy as np
from numba import njit

from ingest.files.machine_words import leading_zeros, store_word

# Of DELTA_BINARY_PACKED: values that share a least step, and those that share a width.
BLOCK_VALUES: Final = 128
MINIBLOCK_VALUES: Final = 32
_MINIBLOCKS: Final = BLOCK_VALUES // MINIBLOCK_VALUES
# What `pack_bits` may write beyond what it packs, and the bits it can take at once.
SLACK_BYTES: Final = 16
_MOST_BITS: Final = 56


def room_for_deltas(count: int) -> int:
    """Bytes that suffice for so many values packed by `pack_deltas`."""
    blocks = -(-count // BLOCK_VALUES)
    return 40 + blocks * (10 + _MINIBLOCKS + 8 * BLOCK_VALUES) + SLACK_BYTES


@njit(nogil=True, cache=True)
def write_varint(out: np.ndarray, at: Any, value: Any) -> Any:
    """Write an unsigned number, 7 bits a byte; gives where it ends."""
    rest = np.uint64(value)
    while rest >= np.uint64(128):
        out[at] = np.uint8(rest & np.uint64(127)) | np.uint8(128)
        rest >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(rest)
    return at + 1


@njit(nogil=True, cache=True)
def _write_signed(out: np.ndarray, at: Any, value: Any) -> Any:
    return write_varint(out, at, np.uint64((value << 1) ^ (value >> 63)))


@njit(nogil=True, cache=True)
def pack_bits(values: np.ndarray, width: int, out: np.ndarray, at: Any) -> Any:
    """Write an even count of values, uint64, one after the other at so many bits each.

    Returns:
        Where they end; the last byte is padded with zeros, and bytes behind it are overwritten.
    """
    bits, held = np.uint64(0), np.uint64(0)
    wide = np.uint64(width)
    if 2 * width <= _MOST_BITS:
        for i in range(0, values.size, 2):
            bits |= (values[i] | values[i + 1] << wide) << held
            store_word(out, at, bits)
            held += wide + wide
            at += np.int64(held >> np.uint64(3))
            bits >>= held & ~np.uint64(7) & np.uint64(63)
            held &= np.uint64(7)
    elif width <= _MOST_BITS:
        for i in range(values.size):
            bits |= values[i] << held
            store_word(out, at, bits)
            held += wide
            at += np.int64(held >> np.uint64(3))
            bits >>= held & ~np.uint64(7) & np.uint64(63)
            held &= np.uint64(7)
    else:
        for i in range(values.size):
            low, high = values[i] & np.uint64(0xFFFFFFFF), values[i] >> np.uint64(32)
            for part, taken in ((low, np.uint64(32)), (high, wide - np.uint64(32))):
                bits |= part << held
                store_word(out, at, bits)
                held += taken
                at += np.int64(held >> np.uint64(3))
                bits >>= held & ~np.uint64(7) & np.uint64(63)
                held &= np.uint64(7)
    return at + (held > 0)


@njit(nogil=True, cache=True)
def pack_deltas(values: np.ndarray, out: np.ndarray) -> Any:
    """Pack whole numbers as DELTA_BINARY_PACKED.

    Args:
        values: int64, shape (n,).
        out: uint8, `room_for_deltas(n)` of it.
    Returns:
        How many bytes were written.
    """
    at = write_varint(out, 0, BLOCK_VALUES)
    at = write_varint(out, at, _MINIBLOCKS)
    at = write_varint(out, at, values.size)
    at = _write_signed(out, at, values[0] if values.size else 0)
    steps = np.empty(BLOCK_VALUES, np.int64)
    over = np.empty(BLOCK_VALUES, np.uint64)
    for first in range(1, values.size, BLOCK_VALUES):
        count = min(BLOCK_VALUES, values.size - first)
        for i in range(count):
            steps[i] = values[first + i] - values[first + i - 1]
        least = steps[0]
        for i in range(1, count):
            least = min(least, steps[i])
        for i in range(count):
            over[i] = np.uint64(steps[i] - least)
        over[count:] = 0
        at = _write_signed(out, at, least)
        widths_at = at
        at += _MINIBLOCKS
        for mini in range(_MINIBLOCKS):
            part = over[mini * MINIBLOCK_VALUES : (mini + 1) * MINIBLOCK_VALUES]
            every = np.uint64(0)
            for i in range(MINIBLOCK_VALUES):
                every |= part[i]
            width: Any = 64 - np.int64(leading_zeros(every))
            out[widths_at + mini] = width
            if width:
                at = pack_bits(part, width, out, at)
    return at


@njit(nogil=True, cache=True)
def split_bytes(values: np.ndarray, planes: np.ndarray) -> None:
    """Part the bytes of values by their place, as BYTE_STREAM_SPLIT.

    Args:
        values: int64 or int32, shape (n,).
        planes: Output, uint8, shape (8 or 4, n), lowest bytes first.
    """
    every = np.uint64(0)
    for i in range(values.size):
        every |= np.uint64(values[i])
    for plane in range(planes.shape[0]):
        shift = np.uint64(8 * plane)
        row = planes[plane]
        if every >> shift == 0:
            row[:] = 0
            continue
        for i in range(values.size):
            row[i] = np.uint8((np.uint64(values[i]) >> shift) & np.uint64(255))


@njit(nogil=True, cache=True)
def find_ends(values: np.ndarray) -> tuple[int, int]:
    """The least and the most of some whole numbers, one at least."""
    least = most = values[0]
    for i in range(values.size):
        least, most = min(least, values[i]), max(most, values[i])
    return least, most


@njit(nogil=True, cache=True)
def count_from(values: np.ndarray, least: int, out: np.ndarray) -> None:
    """Write by how much each value is over the least, under 256, into uint8."""
    for i in range(values.size):
        out[i] = np.uint8((values[i] - least) & 255)


@njit(nogil=True, cache=True)
def number_values(values: np.ndarray, least: int, numbers: np.ndarray, out: np.ndarray) -> int:
    """Number the values that occur, rising, and replace each by its number, if they are few.

    Args:
        values: int64 or int32, shape (n,).
        numbers: Room for work, int32, one a number from `least` to the most; must be -1.
        out: Output, uint8, shape (n,).
    Returns:
        How many values occur; -1 if over 256. `numbers` then has them at 0 or above.
    """
    found = 0
    for i in range(values.size):
        place = values[i] - least
        found += numbers[place] < 0
        if found > 256:
            return -1
        numbers[place] = 0
    count = 0
    for place in range(numbers.size):
        if numbers[place] >= 0:
            numbers[place] = count
            count += 1
    for i in range(values.size):
        out[i] = numbers[values[i] - least]
    return count
