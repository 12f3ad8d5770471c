"""A bounded folder of copies of files that never change, shared by processes.

A copy in use is locked (`flock`), which the kernel undoes when its process ends. Copies that nobody
uses go when space is needed, the least recently used first.
"""

import fcntl
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from data.errors import LakeError

FOLDER_VARIABLE: Final = "WATTLAS_CACHE"
SIZE_VARIABLE: Final = "WATTLAS_CACHE_MB"
MOST_MB: Final = 4096
_NUMBA_VARIABLE: Final = "NUMBA_CACHE_DIR"
# A copy that is not complete after so long belongs to a process that was killed.
_STRAY_S: Final = 3600.0
_PART: Final = ".part"
SPILL_PREFIX: Final = "wattlas-spill-"


def cache_folder() -> Path:
    """Return the cache folder: `$WATTLAS_CACHE`, else one in the user's cache folder."""
    if FOLDER_VARIABLE in os.environ:
        return Path(os.environ[FOLDER_VARIABLE])
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/")) / ".cache"
    return Path(base) / "wattlas"


def choose_numba_folder() -> None:
    """Choose where Numba keeps what it compiled, unless the environment does.

    Numba takes the folder of the code, else the user's; a service may write to neither, and Numba
    then refuses the code.
    """
    if _NUMBA_VARIABLE in os.environ or os.access(Path(__file__).parent, os.W_OK):
        return
    for folder in (cache_folder(), Path(tempfile.gettempdir(), f"wattlas-{os.getuid()}")):
        with suppress(OSError):
            (folder / "numba").mkdir(parents=True, exist_ok=True)
            os.environ[_NUMBA_VARIABLE] = str(folder / "numba")
            return


def most_bytes() -> int:
    """Return how many bytes the copies may have: `$WATTLAS_CACHE_MB`, else 4,096 MB.

    Raises:
        LakeError: The variable is no whole number from 1.
    """
    text = os.environ.get(SIZE_VARIABLE, str(MOST_MB))
    if not text.isdecimal() or int(text) < 1:
        raise LakeError(f"{SIZE_VARIABLE} is {text[:40]!r}, expected a whole number of MB from 1")
    return int(text) * 1_000_000


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A copy that stays while this object lives.

    Attributes:
        handle: Holds the lock.
    """

    path: Path
    handle: IO[bytes]


class FileCache:
    """Copies of files below a folder.

    Args:
        folder: Made when it is needed; nobody but this user may read it.
        bound: Bytes of all copies. Copies in use stay even if they have more.
    """

    def __init__(self, folder: Path, bound: int) -> None:
        self._folder = folder
        self._bound = bound

    def hold(self, name: str, size: int, fetch: Callable[[IO[bytes]], None]) -> HeldFile:
        """Return a copy, made if it is not there or not of its size.

        Args:
            name: Path below the folder; one name never stands for two contents.
            size: Bytes of the whole file.
            fetch: Writes the content to a file.

        Raises:
            LakeError: The folder cannot be written, or the file has another size.
        """
        path = self._folder / name
        try:
            while (copy := _locked(path, size)) is None:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._make_room(size)
                self._fetch(path, size, fetch)
        except OSError as error:
            raise LakeError(
                f"cannot keep a copy in {path.parent}: {error.strerror or error}; "
                f"{FOLDER_VARIABLE} names another folder"
            ) from error
        with suppress(OSError):
            os.utime(path)
        return copy

    def _fetch(self, path: Path, size: int, fetch: Callable[[IO[bytes]], None]) -> None:
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=_PART, delete=False) as part:
            try:
                fetch(part)
                part.flush()
                found = part.tell()
                if found != size:
                    raise LakeError(f"{path.name} has {found} bytes, the lake's log says {size}")
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise

    def _make_room(self, size: int) -> None:
        """Remove copies that nobody uses until there is room for one more."""
        entries = []
        for path in self._folder.rglob("*"):
            with suppress(FileNotFoundError):
                status = path.stat()
                if path.is_dir():
                    continue
                if path.suffix == _PART and time.time() - status.st_mtime > _STRAY_S:
                    path.unlink()
                    continue
                entries.append((status.st_mtime, status.st_size, path))
        total = size + sum(each for _, each, _ in entries)
        for _, each, path in sorted(entries):
            if total <= self._bound:
                return
            if path.suffix != _PART and _removed(path):
                total -= each


def _locked(path: Path, size: int) -> HeldFile | None:
    """Return a whole copy under a lock that others may share; None if there is none."""
    with suppress(FileNotFoundError):
        handle = path.open("rb")
        fcntl.flock(handle, fcntl.LOCK_SH)
        # It may have been removed between the two calls.
        with suppress(FileNotFoundError):
            now = path.stat()
            if (now.st_ino, now.st_size) == (os.fstat(handle.fileno()).st_ino, size):
                return HeldFile(path, handle)
        handle.close()
    return None


def _removed(path: Path) -> bool:
    """Remove a copy unless it is in use; return whether it is gone."""
    try:
        with path.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def spill_folder() -> str:
    """Return a new name in the system's temporary folder; empty, so no folder, without one.

    DuckDB makes the folder when a query first needs more than its memory. By default it would be in
    the working folder, which need not be writable.
    """
    try:
        return str(Path(tempfile.gettempdir()) / f"{SPILL_PREFIX}{secrets.token_hex(8)}")
    except OSError:
        return ""
