"""Tables on their way into a run's big files: any thread makes and writes them."""

from collections.abc import Callable
from concurrent.futures import Executor, Future

import pyarrow as pa

from ingest.lake.run_file import RunFile


class WriteQueue:
    """Has the tables of each file written in the order in which they were sent, one at a time.

    Args:
        helpers: Threads that make the tables and write them.
    """

    def __init__(self, helpers: Executor) -> None:
        self._helpers = helpers
        self._under_way: dict[RunFile, Future[None]] = {}

    def send(self, file: RunFile, make_rows: Callable[[], pa.Table]) -> None:
        """Have rows written; waits until those sent before to the same file are written.

        Args:
            make_rows: Makes the rows, in the thread that writes them.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._wait_for(file)
        self._under_way[file] = self._helpers.submit(lambda: file.write(make_rows()))

    def end(self, file: RunFile) -> None:
        """Have a file sealed once all that was sent to it is written.

        Raises:
            LakeError: Earlier rows cannot be written.
        """
        self._wait_for(file)
        self._under_way[file] = self._helpers.submit(file.seal)

    def finish(self) -> None:
        """Wait until all is written.

        Raises:
            LakeError: It cannot be written.
        """
        for file in list(self._under_way):
            self._wait_for(file)

    def abandon(self) -> None:
        """Drop what has not begun; on return, no thread uses the files or their rows."""
        for future in self._under_way.values():
            if not future.cancel():
                future.exception()
        self._under_way.clear()

    def _wait_for(self, file: RunFile) -> None:
        if file in self._under_way:
            self._under_way.pop(file).result()
