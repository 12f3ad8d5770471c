"""Versions of a lake, and whether a folder still holds the same lake, without opening it."""

from pathlib import Path

from data.errors import LakeError, UnknownVersionError
from data.lake_place import LakePath
from data.object_store import file_system, naming

# Device and inode of the log's folder, time in ns of its first commit.
Identity = tuple[int, int, int]


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


def lake_identity(path: Path) -> Identity | None:
    """Return the identity of the lake in a folder; None if there is no lake.

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
