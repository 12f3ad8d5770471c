"""Many claims judged together: the procedure by hand, and how often it is wrong."""

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest

from bench.findings import error_rates
from data.analysis.best_set import Change
from data.analysis.claims import (
    Question,
    change_from,
    judge_all,
    more_runs_from,
    outcome_of,
    paired_change,
)
from data.analysis.noise import Estimates, Prior
from data.analysis.outcomes import Comparison


def decided_at(p: float) -> Question:
    """A claim whose interval excludes 0 from an error of p on."""

    def question(alpha: float) -> Comparison:
        low = 0.1 if alpha >= p else -0.1
        return Comparison("b_better" if low > 0 else "undecided", Change(0.2, low, 0.3), None, None)

    return question


def outcomes(p: Sequence[float]) -> tuple[list[bool], list[bool], float]:
    judged = judge_all([decided_at(value) for value in p])
    return (
        [one.comparison.outcome != "undecided" for one in judged],
        [one.holds_alone for one in judged],
        judged[0].alpha,
    )


def test_four_claims_by_hand() -> None:
    """Thresholds 0.0125, 0.025, 0.0375, 0.05: 0.03 is above the second and below the third."""
    assert outcomes([0.01, 0.03, 0.035, 0.2]) == (
        [True, True, True, False], [True, False, False, False], 0.05 * 3 / 4,
    )  # fmt: skip


def test_a_page_without_a_decided_claim_shows_the_widest_intervals() -> None:
    assert outcomes([0.02, 0.9, 0.9, 0.9]) == ([False] * 4, [False] * 4, 0.05 / 4)
    assert judge_all([]) == []


@pytest.mark.parametrize("seed", range(20))
def test_halving_finds_what_trying_every_error_finds(seed: int) -> None:
    p = np.random.default_rng(seed).beta(0.3, 2, 37)
    count = len(p)
    level = max((r for r in range(1, count + 1) if (p <= 0.05 * r / count).sum() >= r), default=0)
    decided, alone, alpha = outcomes(p.tolist())
    assert alpha == pytest.approx(0.05 * max(level, 1) / count)
    assert decided == (p <= alpha).tolist()
    assert alone == (p <= 0.05 / count).tolist()


def test_matched_cells_are_a_paired_t_test() -> None:
    """Differences 1, 2, 3: mean 2, error 1 / sqrt(3), t of two degrees 4.3027."""
    change = paired_change(np.array([1.0, 2.0, 3.0]), 0.05)
    assert (change.estimate, change.high - 2) == pytest.approx((2.0, 4.302653 / 3**0.5))
    differences = np.array([1.0, 2.0, 3.0])
    assert outcome_of(partial(paired_change, differences), 0.05).outcome == "undecided"
    alone = paired_change(differences, 0.05, np.arange(3))
    assert astuple(alone) == pytest.approx(astuple(change))


def test_differences_that_are_equal_in_all_cells_decide_nothing() -> None:
    """Rows that were copied under other names: an interval of width 0 would decide."""
    differences = np.log([555.0, 555.0, 555.0])
    change = paired_change(differences, 0.05)
    assert (change.low, change.high) == (-np.inf, np.inf)
    assert outcome_of(partial(paired_change, differences), 0.05).outcome == "undecided"
    assert outcome_of(partial(paired_change, np.zeros(4)), 0.05).outcome == "undecided"


def test_an_effect_of_programs_is_found_in_as_many_pages_as_it_should() -> None:
    """Six programs at ten clocks, each program with an effect of its own; their mean is none.

    Of 2,000 pages 5 % find one, give or take 1 %; as if cells were independent, over half do.
    """
    rng = np.random.default_rng(5)
    items, pages = np.repeat(np.arange(6), 10), 2_000
    found = {True: 0, False: 0}
    for _ in range(pages):
        own = rng.normal(0, 0.05, 6)[items] + rng.normal(0, 0.01, 60)
        for is_clustered in found:
            change = paired_change(own, 0.05, items if is_clustered else None)
            found[is_clustered] += not change.low <= 0 <= change.high
    assert 0.04 < found[True] / pages < 0.06
    assert found[False] / pages > 0.5


def test_a_mean_against_a_constant() -> None:
    """Mean 0.1 above it, deviation 0.02, ten degrees: t is 5; with 4 times the deviation 1.25."""
    own = Estimates(np.array(11), np.array(1.1), np.array(4e-4), np.array(10.0), Prior(0.0, 0.0))
    assert outcome_of(lambda alpha: change_from(own, 1.0, alpha), 0.05).outcome == "b_better"
    noisy = Estimates(own.n, own.mean, own.variance * 16, own.df, own.prior)
    assert outcome_of(lambda alpha: change_from(noisy, 1.0, alpha), 0.05).outcome == "undecided"
    more = more_runs_from(noisy, 1.0, 0.05)
    assert more is not None
    # 0.1 = t(0.975) x 0.08 sqrt(11 / n): n of about 28 runs
    assert 15 <= more + 11 <= 35
    assert more_runs_from(noisy, 1.1, 0.05, margin=1e-6) is None


def test_pages_without_effects_are_seldom_wrong() -> None:
    """15 pages each way; `python -m bench findings` simulates 1,000."""
    false, alone, share = error_rates(15, np.random.default_rng(7))
    assert false <= 0.10
    assert alone <= 0.10
    assert share <= 0.05
