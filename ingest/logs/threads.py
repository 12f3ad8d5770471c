"""The threads that read and encode for all runs, with a bound on logs merged at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, ParamSpec, TypeVar

_LOGS_A_WORKER: Final = 8

P = ParamSpec("P")
T = TypeVar("T")


class LogHelpers(ThreadPoolExecutor):
    """Threads that process small parts of runs.

    A run of many logs can keep all threads busy, so the next run starts only when its logs are
    merged: memory is bounded by a number of logs, however many runs there are.

    Attributes:
        workers: Number of threads.
        heap_is_full: Whether free memory should go back to the system before the next run.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.workers = workers
        self.heap_is_full = False
        self._most = self._free = _LOGS_A_WORKER * workers
        self._changed = threading.Condition()
        self._turn = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a call; with a single worker, run it at once in the calling thread."""
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
        """Wait, in order of arrival, until `logs` more logs may be merged; release them at the end.

        Yields a function that releases them earlier, once the logs are merged.
        """
        held = min(logs, self._most)
        if held:
            with self._turn, self._changed:
                self._changed.wait_for(lambda: self._free >= held)
                self._free -= held

        def release() -> None:
            nonlocal held
            with self._changed:
                self._free += held
                held = 0
                self._changed.notify()

        try:
            yield release
        finally:
            release()
