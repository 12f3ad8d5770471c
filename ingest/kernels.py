"""The hot parser of per-interrupt text logs: one pass over the bytes, compiled, without the GIL.

Every good line is an interrupt; a line whose performance counters are not all 0 is a sample as
well. `ingest.formats.intlog` owns the buffers and gives the meaning; this module only reads bytes.
"""

from typing import Any, Final

import numpy as np
from numba import njit

from ingest.machine_words import load_word, trailing_zeros

# Rows of the fault table, by kind of bad line, in the order in which a line is judged.
FIELD_COUNT: Final = 0
NOT_DIGITS: Final = 1
NUMBER_RANGE: Final = 2
TIME_BACKWARDS: Final = 3
TIME_LEAP: Final = 4
FAULT_KINDS: Final = 5

# Columns of the fault table: how often, and the first one's line number, fields and bytes. A
# leap has its time stamp instead of the fields: its bytes may be gone when it is found out.
COUNT: Final = 0
LINE: Final = 1
FIELDS: Final = 2
START: Final = 3
END: Final = 4

# Slots of the state that lives from one block to the next.
LINES: Final = 0
ENTRIES: Final = 1
INTERRUPTS: Final = 2
SAMPLES: Final = 3
LAST_TSC: Final = 4
TSC_BEFORE: Final = 5
LAST_LINE: Final = 6
LAST_IS_SAMPLE: Final = 7
CORE_LINES: Final = 8
LAST_INDEX: Final = 9
STATE_SLOTS: Final = 10

# A step of more ticks than this (95 s at 2.9 GHz) that the next line takes back was no step in
# time but a damaged number: without this rule it would condemn every line after it.
LEAP_TICKS: Final = 1 << 38

_MAX_DIGITS: Final = 19
_MAX_INT64: Final = (1 << 63) - 1
_SPACE, _TAB, _CR, _LF = 32, 9, 13, 10
_ZERO = 48
_OPEN, _CLOSE = 91, 93

# Eight bytes at once. A plain line is digits with one blank between; it reads at most this far.
_LONGEST_PLAIN_LINE: Final = 17 * 20 + 16
_ZEROS: Final = np.uint64(0x3030303030303030)
_LOW_BITS: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_TO_HIGH_BIT: Final = np.uint64(0x7676767676767676)
_HIGH_BITS: Final = np.uint64(0x8080808080808080)
_FOUR_ZERO_FIELDS: Final = np.uint64(0x2030203020302030)
_ONES: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_POWERS: Final = 10 ** np.arange(9, dtype=np.uint64)


def new_state() -> tuple[np.ndarray, np.ndarray]:
    """Make the state and the fault table for a new log, both int64 and zero."""
    state = np.zeros(STATE_SLOTS, np.int64)
    state[LAST_TSC] = state[TSC_BEFORE] = -1
    return state, np.zeros((FAULT_KINDS, 5), np.int64)


@njit(nogil=True, cache=True, inline="always")
def _is_blank(byte: int) -> bool:
    return byte in (_SPACE, _TAB, _CR)


@njit(nogil=True, cache=True)
def _skip_prefix(data: np.ndarray, at: int) -> int:
    """Step over leading blanks and a kernel prefix such as `[ 2283.800345] `, if it is whole."""
    while _is_blank(data[at]):
        at += 1
    if data[at] != _OPEN:
        return at
    close = at
    while data[close] != _CLOSE:
        if data[close] == _LF:
            return at
        close += 1
    close += 1
    while _is_blank(data[close]):
        close += 1
    return close


@njit(nogil=True, cache=True)
def _is_core_line(data: np.ndarray, at: int) -> bool:
    """Whether `Core=` stands here; the newline ends the comparison before the buffer does."""
    c, o, r, e, equals = 67, 111, 114, 101, 61
    return (
        data[at] == c
        and data[at + 1] == o
        and data[at + 2] == r
        and data[at + 3] == e
        and data[at + 4] == equals
    )


@njit(nogil=True, cache=True)
def _blame(faults: np.ndarray, kind: int, line: int, fields: int, start: int, end: int) -> None:
    if faults[kind, COUNT] == 0:
        faults[kind, LINE] = line
        faults[kind, FIELDS] = fields
        faults[kind, START] = start
        faults[kind, END] = end
    faults[kind, COUNT] += 1


@njit(nogil=True, cache=True, inline="always")
def _digits_in(word: Any) -> Any:
    """How many of a word's bytes, from its low end, are digits; `word` has '0' taken off each."""
    other = (((word & _LOW_BITS) + _TO_HIGH_BIT) | word) & _HIGH_BITS
    return np.int64(trailing_zeros(other) >> np.uint64(3))


@njit(nogil=True, cache=True, inline="always")
def _number_of(word: Any, digits: Any) -> Any:
    """The number that the first 1 to 8 digits of a word spell."""
    word = word << np.uint64(64 - 8 * digits)
    word = (word * np.uint64(2561)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    word = (word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)
    return word >> np.uint64(32)


@njit(nogil=True, cache=True, inline="always")
def _read_number(data: np.ndarray, at: int) -> tuple[Any, int]:
    """A number of 1 to 18 digits and where it ends; -1 for the end where there is none such."""
    word = load_word(data, at) ^ _ZEROS
    digits = _digits_in(word)
    if digits == 0:
        return 0, -1
    value = _number_of(word, digits)
    at += digits
    if digits == 8:
        word = load_word(data, at) ^ _ZEROS
        digits = _digits_in(word)
        if digits:
            value = value * _POWERS[digits] + _number_of(word, digits)
            at += digits
        if digits == 8:
            digit = np.uint8(data[at] - _ZERO)
            while digit <= 9:
                digits += 1
                if digits > 10:
                    return 0, -1
                value = value * np.uint64(10) + np.uint64(digit)
                at += 1
                digit = np.uint8(data[at] - _ZERO)
    return np.int64(value), at


@njit(nogil=True, cache=True)
def _read_plain_line(data: np.ndarray, at: int, columns: int, values: np.ndarray) -> int:
    """Read a line of plain numbers, one blank between two; all but 1 in 10,000 lines are such.

    Returns:
        Where the next line starts; -1 if this one is anything else and must be read with care.
    """
    for column in range(5):
        value, at = _read_number(data, at)
        if at < 0 or data[at] != _SPACE:
            return -1
        values[column] = value
        at += 1
    # What is not sampled is `0 0 0 0 0 0 0 0 0 0 `: two words and what is left of a third.
    rest = columns - 14
    is_zero = load_word(data, at) == _FOUR_ZERO_FIELDS
    is_zero &= load_word(data, at + 8) == _FOUR_ZERO_FIELDS
    mask = ~(_ONES << np.uint64(16 * rest)) if rest else np.uint64(0)
    is_zero &= (load_word(data, at + 16) & mask) == (_FOUR_ZERO_FIELDS & mask)
    if is_zero:
        for column in range(5, columns - 1):
            values[column] = 0
        at += 2 * (columns - 6)
    else:
        for column in range(5, columns - 1):
            value, at = _read_number(data, at)
            if at < 0 or data[at] != _SPACE:
                return -1
            values[column] = value
            at += 1
    value, at = _read_number(data, at)
    if at < 0:
        return -1
    values[columns - 1] = value
    if data[at] == _CR:
        at += 1
    return at + 1 if data[at] == _LF else -1


@njit(nogil=True, cache=True)
def parse_counter_lines(
    data: np.ndarray,
    end: int,
    columns: int,
    interrupts: np.ndarray,
    samples: np.ndarray,
    state: np.ndarray,
    faults: np.ndarray,
) -> None:
    """Parse whole lines of a per-interrupt log into the column buffers.

    Args:
        data: Bytes, uint8; `data[end - 1]` is a newline, so that no loop needs a bound.
        end: How many bytes of `data` to read.
        columns: Fields of a good line: `i`, four NIC columns, four performance counters, the
            sleep states of the variant, joules, time stamp.
        interrupts: int64, shape (5, room): time stamp, then the four NIC columns. There must be
            room for `end // (2 * columns)` more.
        samples: int64, shape (columns - 5, room), same room: time stamp, the counters, the sleep
            states, joules.
        state: From `new_state`; says how much of the buffers is filled.
        faults: From `new_state`; the bytes of a first fault are offsets into this `data`.
    """
    values = np.empty(columns, np.int64)
    line, entries = state[LINES], state[ENTRIES]
    filled, sampled = state[INTERRUPTS], state[SAMPLES]
    last, before = state[LAST_TSC], state[TSC_BEFORE]
    at = 0
    last_plain_start = data.size - _LONGEST_PLAIN_LINE
    while at < end:
        if at <= last_plain_start:
            after = _read_plain_line(data, at, columns, values)
            tsc = values[columns - 1]
            if after > 0 and tsc >= last:
                line += 1
                entries += 1
                before, last = last, tsc
                interrupts[0, filled] = tsc
                for column in range(1, 5):
                    interrupts[column, filled] = values[column]
                filled += 1
                is_sample = (values[5] | values[6] | values[7] | values[8]) != 0
                if is_sample:
                    samples[0, sampled] = tsc
                    for column in range(5, columns - 1):
                        samples[column - 4, sampled] = values[column]
                    sampled += 1
                state[LAST_LINE] = line
                state[LAST_INDEX] = values[0]
                state[LAST_IS_SAMPLE] = is_sample
                at = after
                continue
        line += 1
        at = start = _skip_prefix(data, at)
        first = data[at]
        if first == _LF:
            at += 1
            continue
        fields = 0
        is_digits = True
        is_too_large = False
        while data[at] != _LF:
            value = np.uint64(0)
            field = at
            digit = np.uint8(data[at] - _ZERO)
            while digit <= 9:
                value = value * np.uint64(10) + np.uint64(digit)
                at += 1
                digit = np.uint8(data[at] - _ZERO)
            byte = data[at]
            if byte != _SPACE and byte != _LF and byte != _TAB and byte != _CR:
                is_digits = False
                while data[at] != _LF and not _is_blank(data[at]):
                    at += 1
            elif at - field > _MAX_DIGITS or value > np.uint64(_MAX_INT64):
                is_too_large = True
            if fields < columns:
                values[fields] = np.int64(value)
            fields += 1
            while _is_blank(data[at]):
                at += 1
        at += 1
        if not is_digits and first > 57:
            if _is_core_line(data, start):
                state[CORE_LINES] += 1
                continue
            if first == 105 and fields > 1 and _is_blank(data[start + 1]):
                continue
        entries += 1
        if fields != columns:
            _blame(faults, FIELD_COUNT, line, fields, start, at - 1)
            continue
        if not is_digits:
            _blame(faults, NOT_DIGITS, line, fields, start, at - 1)
            continue
        if is_too_large:
            _blame(faults, NUMBER_RANGE, line, fields, start, at - 1)
            continue
        tsc = values[columns - 1]
        if tsc < last:
            if before < 0 or tsc < before or last - before <= LEAP_TICKS:
                _blame(faults, TIME_BACKWARDS, line, fields, start, at - 1)
                continue
            _blame(faults, TIME_LEAP, state[LAST_LINE], last, start, at - 1)
            filled -= 1
            sampled -= state[LAST_IS_SAMPLE]
            last = before
        before, last = last, tsc
        interrupts[0, filled] = tsc
        for column in range(1, 5):
            interrupts[column, filled] = values[column]
        filled += 1
        is_sample = (values[5] | values[6] | values[7] | values[8]) != 0
        if is_sample:
            samples[0, sampled] = tsc
            for column in range(5, columns - 1):
                samples[column - 4, sampled] = values[column]
            sampled += 1
        state[LAST_LINE] = line
        state[LAST_INDEX] = values[0]
        state[LAST_IS_SAMPLE] = is_sample
    state[LINES], state[ENTRIES] = line, entries
    state[INTERRUPTS], state[SAMPLES] = filled, sampled
    state[LAST_TSC], state[TSC_BEFORE] = last, before
