"""Maintenance of a lake: counts, verification of its files, pruning of old versions."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pyarrow.parquet as pq
from deltalake import DeltaTable

from data.errors import LakeError
from data.lake_files import ListedFile, listed_files
from data.lake_place import LakePath
from data.object_store import delta_table, error_words, file_system, naming
from data.schema import RUN_TABLES
from ingest.lake.state import SETTINGS_FORMAT, table_rows
from ingest.lake.tables import locked_lake, open_table, remove_temporaries

# In an object store, where no lock tells of it, an ingest may be about to name a younger file.
UNNAMED_KEPT_S: Final = 86_400.0
_CHECKED_AT_ONCE: Final = 4
_CHECKED_TOGETHER: Final = 256


@dataclass(frozen=True, slots=True)
class Fault:
    """A difference between a lake's files and its rows."""

    run_id: str
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` removed."""

    versions: int
    files: int
    bytes: int


def describe_lake(lake: LakePath) -> dict[str, Any]:
    """Count what the newest version of a lake holds.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    runs = _require(lake, "runs")
    groups: Counter[tuple[str, str, str]] = Counter()
    flags: Counter[str] = Counter()
    files: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    raw: dict[str, int] = {}
    columns = ["dataset", "workload", "system", "flags", "files", "sources"]
    for row in table_rows(lake / "runs", runs, columns):
        groups[row["dataset"], row["workload"], row["system"]] += 1
        flags.update(row["flags"] or ())
        for file in row["files"] or ():
            files[file["table"]] += file["size_bytes"]
        raw.update(
            {s["path"]: s["size_bytes"] for s in row["sources"] if s["format"] != SETTINGS_FORMAT}
        )
    for row in list_problems(lake):
        problems[row["severity"]] += row["count"]
    return {
        "lake": str(lake),
        "version": runs.version(),
        "runs": sum(groups.values()),
        "groups": [
            {"dataset": dataset, "workload": workload, "system": system, "runs": count}
            for (dataset, workload, system), count in sorted(groups.items())
        ],
        "flags": dict(sorted(flags.items())),
        "raw_files": len(raw),
        "raw_bytes": sum(raw.values()),
        "file_bytes": dict(sorted(files.items())),
        "problems": dict(sorted(problems.items())),
    }


def list_problems(lake: LakePath) -> list[dict[str, Any]]:
    """Return all rows of `problems`, sorted by path, then line.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    rows = list(table_rows(lake / "problems", _require(lake, "problems")))
    return sorted(rows, key=lambda r: (r["path"], r["line"] or 0, r["kind"], r["dataset"]))


def verify_lake(lake: LakePath) -> Iterator[Fault]:
    """Compare each run's big files with its row: presence, readability, number of rows.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    rows = table_rows(lake / "runs", _require(lake, "runs"), ["run_id", "files"])
    sizes = {file.path: file.size_bytes for name in RUN_TABLES for file in listed_files(lake, name)}
    named = _named_files(rows)

    def check(run_id: str, file: dict[str, Any] | None) -> Fault | None:
        if file is None:
            return Fault(run_id, "runs", "two rows have this run id")
        fault = _check_file(lake / file["path"], run_id, file, sizes.get(file["path"]))
        return Fault(run_id, file["path"], fault) if fault else None

    with ThreadPoolExecutor(_CHECKED_AT_ONCE) as pool:
        while some := list(islice(named, _CHECKED_TOGETHER)):
            yield from filter(None, pool.map(check, *zip(*some, strict=True)))


def _named_files(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Each file that a run's row names, with the run's id; None for a second row of a run."""
    seen: set[str] = set()
    for row in rows:
        if row["run_id"] in seen:
            yield row["run_id"], None
        seen.add(row["run_id"])
        for file in row["files"] or ():
            yield row["run_id"], file


def prune_lake(lake: LakePath, keep_versions: int) -> Pruned:
    """Remove all but the newest versions of `runs`, and the files that only the removed ones name.

    In an object store a file that no version names stays for a day: an ingest may be about to name
    it.

    Args:
        keep_versions: Number of newest versions to keep, at least 1.

    Raises:
        LakeError: There is no lake at this path, another ingest is writing to it, or it has another
            schema version.
    """
    _require(lake, "runs")
    with locked_lake(lake):
        remove_temporaries(lake)
        removed = _prune_run_files(lake, _kept_versions(lake, "runs", keep_versions))
        dropped, more = _prune_table(lake, "runs", keep_versions)
        removed += [*more, *_prune_table(lake, "problems", 1)[1]]
    return Pruned(dropped, len(removed), sum(file.size_bytes for file in removed))


def _require(lake: LakePath, name: str) -> DeltaTable:
    table = open_table(lake, name)
    if table is None:
        raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
    return table


def _check_file(
    path: LakePath, run_id: str, expected: dict[str, Any], size: int | None
) -> str | None:
    """Read a big file completely; return what is wrong with it, or None.

    Args:
        size: Its bytes; None if it is not there.
    """
    if size is None:
        return "cannot be read: it is missing"
    if size != expected["size_bytes"]:
        return f"{size} bytes, its row says {expected['size_bytes']}"
    try:
        system, name = file_system(path)
        with system.open_input_file(name) as source, pq.ParquetFile(source) as file:
            if file.metadata.num_rows != expected["rows"]:
                return f"{file.metadata.num_rows} rows, its row says {expected['rows']}"
            if file.schema_arrow.names != RUN_TABLES[expected["table"]].names:
                return f"columns {', '.join(file.schema_arrow.names)}"
            for batch in file.iter_batches():
                ids = batch.column("run_id").unique().to_pylist()
                if ids != [run_id]:
                    return f"holds rows of {', '.join(map(str, ids))}"
    except (OSError, ValueError) as error:
        return f"cannot be read: {error_words(path, error)}"
    return None


def _kept_versions(lake: LakePath, name: str, keep: int) -> list[int]:
    """Return the newest versions that have a log entry, always including the newest."""
    newest = _require(lake, name).version()
    present = {version for version, _ in _log_entries(lake, name)} | {newest}
    return [v for v in range(newest, newest - keep, -1) if v in present]


def _log_entries(lake: LakePath, name: str) -> Iterator[tuple[int, ListedFile]]:
    for file in listed_files(lake, f"{name}/_delta_log"):
        entry = PurePosixPath(file.path)
        if entry.suffix == ".json" and entry.stem.isdigit():
            yield int(entry.stem), file


def _prune_run_files(lake: LakePath, versions: list[int]) -> list[ListedFile]:
    """Remove big files that no kept version names; return them."""
    listed = [file for name in RUN_TABLES for file in listed_files(lake, name)]
    named: set[str] = set()
    for version in versions:
        with naming("open", lake):
            table = delta_table(lake / "runs", version)
        for row in table_rows(lake / "runs", table, ["files"]):
            named.update(entry["path"] for entry in row["files"] or ())
    return _remove(lake, [f for f in listed if f.path not in named and _may_go(lake, f)])


def _prune_table(lake: LakePath, name: str, keep: int) -> tuple[int, list[ListedFile]]:
    """Remove old versions of a Delta table: Parquet files that only they use, and log entries.

    Returns:
        How many log entries went, and all files that went.
    """
    table = _require(lake, name)
    versions = _kept_versions(lake, name, keep)
    oldest = min(versions)
    with naming("read", lake / name):
        old = table.vacuum(
            retention_hours=0,
            dry_run=True,
            enforce_retention_duration=False,
            keep_versions=versions,
            full=True,
        )
    entries = [file for version, file in _log_entries(lake, name) if version < oldest]
    if entries:
        with naming("write", lake / name):
            at_oldest = delta_table(lake / name, oldest)
            assert at_oldest
            at_oldest.create_checkpoint()
    names = {f"{name}/{path}" for path in old}
    files = [file for file in listed_files(lake, name) if file.path in names]
    return len(entries), _remove(lake, [*(f for f in files if _may_go(lake, f)), *entries])


def _may_go(lake: LakePath, file: ListedFile) -> bool:
    return isinstance(lake, Path) or time.time() - file.written_s > UNNAMED_KEPT_S


def _remove(lake: LakePath, files: list[ListedFile]) -> list[ListedFile]:
    for file in files:
        with naming("remove", lake / file.path):
            system, name = file_system(lake / file.path)
            system.delete_file(name)
    return files
