"""The logs of one run, read side by side and merged by time in memory that does not grow."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import SourceRead
from ingest.lake.run_file import RunFile
from ingest.logs import row_layout
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
from ingest.logs.memory import give_back
from ingest.logs.overview import histogram_tables, overview_tables
from ingest.logs.sample_rows import SampleRows
from ingest.logs.sample_steps import SampleSteps
from ingest.logs.threads import LogHelpers
from ingest.logs.write_queue import WriteQueue
from ingest.records import Window
from ingest.settings.dataset import Machine

# After so much, what the heap keeps is worth giving back before the next run.
_BIG_RUN_BYTES: Final = 64 << 20
_TABLES: Final = ("interrupts", "samples", "overview", "histograms")

CoreOf = Callable[[RawFile, int | None], int]
OpenFile = Callable[[str], RunFile]


@dataclass(slots=True)
class StreamedRun:
    """What the logs of a run gave.

    Attributes:
        reads: The logs as read, in the order given.
        cuts: One of each log that was not refused, in order of their cores; none without a window.
        files: The big files, not yet in their places; none without cuts.
    """

    reads: list[SourceRead]
    cuts: list[CoreCut]
    energy: PackageEnergy
    files: list[RunFile]


class _MisjudgedError(Exception):
    """A log turned out to be other than it seemed after rows of it were merged: begin again."""


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
        files: Logs, one a core.
        window: What counts; None if the run has no window: the logs are read for what is wrong
            with them, and nothing is written.
        core_of: A log's core, from its file and what the log itself says.
        open_file: Opens a big file of the run by its table.
        spool_folder: Where a file for very many samples may lie.
        helpers: Threads that parse and encode, of all runs.
        on_bytes: Told of bytes read; of a second beginning, with bytes to take off again.

    Raises:
        LakeError: A big file cannot be written.
    """
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
            with helpers.merging(len(streams)) as give_way, ExitStack() as on_failure:
                if helpers.heap_is_full:
                    give_back()
                    helpers.heap_is_full = False
                files_written = []
                if run.begin(window, core_of):
                    for table in _TABLES:
                        files_written.append(open_file(table))
                        on_failure.callback(files_written[-1].abandon)
                    run.write(files_written, spool_folder, give_way)
                else:
                    run.read_only()
                on_failure.pop_all()
                if sum(stream.bytes_read for stream in streams) > _BIG_RUN_BYTES:
                    helpers.heap_is_full = True
        except _MisjudgedError:
            for stream in streams:
                are_totals[stream.file.path] = stream.are_totals
                if stream.refusal is not None:
                    refused[stream.file.path] = stream.result()
                else:
                    on_bytes(-stream.bytes_read)
            continue
        results = {stream.file.path: stream.result() for stream in streams} | refused
        reads = [results[file.path] for file in files]
        return StreamedRun(reads, run.cuts, run.energy, files_written)


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

    def begin(self, window: Window | None, core_of: CoreOf) -> bool:
        """Read the logs' beginnings; tells whether there is something to cut."""
        self._all(LogStream.begin, self._streams)
        self._streams = [stream for stream in self._streams if stream.refusal is None]
        if window is None or not self._streams:
            return False
        by = cutting(window, self._machine.tsc_hz)
        cores = {id(stream): core_of(stream.file, stream.core) for stream in self._streams}
        self._streams.sort(key=lambda stream: cores[id(stream)])
        for place, stream in enumerate(self._streams):
            stream.cut = CoreCut(cores[id(stream)], place, self._machine, by)
            self.cuts.append(stream.cut)
        self._by = by
        return True

    def read_only(self) -> None:
        """Read to the end for what is wrong with the logs."""
        self._all(_exhaust, self._streams)

    def write(
        self, files: Sequence[RunFile], spool_folder: Path, give_way: Callable[[], None]
    ) -> None:
        """Merge all into the big files, in the order of `_TABLES`.

        Args:
            give_way: Called when the logs are read and merged, and room and threads are free.
        """
        interrupts, samples, overview, histograms = files
        queues = Queues(len(self._streams), self._limits.queue_rows)
        self._all(partial(LogStream.give, queues=queues), self._streams)
        steps = self._steps()
        writes = WriteQueue(self._helpers)
        sample_rows = SampleRows(self._run_id, steps, spool_folder, self._limits)
        try:
            at_once = self._limits.row_group_rows
            rows = InterruptRows(self._run_id, self.cuts, interrupts, writes, at_once)
            self._merge(queues, rows, sample_rows)
            # What follows needs room as well.
            del queues, rows
            give_way()
            sample_rows.finish(find_carriers(self.cuts), samples, writes)
            for make_rows in histogram_tables(self._run_id, self.cuts, self._by):
                writes.send(histograms, make_rows)
            writes.end(histograms)
            self._count(steps)
            for make_rows in overview_tables(self._run_id, self.cuts, steps, self._by):
                writes.send(overview, make_rows)
            writes.end(overview)
            writes.finish()
            for cut in self.cuts:
                cut.forget_bins()
        finally:
            writes.abandon()
            sample_rows.close()

    def _merge(self, queues: Queues, rows: InterruptRows, sample_rows: SampleRows) -> None:
        """Merge what is ready while others read on, until all logs are at their ends."""
        while True:
            limit = self._limit()
            is_over = all(stream.is_finished for stream in self._streams)
            ends = self._ready_ends(queues, limit)
            samples = self._samples_until(limit, is_over)
            hungry = [
                stream
                for stream, end, last in zip(self._streams, ends, queues.ends, strict=True)
                if not stream.is_finished and last - end < self._limits.least_rows
            ]
            were_totals = [stream.are_totals for stream in hungry]
            reading = self._begin_all(lambda stream: stream.advance(queues), hungry)
            try:
                rows.take(queues, ends)
                sample_rows.add(samples)
            finally:
                _end_all(reading)
            if is_over:
                rows.finish()
                return
            if any(stream.refusal is not None for stream in hungry):
                self._all(_exhaust, self._streams)
                raise _MisjudgedError
            if any(s.are_totals != were for s, were in zip(hungry, were_totals, strict=True)):
                raise _MisjudgedError

    def _limit(self) -> tuple[int, int]:
        """The earliest time and place at which a row may still come: what is before it is ready."""
        return min((cut.floor_ns, cut.place) for cut in self.cuts)

    def _ready_ends(self, queues: Queues, limit: tuple[int, int]) -> np.ndarray:
        """Where in each queue, which then has room for a further block, the ready rows end."""
        ends = np.empty(len(self.cuts), np.int64)
        for place in range(len(self.cuts)):
            queues.make_room(place, self._limits.block_rows)
            head, end = int(queues.heads[place]), int(queues.ends[place])
            # Later cores wait at the same time, lest a row of an earlier one is still to come.
            until = limit[0] if place <= limit[1] else limit[0] - 1
            waiting = queues.rows[place, head:end, 0]
            ends[place] = head + np.searchsorted(waiting, until, side="right")
        return ends

    def _samples_until(self, limit: tuple[int, int], is_over: bool) -> list[np.ndarray]:
        """Samples that are ready, if they are many or the last ones."""
        given: list[np.ndarray] = []
        if (
            not is_over
            and sum(cut.samples_waiting for cut in self.cuts) < self._limits.samples_at_once
        ):
            return given
        for cut in self.cuts:
            given += cut.samples_until(limit[0] - (cut.place > limit[1]))
        return given

    def _steps(self) -> SampleSteps:
        are_totals = np.ones((len(self.cuts), len(row_layout.SAMPLED)), bool)
        sleep = slice(row_layout.FIRST_SLEEP_STATE, row_layout.JOULES)
        for row, stream in zip(are_totals, self._streams, strict=True):
            row[sleep] = stream.are_totals
        bits, unit_j = self._machine.energy_counter_bits, self._machine.energy_unit_j
        return SampleSteps(self.cuts, are_totals, self._by, bits, unit_j)

    def _count(self, steps: SampleSteps) -> None:
        for stream, cut in zip(self._streams, self.cuts, strict=True):
            cut.take_steps(steps.sums[cut.place], steps.falls[cut.place], stream.facts())
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
        """Begin to do the same with several logs side by side, each taken by who is free."""
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
    """Wait until every one is through, and only then raise the first's error."""
    errors = [future.exception() for future in waiting]
    for error in errors:
        if error is not None:
            raise error


def _exhaust(stream: LogStream) -> None:
    stream.give(None)
    while not stream.is_finished:
        stream.advance(None)
