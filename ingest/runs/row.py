"""A run's row while its files are put together."""

from collections.abc import Sequence
from typing import Any

from data.declared import Column
from data.errors import FormatError
from ingest.discover.names import RunKey, identity_columns, name_labels
from ingest.discover.source_reads import SourceRead
from ingest.records import LogFacts, Problem, Reading
from ingest.settings.dataset import Settings


class RunRow:
    """A run's row and problems while they come together.

    Attributes:
        reads: Its files as read, those that were refused included.
        row: Columns of `runs` that are known.
        columns: Columns that tools bring with them, by name.
        problems: By path, of all the files read, empty lists included.
        has_own_power: Whether its power is of another interval than its energy.
    """

    def __init__(self, key: RunKey, settings: Settings) -> None:
        self.key = key
        self.settings = settings
        self.reads: list[SourceRead] = []
        self.row: dict[str, Any] = identity_columns(key, settings)
        self.columns: dict[str, Column] = {}
        self.flags: set[str] = set()
        self.has_own_power = False
        self.problems: dict[str, list[Problem]] = {}

    def take(self, reads: Sequence[SourceRead]) -> None:
        """Take further files in, with what is wrong with each."""
        self.reads += reads
        self.problems |= {read.file.path: list(read.problems) for read in reads}
        for read in reads:
            try:
                labels = name_labels(read.file.path, self.settings)
            except FormatError as error:
                self.doubt(read, "bad_label", f"{error}; left unset")
                labels = {}
            self.row = labels | self.row
            if isinstance(read.content, Reading):
                self.columns |= {column.name: column for column in read.content.columns}

    @property
    def logs(self) -> list[SourceRead]:
        """Per-interrupt logs that could be used."""
        return [read for read in self.reads if isinstance(read.content, LogFacts)]

    @property
    def readings(self) -> list[SourceRead]:
        """Other files that could be used and say something of the run as a whole."""
        return [read for read in self.reads if isinstance(read.content, Reading)]

    def doubt(self, read: SourceRead, kind: str, detail: str) -> None:
        """Note something odd about a file that is used all the same."""
        self.problems[read.file.path].append(Problem(kind, "doubted", detail))
