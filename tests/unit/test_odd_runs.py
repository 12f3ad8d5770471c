"""Odd runs in Explore: counted, named at their point, left out of everything on request."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.explore.question import Question
from app.explore.state import ExploreState
from app.explore.views import best_table, explain, odd_change, picture, rows_behind, status_words
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import decode, pairs, traces

# Twelve settings of three runs each, p99 within 1 %; of the first one run took 1,000 us.
#   mean of the first (1000 + 100 + 101) / 3 = 400.3 us, without the odd run 100.5 us.
# Its energy is the lowest, 10 J; that of setting i is 10 + i.
LIKE: dict[str, Any] = {"workload": ["memcached"], "load": [200_000]}


def rows() -> list[dict[str, Any]]:
    found = []
    for setting in range(12):
        for replicate, p99 in enumerate((100.0, 101.0, 1000.0 if setting == 0 else 100.5)):
            found.append(
                run(itr_us=float(setting + 1), replicate=replicate, energy_j=10.0 + setting,
                    latency_p99_us=p99, edp_js=1.0)
            )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(write_lake(tmp_path_factory.mktemp("odd") / "lake", rows())).at(None)


def state(**more: Any) -> ExploreState:
    return ExploreState(Selection.of(**LIKE), **more)


def odd_marks(figure: dict) -> list[tuple[float, float]]:
    return [pair for trace in traces(figure, "odd") for pair in pairs(trace)]


def test_an_odd_run_is_counted_and_marked_at_its_point(tiny: LakeView) -> None:
    assert status_words(tiny, state()) == "36 of 36 runs · 1 odd run"
    answer = picture("scatter", tiny, state())
    assert odd_marks(answer["figure"]) == [(pytest.approx(400.3, abs=0.1), 10)]
    assert "! odd run" in [t["name"] for t in traces(answer["figure"], "legend")]
    odd = answer["columns"]["knobs"]["odd"]
    assert odd["values"] == ["p99 latency 1.00 ms (median of 3: 101 us)", None]
    assert np.bincount(decode(odd["index"])).tolist() == [1, 11]


def test_each_run_is_marked_by_itself(tiny: LakeView) -> None:
    assert odd_marks(picture("scatter", tiny, state(replicates="runs"))["figure"]) == [(1000, 10)]


def test_without_odd_runs_nothing_counts_them(tiny: LakeView) -> None:
    without = state(without_odd=True)
    assert status_words(tiny, without) == "36 of 36 runs · without 1 odd run"
    figure = picture("scatter", tiny, without)["figure"]
    assert odd_marks(figure) == []
    (points,) = traces(figure, "points")
    assert pairs(points)[0] == (100.5, 10)
    assert points["error_x"]["array"][0] == pytest.approx(0.5**0.5)
    assert float(np.nanmin(traces(figure, "frontier")[0]["x"])) <= 100.5
    (row,) = best_table(tiny, without).iter_rows(named=True)
    assert (row["limited"], row["n"]) == (pytest.approx(100.5, abs=0.01), 2)
    for name, column in (
        ("scatter", "latency_p99_us"), ("best-table", "limited_latency_p99_us"),
    ):  # fmt: skip
        assert max(rows_behind(tiny, without, name)[column].to_list()) < 102
    assert len(rows_behind(tiny, without, "runs")) == 35
    assert "run_id NOT IN ('" in explain(tiny, without)
    cells = next(
        t
        for t in picture("heatmap", tiny, without)["figure"]["data"]
        if t["meta"]["kind"] == "cells"
    )
    assert cells["meta"]["n"][0] == 2  # n of the first cell


def test_the_page_says_if_odd_runs_decide_the_best_setting(tiny: LakeView) -> None:
    assert odd_change(tiny, state()) == ""
    words = odd_change(tiny, state(limit=200.0))
    assert words == "Without odd runs another setting is best for Linux tuned."
    words = odd_change(tiny, state(limit=200.0, without_odd=True))
    assert words == "With odd runs another setting is best for Linux tuned."


def test_a_filter_on_settings_does_not_change_what_is_odd(tiny: LakeView) -> None:
    few = ExploreState(Selection.of(**LIKE, itr=[1, 2]))
    assert status_words(tiny, few) == "6 of 36 runs · 1 odd run"
    assert status_words(tiny, ExploreState(Selection.of(**LIKE, itr=[2]))) == "3 of 36 runs"


def test_shares_have_no_odd_runs(tmp_path: Path) -> None:
    changed = [{**row, "cpu_pct": row["latency_p99_us"]} for row in rows()]
    view = Lakes(write_lake(tmp_path / "lake", changed)).at(None)
    assert len(Question.of(view, state(x="cpu_pct")).odd) == 0


def test_a_setting_of_which_all_runs_are_odd_is_said_to_vanish(tmp_path: Path) -> None:
    split = [
        run(itr_us=50.0, replicate=i, energy_j=9.0, latency_p99_us=value)
        for i, value in enumerate((100.0, 100.0, 300.0, 300.0))
    ]
    view = Lakes(write_lake(tmp_path / "lake", [*rows(), *split])).at(None)
    words = status_words(view, state(without_odd=True))
    assert words == "40 of 40 runs · without 5 odd runs, the only ones of 1 setting"


@pytest.mark.real
def test_the_published_tables_have_nine_odd_runs_of_memcached(published_lake: Path) -> None:
    view = Lakes(published_lake).at(None)
    memcached = ExploreState(Selection.of(workload=["memcached"]))
    assert status_words(view, memcached).endswith("9 odd runs")
    answer = picture("scatter", view, ExploreState(Selection.of(**LIKE)))
    values = [value for value in answer["columns"]["knobs"]["odd"]["values"] if value]
    assert "p99 latency 1.06 ms (median of 3: 153 us)" in values
    # Library OS, ITR 100: runs of 1056.5, 152.5, 152.7 us have a mean of 454 us.
    assert any(x == pytest.approx(453.9, abs=0.1) for x, _ in odd_marks(answer["figure"]))
    without = picture("scatter", view, ExploreState(Selection.of(**LIKE), without_odd=True))
    assert odd_marks(without["figure"]) == []


def test_of_too_many_runs_the_means_are_drawn(
    tiny: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    means = state()
    assert status_words(tiny, state(replicates="runs")) == status_words(tiny, means)
    monkeypatch.setattr("app.explore.question.MOST_RUNS_DRAWN", 35)
    monkeypatch.setattr("app.explore.views.MOST_RUNS_DRAWN", 35)
    # Another state, because resolved ones are cached.
    runs = state(replicates="runs", limit=2000.0)
    assert len(rows_behind(tiny, runs, "scatter")) == 12
    assert "means are drawn, not runs: over 35 match" in status_words(tiny, runs)
