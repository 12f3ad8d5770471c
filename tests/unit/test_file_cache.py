"""Copies of files on disk: bounded, shared, kept while somebody uses them."""

import os
import time
from pathlib import Path
from typing import IO

import pytest

from data.errors import LakeError
from data.file_cache import FileCache, HeldFile, cache_folder, choose_numba_folder, most_bytes


class Source:
    """Writes files of so many bytes, and counts how often."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    def hold(self, cache: FileCache, name: str, size: int = 40) -> HeldFile:
        def fetch(out: IO[bytes]) -> None:
            self.fetched.append(name)
            out.write(b"x" * size)

        return cache.hold(name, size, fetch)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_what_was_not_used_for_longest_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    cache, source = FileCache(tmp_path, 100), Source()
    for age, name in enumerate(("c", "b", "a")):
        source.hold(cache, f"lake/{name}")
        if name != "a":
            os.utime(tmp_path / "lake" / name, (1e9 - age, 1e9 - age))
    # 120 bytes are more than 100: b is older than c.
    assert names(tmp_path) == ["a", "c"]
    in_use = source.hold(cache, "lake/c")
    os.utime(in_use.path, (1, 1))
    source.hold(cache, "lake/d")
    assert names(tmp_path) == ["c", "d"]
    assert in_use.path.read_bytes() == b"x" * 40
    in_use.handle.close()
    os.utime(in_use.path, (1, 1))
    source.hold(cache, "lake/e")
    assert names(tmp_path) == ["d", "e"]


def test_a_copy_is_made_once_and_again_if_it_is_cut(tmp_path: Path) -> None:
    source = Source()
    first = source.hold(FileCache(tmp_path, 100), "lake/a")
    # Another process has a cache object of its own.
    assert source.hold(FileCache(tmp_path, 100), "lake/a").path == first.path
    assert source.fetched == ["lake/a"]
    first.path.write_bytes(b"x" * 39)
    assert source.hold(FileCache(tmp_path, 100), "lake/a").path.stat().st_size == 40
    assert source.fetched == ["lake/a"] * 2
    assert first.path.stat().st_mode & 0o077 == 0


def test_a_copy_of_another_size_than_expected_is_refused_and_removed(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="a has 3 bytes, the lake's log says 4"):
        FileCache(tmp_path, 100).hold("lake/a", 4, lambda out: out.writelines([b"abc"]))
    assert names(tmp_path) == []


def test_what_killed_processes_left_goes(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    for name, age_s in (("old.part", 2 * 3600), ("young.part", 60)):
        path = tmp_path / "lake" / name
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age_s,) * 2)
    Source().hold(FileCache(tmp_path, 100), "lake/a")
    assert names(tmp_path) == ["a", "young.part"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("no folder")
    with pytest.raises(LakeError, match=r"keep a copy in .*lake: .*WATTLAS_CACHE names another"):
        Source().hold(FileCache(tmp_path, 100), "lake/a")


@pytest.mark.parametrize("text", ["0", "-3", "2 GB", "1.5"])
def test_a_bad_bound_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("WATTLAS_CACHE_MB", text)
    with pytest.raises(LakeError, match="whole number of MB"):
        most_bytes()


def test_code_that_may_not_be_written_is_compiled_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *given: given[1] != os.W_OK)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "chosen")
    choose_numba_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == "chosen"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path / "cache"))
    choose_numba_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "cache" / "numba")
    # Where the cache cannot be written either, the folder of temporary files is left.
    (tmp_path / "file").touch()
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    choose_numba_folder()
    assert Path(os.environ["NUMBA_CACHE_DIR"]) == tmp_path / f"wattlas-{os.getuid()}" / "numba"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(os, "access", lambda *_: True)
    choose_numba_folder()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_the_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("WATTLAS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wattlas"
