"""The logs of one run, read side by side and merged by time in memory that does not grow."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from data.errors import FormatError
from ingest import merging
from ingest.core_logs import (
    CoreCut,
    PackageEnergy,
    Queues,
    cutting,
    energy_by_package,
    find_carriers,
)
from ingest.discover import RawFile
from ingest.log_helpers import LogHelpers
from ingest.memory import give_back
from ingest.overview_tables import histogram_tables, overview_tables
from ingest.raw_files import MeteredFile
from ingest.read_sources import SourceRead, change_of, refusal_of
from ingest.records import LogFacts, LogReader, Problem, ReadContext, Window
from ingest.run_tables import SampleSteps, interrupts_table
from ingest.sample_rows import SampleRows
from ingest.settings import Machine
from ingest.time_order import MOST_WAITING_ROWS
from ingest.write import ROW_GROUP_ROWS, RunFile
from ingest.write_queue import WriteQueue

BLOCK_BYTES: Final = 1 << 18
# A core with fewer rows than this is read on; the block that it then reads, and the line that the
# block before cut, at most 64 KiB, must find room, at 28 bytes a line or more, and rows that waited
# for the judgement of their time stamps.
_HUNGRY_BELOW: Final = 1 << 13
_BLOCK_ROWS: Final = (BLOCK_BYTES + (1 << 16)) // 28 + MOST_WAITING_ROWS
# What is merged meanwhile is still there.
_ROOM: Final = _HUNGRY_BELOW + 2 * _BLOCK_ROWS
_SAMPLES_A_PIECE: Final = 1 << 14
_SAMPLES_AT_ONCE: Final = 1 << 13
# After so much, what the heap keeps is worth giving back before the next run.
_BIG_RUN_BYTES: Final = 64 << 20
_TABLES: Final = ("interrupts", "samples", "overview", "histograms")

OnBytes = Callable[[int], None]
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


class LogStream:
    """One log on its way: read, parsed and cut a block at a time, by whatever thread is free."""

    def __init__(self, file: RawFile, on_bytes: OnBytes, are_totals: bool = True) -> None:
        self.file = file
        self._are_totals = are_totals
        self.cut: CoreCut | None = None
        self.refusal: Problem | None = None
        self.is_finished = False
        self._metered = MeteredFile(Path(file.path), on_bytes)
        context = ReadContext(file.name, file.settings.machine.tsc_hz)
        assert file.format.open_log is not None
        self._reader: LogReader = file.format.open_log(context)
        self._facts: LogFacts | None = None

    @property
    def core(self) -> int | None:
        """The core that the log itself names."""
        return self._reader.core

    @property
    def are_totals(self) -> bool:
        """Whether sleep states are running totals, as far as this or an earlier reading tells."""
        return self._are_totals

    def begin(self) -> None:
        """Read until the log's core and columns are known."""
        while not self.is_finished and self._reader.sample_names is None:
            self._read_block()

    def advance(self, queues: Queues | None) -> None:
        """Read a further block into the queues."""
        self._read_block()
        self.give(queues)

    def give(self, queues: Queues | None) -> None:
        """Hand over what was read and not handed over before."""
        if self.refusal is not None or self._facts is not None:
            return
        interrupts, samples = self._reader.take()
        self._are_totals &= self._reader.sleep_states_cumulative
        if self.cut is not None and queues is not None:
            self.cut.take(interrupts, samples, self._reader.sample_names, queues)
            if self.is_finished:
                self.cut.floor_ns = merging.LATEST
        if self.is_finished:
            self._facts = self._reader.facts()
            # Its buffers are not needed while the run's other logs and tables take their time.
            del self._reader

    def _read_block(self) -> None:
        try:
            if self._read_further():
                return
            self._reader.finish()
            self._metered.finish()
        except (FormatError, OSError) as error:
            self.refusal = refusal_of(error)
            self._refuse()
        self.is_finished = True

    def _read_further(self) -> bool:
        """Read a block, straight into the reader's buffer if it has one; False at the end."""
        room = self._reader.room(BLOCK_BYTES) if self._metered.is_plain else None
        if room is not None:
            count = self._metered.read_into(room)
            self._reader.fed(count)
            return count > 0
        block = self._metered.read(BLOCK_BYTES)
        if block:
            self._reader.feed(block)
        return bool(block)

    def _refuse(self) -> None:
        """Read on to the file's end, if the disk lets us, so that the digest is of all of it."""
        try:
            self._metered.finish()
        except OSError as error:
            self.refusal = refusal_of(error)

    def facts(self) -> LogFacts:
        """What the log says, once it is finished, not refused, and all of it was given."""
        assert self._facts is not None
        return self._facts

    def result(self) -> SourceRead:
        """The file as read."""
        digest = self._metered.digest
        if self.refusal is not None:
            return SourceRead(self.file, digest, None, [self.refusal])
        facts = self.facts()
        problems = [*facts.problems, *change_of(self.file, self._metered.bytes_read)]
        return SourceRead(self.file, digest, facts, problems)

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the disk."""
        return self._metered.bytes_read


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
            LogStream(file, on_bytes, are_totals.get(file.path, True))
            for file in files
            if file.path not in refused
        ]
        run = _Merge(streams, machine, run_id, helpers)
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
        self, streams: list[LogStream], machine: Machine, run_id: str, helpers: LogHelpers
    ) -> None:
        self._streams = streams
        self._machine = machine
        self._run_id = run_id
        self._helpers = helpers
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
        queues = Queues(len(self._streams), _ROOM)
        self._all(partial(LogStream.give, queues=queues), self._streams)
        steps = self._steps()
        given = self._run_id, steps, samples, self._helpers, spool_folder, _SAMPLES_A_PIECE
        writes, sample_rows = WriteQueue(self._helpers), SampleRows(*given)
        try:
            row_groups = _RowGroups(self._run_id, self.cuts, interrupts, writes)
            self._merge(queues, row_groups, sample_rows)
            # What follows needs room as well.
            del queues, row_groups
            give_way()
            writes.send_end(interrupts)
            sample_rows.finish(find_carriers(self.cuts), writes)
            for make_rows in histogram_tables(self._run_id, self.cuts, self._by):
                writes.send(histograms, make_rows)
            writes.send_end(histograms)
            self._count(steps)
            for make_rows in overview_tables(self._run_id, self.cuts, steps, self._by):
                writes.send(overview, make_rows)
            writes.send_end(overview)
            writes.finish()
            for cut in self.cuts:
                cut.forget_bins()
        finally:
            writes.abandon()
            sample_rows.close()

    def _merge(self, queues: Queues, rows: "_RowGroups", sample_rows: SampleRows) -> None:
        """Merge what is ready while others read on, until all logs are at their ends."""
        while True:
            limit = self._limit()
            is_over = all(stream.is_finished for stream in self._streams)
            ends = self._ready_ends(queues, limit)
            samples = self._samples_until(limit, is_over)
            hungry = [
                stream
                for stream, end, last in zip(self._streams, ends, queues.ends, strict=True)
                if not stream.is_finished and last - end < _HUNGRY_BELOW
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
            queues.make_room(place, _BLOCK_ROWS)
            head, end = int(queues.heads[place]), int(queues.ends[place])
            # Later cores wait at the same time, lest a row of an earlier one is still to come.
            until = limit[0] if place <= limit[1] else limit[0] - 1
            waiting = queues.rows[place, head:end, 0]
            ends[place] = head + np.searchsorted(waiting, until, side="right")
        return ends

    def _samples_until(self, limit: tuple[int, int], is_over: bool) -> list[np.ndarray]:
        """Samples that are ready, if they are many or the last ones."""
        given: list[np.ndarray] = []
        if not is_over and sum(cut.samples_waiting for cut in self.cuts) < _SAMPLES_AT_ONCE:
            return given
        for cut in self.cuts:
            given += cut.samples_until(limit[0] - (cut.place > limit[1]))
        return given

    def _steps(self) -> SampleSteps:
        are_totals = np.ones((len(self.cuts), len(merging.SAMPLED)), bool)
        sleep = slice(merging.FIRST_SLEEP_STATE, merging.JOULES)
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
            steps.sums[:, merging.JOULES],
            steps.falls[:, merging.JOULES],
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


@dataclass(slots=True)
class _Columns:
    """Room for the rows of a row group."""

    core: np.ndarray = field(default_factory=lambda: np.empty(ROW_GROUP_ROWS, np.int32))
    t_ns: np.ndarray = field(default_factory=lambda: np.empty(ROW_GROUP_ROWS, np.int64))
    descriptors: np.ndarray = field(default_factory=lambda: np.empty((2, ROW_GROUP_ROWS), np.int32))
    octets: np.ndarray = field(default_factory=lambda: np.empty((2, ROW_GROUP_ROWS), np.int64))
    filled: int = 0


class _RowGroups:
    """Merged rows on their way to row groups."""

    def __init__(
        self, run_id: str, cuts: Sequence[CoreCut], file: RunFile, writes: WriteQueue
    ) -> None:
        self._run_id = run_id
        self._cores = np.array([cut.core for cut in cuts], np.int32)
        self._file = file
        self._writes = writes
        self._now = _Columns()
        self._free: list[_Columns] = []

    def take(self, queues: Queues, ends: np.ndarray) -> None:
        """Merge the queues up to some ends."""
        while (queues.heads < ends).any():
            now = self._now
            now.filled = merging.merge_rows(
                queues.rows,
                queues.heads,
                merging.ends_within_reach(queues.rows, queues.heads, ends),
                self._cores,
                now.core,
                now.t_ns,
                now.descriptors,
                now.octets,
                now.filled,
            )
            if now.filled == ROW_GROUP_ROWS:
                self._send_off()

    def finish(self) -> None:
        """Send off what is left."""
        if self._now.filled:
            self._send_off()

    def _send_off(self) -> None:
        now = self._now
        self._writes.send(self._file, partial(self._table, now), partial(self._free.append, now))
        self._now = self._free.pop() if self._free else _Columns()
        self._now.filled = 0

    def _table(self, columns: _Columns) -> pa.Table:
        given = columns.core, columns.t_ns, columns.descriptors, columns.octets
        return interrupts_table(self._run_id, *(column[..., : columns.filled] for column in given))
