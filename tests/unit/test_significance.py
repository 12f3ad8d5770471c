"""Tests of many pairs at once against scipy.stats of one pair, and against arithmetic by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from data.analysis.rules import corrected
from data.analysis.significance import (
    Samples,
    Test,
    compare_pairs,
    mean_half_widths,
    moments,
    smallest_p,
)
from data.errors import DataError

LESS, MORE = -1.0, 1.0


def pair(test: Test, better: list[float], worse: list[float], sign: float = LESS) -> tuple:
    """p value and effect size of one pair."""
    samples = Samples.of([better, worse])
    p, effect = compare_pairs(test, samples, moments(samples), np.array([0]), np.array([1]), sign)
    return float(p[0]), float(effect[0])


def test_student_by_hand() -> None:
    # Means 12 and 22, both variances 4: t = -10 / (2 sqrt(2/3)), t^2 = 37.5, 4 degrees of freedom.
    # With u = 1 + t^2 / 4 = 10.375, p = 1 - 3/4 |t| / sqrt(u) (1 - t^2 / (12 u)) = 0.0036022.
    # d = 10 / 2 = 5; the factor for 4 is gamma(2) / (sqrt(2) gamma(1.5)) = 0.797885: g = 3.98942.
    p, g = pair("student", [10, 12, 14], [20, 22, 24])
    assert p == pytest.approx(0.0036022, rel=1e-4)
    assert g == pytest.approx(5 * 0.797884561, rel=1e-9)


def test_welch_asks_for_more_than_student_where_the_small_group_spreads() -> None:
    calm, wild = [10.0, 10.1, 9.9, 10.05, 9.95, 10.0, 10.02, 9.98], [10.6, 13.5]
    student, welch = pair("student", calm, wild)[0], pair("welch", calm, wild)[0]
    assert student < 0.05 < welch
    assert student == pytest.approx(stats.ttest_ind(calm, wild).pvalue, rel=1e-12)
    assert welch == pytest.approx(stats.ttest_ind(calm, wild, equal_var=False).pvalue, rel=1e-12)


def test_mann_whitney_by_hand() -> None:
    # 4 below 4: one order of 70 is as extreme, two-sided 2 / 70. Every run of the better beats
    # every run of the other, whichever way is better.
    p, chance = pair("mann-whitney", [1, 2, 3, 4], [5, 6, 7, 8])
    assert (p, chance) == (pytest.approx(2 / 70), 1.0)
    assert pair("mann-whitney", [5, 6, 7, 8], [1, 2, 3, 4], MORE)[1] == 1.0
    # Of the 4 pairs, 1 < 2, 1 < 3, 2 = 2 (half), 2 < 3: 3.5 of 4.
    assert pair("mann-whitney", [1, 2], [2, 3])[1] == pytest.approx(3.5 / 4)


@pytest.mark.parametrize("test", ["student", "welch", "mann-whitney"])
def test_no_test_below_two_replicates(test: Test) -> None:
    assert all(math.isnan(v) for v in pair(test, [1.0], [5.0, 6.0, 7.0]))
    assert all(math.isnan(v) for v in pair(test, [1.0, 1.1], [5.0]))


@pytest.mark.parametrize("test", ["student", "welch"])
def test_identical_values_have_no_p_value_and_spreadless_different_ones_are_certain(
    test: Test,
) -> None:
    assert all(math.isnan(v) for v in pair(test, [3.0, 3.0], [3.0, 3.0]))
    assert pair(test, [3.0, 3.0], [4.0, 4.0]) == (0.0, math.inf)


def test_equal_values_stay_equal_whatever_their_number() -> None:
    # The sum of three 0.1 divided by 3 is not 0.1: rounding must not become a difference.
    found = moments(Samples.of([[0.1] * 3, [0.1] * 10]))
    assert found.mean.tolist() == [0.1, 0.1]
    assert found.sd.tolist() == [0.0, 0.0]


def test_an_unknown_test_or_correction_is_refused() -> None:
    with pytest.raises(DataError, match="no test 'z'"):
        pair("z", [1, 2], [3, 4])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no correction 'sidak'"):
        corrected(np.array([0.1]), "sidak")  # type: ignore[arg-type]


def test_values_must_be_there_and_finite() -> None:
    with pytest.raises(DataError, match="group 1 holds no value"):
        Samples.of([[1.0], []])
    with pytest.raises(DataError, match="nan in group 1"):
        Samples.of([[1.0], [2.0, math.nan]])


GROUPS = st.lists(
    st.lists(st.integers(0, 40).map(lambda v: v / 4), min_size=2, max_size=12),
    min_size=2,
    max_size=9,
)


@given(GROUPS)
def test_every_pair_agrees_with_scipy_called_on_it_alone(groups: list[list[float]]) -> None:
    samples = Samples.of(groups)
    found = moments(samples)
    first, second = (np.array(v) for v in zip(*_pairs(len(groups)), strict=True))
    alone = {
        "student": lambda a, b: stats.ttest_ind(a, b).pvalue,
        "welch": lambda a, b: stats.ttest_ind(a, b, equal_var=False).pvalue,
        "mann-whitney": lambda a, b: stats.mannwhitneyu(a, b).pvalue,
    }
    for test, ask in alone.items():
        p, _ = compare_pairs(test, samples, found, first, second, LESS)  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            expected = [ask(groups[a], groups[b]) for a, b in zip(first, second, strict=True)]
        np.testing.assert_allclose(p, expected, rtol=1e-7, atol=1e-12)


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    # Sorted 0.01, 0.03, 0.04. Holm: 3 x 0.01, 2 x 0.03, then 1 x 0.04, which may not fall below
    # 0.06. Benjamini-Hochberg: 3/1 x 0.01, 3/2 x 0.03 = 0.045 but not above 3/3 x 0.04.
    p = np.array([0.01, np.nan, 0.04, 0.03])
    np.testing.assert_allclose(corrected(p, "holm"), [0.03, np.nan, 0.06, 0.06])
    np.testing.assert_allclose(corrected(p, "benjamini-hochberg"), [0.03, np.nan, 0.04, 0.04])
    np.testing.assert_allclose(corrected(p, "none"), p)
    assert np.isnan(corrected(np.array([np.nan]), "holm")).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_correction_never_helps_and_holm_is_the_strictest(values: list[float]) -> None:
    p = np.array(values)
    holm, bh = corrected(p, "holm"), corrected(p, "benjamini-hochberg")
    assert (holm <= 1).all()
    assert (bh >= p - 1e-12).all()
    assert (holm >= bh - 1e-12).all()


def test_how_few_are_too_few_for_mann_whitney() -> None:
    # 2 / C(6, 3) = 0.1; 2 / C(8, 4) = 2 / 70; a t test has no bound; one replicate has no test.
    n_first, n_second = np.array([3, 4, 1]), np.array([3, 4, 9])
    bounds = smallest_p("mann-whitney", n_first, n_second)
    assert bounds.tolist() == pytest.approx([0.1, 2 / 70, 1.0])
    assert smallest_p("student", n_first, n_second).tolist() == [0.0, 0.0, 1.0]


def test_confidence_intervals_are_those_of_scipy() -> None:
    groups = [[10.0, 12.0, 14.0], [5.0], [1.0, 2.0]]
    half = mean_half_widths(moments(Samples.of(groups)))
    for index in (0, 2):
        low, high = stats.ttest_1samp(groups[index], 0).confidence_interval(0.95)
        assert half[index] == pytest.approx((high - low) / 2, rel=1e-9)
    assert math.isnan(half[1])
