"""The settings that cannot be told from the best, and what it costs to take one of them.

All means are on the scale of `data.analysis.noise`, where less is better. A setting with two or
more runs is a challenger: only challengers remove others from the set.

Source: Gupta, Technometrics 7(2), 1965; Hsu, Multiple Comparisons, 1996, chapter 4.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.special import stdtrit

from data.analysis.noise import Estimates

# The error that a limit takes from alpha: to call settings outside it. The rest is for the set.
OUTSIDE_SHARE: Final = 0.2
# From so many settings on, only the strongest challengers are tested against each setting. The set
# can only become larger by that.
MOST_TESTED_BY_ALL: Final = 1_000
STRONGEST: Final = 64

Standing = Literal["within", "maybe", "outside"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on another metric of the same settings.

    Attributes:
        at: The highest allowed mean, on the scale of the estimates.
        metric: Its estimates; a setting without a value has NaN.
    """

    at: float
    metric: Estimates


@dataclass(frozen=True, slots=True)
class BestSet:
    """The best set of one choice; all arrays have shape (settings,).

    Attributes:
        is_member: Cannot be told from the best.
        is_within, is_outside: Surely meets the limit, surely does not; without a limit all are
            within.
        regret: Upper bound of how much a setting costs more than the best challenger in the set, as
            a difference of the scale; NaN for other settings than challengers in the set.
        bound_by: The challenger in the set that decides the regret of a setting; -1 for none.
        alpha_pair: Error of each comparison of two settings.
        challengers: Number of settings with two or more runs.
    """

    is_member: np.ndarray
    is_within: np.ndarray
    is_outside: np.ndarray
    regret: np.ndarray
    bound_by: np.ndarray
    alpha_pair: float
    challengers: int


def sidak(alpha: float, comparisons: int) -> float:
    """Return the error of each of several comparisons that together err with `alpha`."""
    return float(-np.expm1(np.log1p(-alpha) / max(comparisons, 1)))


def critical(p: float, a: Estimates, b: Estimates) -> np.ndarray:
    """Return the value that a t statistic of a difference of two means exceeds with probability p.

    The degrees of freedom of a difference are the fewer of the two: both sides borrow theirs from
    one prior, so that Welch and Satterthwaite would count them twice. Without a prior they are
    Welch's.

    Args:
        p: Probability, below 0.5.
        a, b: Estimates of shapes that broadcast.
    """
    if a.prior.d0 > 0:
        # A quantile falls with the degrees of freedom: the fewer give the larger one.
        return np.maximum(quantile(p, a.df), quantile(p, b.df))
    total = (a.variance + b.variance) ** 2
    parts = a.variance**2 / a.df + b.variance**2 / b.df
    return quantile(p, total / parts)


def quantile(p: float, df: np.ndarray) -> np.ndarray:
    """Return the values that t distributions exceed with probability p; infinite without df."""
    unique, place = np.unique(df, return_inverse=True)
    with np.errstate(invalid="ignore"):
        values = np.where(unique > 0, stdtrit(unique, 1 - p), np.inf)
    return values[place].reshape(np.shape(df))


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
    asked = np.flatnonzero(is_member)
    is_member[asked] = ~_is_beaten(cost, asked, against, alpha_pair)
    regret, bound_by = _regret(cost, np.flatnonzero(is_member & is_challenger), alpha)
    return BestSet(is_member, is_within, is_outside, regret, bound_by, alpha_pair, count)


def _standing(
    limit: Limit | None, is_challenger: np.ndarray, alpha_within: float, alpha_outside: float
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which settings surely meet the limit, and which surely break it."""
    if limit is None:
        return np.ones(len(is_challenger), bool), np.zeros(len(is_challenger), bool)
    metric = limit.metric
    with np.errstate(invalid="ignore", divide="ignore"):
        room = (limit.at - metric.mean) / np.sqrt(metric.variance)
    is_outside = room <= -quantile(alpha_outside, metric.df)
    return (room >= quantile(alpha_within, metric.df)) & is_challenger, is_outside


def _is_beaten(cost: Estimates, asked: np.ndarray, against: np.ndarray, alpha: float) -> np.ndarray:
    """Tell which settings have a challenger that is significantly better."""
    if not len(against):
        return np.zeros(len(asked), bool)
    a, b = cost.at(asked[:, None]), cost.at(against[None, :])
    lead = a.mean - b.mean
    is_better = lead >= critical(alpha, a, b) * np.sqrt(a.variance + b.variance)
    return np.any(is_better & (lead > 0), axis=1)


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

    The bound counts, not the mean: a lucky noisy setting has a poor bound.

    Args:
        changes, steps: Of each setting, from the baseline, shape (settings,).
        margin: Bounds within it of the lowest are as good, as a difference of the scale.
    """
    is_twice = best.is_member & (cost.n >= 2)
    tiers = (is_twice & best.is_within, best.is_member & best.is_within, is_twice, best.is_member)
    level = next((i for i, tier in enumerate(tiers) if tier.any()), None)
    if level is None:
        return Recommendation(None)
    candidates = np.flatnonzero(tiers[level])
    upper = cost.mean + quantile(alpha, cost.df) * np.sqrt(cost.variance)
    near = candidates[upper[candidates] <= upper[candidates].min() + margin]
    # Settings are in the order of their knobs, which decides between equals.
    first = near[np.lexsort((near, upper[near], steps[near], changes[near]))[0]]
    return Recommendation(int(first), level == 0, int(changes[first]), int(steps[first]))
