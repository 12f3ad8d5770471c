"""Read raw files in blocks: decompressed as they stream, with their digest and byte count."""

import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from backports import zstd

from data.errors import FormatError

BLOCK_BYTES: Final = 1 << 20
HEAD_BYTES: Final = 1 << 16
_PACKED_BLOCK_BYTES: Final = 1 << 17
_OPENERS: Final[tuple[tuple[bytes, Callable[[], Any]], ...]] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdDecompressor),
)
_LONGEST_MAGIC: Final = 6
_BROKEN: Final = (zlib.error, lzma.LZMAError, zstd.ZstdError)


class BrokenCompressionError(FormatError):
    """Compressed content that cannot be unpacked, or not to its end."""


class MeteredFile:
    """A raw file being read once, from its start: its blocks and, after them, its digest.

    Attributes:
        bytes_read: Bytes taken from the disk so far (packed ones, if it is compressed).
    """

    def __init__(self, path: Path, on_bytes: Callable[[int], None] | None = None) -> None:
        self._path = path
        self._on_bytes = on_bytes
        self._hash = hashlib.sha256()
        self.bytes_read = 0

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The file's content, decompressed if it begins as gzip, xz or zstd do, in blocks.

        Raises:
            FormatError: The compression is broken, or ends too early.
            OSError: The disk refuses.
        """
        opener = _opener(self._path)
        if opener is None:
            yield from self._disk_blocks(size)
        else:
            yield from _unpack(self._disk_blocks(_PACKED_BLOCK_BYTES), opener, self._path.name)

    def finish(self) -> None:
        """Read what a reader left unread, so that the digest is of the whole file."""
        with self._path.open("rb") as file:
            file.seek(self.bytes_read)
            while block := file.read(BLOCK_BYTES):
                self._count(block)

    def _disk_blocks(self, size: int) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while block := file.read(size):
                self._count(block)
                yield block

    def _count(self, block: bytes) -> None:
        self._hash.update(block)
        self.bytes_read += len(block)
        if self._on_bytes is not None:
            self._on_bytes(len(block))

    @property
    def digest(self) -> str:
        """32 hex digits of SHA-256 over the bytes read so far."""
        return self._hash.hexdigest()[:32]


def read_head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file's decompressed content; fewer if it is short.

    Raises:
        FormatError: Its compression is broken from the start.
        OSError: The disk refuses.
    """
    head = b""
    try:
        for block in MeteredFile(path).blocks(size):
            head += block
            if len(head) >= size:
                break
    except FormatError:
        if not head:
            raise
    return head[:size]


def digest_file(path: Path) -> str:
    """Digest of a file's bytes as they lie on the disk, as `MeteredFile.digest` has it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def digest_content(path: Path) -> tuple[int, str]:
    """Length and digest of a file's decompressed content."""
    length, content = 0, hashlib.sha256()
    for block in MeteredFile(path).blocks():
        length += len(block)
        content.update(block)
    return length, content.hexdigest()[:32]


def is_compressed(path: Path) -> bool:
    """Whether a file begins as gzip, xz or zstd do."""
    return _opener(path) is not None


def _opener(path: Path) -> Callable[[], Any] | None:
    with path.open("rb") as file:
        magic = file.read(_LONGEST_MAGIC)
    return next((make for begins, make in _OPENERS if magic.startswith(begins)), None)


def _unpack(blocks: Iterator[bytes], opener: Callable[[], Any], name: str) -> Iterator[bytes]:
    """Decompress a stream of one or more members, as `cat a.gz b.gz` makes them."""
    unpacker = opener()
    try:
        for block in blocks:
            rest = block
            while rest:
                if unpacker.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    unpacker = opener()
                if content := unpacker.decompress(rest):
                    yield content
                rest = unpacker.unused_data if unpacker.eof else b""
    except _BROKEN as error:
        raise BrokenCompressionError(f"broken compression: {error} ({name})") from error
    if not unpacker.eof:
        raise BrokenCompressionError(f"broken compression: ends before its end mark ({name})")
