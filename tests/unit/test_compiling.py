"""Loops are compiled before the first log is read, once for a machine, and it is said."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest import pipeline
from ingest.__main__ import main
from ingest.files.compiled import (
    _MOST_KEPT,
    CompiledLoop,
    _keep,
    _read_kept,
    compile_loop,
    compile_part,
)
from ingest.logs import compiling
from ingest.logs.compiling import compile_loops
from tests.fixtures.raw_runs import write_memcached, write_netpipe, write_settings

_ROOT = Path(__file__).resolve().parents[2]
_FACTOR = 2
_SAID = "compiling, once for this machine"
_CODE = """
import json, sys
from pathlib import Path
from ingest.files.compiled import CompiledLoop
from ingest.lake.proposals import KeptProposal, write_proposal
from ingest.logs.compiling import compile_loops
from ingest.pipeline import AddOptions, add

said = []
compile_loops(lambda: said.append("by itself"))


def fail(loop):
    raise AssertionError(loop.function.__name__)


CompiledLoop._compile = fail
raw, lake = map(Path, sys.argv[1:])
write_proposal(lake, KeptProposal.of("/elsewhere", "old", "[dataset]\\nname = 'old'\\n"))
report = add(AddOptions(lake, [raw], is_proposing=True), on_compile=lambda: said.append("by add"))
assert report.added == 2
needless = ("numba", "scipy", "ingest.propose", "ingest.outline")
print(json.dumps([said, [name for name in needless if name in sys.modules]]))
"""


_MODELS = """
from numba.core import event
from data.models import SCHEMES, compile_models

with event.install_recorder("numba:compile") as beforehand:
    compile_models()
with event.install_recorder("numba:compile") as later:
    for scheme in SCHEMES.values():
        for kind in scheme.kinds:
            effort = {"replications": 3, "most_events": 500} if kind == "simulated" else {}
            scheme.solve(kind, [20, 300], **effort)
print(len(beforehand.buffer), len(later.buffer))
"""


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    write_settings(tmp_path / "raw")
    write_netpipe(tmp_path / "raw")
    write_memcached(tmp_path / "raw", cores=(0, 1))
    return tmp_path / "raw"


@pytest.mark.slow
def test_what_runs_need_is_compiled_beforehand_and_once(raw: Path, tmp_path: Path) -> None:
    found = []
    for lake in ("first", "second"):
        done = subprocess.run(
            [sys.executable, "-c", _CODE, str(raw), str(tmp_path / lake)],
            cwd=_ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            stdout=subprocess.PIPE,
            check=True,
        )
        found.append(json.loads(done.stdout))
    # Numba is imported only to compile.
    assert found[0][0] == ["by itself"]
    assert "numba" in found[0][1]
    assert found[1] == [[], []]


def test_object_files_of_older_code_are_removed(tmp_path: Path) -> None:
    _keep(tmp_path / "other-0.o", "name", b"code")
    for number in range(_MOST_KEPT + 5):
        path = tmp_path / f"loop-{number}.o"
        _keep(path, "name", b"code")
        os.utime(path, (number, number))
    _keep(tmp_path / "loop-new.o", "name", b"code")
    kept = {path.name for path in tmp_path.iterdir()}
    newest = {f"loop-{number}.o" for number in range(6, _MOST_KEPT + 5)}
    assert kept == {"other-0.o", "loop-new.o", *newest}
    assert _read_kept(tmp_path / "loop-new.o") == ("name", b"code")


@pytest.mark.slow
def test_models_are_compiled_beforehand_and_once(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", _MODELS],
            cwd=_ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            stdout=subprocess.PIPE,
            check=True,
        )
        found.append([int(count) for count in done.stdout.split()])
    (beforehand, later), again = found
    assert beforehand > 5
    assert later == 0
    assert again == [0, 0]


@pytest.mark.parametrize(("options", "said"), [([], [_SAID]), (["--json"], [])])
def test_it_is_said_before_anything_is_read(
    raw: Path,
    tmp_path: Path,
    options: list[str],
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def say(on_begin: Callable[[], None]) -> None:
        on_begin()

    monkeypatch.setattr(pipeline, "compile_loops", say)
    assert main(["add", str(raw), "--lake", str(tmp_path / "lake"), *options]) == 0
    assert capsys.readouterr().err.splitlines()[:1] == said


def test_nothing_is_compiled_where_there_are_no_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(on_begin: Callable[[], None]) -> None:  # noqa: ARG001
        raise AssertionError("compiled")

    monkeypatch.setattr(pipeline, "compile_loops", fail)
    write_settings(tmp_path / "raw")
    write_memcached(tmp_path / "raw", cores=())
    assert main(["add", str(tmp_path / "raw"), "--lake", str(tmp_path / "lake")]) == 0


def test_a_process_that_can_start_no_other_compiles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no memory for a process")

    loaded: list[tuple[object, ...]] = []
    monkeypatch.setattr(compiling, "are_cached", lambda: False)
    monkeypatch.setattr(compiling, "load_loops", lambda *which: loaded.append(which))
    monkeypatch.setattr(compiling, "Child", fail)
    compile_loops()
    assert loaded == [()]


@compile_part
def _scaled(value: int) -> int:
    return value * _FACTOR


@compile_loop("int64[:, :]", "float64", "int64[::1]", results=2)
def _sum_rows(rows: np.ndarray, scale: float, out: np.ndarray) -> tuple[int, int]:
    """Sum each row of an array whose rows may be anywhere; return the counts of both."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            out[row] += np.int64(scale * _scaled(rows[row, column]))
    return rows.shape[0], rows.shape[1]


def _run_loop() -> None:
    rows, out = np.arange(12).reshape(3, 4)[:, 1:3], np.zeros(3, np.int64)
    assert _sum_rows(rows, 0.5, out) == (3, 2)
    # 0.5 * 2 * (1 + 2), (5 + 6), (9 + 10)
    assert out.tolist() == [3, 11, 19]


def test_a_loop_is_kept_for_the_machine_and_a_damaged_one_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "loops"))
    compiled: list[str] = []
    compile_it = CompiledLoop._compile

    def compile_and_say(loop: CompiledLoop) -> tuple[str, bytes]:
        compiled.append(loop.function.__name__)
        return compile_it(loop)

    def forget() -> None:
        _sum_rows.__dict__.pop("_path", None)
        _sum_rows._call = None

    monkeypatch.setattr(CompiledLoop, "_compile", compile_and_say)
    forget()
    _run_loop()
    (kept,) = (tmp_path / "loops").iterdir()
    whole = kept.read_bytes()
    forget()
    assert _sum_rows.is_kept()
    _run_loop()
    assert compiled == ["_sum_rows"]
    kept.write_bytes(whole[:-1])
    forget()
    _run_loop()
    assert compiled == ["_sum_rows"] * 2
    assert kept.read_bytes() == whole
    # Another constant of a part is other code.
    monkeypatch.setitem(globals(), "_FACTOR", 3)
    forget()
    assert not _sum_rows.is_kept()


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 4), np.int32), np.zeros(3, np.int64), [[1, 2]]],
    ids=["type", "dimensions", "list"],
)
def test_a_loop_refuses_arguments_of_other_types(rows: Any) -> None:
    with pytest.raises(TypeError, match=r"takes int64\[:, :\]"):
        _sum_rows(rows, 1.0, np.zeros(3, np.int64))
    with pytest.raises(TypeError, match=r"takes int64\[::1\]"):
        _sum_rows(np.zeros((3, 4), np.int64), 1.0, np.zeros(6, np.int64)[::2])
