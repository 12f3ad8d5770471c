"""Worker processes; each reads a batch of whole runs at a time.

They are forked from a server process that has imported all modules but called nothing of pyarrow: a
fork after a call of pyarrow may crash.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

from data.errors import WattlasError
from ingest.discover.plan import RunWork
from ingest.logs.memory import keep_heap_small
from ingest.logs.threads import LogHelpers
from ingest.runs.assembly import AssembledRun
from ingest.runs.run_reader import RunReader, StoppedError
from ingest.runs.schedule import Batch
from ingest.runs.worker_server import holding_back_ctrl_c, start_server

GRACE_S: Final = 5.0


class LostWorkerError(WattlasError):
    """A worker process ended while it read a run."""


class Workers:
    """Worker processes that read runs into a lake.

    Args:
        batches: Runs to read; each batch but the last is read by one thread.
        count: Number of processes.

    Raises:
        OSError: The processes cannot be started.
    """

    def __init__(self, reader: RunReader, batches: Sequence[Batch], count: int) -> None:
        self._works = [work for batch in batches for work in batch]
        self._places = {work.run_id: place for place, work in enumerate(self._works)}
        self._count = count
        self._left = deque(batches)
        self._under_way: dict[Future[list[AssembledRun]], Batch] = {}
        self._processes: list[Any] = []
        context = start_server()
        self._bytes_read = context.Value("q", 0)
        self._pids = context.Array("q", len(self._works))
        self._stop = context.Event()
        self._all_run = context.Event()
        shared = self._bytes_read, self._pids, self._stop, self._all_run
        self._pool = ProcessPoolExecutor(count, context, _begin, (reader, *shared))
        try:
            # Only this process receives Ctrl-C; it then stops the workers.
            with holding_back_ctrl_c():
                self._start_processes()
            self._submit()
        except BaseException:
            self.close()
            raise

    def _start_processes(self) -> None:
        """Start all processes: the pool would start another one only while none is idle."""
        others = set(multiprocessing.active_children())
        try:
            for _ in range(self._count):
                self._pool.submit(_wait_until_all_run)
        except EOFError as error:
            raise OSError(f"the fork server cannot start a process: {error}") from error
        finally:
            found = multiprocessing.active_children()
            self._processes = [each for each in found if each not in others]
            # After an error too: those that run could not end before they are killed.
            self._all_run.set()

    def _submit(self) -> None:
        """Submit batches until each process has one under way and one that waits."""
        while self._left and len(self._under_way) < 2 * self._count:
            batch = self._left.popleft()
            # While the last batch is read, the other processes become idle.
            threads = 1 if self._left else self._count
            future = self._pool.submit(_read, self._places[batch[0].run_id], batch, threads)
            self._under_way[future] = batch

    @property
    def bytes_read(self) -> int:
        """Bytes that all processes have read so far."""
        return self._bytes_read.value

    def results(self, tick_s: float) -> Iterator[tuple[RunWork, AssembledRun] | None]:
        """Yield finished runs, and None after each tick without one.

        Raises:
            LostWorkerError: A process ended.
            Exception: An exception from reading a run.
        """
        while self._under_way:
            done, _ = wait(self._under_way, tick_s, FIRST_COMPLETED)
            if not done:
                yield None
            try:
                # After the end of a process all other futures fail; results come before errors.
                for future in sorted(done, key=lambda each: each.exception() is not None):
                    batch, runs = self._under_way.pop(future), future.result()
                    if len(runs) < len(batch):
                        # The next run raised an error; as the first of a batch it does again.
                        self._left.appendleft(batch[len(runs) :])
                    yield from zip(batch, runs, strict=False)
                self._submit()
            except BrokenProcessPool:
                raise self._lost() from None

    def _lost(self) -> LostWorkerError:
        """Describe the ended process, its status and its run; the pool ends the others."""
        # The pool's own thread reads the status of each process, which can be read only once.
        waiting = threading.Thread(target=self._pool.shutdown, daemon=True)
        waiting.start()
        waiting.join(GRACE_S)
        gone = {p.pid: p.exitcode for p in self._processes if p.exitcode != -signal.SIGTERM}
        names = [work.run_id for at, work in enumerate(self._works) if self._pids[at] in gone]
        status = ", ".join(map(str, gone.values()))
        return LostWorkerError(
            f"a process of this ingest ended (status {status or 'unknown'}) while it read "
            f"{' or '.join(names) or 'a run'}; finished runs are in the lake, except those of its "
            "batch; the same command continues from there"
        )

    def close(self) -> None:
        """Stop the processes at their next block; kill those that still run after `GRACE_S`."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + GRACE_S
        try:
            for process in self._processes:
                process.join(max(0.0, until - time.monotonic()))
        finally:
            for process in self._processes:
                process.kill()
                process.join()
            self._pool.shutdown()


_here: dict[str, Any] = {}


def _begin(reader: RunReader, bytes_read: Any, pids: Any, stop: Any, all_run: Any) -> None:
    """Initialise a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The system's parent of a worker is the fork server, which may outlive the ingest's process. So
    # watch the latter.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_heap_small()
    _here.update(reader=reader, bytes_read=bytes_read, pids=pids, stop=stop, all_run=all_run)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _wait_until_all_run() -> None:
    _here["all_run"].wait()


def _read(first: int, batch: Batch, threads: int) -> list[AssembledRun]:
    """Read a batch in a worker process.

    Args:
        first: Number of the batch's first run among all runs.

    Returns:
        The runs until one raises an error.

    Raises:
        Exception: An exception from reading the first run.
    """
    runs: list[AssembledRun] = []
    with LogHelpers(threads) as helpers:
        for at, work in enumerate(batch, first):
            try:
                _here["pids"][at] = os.getpid()
                runs.append(_here["reader"].read(work, helpers, _count_bytes))
            except Exception:
                if not runs:
                    raise
                break
            finally:
                _here["pids"][at] = 0
    return runs


def _count_bytes(count: int) -> None:
    if _here["stop"].is_set():
        raise StoppedError("stopped")
    with _here["bytes_read"].get_lock():
        _here["bytes_read"].value += count
