"""Best settings under a limit, worked by hand."""

from typing import Any

import polars as pl
import pytest

from data.analysis.best import best_settings
from data.schema import SUBJECT

CANDIDATES = {
    "dataset": pl.String, "workload": pl.String, "work": pl.String, "load_qps": pl.Float64,
    "message_bytes": pl.Int64, "machine": pl.String, "system": pl.String, "system_label": pl.String,
    "itr_us": pl.Float64, "n": pl.Int64, "x": pl.Float64, "y": pl.Float64,
}  # fmt: skip
BASELINES = {
    **{name: CANDIDATES[name] for name in SUBJECT},
    "performance": pl.Float64, "cost": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def candidate(system: str, itr_us: float, x: float, y: float, **more: Any) -> dict[str, Any]:
    """A configuration of memcached at 200k QPS with its mean p99 (us) and energy (J)."""
    place = {"dataset": "tiny", "workload": "memcached", "load_qps": 2e5, "message_bytes": None,
             "machine": None, "work": None}  # fmt: skip
    return {**place, "system": system, "system_label": system.title(), "itr_us": itr_us,
            "n": 3, "x": x, "y": y, **more}  # fmt: skip


def best(
    rows: list[dict], limit: float | None, baselines: list[dict] | None = None
) -> list[dict[str, Any]]:
    if baselines is None:
        default = {"performance": 110.0, "cost": 2000.0, "n": 5}
        place = {key: GRID[0][key] for key in SUBJECT}
        baselines = [{**place, **default}]
    table = best_settings(
        pl.DataFrame(rows, CANDIDATES, orient="row"),
        pl.DataFrame(baselines, BASELINES, orient="row"),
        limit,
    )
    return table.to_dicts()


#            ITR      2     50    100    200
GRID = [  # p99      62    110    160    260 us
    candidate("tuned", itr, 60 + itr, energy)
    for itr, energy in ((2, 1500.0), (50, 1200.0), (100, 1100.0), (200, 1000.0))
]


@pytest.mark.parametrize(
    ("limit", "itr_us", "energy_change"),
    [
        (None, 200, -0.5),  # no limit: lowest energy, 1,000 J of 2,000 J
        (300, 200, -0.5),
        (160, 100, -0.45),  # the limit itself still meets it: 1,100 J
        (159.999, 50, -0.4),
        (62, 2, -0.25),
    ],
)
def test_the_lowest_energy_that_meets_the_limit(
    limit: float | None, itr_us: float, energy_change: float
) -> None:
    (row,) = best(GRID, limit)
    assert row["itr_us"] == itr_us
    assert row["meets"] is True
    assert row["energy_change"] == pytest.approx(energy_change)
    assert row["n"] == 3


def test_nothing_meets_it_then_the_nearest_miss() -> None:
    (row,) = best(GRID, 50)
    assert (row["meets"], row["itr_us"], row["x"]) == (False, 2, 62)


def test_performance_change_against_the_default() -> None:
    (row,) = best(GRID, 62)
    assert row["performance_change"] == pytest.approx(62 / 110 - 1)  # -43.6 %


def test_without_a_baseline_the_changes_are_null() -> None:
    (row,) = best(GRID, None, baselines=[])
    assert (row["energy_change"], row["performance_change"]) == (None, None)
    assert row["itr_us"] == 200


def test_of_equal_energies_the_better_performance_wins() -> None:
    rows = [candidate("tuned", itr, x, 900.0) for itr, x in ((8, 90), (4, 70), (6, 80))]
    assert [row["itr_us"] for row in best(rows, None)] == [4]
    assert [row["itr_us"] for row in best(rows[::-1], 100)] == [4]


def test_each_system_and_load_has_a_row_in_order() -> None:
    rows = [
        candidate("tuned", 2, 90, 800.0, load_qps=4e5),
        candidate("tuned", 2, 80, 700.0),
        candidate("ebbrt", 2, 60, 600.0),
        candidate("ebbrt", 2, 999, 500.0, load_qps=4e5),
    ]
    found = [(r["load_qps"], r["system"], r["meets"]) for r in best(rows, 100)]
    assert found == [
        (2e5, "ebbrt", True), (2e5, "tuned", True), (4e5, "ebbrt", False), (4e5, "tuned", True),
    ]  # fmt: skip


def test_a_baseline_counts_for_its_own_load_only() -> None:
    rows = [candidate("tuned", 2, 80, 1000.0), candidate("tuned", 2, 80, 1000.0, load_qps=4e5)]
    assert [row["energy_change"] for row in best(rows, None)] == [-0.5, None]


def test_message_sizes_are_told_apart() -> None:
    rows = [
        candidate("tuned", 2, 1, y, load_qps=None, message_bytes=m)
        for m, y in ((8, 5.0), (64, 6.0))
    ]
    assert [(row["message_bytes"], row["y"]) for row in best(rows, None)] == [(8, 5.0), (64, 6.0)]


@pytest.mark.parametrize("limit", [None, 100.0])
def test_no_candidates_no_rows(limit: float | None) -> None:
    assert best([], limit) == []


def test_the_default_of_another_machine_is_not_compared_with() -> None:
    place = {key: GRID[0][key] for key in SUBJECT}
    defaults = [
        {**place, "machine": machine, "performance": 110.0, "cost": cost, "n": 5}
        for machine, cost in (("a1", 2000.0), ("b2", 4000.0))
    ]
    (row,) = best([candidate("tuned", 2, 62.0, 1000.0, machine="b2")], None, baselines=defaults)
    assert row["energy_change"] == -0.75


@pytest.mark.parametrize("column", ["work", "machine"])
def test_unlike_work_and_other_machines_have_rows_of_their_own(column: str) -> None:
    """A run of a third of the time needs less energy; that makes no setting better."""
    place = {key: GRID[0][key] for key in SUBJECT}
    default = {**place, column: "a", "performance": 110.0, "cost": 2000.0, "n": 5}
    rows = [
        candidate("tuned", itr, 60.0, energy, **{column: value})
        for itr, energy, value in ((2, 1500.0, "a"), (4, 1400.0, "a"), (8, 300.0, "b"))
    ]
    found = best(rows, None, [default])
    assert [(row[column], row["itr_us"], row["energy_change"]) for row in found] == [
        ("a", 4, pytest.approx(-0.3)), ("b", 8, None),
    ]  # fmt: skip
