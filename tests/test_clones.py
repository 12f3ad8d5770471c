"""What a clone leaves for the next on this machine: never in the way, and never of other code."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_architecture import ROOT

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a script in a clone, with a program of the given text as its argument."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def start(script: str, program: str, clone: str) -> tuple[int, list[str]]:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{program}")
        path.chmod(0o755)
        folder = tmp_path / clone
        folder.mkdir(exist_ok=True)
        if not (folder / "scripts").exists():
            (folder / "scripts").symlink_to(ROOT / "scripts")
        done = subprocess.run(
            ["sh", f"scripts/{script}", path], cwd=folder, capture_output=True, text=True
        )
        assert done.stderr == ""
        assert list(folder.glob(".reuse*")) == []
        return done.returncode, done.stdout.split()

    return start


# It prints what it read before, and fails or stops where its clone says so.
CHECKER = """\
mkdir -p .mypy_cache
cat .mypy_cache/read 2>/dev/null
if [ -e stops ] && [ -s .mypy_cache/read ]; then exit 2; fi
echo ${PWD##*/} >>.mypy_cache/read
[ ! -e errors ]
"""


def test_types_are_checked_from_what_another_clone_left(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(clone: str) -> tuple[int, list[str]]:
        return run("types.sh", CHECKER, clone)

    for clone, state in (("third", "errors"), ("fourth", "stops")):
        (tmp_path / clone).mkdir()
        (tmp_path / clone / state).touch()
    assert check("first") == (0, [])
    assert check("second") == (0, ["first"])
    # Errors stay errors, and are not left.
    assert check("third") == (1, ["first", "second"])
    # It stops on what was left, and begins anew.
    assert check("fourth") == (0, ["first", "second"])
    assert check("fifth") == (0, ["fourth"])
    # What a clone has is its own.
    assert check("first") == (0, ["first"])
    left = tmp_path / "cache" / "wattlas" / "clones"
    assert [path.name for path in left.iterdir()] == ["mypy.tar"]
    # Neither a broken file nor a folder that cannot be made is an error of types.
    (left / "mypy.tar").write_text("not a tar")
    assert check("sixth") == (0, [])
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert check("seventh") == (0, [])


# It notes what it compiles, which is what is not there.
COMPILER = """\
for file in data/models/__pycache__/solve-7.py311.nbi ingest/files/__pycache__/cut-1.o; do
    mkdir -p ${file%/*}
    [ -e $file ] || { echo ${file##*/}; echo ${PWD##*/} >$file; }
done
"""
ALL_COMPILED = ["solve-7.py311.nbi", "cut-1.o"]


def test_what_another_clone_compiled_is_taken_for_the_same_models_alone(
    run: Run, tmp_path: Path
) -> None:
    def compile_in(clone: str, source: str) -> list[str]:
        for name, text in (("data/models/queues.py", source), ("ingest/files/compiled.py", "")):
            path = tmp_path / clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        status, compiled = run("compile.sh", COMPILER, clone)
        assert status == 0
        return compiled

    assert compile_in("first", "a = 1") == ALL_COMPILED
    assert compile_in("second", "a = 1") == []
    assert compile_in("third", "a = 2") == ALL_COMPILED
    # What a clone has compiled itself stays.
    taken = tmp_path / "second" / "ingest" / "files" / "__pycache__" / "cut-1.o"
    assert taken.read_text() == "first\n"
    assert compile_in("third", "a = 1") == []
    assert (tmp_path / "third" / taken.relative_to(tmp_path / "second")).read_text() == "third\n"


def test_a_folder_of_what_is_compiled_is_taken_for_the_same_path_of_the_models_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an image has it: Numba names folders in it by that path."""
    compiler = (
        "cd $NUMBA_CACHE_DIR; [ -e models_1/solve.nbi ] || { mkdir models_1; echo compiled; "
        "touch models_1/solve.nbi; }\n"
    )
    for clone in ("first", "second"):
        (tmp_path / clone / "data" / "models").mkdir(parents=True)
    for number, (clone, compiled) in enumerate(
        [("first", ["compiled"]), ("first", []), ("second", ["compiled"])]
    ):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / f"numba{number}"))
        assert run("compile.sh", compiler, clone) == (0, compiled)
        assert (tmp_path / f"numba{number}" / "models_1" / "solve.nbi").exists()


def test_what_nobody_took_for_a_month_goes(run: Run, tmp_path: Path) -> None:
    left = tmp_path / "cache" / "wattlas" / "clones"
    left.mkdir(parents=True)
    for name, days in (("old", 31), ("young", 29)):
        (left / f"{name}.tar").touch()
        seconds = (left / "old.tar").stat().st_ctime - 86_400 * days
        os.utime(left / f"{name}.tar", (seconds, seconds))
    assert run("types.sh", CHECKER, "first") == (0, [])
    assert {path.name for path in left.iterdir()} == {"young.tar", "mypy.tar"}
