"""One log, read, parsed and cut to the window block by block."""

from collections.abc import Callable
from pathlib import Path

from data.errors import FormatError
from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import SourceRead, change_of, refusal_of
from ingest.files.blocks import MeteredFile
from ingest.formats.log_reader import LogFacts, LogReader
from ingest.logs import row_layout
from ingest.logs.core_log import CoreCut, Queues
from ingest.records import Problem, ReadContext

OnBytes = Callable[[int], None]


class LogStream:
    """Reads, parses and cuts one log block by block; one thread at a time may use it."""

    def __init__(
        self, file: RawFile, block_bytes: int, on_bytes: OnBytes, are_totals: bool = True
    ) -> None:
        self.file = file
        self._block_bytes = block_bytes
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
        """Whether sleep states are running totals, as far as is known; True may become False."""
        return self._are_totals

    def begin(self) -> None:
        """Read until the log's core and columns are known."""
        while not self.is_finished and self._reader.sample_names is None:
            self._read_block()

    def advance(self, queues: Queues | None) -> None:
        """Read the next block and pass its rows to the queues."""
        self._read_block()
        self.pass_rows(queues)

    def pass_rows(self, queues: Queues | None) -> None:
        """Pass the rows that are read to the queues."""
        if self.refusal is not None or self._facts is not None:
            return
        interrupts, samples = self._reader.take()
        self._are_totals &= self._reader.sleep_states_cumulative
        if self.cut is not None and queues is not None:
            self.cut.add_rows(interrupts, samples, self._reader.sample_names, queues)
            if self.is_finished:
                self.cut.floor_ns = row_layout.LATEST
        if self.is_finished:
            self._facts = self._reader.facts()
            # Free the reader's buffers while other logs and tables are still in progress.
            del self._reader

    def _read_block(self) -> None:
        try:
            if self._read_further():
                return
            self._reader.finish()
            self._metered.finish()
        except (FormatError, OSError) as error:
            self.refusal = refusal_of(error)
            # Read the rest of the file, if possible, so that the digest covers all of it.
            try:
                self._metered.finish()
            except OSError as later_error:
                self.refusal = refusal_of(later_error)
        self.is_finished = True

    def _read_further(self) -> bool:
        """Read a block, directly into the reader's buffer if it has one; False at the end."""
        room = self._reader.room(self._block_bytes) if self._metered.is_plain else None
        if room is not None:
            count = self._metered.read_into(room)
            self._reader.fed(count)
            return count > 0
        block = self._metered.read(self._block_bytes)
        if block:
            self._reader.feed(block)
        return bool(block)

    def facts(self) -> LogFacts:
        """Return the facts of the log, once it is finished, not refused and passed on."""
        assert self._facts is not None
        return self._facts

    def result(self) -> SourceRead:
        """Return the result for this file."""
        digest = self._metered.digest
        if self.refusal is not None:
            return SourceRead(self.file, digest, None, [self.refusal])
        facts = self.facts()
        problems = [*facts.problems, *change_of(self.file, self._metered.bytes_read)]
        return SourceRead(self.file, digest, facts, problems)

    @property
    def bytes_read(self) -> int:
        """Bytes read from the disk."""
        return self._metered.bytes_read
