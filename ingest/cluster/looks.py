"""Read raw folders on a worker of a cluster: many files at once, since storage is slow."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from data.errors import FormatError
from ingest.cluster.worker import check_version, worker_name
from ingest.discover.disk import Disk, FileStatus
from ingest.files.walk import Entries, files_to_read, folders_below, is_lake, list_entries

# Threads; most of them wait for the storage.
_THREADS: Final = 16

T = TypeVar("T")


@dataclass(slots=True)
class Looked:
    """What a worker found; items that it could not read are missing.

    Attributes:
        worker: The worker and its host.
        entries: Entries of each folder.
        statuses: Status of each file, by path.
        formats: Name of each file's format, by path; None for an unknown format.
        left: Folders that remain for other tasks.
    """

    worker: str
    entries: dict[str, Entries] = field(default_factory=dict)
    statuses: dict[str, FileStatus] = field(default_factory=dict)
    formats: dict[str, str | None] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def look_at_folders(version: str, folders: Sequence[str], most_files: int) -> Looked:
    """List folders recursively, and read the statuses of their files.

    Args:
        most_files: After this number the remaining folders are left to other tasks.
    """
    check_version(version)
    looked = Looked(worker_name(), left=list(reversed(folders)))
    with ThreadPoolExecutor(_THREADS) as pool:
        while looked.left and len(looked.statuses) + len(looked.entries) < most_files:
            several = [looked.left.pop() for _ in range(min(_THREADS, len(looked.left)))]
            paths: list[str] = []
            for folder, entries in _seen(pool, list_entries, several).items():
                looked.entries[folder] = entries
                names, subfolders = entries
                if not is_lake(folder, subfolders):
                    paths += (f"{folder.rstrip('/')}/{name}" for name in files_to_read(names))
                    looked.left += reversed(folders_below(folder, subfolders))
            looked.statuses.update(_seen(pool, _status, paths))
    return looked


def look_at_files(version: str, paths: Sequence[str]) -> Looked:
    """Read the sizes and times of files."""
    check_version(version)
    with ThreadPoolExecutor(_THREADS) as pool:
        return Looked(worker_name(), statuses=_seen(pool, _status, paths))


def look_into_files(version: str, paths: Sequence[str]) -> Looked:
    """Detect the formats of files from their beginnings."""
    check_version(version)
    with ThreadPoolExecutor(_THREADS) as pool:
        return Looked(worker_name(), formats=_seen(pool, _format, paths))


def _seen(pool: ThreadPoolExecutor, look: Callable[[str], T], paths: Sequence[str]) -> dict[str, T]:
    """Call `look` for each path in several threads; paths with errors are left out."""
    size = -(-len(paths) // _THREADS) or 1
    parts = [paths[at : at + size] for at in range(0, len(paths), size)]

    def look_at(part: Sequence[str]) -> dict[str, T]:
        results = {}
        for path in part:
            try:
                results[path] = look(path)
            except (OSError, FormatError):
                continue
        return results

    return {path: seen for part in pool.map(look_at, parts) for path, seen in part.items()}


def _status(path: str) -> FileStatus:
    status = os.stat(path)
    return FileStatus(status.st_mode, status.st_size, status.st_mtime)


def _format(path: str) -> str | None:
    form = Disk().format_of(path)
    return form.name if form is not None else None
