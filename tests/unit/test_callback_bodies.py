"""Values that no page sends are told apart from bugs."""

from collections.abc import Sequence
from typing import Any, TypedDict

import pytest

from app.serve.index import misfit, values_of


class _Asked(TypedDict):
    runs: list[str]
    other: int | None


def _callback(
    raw_state: dict[str, Any], words: str | None, asked: _Asked, at: Sequence[float], version: int
) -> None:
    del raw_state, words, asked, at, version


GOOD: list[Any] = [{"x": [1]}, None, {"runs": ["a"], "other": None}, [1, 2.5], 3]


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [(0, "x", "raw_state is 'x'"), (1, 1, "words is '1'"), (2, {"runs": ["a"]}, "asked is"),
     (2, {"runs": [1], "other": 0}, "asked is"), (3, [True], "at is '[True]'"),
     (4, None, "version"), (4, 1.5, "version is '1.5'"), (0, {}, ""), (1, "x", ""), (3, [], "")],
)  # fmt: skip
def test_the_value_that_does_not_fit_is_named(place: int, value: Any, words: str) -> None:
    values = [*GOOD[:place], value, *GOOD[place + 1 :]]
    found = misfit(_callback, values)
    assert found.startswith(words)
    assert bool(found) == bool(words)


def test_values_come_from_inputs_then_state_and_patterns_are_lists() -> None:
    body = {
        "inputs": [{"id": "a", "property": "p", "value": 1}, [{"value": 2}, {"value": 3}]],
        "state": [{"id": "b", "property": "p"}],
    }
    assert values_of(body) == [1, [2, 3], None]
