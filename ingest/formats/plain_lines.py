"""A fast path for plain lines of per-interrupt logs: digits with single blanks between fields.

Nearly all lines are plain; `ingest.formats.line_parser` parses the others byte by byte.
"""

from typing import Any, Final

import numpy as np

from ingest.files.compiled import compile_inlined
from ingest.files.machine_words import byte_masks, load_word, trailing_zeros

_SPACE, _CR, _LF = 32, 13, 10
# The search for the end of a plain line reads 64 bytes at once and stops at this length.
_LONGEST_PLAIN_LINE: Final = 6 * 64
PLAIN_LINE_REACH: Final = _LONGEST_PLAIN_LINE + 16
_ZEROS: Final = np.uint64(0x3030303030303030)
_ONES: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE: Final = np.uint64(1)
_EVERY_OTHER_BIT: Final = np.uint64(0x5555555555555555)
_POWERS: Final = 10 ** np.arange(9, dtype=np.uint64)


@compile_inlined
def _number_of(word: Any, digits: Any) -> Any:
    """Return the number in the first 1 to 8 digits of a word."""
    word = word << np.uint64(64 - 8 * digits)
    word = (word * np.uint64(2561)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    word = (word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)
    return word >> np.uint64(32)


@compile_inlined
def _any_number(data: np.ndarray, at: Any, digits: Any) -> Any:
    """Return the number at an index that is known to hold 1 to 16 digits."""
    second = max(digits, 8) - 8
    value = _number_of(load_word(data, at) ^ _ZEROS, digits - second)
    # Two shifts: in LLVM a shift by the full width of a word is undefined.
    half = np.uint64(32 - 4 * second)
    word = ((load_word(data, at + 8) ^ _ZEROS) << half) << half
    return np.int64(value * _POWERS[second] + _number_of(word, 8))


@compile_inlined
def _short_number(data: np.ndarray, at: Any, end: Any) -> Any:
    """Return the number at an index that is known to hold 1 to 8 digits."""
    return np.int64(_number_of(load_word(data, at) ^ _ZEROS, end - at))


@compile_inlined
def read_unsampled_line(
    data: np.ndarray, at: int, columns: int, interrupts: np.ndarray, column: int
) -> Any:
    """Parse a plain line without counters that ends within 64 bytes.

    Finds the ends of all fields at once, as bits of a word.

    Args:
        at: Index of the line's start; 64 bytes from there must be readable.
        column: Column of `interrupts` to write; its content is undefined after a failure.
    Returns:
        Index of the next line; -1 if this line has another form.
    """
    others, blanks, newlines, zeros = byte_masks(data, at)
    newline = newlines & (~newlines + _ONE)
    breaks = others & (newline | (newline - _ONE))
    first = breaks
    second = first & (first - _ONE)
    third = second & (second - _ONE)
    fourth = third & (third - _ONE)
    fifth = fourth & (fourth - _ONE)
    if newline == 0 or fifth == 0:
        return -1
    end = newline
    if breaks & ~blanks != newline:
        end = newline >> _ONE
        if data[at + np.int64(trailing_zeros(end))] != _CR:
            return -1
        breaks ^= newline
    # After the fifth field come single `0` digits with a blank around each, then the time stamp.
    rest = np.uint64(2 * (columns - 6))
    index_end = np.int64(trailing_zeros(first))
    nic_end = trailing_zeros(fifth)
    is_plain = breaks & ~blanks == end
    is_plain &= breaks & (breaks << _ONE | _ONE) == 0
    alternating = _EVERY_OTHER_BIT & ~(_ONES << rest)
    is_plain &= (zeros >> nic_end >> _ONE) & alternating == alternating
    tail = breaks >> nic_end
    is_plain &= tail & ~(_ONES << (rest + _ONE)) == (alternating | _ONE << rest)
    is_plain &= (breaks & ~end) >> nic_end >> rest == _ONE
    ends_1, ends_2 = np.int64(trailing_zeros(second)), np.int64(trailing_zeros(third))
    ends_3, ends_4 = np.int64(trailing_zeros(fourth)), np.int64(nic_end)
    longest = max(max(ends_1 - index_end, ends_2 - ends_1), max(ends_3 - ends_2, ends_4 - ends_3))
    tsc_end = np.int64(trailing_zeros(end))
    tsc_digits = tsc_end - ends_4 - np.int64(rest) - 1
    is_plain &= longest <= 9 and index_end <= 18 and 8 < tsc_digits <= 16
    if not is_plain:
        return -1
    interrupts[1, column] = _short_number(data, at + index_end + 1, at + ends_1)
    interrupts[2, column] = _short_number(data, at + ends_1 + 1, at + ends_2)
    interrupts[3, column] = _short_number(data, at + ends_2 + 1, at + ends_3)
    interrupts[4, column] = _short_number(data, at + ends_3 + 1, at + ends_4)
    low = _number_of(load_word(data, at + tsc_end - 8) ^ _ZEROS, 8)
    high = _number_of(load_word(data, at + tsc_end - tsc_digits) ^ _ZEROS, tsc_digits - 8)
    interrupts[0, column] = np.int64(high * np.uint64(100_000_000) + low)
    return at + np.int64(trailing_zeros(newline)) + 1


@compile_inlined
def read_plain_line(data: np.ndarray, at: int, columns: int, values: np.ndarray) -> Any:
    """Parse a plain line of any kind, such as one with counters.

    The index and the NIC fields have at most 9 digits here, which `line_parser.LARGEST` allows.

    Args:
        at: Index of the line's start; `PLAIN_LINE_REACH` bytes from there must be readable.
    Returns:
        Index of the next line; -1 if this line has another form.
    """
    reached: Any = at
    end: Any = at
    breaks, _, _, _ = byte_masks(data, reached)
    for column in range(columns):
        while breaks == 0:
            reached += 64
            if reached > at + _LONGEST_PLAIN_LINE - 64:
                return -1
            breaks, _, _, _ = byte_masks(data, reached)
        begin, end = end, reached + np.int64(trailing_zeros(breaks))
        breaks &= breaks - _ONE
        most_digits = 16 if column > 4 else 9
        if not 0 < end - begin <= most_digits or (data[end] != _SPACE and column < columns - 1):
            return -1
        values[column] = _any_number(data, begin, end - begin)
        end += 1
    end -= 1
    if data[end] == _CR:
        end += 1
    return end + 1 if data[end] == _LF else -1
