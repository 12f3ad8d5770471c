"""Which runs a timeline can open, and which it opens with."""

from pathlib import Path

import pytest

from data.catalogue import SHIPPED
from data.connection import Lake, open_lake
from data.queries.logged_runs import (
    first_look_query,
    logged_configurations_query,
    logged_runs_query,
)
from data.selection import Selection
from tests.fixtures.lakes import run, runs_from_text, write_lake

TEXT = """
run_id  system         itr_us  dvfs_ghz  load_qps  replicate  edp_base  has_log
base    linux_default  -       -         200000.0  0          2.0       1
base4   linux_default  -       -         400000.0  0          2.0       1
a0      linux_tuned    50.0    2.9       200000.0  0          1.0       0
a1      linux_tuned    50.0    2.9       200000.0  1          1.0       1
a2      linux_tuned    50.0    2.9       200000.0  2          1.0       1
b0      linux_tuned    100.0   2.9       200000.0  0          0.5       1
os      ebbrt_tuned    2.0     1.9       200000.0  0          1.0       1
os4     ebbrt_tuned    2.0     1.9       400000.0  0          0.1       1
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Energy-delay products of `edp_base` J s: energies of that many MJ at 1 us."""
    tmp_path = tmp_path_factory.mktemp("lake")
    rows = []
    for row in runs_from_text(TEXT):
        energy = 1e6 * row.pop("edp_base")
        log = bool(row.pop("has_log"))
        rows.append({**row, "energy_j": energy, "latency_p99_us": 1.0, "has_log": log})
    return open_lake(write_lake(tmp_path, rows))


def ids(lake: Lake, query: tuple) -> list[str]:
    return list(lake.polars(*query)["run_id"])


def test_runs_with_a_log_come_by_replicate_with_their_configurations(lake: Lake) -> None:
    tuned = Selection.of(system=["linux_tuned"], load=[200_000.0])
    assert ids(lake, logged_configurations_query(tuned, 9, catalogue=SHIPPED)) == ["b0", "a1", "a2"]
    assert ids(lake, logged_configurations_query(tuned, 2, catalogue=SHIPPED)) == ["b0", "a1"]
    rows = lake.polars(
        *logged_configurations_query(Selection.of(itr=["adaptive"]), 9, catalogue=SHIPPED)
    )
    assert rows["run_id"].to_list() == ["base", "base4"]
    assert rows["itr_us"].null_count() == 2


def test_a_first_look_has_a_default_run_and_the_best_of_each_system(lake: Lake) -> None:
    assert ids(lake, first_look_query()) == ["base", "b0", "os"]


def test_a_first_look_without_a_default_run(tmp_path: Path) -> None:
    rows = [run(run_id="x", has_log=True), run(run_id="y", itr_us=9.0), run(run_id="z")]
    with open_lake(write_lake(tmp_path / "some", rows)) as some:
        assert ids(some, first_look_query()) == ["x"]
    with open_lake(write_lake(tmp_path / "none", rows[1:])) as none:
        assert ids(none, first_look_query()) == []


def test_what_can_be_added_is_sorted_by_likeness(lake: Lake) -> None:
    found = lake.polars(*logged_runs_query([], "os4", 100, catalogue=SHIPPED))
    assert list(found["run_id"]) == ["base4", "os4", "base", "os", "a1", "a2", "b0"]
    assert set(found["total"]) == {7}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["TUNED", "100 us"], ["b0"]),
        (["library", "200k"], ["os"]),
        (["adaptive", "governor", "400k qps"], ["base4"]),
        (["%"], []),
        (["'; DROP VIEW runs; --"], []),
    ],
)
def test_words_narrow(lake: Lake, words: list[str], expected: list[str]) -> None:
    assert ids(lake, logged_runs_query(words, None, 100, catalogue=SHIPPED)) == expected


def test_the_list_is_bounded_and_says_how_many_there_are(lake: Lake) -> None:
    found = lake.polars(*logged_runs_query([], None, 2, catalogue=SHIPPED))
    assert (len(found), found["total"][0]) == (2, 7)
