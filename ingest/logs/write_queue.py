"""Rows on their way into a run's big files: encoded by any thread, written in order."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ingest.lake.parquet_file import RowGroup
from ingest.lake.tables import RunFile

_MOST_WAITING: Final = 2


@dataclass(frozen=True, slots=True)
class _Sent:
    file: RunFile
    groups: Future[list[RowGroup]] | None
    give_back: Callable[[], None] | None = None


class WriteQueue:
    """A bounded queue of tables that others encode; the thread that sends them writes them.

    Args:
        helpers: Threads that encode, and that wait for the disk.
    """

    def __init__(self, helpers: Executor) -> None:
        self._helpers = helpers
        self._sent: deque[_Sent] = deque()
        self._sealing: list[Future[None]] = []

    def send(
        self,
        file: RunFile,
        make_rows: Callable[[], pa.Table],
        give_back: Callable[[], None] | None = None,
    ) -> None:
        """Have rows written after all that were sent before; waits while too many wait.

        Args:
            make_rows: Makes the rows, in the thread that encodes them.
            give_back: Called here once what the rows are made of is no longer needed.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        groups = self._helpers.submit(lambda: file.encode(make_rows()))
        self._put(_Sent(file, groups, give_back))

    def send_encoded(self, file: RunFile, make_groups: Callable[[], list[RowGroup]]) -> None:
        """As `send`, for rows that are encoded already, or in part.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._put(_Sent(file, self._helpers.submit(make_groups)))

    def send_end(self, file: RunFile) -> None:
        """Have a file sealed once all that was sent to it is written.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._put(_Sent(file, None))

    def finish(self) -> None:
        """Write all that was sent, and wait for the disk.

        Raises:
            LakeError: It cannot be written.
        """
        while self._sent:
            self._write_next()
        for sealing in self._sealing:
            sealing.result()

    def abandon(self) -> None:
        """Forget what was sent; nobody touches its files, or what it is made of, on return."""
        for sent in self._sent:
            if sent.groups is not None and not sent.groups.cancel():
                sent.groups.exception()
        self._sent.clear()
        for sealing in self._sealing:
            sealing.exception()

    def _put(self, sent: _Sent) -> None:
        self._sent.append(sent)
        while self._sent and (self._is_next_ready() or len(self._sent) > _MOST_WAITING):
            self._write_next()

    def _is_next_ready(self) -> bool:
        groups = self._sent[0].groups
        return groups is None or groups.done()

    def _write_next(self) -> None:
        sent = self._sent.popleft()
        if sent.groups is None:
            self._sealing.append(self._helpers.submit(sent.file.seal))
            return
        sent.file.append(sent.groups.result())
        if sent.give_back is not None:
            sent.give_back()
