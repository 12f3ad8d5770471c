"""Maintenance of a lake: counts, pruning of old versions, repair after a power cut."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from deltalake import DeltaTable

from data.errors import LakeError
from data.lake_files import ListedFile, listed_files
from data.lake_place import LakePath
from data.object_store import delta_table, naming
from data.schema import RUN_TABLES
from ingest.lake.delta_log import (
    list_log,
    log_faults,
    remove_entries,
    remove_files,
    remove_version,
    write_checkpoint,
)
from ingest.lake.state import SETTINGS_FORMAT, table_rows
from ingest.lake.tables import locked_lake, open_table, remove_temporaries
from ingest.lake.verification import check_logs

# In an object store, where no lock tells of it, an ingest may be about to name a younger file.
UNNAMED_KEPT_S: Final = 86_400.0


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
    sizes: dict[tuple[str, str], int] = {}
    problems: Counter[str] = Counter()
    raw: dict[str, int] = {}
    columns = ["dataset", "workload", "system", "flags", "files", "sources"]
    for row in table_rows(lake / "runs", runs, columns):
        groups[row["dataset"], row["workload"], row["system"]] += 1
        flags.update(row["flags"] or ())
        # Runs share files of distributions: a file counts once.
        sizes |= {(f["table"], f["path"]): f["size_bytes"] for f in row["files"] or ()}
        raw.update(
            {s["path"]: s["size_bytes"] for s in row["sources"] if s["format"] != SETTINGS_FORMAT}
        )
    for row in list_problems(lake):
        problems[row["severity"]] += row["count"]
    files: Counter[str] = Counter()
    for (table, _), size in sizes.items():
        files[table] += size
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


def prune_lake(lake: LakePath, keep_versions: int) -> Pruned:
    """Remove all but the newest versions of `runs`, and the files that only the removed ones name.

    In an object store a file that no version names stays for a day: an ingest may be about to name
    it.

    Args:
        keep_versions: Number of newest versions to keep, at least 1.

    Raises:
        LakeError: There is no lake at this path, another ingest is writing to it, it has another
            schema version, or an entry of its log is empty, missing or cut.
    """
    if not list_log(lake, "runs").files:
        _require(lake, "runs")
    with locked_lake(lake):
        check_logs(lake)
        remove_temporaries(lake)
        removed = _prune_run_files(lake, _kept_versions(lake, "runs", keep_versions))
        dropped, more = _prune_table(lake, "runs", keep_versions)
        removed += [*more, *_prune_table(lake, "problems", 1)[1]]
    return Pruned(dropped, len(removed), sum(file.size_bytes for file in removed))


def repair_lake(lake: LakePath) -> list[str]:
    """Remove newest entries of the log that are empty, missing or cut; return their paths.

    The lake is then as before their commits, which the next `add` makes again.

    Raises:
        LakeError: Another entry has a fault, or another ingest is writing to the lake.
    """
    removed: list[str] = []
    with locked_lake(lake):
        for name in ("runs", "problems"):
            while faults := list(log_faults(list_log(lake, name))):
                if broken := next((fault for fault in faults if not fault.is_last), None):
                    raise broken
                for fault in faults:
                    remove_version(lake, name, PurePosixPath(fault.path).stem)
                    removed.append(fault.path)
    return removed


def _require(lake: LakePath, name: str) -> DeltaTable:
    table = open_table(lake, name)
    if table is None:
        raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
    return table


def _kept_versions(lake: LakePath, name: str, keep: int) -> list[int]:
    """Return the newest versions that have a log entry, always including the newest."""
    newest = _require(lake, name).version()
    present = {*list_log(lake, name).entries} | {newest}
    return [v for v in range(newest, newest - keep, -1) if v in present]


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
    entries = [f for version, f in list_log(lake, name).entries.items() if version < oldest]
    if entries:
        write_checkpoint(lake, name, oldest)
    names = {f"{name}/{path}" for path in old}
    files = [file for file in listed_files(lake, name) if file.path in names]
    files = _remove(lake, [file for file in files if _may_go(lake, file)])
    remove_entries(lake, name, [PurePosixPath(entry.path).name for entry in entries])
    return len(entries), [*files, *entries]


def _may_go(lake: LakePath, file: ListedFile) -> bool:
    return isinstance(lake, Path) or time.time() - file.written_s > UNNAMED_KEPT_S


def _remove(lake: LakePath, files: list[ListedFile]) -> list[ListedFile]:
    remove_files(lake, [file.path for file in files])
    return files
