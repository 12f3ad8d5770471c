"""Columns of a per-interrupt log: feeds blocks of any size to the compiled parser."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.formats import line_parser
from ingest.formats.counter_steps import CounterSteps
from ingest.formats.time_order import TimeOrder
from ingest.records import Problem

_FIRST_ROOM: Final = 1 << 14
_GROWTH: Final = 1.5
# A longer line is damaged; to keep it would cost unbounded memory.
_LONGEST_LINE: Final = 1 << 16
_SLACK: Final = 1 << 10
# Most lines are shorter.
_LINE_BYTES: Final = 1 << 9

_KINDS: Final = {
    line_parser.FIELD_COUNT: "field_count",
    line_parser.NOT_DIGITS: "not_digits",
    line_parser.NUMBER_RANGE: "number_range",
}
_BACKWARDS: Final = "is before that of the previous line"
_LEAP: Final = "does not fit the lines below it"


@dataclass(slots=True)
class _DroppedRows:
    """Rows dropped for one reason: their number, the first one, and the line of the last one."""

    count: int = 0
    line: int = 0
    detail: str = ""
    last_line: int = 0

    def add(self, origin: int, detail: str) -> None:
        line = origin >> 1
        if not self.count or line < self.line:
            self.line, self.detail = line, detail
        self.count += 1
        self.last_line = max(self.last_line, line)


class CounterLines:
    """Parses one per-interrupt log into columns.

    Args:
        columns: Fields of a good line: 14, 16 or 17.
        sampled_fields: Numbers of the counter fields, from 1, that are values per sample, not
            running totals.
    """

    def __init__(self, columns: int, sampled_fields: Collection[int] = ()) -> None:
        self._columns = columns
        self._state, self._faults = line_parser.new_state()
        self._interrupts = np.empty((line_parser.INTERRUPT_ROWS, _FIRST_ROOM), np.int64)
        self._samples = np.empty((columns - 5, _FIRST_ROOM), np.int64)
        self._work = np.empty(_LONGEST_LINE, np.uint8)
        self._order = TimeOrder()
        self._steps = CounterSteps(
            [f"field {number}" for number in range(6, columns)],
            [f"field {number}" for number in sampled_fields],
        )
        self._settled = 0
        self._settled_samples = 0
        self._waiting = 0
        self._dropped: defaultdict[str, _DroppedRows] = defaultdict(_DroppedRows)
        self._tail = 0
        self._taken = 0
        self._to_drop = (0, 0)
        self._first_bytes: dict[int, bytes] = {}
        self._cut: Problem | None = None

    def room(self, size: int) -> memoryview:
        """Return a buffer for `size` more bytes; call `fed` once it is filled."""
        needed = self._tail + size
        if needed > self._work.size:
            work = np.empty(needed + _SLACK, np.uint8)
            work[: self._tail] = self._work[: self._tail]
            self._work = work
        return self._work.data[self._tail : needed]

    def feed(self, block: bytes) -> None:
        """Parse a block; an incomplete last line waits for the next one."""
        self.room(len(block))[:] = block
        self.fed(len(block))

    def fed(self, count: int) -> None:
        """Parse `count` bytes of the buffer; an incomplete last line waits for the next block."""
        self._drop_taken()
        filled = self._tail + count
        end = self._after_last_newline(filled)
        if not end:
            self._tail = min(filled, max(self._tail, _LONGEST_LINE))
            return
        self._parse(end)
        self._tail = filled - end
        self._work[: self._tail] = self._work[end:filled].copy()

    def _after_last_newline(self, filled: int) -> int:
        """Return the start of the incomplete last line; 0 if no line ends in the new bytes."""
        for begin in (max(self._tail, filled - _LINE_BYTES), self._tail):
            newline = self._work[begin:filled].tobytes().rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
        return 0

    def finish(self) -> None:
        """Parse a last line without newline; if it is bad, it becomes `cut_last_line`."""
        text = self._work[: self._tail].tobytes()
        firsts = self._faults.copy()
        if text:
            self.feed(b"\n")
        self._judge(is_over=True)
        if not text:
            return
        line = int(self._state[line_parser.LINES])
        refused = np.flatnonzero(self._faults[:, line_parser.COUNT] - firsts[:, line_parser.COUNT])
        dropped = [rows for rows in self._dropped.values() if rows.last_line == line]
        if refused.size:
            self._faults[refused[0]] = firsts[refused[0]]
        elif dropped:
            dropped[0].count -= 1
        else:
            return
        detail = f"last line {_shown(text)} is cut or damaged and has no newline; line dropped"
        self._cut = Problem("cut_last_line", "refused", detail, line)

    @property
    def entries(self) -> int:
        """Number of lines that hold an entry, good or bad."""
        return int(self._state[line_parser.ENTRIES])

    @property
    def core_lines(self) -> int:
        """Number of `Core=` lines."""
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
        """Return the rows whose time order is final; the next feed overwrites them.

        Returns:
            Interrupts: time stamp and the four NIC columns, int64, shape (5, n). Samples: time
            stamp, counters, sleep states, joules, int64, shape (columns - 5, m). Before `finish`,
            rows whose time stamp may still prove damaged are missing.
        """
        self._drop_taken()
        interrupts, samples = self._settled, self._settled_samples
        self._to_drop = (interrupts, samples)
        self._taken += interrupts
        return self._interrupts[: line_parser.NIC_ROWS, :interrupts], self._samples[:, :samples]

    def _drop_taken(self) -> None:
        if not any(self._to_drop):
            return
        slots = (line_parser.INTERRUPTS, line_parser.SAMPLES)
        buffers = (self._interrupts, self._samples)
        for slot, buffer, drop in zip(slots, buffers, self._to_drop, strict=True):
            left = int(self._state[slot]) - drop
            if drop and left:
                buffer[:, :left] = buffer[:, drop : drop + left].copy()
            self._state[slot] = left
        self._settled -= self._to_drop[0]
        self._settled_samples -= self._to_drop[1]
        self._to_drop = (0, 0)

    def problems(self) -> list[Problem]:
        """Return the refused lines: a problem per kind, with its count and first line."""
        problems = [
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
        problems += [
            Problem(name, "refused", f"{rows.detail}; line dropped", rows.line, rows.count)
            for name, rows in sorted(self._dropped.items())
            if rows.count
        ]
        return problems + ([self._cut] if self._cut else [])

    def _judge(self, is_over: bool = False) -> None:
        """Drop the rows that are out of time order; see `TimeOrder`."""
        end = int(self._state[line_parser.INTERRUPTS])
        tsc = self._interrupts[0, self._settled + self._waiting : end]
        judged = self._order.judge(tsc, is_over)
        if judged.is_kept is not None:
            rows = self._interrupts[:, self._settled : end]
            for name, at, why in (
                ("time_backwards", judged.backwards, _BACKWARDS),
                ("time_leap", judged.leaps, _LEAP),
            ):
                for row in at:
                    origin, stamp = rows[[line_parser.ORIGIN, 0], row].tolist()
                    self._dropped[name].add(origin, f"time stamp '{stamp}' {why}")
            self._keep(judged.is_kept)
        self._settled += judged.settled - self._refuse_steps(judged.settled)
        self._waiting = int(self._state[line_parser.INTERRUPTS]) - self._settled

    def _refuse_steps(self, settled: int) -> int:
        """Drop those of the next rows to settle whose counters step too far; return how many."""
        origins = self._interrupts[
            line_parser.ORIGIN, self._settled : int(self._state[line_parser.INTERRUPTS])
        ]
        waiting = int((origins[settled:] & 1).sum())
        end = int(self._state[line_parser.SAMPLES]) - waiting
        refused = self._steps.refused(self._samples[1:, self._settled_samples : end])
        self._settled_samples = end - len(refused)
        if refused:
            rows = np.flatnonzero(origins & 1)[list(refused)]
            for row, why in zip(rows.tolist(), refused.values(), strict=True):
                self._dropped["counter_leap"].add(int(origins[row]), why)
            is_kept = np.ones(origins.size, bool)
            is_kept[rows] = False
            self._keep(is_kept)
        return len(refused)

    def _keep(self, is_kept: np.ndarray) -> None:
        """Keep the marked rows among those that are not settled, and their samples."""
        begin, end = self._settled, int(self._state[line_parser.INTERRUPTS])
        are_samples = (self._interrupts[line_parser.ORIGIN, begin:end] & 1).astype(bool)
        is_kept_sample = is_kept[are_samples]
        ends = (end, int(self._state[line_parser.SAMPLES]))
        buffers, kept = (self._interrupts, self._samples), (is_kept, is_kept_sample)
        slots = (line_parser.INTERRUPTS, line_parser.SAMPLES)
        for slot, buffer, stays, until in zip(slots, buffers, kept, ends, strict=True):
            first = until - stays.size
            stay = buffer[:, first:until][:, stays]
            buffer[:, first : first + stay.shape[1]] = stay
            self._state[slot] = first + stay.shape[1]

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
            np.empty(self._columns, np.int64),
        )
        self._judge()
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
            case _:
                limits = [*line_parser.LARGEST.tolist(), *[line_parser.LARGEST[-1]] * len(fields)]
                bad, limit = next(
                    (field, most)
                    for field, most in zip(fields, limits, strict=False)
                    if len(field) > line_parser.MAX_DIGITS or int(field) > most
                )
                return f"field {_shown(bad)} is over {limit}; line dropped"


def _grown(buffer: np.ndarray, filled: int, room: int) -> np.ndarray:
    if filled + room <= buffer.shape[1]:
        return buffer
    grown = np.empty((buffer.shape[0], int((filled + room) * _GROWTH)), np.int64)
    grown[:, :filled] = buffer[:, :filled]
    return grown


def _shown(text: bytes) -> str:
    shown = text.decode("latin-1").strip()
    return repr(shown if len(shown) <= 60 else shown[:57] + "...")
