"""Per-interrupt logs in the library OS's binary form: packed 88-byte entries, little-endian."""

from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.formats.counter_steps import CounterSteps
from ingest.formats.log_reader import LogFacts, LogReader
from ingest.formats.time_order import TimeOrder
from ingest.records import Problem, ReadContext

_NIC: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_COUNTERS: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
_SAMPLED: Final = (*_COUNTERS, "c3", "c6", "c7", "joules")
_WIDE: Final = ("tsc", *_COUNTERS, "joules", "c3", "c6", "c7")
ENTRY: Final = np.dtype([(name, "<i8") for name in _WIDE] + [(name, "<i4") for name in _NIC])

_DRIVER_BUFFER_ENTRIES: Final = 1_000_000
_MOST_DESCRIPTORS: Final = 1 << 16
# Of 14 years at 5 GHz; eight letters, with which other files begin, are more.
_MOST_TICKS: Final = 1 << 61
_LEAST_FILLED: Final = 0.9
_REFUSALS: Final = {
    "empty_entry": "an entry that was never written; dropped",
    "number_range": "a negative number; entry dropped",
    "time_backwards": "the time stamp is before that of the previous entry; entry dropped",
    "time_leap": "the time stamp does not fit the entries below it; entry dropped",
}


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the bytes are not text and most entries have plausible, rising time stamps."""
    entries = np.frombuffer(head, ENTRY, count=len(head) // ENTRY.itemsize)
    if entries.size == 0 or b"\0" not in head[: ENTRY.itemsize]:
        return False
    at = np.flatnonzero(entries["tsc"])
    # The driver fills its buffer from the start; other files have bytes here and there.
    if at.size == 0 or at.size <= _LEAST_FILLED * at[-1]:
        return False
    written = entries[at]
    if at.size == 1 and not written["rx_desc"] + written["tx_desc"]:
        return False
    is_plausible = np.ones(written.size, bool)
    for desc, size in (("rx_desc", "rx_bytes"), ("tx_desc", "tx_bytes")):
        is_plausible &= (written[desc] >= 0) & (written[desc] < _MOST_DESCRIPTORS)
        is_plausible &= written[size] >= 0
    for counter in ("tsc", *_COUNTERS, "joules"):
        is_plausible &= written[counter] >= 0
    is_plausible &= written["tsc"] < _MOST_TICKS
    is_plausible[1:] &= np.diff(written["tsc"]) >= 0
    return bool(np.mean(is_plausible) > 0.9)


def open_log(context: ReadContext) -> "BinaryReader":
    """Start to read one core's log block by block."""
    return BinaryReader(context.name)


class BinaryReader(LogReader):
    """Reads one core's log."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._collected = _Collected()
        self._waiting = b""

    @property
    def sample_names(self) -> tuple[str, ...]:
        return ("tsc", *_SAMPLED)

    def feed(self, block: bytes) -> None:
        data = self._waiting + block
        count, rest = divmod(len(data), ENTRY.itemsize)
        self._collected.add(np.frombuffer(data, ENTRY, count=count))
        self._waiting = data[len(data) - rest :]

    def finish(self) -> None:
        self._collected.add(np.empty(0, ENTRY), is_over=True)
        if not self._collected.filled:
            raise FormatError(f"no good entry among {self._collected.entries} ({self._name})")

    def _take(self) -> tuple[np.ndarray, np.ndarray]:
        collected = self._collected
        interrupts = _columns(collected.interrupts, ("tsc", *_NIC))
        samples = _columns(collected.samples, ("tsc", *_SAMPLED))
        collected.interrupts, collected.samples = [], []
        return interrupts, samples

    def facts(self) -> LogFacts:
        assert self._span is not None
        collected, rest = self._collected, len(self._waiting)
        problems = collected.problems()
        if rest:
            detail = f"{rest} bytes at the end, expected {ENTRY.itemsize}; entry dropped"
            problems.append(Problem("cut_last_entry", "refused", detail, collected.entries + 1))
        return LogFacts(
            sleep_states_cumulative=self.sleep_states_cumulative,
            core=None,
            entries=collected.entries + bool(rest),
            span_tsc=self._span,
            flags=["log_full"] if collected.entries == _DRIVER_BUFFER_ENTRIES else [],
            problems=problems,
        )


class _Collected:
    """Good entries collected so far, and counts of the refused ones by kind."""

    def __init__(self) -> None:
        self.interrupts: list[np.ndarray] = []
        self.samples: list[np.ndarray] = []
        self.entries = 0
        self.filled = 0
        self._order = TimeOrder()
        self._waiting = np.empty(0, ENTRY)
        self._waiting_numbers = np.empty(0, np.int64)
        self._steps = CounterSteps(_SAMPLED, values=("c3", "c6", "c7"))
        self._refused: dict[str, tuple[int, int]] = {}
        self._first_leap = ""

    def add(self, entries: np.ndarray, is_over: bool = False) -> None:
        """Add entries; those whose time order is undecided come out with later ones."""
        is_valid = np.ones(entries.size, bool)
        numbers = self.entries + 1 + np.arange(entries.size)
        is_empty = entries["tsc"] == 0
        self._refuse("empty_entry", numbers[is_empty])
        is_valid &= ~is_empty
        is_negative = np.zeros(entries.size, bool)
        for name in ENTRY.names or ():
            is_negative |= entries[name] < 0
        self._refuse("number_range", numbers[is_negative & is_valid])
        is_valid &= ~is_negative
        self.entries += entries.size
        self._put_in_order(entries[is_valid], numbers[is_valid], is_over)

    def _put_in_order(self, entries: np.ndarray, numbers: np.ndarray, is_over: bool) -> None:
        judged = self._order.judge(np.ascontiguousarray(entries["tsc"]), is_over)
        entries = np.concatenate((self._waiting, entries))
        numbers = np.concatenate((self._waiting_numbers, numbers))
        self._refuse("time_backwards", numbers[list(judged.backwards)])
        self._refuse("time_leap", numbers[list(judged.leaps)])
        if judged.is_kept is not None:
            entries, numbers = entries[judged.is_kept], numbers[judged.is_kept]
        self._waiting = entries[judged.settled :].copy()
        self._waiting_numbers = numbers[judged.settled :].copy()
        good, settled_numbers = entries[: judged.settled], numbers[: judged.settled]
        is_sample = np.zeros(good.size, bool)
        for name in _COUNTERS:
            is_sample |= good[name] != 0
        samples = good[is_sample]
        leaps = self._steps.refused(_columns([samples], _SAMPLED))
        if leaps:
            self._first_leap = self._first_leap or next(iter(leaps.values()))
            rows = np.flatnonzero(is_sample)[list(leaps)]
            self._refuse("counter_leap", settled_numbers[rows])
            good, samples = np.delete(good, rows), np.delete(samples, list(leaps))
        self.interrupts.append(good[["tsc", *_NIC]])
        self.samples.append(samples)
        self.filled += good.size

    def problems(self) -> list[Problem]:
        details = {**_REFUSALS, "counter_leap": f"{self._first_leap}; entry dropped"}
        return [
            Problem(kind, "refused", details[kind], *self._refused[kind])
            for kind in details
            if kind in self._refused
        ]

    def _refuse(self, kind: str, numbers: np.ndarray) -> None:
        if numbers.size:
            first, before = self._refused.get(kind, (int(numbers.min()), 0))
            self._refused[kind] = (min(first, int(numbers.min())), before + numbers.size)


def _columns(pieces: list[np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    filled = np.empty((len(names), sum(map(len, pieces))), np.int64)
    at = 0
    for piece in pieces:
        for row, name in enumerate(names):
            filled[row, at : at + len(piece)] = piece[name]
        at += len(piece)
    return filled
