"""Per-interrupt logs as the library OS dumps them: packed 88-byte entries, little-endian."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.records import CoreLog, Problem, ReadContext

_NIC: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
_COUNTERS: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
_SAMPLED: Final = (*_COUNTERS, "c3", "c6", "c7", "joules")
_WIDE: Final = ("tsc", *_COUNTERS, "joules", "c3", "c6", "c7")
ENTRY: Final = np.dtype([(name, "<i8") for name in _WIDE] + [(name, "<i4") for name in _NIC])

_DRIVER_BUFFER_ENTRIES: Final = 1_000_000
_ENTRIES_AT_ONCE: Final = 16384
_MOST_DESCRIPTORS: Final = 1 << 16
_REFUSALS: Final = {
    "empty_entry": "an entry that was never written; dropped",
    "number_range": "a negative number; entry dropped",
    "time_backwards": "the time stamp is before the entry above's; entry dropped",
}


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Tell a binary log by bytes that no text has and time stamps that rise as a log's do."""
    entries = np.frombuffer(head, ENTRY, count=len(head) // ENTRY.itemsize)
    if entries.size == 0 or b"\0" not in head[: ENTRY.itemsize]:
        return False
    written = entries[entries["tsc"] != 0]
    if written.size == 0:
        return False
    is_plausible = np.ones(written.size, bool)
    for desc, size in (("rx_desc", "rx_bytes"), ("tx_desc", "tx_bytes")):
        is_plausible &= (written[desc] >= 0) & (written[desc] < _MOST_DESCRIPTORS)
        is_plausible &= written[size] >= 0
    for counter in ("tsc", *_COUNTERS, "joules"):
        is_plausible &= written[counter] >= 0
    is_plausible[1:] &= np.diff(written["tsc"]) >= 0
    return bool(np.mean(is_plausible) > 0.9)


def read(blocks: Iterable[bytes], context: ReadContext) -> CoreLog:
    """Read one core's log.

    Args:
        blocks: The file's bytes, cut anywhere.
        context: Names the file in errors.

    Returns:
        The log. Lines of problems are numbers of entries, from 1; an entry cut at the end is a
        `cut_last_entry` problem. Sleep states are values of their sample, not running totals.

    Raises:
        FormatError: Not one good entry.
    """
    collected = _Collected()
    rest = 0
    for data in _regrouped(blocks):
        count, rest = divmod(len(data), ENTRY.itemsize)
        collected.take(np.frombuffer(data, ENTRY, count=count))
    if not collected.filled:
        raise FormatError(f"no good entry among {collected.entries} ({context.name})")
    problems = collected.problems()
    if rest:
        detail = f"{rest} bytes at the end, expected {ENTRY.itemsize}; entry dropped"
        problems.append(Problem("cut_last_entry", "refused", detail, collected.entries + 1))
    return CoreLog(
        interrupts=collected.columns(collected.interrupts, ("tsc", *_NIC)),
        samples=collected.columns(collected.samples, ("tsc", *_SAMPLED)),
        sleep_states_cumulative=False,
        entries=collected.entries + bool(rest),
        flags=["log_full"] if collected.entries == _DRIVER_BUFFER_ENTRIES else [],
        problems=problems,
    )


def _regrouped(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Give blocks of whole entries; only the last may end in a part of one."""
    step = _ENTRIES_AT_ONCE * ENTRY.itemsize
    waiting = bytearray()
    for block in blocks:
        waiting += block
        whole = len(waiting) // step * step
        if whole:
            yield bytes(waiting[:whole])
            del waiting[:whole]
    yield bytes(waiting)


class _Collected:
    """Good entries so far, in pieces, and the refused ones by kind."""

    def __init__(self) -> None:
        self.interrupts: list[np.ndarray] = []
        self.samples: list[np.ndarray] = []
        self.entries = 0
        self.filled = 0
        self._last_tsc = 0
        self._refused: dict[str, tuple[int, int]] = {}

    def take(self, entries: np.ndarray) -> None:
        kept = np.ones(entries.size, bool)
        is_empty = entries["tsc"] == 0
        self._refuse("empty_entry", kept, is_empty)
        is_negative = np.zeros(entries.size, bool)
        for name in ENTRY.names or ():
            is_negative |= entries[name] < 0
        self._refuse("number_range", kept, is_negative)
        tsc = np.where(kept, entries["tsc"], 0)
        latest = np.maximum.accumulate(np.concatenate(([self._last_tsc], tsc)))
        self._refuse("time_backwards", kept, tsc < latest[:-1])
        self._last_tsc = int(latest[-1])
        good = entries[kept]
        is_sample = np.zeros(good.size, bool)
        for name in _COUNTERS:
            is_sample |= good[name] != 0
        self.interrupts.append(good[["tsc", *_NIC]])
        self.samples.append(good[is_sample])
        self.entries += entries.size
        self.filled += good.size

    def columns(self, pieces: list[np.ndarray], names: Iterable[str]) -> dict[str, np.ndarray]:
        return {n: np.concatenate([p[n].astype(np.int64) for p in pieces]) for n in names}

    def problems(self) -> list[Problem]:
        return [
            Problem(kind, "refused", detail, *self._refused[kind])
            for kind, detail in _REFUSALS.items()
            if kind in self._refused
        ]

    def _refuse(self, kind: str, kept: np.ndarray, is_bad: np.ndarray) -> None:
        is_bad = is_bad & kept
        count = int(np.count_nonzero(is_bad))
        if count:
            line = self.entries + int(np.argmax(is_bad)) + 1
            first, before = self._refused.get(kind, (line, 0))
            self._refused[kind] = (first, before + count)
            kept &= ~is_bad
