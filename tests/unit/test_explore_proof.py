"""What Explore draws and writes of its proof: sets, standings, bands, areas, knobs, tests."""

import gc
import math
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtr

from app.explore.best_words import area_words, sentences
from app.explore.decided import judge
from app.explore.fronts import attained_lines, bands_of, fronts_of
from app.explore.question import Question
from app.explore.state import ExploreState
from app.explore.studies import standings_of, studies_of
from app.explore.views import asked_of, best_table, explain, limit_domain, picture
from app.kit.lake_view import LakeView
from app.lake.settings_answers import settings_answers
from data.decisions import Choice, compare_fronts
from data.findings import claims
from data.selection import Selection
from tests.fixtures.lakes import run
from tests.fixtures.pictures import decode, pairs, traces
from tests.unit.test_best_table import LOAD, replicates, state, view_of

CHOICE = Choice(workload="memcached", load_qps=200_000, system="linux_tuned", objective="energy_j")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return view_of(tmp_path_factory.mktemp("proof"))


def test_the_best_set_and_the_standings_are_drawn(view: LakeView) -> None:
    answer = picture("scatter", view, state(limit=110.1))
    # ITR 50 of Linux tuned may miss the limit, so ITR 10 at 80 us, which surely meets it, stays in
    # the set; the library OS has one best setting, the default is its own.
    members = [pair for trace in traces(answer["figure"], "set") for pair in pairs(trace)]
    assert sorted(round(x) for x, _ in members) == [60, 80, 104, 110]
    knobs = answer["columns"]["knobs"]
    standing = [knobs["standing"]["values"][i] for i in decode(knobs["standing"]["index"])]
    p99_us = decode(answer["columns"]["fields"]["latency_p99_us"])
    by_p99 = {round(x): word for x, word in zip(p99_us, standing, strict=True)}
    # 110.11 us with a deviation of 0.1 %: the limit of 110.1 us is neither surely met nor missed.
    assert (by_p99[60], by_p99[110], by_p99[111], by_p99[200]) == (
        "within", "maybe", "outside", "outside",
    )  # fmt: skip
    following = [knobs["next_run"]["values"][i] for i in decode(knobs["next_run"]["index"])]
    by_p99 = {round(x): word for x, word in zip(p99_us, following, strict=True)}
    assert (by_p99[60], by_p99[110], by_p99[200]) == ("in", "out", "out")
    (maybe,) = traces(answer["figure"], "maybe")
    assert [round(x) for x, _ in pairs(maybe)] == [110]
    legend = [trace["name"] for trace in traces(answer["figure"], "legend")]
    assert legend[-4:] == ["best set", "within the limit", "outside it", "maybe within it"]


def test_runs_of_one_setting_have_no_best_and_no_frontier(tmp_path: Path) -> None:
    """900, 910, 950 and 960 J: their mean is 930 J, their standard deviation 29.4 J."""
    rows = [
        run(latency_p99_us=60.0 + i, energy_j=joules, replicate=i)
        for i, joules in enumerate((900.0, 910.0, 950.0, 960.0))
    ]
    drawn = set()
    for path, runs in (("one", rows), ("two", [*rows, run(itr_us=9.0, energy_j=990.0)])):
        view, asked = view_of(tmp_path / path, runs), state(replicates="runs")
        answer = picture("scatter", view, asked)
        kinds = {trace["meta"]["kind"] for trace in answer["figure"]["data"]}
        marked = [len(trace["x"]) for trace in traces(answer["figure"], "winner")]
        legend = {trace["name"] for trace in traces(answer["figure"], "legend")}
        drawn.add((path, "frontier" in kinds, max(marked) > 0, "x lowest energy" in legend))
        assert ("best" in answer["columns"]["knobs"]) == (path == "two")
    assert drawn == {("one", False, False, False), ("two", True, True, True)}
    one = view_of(tmp_path / "again", rows)
    assert sentences(best_table(one, state()), asked_of(one, state())) == [
        "At 200k QPS, Linux tuned has 4 runs of one setting: mean energy 930 J, sd 29.4 J."
    ]
    (answered,) = settings_answers(one, Selection(), one.catalogue.metric("energy_j"))
    assert answered == (
        "How repeatable is a run?",
        "4 runs have one setting: mean energy 930 J, standard deviation 3.2 % of it.",
    )


def test_without_a_limit_nothing_stands_anywhere(view: LakeView) -> None:
    answer = picture("scatter", view, state())
    assert "standing" not in answer["columns"]["knobs"]
    assert traces(answer["figure"], "maybe") == []
    assert "within the limit" not in [t["name"] for t in traces(answer["figure"], "legend")]
    question = Question.of(view, state())
    settings = pl.DataFrame(
        {
            name: [column.values[code] for code in column.codes.tolist()]
            for name, column in standings_of(question).items()
        }
    ).with_columns(question.points["system"])
    assert settings["standing"].null_count() == len(settings)
    assert settings["next_run"].null_count() == len(settings)
    # Of Linux tuned two settings in the set, one measured once.
    tuned = settings.filter(system="linux_tuned")["best"].value_counts()
    assert dict(tuned.iter_rows()) == {"set": 2, "once": 1, None: 9}


def test_bands_lie_around_the_frontier(view: LakeView) -> None:
    question = Question.of(view, state(bands=True))
    (library,) = (band for band in bands_of(question) if band.symbol == "ebbrt_tuned")
    # Its one best setting has 60.06 us and 900.9 J: the possible corner is below, the sure above.
    assert (library.possible.min(axis=0) < [60.06, 900.9]).all()
    assert (library.sure.min(axis=0) > [60.06, 900.9]).all()
    assert (library.sure.min(axis=0) < [60.5, 908]).all()
    kinds = {
        t["meta"]["kind"] for t in picture("scatter", view, state(bands=True))["figure"]["data"]
    }
    assert "band" in kinds
    assert "attained" not in kinds
    assert traces(picture("scatter", view, state())["figure"], "band") == []


def test_a_wider_level_gives_a_wider_band(view: LakeView) -> None:
    wide, narrow = (
        bands_of(Question.of(view, state(bands=True, alpha=alpha)))[0] for alpha in (0.01, 0.2)
    )
    assert (wide.sure.min(axis=0) > narrow.sure.min(axis=0)).all()


def test_of_runs_the_lines_say_how_often_one_sweep_attains_them(tmp_path: Path) -> None:
    # One setting, runs (1, 10), (2, 20), (3, 30): a sweep attains (1, 10) one time in three.
    rows = [
        run(latency_p99_us=x, energy_j=10 * x, replicate=i) for i, x in enumerate((1.0, 2.0, 3.0))
    ]
    view = view_of(tmp_path, rows)
    asked = state(bands=True, replicates="runs")
    question = Question.of(view, asked)
    lines = {level: line for _, level, line in attained_lines(question, question.points)}
    assert {level: line.min(axis=0).tolist() for level, line in lines.items()} == {
        0.25: [1, 10], 0.5: [2, 20], 0.75: [3, 30],
    }  # fmt: skip
    names = [t["name"] for t in traces(picture("scatter", view, asked)["figure"], "legend")]
    wanted = [f"{share} % of sweeps attain" for share in (25, 50, 75)]
    assert [name for name in names if "sweeps" in name] == wanted


def test_areas_are_those_of_the_decisions(view: LakeView) -> None:
    asked = state(against="linux_tuned")
    rows = best_table(view, asked)
    row = rows.filter(system="ebbrt_tuned").row(0, named=True)
    found = compare_fronts(
        view.lake, replace(CHOICE, system="ebbrt_tuned"), CHOICE, "latency_p99_us"
    )
    assert (row["area"], row["area_low"], row["area_high"]) == (
        pytest.approx(found.estimate), pytest.approx(found.low), pytest.approx(found.high),
    )  # fmt: skip
    assert row["area_x"] == pytest.approx(math.exp(found.reference[0]))
    words = area_words(row, asked_of(view, asked))
    assert words.startswith("Library OS dominates ")
    assert " times the area of Linux tuned (p99 latency below " in words
    assert rows.filter(system="linux_tuned")["area"].to_list() == [None]
    assert best_table(view, state())["area"].null_count() == 3
    # The other system counts although the filters leave it out.
    alone = state(filters={**LOAD, "system": ["ebbrt_tuned"]}, against="linux_tuned")
    assert best_table(view, alone)["area"].to_list() == [pytest.approx(found.estimate)]


def test_a_share_has_no_bands(view: LakeView) -> None:
    assert fronts_of(Question.of(view, state(y="cpu_pct"))) == ()


def merged_rows() -> list[dict[str, Any]]:
    """Two power limits that change nothing, one run of each setting."""
    return [
        run(itr_us=itr, dvfs_ghz=2.9, rapl_w=rapl, latency_p99_us=60 + itr,
            energy_j=1000 + 10 * itr + i / 10)
        for itr in (2.0, 10.0, 20.0) for i, rapl in enumerate((75.0, 135.0))
    ]  # fmt: skip


def test_knobs_without_effect_give_settings_more_runs(tmp_path: Path) -> None:
    view = view_of(tmp_path, merged_rows())
    apart = best_table(view, state()).row(0, named=True)
    assert (apart["n"], apart["settings"], apart["settings_twice"]) == (1, 6, 0)
    asked = state(merged=("rapl",))
    pooled = best_table(view, asked).row(0, named=True)
    assert (pooled["n"], pooled["settings"], pooled["settings_twice"]) == (2, 3, 3)
    assert (pooled["itr_us"], pooled["rapl_w"]) == (2.0, None)
    # The set selects all its runs; both of its points are drawn as members.
    assert '"rapl_w"' not in pooled["set"]
    members = [
        pair for t in traces(picture("scatter", view, asked)["figure"], "set") for pair in pairs(t)
    ]
    assert sorted(x for x, _ in members) == [62, 62]
    assert "same=rapl" in asked.to_query()
    words = explain(view, asked, "best-table")
    assert "RAPL pooled as without effect" in words
    # A filter on the pooled knob is one on runs.
    one = state(filters={**LOAD, "rapl": [135.0]}, merged=("rapl",))
    assert best_table(view, one).row(0, named=True)["n"] == 1


def test_how_it_was_computed_has_the_numbers_of_the_test(view: LakeView) -> None:
    asked = state()
    words = explain(view, asked, "best-table")
    assert "the test of each recommended setting; select one or two settings" in words
    found = {one.row["system"]: one for one in judge(Question.of(view, asked))}
    judged = found["linux_tuned"]
    a, b = judged.study.cost.at(judged.shown), judged.reference
    assert b is not None
    t = float(a.mean - b.cost.mean) / math.sqrt(a.variance + b.cost.variance)
    df = float(min(a.df, b.cost.df))
    assert f"df = {df:.3g}" in words
    assert f"p = {2 * stdtr(df, -abs(t)):.1e}" in words
    assert SIDE.format(50, "1.00 kJ") in words
    assert "against the default (n = 3, mean 2.00 kJ" in words


def test_how_it_was_computed_names_what_bounds_the_regret(view: LakeView) -> None:
    asked = state(alpha=1e-4)
    words = explain(view, asked, "best-table")
    judged = {one.row["system"]: one for one in judge(Question.of(view, asked))}["linux_tuned"]
    by = int(judged.study.best.bound_by[judged.shown])
    itr = judged.study.rows["itr_us"]
    assert by >= 0
    assert by != judged.shown
    assert f"regret of ITR {itr[judged.shown]:g} us \u00b7 2.9 GHz: at most " in words
    assert f", because the best may be ITR {itr[by]:g} us \u00b7 2.9 GHz (n = 3" in words


# The deviations of all settings are 0.1 %; moderated, of one run, 0.111 %.
SIDE = "ITR {} us \u00b7 2.9 GHz (n = 3, mean {}, moderated sd of one run 0.111 %)"


@pytest.mark.parametrize(
    ("itr", "wanted"),
    [
        ([2], SIDE.format(2, "1.50 kJ") + " against " + SIDE.format(50, "1.00 kJ")),
        ([2, 52], SIDE.format(2, "1.50 kJ") + " against " + SIDE.format(52, "1.00 kJ")),
        ([50], SIDE.format(50, "1.00 kJ") + " against the default (n = 3, mean 2.00 kJ"),
        ([2, 50, 52], "select one or two settings of a system to see their test"),
    ],
)
def test_a_reader_picks_the_pair(view: LakeView, itr: list[int], wanted: str) -> None:
    clause = f'knobs~{{"system":"linux_tuned","itr_us":{itr}}}'
    assert wanted in explain(view, state(clause=clause), "best-table")


def test_a_box_picks_settings_by_their_means(view: LakeView) -> None:
    words = explain(view, state(clause="box~latency_p99_us~energy_j~55~65~1490~1510"), "best-table")
    assert "ITR 2 us \u00b7 2.9 GHz (n = 3, mean 1.50 kJ" in words


def test_what_is_undecided_says_how_many_runs_would_decide(tmp_path: Path) -> None:
    # 1 % apart with deviations of 5 %, three runs each.
    noisy = [
        run(itr_us=itr, system=system, replicate=i, latency_p99_us=60.0,
            energy_j=base * (1 + 0.05 * (i - 1)))
        for system, itr, base in (("linux_tuned", 2.0, 990.0), ("linux_default", None, 1000.0))
        for i in range(3)
    ]  # fmt: skip
    view = view_of(tmp_path, noisy)
    (first,) = sentences(best_table(view, state()), asked_of(view, state()))
    assert "is undecided against the default in energy" in first
    assert "would decide" in first


def test_odd_runs_that_are_left_out_are_told_in_the_explanation(view: LakeView) -> None:
    assert "without 0 odd runs" in explain(view, state(without_odd=True), "best-table")


def test_the_agreed_limit_is_offered_where_there_are_latencies(tmp_path: Path) -> None:
    view = view_of(tmp_path / "latency", replicates(2.0, 60.0, 900.0))
    domain = limit_domain(view, state())
    assert (domain["agreed"], domain["by"]) == (500.0, "performance")
    # Nobody agreed on it where all requests take minutes, and no claim is made under it.
    slow = view_of(tmp_path / "slow", replicates(2.0, 188e6, 900.0) + replicates(9.0, 190e6, 950.0))
    assert "agreed" not in limit_domain(slow, state())
    assert {claim.limit for claim in claims(slow.lake)} == {None}
    rows = [run(workload="netpipe", loop="closed", load_qps=None, message_bytes=64, duration_s=0.3,
                performance_metric="duration_s", latency_p99_us=None)]  # fmt: skip
    other = view_of(tmp_path / "time", rows)
    assert "agreed" not in limit_domain(other, ExploreState(Selection.of(workload=["netpipe"])))


def test_corners_are_stairs(view: LakeView) -> None:
    for band in bands_of(Question.of(view, state(bands=True))):
        for line in (band.sure, band.possible):
            steps = np.diff(line, axis=0)
            assert (np.isclose(steps[:, 0], 0) | np.isclose(steps[:, 1], 0)).all()
            assert (steps[:, 0] >= -1e-9).all()
            assert (steps[:, 1] <= 1e-9).all()


def test_the_points_of_the_last_questions_alone_are_kept(view: LakeView) -> None:
    asked = [state(limit=float(100 + limit)) for limit in range(30)]
    assert Question.of(view, asked[0]) is Question.of(view, asked[0])
    made = [weakref.ref(Question.of(view, each)) for each in asked]
    gc.collect()
    assert 0 < sum(each() is not None for each in made) < 20


def test_filters_on_other_choices_leave_a_choice_as_it_was(view: LakeView) -> None:
    every, tuned = Question.of(view, state()), {**LOAD, "system": ["linux_tuned"]}
    one = Question.of(view, state(filters=tuned))
    (kept,) = studies_of(one)
    place = next(i for i, each in enumerate(studies_of(every)) if each is kept)
    assert judge(one)[0] is judge(every)[place]
    # Another limit, or other settings of it, are another question.
    (limited,) = studies_of(Question.of(view, state(filters=tuned, limit=100.0)))
    (fewer,) = studies_of(Question.of(view, state(filters={**tuned, "itr": [2.0, 50.0]})))
    assert limited.study.limit is not None
    assert kept.study.limit is None
    assert len(fewer.study.part) < len(kept.study.part)
