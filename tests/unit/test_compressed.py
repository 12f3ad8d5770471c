"""Contents that are compressed once and kept on disk."""

import gzip
import os
import threading
from pathlib import Path

import brotli
import pytest

from app.serve.compressed import CompressedFiles, compress_fast
from data.file_cache import cache_folder

CONTENT = b"function draw(figure) { return figure.data.map((trace) => trace.x); }\n" * 400


def test_kept_content_opens_to_what_it_was(tmp_path: Path) -> None:
    kept = CompressedFiles(tmp_path / "cache")
    assert kept.find(CONTENT, "br") is None
    assert brotli.decompress(kept.make(CONTENT, "br")) == CONTENT
    assert gzip.decompress(kept.make(CONTENT, "gzip")) == CONTENT
    assert kept.find(CONTENT, "br") == kept.make(CONTENT, "br")
    assert kept.find(CONTENT + b" ", "br") is None


def test_the_best_level_is_smaller_and_the_fast_one_opens(tmp_path: Path) -> None:
    varied = b"".join(f"const name{i} = {i * i % 977};\n".encode() for i in range(4000))
    fast = compress_fast(varied, "br")
    assert brotli.decompress(fast) == varied
    assert len(CompressedFiles(tmp_path).make(varied, "br")) < len(fast)


@pytest.mark.parametrize("damage", [b"", b"not compressed", brotli.compress(b"other content")])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    kept = CompressedFiles(tmp_path)
    kept.make(CONTENT, "br")
    (file,) = tmp_path.glob("*.br")
    file.write_bytes(damage)
    assert kept.find(CONTENT, "br") is None
    kept.make(CONTENT, "br")
    assert brotli.decompress(file.read_bytes()) == CONTENT


def test_goes_on_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, so no folder can be made below it")
    kept = CompressedFiles(tmp_path / "file" / "cache")
    assert brotli.decompress(kept.make(CONTENT, "br")) == CONTENT
    assert kept.find(CONTENT, "br") is None


def test_the_folder_is_bounded_and_what_was_used_last_stays(tmp_path: Path) -> None:
    contents = [os.urandom(2000) for _ in range(6)]
    kept = CompressedFiles(tmp_path, most_bytes=7000)
    for age, content in enumerate(contents):
        kept.make(content, "gzip")
        for file in tmp_path.glob("*.gzip"):
            os.utime(file, ns=(file.stat().st_mtime_ns - 10**9, file.stat().st_mtime_ns - 10**9))
        assert sum(file.stat().st_size for file in tmp_path.glob("*.gzip")) <= 7000, age
    assert kept.find(contents[-1], "gzip") is not None
    assert kept.find(contents[0], "gzip") is None


def test_several_at_once_leave_whole_files(tmp_path: Path) -> None:
    made: list[bytes] = []
    several = [CompressedFiles(tmp_path) for _ in range(8)]
    threads = [
        threading.Thread(target=lambda kept=kept: made.append(kept.make(CONTENT, "br")))
        for kept in several
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert set(made) == {made[0]}
    assert not list(tmp_path.glob("*.part"))


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("WATTLAS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wattlas"
