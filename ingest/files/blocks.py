"""Raw files in blocks: decompressed while they are read, with digest and byte count.

UTF-16, as spreadsheets and PowerShell write it, becomes UTF-8.
"""

import bz2
import codecs
import hashlib
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any, Final

import xxhash

from data.errors import FormatError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK_BYTES: Final = 1 << 20
HEAD_BYTES: Final = 1 << 16
_PACKED_BLOCK_BYTES: Final = 1 << 17
_OPENERS: Final[tuple[tuple[bytes, Callable[[], Any]], ...]] = (
    (b"\x1f\x8b", lambda: _Gzip()),
    (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdDecompressor),
    *((b"BZh%d1AY&SY" % level, lambda: _Bzip2()) for level in range(1, 10)),
)
_LONGEST_MAGIC: Final = 10
_BROKEN: Final = (zlib.error, lzma.LZMAError, zstd.ZstdError)


class BrokenCompressionError(FormatError):
    """Compressed content is damaged or ends too early."""


class _Gzip:
    """A decompressor for one gzip member, with the interface of those for xz and zstd."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


class _Bzip2:
    """A decompressor for one bzip2 member; what is damaged is no fault of the disk."""

    def __init__(self) -> None:
        self._inner = bz2.BZ2Decompressor()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return self._inner.decompress(data, max_length)
        except OSError as error:
            raise zlib.error(str(error)) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class MeteredFile:
    """A raw file that is read once, from its start; keeps a digest of the bytes read.

    Attributes:
        bytes_read: Bytes read from the disk so far (compressed ones, if the file is compressed).
    """

    def __init__(self, path: Path, on_bytes: Callable[[int], None] | None = None) -> None:
        self._path = path
        self._on_bytes = on_bytes
        self._hash = xxhash.xxh3_128()
        self._blocks: Iterator[bytes] | None = None
        self._file: FileIO | None = None
        self.bytes_read = 0

    @cached_property
    def is_plain(self) -> bool:
        """Whether the file is not compressed; OSError if it cannot be read."""
        return not is_compressed(self._path)

    def read(self, size: int) -> bytes:
        """Read the next content, decompressed, at most `size` bytes; empty at the end.

        Raises:
            FormatError: The compressed content is damaged or ends too early.
            OSError: The file cannot be read.
        """
        if self.is_plain:
            block = bytearray(size)
            return bytes(block[: self.read_into(memoryview(block))])
        if self._blocks is None:
            self._blocks = self.blocks(size)
        return next(self._blocks, b"")

    def read_into(self, room: memoryview) -> int:
        """Read the next bytes of an uncompressed file into `room`; return their number.

        Raises:
            OSError: The file cannot be read.
        """
        if self._file is None:
            self._file = FileIO(self._path)
        count = self._file.readinto(room)
        if count:
            self._count(room[:count])
        else:
            self._file.close()
        return count

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the file's content in blocks, decompressed if it is gzip, bzip2, xz or zstd.

        Raises:
            FormatError: The compressed content is damaged or ends too early.
            OSError: The file cannot be read.
        """
        opener = _opener(self._path)
        if opener is None:
            yield from self._disk_blocks(size)
        elif opener is _as_utf8:
            yield from _as_utf8(self._disk_blocks(size))
        else:
            packed = self._disk_blocks(_PACKED_BLOCK_BYTES)
            yield from _unpack(packed, opener, size, self._path.name)

    def finish(self) -> None:
        """Read the bytes that the reader left, so that the digest covers the whole file."""
        with self._path.open("rb") as file:
            file.seek(self.bytes_read)
            while block := file.read(BLOCK_BYTES):
                self._count(block)

    def _disk_blocks(self, size: int) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while block := file.read(size):
                self._count(block)
                yield block

    def _count(self, block: bytes | memoryview) -> None:
        self._hash.update(block)
        self.bytes_read += len(block)
        if self._on_bytes is not None:
            self._on_bytes(len(block))

    @property
    def digest(self) -> str:
        """32 hex digits of XXH3 over the bytes read so far; detects change, not forgery."""
        return self._hash.hexdigest()


def read_head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of a file's decompressed content; fewer if the file is short.

    Raises:
        FormatError: The compressed content is damaged at its start.
        OSError: The file cannot be read.
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
    """Return the digest of a file's bytes on the disk, in the form of `MeteredFile.digest`."""
    with path.open("rb") as file:
        return str(hashlib.file_digest(file, xxhash.xxh3_128).hexdigest())


def digest_content(path: Path) -> tuple[int, str]:
    """Return length and digest of a file's decompressed content."""
    length, content = 0, xxhash.xxh3_128()
    for block in MeteredFile(path).blocks():
        length += len(block)
        content.update(block)
    return length, content.hexdigest()


def small_blocks(path: str) -> Iterable[bytes]:
    """Yield a file's content as `MeteredFile.blocks` does; faster for files under 64 KiB.

    Raises:
        FormatError: The compressed content is damaged or ends too early.
        OSError: The file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        content = file.read(HEAD_BYTES)
    if len(content) < HEAD_BYTES and _opener_of(content) is None:
        return (content,)
    return MeteredFile(Path(path)).blocks()


def is_compressed(path: Path) -> bool:
    """Return whether a file begins as gzip, bzip2, xz or zstd do, or is UTF-16."""
    return _opener(path) is not None


def _opener(path: Path) -> Callable[..., Any] | None:
    with path.open("rb") as file:
        return _opener_of(file.read(_LONGEST_MAGIC))


def _opener_of(head: bytes) -> Callable[..., Any] | None:
    if (head[:2], head[2:6:2]) == (b"\xfe\xff", b"\0\0"):
        return _as_utf8
    if (head[:2], head[3:6:2]) == (b"\xff\xfe", b"\0\0"):
        return _as_utf8
    return next((make for begins, make in _OPENERS if head.startswith(begins)), None)


def _as_utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield UTF-16 with a byte-order mark as UTF-8 without one."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def _unpack(
    blocks: Iterator[bytes], opener: Callable[[], Any], size: int, name: str
) -> Iterator[bytes]:
    """Decompress a stream of one or more members, as `cat a.gz b.gz` writes them.

    Args:
        size: Maximum bytes of content in a block, however strong the compression is.
    """
    unpacker = opener()
    try:
        for block in blocks:
            rest = block
            while rest or not (unpacker.eof or unpacker.needs_input):
                if unpacker.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    unpacker = opener()
                if content := unpacker.decompress(rest, size):
                    yield content
                rest = unpacker.unused_data if unpacker.eof else b""
    except _BROKEN as error:
        raise BrokenCompressionError(f"broken compression: {error} ({name})") from error
    if not unpacker.eof:
        raise BrokenCompressionError(f"broken compression: ends before its end mark ({name})")
