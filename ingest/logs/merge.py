"""All logs of one run, read in parallel and merged by time in bounded memory."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from data.analysis.log_metrics import BURST_NS, SERIES, BurstCounts, LogCounts, over_time
from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import SourceRead
from ingest.lake.run_file import RunFile
from ingest.logs import row_layout
from ingest.logs.compiling import load_loops
from ingest.logs.core_log import (
    CoreCut,
    PackageEnergy,
    Queues,
    cutting,
    energy_by_package,
    find_carriers,
)
from ingest.logs.interrupt_rows import InterruptRows
from ingest.logs.limits import DEFAULT_LIMITS, StreamLimits
from ingest.logs.log_stream import LogStream, OnBytes
from ingest.logs.memory import release_memory
from ingest.logs.overview import histogram_tables, overview_tables
from ingest.logs.sample_rows import SampleRows
from ingest.logs.sample_steps import SampleSteps
from ingest.logs.threads import LogHelpers
from ingest.logs.write_queue import WriteQueue
from ingest.records import Window
from ingest.settings.dataset import Machine

# After a run with more bytes, free memory goes back to the system before the next run.
_BIG_RUN_BYTES: Final = 64 << 20
_TABLES: Final = ("interrupts", "samples", "overview", "histograms")

CoreOf = Callable[[RawFile, int | None], int]
OpenFile = Callable[[str], RunFile]


@dataclass(slots=True)
class StreamedRun:
    """The result of reading a run's logs.

    Attributes:
        reads: The logs as read, in the order given.
        cuts: One per accepted log, sorted by core; empty without a window.
        files: The big files, not yet renamed; empty without cuts.
        counts: For the metrics of the logs; None without cuts.
    """

    reads: list[SourceRead]
    cuts: list[CoreCut]
    energy: PackageEnergy
    files: list[RunFile]
    counts: LogCounts | None


class _RestartError(Exception):
    """Rows of a log were merged under a wrong assumption about it: start the run again."""


def stream_logs(
    files: Sequence[RawFile],
    window: Window | None,
    machine: Machine,
    run_id: str,
    core_of: CoreOf,
    open_file: OpenFile,
    spool_folder: Path,
    helpers: LogHelpers,
    on_bytes: OnBytes,
    limits: StreamLimits = DEFAULT_LIMITS,
) -> StreamedRun:
    """Read all logs of a run and write its big files, in one pass and in time order.

    Args:
        files: Logs, one per core.
        window: The workload window; None: the logs are only checked for problems, and nothing is
            written.
        core_of: Returns a log's core from its file and the core that the log names.
        open_file: Opens a big file of the run by its table.
        spool_folder: Folder for the temporary file of very many samples.
        helpers: Threads that parse and encode for all runs.
        on_bytes: Called with the number of bytes read; with a negative number when a restarted
            run discards them.

    Raises:
        LakeError: A big file cannot be written.
    """
    if files:
        load_loops()
    refused: dict[str, SourceRead] = {}
    are_totals: dict[str, bool] = {}
    while True:
        streams = [
            LogStream(file, limits.block_bytes, on_bytes, are_totals.get(file.path, True))
            for file in files
            if file.path not in refused
        ]
        run = _Merge(streams, machine, run_id, helpers, limits)
        try:
            with helpers.merging(len(streams)) as release_share, ExitStack() as on_failure:
                if helpers.heap_is_full:
                    release_memory()
                    helpers.heap_is_full = False
                files_written = []
                if run.begin(window, core_of):
                    for table in _TABLES:
                        files_written.append(open_file(table))
                        on_failure.callback(files_written[-1].abandon)
                    run.write(files_written, spool_folder, release_share)
                else:
                    run.read_only()
                on_failure.pop_all()
                if sum(stream.bytes_read for stream in streams) > _BIG_RUN_BYTES:
                    helpers.heap_is_full = True
        except _RestartError:
            for stream in streams:
                are_totals[stream.file.path] = stream.are_totals
                if stream.refusal is not None:
                    refused[stream.file.path] = stream.result()
                else:
                    on_bytes(-stream.bytes_read)
            continue
        results = {stream.file.path: stream.result() for stream in streams} | refused
        reads = [results[file.path] for file in files]
        return StreamedRun(reads, run.cuts, run.energy, files_written, run.counts)


class _Merge:
    """One attempt to merge a run's logs."""

    def __init__(
        self,
        streams: list[LogStream],
        machine: Machine,
        run_id: str,
        helpers: LogHelpers,
        limits: StreamLimits,
    ) -> None:
        self._streams = streams
        self._machine = machine
        self._run_id = run_id
        self._helpers = helpers
        self._limits = limits
        self.cuts: list[CoreCut] = []
        self.energy = PackageEnergy()
        self.counts: LogCounts | None = None

    def begin(self, window: Window | None, core_of: CoreOf) -> bool:
        """Read the starts of the logs; return whether there is something to cut."""
        self._all(LogStream.begin, self._streams)
        self._streams = [stream for stream in self._streams if stream.refusal is None]
        if window is None or not self._streams:
            return False
        by = cutting(window, self._machine.tsc_hz)
        cores = {id(stream): core_of(stream.file, stream.core) for stream in self._streams}
        self._streams.sort(key=lambda stream: cores[id(stream)])
        for index, stream in enumerate(self._streams):
            stream.cut = CoreCut(cores[id(stream)], index, self._machine, by)
            self.cuts.append(stream.cut)
        self._by = by
        return True

    def read_only(self) -> None:
        """Read the logs to their ends to find their problems."""
        self._all(_exhaust, self._streams)

    def write(
        self, files: Sequence[RunFile], spool_folder: Path, release_share: Callable[[], None]
    ) -> None:
        """Merge all logs into the big files, in the order of `_TABLES`.

        Args:
            release_share: Called once the logs are merged, when memory and threads are free.
        """
        interrupts, samples, overview, histograms = files
        queues = Queues(len(self._streams), self._limits.queue_rows)
        self._all(partial(LogStream.pass_rows, queues=queues), self._streams)
        steps = self._steps()
        writes = WriteQueue(self._helpers)
        sample_rows = SampleRows(self._run_id, steps, spool_folder, self._limits)
        try:
            at_once = self._limits.row_group_rows
            length_ns = self._by.length_ns
            bursts = {name: BurstCounts(width, length_ns) for name, width in BURST_NS.items()}
            rows = InterruptRows(
                self._run_id, self.cuts, interrupts, writes, at_once, bursts.values()
            )
            self._merge(queues, rows, sample_rows)
            # Free the buffers; the steps below need memory as well.
            del queues, rows
            release_share()
            sample_rows.finish(find_carriers(self.cuts))
            self._count(steps)
            writes.send_all(overview, overview_tables(self._run_id, self.cuts, steps, self._by))
            writes.send_all(samples, sample_rows.pieces())
            writes.send_all(histograms, histogram_tables(self._run_id, self.cuts, self._by))
            writes.finish()
            dispersion = {name: counts.dispersion() for name, counts in bursts.items()}
            sizes = np.sum([cut.sizes for cut in self.cuts], axis=0)
            self.counts = LogCounts(sizes, dispersion, steps.power.power_w(), self._series(steps))
            for cut in self.cuts:
                cut.forget_bins()
        finally:
            writes.abandon()
            sample_rows.close()

    def _series(self, steps: SampleSteps) -> dict[str, np.ndarray]:
        energy_uj, has_energy = steps.overview_column("energy_uj", slice(None))
        series = {"energy_over_time": over_time(energy_uj[has_energy])}
        for name, columns in SERIES.items():
            if name not in series:
                rows = [row_layout.INTERRUPT_BINS.index(column) for column in columns]
                series[name] = over_time(
                    np.concatenate([cut.interrupt_bins[rows] for cut in self.cuts])
                )
        return {name: series[name] for name in SERIES}

    def _merge(self, queues: Queues, rows: InterruptRows, sample_rows: SampleRows) -> None:
        """Merge the ready rows while further blocks are read, until all logs are finished."""
        while True:
            limit = min((cut.floor_ns, cut.index) for cut in self.cuts)
            is_over = all(stream.is_finished for stream in self._streams)
            ends = self._ready_ends(queues, limit)
            samples = self._samples_until(limit, is_over)
            unfilled = [
                stream
                for stream, end, last in zip(self._streams, ends, queues.ends, strict=True)
                if not stream.is_finished and last - end < self._limits.least_rows
            ]
            were_totals = [stream.are_totals for stream in unfilled]
            reading = self._begin_all(lambda stream: stream.advance(queues), unfilled)
            try:
                rows.merge(queues, ends)
                sample_rows.add(samples)
            finally:
                _end_all(reading)
            if is_over:
                rows.finish()
                return
            if any(stream.refusal is not None for stream in unfilled):
                self._all(_exhaust, self._streams)
                raise _RestartError
            if any(s.are_totals != were for s, were in zip(unfilled, were_totals, strict=True)):
                raise _RestartError

    def _ready_ends(self, queues: Queues, limit: tuple[int, int]) -> np.ndarray:
        """Return the end of the ready rows in each queue; makes room for a further block."""
        ends = np.empty(len(self.cuts), np.int64)
        for index in range(len(self.cuts)):
            queues.make_room(index, self._limits.block_rows)
            head, end = int(queues.heads[index]), int(queues.ends[index])
            # At the limit's time, cores after it wait: an earlier core may still add a row.
            until = limit[0] if index <= limit[1] else limit[0] - 1
            waiting = queues.rows[index, head:end, 0]
            ends[index] = head + np.searchsorted(waiting, until, side="right")
        return ends

    def _samples_until(self, limit: tuple[int, int], is_over: bool) -> list[np.ndarray]:
        """Return the ready samples, if they are many or the last ones."""
        ready: list[np.ndarray] = []
        if (
            not is_over
            and sum(cut.samples_waiting for cut in self.cuts) < self._limits.samples_at_once
        ):
            return ready
        for cut in self.cuts:
            ready += cut.samples_until(limit[0] - (cut.index > limit[1]))
        return ready

    def _steps(self) -> SampleSteps:
        are_totals = np.ones((len(self.cuts), len(row_layout.SAMPLED)), bool)
        sleep = slice(row_layout.FIRST_SLEEP_STATE, row_layout.JOULES)
        for row, stream in zip(are_totals, self._streams, strict=True):
            row[sleep] = stream.are_totals
        bits, unit_j = self._machine.energy_counter_bits, self._machine.energy_unit_j
        return SampleSteps(self.cuts, are_totals, self._by, bits, unit_j)

    def _count(self, steps: SampleSteps) -> None:
        for stream, cut in zip(self._streams, self.cuts, strict=True):
            cut.set_totals(steps.sums[cut.index], steps.falls[cut.index], stream.facts())
        self.energy = energy_by_package(
            self.cuts,
            find_carriers(self.cuts),
            steps.sums[:, row_layout.JOULES],
            steps.falls[:, row_layout.JOULES],
            self._machine,
        )

    def _all(self, do: Callable[[LogStream], None], streams: Sequence[LogStream]) -> None:
        _end_all(self._begin_all(do, streams))

    def _begin_all(
        self, do: Callable[[LogStream], None], streams: Sequence[LogStream]
    ) -> list[Future[None]]:
        """Start a call for each log; the helpers' threads process the logs in parallel."""
        waiting = deque(streams)
        tasks = min(self._helpers.workers, len(streams))
        return [self._helpers.submit(_do_all, do, waiting) for _ in range(tasks)]


def _do_all(do: Callable[[LogStream], None], waiting: deque[LogStream]) -> None:
    while waiting:
        try:
            stream = waiting.popleft()
        except IndexError:
            return
        do(stream)


def _end_all(waiting: Sequence[Future[None]]) -> None:
    """Wait for all futures, then raise the first error."""
    errors = [future.exception() for future in waiting]
    for error in errors:
        if error is not None:
            raise error


def _exhaust(stream: LogStream) -> None:
    stream.pass_rows(None)
    while not stream.is_finished:
        stream.advance(None)
