"""Write one big file to a folder or an object store, complete or not at all."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from data.lake_place import LakePath, StorePath
from data.object_store import file_system

_BUFFER_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 8 << 20
# Blocks that are uploaded at once.
_AT_ONCE: Final = 4


def temporary_folder(lake: LakePath) -> Path:
    """Return the folder of temporary files: the lake, or for an object store a local folder."""
    return lake if isinstance(lake, Path) else Path(tempfile.gettempdir())


class Target(Protocol):
    """A file while it is written.

    Attributes:
        file: Open file for the bytes.
    """

    file: IO[bytes]

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
        self.file: IO[bytes] = self._temporary.open("wb", buffering=_BUFFER_BYTES)

    def seal(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def publish(self, name: str) -> int:
        final = self._folder / name
        self._temporary.replace(final)
        return final.stat().st_size

    def abandon(self) -> None:
        with suppress(OSError):
            self.file.close()
        self._temporary.unlink(missing_ok=True)


class _Stored:
    """An unnamed local file, which `publish` uploads; nothing remains of it after a kill."""

    def __init__(self, folder: StorePath) -> None:
        self._folder = folder
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="wattlas-")  # noqa: SIM115

    def seal(self) -> None:
        self.file.flush()

    def publish(self, name: str) -> int:
        system, place = file_system(self._folder / name)
        size = self.file.tell()
        self.file.seek(0)
        out = system.open_output_stream(place)
        try:
            for count, block in enumerate(iter(lambda: self.file.read(_BLOCK_BYTES), b""), 1):
                out.write(block)
                if count % _AT_ONCE == 0:
                    out.flush()
            out.close()
        except BaseException:
            # Closing a stream early, as its destructor does, leaves a truncated file.
            with suppress(OSError):
                out.close()
                system.delete_file(place)
            raise
        self.file.close()
        return size

    def abandon(self) -> None:
        with suppress(OSError):
            self.file.close()
