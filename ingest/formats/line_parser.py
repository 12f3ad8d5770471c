"""Compiled parser of per-interrupt text logs: one pass over the bytes, without the GIL.

Each good line is an interrupt; a line with a nonzero performance counter is a sample as well.
`ingest.formats.counter_lines` owns the buffers; this module only reads bytes.
"""

from typing import Any, Final

import numpy as np

from ingest.files.compiled import compile_inlined, compile_loop, compile_part
from ingest.formats.plain_lines import PLAIN_LINE_REACH, read_plain_line, read_unsampled_line
from ingest.records import LARGEST_STEP

# Rows of the fault table, by kind of bad line, in the order of the checks.
FIELD_COUNT: Final = 0
NOT_DIGITS: Final = 1
NUMBER_RANGE: Final = 2
FAULT_KINDS: Final = 3

# Columns of the fault table: count, and line number, fields and byte range of the first fault.
COUNT: Final = 0
LINE: Final = 1
FIELDS: Final = 2
START: Final = 3
END: Final = 4

# Slots of the state that is kept between blocks.
LINES: Final = 0
ENTRIES: Final = 1
INTERRUPTS: Final = 2
SAMPLES: Final = 3
CORE_LINES: Final = 4
LAST_INDEX: Final = 5
STATE_SLOTS: Final = 6

# Rows of the interrupts: time stamp, four NIC columns, and ORIGIN: twice the line number, plus 1
# for a sample. ORIGIN tells whether a dropped row has a sample, and names its line.
NIC_ROWS: Final = 5
ORIGIN: Final = 5
INTERRUPT_ROWS: Final = 6

MAX_DIGITS: Final = 19
# Largest values of the first fields of a line: the index, then descriptors and bytes received and
# sent; then of each other field. `interrupts` holds descriptors in 31 bits.
_MAX_INT31, _MAX_INT63 = (1 << 31) - 1, (1 << 63) - 1
LARGEST: Final = np.array(
    [_MAX_INT63, _MAX_INT31, LARGEST_STEP, _MAX_INT31, LARGEST_STEP, _MAX_INT63], np.uint64
)
_SPACE, _TAB, _CR, _LF = 32, 9, 13, 10
_ZERO = 48
_OPEN, _CLOSE = 91, 93


def new_state() -> tuple[np.ndarray, np.ndarray]:
    """Create the state and the fault table of a new log, both int64 and zero."""
    return np.zeros(STATE_SLOTS, np.int64), np.zeros((FAULT_KINDS, 5), np.int64)


@compile_inlined
def _is_blank(byte: int) -> bool:
    return byte in (_SPACE, _TAB, _CR)


@compile_part
def _skip_prefix(data: np.ndarray, at: Any) -> Any:
    """Return the index after leading blanks and a complete prefix such as `[ 2283.800345] `."""
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


@compile_part
def _is_core_line(data: np.ndarray, at: int) -> bool:
    """Return whether `Core=` starts here; a newline stops the comparison within the buffer."""
    c, o, r, e, equals = 67, 111, 114, 101, 61
    return (
        data[at] == c
        and data[at + 1] == o
        and data[at + 2] == r
        and data[at + 3] == e
        and data[at + 4] == equals
    )


@compile_part
def _count_fault(
    faults: np.ndarray, kind: int, line: int, fields: int, start: int, end: int
) -> None:
    if faults[kind, COUNT] == 0:
        faults[kind, LINE] = line
        faults[kind, FIELDS] = fields
        faults[kind, START] = start
        faults[kind, END] = end
    faults[kind, COUNT] += 1


@compile_part
def _number_at(data: np.ndarray, at: int) -> int:
    """Return the number at an index that is known to hold digits, of any length."""
    value: Any = 0
    digit = np.uint8(data[at] - _ZERO)
    while digit <= 9:
        value = 10 * value + np.int64(digit)
        at += 1
        digit = np.uint8(data[at] - _ZERO)
    return value


@compile_part
def _put_row(
    values: np.ndarray,
    line: Any,
    interrupts: np.ndarray,
    filled: Any,
    samples: np.ndarray,
    sampled: Any,
) -> Any:
    """Write the fields of a line to the columns; return the number of samples, 0 or 1."""
    tsc = values[values.size - 1]
    interrupts[0, filled] = tsc
    for column in range(1, 5):
        interrupts[column, filled] = values[column]
    is_sample = (values[5] | values[6] | values[7] | values[8]) != 0
    interrupts[ORIGIN, filled] = 2 * line + is_sample
    if is_sample:
        samples[0, sampled] = tsc
        for column in range(5, values.size - 1):
            samples[column - 4, sampled] = values[column]
    return np.int64(is_sample)


@compile_loop(
    *("uint8[::1]", "int64", "int64", "int64[:, ::1]", "int64[:, ::1]"),
    *("int64[::1]", "int64[:, ::1]", "int64[::1]"),
)
def parse_counter_lines(
    data: np.ndarray,
    end: int,
    columns: int,
    interrupts: np.ndarray,
    samples: np.ndarray,
    state: np.ndarray,
    faults: np.ndarray,
    values: np.ndarray,
) -> None:
    """Parse complete lines of a per-interrupt log into the column buffers.

    Args:
        data: Bytes, uint8; `data[end - 1]` is a newline, so that no loop needs a bound.
        end: Number of bytes of `data` to parse.
        columns: Fields of a good line: `i`, four NIC columns, four performance counters, the
            sleep states of the variant, joules, time stamp.
        interrupts: int64, shape (INTERRUPT_ROWS, room), in line order. There must be room for
            `end // (2 * columns)` more.
        samples: int64, shape (columns - 5, room), same room: time stamp, the counters, the sleep
            states, joules.
        state: From `new_state`; holds how many columns of the buffers are filled.
        faults: From `new_state`; byte ranges of first faults are offsets into this `data`.
        values: Room for the fields of a line, int64, shape (columns,).
    """
    line, entries = state[LINES], state[ENTRIES]
    filled, sampled = state[INTERRUPTS], state[SAMPLES]
    at, last_start = 0, -1
    last_plain_start = data.size - PLAIN_LINE_REACH
    while at < end:
        begin = _skip_prefix(data, np.int64(at)) if data[at] == _OPEN else at
        if begin <= last_plain_start:
            after = read_unsampled_line(data, begin, columns, interrupts, filled)
            if after > 0:
                line += 1
                entries += 1
                interrupts[ORIGIN, filled] = 2 * line
                filled += 1
                last_start = begin
                at = after
                continue
            after = read_plain_line(data, begin, columns, values)
            if after > 0:
                line += 1
                entries += 1
                sampled += _put_row(values, line, interrupts, filled, samples, sampled)
                filled += 1
                last_start = begin
                at = after
                continue
        line += 1
        at = start = _skip_prefix(data, np.int64(at))
        first = data[at]
        if first == _LF:
            at += 1
            continue
        fields = 0
        is_digits = True
        is_out_of_range = False
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
            elif at - field > MAX_DIGITS or value > LARGEST[min(fields, 5)]:
                is_out_of_range = True
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
        if fields != columns or not is_digits or is_out_of_range:
            kind = NUMBER_RANGE if is_digits else NOT_DIGITS
            kind = FIELD_COUNT if fields != columns else kind
            _count_fault(faults, kind, line, fields, start, at - 1)
            continue
        sampled += _put_row(values, line, interrupts, filled, samples, sampled)
        filled += 1
        last_start = start
    state[LINES], state[ENTRIES] = line, entries
    state[INTERRUPTS], state[SAMPLES] = filled, sampled
    if last_start >= 0:
        state[LAST_INDEX] = _number_at(data, last_start)
