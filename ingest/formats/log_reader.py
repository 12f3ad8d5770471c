"""A reader of per-interrupt logs, block by block, and facts of a whole log."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from ingest.records import Problem


@dataclass(slots=True)
class LogFacts:
    """Facts about a whole per-interrupt log, besides its rows.

    Attributes:
        sleep_states_cumulative: Whether `c1..c7` are running totals (Linux). Else they are values
            per sample (library OS): ingest adds them, and takes no differences.
        core: The core that the log names; None if it names none.
        entries: Number of log entries, including bad ones.
        span_tsc: Time stamps of the first and last good line.
    """

    sleep_states_cumulative: bool
    core: int | None
    entries: int
    span_tsc: tuple[int, int]
    flags: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class LogReader(ABC):
    """A reader of a per-interrupt log, block by block, in bounded memory.

    Attributes:
        core: The core that the beginning of the log names, once `sample_names` is known.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.core: int | None = None
        self._span: tuple[int, int] | None = None

    @property
    @abstractmethod
    def sample_names(self) -> tuple[str, ...] | None:
        """Names of the rows of `take`'s samples; None until enough of the log was read."""

    @property
    def sleep_states_cumulative(self) -> bool:
        """As in `LogFacts`, from the blocks read so far; True may become False."""
        return False

    @abstractmethod
    def feed(self, block: bytes) -> None:
        """Read the next block, of any length; FormatError if the file is no such log."""

    def room(self, size: int) -> memoryview | None:  # noqa: ARG002
        """Return a buffer for the next `size` bytes; None if the caller must use `feed`."""
        return None

    def fed(self, count: int) -> None:
        """Read `count` bytes that the caller wrote into the buffer of `room`; as `feed`."""
        raise AssertionError(f"BUG: {count} bytes where there is no room")

    @abstractmethod
    def finish(self) -> None:
        """Read the incomplete last line; FormatError if the log has no usable line."""

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that later lines cannot change, each row once.

        Returns:
            Interrupts (`tsc rx_desc rx_bytes tx_desc tx_bytes`), int64, shape (5, n), one for each
            good line, with non-decreasing time stamps. And samples, int64, shape
            (len(sample_names), m), one for each line that has counters; they are cumulative, and
            `joules` is the raw 32-bit energy counter. Both are valid until the next `feed`.
        """
        interrupts, samples = self._take()
        if interrupts.shape[1]:
            first = self._span[0] if self._span else int(interrupts[0, 0])
            self._span = (first, int(interrupts[0, -1]))
        return interrupts, samples

    @abstractmethod
    def _take(self) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def facts(self) -> LogFacts:
        """Return the facts about the whole log; call it after `finish`."""
