"""Write one file to a folder or an object store, complete or not at all, with its digest."""

import os
import secrets
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final, Protocol

import xxhash

from data.lake_place import LakePath, StorePath
from data.object_store import file_system, naming

_BUFFER_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 8 << 20
# Blocks that are uploaded at once.
_AT_ONCE: Final = 4


def temporary_folder(lake: LakePath) -> Path:
    """Return the folder of temporary files: the lake, or for an object store a local folder."""
    return lake if isinstance(lake, Path) else Path(tempfile.gettempdir())


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        _sync_folder(path.parent)


def sync_folders(lake: LakePath, folders: Iterable[str]) -> None:
    """Make the names in folders of a lake durable, and the folders themselves; a store's are."""
    if not isinstance(lake, Path):
        return
    paths = {path for folder in folders for path in (folder, *PurePosixPath(folder).parents)}
    for path in sorted({str(path) for path in paths}, reverse=True):
        with naming("write", lake / path):
            _sync_folder(lake / path)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class DigestedFile:
    """A file that is written from start to end, and the digest of the bytes so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = xxhash.xxh3_128()
        self.closed = False

    def write(self, content: bytes) -> int:
        """Append bytes."""
        self._digest.update(content)
        return self._file.write(content)

    def tell(self) -> int:
        """Return the number of bytes so far."""
        return self._file.tell()

    def flush(self) -> None:
        """Give all bytes to the kernel."""
        self._file.flush()

    def close(self) -> None:
        """Do nothing: the target closes its file."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def digest(self) -> str:
        """Return the digest, in the form of `digest_of_file`."""
        return self._digest.hexdigest()


class Target(Protocol):
    """A file while it is written.

    Attributes:
        file: For the bytes.
    """

    file: DigestedFile

    def seal(self) -> None:
        """Flush all bytes to the disk; no more may be written."""

    def publish(self, name: str) -> int:
        """Make the file visible under a name; return its size in bytes."""

    def abandon(self) -> None:
        """Remove the file, unless it is published."""


def open_target(folder: LakePath, stem: str) -> Target:
    """Open a new file.

    Args:
        stem: Distinguishes the file from others that are written at the same time.
    """
    return _Stored(folder) if isinstance(folder, StorePath) else _InFolder(folder, stem)


class _InFolder:
    """A temporary file in the folder, which `publish` renames."""

    def __init__(self, folder: Path, stem: str) -> None:
        self._folder = folder
        self._temporary = folder / f".{stem}.{secrets.token_hex(6)}.tmp"
        folder.mkdir(parents=True, exist_ok=True)
        self._open = self._temporary.open("wb", buffering=_BUFFER_BYTES)
        self.file = DigestedFile(self._open)

    def seal(self) -> None:
        self._open.flush()
        os.fsync(self._open.fileno())
        self._open.close()

    def publish(self, name: str) -> int:
        final = self._folder / name
        self._temporary.replace(final)
        return final.stat().st_size

    def abandon(self) -> None:
        with suppress(OSError):
            self._open.close()
        self._temporary.unlink(missing_ok=True)


class _Stored:
    """An unnamed local file, which `publish` uploads; nothing remains of it after a kill."""

    def __init__(self, folder: StorePath) -> None:
        self._folder = folder
        self._open: IO[bytes] = tempfile.TemporaryFile(prefix="wattlas-")  # noqa: SIM115
        self.file = DigestedFile(self._open)

    def seal(self) -> None:
        self._open.flush()

    def publish(self, name: str) -> int:
        system, path = file_system(self._folder / name)
        size = self._open.tell()
        self._open.seek(0)
        out = system.open_output_stream(path)
        try:
            for count, block in enumerate(iter(lambda: self._open.read(_BLOCK_BYTES), b""), 1):
                out.write(block)
                if count % _AT_ONCE == 0:
                    out.flush()
            out.close()
        except BaseException:
            # Closing a stream early, as its destructor does, leaves a truncated file.
            with suppress(OSError):
                out.close()
                system.delete_file(path)
            raise
        self._open.close()
        return size

    def abandon(self) -> None:
        with suppress(OSError):
            self._open.close()
