"""Contents that are compressed in advance."""

import gzip
from pathlib import Path

import brotli
import pytest

from app.kit import compressed
from app.kit.compressed import compress_all, find_compressed, gzipped

CONTENT = b"function draw(figure) { return figure.data.map((trace) => trace.x); }\n" * 400
OTHER = b"body { margin: 0 }\n" * 100


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "compressed"
    monkeypatch.setattr(compressed, "FOLDER", own)
    return own


def test_what_is_compressed_opens_to_what_it_was() -> None:
    assert find_compressed(CONTENT, "br") is None
    assert compress_all([CONTENT, OTHER]) == 4
    for content in (CONTENT, OTHER):
        assert brotli.decompress(find_compressed(content, "br") or b"") == content
        assert gzip.decompress(find_compressed(content, "gzip") or b"") == content
    assert find_compressed(CONTENT + b" ", "br") is None


def test_only_what_changed_is_compressed_again(folder: Path) -> None:
    compress_all([CONTENT, OTHER])
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert compress_all([CONTENT, OTHER + b"edited"]) == 2
    after = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(after) == 4
    assert {path for path in before if after.get(path) == before[path]} == {
        path for path in before if path in after
    }
    assert len(before.keys() & after.keys()) == 2
    assert find_compressed(OTHER, "br") is None


def test_gzip_is_the_same_in_advance_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gzipped(CONTENT)
    compress_all([CONTENT])
    monkeypatch.setattr(compressed, "_COMPRESS", {})
    assert gzipped(CONTENT) == before
