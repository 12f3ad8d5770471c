"""Processes that read whole runs, each one at a time.

Threads of one process take turns at its interpreter: on two cores they read a run hardly faster
than one of them, and two processes read two runs nearly twice as fast.
"""

import mmap
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

from data.errors import WattlasError

_SLOT_BYTES: Final = 8
_GRACE_S: Final = 5.0

OnBytes = Callable[[int], None]


class LostWorkerError(WattlasError):
    """A process that read a run was killed."""


class _Orphaned(BaseException):
    """The process that wanted the runs is gone."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """What reading a run raised."""

    error: Exception


class RunProcesses:
    """Processes forked from this one, which therefore know all that it knows.

    Forked, since what a run needs is there already: settings, meters, and compiled loops, if
    `loops.load_loops` was called; else a child would take the compiler's lock, which another
    thread may hold for ever.

    Args:
        count: How many.
        read: Reads a task, a number that means something to the caller, and gives what it gave,
            which must be picklable; is told whether other processes may have nothing to do
            meanwhile, and what to tell of bytes read. Runs in the children.
        lock: A file whose lock is the parent's alone.

    Raises:
        OSError: Not one process can be begun; if others cannot, there are fewer.
    """

    def __init__(
        self, count: int, read: Callable[[int, bool, OnBytes], Any], lock: int | None = None
    ) -> None:
        self._read = read
        self._lock = lock
        self._parent = os.getpid()
        self._counts = memoryview(mmap.mmap(-1, _SLOT_BYTES * (count + 1))).cast("q")
        self._ends: list[Connection] = []
        self._processes: list[BaseProcess] = []
        # Ctrl-C is the parent's to hear, which then stops the children as it sees fit.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for slot in range(count):
                try:
                    self._begin(slot)
                except OSError:
                    if not self._processes:
                        raise
                    break
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        except BaseException:
            self.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise

    def _begin(self, slot: int) -> None:
        context = get_context("fork")
        ours, theirs = context.Pipe()
        self._ends.append(ours)
        process = context.Process(target=self._serve, args=(theirs, slot), daemon=True)
        try:
            process.start()
        except OSError:
            self._ends.pop().close()
            raise
        finally:
            theirs.close()
        self._processes.append(process)

    @property
    def bytes_read(self) -> int:
        """By all processes so far."""
        return sum(self._counts[:-1])

    def results(self, names: Sequence[str], tick_s: float) -> Iterator[tuple[int, Any] | None]:
        """Tasks by their place with what reading them gave, as they come; None meanwhile.

        Args:
            names: Of the tasks, for messages.
            tick_s: The longest without a word.

        Raises:
            LostWorkerError: A process is gone.
            Exception: What reading a task raised.
        """
        left = list(reversed(range(len(names))))
        under_way: dict[Connection, int] = {}
        for end in self._ends:
            self._give(end, left, under_way)
        while under_way:
            ready = wait(list(under_way), tick_s)
            if not ready:
                yield None
            for end in [end for end in under_way if end in ready]:
                task = under_way.pop(end)
                outcome = self._receive(end, names[task])
                self._give(end, left, under_way)
                yield task, outcome

    def _give(self, end: Connection, left: list[int], under_way: dict[Connection, int]) -> None:
        if left:
            task = left.pop()
            under_way[end] = task
            with suppress(BrokenPipeError):
                end.send((task, not left))

    def _receive(self, end: Connection, name: str) -> Any:
        try:
            outcome = end.recv()
        except (EOFError, OSError):
            process = self._processes[self._ends.index(end)]
            process.join(_GRACE_S)
            raise LostWorkerError(
                f"a process of this ingest is gone (status {process.exitcode}) while it read "
                f"{name}; what was finished is in the lake, and the same command goes on from there"
            ) from None
        if isinstance(outcome, _Failed):
            raise outcome.error
        return outcome

    def close(self) -> None:
        """Have the children stop at their next block; those that do not within 5 s are killed."""
        self._counts[-1] = 1
        for end in self._ends:
            end.close()
        until = time.monotonic() + _GRACE_S
        try:
            for process in self._processes:
                process.join(max(0.0, until - time.monotonic()))
        finally:
            for process in self._processes:
                process.kill()
                process.join()

    def _serve(self, end: Connection, slot: int) -> None:
        """Read what is asked for until nobody asks; in a child."""
        for other in self._ends:
            other.close()
        if self._lock is not None:
            os.close(self._lock)

        guard = threading.Lock()

        def on_bytes(count: int) -> None:
            if self._counts[-1] or os.getppid() != self._parent:
                raise _Orphaned
            with guard:
                self._counts[slot] += count

        with suppress(EOFError, BrokenPipeError, ConnectionResetError, _Orphaned):
            while True:
                task, is_last = end.recv()
                try:
                    outcome = ForkingPickler.dumps(self._read(task, is_last, on_bytes))
                except Exception as error:
                    outcome = ForkingPickler.dumps(_Failed(_that_travels(error)))
                end.send_bytes(outcome)


def _that_travels(error: Exception) -> Exception:
    """The error with where it was raised, or what it says where it cannot be pickled."""
    if isinstance(error, WattlasError | OSError):
        words = str(error)
    else:
        error.add_note("in a process that read runs:\n" + traceback.format_exc())
        words = f"{type(error).__name__}: {error}"
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WattlasError(words) if isinstance(error, WattlasError) else RuntimeError(words)
    return error


def can_fork() -> bool:
    """Whether this process may have such children; theirs may not."""
    return hasattr(os, "fork") and not current_process().daemon


@contextmanager
def run_processes(
    count: int, read: Callable[[int, bool, OnBytes], Any], lock: int | None = None
) -> Iterator[RunProcesses]:
    """`RunProcesses` that are gone at the end."""
    processes = RunProcesses(count, read, lock)
    try:
        yield processes
    finally:
        processes.close()
