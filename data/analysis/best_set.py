"""The settings that cannot be told from the best, and what it costs to take one of them.

All means are on the scale of `data.analysis.noise`, where less is better. A setting with two or
more runs is a challenger: only challengers remove others from the set.

Source: Gupta, Technometrics 7(2), 1965; Hsu, Multiple Comparisons, 1996, chapter 4.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import stdtr, stdtrit

from data.analysis.noise import Estimates
from data.analysis.pareto import pareto_mask

# The error that a limit takes from alpha: to call settings outside it. The rest is for the set.
OUTSIDE_SHARE: Final = 0.2
# From so many settings on, only the strongest challengers are tested against each setting. The set
# can only become larger by that.
MOST_TESTED_BY_ALL: Final = 1_000
STRONGEST: Final = 64
_FEW: Final = 16


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on another metric of the same settings.

    Attributes:
        at: The highest allowed mean, on the scale of the estimates.
        metric: Its estimates; a setting without a value has NaN.
    """

    at: float
    metric: Estimates

    def next_run_meets(self) -> np.ndarray:
        """Tell of which settings the next run meets the limit with 95 %, shape (settings,).

        The mean of a setting may surely meet a limit that one run in three misses.
        """
        metric = self.metric
        # The variance of a run and of the mean before it.
        spread = np.sqrt(metric.variance * (metric.n + 1))
        with np.errstate(invalid="ignore"):
            return metric.mean + quantile(0.05, metric.df) * spread <= self.at


@dataclass(frozen=True, slots=True)
class BestSet:
    """The best set of one choice; all arrays have shape (settings,).

    Attributes:
        is_member: Cannot be told from the best.
        is_within, is_outside: Surely meets the limit, surely does not; without a limit all are
            within.
        is_met: The mean meets the limit; all True without one, False where it is not known.
        regret: Upper bound of how much a setting costs more than the best challenger in the set, as
            a difference of the scale; NaN for other settings than challengers in the set.
        bound_by: The challenger in the set that decides the regret of a setting; -1 for none.
        alpha_pair: Error of each comparison of two settings.
        challengers: Number of settings with two or more runs.
    """

    is_member: np.ndarray
    is_within: np.ndarray
    is_outside: np.ndarray
    is_met: np.ndarray
    regret: np.ndarray
    bound_by: np.ndarray
    alpha_pair: float
    challengers: int


def sidak(alpha: float, comparisons: Any) -> Any:
    """Return the error of each of several comparisons that together err with `alpha`."""
    return -np.expm1(np.log1p(-alpha) / np.maximum(comparisons, 1))


def critical(p: float | np.ndarray, a: Estimates, b: Estimates) -> np.ndarray:
    """Return the value that a t statistic of a difference of two means exceeds with probability p.

    Args:
        p: Probability, below 0.5.
        a, b: Estimates of shapes that broadcast.
    """
    if np.all(a.prior.d0 > 0):
        # A quantile falls with the degrees of freedom: the fewer give the larger one.
        return np.maximum(quantile(p, a.df), quantile(p, b.df))
    return quantile(p, difference_df(a, b))


def difference_df(a: Estimates, b: Estimates) -> np.ndarray:
    """Return the degrees of freedom of the difference of two means.

    They are the fewer of the two: both sides borrow theirs from one prior, so that Welch and
    Satterthwaite would count them twice. Without a prior they are Welch's.

    Args:
        a, b: Estimates of shapes that broadcast, also with the prior of `a`.
    """
    fewer = np.minimum(a.df, b.df)
    if np.all(a.prior.d0 > 0):
        return fewer
    total = (a.variance + b.variance) ** 2
    parts = a.variance**2 / a.df + b.variance**2 / b.df
    return np.where(a.prior.d0 > 0, fewer, total / parts)


def pair_test(a: Estimates, b: Estimates) -> tuple[float, float, float, float] | None:
    """Test whether two means differ; None for one run of each and no noise to borrow.

    Args:
        a, b: Estimates of one setting each, with the prior of `a`.

    Returns:
        Difference a - b, its standard error, degrees of freedom, and two-sided p value.
    """
    difference, variance = float(a.mean - b.mean), float(a.variance + b.variance)
    if not variance > 0:
        return None
    error, df = float(np.sqrt(variance)), float(difference_df(a, b))
    return difference, error, df, float(2 * stdtr(df, -abs(difference / error)))


def quantile(p: float | np.ndarray, df: np.ndarray) -> np.ndarray:
    """Return the values that t distributions exceed with probability p; infinite without df."""
    if np.size(p) != 1:
        # One call for each pair of values that occurs: a complex number is a pair.
        pairs, inverse = np.unique(p + 1j * df, return_inverse=True)
        each = np.where(pairs.imag > 0, stdtrit(pairs.imag, 1 - pairs.real), np.inf)
        return each[inverse].reshape(np.broadcast(p, df).shape)
    p = float(np.ravel(p)[0])
    # The function takes microseconds a value: of many, each is computed once.
    unique, inverse = df, np.arange(np.size(df))
    if np.size(df) > _FEW:
        unique, inverse = np.unique(df, return_inverse=True)
    with np.errstate(invalid="ignore"):
        values = np.where(unique > 0, stdtrit(unique, 1 - p), np.inf)
    return values.ravel()[inverse].reshape(np.shape(df))


def best_set(cost: Estimates, limit: Limit | None = None, alpha: float = 0.05) -> BestSet:
    """Find the settings that cannot be told from the best with an error of `alpha`.

    Args:
        cost: What the best has least of, shape (settings,).
        limit: Settings that surely break it leave the set, and only settings that surely meet it
            remove others.
        alpha: P(the best setting is not in the set), at most.

    Returns:
        Without a challenger nothing leaves by its cost. If every setting is outside, no member.
    """
    is_challenger = cost.n >= 2
    count = int(is_challenger.sum())
    alpha_pair = sidak(alpha if limit is None else (1 - OUTSIDE_SHARE) * alpha, count - 1)
    is_within, is_outside = _standing(limit, is_challenger, alpha_pair, OUTSIDE_SHARE * alpha)
    is_member = ~is_outside & cost.is_judged
    against = np.flatnonzero(is_challenger & is_within & ~is_outside)
    if len(cost.n) > MOST_TESTED_BY_ALL:
        strength = cost.mean[against] + 3 * np.sqrt(cost.variance[against])
        against = against[np.argsort(strength, kind="stable")[:STRONGEST]]
    challenged = np.flatnonzero(is_member)
    against = _undominated(cost, against)
    if len(against):
        a, b = cost.at(challenged[:, None]), cost.at(against[None, :])
        is_member[challenged] = ~_is_beaten(a, b, np.ones(1, bool), alpha_pair)
    regret, bound_by = _regret(cost, np.flatnonzero(is_member & is_challenger), alpha)
    is_met = limit.metric.mean <= limit.at if limit else np.ones(len(cost.n), bool)
    return BestSet(is_member, is_within, is_outside, is_met, regret, bound_by, alpha_pair, count)


def best_sets(
    cost: Estimates, limit: Limit | None, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the best sets of many choices with equally many settings each.

    Args:
        cost: As of `best_set`, shape (choices, settings).
        limit: Likewise.

    Returns:
        `is_member`, `is_within` and `is_outside` of `BestSet`, shape (choices, settings).
    """
    is_challenger = cost.n >= 2
    share = 1.0 if limit is None else 1 - OUTSIDE_SHARE
    count = is_challenger.sum(-1, keepdims=True)
    alpha_pair = np.asarray(sidak(share * alpha, count - 1))
    is_within, is_outside = _standing(limit, is_challenger, alpha_pair, OUTSIDE_SHARE * alpha)
    a, b = cost.at(np.s_[..., :, None]), cost.at(np.s_[..., None, :])
    may_beat = (is_challenger & is_within & ~is_outside)[..., None, :]
    is_beaten = _is_beaten(a, b, may_beat, alpha_pair[..., None])
    return ~is_outside & cost.is_judged & ~is_beaten, is_within, is_outside


def _standing(
    limit: Limit | None,
    is_challenger: np.ndarray,
    alpha_within: float | np.ndarray,
    alpha_outside: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which settings surely meet the limit, and which surely break it."""
    if limit is None:
        return np.ones(is_challenger.shape, bool), np.zeros(is_challenger.shape, bool)
    metric = limit.metric
    with np.errstate(invalid="ignore", divide="ignore"):
        room = (limit.at - metric.mean) / np.sqrt(metric.variance)
    is_outside = room <= -quantile(alpha_outside, metric.df)
    return (room >= quantile(alpha_within, metric.df)) & is_challenger, is_outside


def _undominated(cost: Estimates, against: np.ndarray) -> np.ndarray:
    """Leave out challengers that remove no setting which another one does not remove too.

    A challenger with a lower mean, a lower variance and as many degrees of freedom is at least as
    strong against every setting. Welch's degrees of freedom do not rise with those of one side.
    """
    if cost.prior.d0 <= 0:
        return against
    mean, variance, df = (values[against] for values in (cost.mean, cost.variance, cost.df))
    is_best = np.zeros(len(against), bool)
    for freedom in np.unique(df):
        rivals = np.flatnonzero(df >= freedom)
        best = rivals[pareto_mask(mean[rivals], variance[rivals])]
        is_best[best[df[best] == freedom]] = True
    return against[is_best]


def _is_beaten(
    a: Estimates, b: Estimates, may_beat: np.ndarray, alpha: float | np.ndarray
) -> np.ndarray:
    """Tell which settings of `a` have one of `b` along the last axis that is significantly better.

    Args:
        a, b: Of shapes that broadcast.
        may_beat: Which settings of `b` are challengers that surely meet the limit.
    """
    lead = a.mean - b.mean
    is_better = lead >= critical(alpha, a, b) * np.sqrt(a.variance + b.variance)
    return np.any(is_better & (lead > 0) & may_beat, axis=-1)


def _regret(cost: Estimates, members: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    regret, bound_by = np.full(len(cost.n), np.nan), np.full(len(cost.n), -1)
    if not len(members):
        return regret, bound_by
    a, b = cost.at(members[:, None]), cost.at(members[None, :])
    width = critical(sidak(alpha, len(members) - 1), a, b) * np.sqrt(a.variance + b.variance)
    excess = a.mean - b.mean + width
    np.fill_diagonal(excess, 0.0)
    worst = np.argmax(excess, axis=1)
    regret[members] = np.maximum(excess[np.arange(len(members)), worst], 0.0)
    bound_by[members] = np.where(worst == np.arange(len(members)), -1, members[worst])
    return regret, bound_by


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The setting to take.

    Attributes:
        setting: Its index; None where there is nothing to recommend.
        is_proven: It was measured at least twice and surely meets the limit.
        knobs_changed: Knobs in which it differs from the baseline.
        steps: Steps on the ladders of the values of the choice, over these knobs.
    """

    setting: int | None
    is_proven: bool = False
    knobs_changed: int = 0
    steps: int = 0


def recommend(
    cost: Estimates,
    best: BestSet,
    changes: np.ndarray,
    steps: np.ndarray,
    alpha: float = 0.05,
    margin: float = float(np.log(1.02)),
) -> Recommendation:
    """Choose a member of a best set: low upper bound first, then the least changed.

    The bound counts, not the mean: a lucky noisy setting has a poor bound. Where no member surely
    meets a limit, those come first whose mean meets it, though they were measured once.

    Args:
        changes, steps: Of each setting, from the baseline, shape (settings,).
        margin: Bounds within it of the lowest are as good, as a difference of the scale.
    """
    is_twice = best.is_member & (cost.n >= 2)
    within, met = best.is_member & best.is_within, best.is_member & best.is_met
    tiers = (is_twice & within, within, is_twice & met, met, is_twice, best.is_member)
    level = next((i for i, tier in enumerate(tiers) if tier.any()), None)
    if level is None:
        return Recommendation(None)
    candidates = np.flatnonzero(tiers[level])
    upper = cost.mean + quantile(alpha, cost.df) * np.sqrt(cost.variance)
    near = candidates[upper[candidates] <= upper[candidates].min() + margin]
    # Settings are in the order of their knobs, which decides between equals.
    first = near[np.lexsort((near, upper[near], steps[near], changes[near]))[0]]
    return Recommendation(int(first), level == 0, int(changes[first]), int(steps[first]))


@dataclass(frozen=True, slots=True)
class Change:
    """A difference of means with its interval, on the log scale.

    Attributes:
        estimate: NaN where there is none.
        low, high: Ends of the interval; infinite where the data do not bound it.
    """

    estimate: float
    low: float
    high: float


def saving(setting: Estimates, baseline: Estimates, picked_among: int, alpha: float) -> Change:
    """Return the change of a recommended setting against a named baseline.

    The interval holds after the setting was picked: its high end is simultaneous over all settings
    that might have been picked. Its low end needs no correction, because picking a low mean makes a
    still lower true one less likely.

    Args:
        setting, baseline: Of one setting each, shape ().
        picked_among: Members of the best set with two or more runs.
    """
    estimate = float(setting.mean - baseline.mean)
    deviation = float(np.sqrt(setting.variance + baseline.variance))
    low, high = (
        float(critical(p, setting, baseline)) * deviation
        for p in (alpha / 2, sidak(alpha / 2, picked_among))
    )
    return Change(estimate, estimate - low, estimate + high)
