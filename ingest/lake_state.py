"""What a lake holds already, as ingest needs it to tell new files from known ones."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data.lake_files import local_files
from data.schema import RUNS
from ingest.records import Problem, UtcWindow
from ingest.write import conform_row, open_table

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


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A raw file that a run in the lake was read from."""

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
        files: By dataset and path, the recorded file; a summary table's once.
        problems: By dataset, then path.
        lake: Its folder.
    """

    lake: Path = Path()
    runs: dict[str, RecordedRun] = field(default_factory=dict)
    files: dict[tuple[str, str], RecordedFile] = field(default_factory=dict)
    problems: dict[str, dict[str, list[Problem]]] = field(default_factory=lambda: defaultdict(dict))

    def is_whole(self, run: RecordedRun) -> bool:
        """Whether a run's big files are all there, of the sizes that its row says."""
        try:
            return all((self.lake / path).stat().st_size == size for path, size in run.big_files)
        except OSError:
            return False

    def record(self, run: RecordedRun) -> None:
        """Take a run in, as committed."""
        self.runs[run.run_id] = run
        for file in run.files:
            self.files[run.dataset, file.path] = file


def load_state(lake: Path) -> LakeState:
    """Read what the newest version of a lake holds; an absent lake holds nothing."""
    state = LakeState(lake)
    columns = ["run_id", "dataset", "source", "workload", "system", "sources", "files"]
    columns += LABEL_COLUMNS
    shared: dict[RecordedFile, RecordedFile] = {}
    for row in _rows(lake, "runs", columns):
        run = recorded_run(row)
        run.files = [shared.setdefault(file, file) for file in run.files]
        state.record(run)
    for row in _rows(lake, "problems", None):
        problem = Problem(row["kind"], row["severity"], row["detail"], row["line"], row["count"])
        state.problems[row["dataset"]].setdefault(row["path"], []).append(problem)
    return state


def summary_row_digests(lake: Path, dataset: str) -> dict[str, str]:
    """Digest of each summary row of a dataset, by run id."""
    condition = (pc.field("dataset") == dataset) & (pc.field("source") == SUMMARY)
    return {row["run_id"]: row_digest(row) for row in _rows(lake, "runs", None, condition)}


def read_rows(lake: Path, run_ids: list[str]) -> list[dict[str, Any]]:
    """Whole rows of `runs`, without their NULL columns."""
    return [conform_row(row) for row in _rows(lake, "runs", None, pc.field("run_id").isin(run_ids))]


def recorded_windows(lake: Path, dataset: str) -> dict[str, tuple[UtcWindow, str | None]]:
    """When each run of a dataset took place, and its device, by run id; only those that say so."""
    columns = ["run_id", "start_unix_s", "duration_s", "device"]
    condition = (pc.field("dataset") == dataset) & ~pc.field("start_unix_s").is_null()
    windows = {}
    for row in _rows(lake, "runs", [*columns, "dataset"], condition):
        if row["duration_s"]:
            start_s = row["start_unix_s"]
            window = UtcWindow(start_s, start_s + row["duration_s"])
            windows[row["run_id"]] = window, row["device"]
    return windows


def row_digest(row: Mapping[str, Any]) -> str:
    """Digest of a row's content; times of raw files do not count."""
    content = {name: row[name] for name in RUNS.names if row.get(name) is not None}
    content["sources"] = [{**file, "mtime": None} for file in content.get("sources", ())]
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def recorded_run(row: Mapping[str, Any]) -> RecordedRun:
    """What a row of `runs` says about where it came from."""
    files, fingerprint = [], ""
    for source in row["sources"]:
        if source["format"] == SETTINGS_FORMAT:
            fingerprint = source["digest"]
        else:
            files.append(
                RecordedFile(
                    source["path"],
                    source["format"],
                    source["size_bytes"],
                    source["mtime"],
                    source["digest"],
                )
            )
    return RecordedRun(
        run_id=row["run_id"],
        dataset=row["dataset"],
        source=row["source"],
        files=files,
        fingerprint=fingerprint,
        workload=row["workload"],
        system=row["system"],
        labels={name: row.get(name) for name in LABEL_COLUMNS},
        big_files=[(file["path"], file["size_bytes"]) for file in row.get("files") or ()],
    )


def _rows(
    lake: Path, name: str, columns: list[str] | None, condition: pc.Expression | None = None
) -> Iterator[dict[str, Any]]:
    table = open_table(lake, name)
    if table is None:
        return
    for path in sorted(local_files(table)):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=4096, columns=columns):
                rows = pa.Table.from_batches([batch])
                yield from (rows.filter(condition) if condition is not None else rows).to_pylist()
