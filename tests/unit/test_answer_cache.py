"""Answers that are kept: asked for once, narrowed in memory, bounded."""

import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import app.kit.answer_cache as answer_cache
from app.explore.state import ExploreState
from app.explore.views import limit_domain, picture, status_words
from app.kit import lake_view
from app.kit.answer_cache import AnswerCache, compact
from app.kit.lake_view import LakeView, leading
from data.catalogue import SHIPPED
from data.connection import open_lake
from data.errors import LakeError
from data.queries.explore import points_query
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

AT_200K = Selection.of(workload=["memcached"], load=[200_000.0])
COLUMNS = {"x": "latency_p99_us", "y": "energy_j"}


class Asked:
    """A lake that counts what it is asked."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.questions: list[str] = []

    def __call__(self, sql: str, _: object) -> pl.DataFrame:
        self.questions.append(sql)
        time.sleep(0.02)
        return pl.DataFrame({"i": range(self.rows)})


def test_the_same_question_is_asked_once_even_by_many_at_once() -> None:
    lake = Asked(3)
    answers = AnswerCache(lake)
    threads = [threading.Thread(target=answers.get, args=("q", [1])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lake.questions == ["q"]
    answers.get("q", [2])
    assert lake.questions == ["q", "q"]


def test_what_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "KEPT_ROWS", 2)
    lake = Asked(3)
    answers = AnswerCache(lake)
    assert answers.get("q", []) is None
    assert answers.get("q", []) is None
    assert lake.questions == ["q"]


def test_the_longest_unused_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "ALL_ROWS", 7)
    lake = Asked(3)
    answers = AnswerCache(lake)
    for sql in ("a", "b", "a", "c", "a", "b"):
        answers.get(sql, [])
    assert lake.questions == ["a", "b", "c", "b"]


@pytest.fixture
def view(tmp_path: Path) -> LakeView:
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, replicate=r, load_qps=load, rapl_w=rapl,
            energy_j=900.0 * ghz + 3.0 * r + rapl, latency_p99_us=60 + (itr or 30.0) + r / 7)
        for system in ("linux_tuned", "ebbrt_tuned") for itr in (2.0, 50.0, None)
        for ghz in (1.3, 2.9, None) for load in (200_000.0, 400_000.0) for rapl in (75.0, 135.0)
        for r in range(3) if ghz is not None
    ]  # fmt: skip
    return LakeView(open_lake(write_lake(tmp_path / "lake", rows)))


@pytest.mark.parametrize("means", [True, False])
def test_narrowing_in_memory_is_asking_the_lake(view: LakeView, means: bool) -> None:
    selection = AT_200K.with_values("itr", [2.0, "adaptive"]).with_values("rapl", [75.0])
    kept = view.narrowed(
        lambda s, limit: points_query(s, COLUMNS, means, limit, catalogue=SHIPPED), selection
    ).rows
    assert kept.equals(
        view.lake.polars(*points_query(selection, COLUMNS, means, 1000, catalogue=SHIPPED))
    )


def test_runs_too_many_to_keep_are_not_asked_for_together(
    view: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow, asked = AT_200K.with_values("rapl", [75.0]), []

    def query(selection: Selection, limit: int) -> tuple[str, list]:
        asked.append(selection)
        return points_query(selection, COLUMNS, False, limit, catalogue=SHIPPED)

    monkeypatch.setattr(lake_view, "KEPT_ROWS", 5)
    found = view.narrowed(query, narrow, is_each_run=True).rows
    assert asked == [narrow]
    monkeypatch.undo()
    assert found.equals(view.narrowed(query, narrow, is_each_run=True).rows)
    assert asked[1:] == [leading(narrow)]


# What the heatmap shows of one system at 200k QPS, asked of the runs themselves.
CELLS = """
SELECT dvfs_ghz, itr_us, avg(energy_j) AS mean, stddev_samp(energy_j) AS sd, count(energy_j) AS n
FROM runs
WHERE workload = 'memcached' AND load_qps = 200000 AND system = 'linux_tuned'
GROUP BY dvfs_ghz, itr_us
"""


NAMES = ("mean", "sd", "n")


def test_pooled_cells_are_the_lakes(view: LakeView) -> None:
    state = ExploreState(AT_200K, heat_system="linux_tuned", pool=("rapl",))
    figure = picture("heatmap", view, state)["figure"]
    cells, meta = figure["data"][0], figure["layout"]["meta"]["map"]
    found = {
        (dvfs, itr): [cells["meta"][name][row * len(meta["xs"]) + column] for name in NAMES]
        for row, dvfs in enumerate(meta["ys"])
        for column, itr in enumerate(meta["xs"])
    }
    asked = view.lake.polars(CELLS).rows()
    assert len(asked) == len(found) == 6
    for dvfs, itr, mean, sd, n in asked:
        shown_mean, shown_sd, shown_n = found[dvfs, itr]
        assert shown_mean == pytest.approx(mean)
        assert shown_sd == pytest.approx(sd)
        assert shown_n == n == 6


def test_another_filter_of_the_same_workload_asks_the_lake_nothing(
    view: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures: tuple[Callable, ...] = (
        partial(picture, "scatter"), partial(picture, "heatmap"), limit_domain, status_words,
    )  # fmt: skip
    for show in pictures:
        show(view, ExploreState(AT_200K))
    monkeypatch.setattr(view.lake, "polars", lambda *_: pytest.fail("asked the lake"))
    other = ExploreState(AT_200K.with_values("load", [400_000.0]).with_values("dvfs", [1.3]))
    for show in pictures:
        show(view, other)


def test_names_are_kept_as_categories_that_sort_and_filter_as_text() -> None:
    answers = AnswerCache(lambda *_: pl.DataFrame({"system": ["b", "a", None, "b"] * 500}))
    kept = answers.get("q", [])
    assert kept is not None
    assert kept["system"].dtype == pl.Categorical
    assert kept["system"].unique().sort().to_list() == [None, "a", "b"]
    assert len(kept.filter(pl.col("system") == "b")) == 1000


def test_a_kept_column_holds_no_memory_of_its_query(view: LakeView) -> None:
    answer = view.lake.polars("SELECT energy_j, run_id FROM runs")
    kept = compact(answer)
    assert kept["energy_j"].equals(answer["energy_j"])
    assert not np.shares_memory(kept["energy_j"].to_numpy(), answer["energy_j"].to_numpy())


@pytest.mark.slow
def test_many_answers_leave_nothing_behind() -> None:
    """At most so many answers are kept, and no lock, event or entry of those that went."""
    answer = pl.DataFrame({"i": [1]})
    answers = AnswerCache(lambda *_: answer)
    for number in range(500):
        answers.get("q", [number])
    gc.collect()
    before = len(gc.get_objects()), sys.getallocatedblocks()
    for number in range(500, 3_500):
        answers.get("q", [number])
    gc.collect()
    assert len(gc.get_objects()) - before[0] < 200
    assert sys.getallocatedblocks() - before[1] < 2000


def test_a_failed_question_leaves_nothing_behind_and_can_be_asked_again() -> None:
    asked: list[int] = []

    def ask(_: str, parameters: Sequence[int]) -> pl.DataFrame:
        asked.extend(parameters)
        if len(asked) == 1:
            raise LakeError("busy")
        return pl.DataFrame({"i": [1, 2]})

    answers = AnswerCache(ask)
    with pytest.raises(LakeError):
        answers.get("q", [1])
    kept = answers.get("q", [1])
    assert kept is not None
    assert len(kept) == 2
    assert asked == [1, 1]


def test_small_answers_are_bounded_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "ALL_ANSWERS", 3)
    lake = Asked(0)
    answers = AnswerCache(lake)
    for sql in ("a", "b", "c", "d", "b", "a"):
        answers.get(sql, [])
    assert lake.questions == ["a", "b", "c", "d", "a"]
