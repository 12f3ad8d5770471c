"""The threads that read and encode for all runs, and how many logs they merge at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, ParamSpec, TypeVar

_LOGS_A_WORKER: Final = 8

P = ParamSpec("P")
T = TypeVar("T")


class LogHelpers(ThreadPoolExecutor):
    """Threads that do the work of runs in small parts.

    A run of many logs keeps all of them busy, so another one begins only when its logs are merged:
    memory is that of a bounded number of logs, however many runs there are.

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

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As an executor does; a lone worker is the thread that asks, at once."""
        if self.workers > 1:
            return super().submit(fn, *args, **kwargs)
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    @contextmanager
    def merging(self, logs: int) -> Iterator[Callable[[], None]]:
        """Wait, first come first served, until so many logs may be merged; then do it.

        Gives what says, before the end, that they are merged: others may be meanwhile.
        """
        taken = min(logs, self._most)
        if taken:
            with self._turn, self._changed:
                self._changed.wait_for(lambda: self._free >= taken)
                self._free -= taken

        def give_way() -> None:
            nonlocal taken
            with self._changed:
                self._free += taken
                taken = 0
                self._changed.notify()

        try:
            yield give_way
        finally:
            give_way()
