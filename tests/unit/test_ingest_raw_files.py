"""Raw bytes in blocks: every compression, the digest, and what is broken."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import xxhash

from ingest.files.blocks import (
    BrokenCompressionError,
    MeteredFile,
    digest_content,
    digest_file,
    is_compressed,
    read_head,
    zstd,
)

CONTENT = b"".join(b"%d line of a log\n" % n for n in range(15_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


@cache
def packed(name: str) -> bytes:
    """The content on disk; xz takes most of the time of these tests."""
    return CONTENT if name == "plain" else PACKERS[name](CONTENT)


@pytest.mark.parametrize("name", ["plain", *PACKERS])
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_blocks_join_to_the_content_and_the_digest_is_of_the_disk(
    tmp_path: Path, name: str, size: int
) -> None:
    path = tmp_path / "log"
    on_disk = packed(name)
    path.write_bytes(on_disk)
    counted: list[int] = []
    file = MeteredFile(path, counted.append)
    assert b"".join(file.blocks(size)) == CONTENT
    assert file.bytes_read == sum(counted) == len(on_disk)
    assert file.digest == digest_file(path) == xxhash.xxh3_128(on_disk).hexdigest()
    assert digest_content(path) == (len(CONTENT), xxhash.xxh3_128(CONTENT).hexdigest())
    assert is_compressed(path) == (name != "plain")
    assert read_head(path, 100) == CONTENT[:100]


def test_the_digest_is_whole_even_if_a_reader_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(CONTENT)
    file = MeteredFile(path)
    next(file.blocks(1000))
    file.finish()
    assert (file.bytes_read, file.digest) == (len(CONTENT), digest_file(path))


@pytest.mark.parametrize("name", PACKERS)
def test_members_follow_each_other(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(PACKERS[name](b"one\n") + PACKERS[name](b"two\n"))
    assert b"".join(MeteredFile(path).blocks()) == b"one\ntwo\n"


@pytest.mark.parametrize("name", PACKERS)
def test_a_cut_file_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    whole = packed(name)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BrokenCompressionError, match="log"):
        list(MeteredFile(path).blocks())


# zstd checks nothing by default.
@pytest.mark.parametrize("name", ["gz", "bz2", "xz"])
def test_a_spoilt_file_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    whole = packed(name)
    path.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with pytest.raises(BrokenCompressionError, match="log"):
        list(MeteredFile(path).blocks())
