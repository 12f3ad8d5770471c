"""Processes that read runs: what they give, what they raise, how they end."""

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from data.errors import FormatError
from data.schema import RUN_TABLES
from ingest.pipeline import AddOptions, add
from ingest.runs import schedule, workers
from ingest.runs.workers import LostWorkerError, Workers
from tests.fixtures.odd_readers import InterruptingReader, OddReader, Work
from tests.fixtures.raw_runs import write_netpipe, write_settings
from tests.fixtures.stores import rows_of

_ROOT = Path(__file__).resolve().parents[2]


def begin(how: str, works: int, count: int = 2) -> Any:
    given: Any = [(Work(number),) for number in range(works)]
    reader: Any = OddReader(how)
    return closing(Workers(reader, given, count))


def read_all(how: str, works: int, count: int = 2) -> list[tuple[Any, Any]]:
    with begin(how, works, count) as processes:
        return [each for each in processes.results(0.01) if each is not None]


def is_running(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_each_run_is_read_once_in_another_process_and_the_last_by_all_threads() -> None:
    found = {work.number: outcome for work, outcome in read_all("say_where", 20, 3)}
    assert [found[number][0] for number in range(20)] == [10 * number for number in range(20)]
    assert [found[number][2] for number in range(20)] == [1] * 19 + [3]
    pids = {pid for _, pid, _ in found.values()}
    assert os.getpid() not in pids
    assert not any(is_running(pid) for pid in pids)


def test_bytes_are_counted_over_all_processes() -> None:
    with begin("count", 10) as processes:
        assert len([found for found in processes.results(1.0) if found]) == 10
        assert processes.bytes_read == 100 * sum(range(10)) - 50


def test_an_unforeseen_error_says_where_it_was_raised() -> None:
    with pytest.raises(KeyError) as raised:
        read_all("stumble", 1)
    assert "in stumble\n" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("how", "words"), [("fail_unsent", "it holds a file"), ("give_a_lock", "pickle")]
)
def test_what_cannot_be_sent_is_an_error(how: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        read_all(how, 2)


def test_a_batch_is_read_by_one_process() -> None:
    given: Any = [tuple(map(Work, range(at, at + 5))) for at in (0, 5, 10)]
    reader: Any = OddReader("say_where")
    with closing(Workers(reader, given, 2)) as processes:
        found = [each for each in processes.results(1.0) if each is not None]
    read: dict[str, Any] = {work.run_id: outcome for work, outcome in found}
    assert {name: outcome[0] for name, outcome in read.items()} == {
        work.run_id: 10 * work.number for batch in given for work in batch
    }
    pids = [{read[work.run_id][1] for work in batch} for batch in given]
    assert all(len(each) == 1 for each in pids)
    assert os.getpid() not in set.union(*pids)


def test_a_process_that_is_killed_in_a_batch_is_named_by_what_it_read() -> None:
    given: Any = [tuple(map(Work, range(5))), (Work(5),)]
    reader: Any = OddReader("die")
    with (
        closing(Workers(reader, given, 2)) as processes,
        pytest.raises(LostWorkerError, match=r"status -9\) while it read run 2;"),
    ):
        list(processes.results(1.0))


def test_an_error_in_a_batch_comes_after_the_runs_before_it() -> None:
    given: Any = [tuple(map(Work, range(4)))]
    reader: Any = OddReader("fail")
    with closing(Workers(reader, given, 1)) as processes:
        results = filter(None, processes.results(1.0))
        work, _ = next(results)
        assert work.run_id == "run 0"
        with pytest.raises(FormatError, match="line 7 is odd"):
            next(results)


def test_at_the_end_all_are_stopped_at_their_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE_S", 120.0)
    with begin("go_on", 3) as processes:
        work, pid = next(found for found in processes.results(0.05) if found)
        assert work.number == 0
        begun = time.monotonic()
    assert time.monotonic() - begun < workers.GRACE_S  # Not killed after their grace.
    assert not is_running(pid)
    assert multiprocessing.active_children() == []


def test_one_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE_S", 0.2)
    with begin("sleep", 1, count=1) as processes:
        assert next(processes.results(0.05)) is None
        (child,) = multiprocessing.active_children()
    assert not is_running(child.pid or 0)


def test_stopped_while_they_begin_none_is_left() -> None:
    """Ctrl-C is held back while they begin, and heard right after."""
    given: Any = [(Work(0),), (Work(1),)]
    reader: Any = InterruptingReader("go_on")
    # A shell has what it runs in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Workers(reader, given, 2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert multiprocessing.active_children() == []


_PARENT = """
import sys
import time
from pathlib import Path
from ingest.lake.tables import locked_lake
from ingest.runs.workers import Workers
from tests.fixtures.odd_readers import OddReader, Work

with locked_lake(Path(sys.argv[1])):
    workers = Workers(OddReader("go_on"), [(Work(0),), (Work(1),), (Work(2),)], 2)
    for found in workers.results(0.01):
        if found:
            print(found[1], flush=True)
"""


@pytest.mark.slow
def test_children_of_a_killed_ingest_end_and_hold_no_lock(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        try:
            pid = int(parent.stdout.readline())
        finally:
            parent.kill()
            parent.wait()
        again = [sys.executable, "-m", "ingest", "add", str(tmp_path), "--lake", str(tmp_path)]
        done = subprocess.run(again, cwd=_ROOT, capture_output=True, text=True, check=False)
        assert "another ingest" not in done.stderr
    while is_running(pid):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("ensure_running", FileNotFoundError(2, "No usable temporary directory found")),
        # The server ends if it may not fork, such as at a limit of processes.
        ("connect_to_new_process", EOFError("unexpected EOF")),
    ],
)
def test_where_no_process_can_be_started_threads_read_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(schedule, "WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr(multiprocessing.forkserver, name, fail)
    write_settings(tmp_path / "raw")
    for replicate in (0, 1):
        write_netpipe(tmp_path / "raw", replicate)
    assert add(AddOptions(tmp_path / "lake", [tmp_path / "raw"], workers=2)).added == 2


@pytest.mark.slow
def test_threads_and_processes_make_the_same_lake(
    logged_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = logged_lake.parent / "raw"
    monkeypatch.setattr(schedule, "TASK_S", 0.2)
    for name, least_s in (("threads", math.inf), ("processes", 0.0)):
        monkeypatch.setattr(schedule, "WORTH_PROCESSES_S", least_s)
        add(AddOptions(tmp_path / name, [raw], workers=2))
    assert big_files(tmp_path / "processes") == big_files(tmp_path / "threads")
    for table in ("runs", "problems"):
        rows = [sorted(map(str, rows_of(tmp_path / n, table))) for n in ("threads", "processes")]
        assert rows[0] == rows[1]


def big_files(lake: Path) -> dict[str, bytes]:
    found = [path for name in RUN_TABLES for path in (lake / name).rglob("*.parquet")]
    assert found
    return {str(path.relative_to(lake)): path.read_bytes() for path in found}
