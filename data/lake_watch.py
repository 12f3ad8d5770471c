"""Versions of a lake: which lake is at a place and its newest version, without opening it.

In a folder, each look asks for a log entry after the last one. A background thread asks an object
store at most every `EVERY_S`, with three requests while nothing changes. It reports a new version
after it has copied its files to this machine.
"""

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from data.errors import LakeError, UnknownVersionError
from data.lake_files import LocalFiles, local_files
from data.lake_place import LakePath, StorePath
from data.object_store import delta_table, file_system, naming

EVERY_S: Final = 2.0
# After a failure.
AGAIN_S: Final = 10.0
# How long a look waits for the store where something is known already.
PATIENCE_S: Final = 1.0
# In a folder, what `lake_identity` returns; in a store, the id of the Delta table.
Identity: TypeAlias = tuple[int, int, int] | str
# Time and size of the log entries of the newest version and of the next one.
_Entries: TypeAlias = tuple[tuple[int | None, int | None], ...]


def check_version(path: LakePath, version: int) -> None:
    """Refuse a version that has no log entry: delta-rs would look for it in time linear in it."""
    number = f"{version:020}"
    with naming("read", path):
        system, name = file_system(path / "runs" / "_delta_log" / f"{number[:21]}.json")
        if not system.get_file_info(name).is_file:
            raise UnknownVersionError(
                f"{path} has no version {str(version)[:40]}: it was never written, or `prune` "
                "removed it"
            )


def newest_version(path: Path, known: int = -1) -> int:
    """Return the newest version of a lake in a folder without opening it; -1 for an empty lake.

    Args:
        known: A version that the lake had. If its log entry is still there, only those after it are
            looked for: a log has no gaps. Otherwise the log is listed.

    Raises:
        LakeError: The folder cannot be read.
    """
    log = _log(path)
    try:
        if known >= 0 and (log / f"{known:020}.json").exists():
            while (log / f"{known + 1:020}.json").exists():
                known += 1
            return known
        names = [entry.name for entry in log.iterdir() if entry.suffix == ".json"]
    except FileNotFoundError:
        return -1
    except OSError as error:
        raise LakeError(f"the lake {path} cannot be read: {error}") from error
    return max((int(name[:-5]) for name in names if name[:-5].isdigit()), default=-1)


def lake_identity(path: Path) -> tuple[int, int, int] | None:
    """Return device and inode of the log's folder and the time in ns of its first commit; or None.

    It is the same for all versions of a lake: the folder of its log, and the log's first commit
    that is left.

    Raises:
        LakeError: The folder cannot be read.
    """
    log = _log(path)
    try:
        folder, first = log.stat(), (log / f"{0:020}.json")
        begun = first.stat() if first.exists() else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LakeError(f"the lake {path} cannot be read: {error}") from error
    return folder.st_dev, folder.st_ino, begun.st_mtime_ns if begun else 0


def _log(path: Path) -> Path:
    return path / "runs" / "_delta_log"


@dataclass(frozen=True, slots=True)
class Sight:
    """What is at a place.

    Attributes:
        identity: The same for all versions of a lake, and another for another lake; None for none.
        version: The newest; -1 for no runs.
    """

    identity: Identity | None
    version: int


class LakeWatch:
    """Looks at the place of a lake; safe for use from several threads.

    Attributes:
        trouble: Why an object store could not be asked the last time; empty if it could.
    """

    def __init__(self, path: LakePath) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._asking: threading.Thread | None = None
        self._seen: Sight | None = None
        self._files: tuple[LocalFiles, ...] = ()
        self._entries: _Entries = ()
        self._due_s = 0.0
        self.trouble = ""

    def look(self) -> Sight:
        """Return what is there; of an object store that does not answer, what was there last.

        Raises:
            LakeError: The place cannot be read, and it never could.
        """
        if isinstance(self._path, Path):
            known = self._seen.version if self._seen else -1
            self._seen = Sight(lake_identity(self._path), newest_version(self._path, known))
            return self._seen
        with self._lock:
            is_known, is_due = self._seen is not None, time.monotonic() >= self._due_s
            is_new = is_due and (self._asking is None or not self._asking.is_alive())
            if is_new:
                self._asking = threading.Thread(target=self._ask, args=[self._path], daemon=True)
                self._asking.start()
            asking = self._asking
        if asking and (is_new or not is_known):
            asking.join(PATIENCE_S if is_known else None)
        if self._seen is None:
            raise LakeError(self.trouble)
        return self._seen

    def _ask(self, lake: StorePath) -> None:
        try:
            if not self._entries or self._entries != self._log_entries(lake):
                self._seen = self._opened(lake)
                self._entries = self._log_entries(lake)
            self.trouble, wait_s = "", EVERY_S
        except LakeError as error:
            self.trouble, wait_s = str(error), AGAIN_S
        except Exception as error:  # Nobody else would hear of it.
            self.trouble, wait_s = f"BUG: {type(error).__name__} in {self._path}", AGAIN_S
        self._due_s = time.monotonic() + wait_s

    def _opened(self, lake: StorePath) -> Sight:
        with naming("read", lake):
            runs, problems = (delta_table(lake / name) for name in ("runs", "problems"))
        if runs is None:
            return Sight(None, -1)
        # Held, so that they are still there when the version is opened.
        self._files = local_files(lake / "runs", runs), local_files(lake / "problems", problems)
        return Sight(str(runs.metadata().id), runs.version())

    def _log_entries(self, lake: StorePath) -> _Entries:
        """Return nothing while there is no table: then it is opened each time."""
        assert self._seen
        if self._seen.identity is None:
            return ()
        version, log = self._seen.version, lake / "runs" / "_delta_log"
        with naming("read", lake):
            found = [file_system(log / f"{v:020}.json") for v in (version, version + 1)]
            infos = found[0][0].get_file_info([name for _, name in found])
        return tuple((info.mtime_ns, info.size) for info in infos)
