"""Who wins a cell: cells drawn as text, with answers that are known."""

import math
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from data.analysis.contenders import Question
from data.analysis.rules import CORRECTIONS, Rules
from data.analysis.significance import TESTS
from data.analysis.ties import Comparison, compare, win_counts
from data.errors import DataError

# Each line is a configuration: two axes, competitor, another knob, its replicates.
CELLS = """
size  depth  mode       ghz  values
4     1      poll       2.9  10,12,14          # poll 12 against 22: a win, p = 0.0036
4     1      interrupt  2.9  20,22,24
4     8      poll       2.9  10,12,14          # equal means: a tie, p = 1
4     8      interrupt  2.9  11,12,13
4     16     poll       2.9  10                # one replicate: no test, though 10 against 22
4     16     interrupt  2.9  20,22,24
8     1      poll       2.9  7,7               # identical values: a tie without a p value
8     1      interrupt  2.9  7,7,7
8     8      poll       2.9  7,7               # identical within, different between: certain
8     8      interrupt  2.9  8,8
8     16     poll       2.9  10,12,14          # measured by one alone: no win
"""


def groups(text: str) -> pl.DataFrame:
    """Configurations drawn as text; `-` is NULL."""
    lines = [line.split("#")[0].split() for line in text.strip().splitlines()]
    head, body = lines[0], [line for line in lines[1:] if line]
    rows = [
        {
            name: [float(v) for v in text.split(",")] if name == "values" else _value(text)
            for name, text in zip(head, line, strict=True)
        }
        for line in body
    ]
    return pl.DataFrame(rows, schema_overrides={"values": pl.List(pl.Float64)})


def _value(text: str) -> str | float | None:
    if text == "-":
        return None
    try:
        return float(text)
    except ValueError:
        return text


STUDENT = Rules("student", "none")


def judged(text: str, better: str | None = "less", rules: Rules = STUDENT) -> Comparison:
    return compared(groups(text), rules, better)


def compared(rows: pl.DataFrame, rules: Rules = STUDENT, better: str | None = "less") -> Comparison:
    return compare(rows, "size", "depth", "mode", Question(better), rules)  # type: ignore[arg-type]


def cell(found: Comparison, x: float, y: float) -> dict:
    """One cell, its winner and runner-up as names."""
    row = found.cells.filter((pl.col("x") == x) & (pl.col("y") == y)).row(0, named=True)
    names = found.contenders["competitor"].to_list()
    row["winner"] = names[row["winner"]]
    row["runner_up"] = names[row["runner_up"]] if row["runner_up"] >= 0 else None
    return row


def test_a_win_by_hand() -> None:
    won = cell(judged(CELLS), 4, 1)
    assert (won["outcome"], won["winner"], won["runner_up"]) == ("win", "poll", "interrupt")
    # 12 against 22: 10 less, 10 / 22 = 45.5 % less.
    assert (won["margin"], won["margin_share"]) == (10.0, pytest.approx(-10 / 22))
    assert won["p"] == pytest.approx(stats.ttest_ind([10, 12, 14], [20, 22, 24]).pvalue, rel=1e-12)
    assert won["p"] == pytest.approx(0.0036022, rel=1e-4)
    assert won["effect"] == pytest.approx(3.98942, rel=1e-5)


def test_more_is_better_turns_the_winner() -> None:
    won = cell(judged(CELLS, better="more"), 4, 1)
    assert (won["winner"], won["margin_share"]) == ("interrupt", pytest.approx(10 / 12))


def test_equal_means_are_a_tie() -> None:
    tied = cell(judged(CELLS), 4, 8)
    assert (tied["outcome"], tied["margin"], tied["p"]) == ("tie", 0.0, 1.0)


def test_one_replicate_is_never_a_win() -> None:
    lucky = cell(judged(CELLS), 4, 16)
    assert (lucky["outcome"], lucky["winner"], lucky["margin"]) == ("too few", "poll", 12.0)
    assert math.isnan(lucky["p"])


def test_by_sets_two_of_one_value_are_a_tie_though_each_ran_once() -> None:
    rows = """
size  depth  mode       ghz  values
4     1      poll       2.9  7
4     1      interrupt  2.9  7
4     8      poll       2.9  7
4     8      interrupt  2.9  8
"""
    found = judged(rows, rules=Rules())
    assert [cell(found, 4, depth)["outcome"] for depth in (1, 8)] == ["tie", "too few"]
    assert cell(judged(rows), 4, 1)["outcome"] == "too few"


def test_values_without_spread() -> None:
    same, apart = cell(judged(CELLS), 8, 1), cell(judged(CELLS), 8, 8)
    assert (same["outcome"], same["margin"], math.isnan(same["p"])) == ("tie", 0.0, True)
    assert (apart["outcome"], apart["p"], apart["effect"]) == ("win", 0.0, math.inf)


def test_measured_by_one_alone_is_no_win() -> None:
    found = judged(CELLS)
    alone = cell(found, 8, 16)
    assert (alone["outcome"], alone["competitors"], alone["runner_up"]) == ("alone", 1, None)
    assert math.isnan(alone["margin"])
    assert len(found.cells) == 6


def test_unequal_variances_part_student_from_welch() -> None:
    text = """
    size  depth  mode       values
    4     1      poll       10,10.1,9.9,10.05,9.95,10,10.02,9.98
    4     1      interrupt  10.6,13.5
    """
    assert cell(judged(text), 4, 1)["outcome"] == "win"
    assert cell(judged(text, rules=Rules("welch", "none")), 4, 1)["outcome"] == "tie"


def test_three_against_three_are_too_few_for_mann_whitney() -> None:
    # 2 / C(6, 3) = 0.1 at best: above 5 %, but not above 20 %.
    found = judged(CELLS, rules=Rules("mann-whitney", "none"))
    assert cell(found, 4, 1)["outcome"] == "too few"
    assert cell(found, 4, 1)["p"] == pytest.approx(0.1)
    assert cell(judged(CELLS, rules=Rules("mann-whitney", "none", 0.2)), 4, 1)["outcome"] == "win"


def test_a_correction_counts_the_tested_cells_only() -> None:
    # Tested with a p value: 4x1 (0.0036), 4x8 (1) and 8x8 (0): Holm takes the first times 2.
    plain, holm = judged(CELLS), judged(CELLS, rules=Rules("student", "holm"))
    assert cell(holm, 4, 1)["p_corrected"] == pytest.approx(2 * cell(plain, 4, 1)["p"])
    strict = judged(CELLS, rules=Rules("student", "holm", 0.005))
    assert cell(strict, 4, 1)["outcome"] == "tie"
    assert cell(judged(CELLS, rules=Rules("student", "none", 0.005)), 4, 1)["outcome"] == "win"


def test_the_best_setting_by_mean_stands_for_its_competitor() -> None:
    text = """
    size  depth  mode       ghz  values
    4     1      poll       1.2  30,32
    4     1      poll       2.9  10,12
    4     1      poll       -    40,42
    4     1      interrupt  2.9  20,22
    """
    found = judged(text)
    poll = found.contenders.filter(pl.col("competitor") == "poll").row(0, named=True)
    assert (poll["settings"], poll["n"], poll["mean"]) == (3, 2, 11.0)
    assert found.groups["ghz"][poll["row"]] == 2.9


def test_of_equal_means_the_better_known_setting_stands() -> None:
    text = """
    size  depth  mode       ghz  values
    4     1      poll       1.2  11
    4     1      poll       2.0  9,13
    4     1      poll       2.9  10,11,12
    4     1      poll       3.0  10,11,12
    4     1      interrupt  2.9  20,22
    """
    found = judged(text)
    assert found.groups["ghz"][found.contenders["row"][0]] == 2.9


def test_without_a_direction_all_settings_count_and_nothing_wins() -> None:
    text = """
    size  depth  mode       ghz  values
    4     1      poll       1.2  10,12
    4     1      poll       2.9  14,16             # poll: 10, 12, 14, 16, mean 13
    4     1      interrupt  2.9  2,4               # interrupt: mean 3
    4     8      poll       2.9  5,7
    """
    found = judged(text, better=None)
    first = found.contenders.row(0, named=True)
    assert (first["competitor"], first["n"], first["mean"], first["settings"]) == ("poll", 4, 13, 1)
    pooled = found.groups.row(first["row"], named=True)
    assert (pooled["ghz"], list(pooled["values"])) == (None, [10, 12, 14, 16])
    expected = stats.ttest_ind([10, 12, 14, 16], [2, 4]).pvalue
    place = cell(found, 4, 1)
    assert (place["outcome"], place["margin"]) == ("differ", 10)
    assert place["p"] == pytest.approx(expected)
    assert cell(found, 4, 8)["outcome"] == "alone"
    counts = win_counts(found).drop("is_default")
    assert counts.rows() == [(None, "alone", 1), (None, "differ", 1)]


def test_null_is_a_value_of_an_axis_and_a_competitor_of_its_own() -> None:
    text = """
    size  depth  mode  values
    -     1      -     10,12
    -     1      poll  20,22
    4     1      poll  20,22
    """
    found = judged(text)
    assert found.cells["x"].to_list() == [4.0, None]
    assert found.contenders["competitor"].to_list() == ["poll", None, "poll"]


def test_only_the_best_two_are_tested() -> None:
    text = """
    size  depth  mode       values
    4     1      poll       10,12,14
    4     1      hybrid     11,13,15
    4     1      interrupt  90,92,94
    """
    tied = cell(judged(text), 4, 1)
    assert (tied["outcome"], tied["competitors"], tied["runner_up"]) == ("tie", 3, "hybrid")
    assert tied["p"] == pytest.approx(stats.ttest_ind([10, 12, 14], [11, 13, 15]).pvalue)


def test_groups_that_stand_in_order_are_not_copied() -> None:
    found = compared(groups(CELLS))
    again = compared(found.groups)
    assert again.groups is found.groups
    assert again.cells.equals(found.cells)


def test_nothing_measured_gives_no_cells() -> None:
    found = compared(groups(CELLS).clear())
    assert (len(found.cells), len(found.contenders)) == (0, 0)
    assert win_counts(found).rows() == []


def test_wins_are_counted_with_those_who_win_nothing() -> None:
    # Wins of poll: 4x1, 8x8; of interrupt none. Ties: 4x8, 8x1. Too few: 4x16. Alone: 8x16.
    assert win_counts(judged(CELLS)).drop("is_default").rows() == [
        ("interrupt", "win", 0),
        ("poll", "win", 2),
        (None, "tie", 2),
        (None, "too few", 1),
        (None, "alone", 1),
    ]


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_an_alpha_that_is_none_is_refused(alpha: float) -> None:
    with pytest.raises(DataError, match="alpha is"):
        Rules(alpha=alpha)


CONFIGURATIONS = st.lists(
    st.tuples(
        st.sampled_from([4.0, 8.0, None]),
        st.sampled_from([1.0, 2.0]),
        st.sampled_from(["poll", "interrupt", "hybrid", None]),
        st.sampled_from([1.2, 2.9, None]),
        st.lists(st.integers(1, 12).map(lambda v: v / 8), min_size=1, max_size=6),
    ),
    max_size=24,
    unique_by=lambda row: row[:4],
)


@given(CONFIGURATIONS, st.sampled_from(TESTS), st.sampled_from(CORRECTIONS), st.randoms())
def test_the_order_of_rows_and_of_values_never_matters(
    rows: list[tuple], test: str, correction: str, chance: random.Random
) -> None:
    rules = Rules(test, correction, 0.1)  # type: ignore[arg-type]
    mixed = [(*row[:4], chance.sample(row[4], len(row[4]))) for row in rows]
    chance.shuffle(mixed)
    first, second = (compared(_frame(r), rules) for r in (rows, mixed))
    assert first.cells.equals(second.cells)
    assert first.contenders.equals(second.contenders)
    assert first.groups.drop("values").equals(second.groups.drop("values"))


def _frame(rows: list[tuple]) -> pl.DataFrame:
    names = ["size", "depth", "mode", "ghz", "values"]
    kinds = [pl.Float64(), pl.Float64(), pl.String(), pl.Float64(), pl.List(pl.Float64)]
    return pl.DataFrame(rows, schema=list(zip(names, kinds, strict=True)), orient="row")


@given(CONFIGURATIONS)
def test_every_outcome_can_be_checked_with_scipy(rows: list[tuple]) -> None:
    found = compared(_frame(rows))
    for row in found.cells.iter_rows(named=True):
        if row["runner_up"] < 0:
            assert row["outcome"] == "alone"
            continue
        a, b = (
            found.groups["values"][found.contenders["row"][row[role]]].to_list()
            for role in ("winner", "runner_up")
        )
        assert sum(a) / len(a) <= sum(b) / len(b) + 1e-12
        if min(len(a), len(b)) < 2:
            assert row["outcome"] == "too few"
            continue
        expected = stats.ttest_ind(a, b).pvalue
        assert row["outcome"] == ("win" if expected <= 0.05 else "tie")
        assert row["p"] == pytest.approx(expected, rel=1e-6, nan_ok=True)


# Logarithms of the runs deviate by about 0.1 %, and settings share that noise.
PROVEN = """
size  depth  mode       ghz  energy  values
4     1      poll       1.2  -       99.9,100.0,100.1    # 100 against 120: a win
4     1      poll       2.9  -       100.1,100.2,100.3   # and this setting cannot be told from it
4     1      interrupt  2.9  -       119.9,120.0,120.1
4     8      poll       2.9  -       99.9,100.0,100.1    # 100 against 100.5: equivalent within 2 %
4     8      interrupt  2.9  -       100.4,100.5,100.6
4     16     poll       2.9  -       90,100,110          # 100 against 104 with a noise of 10 %
4     16     interrupt  2.9  -       94,104,114
8     1      poll       2.9  -       100                 # one run proves nothing
8     1      interrupt  2.9  -       119.9,120.0,120.1
8     8      poll       2.9  -       100,101
"""


def proven(text: str = PROVEN, better: str = "less", **rules: Any) -> Comparison:
    rows = groups(text).drop("energy", strict=False)
    question = Question(better, choice=("mode",))  # type: ignore[arg-type]
    return compare(rows, "size", "depth", "mode", question, Rules(**rules))


def test_the_four_outcomes_of_cells() -> None:
    found = proven()
    outcomes = {(c["x"], c["y"]): c["outcome"] for c in found.cells.rows(named=True)}
    assert outcomes == {
        (4, 1): "win", (4, 8): "equivalent", (4, 16): "undecided", (8, 1): "too few",
        (8, 8): "alone",
    }  # fmt: skip
    won, same, open_ = (cell(found, 4, depth) for depth in (1, 8, 16))
    # ln(100 / 120) = -16.7 %; the interval holds the lead and not 0.
    assert won["margin_share"] == pytest.approx(100 / 120 - 1, abs=1e-5)
    assert won["share_low"] < won["margin_share"] < won["share_high"] < 0
    # Two of polling's settings may be the best, so two are compared.
    assert (won["members_winner"], won["members_runner_up"], won["more_runs"]) == (2, 1, 0)
    # An equivalent names who leads, and its interval is within the margin.
    assert same["winner"] == "poll"
    assert -0.02 < same["share_low"] < same["share_high"] < 0.02
    assert open_["share_low"] < 0 < open_["share_high"]
    assert open_["more_runs"] == -1 or open_["more_runs"] > 0
    # Three cells were compared, two of them are decided: 5 % x 2 / 3.
    assert found.level == pytest.approx(0.05 * 2 / 3)


def test_where_nothing_can_be_proven_each_is_represented_by_its_least_mean() -> None:
    """A second run of a costly setting does not make it the best of its competitor."""
    text = """
    size  depth  mode       ghz  energy  values
    4     1      poll       1.2  -       62.3
    4     1      poll       2.9  -       109,110,111
    4     1      interrupt  1.2  -       62.2
    4     1      interrupt  2.9  -       105
    4     8      poll       1.2  -       62.3
    4     8      poll       2.9  -       109,110,111
    4     8      interrupt  2.9  -       119,120,121
    """
    rows = proven(text)
    once = cell(rows, 4, 1)
    assert (once["outcome"], once["winner"]) == ("too few", "interrupt")
    assert once["margin_share"] == pytest.approx(62.2 / 62.3 - 1, abs=1e-3)
    # Where both were measured twice, these settings are compared.
    assert cell(rows, 4, 8)["margin_share"] == pytest.approx(110 / 120 - 1, abs=1e-3)


def test_runs_that_are_no_replicates_are_not_judged() -> None:
    """Polling's runs at depth 16 deviate by a factor of 5; whoever leads, nothing is told."""
    unlike = PROVEN.replace("90,100,110 ", "20,100,500 ")
    found = proven(unlike)
    assert cell(found, 4, 16)["outcome"] == "unlike"
    for name in ("share_low", "share_high", "p", "p_corrected"):
        assert np.isnan(cell(found, 4, 16)[name]), name
    assert cell(found, 4, 16)["more_runs"] == 0
    assert cell(found, 4, 1)["outcome"] == "win"
    # Runs that deviate by less than a factor of 2 are judged: 2 ** 0.98.
    alike = PROVEN.replace("90,100,110 ", f"{100 / 2**0.98},100,{100 * 2**0.98} ")
    assert cell(proven(alike), 4, 16)["outcome"] == "undecided"
    # So is a metric whose values are no logarithms, such as percentages.
    rows = groups(unlike).drop("energy", strict=False)
    percent = Question("less", "%", choice=("mode",))
    linear = compare(rows, "size", "depth", "mode", percent, Rules())
    assert cell(linear, 4, 16)["outcome"] == "undecided"
    assert found.is_geometric
    assert not linear.is_geometric
    assert not proven(test="student").is_geometric


def test_a_margin_decides_what_is_equivalent() -> None:
    assert cell(proven(margin_pct=0.2), 4, 8)["outcome"] == "win"
    assert cell(proven(margin_pct=0.2, alpha=1e-9), 4, 8)["outcome"] == "undecided"
    assert cell(proven(margin_pct=40), 4, 1)["outcome"] == "equivalent"


def test_more_is_better_turns_the_interval() -> None:
    won = cell(proven(better="more"), 4, 1)
    assert won["winner"] == "interrupt"
    # 120 against 100.2, the better of polling's settings.
    assert won["margin_share"] == pytest.approx(120 / 100.2 - 1, abs=1e-4)
    assert 0 < won["share_low"] < won["margin_share"] < won["share_high"]


def test_values_of_zero_are_compared_as_they_are() -> None:
    text = """
    size  depth  mode       values
    4     1      poll       0,0,1
    4     1      interrupt  100,101,102
    """
    won = cell(proven(text), 4, 1)
    assert (won["outcome"], won["winner"]) == ("win", "poll")
    assert won["margin"] == pytest.approx(101 - 1 / 3)


def limited(rows: pl.DataFrame, p99: list[float]) -> pl.DataFrame:
    """Settings with the moments of a limited metric, three runs each with a noise of 0.1 %."""
    return rows.with_columns(
        p99_n=pl.lit(3), p99_log_mean=pl.Series([math.log(v) for v in p99]),
        p99_log_variance=pl.lit(1e-6), p99_mean=pl.Series(p99), p99_step=pl.lit(0.0),
    )  # fmt: skip


def test_a_limit_decides_who_competes() -> None:
    text = """
    size  depth  mode       ghz  values
    4     1      poll       1.2  79.9,80.0,80.1     # least, and beyond the limit
    4     1      poll       2.9  99.9,100.0,100.1
    4     1      interrupt  2.9  119.9,120.0,120.1
    4     8      poll       2.9  99.9,100.0,100.1   # only interrupts meet it
    4     8      interrupt  2.9  119.9,120.0,120.1
    4     16     poll       2.9  99.9,100.0,100.1   # nobody does
    4     16     interrupt  2.9  119.9,120.0,120.1
    """
    rows = limited(groups(text), [600, 400, 300, 600, 300, 600, 700])
    question = Question("less", choice=("mode",), limit=("p99", 500.0, True))
    for rules in (Rules(), STUDENT):
        found = compare(rows, "size", "depth", "mode", question, rules)
        first = cell(found, 4, 1)
        assert (first["outcome"], first["winner"]) == ("win", "poll")
        assert first["margin_share"] == pytest.approx(100 / 120 - 1, abs=1e-5)
        only = cell(found, 4, 8)
        assert (only["outcome"], only["winner"]) == ("alone", "interrupt")
        assert cell(found, 4, 16)["outcome"] == "over"


def test_the_best_of_each_cell_is_compared_with_the_default() -> None:
    text = """
    size  depth  mode       ghz  default  values
    4     1      poll       1.2  no       79.9,80.0,80.1
    4     1      interrupt  1.2  no       89.9,90.0,90.1
    4     8      poll       1.2  no       119.9,120.0,120.1
    4     16     interrupt  -    yes      99.9,100.0,100.1
    """
    rows = groups(text).with_columns(
        default=pl.col("default") == "yes", is_baseline=pl.col("default") == "yes",
        scope=pl.lit(0),
    )  # fmt: skip
    question = Question("less", choice=("mode",))
    for rules in (Rules(), STUDENT):
        found = compare(rows, "size", "depth", "mode", question, rules, has_default=True)
        assert len(found.cells) == 2
        better, worse = cell(found, 4, 1), cell(found, 4, 8)
        assert (better["outcome"], better["winner"], better["competitors"]) == ("win", "poll", 2)
        assert better["margin_share"] == pytest.approx(-0.2, abs=1e-5)
        assert (worse["outcome"], worse["winner"]) == ("win", "interrupt")
        assert found.contenders["is_default"].to_list() == [False, True, True, False]
        assert win_counts(found).rows() == [
            ("poll", False, "win", 1), ("interrupt", True, "win", 1),
        ]  # fmt: skip


def test_the_default_need_not_meet_the_limit() -> None:
    text = """
    size  depth  mode       default  values
    4     1      poll       no       79.9,80.0,80.1
    4     8      poll       no       79.9,80.0,80.1    # and this one is beyond it
    4     16     interrupt  yes      99.9,100.0,100.1
    """
    rows = groups(text).with_columns(
        default=pl.col("default") == "yes", is_baseline=pl.col("default") == "yes",
        scope=pl.lit(0),
    )  # fmt: skip
    question = Question("less", choice=("mode",), limit=("p99", 500.0, True))
    for rules in (Rules(), STUDENT):
        asked = limited(rows, [400, 600, 900])
        found = compare(asked, "size", "depth", "mode", question, rules, has_default=True)
        assert (cell(found, 4, 1)["outcome"], cell(found, 4, 1)["winner"]) == ("win", "poll")
        beyond = cell(found, 4, 8)
        assert (beyond["outcome"], beyond["winner"]) == ("alone", "interrupt")
