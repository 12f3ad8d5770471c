"""The row of a run while its files are added."""

from collections.abc import Sequence
from typing import Any

from data.declared import Column
from data.errors import FormatError
from ingest.discover.names import RunKey, identity_columns, label_columns, name_labels
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import SourceRead, settings_struct, source_struct
from ingest.formats.log_reader import LogFacts
from ingest.records import Problem, Reading
from ingest.settings.dataset import Settings


class RunRow:
    """The row and problems of a run while its files are added.

    Attributes:
        reads: All files that were read, refused ones included.
        row: The known columns of `runs`.
        columns: Columns that tools add to `runs`, by name.
        problems: Problems of all files that were read, by path, empty lists included.
        has_own_power: Whether its power was measured over an interval other than its energy's.
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
        """Add files and their problems."""
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
        """The usable per-interrupt logs."""
        return [read for read in self.reads if isinstance(read.content, LogFacts)]

    @property
    def readings(self) -> list[SourceRead]:
        """The other usable files, with values of the whole run."""
        return [read for read in self.reads if isinstance(read.content, Reading)]

    def doubt(self, read: SourceRead, kind: str, detail: str) -> None:
        """Add a problem to a file that is used nevertheless."""
        self.problems[read.file.path].append(Problem(kind, "doubted", detail))


def amended_row(row: dict[str, Any], work: RunWork) -> dict[str, Any]:
    """Return a row of the lake with the present settings' labels and the files' present times."""
    settings = work.files[0].settings
    key = work.key
    flags = set(row["flags"]) - {"unknown_system"}
    if key.system not in {*settings.systems, key.dataset}:
        flags.add("unknown_system")
    digests = {source["path"]: source for source in row["sources"]}
    files = [
        source_struct(file, digests[file.path]["digest"])
        for file in work.files
        if file.path in digests
    ]
    other_sources = [s for s in row["sources"] if s["path"] not in {f["path"] for f in files}]
    other_sources = [s for s in other_sources if s["digest"] != settings.fingerprint]
    return {
        **row,
        **label_columns(key.workload, key.system, settings),
        "flags": sorted(flags),
        "sources": [*files, *other_sources, settings_struct(settings)],
    }
