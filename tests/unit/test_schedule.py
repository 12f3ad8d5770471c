"""Which runs are read by threads together, and which by processes of their own."""

from types import SimpleNamespace
from typing import Any

import pytest

from ingest.runs import schedule
from ingest.runs.schedule import share_out


@pytest.fixture(autouse=True)
def from_ten_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "WORTH_A_PROCESS_BYTES", 10)


def sizes(given: list[int], workers: int) -> tuple[list[int], list[int]]:
    works: Any = [SimpleNamespace(size=n, run_id=str(at)) for at, n in enumerate(given)]
    together, apart = share_out(works, workers)
    return [work.size for work in together], [work.size for work in apart]


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
