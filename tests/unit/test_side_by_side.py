"""Reads side by side: results in order, and an error only when all have ended."""

import threading

import pytest

from data.timeline.window_parts import side_by_side

MOST_S = 20.0


def test_results_come_in_the_order_of_the_calls() -> None:
    assert side_by_side(lambda: "a", lambda: "b", lambda: "c") == ["a", "b", "c"]
    assert side_by_side(lambda: 1) == [1]
    assert side_by_side() == []


def test_two_calls_run_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=MOST_S)
    assert sorted(side_by_side(together.wait, together.wait)) == [0, 1]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_when_the_others_have_ended(failing: int) -> None:
    begun, ended = threading.Event(), threading.Event()

    def fail() -> None:
        begun.set()
        raise ValueError("no such file")

    def end_later() -> None:
        assert begun.wait(MOST_S)
        ended.set()

    calls = [fail, end_later] if failing == 0 else [end_later, fail]
    with pytest.raises(ValueError, match="no such file"):
        side_by_side(*calls)
    assert ended.is_set()


def test_the_first_error_counts() -> None:
    def fail(word: str) -> None:
        raise ValueError(word)

    with pytest.raises(ValueError, match="second"):
        side_by_side(lambda: None, lambda: fail("second"), lambda: fail("third"))
