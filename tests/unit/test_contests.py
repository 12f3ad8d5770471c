"""Many comparisons at once against one at a time, and their joint level by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.best_set import Limit, best_set, best_sets
from data.analysis.contests import Runs, decide_contests
from data.analysis.noise import Estimates, Prior
from data.analysis.outcomes import Side, compare_sides, more_runs_of_all
from data.analysis.planner import more_runs

MARGIN = float(np.log(1.02))


def random_contests(
    rng: np.random.Generator, sizes: list[tuple[int, int]], has_limit: bool
) -> tuple[Estimates, Limit | None, Runs, Runs]:
    """Sides of some sizes, two to four runs of each setting, noise of 1 %, leads of 3 %."""
    flat = np.array([size for pair in sizes for size in pair])
    total = int(flat.sum())
    n = rng.integers(2, 5, total)
    df = 2.0 + n - 1

    def estimates(spread: float) -> Estimates:
        variance = (0.01 * rng.uniform(0.3, 2.0, total)) ** 2 / n
        prior = Prior(np.full(total, 2.0), np.full(total, 0.01))
        return Estimates(n, rng.normal(0, spread, total), variance, df, prior)

    cost = estimates(0.03)
    limit = Limit(0.05, estimates(0.04)) if has_limit else None
    first = np.cumsum(flat) - flat
    return cost, limit, Runs(first[0::2], flat[0::2]), Runs(first[1::2], flat[1::2])


def alone(estimates: Estimates, first: int, count: int) -> Estimates:
    """The settings of one side as a choice of their own."""
    here = estimates.at(np.arange(first, first + count))
    return Estimates(here.n, here.mean, here.variance, here.df, Prior(2.0, 0.01))


SIZES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=8)


@given(SIZES, st.booleans(), st.integers(0, 10**6))
def test_each_contest_is_what_it_is_alone(
    sizes: list[tuple[int, int]], has_limit: bool, seed: int
) -> None:
    cost, limit, a, b = random_contests(np.random.default_rng(seed), sizes, has_limit)
    found = decide_contests(cost, limit, a, b, 0.05, MARGIN, "none")
    for i in range(len(sizes)):
        sides = []
        for runs in (a, b):
            own = alone(cost, runs.first[i], runs.count[i])
            bound = limit and Limit(limit.at, alone(limit.metric, runs.first[i], runs.count[i]))
            sides.append(Side.of(own, best_set(own, bound)))
        if not all(len(side.settings) for side in sides):
            continue
        expected = compare_sides(sides[0], sides[1], 0.05, MARGIN, has_limit)
        assert found.outcome[i] == expected.outcome
        assert found.estimate[i] == pytest.approx(expected.change.estimate)
        if expected.outcome == "equivalent":
            assert -MARGIN < found.low[i] < found.high[i] < MARGIN
        else:
            ends = (expected.change.low, expected.change.high)
            assert (found.low[i], found.high[i]) == pytest.approx(ends)
        assert (found.members_a[i], found.members_b[i]) == tuple(len(s.settings) for s in sides)
        assert (found.p[i] <= 0.05) == (expected.outcome != "undecided")
        assert (found.more_runs[i] == 0) == (expected.outcome != "undecided")
        if expected.outcome == "undecided" and not has_limit:
            one, other = (side.cost for side in sides)
            more = more_runs_of_all(sides[0], sides[1], 0.05, MARGIN)
            if a.count[i] == b.count[i] == 1:
                more = more_runs(one.at(0), other.at(0))
            assert found.more_runs[i] == (-1 if more is None else more)


def test_many_best_sets_are_those_of_each_choice() -> None:
    rng = np.random.default_rng(3)
    cost, limit, a, _ = random_contests(rng, [(6, 1)] * 40, has_limit=True)
    assert limit is not None
    here = a.first[:, None] + np.arange(6)
    member, within, outside = best_sets(cost.at(here), Limit(limit.at, limit.metric.at(here)), 0.05)
    for i, first in enumerate(a.first):
        bound = Limit(limit.at, alone(limit.metric, first, 6))
        expected = best_set(alone(cost, first, 6), bound)
        assert member[i].tolist() == expected.is_member.tolist()
        assert within[i].tolist() == expected.is_within.tolist()
        assert outside[i].tolist() == expected.is_outside.tolist()


def leads(*of: float) -> tuple[Estimates, Runs, Runs]:
    """Pairs of settings with three runs, noise of 1 % and these leads; df 6."""
    mean = np.array([value for lead in of for value in (-lead, 0.0)])
    count = len(mean)
    prior = Prior(np.full(count, 4.0), np.full(count, 0.01))
    n = np.full(count, 3)
    cost = Estimates(n, mean, np.full(count, 0.01**2 / 3), np.full(count, 6.0), prior)
    ones = np.ones(len(of), np.int64)
    return cost, Runs(np.arange(0, count, 2), ones), Runs(np.arange(1, count, 2), ones)


def test_a_correction_lowers_the_level_at_which_outcomes_are_read() -> None:
    # A lead of 2.5 % is 3.06 standard errors: p = 0.022, below 5 % alone. Among four cells of which
    # it alone could be decided, Benjamini-Hochberg asks for 5 % / 4.
    cost, a, b = leads(0.025, 0.01, 0.011, 0.009)
    alone = decide_contests(cost, None, a, b, 0.05, MARGIN, "none")
    assert alone.outcome.tolist() == ["a_better", *["undecided"] * 3]
    assert alone.p[0] == pytest.approx(0.0222, abs=2e-4)
    for correction in ("benjamini-hochberg", "holm"):
        found = decide_contests(cost, None, a, b, 0.05, MARGIN, correction)
        assert set(found.outcome.tolist()) == {"undecided"}
        assert found.level == pytest.approx(0.05 / 4)
        assert found.low[0] < alone.low[0] < alone.high[0] < 0 < found.high[0]
    # Beside three clear wins it is the fourth of four: the level is 5 % again.
    cost, a, b = leads(0.025, 0.2, 0.3, 0.4)
    found = decide_contests(cost, None, a, b, 0.05, MARGIN, "benjamini-hochberg")
    assert (found.outcome[0], found.level) == ("a_better", 0.05)
    holm = decide_contests(cost, None, a, b, 0.05, MARGIN, "holm")
    assert (holm.outcome[0], holm.level) == ("a_better", 0.05)


def test_no_interval_contradicts_its_outcome() -> None:
    rng = np.random.default_rng(11)
    cost, _, a, b = random_contests(rng, [(2, 3)] * 60 + [(1, 1)] * 60, has_limit=False)
    found = decide_contests(cost, None, a, b, 0.05, MARGIN, "benjamini-hochberg")
    is_a, is_b = found.outcome == "a_better", found.outcome == "b_better"
    assert is_a.any()
    assert (found.high[is_a] < 0).all()
    assert (found.low[is_b] > 0).all()
    is_open = found.outcome == "undecided"
    assert is_open.any()
    assert ((found.low[is_open] <= 0) & (found.high[is_open] >= 0)).all()


def test_nothing_to_compare_is_nothing_decided() -> None:
    cost, a, b = leads()
    found = decide_contests(cost, None, a, b, 0.05, MARGIN, "benjamini-hochberg")
    assert len(found.outcome) == 0


def test_large_sides_have_their_sets_found_one_by_one() -> None:
    rng = np.random.default_rng(4)
    cost, _, a, b = random_contests(rng, [(300, 2)] * 2, has_limit=False)
    found = decide_contests(cost, None, a, b, 0.05, MARGIN, "none")
    for i in range(2):
        own = [alone(cost, runs.first[i], runs.count[i]) for runs in (a, b)]
        sides = [Side.of(one, best_set(one)) for one in own]
        expected = compare_sides(sides[0], sides[1], 0.05, MARGIN)
        assert found.outcome[i] == expected.outcome
        assert found.members_a[i] == len(sides[0].settings)
        assert found.high[i] == pytest.approx(expected.change.high)
