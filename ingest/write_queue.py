"""Rows on their way into a run's big files: encoded by any thread, written in order."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ingest.parquet_file import RowGroup
from ingest.write import RunFile

_MOST_WAITING: Final = 4


@dataclass(frozen=True, slots=True)
class _Sent:
    file: RunFile
    groups: Future[list[RowGroup]]
    give_back: Callable[[], None] | None


class WriteQueue:
    """A bounded queue of tables that others encode; the thread that sends them writes them.

    Args:
        helpers: Threads that encode.
    """

    def __init__(self, helpers: Executor) -> None:
        self._helpers = helpers
        self._sent: deque[_Sent] = deque()

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
        self._sent.append(_Sent(file, groups, give_back))
        while self._sent and (self._sent[0].groups.done() or len(self._sent) > _MOST_WAITING):
            self._write_next()

    def finish(self) -> None:
        """Write all that was sent.

        Raises:
            LakeError: It cannot be written.
        """
        while self._sent:
            self._write_next()

    def abandon(self) -> None:
        """Forget what was sent; nobody reads what its rows are made of when this returns."""
        for sent in self._sent:
            if not sent.groups.cancel():
                sent.groups.exception()
        self._sent.clear()

    def _write_next(self) -> None:
        sent = self._sent.popleft()
        sent.file.append(sent.groups.result())
        if sent.give_back is not None:
            sent.give_back()
