"""Compressed file contents, stored on disk by digest.

Brotli at its best level takes 4 s for plotly.js and sends a fifth less than the fast level, so
it runs once per machine, not per process or request.
"""

import fcntl
import gzip
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, get_args

import brotli
import xxhash

Encoding = Literal["br", "gzip"]
ENCODINGS: Final[tuple[Encoding, ...]] = get_args(Encoding)
MOST_BYTES: Final = 32_000_000

_BEST: Final[dict[Encoding, Callable[[bytes], bytes]]] = {
    "br": lambda content: brotli.compress(content, quality=11, lgwin=24),
    # A constant time stamp, so that the same content gives the same bytes.
    "gzip": lambda content: gzip.compress(content, 9, mtime=0),
}
_FAST: Final[dict[Encoding, Callable[[bytes], bytes]]] = {
    "br": lambda content: brotli.compress(content, quality=2),
    "gzip": lambda content: gzip.compress(content, 1, mtime=0),
}
_OPEN: Final[dict[Encoding, Callable[[bytes], bytes]]] = {
    "br": brotli.decompress,
    "gzip": gzip.decompress,
}
_FAILED: Final = (brotli.error, OSError, EOFError, ValueError)


def compress_fast(content: bytes, encoding: Encoding) -> bytes:
    """Compress at a fast level, 30 ms for plotly.js, for a response that cannot wait."""
    return _FAST[encoding](content)


class CompressedFiles:
    """A bounded folder of compressed contents; several processes may share it.

    If the file system fails, it acts as an empty folder and stores nothing.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def find(self, content: bytes, encoding: Encoding) -> bytes | None:
        """Return the compressed content, or None if the folder lacks it or has it incomplete."""
        path = self._path(content, encoding)
        try:
            compressed = path.read_bytes()
            if _OPEN[encoding](compressed) != content:
                return None
        except _FAILED:
            return None
        with suppress(OSError):
            os.utime(path)
        return compressed

    def make(self, content: bytes, encoding: Encoding) -> bytes:
        """Compress at the best level and store the result; waits if another process is doing it."""
        with self._alone():
            found = self.find(content, encoding)
            if found is not None:
                return found
            compressed = _BEST[encoding](content)
            with suppress(OSError):
                self._keep(self._path(content, encoding), compressed)
        return compressed

    def _path(self, content: bytes, encoding: Encoding) -> Path:
        return self._folder / f"{xxhash.xxh3_128_hexdigest(content)}.{encoding}"

    def _keep(self, path: Path, compressed: bytes) -> None:
        """Write a file atomically, then remove the least recently used files."""
        part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
        try:
            part.write_bytes(compressed)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        files = sorted((file for suffix in ENCODINGS for file in self._folder.glob(f"*.{suffix}")),
                       key=lambda file: file.stat().st_mtime, reverse=True)  # fmt: skip
        total = 0
        for file in files:
            total += file.stat().st_size
            if total > self._most_bytes and file != path:
                file.unlink(missing_ok=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder's lock; no lock if the folder cannot be written."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self._folder / "lock").open("w")
        except OSError:
            yield
            return
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
