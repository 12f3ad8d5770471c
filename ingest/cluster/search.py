"""Read raw folders on the workers of a cluster, before the search begins."""

import stat
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from distributed import KilledWorker

from ingest.cluster.address import UnseenFileError
from ingest.cluster.connection import Cluster
from ingest.cluster.looks import Looked, look_at_files, look_at_folders, look_into_files
from ingest.cluster.tasks import Tasks, outcome_of
from ingest.cluster.worker import code_version
from ingest.discover.disk import Disk, FileStatus
from ingest.discover.found_files import FORMATS_BY_NAME
from ingest.files.walk import Entries, files_to_read, folders_below, is_lake, list_entries
from ingest.formats import Format
from ingest.lake.state import LakeState

_FOLDERS_A_TASK: Final = 64
_FILES_A_TASK: Final = 4000
_HEADS_A_TASK: Final = 500

Call = tuple[Callable[..., Looked], tuple[Any, ...]]


class ClusterDisk(Disk):
    """What the workers of a cluster found; the search then asks for each item once.

    This process itself reads what no worker could read, which gives the error.
    """

    def __init__(self, cluster: Cluster, raw: Sequence[Path], state: LakeState) -> None:
        """Let the workers read all folders below the given ones.

        Raises:
            ClusterError: As for `ClusterReaders.results`.
        """
        self._state = state
        self._entries: dict[str, Entries] = {}
        self._statuses: dict[str, FileStatus] = {}
        self._formats: dict[str, str | None] = {}
        self._folders: list[str] = []
        self._files: list[str] = []
        self._unknown: list[str] = []
        for root in sorted({path.resolve() for path in raw}):
            if root.is_dir():
                self._begin(str(root))
        with closing(Tasks[Call](cluster.client, uuid.uuid4().hex[:16])) as tasks:
            self._look(tasks)

    def _begin(self, root: str) -> None:
        """List a root in this process, to detect a worker without its mount."""
        try:
            names, subfolders = self._entries[root] = list_entries(root)
        except OSError:
            return
        if not is_lake(root, subfolders):
            self._files += (f"{root.rstrip('/')}/{name}" for name in files_to_read(names))
            self._folders += folders_below(root, subfolders)

    def _look(self, tasks: Tasks[Call]) -> None:
        while self._folders or self._files or self._unknown or len(tasks):
            while tasks.has_room and (call := self._next_call()) is not None:
                function, given = call
                tasks.submit("look", call, function, code_version(), *given)
            for _, _, outcome in tasks.take():
                if not isinstance(outcome, KilledWorker):
                    self._take(outcome_of(outcome))

    def _next_call(self) -> Call | None:
        if folders := _taken(self._folders, _FOLDERS_A_TASK):
            return look_at_folders, (folders, _FILES_A_TASK)
        if paths := _taken(self._files, _FILES_A_TASK):
            return look_at_files, (paths,)
        if paths := _taken(self._unknown, _HEADS_A_TASK):
            return look_into_files, (paths,)
        return None

    def _take(self, looked: Looked) -> None:
        for folder, entries in looked.entries.items():
            if not any(entries) and any(list_entries(folder)):
                raise UnseenFileError(folder, looked.worker)
        self._entries |= looked.entries
        self._statuses |= looked.statuses
        self._formats |= looked.formats
        self._folders += reversed(looked.left)
        # The formats of files that are new or have changed are in their heads.
        for path, status in looked.statuses.items():
            known = (files.get(path) for files in self._state.files.values())
            now = (status.st_size, status.st_mtime)
            is_known = any(k and (k.size, k.mtime) == now for k in known)
            if not is_known and stat.S_ISREG(status.st_mode) and status.st_size > 0:
                self._unknown.append(path)

    def entries(self, folder: str) -> Entries:
        found = self._entries.pop(folder, None)
        return found if found is not None else super().entries(folder)

    def status(self, path: str) -> Any:
        return self._statuses.pop(path, None) or super().status(path)

    def format_of(self, path: str) -> Format | None:
        if path not in self._formats:
            return super().format_of(path)
        name = self._formats.pop(path)
        return FORMATS_BY_NAME[name] if name is not None else None


def _taken(waiting: list[str], most: int) -> list[str]:
    """Remove and return the last paths of a list."""
    taken = waiting[-most:]
    del waiting[-most:]
    return taken
