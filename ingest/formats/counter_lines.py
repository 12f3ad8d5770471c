"""Growing column buffers around the compiled parser: bytes in blocks of any size, columns out."""

from typing import Final

import numpy as np

from ingest.formats import line_parser
from ingest.records import Problem

_FIRST_ROOM: Final = 1 << 14
_GROWTH: Final = 1.5
# A line this long is damage whatever its end says; keeping more would cost memory without bound.
_LONGEST_LINE: Final = 1 << 16
_SLACK: Final = 1 << 10
# Most lines are shorter.
_LINE_BYTES: Final = 1 << 9

_KINDS: Final = {
    line_parser.FIELD_COUNT: "field_count",
    line_parser.NOT_DIGITS: "not_digits",
    line_parser.NUMBER_RANGE: "number_range",
    line_parser.TIME_BACKWARDS: "time_backwards",
    line_parser.TIME_LEAP: "time_leap",
}


class CounterLines:
    """One per-interrupt log on its way from bytes to columns.

    Args:
        columns: Fields of a good line: 14, 16 or 17.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._state, self._faults = line_parser.new_state()
        self._interrupts = np.empty((5, _FIRST_ROOM), np.int64)
        self._samples = np.empty((columns - 5, _FIRST_ROOM), np.int64)
        self._work = np.empty(_LONGEST_LINE, np.uint8)
        self._tail = 0
        self._taken = 0
        self._is_finished = False
        self._to_drop = (0, 0)
        self._first_bytes: dict[int, bytes] = {}
        self._cut: Problem | None = None

    def room(self, size: int) -> memoryview:
        """Where to put so many further bytes, of which `fed` then hears."""
        needed = self._tail + size
        if needed > self._work.size:
            work = np.empty(needed + _SLACK, np.uint8)
            work[: self._tail] = self._work[: self._tail]
            self._work = work
        return self._work.data[self._tail : needed]

    def feed(self, block: bytes) -> None:
        """Read a further block; a line that it cuts waits for the next one."""
        self.room(len(block))[:] = block
        self.fed(len(block))

    def fed(self, count: int) -> None:
        """Read what was put into the room; a line that it cuts waits for the next block."""
        self._drop_taken()
        filled = self._tail + count
        end = self._behind_last_newline(filled)
        if not end:
            self._tail = min(filled, max(self._tail, _LONGEST_LINE))
            return
        self._parse(end)
        self._tail = filled - end
        self._work[: self._tail] = self._work[end:filled].copy()

    def _behind_last_newline(self, filled: int) -> int:
        """Where the line starts that the bytes at hand cut; 0 if no line ends in what is new."""
        for begin in (max(self._tail, filled - _LINE_BYTES), self._tail):
            newline = self._work[begin:filled].tobytes().rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
        return 0

    def finish(self) -> None:
        """Read the last line if the file does not end in a newline; refused, it counts as cut."""
        self._is_finished = True
        if self._tail == 0:
            return
        text = self._work[: self._tail].tobytes()
        counts = self._faults[:, line_parser.COUNT].copy()
        firsts = self._faults.copy()
        self.feed(b"\n")
        refused = np.flatnonzero(self._faults[:, line_parser.COUNT] - counts)
        if refused.size == 0 or refused[0] == line_parser.TIME_LEAP:
            return
        kind = int(refused[0])
        self._faults[kind] = firsts[kind]
        detail = f"last line {_shown(text)} is cut or damaged and has no newline; line dropped"
        self._cut = Problem("cut_last_line", "refused", detail, int(self._state[line_parser.LINES]))

    @property
    def entries(self) -> int:
        """Lines that hold an entry, good or bad."""
        return int(self._state[line_parser.ENTRIES])

    @property
    def core_lines(self) -> int:
        """How many `Core=` lines there were."""
        return int(self._state[line_parser.CORE_LINES])

    @property
    def last_index(self) -> int:
        """The `i` of the last good line."""
        return int(self._state[line_parser.LAST_INDEX])

    @property
    def has_interrupts(self) -> bool:
        """Whether any line was good."""
        return bool(self._taken or self._state[line_parser.INTERRUPTS])

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Hand out the rows that no later line can take back; they are gone with the next feed.

        Returns:
            What `interrupt_columns` and `sample_columns` have, but for the last row of a log that
            is not finished: its time stamp may turn out to be damaged.
        """
        self._drop_taken()
        interrupts, samples = self._state[line_parser.INTERRUPTS], self._state[line_parser.SAMPLES]
        if interrupts and not self._is_finished:
            interrupts -= 1
            samples -= self._state[line_parser.LAST_IS_SAMPLE]
        self._to_drop = (int(interrupts), int(samples))
        self._taken += int(interrupts)
        return self._interrupts[:, :interrupts], self._samples[:, :samples]

    def _drop_taken(self) -> None:
        slots = (line_parser.INTERRUPTS, line_parser.SAMPLES)
        buffers = (self._interrupts, self._samples)
        for slot, buffer, drop in zip(slots, buffers, self._to_drop, strict=True):
            left = int(self._state[slot]) - drop
            if drop and left:
                buffer[:, :left] = buffer[:, drop : drop + left].copy()
            self._state[slot] = left
        self._to_drop = (0, 0)

    def interrupt_columns(self) -> np.ndarray:
        """Time stamp and the four NIC columns, int64, shape (5, n)."""
        return self._interrupts[:, : self._state[line_parser.INTERRUPTS]]

    def sample_columns(self) -> np.ndarray:
        """Time stamp, counters, sleep states, joules: int64, shape (columns - 5, m)."""
        return self._samples[:, : self._state[line_parser.SAMPLES]]

    def problems(self) -> list[Problem]:
        """What was refused: a problem a kind, with how often and the first line."""
        found = [
            Problem(
                name,
                "refused",
                self._detail(kind),
                int(self._faults[kind, line_parser.LINE]),
                int(self._faults[kind, line_parser.COUNT]),
            )
            for kind, name in _KINDS.items()
            if self._faults[kind, line_parser.COUNT]
        ]
        return found + ([self._cut] if self._cut else [])

    def _parse(self, end: int) -> None:
        room = end // (2 * self._columns) + 1
        self._interrupts = _grown(self._interrupts, self._state[line_parser.INTERRUPTS], room)
        self._samples = _grown(self._samples, self._state[line_parser.SAMPLES], room)
        line_parser.parse_counter_lines(
            self._work,
            end,
            self._columns,
            self._interrupts,
            self._samples,
            self._state,
            self._faults,
        )
        for kind in np.flatnonzero(self._faults[:, line_parser.COUNT]).tolist():
            if kind not in self._first_bytes:
                start, stop = self._faults[kind, [line_parser.START, line_parser.END]]
                self._first_bytes[kind] = self._work[start:stop].tobytes()

    def _detail(self, kind: int) -> str:
        fields = self._first_bytes[kind].split()
        match kind:
            case line_parser.FIELD_COUNT:
                count = self._faults[kind, line_parser.FIELDS]
                return f"{count} fields, expected {self._columns}; line dropped"
            case line_parser.NOT_DIGITS:
                bad = next(field for field in fields if not field.isdigit())
                return f"field {_shown(bad)} is not a whole number; line dropped"
            case line_parser.NUMBER_RANGE:
                bad = max(fields, key=lambda field: (len(field), field))
                return f"field {_shown(bad)} is over 64 bits; line dropped"
            case line_parser.TIME_BACKWARDS:
                return f"time stamp {_shown(fields[-1])} is before the line above's; line dropped"
            case _:
                leapt = self._faults[kind, line_parser.FIELDS]
                return f"time stamp {leapt} is far ahead of the next line's; line dropped"


def _grown(buffer: np.ndarray, filled: int, room: int) -> np.ndarray:
    if filled + room <= buffer.shape[1]:
        return buffer
    grown = np.empty((buffer.shape[0], int((filled + room) * _GROWTH)), np.int64)
    grown[:, :filled] = buffer[:, :filled]
    return grown


def _shown(text: bytes) -> str:
    shown = text.decode("latin-1").strip()
    return repr(shown if len(shown) <= 60 else shown[:57] + "...")
