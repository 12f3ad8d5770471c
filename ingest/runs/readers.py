"""Runs read side by side: by threads together, or by processes of their own."""

import threading
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from data.errors import WattlasError
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import read_source
from ingest.lake.run_file import RunFile
from ingest.logs.merge import stream_logs
from ingest.logs.threads import LogHelpers
from ingest.runs.assembly import AssembledRun, RunAssembly
from ingest.runs.loops import load_loops
from ingest.runs.meter_stage import MeterStage
from ingest.runs.processes import OnBytes, can_fork, run_processes
from ingest.runs.progress import Progress
from ingest.runs.schedule import share_out

_TICK_S: Final = 0.5

Results = Generator[tuple[RunWork, AssembledRun] | None, None, None]


class StoppedError(WattlasError):
    """Nobody wants the run any more that was being read."""


class RunReaders:
    """Reads runs and writes their big files, which nobody sees until their rows are committed.

    Args:
        workers: How many cores to keep busy.
        meters: Prepared.
        lock: Descriptor of the lake's lock, which no other process is to hold.
    """

    def __init__(
        self, lake: Path, workers: int, meters: MeterStage, progress: Progress, lock: int
    ) -> None:
        self._lake = lake
        self._workers = workers
        self._meters = meters
        self._progress = progress
        self._lock = lock
        self._stop = threading.Event()

    def results(self, works: Sequence[RunWork]) -> Results:
        """Finished runs as they come, and None about twice a second meanwhile.

        Few runs are under way at once, so that memory stays flat. When it is closed, those stop.
        """
        together, apart = share_out(works, self._workers if can_fork() else 1)
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
                        task = pool.submit(self._read_run, work, helpers, self._count_bytes)
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

    def _in_processes(self, works: Sequence[RunWork]) -> Results:
        if not works:
            return
        alone = LogHelpers(1)

        def read(task: int, is_last: bool, on_bytes: OnBytes) -> AssembledRun:
            if not is_last:
                return self._read_run(works[task], alone, on_bytes)
            # The others soon have nothing to do: this one may keep all cores busy.
            with LogHelpers(self._workers) as helpers:
                return self._read_run(works[task], helpers, on_bytes)

        load_loops()
        before = self._progress.bytes_done
        count = min(self._workers, len(works))
        with run_processes(count, read, self._lock) as processes:
            for found in processes.results([work.run_id for work in works], _TICK_S):
                self._progress.bytes_done = before + processes.bytes_read
                yield None if found is None else (works[found[0]], found[1])

    def _read_run(self, work: RunWork, helpers: LogHelpers, on_bytes: OnBytes) -> AssembledRun:
        """Read, assemble and write the big files of one run; runs in a worker."""
        logs = [file for file in work.files if file.format.role == "log"]
        small = [read_source(f, on_bytes) for f in work.files if f.format.role != "log"]
        assembly = RunAssembly(work, small)
        streamed = stream_logs(
            logs,
            assembly.window,
            work.files[0].settings.machine,
            work.run_id,
            assembly.core_of,
            lambda table: RunFile(self._lake, table, work.key.dataset, work.run_id),
            self._lake,
            helpers,
            on_bytes,
        )
        with ExitStack() as on_failure:
            for file in streamed.files:
                on_failure.callback(file.abandon)
            power = self._meters.join(work, assembly.utc_window, assembly.duration_s)
            run = assembly.finish(streamed.reads, streamed.cuts, streamed.energy, power)
            if run.row is not None:
                files = [*streamed.files]
                for name, table in run.tables.items():
                    files.append(RunFile(self._lake, name, work.key.dataset, work.run_id))
                    on_failure.callback(files[-1].abandon)
                    files[-1].write(table)
                run.row["files"] = [file.finish(run.digest) for file in files]
                run.row["has_log"] = any(f["table"] == "interrupts" for f in run.row["files"])
                run.tables.clear()
                on_failure.pop_all()
        return run

    def _count_bytes(self, count: int) -> None:
        if self._stop.is_set():
            raise StoppedError("stopped")
        self._progress.add_bytes(count)
