"""Processes that read runs: what they give, what they raise, how they end."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from data.errors import FormatError
from ingest.runs.processes import LostWorkerError, OnBytes, RunProcesses, run_processes

_ROOT = Path(__file__).resolve().parents[2]
Read = Callable[[int, bool, OnBytes], Any]


def read_all(count: int, read: Read, tasks: int) -> list[tuple[int, Any]]:
    with run_processes(count, read) as processes:
        found = processes.results([f"run {n}" for n in range(tasks)], 0.01)
        return [each for each in found if each is not None]


def test_each_task_is_read_once_in_another_process_and_the_last_is_told() -> None:
    def read(task: int, is_last: bool, _: OnBytes) -> tuple[int, int, bool]:
        return 10 * task, os.getpid(), is_last

    found = dict(read_all(3, read, 20))
    assert [found[task][0] for task in range(20)] == [10 * task for task in range(20)]
    assert [task for task in range(20) if found[task][2]] == [19]
    pids = {pid for _, pid, _ in found.values()}
    assert 2 <= len(pids) <= 3
    assert os.getpid() not in pids
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_bytes_are_counted_over_all_processes() -> None:
    def read(task: int, _: bool, on_bytes: OnBytes) -> None:
        for _part in range(100):
            on_bytes(task)
        on_bytes(-5)

    with run_processes(2, read) as processes:
        assert len([r for r in processes.results(["a"] * 10, 1.0) if r]) == 10
        assert processes.bytes_read == 100 * sum(range(10)) - 50


def test_what_reading_raises_is_raised_here() -> None:
    def read(task: int, *_: Any) -> int:
        if task == 1:
            raise FormatError("line 7 is odd")
        return task

    with pytest.raises(FormatError, match="line 7 is odd"):
        read_all(1, read, 3)


class _StaysError(Exception):
    def __reduce__(self) -> Any:
        raise TypeError("it holds a file")


def test_an_error_that_cannot_travel_is_raised_by_its_words() -> None:
    def read(*_: Any) -> int:
        raise _StaysError("a bad disk")

    with pytest.raises(RuntimeError, match="_StaysError: a bad disk"):
        read_all(2, read, 2)


def test_an_unforeseen_error_says_where_it_was_raised() -> None:
    def read(*_: Any) -> int:
        return {"a": 1}["no such key"]

    with pytest.raises(KeyError) as raised:
        read_all(1, read, 1)
    assert "in read\n" in "".join(raised.value.__notes__)


def test_a_result_that_cannot_travel_is_an_error() -> None:
    with pytest.raises((TypeError, RuntimeError), match="pickle"):
        read_all(1, lambda *_: threading.Lock(), 1)


@pytest.mark.parametrize(("begun", "tasks"), [(1, 4), (0, 0)])
def test_where_no_more_processes_can_be_begun_there_are_fewer(
    monkeypatch: pytest.MonkeyPatch, begun: int, tasks: int
) -> None:
    start, left = BaseProcess.start, [None] * begun

    def fail(self: BaseProcess) -> None:
        if not left:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        left.pop()
        start(self)

    monkeypatch.setattr(BaseProcess, "start", fail)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    if begun:
        assert len(read_all(3, lambda task, *_: task, tasks)) == tasks
    else:
        with pytest.raises(BlockingIOError):
            RunProcesses(3, lambda *_: None)
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= open_before


def test_stopped_while_they_begin_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is held back while they are begun, and heard right after."""
    begun: list[int] = []
    begin = RunProcesses._begin

    def note(self: RunProcesses, slot: int) -> None:
        begin(self, slot)
        begun.append(self._processes[-1].pid or 0)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    monkeypatch.setattr(RunProcesses, "_begin", note)
    # A shell has what it runs in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            RunProcesses(2, lambda *_: None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(begun) == 2
    assert not any(_is_running(pid) for pid in begun)


def test_a_killed_process_is_named_by_what_it_read() -> None:
    def read(task: int, *_: Any) -> int:
        if task == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(LostWorkerError, match=r"status -9\) while it read run 2;"):
        read_all(2, read, 6)


def test_at_the_end_all_are_stopped_at_their_next_block() -> None:
    def read(task: int, _: bool, on_bytes: OnBytes) -> int:
        while task:
            time.sleep(0.001)
            on_bytes(1)
        return os.getpid()

    begun = time.monotonic()
    with run_processes(2, read) as processes:
        task, pid = next(r for r in processes.results(["a", "b", "c"], 0.05) if r)
        assert task == 0
    assert time.monotonic() - begun < 4  # Not killed after their grace.
    assert not Path(f"/proc/{pid}").exists()


def test_one_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.runs.processes._GRACE_S", 0.2)

    def read(*_: Any) -> None:
        time.sleep(600)

    processes = RunProcesses(1, read)
    assert next(processes.results(["a"], 0.05)) is None
    (child,) = processes._processes
    processes.close()
    assert child.exitcode == -signal.SIGKILL


_PARENT = """
import os
import time
from pathlib import Path
from ingest.runs.processes import RunProcesses
from ingest.lake.tables import locked_lake

def read(task, is_last, on_bytes):
    os.write(1, b"%d\\n" % os.getpid())
    while True:
        time.sleep(0.001)
        on_bytes(1)

with locked_lake(Path({lake!r})) as lock:
    for _ in RunProcesses(2, read, lock).results(["a", "b"], 1.0):
        pass
"""


def test_children_of_a_killed_ingest_end_and_hold_no_lock(tmp_path: Path) -> None:
    code = _PARENT.format(lake=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        try:
            pids = [int(parent.stdout.readline()) for _ in range(2)]
        finally:
            parent.kill()
            parent.wait()
        again = [sys.executable, "-m", "ingest", "add", str(tmp_path), "--lake", str(tmp_path)]
        done = subprocess.run(again, cwd=_ROOT, capture_output=True, text=True, check=False)
        assert "another ingest" not in done.stderr
    until = time.monotonic() + 10
    while any(_is_running(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(_is_running(pid) for pid in pids)


def _is_running(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
