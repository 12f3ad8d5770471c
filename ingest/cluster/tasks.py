"""Run tasks on the workers of a cluster, a bounded number at a time."""

import asyncio
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future as ThreadFuture
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from distributed import Client, Future
from distributed.client import ClosedClientError, FutureCancelledError
from distributed.comm import CommClosedError

from ingest.cluster.address import ClusterError

TICK_S: Final = 0.5
# Tasks for each thread: one runs and one waits.
_TASKS_A_THREAD: Final = 2
_RESUME: Final = "finished runs are in the lake, and the same command continues from there"

T = TypeVar("T")


class Tasks(Generic[T]):
    """Calls of functions on the workers; each has an item that identifies its outcome.

    Attributes:
        threads: Number of threads of all workers, updated about once a second.
    """

    def __init__(self, client: Client, token: str) -> None:
        self._client = client
        self._loop: Any = client.loop
        self._token = token
        self._number = 0
        self._waiting: dict[str, tuple[T, Future]] = {}
        self._done: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._asked_s = 0.0
        self._answer = self._ask_threads()
        with lost_scheduler():
            self.threads: int = self._answer.result()

    def __len__(self) -> int:
        """Number of unfinished tasks."""
        return len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether a worker would start another task soon."""
        if self._answer.done():
            with lost_scheduler():
                self.threads = self._answer.result()
            if time.monotonic() - self._asked_s >= TICK_S:
                self._answer = self._ask_threads()
        return len(self._waiting) < _TASKS_A_THREAD * self.threads

    def _ask_threads(self) -> ThreadFuture[int]:
        """Request the number of threads without waiting, since the scheduler may be lost."""
        self._asked_s = time.monotonic()

        async def ask() -> int:
            return sum((await self._client.scheduler.ncores()).values())

        return asyncio.run_coroutine_threadsafe(ask(), self._loop.asyncio_loop)

    def submit(self, name: str, item: T, function: Callable[..., Any], *given: Any) -> str:
        """Submit a call; return its key.

        Args:
            name: Name of the task in Dask's dashboard.
        """
        self._number += 1
        key = f"{name}-{self._number}-{self._token}"
        call = pickle.dumps(_Call(function, given))
        with lost_scheduler():
            future = self._client.submit(pickle.loads, call, key=key, pure=False)
        self._waiting[key] = item, future
        asyncio.run_coroutine_threadsafe(self._fetch(key, future), self._loop.asyncio_loop)
        return key

    async def _fetch(self, key: str, future: Future) -> None:
        """Wait for a result, also if it is lost with its worker and computed again."""
        try:
            outcome = await future
        except (Exception, asyncio.CancelledError) as error:
            # Other exceptions are errors of the connection, not of the task.
            outcome = error if future.status == "error" else CommClosedError(str(error))
        self._done.put((key, outcome))

    def take(self) -> list[tuple[T, str, Any]]:
        """Wait at most `TICK_S` for finished tasks; return item, key, result or exception of each.

        Raises:
            ClusterError: The scheduler is lost.
        """
        finished = []
        with suppress(Empty):
            finished.append(self._done.get(timeout=TICK_S))
            while True:
                finished.append(self._done.get_nowait())
        for _, outcome in finished:
            if isinstance(outcome, CommClosedError):
                with lost_scheduler():
                    raise outcome
        return [(self._waiting.pop(key)[0], key, outcome) for key, outcome in finished]

    def close(self) -> None:
        """Cancel unfinished tasks; workers stop at their next block."""
        for _, future in self._waiting.values():
            future.release()
        self._waiting.clear()


class _Call:
    """A call that runs when its pickle is loaded.

    So on a worker without this code only the task fails. If the task itself referred to this code,
    the worker could not even load the task and would drop its connection.
    """

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self._call = function, given

    def __reduce__(self) -> Any:
        return self._call


def outcome_of(outcome: Any) -> Any:
    """Return the result of a task, or raise its exception.

    Raises:
        ClusterError: The worker cannot import this code.
    """
    if isinstance(outcome, ImportError):
        raise ClusterError(
            f"a worker of the cluster cannot import wattlas: {outcome}; start the workers in its "
            "folder: python -m distributed.cli.dask_worker ADDRESS"
        ) from outcome
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


@contextmanager
def lost_scheduler() -> Iterator[None]:
    """Convert connection errors to a ClusterError that says how to resume."""
    try:
        yield
    except (OSError, CommClosedError, ClosedClientError, FutureCancelledError) as error:
        raise ClusterError(f"the scheduler of the cluster is lost; {_RESUME}") from error
