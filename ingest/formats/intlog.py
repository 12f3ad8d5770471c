"""Per-interrupt NIC logs as text: 14, 16 or 17 columns, optional header and kernel prefix."""

import codecs
import re
from collections import Counter
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.formats.counter_lines import CounterLines
from ingest.formats.log_reader import LogFacts, LogReader
from ingest.records import Problem, ReadContext

DRIVER_BUFFER_ENTRIES: Final = 1_000_000

_NIC: Final = ("i", "rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_COUNTERS: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
_SLEEP_STATES: Final = {
    14: ("c3", "c6", "c7"),
    16: ("c1", "c1e", "c3", "c6", "c7"),
    17: ("c0", "c1", "c1e", "c3", "c6", "c7"),
}
_ALIASES: Final = {
    "rxdesc": "rx_desc",
    "rxbytes": "rx_bytes",
    "txdesc": "tx_desc",
    "txbytes": "tx_bytes",
    "ins": "instructions",
    "cyc": "cycles",
    "refcyc": "ref_cycles",
    "llcm": "llc_misses",
    "llc_miss": "llc_misses",
    "joule": "joules",
    "timestamp": "tsc",
}
_PREFIX: Final = re.compile(rb"^[ \t]*\[[^\]\n]*\][ \t]*")
_ODD_BLANK: Final = re.compile(rb"[\v\f]")
_CORE: Final = re.compile(rb"(?m)^[^\n]*?\bCore=(\d+)(?:\s+itr_cnt=(\d+))?")
_MOST_DIGITS: Final = 18
_HEAD_BYTES: Final = 64 * 1024
_HEAD_LINES: Final = 200


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text has a known header, or most first lines are that many integers."""
    lines = _head_lines(head)
    if any(_header_names(line) in _LAYOUTS.values() for line in lines[:3]):
        return True
    numbers = [
        line for line in lines if len(line) in _LAYOUTS and all(line) and b"".join(line).isdigit()
    ]
    return 2 * len(numbers) > len(lines)


def open_log(context: ReadContext) -> "IntlogReader":
    """Start to read one core's log block by block."""
    return IntlogReader(context.name)


class IntlogReader(LogReader):
    """Reads one core's log."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._head = bytearray()
        self._lines: CounterLines | None = None
        self._columns = 0
        self._states: _SleepStates | None = None
        self._announced: int | None = None
        self._bad_core = ""

    @property
    def sample_names(self) -> tuple[str, ...] | None:
        return sample_names(self._columns) if self._lines is not None else None

    @property
    def sleep_states_cumulative(self) -> bool:
        return self._states is None or self._states.are_totals

    def feed(self, block: bytes) -> None:
        if self._lines is not None:
            self._lines.feed(block)
            return
        self._head += block
        if len(self._head) >= _HEAD_BYTES:
            self._begin()

    def room(self, size: int) -> memoryview | None:
        return self._lines.room(size) if self._lines is not None else None

    def fed(self, count: int) -> None:
        assert self._lines is not None
        self._lines.fed(count)

    def finish(self) -> None:
        lines = self._lines or self._begin()
        lines.finish()
        if not lines.has_interrupts:
            why = "".join(f"; {problem.detail}" for problem in lines.problems()[:1])
            raise FormatError(f"no good line among {lines.entries}{why} ({self._name})")

    def _take(self) -> tuple[np.ndarray, np.ndarray]:
        if self._lines is None:
            return np.empty((5, 0), np.int64), np.empty((0, 0), np.int64)
        interrupts, samples = self._lines.take()
        if self._states is not None:
            self._states.look_at(samples[5:8])
        return interrupts, samples

    def facts(self) -> LogFacts:
        assert self._lines is not None
        assert self._span is not None
        return LogFacts(
            sleep_states_cumulative=self.sleep_states_cumulative,
            core=self.core,
            entries=self._lines.entries,
            span_tsc=self._span,
            flags=["log_full"] if _is_full(self._lines) else [],
            problems=_problems(self._lines, self._announced, self._bad_core),
        )

    def _begin(self) -> CounterLines:
        head = bytes(self._head).removeprefix(codecs.BOM_UTF8)
        self._columns = _column_count(head, self._name)
        begin = head[:_HEAD_BYTES]
        if match := _CORE.search(begin) if b"Core=" in begin else None:
            self.core, self._announced = map(_small_number, match.groups())
            self._bad_core = match[1][:_MOST_DIGITS].decode() if self.core is None else ""
        if self._columns == 14 and not _PREFIX.match(head):
            self._states = _SleepStates("ebbrt" not in self._name.lower())
        are_values = self._states is not None and not self._states.are_totals
        self._lines = CounterLines(self._columns, range(10, 13) if are_values else ())
        self._lines.feed(head)
        self._head.clear()
        return self._lines


class _SleepStates:
    """Whether a 14-column log's sleep states are running totals (Linux) or values per sample."""

    def __init__(self, are_totals: bool) -> None:
        self.are_totals = are_totals
        self._last = np.zeros((len(_SLEEP_STATES[14]), 1), np.int64)

    def look_at(self, states: np.ndarray) -> None:
        """Check further samples, shape (3, m): totals never fall."""
        if not states.shape[1] or not self.are_totals:
            return
        self.are_totals = bool(np.all(np.diff(states, axis=1, prepend=self._last) >= 0))
        self._last = states[:, -1:].copy()


def sample_names(columns: int) -> tuple[str, ...]:
    """Return the names of a variant's sample columns, in the order of its lines."""
    return ("tsc", *_COUNTERS, *_SLEEP_STATES[columns], "joules")


_LAYOUTS: Final = {
    columns: (*_NIC, *_COUNTERS, *states, "joules", "tsc")
    for columns, states in _SLEEP_STATES.items()
}


def _head_lines(head: bytes) -> list[list[bytes]]:
    """Split the first lines into fields; skips kernel prefixes, blank lines and a cut last line."""
    head = head[:_HEAD_BYTES]
    lines = head.split(b"\n", _HEAD_LINES)
    if len(lines) > 1:
        lines.pop()
    # Fast path for nearly all lines: no prefix, and only blanks between fields.
    is_plain = not _ODD_BLANK.search(head)
    fields = [
        line.split()
        if is_plain and line.lstrip()[:1] not in (b"", b"[")
        else re.split(rb"[ \t\r]+", _PREFIX.sub(b"", line).strip())
        for line in lines
    ]
    return [line for line in fields if line != [b""] and not line[0].startswith(b"Core=")]


def _header_names(fields: list[bytes]) -> tuple[str, ...] | None:
    if fields[0] != b"i":
        return None
    names = [field.decode("latin-1").lower() for field in fields]
    return tuple(_ALIASES.get(name, name) for name in names)


def _column_count(head: bytes, name: str) -> int:
    lines = _head_lines(head)
    for line in lines:
        if (names := _header_names(line)) is None:
            continue
        for columns, layout in _LAYOUTS.items():
            if names == layout:
                return columns
        raise FormatError(f"unknown header: {' '.join(names)[:200]} ({name})")
    counts = Counter(len(line) for line in lines if len(line) in _LAYOUTS)
    if not counts:
        seen = len(lines[0]) if lines else 0
        raise FormatError(f"no counter line: {seen} fields first, expected 14, 16 or 17 ({name})")
    return counts.most_common(1)[0][0]


def _is_full(lines: CounterLines) -> bool:
    return DRIVER_BUFFER_ENTRIES in (lines.entries, lines.last_index + 1)


def _problems(lines: CounterLines, announced: int | None, bad_core: str) -> list[Problem]:
    problems = lines.problems()
    if announced is not None and lines.entries < announced:
        detail = f"{lines.entries} entries, but the first line announces {announced}"
        problems.append(Problem("short_log", "doubted", detail))
    if bad_core:
        detail = f"`Core={bad_core}` is not a core number; not used"
        problems.append(Problem("bad_core", "doubted", detail))
    if lines.core_lines > 1:
        detail = (
            f"{lines.core_lines} `Core=` lines in one log; all entries count for the first core"
        )
        problems.append(Problem("several_cores", "doubted", detail))
    if _is_full(lines):
        detail = f"{lines.entries} entries fill the driver's buffer; it may have stopped early"
        problems.append(Problem("log_full", "doubted", detail))
    return problems


def _small_number(digits: bytes | None) -> int | None:
    """Return the number of some digits; None if there are none, or it needs over 31 bits."""
    if not digits or len(digits) > _MOST_DIGITS:
        return None
    return int(digits) if int(digits) < 2**31 else None
