"""Child processes that answer by lines, and end whatever they do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from data.child_process import Child

PROGRAM = "tests.fixtures.child_program"


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child(PROGRAM)
    yield made
    made.close()


def until_gone(pid: int) -> None:
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)


def test_each_question_has_an_answer_and_bytes_may_follow(child: Child) -> None:
    answers = child.answers()
    child.ask({"n": 1})
    assert next(answers)["echo"] == {"n": 1}
    child.ask({"body": "four"})
    assert next(answers)["echo"] == {"body": "four"}
    assert child.read(4) == b"four"
    assert child.is_running


@pytest.mark.parametrize(("is_sealed", "is_there"), [(True, False), (False, True)])
def test_a_sealed_child_has_no_environment(is_sealed: bool, is_there: bool) -> None:
    child = Child(PROGRAM, is_sealed)
    child.ask({})
    assert ("PATH" in next(child.answers())["environment"]) == is_there
    child.close()


def test_it_is_ended_after_its_time_with_all_that_it_started(child: Child) -> None:
    child.ask({"start": True, "sleep": True})
    answers = child.answers()
    started = next(answers)["started"]
    with child.ending_after(0.01):
        assert list(answers) == [], "it sleeps until it is ended"
    assert child.is_overdue
    assert child.last_words(), "it did not end by itself"
    assert not child.is_running
    until_gone(started)


def test_what_is_done_in_time_ends_nothing(child: Child) -> None:
    with child.ending_after(60):
        child.ask({})
        assert next(child.answers())["echo"] == {}
    assert child.is_running
    assert not child.is_overdue


def test_the_last_line_of_its_errors_says_why_it_failed(child: Child) -> None:
    child.ask({"fail": "no such scheme"})
    assert list(child.answers()) == []
    assert child.last_words() == "no such scheme"


def test_what_is_no_answer_ends_the_answers(child: Child) -> None:
    child.ask({"body": "no JSON\n"})
    answers = child.answers()
    assert next(answers)
    child.ask({})
    assert list(answers) == []


def test_it_ends_when_its_parent_is_killed() -> None:
    code = (
        "from data.child_process import Child; import time; "
        f"child = Child({PROGRAM!r}); child.ask({{'outlive': True}}); "
        "print(next(child.answers())['pid'], flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert parent.stdout
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until_gone(pid)
