"""Writes of tables to a run's big files, done by the helpers' threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future

import pyarrow as pa

from ingest.lake.run_file import RunFile


class WriteQueue:
    """Writes the tables of each file in the order in which they were sent, one at a time.

    Args:
        helpers: Threads that make the tables and write them.

    Attributes:
        is_abandoned: Whether no more rows are written.
    """

    def __init__(self, helpers: Executor) -> None:
        self._helpers = helpers
        self._pending: dict[RunFile, Future[None]] = {}
        self.is_abandoned = False

    def send(self, file: RunFile, make_rows: Callable[[], pa.Table]) -> None:
        """Submit rows for writing; waits until the rows sent before to this file are written.

        Args:
            make_rows: Makes the rows, in the thread that writes them.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._wait_for(file)
        self._pending[file] = self._helpers.submit(lambda: file.write(make_rows()))

    def end(self, file: RunFile) -> None:
        """Seal a file once all rows sent to it are written.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._wait_for(file)
        self._pending[file] = self._helpers.submit(file.seal)

    def send_all(self, file: RunFile, pieces: Iterable[Callable[[], pa.Table]]) -> None:
        """Submit all further rows of a file and its end; files are written in parallel.

        Args:
            pieces: Make the rows, one after the other, in the thread that writes them.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._wait_for(file)
        self._pending[file] = self._helpers.submit(self._write_all, file, pieces)

    def _write_all(self, file: RunFile, pieces: Iterable[Callable[[], pa.Table]]) -> None:
        for make_rows in pieces:
            if self.is_abandoned:
                return
            file.write(make_rows())
        file.seal()

    def finish(self) -> None:
        """Wait until all rows are written.

        Raises:
            LakeError: A file cannot be written.
        """
        for file in list(self._pending):
            self._wait_for(file)

    def abandon(self) -> None:
        """Cancel pending writes; on return, no thread uses the files or their rows."""
        self.is_abandoned = True
        for future in self._pending.values():
            if not future.cancel():
                future.exception()
        self._pending.clear()

    def _wait_for(self, file: RunFile) -> None:
        if file in self._pending:
            self._pending.pop(file).result()
