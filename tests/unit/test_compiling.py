"""Loops are compiled before the first log is read, once for a machine, and it is said."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ingest import pipeline
from ingest.__main__ import main
from ingest.logs import compiling
from ingest.logs.compiling import compile_loops
from tests.fixtures.raw_runs import write_memcached, write_netpipe, write_settings

_ROOT = Path(__file__).resolve().parents[2]
_SAID = "compiling, once for this machine"
_CODE = """
import json, sys
from pathlib import Path
from numba.core import event
from ingest.logs.compiling import compile_loops
from ingest.pipeline import AddOptions, add

said = []
with event.install_recorder("numba:compile") as beforehand:
    compile_loops(lambda: said.append("by itself"))
raw, lake = map(Path, sys.argv[1:])
with event.install_recorder("numba:compile") as later:
    report = add(AddOptions(lake, [raw]), on_compile=lambda: said.append("by add"))
assert report.added == 2
print(json.dumps([said, len(beforehand.buffer), len(later.buffer)]))
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
    (said, beforehand, later), again = found
    assert (said, later) == (["by itself"], 0)
    assert beforehand > 5
    assert again == [[], 0, 0]


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


def test_a_process_that_may_start_no_other_compiles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("daemonic processes are not allowed to have children")

    loaded: list[tuple[object, ...]] = []
    monkeypatch.setattr(compiling, "are_cached", lambda: False)
    monkeypatch.setattr(compiling, "load_loops", lambda *which: loaded.append(which))
    monkeypatch.setattr(compiling, "ProcessPoolExecutor", fail)
    monkeypatch.setattr(compiling, "current_process", lambda: SimpleNamespace(daemon=True))
    compile_loops()
    assert loaded == [()]
