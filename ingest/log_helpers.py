"""The threads that read and encode for all runs, and how many logs they merge at once."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

_LOGS_A_WORKER: Final = 8


class LogHelpers(ThreadPoolExecutor):
    """Threads that do the work of runs in small parts.

    A run of many logs keeps all of them busy, so another one begins only when it is over: memory
    is that of a bounded number of logs, however many runs there are.

    Attributes:
        workers: How many threads.
        heap_is_full: Whether memory is worth giving back before the next run.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.workers = workers
        self.heap_is_full = False
        self._most = self._free = _LOGS_A_WORKER * workers
        self._changed = threading.Condition()
        self._turn = threading.Lock()

    @contextmanager
    def merging(self, logs: int) -> Iterator[None]:
        """Wait, first come first served, until so many logs may be merged; then do it."""
        if not logs:
            yield
            return
        taken = min(logs, self._most)
        with self._turn, self._changed:
            self._changed.wait_for(lambda: self._free >= taken)
            self._free -= taken
        try:
            yield
        finally:
            with self._changed:
                self._free += taken
                self._changed.notify()
