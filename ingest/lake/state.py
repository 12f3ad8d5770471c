"""What a lake holds already, as ingest needs it to tell new files from known ones."""

import hashlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from data.declared import Column, runs_schema
from data.lake_files import declared_columns, listed_files, local_files
from data.lake_place import LakePath, StorePath
from data.schema import RUNS
from ingest.lake.tables import open_table
from ingest.records import Problem, UtcWindow

SUMMARY: Final = "summary"
SETTINGS_FORMAT: Final = "settings"
# Columns that follow from the settings' labels and may change without the logs being read again.
LABEL_COLUMNS: Final = (
    "loop",
    "system_label",
    "performance_metric",
    "is_baseline",
    "is_synthetic",
)
_TEXT_COLUMNS: Final = ("run_id", "dataset", "source", "workload", "system")
_STATE_COLUMNS: Final = [*_TEXT_COLUMNS, "sources", "files", *LABEL_COLUMNS]


class RecordedFile(NamedTuple):
    """A raw file that a run in the lake was read from; there may be millions of them."""

    path: str
    format: str
    size: int
    mtime: float
    digest: str


@dataclass(slots=True)
class RecordedRun:
    """What a row of `runs` says about where it came from, and its big files with their sizes."""

    run_id: str
    dataset: str
    source: str
    files: list[RecordedFile]
    fingerprint: str
    workload: str
    system: str
    labels: dict[str, Any]
    big_files: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class LakeState:
    """The lake at the start of an ingest, kept up to date by those who commit.

    Attributes:
        runs: By run id.
        files: By dataset, then path, the recorded file; a summary table's once.
        problems: By dataset, then path.
        lake: Where it is.
        tables: `runs` and `problems` at the versions that this ingest knows.
        columns: Declared columns of `runs`, by name.
        schema: All columns of `runs`.
    """

    lake: LakePath = Path()
    tables: dict[str, DeltaTable] = field(default_factory=dict)
    runs: dict[str, RecordedRun] = field(default_factory=dict)
    files: dict[str, dict[str, RecordedFile]] = field(default_factory=lambda: defaultdict(dict))
    problems: dict[str, dict[str, list[Problem]]] = field(default_factory=lambda: defaultdict(dict))
    columns: dict[str, Column] = field(default_factory=dict)
    schema: pa.Schema = RUNS
    _listed: dict[str, dict[str, int]] = field(default_factory=dict)

    def file_of(self, dataset: str, path: str) -> RecordedFile | None:
        """The file of a dataset's run at a path; None if the lake has none."""
        return self.files[dataset].get(path)

    def is_whole(self, run: RecordedRun) -> bool:
        """Whether a run's big files are all there, of the sizes that its row says."""
        if isinstance(self.lake, StorePath):
            return all(self._stored_sizes(path).get(path) == size for path, size in run.big_files)
        lake = f"{self.lake}/"
        try:
            return all(os.stat(lake + path).st_size == size for path, size in run.big_files)
        except OSError:
            return False

    def _stored_sizes(self, path: str) -> dict[str, int]:
        """Sizes of the big files beside one in an object store, by path; listed once."""
        folder = path.rpartition("/")[0]
        if folder not in self._listed:
            files = listed_files(self.lake, folder)
            self._listed[folder] = {file.path: file.size_bytes for file in files}
        return self._listed[folder]

    def declare(self, columns: Iterable[Column]) -> None:
        """Take declared columns in, as the lake has them now."""
        self.columns |= {column.name: column for column in columns}
        self.schema = runs_schema(self.columns.values())

    def record(self, run: RecordedRun) -> None:
        """Take a run in, as committed."""
        self.runs[run.run_id] = run
        files = self.files[run.dataset]
        for file in run.files:
            files[file.path] = file


def load_state(lake: LakePath) -> LakeState:
    """Read what the newest version of a lake holds; an absent lake holds nothing."""
    state = LakeState(lake)
    for name in ("runs", "problems"):
        if (table := open_table(lake, name)) is not None:
            state.tables[name] = table
    runs, problems = state.tables.get("runs"), state.tables.get("problems")
    state.declare(declared_columns(runs) if runs is not None else ())
    labels: dict[tuple[Any, ...], dict[str, Any]] = {}
    for rows in table_batches(lake / "runs", runs, _STATE_COLUMNS):
        for run in _recorded_runs(rows, labels):
            known = state.files[run.dataset]
            run.files = [_shared(known.get(file.path), file) for file in run.files]
            state.record(run)
    for row in table_rows(lake / "problems", problems):
        problem = Problem(row["kind"], row["severity"], row["detail"], row["line"], row["count"])
        state.problems[row["dataset"]].setdefault(row["path"], []).append(problem)
    return state


def summary_row_digests(lake: LakePath, dataset: str) -> dict[str, str]:
    """Digest of each summary row of a dataset, by run id."""
    condition = (pc.field("dataset") == dataset) & (pc.field("source") == SUMMARY)
    return {row["run_id"]: row_digest(row) for row in _rows(lake, None, condition)}


def read_rows(lake: LakePath, run_ids: list[str]) -> list[dict[str, Any]]:
    """Whole rows of `runs`, without their NULL columns."""
    rows = _rows(lake, None, pc.field("run_id").isin(run_ids))
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def recorded_windows(lake: LakePath, dataset: str) -> dict[str, tuple[UtcWindow, str | None]]:
    """When each run of a dataset took place, and its device, by run id; only those that say so."""
    columns = ["run_id", "start_unix_s", "duration_s", "device"]
    condition = (pc.field("dataset") == dataset) & ~pc.field("start_unix_s").is_null()
    windows = {}
    for row in _rows(lake, [*columns, "dataset"], condition):
        if row["duration_s"]:
            start_s = row["start_unix_s"]
            window = UtcWindow(start_s, start_s + row["duration_s"])
            windows[row["run_id"]] = window, row["device"]
    return windows


def row_digest(row: Mapping[str, Any]) -> str:
    """Digest of a row's content; times of raw files do not count."""
    content = {name: value for name, value in row.items() if value is not None}
    content["sources"] = [{**file, "mtime": None} for file in content.get("sources", ())]
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def recorded_runs(rows: Sequence[Mapping[str, Any]]) -> Iterator[RecordedRun]:
    """What rows of `runs` say about where they came from."""
    schema = pa.schema([RUNS.field(name) for name in _STATE_COLUMNS])
    return _recorded_runs(pa.RecordBatch.from_pylist([dict(row) for row in rows], schema), {})


def _recorded_runs(
    rows: pa.RecordBatch, labels: dict[tuple[Any, ...], dict[str, Any]]
) -> Iterator[RecordedRun]:
    """Rows of `runs` as ingest knows them, column by column: a lake may hold very many.

    Args:
        labels: Sets of labels met before, of which few differ, by their values.
    """
    files, fingerprints = _recorded_files(rows.column("sources"))
    big_files = _lists(rows.column("files"), ("path", "size_bytes"))
    named = zip(*(rows.column(name).to_pylist() for name in LABEL_COLUMNS), strict=True)
    texts = (rows.column(name).to_pylist() for name in _TEXT_COLUMNS)
    for (run_id, dataset, source, workload, system), own, fingerprint, big, values in zip(
        zip(*texts, strict=True), files, fingerprints, big_files, named, strict=True
    ):
        said = labels.get(values)
        if said is None:
            said = labels[values] = dict(zip(LABEL_COLUMNS, values, strict=True))
        yield RecordedRun(run_id, dataset, source, own, fingerprint, workload, system, said, big)


def _recorded_files(sources: pa.ListArray) -> tuple[list[list[RecordedFile]], list[str]]:
    """The raw files of each row, and the fingerprint of the settings that it depends on."""
    files, fingerprints = [], []
    for own in _lists(sources, ("path", "format", "size_bytes", "mtime", "digest")):
        digests = [digest for _, form, _, _, digest in own if form == SETTINGS_FORMAT]
        fingerprints.append(digests[-1] if digests else "")
        files.append(
            [
                RecordedFile(path, sys.intern(form), size, mtime, digest)
                for path, form, size, mtime, digest in own
                if form != SETTINGS_FORMAT
            ]
        )
    return files, fingerprints


def _lists(column: pa.ListArray, names: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """The structs of each row as tuples of the named fields; of NULL, none."""
    flat = column.flatten()
    values = zip(*(flat.field(name).to_pylist() for name in names), strict=True)
    for length in column.value_lengths().to_pylist():
        yield list(islice(values, length or 0))


def _shared(known: RecordedFile | None, file: RecordedFile) -> RecordedFile:
    """One object for a file that several runs were read from."""
    return known if known == file and known is not None else file


def table_batches(
    path: LakePath, table: DeltaTable | None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a version of a table; of None, none.

    Args:
        path: Of the table.
        columns: None for all.

    Raises:
        LakeError: A file of an object store cannot be copied to this machine.
    """
    files = local_files(path, table)
    for name in files.paths:
        with pq.ParquetFile(name) as file:
            yield from file.iter_batches(batch_size=1024, columns=columns)


def table_rows(
    path: LakePath, table: DeltaTable | None, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Read rows as `table_batches`, as dictionaries."""
    for batch in table_batches(path, table, columns):
        yield from batch.to_pylist()


def _rows(
    lake: LakePath, columns: list[str] | None, condition: pc.Expression
) -> Iterator[dict[str, Any]]:
    """Read the rows of the newest version of `runs` that meet a condition."""
    for batch in table_batches(lake / "runs", open_table(lake, "runs"), columns):
        yield from pa.Table.from_batches([batch]).filter(condition).to_pylist()
