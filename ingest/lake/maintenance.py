"""Maintenance of a lake: counts, verification of its files, pruning of old versions."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from deltalake import DeltaTable

from data.errors import LakeError
from data.lake_files import local_files
from data.schema import RUN_TABLES
from ingest.lake.tables import locked_lake, open_table, remove_temporaries

_SETTINGS: Final = "settings"


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


def describe_lake(lake: Path) -> dict[str, Any]:
    """Count what the newest version of a lake holds.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    runs = _require(lake, "runs")
    groups: Counter[tuple[str, str, str]] = Counter()
    flags: Counter[str] = Counter()
    files: Counter[str] = Counter()
    raw: dict[str, int] = {}
    columns = ["dataset", "workload", "system", "flags", "files", "sources"]
    for row in _rows(runs, columns):
        groups[row["dataset"], row["workload"], row["system"]] += 1
        flags.update(row["flags"] or ())
        for file in row["files"] or ():
            files[file["table"]] += file["size_bytes"]
        raw.update({s["path"]: s["size_bytes"] for s in row["sources"] if s["format"] != _SETTINGS})
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
        "problems": dict(sorted(_count_problems(lake).items())),
    }


def list_problems(lake: Path) -> list[dict[str, Any]]:
    """Return all rows of `problems`, sorted by path, then line.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    rows = list(_rows(_require(lake, "problems"), None))
    return sorted(rows, key=lambda r: (r["path"], r["line"] or 0, r["kind"], r["dataset"]))


def verify_lake(lake: Path) -> Iterator[Fault]:
    """Compare each run's big files with its row: presence, readability, number of rows.

    Raises:
        LakeError: There is no lake at this path, or it has another schema version.
    """
    seen: set[str] = set()
    for row in _rows(_require(lake, "runs"), ["run_id", "files"]):
        run_id = row["run_id"]
        if run_id in seen:
            yield Fault(run_id, "runs", "two rows have this run id")
        seen.add(run_id)
        for file in row["files"] or ():
            fault = _check_file(lake / file["path"], run_id, file)
            if fault is not None:
                yield Fault(run_id, file["path"], fault)


def prune_lake(lake: Path, keep_versions: int) -> Pruned:
    """Remove all but the newest versions of `runs`, and the files that only the removed ones name.

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
        dropped = _prune_table(lake, "runs", keep_versions, removed)
        _prune_table(lake, "problems", 1, removed)
    return Pruned(dropped, len(removed), sum(removed.values()))


def _require(lake: Path, name: str) -> DeltaTable:
    table = open_table(lake, name)
    if table is None:
        raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
    return table


def _rows(table: DeltaTable, columns: list[str] | None) -> Iterator[dict[str, Any]]:
    for path in sorted(local_files(table)):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=4096, columns=columns):
                yield from batch.to_pylist()


def _count_problems(lake: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in list_problems(lake):
        counts[row["severity"]] += row["count"]
    return counts


def _check_file(path: Path, run_id: str, expected: dict[str, Any]) -> str | None:
    """Read a big file completely; return what is wrong with it, or None."""
    try:
        size = path.stat().st_size
        if size != expected["size_bytes"]:
            return f"{size} bytes, its row says {expected['size_bytes']}"
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows != expected["rows"]:
                return f"{file.metadata.num_rows} rows, its row says {expected['rows']}"
            if file.schema_arrow.names != RUN_TABLES[expected["table"]].names:
                return f"columns {', '.join(file.schema_arrow.names)}"
            for batch in file.iter_batches():
                ids = batch.column("run_id").unique().to_pylist()
                if ids != [run_id]:
                    return f"holds rows of {', '.join(map(str, ids))}"
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    return None


def _kept_versions(lake: Path, name: str, keep: int) -> list[int]:
    """Return the newest versions that have a log entry, always including the newest."""
    newest = _require(lake, name).version()
    log = lake / name / "_delta_log"
    present = {int(p.stem) for p in log.glob("*.json") if p.stem.isdigit()} | {newest}
    return [v for v in range(newest, newest - keep, -1) if v in present]


def _prune_run_files(lake: Path, versions: list[int]) -> dict[Path, int]:
    """Remove big files that no kept version names; return their sizes by path."""
    tables = [DeltaTable(str(lake / "runs"), version=v) for v in versions]
    named: set[str] = set()
    for path in {path for table in tables for path in local_files(table)}:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=4096, columns=["files"]):
                for files in batch.column("files").to_pylist():
                    named.update(entry["path"] for entry in files or ())
    removed: dict[Path, int] = {}
    for name in RUN_TABLES:
        for big in (lake / name).glob("*/*.parquet"):
            if big.relative_to(lake).as_posix() not in named:
                removed[big] = big.stat().st_size
                big.unlink()
    return removed


def _prune_table(lake: Path, name: str, keep: int, removed: dict[Path, int]) -> int:
    """Remove old versions of a Delta table: Parquet files that only they use, and log entries."""
    table = _require(lake, name)
    versions = _kept_versions(lake, name, keep)
    oldest = min(versions)
    old = table.vacuum(
        retention_hours=0,
        dry_run=True,
        enforce_retention_duration=False,
        keep_versions=versions,
        full=True,
    )
    log = lake / name / "_delta_log"
    entries = [p for p in log.glob("*.json") if p.stem.isdigit() and int(p.stem) < oldest]
    if entries:
        DeltaTable(str(lake / name), version=oldest).create_checkpoint()
    for path in [*(lake / name / entry for entry in old), *entries]:
        if path.is_file():
            removed[path] = path.stat().st_size
            path.unlink()
    return len(entries)
