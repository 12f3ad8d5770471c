"""Which runs are read by threads together, and which by processes."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.runs import schedule
from ingest.runs.schedule import share_out


@pytest.fixture(autouse=True)
def from_ten_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "WORTH_A_PROCESS_BYTES", 10)


def sizes(given: list[int], workers: int) -> tuple[list[int], list[int]]:
    works: Any = [SimpleNamespace(size=n, run_id=str(at), files=()) for at, n in enumerate(given)]
    together, batches = share_out(works, workers)
    assert all(len(batch) == 1 for batch in batches)
    return [work.size for work in together], [work.size for (work,) in batches]


@pytest.mark.parametrize(
    ("given", "workers", "together", "apart"),
    [
        ([], 2, [], []),
        ([50], 2, [50], []),  # Alone, it has all cores.
        ([50, 50], 1, [50, 50], []),
        ([50, 50], 2, [], [50, 50]),
        ([51, 50], 2, [], [51, 50]),
        ([9, 50, 3, 60, 40], 2, [9, 3], [60, 50, 40]),
        ([20, 20, 70, 20], 2, [], [70, 20, 20, 20]),
        ([20, 20, 100, 20], 2, [100], [20, 20, 20]),
        ([20, 20, 70, 20], 3, [], [70, 20, 20, 20]),
        ([20, 500, 20, 30], 2, [500], [30, 20, 20]),  # One core for 500, the other for 70.
        ([20, 500, 80], 2, [20, 500, 80], []),
        ([29, 30, 28], 4, [], [30, 29, 28]),  # Fewer than there are workers.
        ([200, 20, 20, 20], 3, [200], [20, 20, 20]),
    ],
)
def test_large_runs_of_like_sizes_are_read_apart(
    given: list[int], workers: int, together: list[int], apart: list[int]
) -> None:
    assert sizes(given, workers) == (together, apart)


def test_processes_read_small_runs_in_batches_if_they_are_many() -> None:
    file = SimpleNamespace(size=1, format=SimpleNamespace(role="output"))

    def runs(count: int) -> Any:
        return [SimpleNamespace(size=1, run_id=str(at), files=(file,) * 2) for at in range(count)]

    enough = math.ceil(schedule.WORTH_PROCESSES_S / schedule.estimated_s(runs(1)[0]))
    many, few = runs(enough), runs(enough - 1)
    assert share_out(few, 2) == (few, [])
    assert share_out(many, 1) == (many, [])
    together, apart = share_out(many, 2)
    assert together == []
    assert [work for batch in apart for work in batch] == many
    spent_s = [sum(map(schedule.estimated_s, batch)) for batch in apart]
    assert max(spent_s) <= schedule.TASK_S
    large: Any = [SimpleNamespace(size=n, run_id=f"large {n}", files=()) for n in (50, 60, 55)]
    together, apart = share_out([*many[:7], *large, *many[7:]], 3)
    assert together == []
    assert [work.size for batch in apart[:3] for work in batch] == [60, 55, 50]
    assert [work for batch in apart[3:] for work in batch] == many
