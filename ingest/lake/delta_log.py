"""The log of a Delta table: its entries are whole, none is missing, and each has a digest.

A commit is durable once `seal` has returned. The folder `_digests` of a table has a file for each
file of `_delta_log`, with its digest. Delta ignores folders whose names begin with `_`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from data.errors import LakeError
from data.file_digests import differs, digest_of_file
from data.lake_files import ListedFile, listed_files
from data.lake_place import LakePath
from data.object_store import delta_table, file_system, naming
from ingest.lake.targets import open_target, sync_folders

LOG: Final = "_delta_log"
_DIGESTS: Final = "_digests"
_SUFFIX: Final = ".xxh3"
# The key of a commit's metadata with the number of files that it adds and removes.
COMMIT_KEY: Final = "wattlas"
_LAST_CHECKPOINT: Final = "_last_checkpoint"
_RESTORE: Final = "restore the file from a backup, or add the raw logs to a lake in another folder"
_REPAIR: Final = (
    "only its commit is lost, as after a power cut: `python -m ingest repair` removes the entry, "
    "and the same `python -m ingest add` then reads again what is missing"
)


class LogFaultError(LakeError):
    """A file of a table's log is empty, missing, cut or damaged.

    Attributes:
        path: Of the file, in the lake.
        detail: What is wrong with it, and what to do.
        is_last: Whether it is the newest entry, without which the lake is as before its commit.
    """

    def __init__(self, path: str, detail: str, is_last: bool = False) -> None:
        what = _REPAIR if is_last else _RESTORE
        super().__init__(f"{path} {detail}; {what}")
        self.path = path
        self.detail = f"{detail}; {what}"
        self.is_last = is_last


@dataclass(frozen=True, slots=True)
class Log:
    """The files of a table's log as they were listed.

    Attributes:
        lake, name: Of the table.
        files: In `_delta_log`.
        digests: The files in `_digests` by the name of the log's file. After a power cut one may
            be empty; it is left out.
    """

    lake: LakePath
    name: str
    files: Sequence[ListedFile]
    digests: Mapping[str, ListedFile]

    @property
    def entries(self) -> dict[int, ListedFile]:
        """The JSON entries by version, rising."""
        names = ((PurePosixPath(file.path), file) for file in self.files)
        return {
            int(entry.stem): file
            for entry, file in names
            if entry.suffix == ".json" and entry.stem.isdigit()
        }

    @property
    def unsealed(self) -> list[str]:
        """The paths of the files without a digest."""
        return [f.path for f in self.files if PurePosixPath(f.path).name not in self.digests]


def list_log(lake: LakePath, name: str) -> Log:
    """List the log of a table."""
    digests = {
        PurePosixPath(file.path).name.removesuffix(_SUFFIX): file
        for file in listed_files(lake, f"{name}/{_DIGESTS}")
        if file.size_bytes and file.path.endswith(_SUFFIX)
    }
    return Log(lake, name, listed_files(lake, f"{name}/{LOG}"), digests)


def log_faults(log: Log, is_complete: bool = False) -> Iterator[LogFaultError]:
    """Yield the faults of a table's log.

    Args:
        is_complete: Whether to compare all files with their digests; else only the newest entry.
            Entries without a digest are parsed.
    """
    lake, entries, digests = log.lake, log.entries, log.digests
    newest = max(entries, default=-1)
    sealed = [int(entry) for file in digests if (entry := file.removesuffix(".json")).isdigit()]
    for version in range(min(entries, default=0), max([newest, *sealed]) + 1):
        if version not in entries:
            path = f"{log.name}/{LOG}/{version:020}.json"
            yield LogFaultError(path, "is missing", is_last=version > newest)
    for version, file in entries.items():
        is_last = version == newest
        digest = digests.get(PurePosixPath(file.path).name)
        if not file.size_bytes:
            yield LogFaultError(file.path, "is empty", is_last)
        elif digest is None and not _is_whole(lake, file):
            yield LogFaultError(file.path, "is cut or damaged", is_last)
        elif digest and (is_complete or is_last) and (fault := _differs(lake, file, digest)):
            yield LogFaultError(file.path, fault, is_last)
    named = {file.path for file in entries.values()}
    for file in log.files if is_complete else ():
        digest = digests.get(PurePosixPath(file.path).name)
        if digest and file.path not in named and (fault := _differs(lake, file, digest)):
            yield LogFaultError(file.path, fault)


def _differs(lake: LakePath, file: ListedFile, digest: ListedFile) -> str | None:
    return differs(lake / file.path, _text(lake, digest).split(" ")[0])


def parsed_entry(lake: LakePath, file: ListedFile) -> list[dict[str, Any]]:
    """Return the actions of an entry; none if a line is no JSON object."""
    try:
        lines = [json.loads(line) for line in _text(lake, file).splitlines()]
    except (ValueError, RecursionError):
        return []
    return lines if all(isinstance(line, dict) for line in lines) else []


def _text(lake: LakePath, file: ListedFile) -> str:
    with naming("read", lake / file.path):
        system, place = file_system(lake / file.path)
        with system.open_input_stream(place) as stream:
            return bytes(stream.read()).decode("utf-8", "replace")


def _is_whole(lake: LakePath, file: ListedFile) -> bool:
    """Return whether all lines of an entry are JSON, and as many as its commit wrote."""
    lines = parsed_entry(lake, file)
    files = sum("add" in line or "remove" in line for line in lines)
    known = [line["commitInfo"].get(COMMIT_KEY) for line in lines if "commitInfo" in line]
    return bool(lines) and all(said is None or said["files"] == files for said in known)


def seal(lake: LakePath, name: str, paths: Iterable[str]) -> None:
    """Sync files of a table's log, and write their digests.

    Raises:
        LakeError: They cannot be read, or the digests cannot be written.
    """
    paths = list(paths)
    if isinstance(lake, Path) and paths:
        for path in paths:
            with naming("write", lake / path), (lake / path).open("rb") as file:
                os.fsync(file.fileno())
        sync_folders(lake, [f"{name}/{LOG}"])
    for path in paths:
        entry = PurePosixPath(path).name
        target = open_target(lake / name / _DIGESTS, entry)
        try:
            target.file.write(f"{digest_of_file(lake / path)}  {entry}\n".encode())
            target.seal()
            target.publish(f"{entry}{_SUFFIX}")
        except BaseException:
            target.abandon()
            raise


def write_checkpoint(lake: LakePath, name: str, version: int) -> None:
    """Write the checkpoint of a version, by which Delta need not read the entries before it."""
    last = list_log(lake, name).digests.get(_LAST_CHECKPOINT)
    remove_files(lake, [last.path] if last else [])
    with naming("write", lake / name):
        table = delta_table(lake / name, version)
        assert table
        table.create_checkpoint()
    seal(lake, name, list_log(lake, name).unsealed)


def remove_entries(lake: LakePath, name: str, names: Iterable[str]) -> None:
    """Remove files of a table's log and their digests, as far as they exist."""
    gone, log = set(names), list_log(lake, name)
    remove_files(lake, [f.path for f in log.files if PurePosixPath(f.path).name in gone])
    remove_files(lake, [file.path for entry, file in log.digests.items() if entry in gone])


def remove_version(lake: LakePath, name: str, stem: str) -> None:
    """Remove the newest version's entry and checkpoint from a table's log, with their digests.

    Args:
        stem: The entry's name without `.json`.
    """
    names = [PurePosixPath(f.path).name for f in listed_files(lake, f"{name}/{LOG}")]
    gone = {entry for entry in names if entry.startswith(f"{stem}.")} | {f"{stem}.json"}
    if len(gone) > 1:
        gone.add(_LAST_CHECKPOINT)
    remove_entries(lake, name, gone)


def remove_files(lake: LakePath, paths: Iterable[str]) -> None:
    """Remove files of a lake."""
    for path in paths:
        with naming("remove", lake / path):
            system, place = file_system(lake / path)
            system.delete_file(place)
