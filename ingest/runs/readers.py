"""Read runs in parallel, in threads of this process or in worker processes."""

import threading
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from multiprocessing import current_process
from typing import Final

from ingest.discover.plan import RunWork
from ingest.logs.compiling import are_cached
from ingest.logs.threads import LogHelpers
from ingest.runs.assembly import AssembledRun
from ingest.runs.progress import Progress
from ingest.runs.run_reader import RunReader, StoppedError
from ingest.runs.schedule import Batch, share_out
from ingest.runs.worker_server import start_server
from ingest.runs.workers import Workers

_TICK_S: Final = 0.5

Results = Generator[tuple[RunWork, AssembledRun] | None, None, None]


def start_server_early(works: Sequence[RunWork], workers: int) -> None:
    """Start the fork server if processes will read runs: it imports while meters are read.

    If loops are not compiled yet, it starts later: it would import and the processes load them.
    """
    if are_cached() and share_out(works, _usable(workers))[1]:
        with suppress(OSError):
            start_server()


def _usable(workers: int) -> int:
    """Return the number of workers, which is 1 in a daemonic process: it may not start others."""
    return 1 if current_process().daemon else workers


class RunReaders:
    """Reads the runs of an ingest on all cores.

    Args:
        workers: Number of cores to use.
    """

    def __init__(self, reader: RunReader, workers: int, progress: Progress) -> None:
        self._reader = reader
        self._workers = workers
        self._progress = progress
        self._stop = threading.Event()

    def results(self, works: Sequence[RunWork]) -> Results:
        """Yield finished runs, and None about twice a second.

        Few runs or batches are read at once, which bounds memory. Closing the generator stops them.
        """
        together, apart = share_out(works, _usable(self._workers))
        yield from self._in_threads(together)
        yield from self._in_processes(apart)

    def _in_threads(self, given: Sequence[RunWork]) -> Results:
        if not given:
            return
        waiting: dict[Future[AssembledRun], RunWork] = {}
        works = iter(given)
        with LogHelpers(self._workers) as helpers, ThreadPoolExecutor(self._workers) as pool:
            try:
                while True:
                    while len(waiting) < 2 * self._workers and (work := next(works, None)):
                        task = pool.submit(self._reader.read, work, helpers, self._count_bytes)
                        waiting[task] = work
                    if not waiting:
                        return
                    done, _ = wait(waiting, timeout=_TICK_S, return_when=FIRST_COMPLETED)
                    yield None
                    for future in done:
                        yield waiting.pop(future), future.result()
            except BaseException:
                self._stop.set()
                raise

    def _in_processes(self, batches: Sequence[Batch]) -> Results:
        if not batches:
            return
        before = self._progress.bytes_done
        try:
            workers = Workers(self._reader, batches, min(self._workers, len(batches)))
        except OSError:
            # For example, there is no space for the sockets and pipes of the processes.
            yield from self._in_threads([work for batch in batches for work in batch])
            return
        with closing(workers):
            for found in workers.results(_TICK_S):
                self._progress.bytes_done = before + workers.bytes_read
                yield found

    def _count_bytes(self, count: int) -> None:
        if self._stop.is_set():
            raise StoppedError("stopped")
        self._progress.add_bytes(count)
