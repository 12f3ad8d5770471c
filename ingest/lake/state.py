"""The recorded runs, files and problems of a lake, by which ingest finds new files."""

import hashlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
import pyarrow.parquet as pq
from deltalake import DeltaTable

from data.declared import Column, runs_schema
from data.errors import LakeError
from data.lake_files import declared_columns, listed_files, local_files
from data.lake_place import LakePath, StorePath
from data.object_store import error_words
from data.schema import RUNS
from ingest.lake.recorded_runs import SUMMARY, RecordedFile, RecordedRun, RecordedRuns, id_number
from ingest.lake.tables import open_table
from ingest.records import Problem, UtcWindow

SETTINGS_FORMAT: Final = "settings"
# Columns that depend only on labels in the settings; a change does not need the logs.
LABEL_COLUMNS: Final = ("loop", "system_label", "performance_metric", "is_baseline", "is_synthetic")
_TEXT_COLUMNS: Final = ("run_id", "dataset", "source", "workload", "system")
_STATE_COLUMNS: Final = [*_TEXT_COLUMNS, "sources", "files", *LABEL_COLUMNS]


@dataclass(slots=True)
class LakeState:
    """The state of a lake at the start of an ingest; the committer updates it.

    Attributes:
        runs: Recorded runs by run id.
        files: Recorded files by dataset, then path; a summary table appears once.
        problems: Problems by dataset, then path.
        lake: Path of the lake.
        tables: `runs` and `problems` at the versions that this ingest knows.
        columns: Declared columns of `runs`, by name.
        schema: Schema of `runs`, with declared columns.
        undigested: Ids of runs with big files of which the lake has no digest.
    """

    lake: LakePath = Path()
    tables: dict[str, DeltaTable] = field(default_factory=dict)
    runs: RecordedRuns = field(default_factory=RecordedRuns)
    files: dict[str, dict[str, RecordedFile]] = field(default_factory=lambda: defaultdict(dict))
    problems: dict[str, dict[str, list[Problem]]] = field(default_factory=lambda: defaultdict(dict))
    columns: dict[str, Column] = field(default_factory=dict)
    schema: pa.Schema = RUNS
    undigested: list[str] = field(default_factory=list)
    _listed: dict[str, dict[str, int]] = field(default_factory=dict)

    def file_of(self, dataset: str, path: str) -> RecordedFile | None:
        """Return the recorded file at a path; None if there is none."""
        return self.files[dataset].get(path)

    def is_whole(self, run: RecordedRun) -> bool:
        """Return whether all big files of a run exist with the sizes in its row."""
        if isinstance(self.lake, StorePath):
            return all(self._stored_sizes(path).get(path) == size for path, size in run.big_files)
        lake = f"{self.lake}/"
        try:
            return all(os.stat(lake + path).st_size == size for path, size in run.big_files)
        except OSError:
            return False

    def _stored_sizes(self, path: str) -> dict[str, int]:
        """Return the sizes of all big files beside one, by path; a folder is listed once."""
        folder = path.rpartition("/")[0]
        if folder not in self._listed:
            files = listed_files(self.lake, folder)
            self._listed[folder] = {file.path: file.size_bytes for file in files}
        return self._listed[folder]

    def declare(self, columns: Iterable[Column]) -> None:
        """Add declared columns, as the lake has them now."""
        self.columns |= {column.name: column for column in columns}
        self.schema = runs_schema(self.columns.values())

    def record(self, run: RecordedRun) -> None:
        """Add a committed run."""
        self.runs.add(run)
        files = self.files[run.dataset]
        for file in run.files:
            files[file.path] = file


def load_state(lake: LakePath, tables: dict[str, DeltaTable] | None = None) -> LakeState:
    """Read a version of a lake; a lake that does not exist is empty.

    Args:
        tables: At that version; None for the newest.
    """
    if tables is None:
        opened = {name: open_table(lake, name) for name in ("runs", "problems")}
        tables = {name: table for name, table in opened.items() if table is not None}
    state = LakeState(lake, tables)
    runs, problems = state.tables.get("runs"), state.tables.get("problems")
    state.declare(declared_columns(runs) if runs is not None else ())
    labels: dict[tuple[Any, ...], dict[str, Any]] = {}
    for rows in table_batches(lake / "runs", runs, _STATE_COLUMNS):
        state.undigested += _undigested(rows)
        for run in _recorded_runs(rows, labels):
            known = state.files[run.dataset]
            run.files = [_shared(known.get(file.path), file) for file in run.files]
            state.record(run)
    for row in table_rows(lake / "problems", problems):
        problem = Problem(row["kind"], row["severity"], row["detail"], row["line"], row["count"])
        state.problems[row["dataset"]].setdefault(row["path"], []).append(problem)
    return state


def _undigested(rows: pa.RecordBatch) -> list[str]:
    """Return the ids of runs with big files without a digest, as older versions wrote them."""
    files = rows.column("files")
    names = [field.name for field in files.type.value_type]
    if "digest" in names and not files.flatten().field("digest").null_count:
        return []
    pairs = zip(rows.column("run_id").to_pylist(), files.to_pylist(), strict=True)
    return [run_id for run_id, own in pairs if any(not file.get("digest") for file in own or ())]


def summary_row_digests(lake: LakePath, dataset: str) -> dict[int, int]:
    """Return the digests of a dataset's summary rows, by the numbers of their run ids."""
    rows = _rows(lake, None, _of_tables(dataset))
    return {id_number(row["run_id"]): summary_number(row) for row in rows}


def summary_number(row: Mapping[str, Any], digest: str = "") -> int:
    """Return the number of a row of a table; of the big files of its trace their digest counts.

    Args:
        digest: Of the sources of files that are not written yet.
    """
    drawn = {file["path"].rsplit(".", 2)[1] for file in row.get("files") or ()}
    digests = sorted({*drawn, *filter(None, [digest])})
    return row_number({**row, "files": digests, "cores": [], "has_log": None})


def summary_ids(lake: LakePath, dataset: str) -> Iterator[str]:
    """Yield the run ids of a dataset's summary rows."""
    for row in _rows(lake, ["run_id", "dataset", "source"], _of_tables(dataset)):
        yield row["run_id"]


def summary_labels(
    lake: LakePath, dataset: str, paths: Set[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the labels and sources of the rows of some tables, by run id and path."""
    columns = ["run_id", "dataset", "source", "sources", *LABEL_COLUMNS]
    return {
        (row["run_id"], row["sources"][0]["path"]): {
            name: row[name] for name in (*LABEL_COLUMNS, "sources")
        }
        for row in _rows(lake, columns, _of_tables(dataset))
        if row["sources"][0]["path"] in paths
    }


def _of_tables(dataset: str) -> pc.Expression:
    return (pc.field("dataset") == dataset) & (pc.field("source") == SUMMARY)


def read_rows(lake: LakePath, run_ids: list[str]) -> list[dict[str, Any]]:
    """Read all columns of some rows of `runs`, without NULL values."""
    rows = _rows(lake, None, pc.field("run_id").isin(run_ids))
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def datasets_with(lake: LakePath, column: str) -> set[str]:
    """Return the datasets of which a run has a value in a column of `runs`."""
    rows = _rows(lake, ["dataset", column], ~pc.field(column).is_null())
    return {row["dataset"] for row in rows}


def recorded_windows(lake: LakePath, dataset: str) -> dict[str, tuple[UtcWindow, str | None]]:
    """Return the window and device of each run of a dataset with a known time, by run id."""
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
    """Digest a row's content without the times of raw files and what other runs decide."""
    content = {name: value for name, value in row.items() if value is not None and name != "work"}
    content["sources"] = [{**file, "mtime": None} for file in content.get("sources", ())]
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def row_number(row: Mapping[str, Any]) -> int:
    """Return the first 60 bits of a row's digest."""
    return int(row_digest(row)[:15], 16)


def recorded_runs(rows: Sequence[Mapping[str, Any]]) -> Iterator[RecordedRun]:
    """Convert rows of `runs` to recorded runs."""
    schema = pa.schema([RUNS.field(name) for name in _STATE_COLUMNS])
    return _recorded_runs(pa.RecordBatch.from_pylist([dict(row) for row in rows], schema), {})


def _recorded_runs(
    rows: pa.RecordBatch, labels: dict[tuple[Any, ...], dict[str, Any]]
) -> Iterator[RecordedRun]:
    """Convert rows of `runs` column by column, since a lake may hold very many.

    Args:
        labels: Labels of earlier rows by their values; rows with equal labels share one object.
    """
    files, fingerprints = _recorded_files(rows.column("sources"))
    big_files = _lists(rows.column("files"), ("path", "size_bytes"))
    named = zip(*(rows.column(name).to_pylist() for name in LABEL_COLUMNS), strict=True)
    texts = (rows.column(name).to_pylist() for name in _TEXT_COLUMNS)
    for (run_id, dataset, source, workload, system), own, fingerprint, big, values in zip(
        zip(*texts, strict=True), files, fingerprints, big_files, named, strict=True
    ):
        run_labels = labels.get(values)
        if run_labels is None:
            run_labels = labels[values] = dict(zip(LABEL_COLUMNS, values, strict=True))
        yield RecordedRun(
            run_id, dataset, source, own, fingerprint, workload, system, run_labels, big
        )


def _recorded_files(sources: pa.ListArray) -> tuple[list[list[RecordedFile]], list[str]]:
    """Return the raw files and the fingerprint of the settings of each row."""
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
    """Yield the structs of each row as tuples of the named fields; an empty list for NULL."""
    flat = column.flatten()
    values = zip(*(flat.field(name).to_pylist() for name in names), strict=True)
    for length in column.value_lengths().to_pylist():
        yield list(islice(values, length or 0))


def _shared(known: RecordedFile | None, file: RecordedFile) -> RecordedFile:
    """Return one object for equal files of several runs."""
    return known if known == file and known is not None else file


def table_batches(
    path: LakePath, table: DeltaTable | None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a version of a table; no rows for None.

    Args:
        path: Path of the table.
        columns: Columns to read; None for all.

    Raises:
        LakeError: A file is missing, cut or damaged, or cannot be copied from an object store to
            this machine.
    """
    files = local_files(path, table)
    for name in files.paths:
        try:
            with pq.ParquetFile(name) as file:
                yield from file.iter_batches(batch_size=1024, columns=columns)
        except (OSError, pa.ArrowInvalid) as error:
            words = error_words(Path(name), error)
            raise LakeError(
                f"cannot read {name}: {words}; `ingest verify` lists all faults"
            ) from error


def table_rows(
    path: LakePath, table: DeltaTable | None, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Read rows as dictionaries; see `table_batches`."""
    for batch in table_batches(path, table, columns):
        yield from batch.to_pylist()


def _rows(
    lake: LakePath, columns: list[str] | None, condition: pc.Expression
) -> Iterator[dict[str, Any]]:
    """Read the rows of the newest version of `runs` that meet a condition.

    Files that Delta has rewritten have another type of text, for which pyarrow has no comparisons:
    the schema is given, and rows are compared once they are read.
    """
    table = open_table(lake, "runs")
    files = local_files(lake / "runs", table)
    if table is None or not files.paths:
        return
    schema = runs_schema(declared_columns(table))
    data = pd.dataset(list(files.paths), schema, format="parquet")
    for batch in data.to_batches(columns, batch_size=1024, use_threads=False):
        yield from pa.Table.from_batches([batch]).filter(condition).to_pylist()
