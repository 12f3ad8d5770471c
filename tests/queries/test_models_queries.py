"""The runs that Models reads: all of them, or as many of each group and configuration."""

from collections import Counter
from pathlib import Path

import pytest

from app.kit.context import Lakes
from app.models import runs
from app.models.routes import fits_answer, runs_answer
from app.models.state import ModelsState
from data.catalogue import SHIPPED
from data.connection import Lake
from data.queries.models import model_runs_query
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

# Two replicates of 2 loads x 3 delays of each system; "a" is before "z" in every order of names.
SYSTEMS = ("a", "m", "z")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        run(run_id=f"{system}-{load}-{itr}-{replicate}", system=system, load_qps=load, itr_us=itr,
            replicate=replicate, duration_s=20.0, interrupts=1000, rx_desc=4000)
        for system in SYSTEMS for load in (1e5, 2e5) for itr in (2, 50, 100) for replicate in (0, 1)
    ]  # fmt: skip
    return write_lake(tmp_path_factory.mktemp("models") / "lake", rows)


@pytest.fixture(scope="module")
def lake(path: Path) -> Lake:
    return Lakes(path).at(None).lake


def test_without_a_cut_all_runs_come_by_run_id(lake: Lake) -> None:
    found = lake.polars(*model_runs_query(Selection.of(system=["a", "z"]), 100, catalogue=SHIPPED))
    assert found["run_id"].to_list() == sorted(found["run_id"])
    assert (len(found), set(found["matching"])) == (24, {24})


def test_a_cut_takes_as_many_of_each_group_and_one_of_each_configuration_first(lake: Lake) -> None:
    found = lake.polars(*model_runs_query(Selection(), 18, catalogue=SHIPPED))
    assert set(found["matching"]) == {36}
    per_group = Counter(found.select("system", "load_qps").iter_rows())
    assert set(per_group.values()) == {3}
    assert len(per_group) == 6
    assert found.select("system", "load_qps", "itr_us").n_unique() == 18
    again = lake.polars(*model_runs_query(Selection(), 18, catalogue=SHIPPED))
    assert again["run_id"].to_list() == found["run_id"].to_list()


def test_a_small_group_is_whole(tmp_path: Path) -> None:
    rows = [run(run_id=f"big-{i:03}", system="big", itr_us=i, interrupts=1) for i in range(40)]
    rows += [run(run_id=f"small-{i}", system="small", itr_us=i, interrupts=1) for i in range(3)]
    lake = Lakes(write_lake(tmp_path / "lake", rows)).at(None).lake
    found = lake.polars(*model_runs_query(Selection(), 13, catalogue=SHIPPED))
    assert Counter(found["system"]) == {"big": 10, "small": 3}
    # of many delays not the first ones
    assert max(found.filter(system="big")["itr_us"]) > 20


def test_the_page_says_how_many_of_how_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 18)
    view = Lakes(path).at(None)
    said = "18 of 36 runs, evenly by configuration"
    assert said in runs_answer(view, ModelsState())["words"]
    assert said in fits_answer(view, ModelsState())["notes"]
    assert "evenly" not in runs_answer(view, ModelsState(Selection.of(system=["a"])))["words"]
