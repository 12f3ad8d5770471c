"""Two sides compared by the best settings of each: better, equivalent or undecided.

All means are on the scale of `data.analysis.noise`, where less is better. A difference d of two
means is a change of 100 (e^d - 1) %.

Source: Hsu, Multiple Comparisons, 1996, chapter 4; Schuirmann, J. Pharmacokinetics 15(6), 1987, for
two one-sided tests.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from scipy.special import stdtr

from data.analysis.best_set import OUTSIDE_SHARE, BestSet, Change, critical, difference_df, sidak
from data.analysis.noise import Estimates

Outcome = Literal["a_better", "b_better", "equivalent", "undecided"]
# The first of these that holds is the outcome.
DECIDED: Final[tuple[Outcome, ...]] = ("equivalent", "a_better", "b_better")
MARGIN: Final = float(np.log(1.02))
# Numbers of further runs of each setting that are tried.
MORE_TRIED: Final = (*range(1, 11), *range(12, 31, 2), *range(35, 101, 5))


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the members of its best set that were measured at least twice.

    Many comparisons have a further axis before the settings.

    Attributes:
        settings: Index of each in its choice, shape (k,).
        cost: Estimates of the objective, shape (k,).
        is_within: Surely meets the limit, shape (k,); all True without one.
        is_member: False for a setting that is none, shape (k,).
    """

    settings: np.ndarray
    cost: Estimates
    is_within: np.ndarray
    is_member: np.ndarray

    @classmethod
    def of(cls, cost: Estimates, best: BestSet) -> "Side":
        """Take the members of a best set with two or more runs."""
        settings = np.flatnonzero(best.is_member & (cost.n >= 2))
        is_member = np.ones(len(settings), bool)
        return cls(settings, cost.at(settings), best.is_within[settings], is_member)

    @property
    def members(self) -> np.ndarray:
        """Number of members."""
        return self.is_member.sum(axis=-1)

    @property
    def lowest(self) -> np.ndarray:
        """Least mean of the members that surely meet the limit, else of all."""
        is_first = self.is_member & self.is_within
        counts = np.where(is_first.any(axis=-1, keepdims=True), is_first, self.is_member)
        return np.where(counts, self.cost.mean, np.inf).min(axis=-1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two sides say of each other.

    Attributes:
        change: Of the best of A relative to the best of B: positive means that A costs more.
        low_set_by, high_set_by: The settings of A and B, as indices in their choices, whose
            difference is that end of the interval; None where it is not bounded.
    """

    outcome: Outcome
    change: Change
    low_set_by: tuple[int, int] | None
    high_set_by: tuple[int, int] | None


def compare_sides(
    a: Side, b: Side, alpha: float = 0.05, margin: float = MARGIN, has_limit: bool = False
) -> Comparison:
    """Compare the best of A with the best of B.

    The best of A costs at most as much as any one of its members, and only the best of B counts
    among B's: so each end is a least of most differences, or a most of least ones. Under a limit
    only settings that surely meet it can prove that their side is that good.

    Args:
        margin: A difference within it is as good as none.
        has_limit: Part of alpha went into which settings meet the limit.
    """
    if not len(a.settings) or not len(b.settings):
        return Comparison("undecided", Change(np.nan, -np.inf, np.inf), None, None)
    share = comparison_share(has_limit) * alpha
    levels = deciding_levels(a, b, margin)
    outcome: Outcome = next((o for o in DECIDED if levels[o] < share), "undecided")
    most, least = _bounds(a, b, share)
    i, j = int(most.max(axis=1).argmin()), int(least.min(axis=0).argmax())
    low, high = float(least[:, j].min()), float(most[i].max())
    high_by = (int(a.settings[i]), int(b.settings[most[i].argmax()]))
    low_by = (int(a.settings[least[:, j].argmin()]), int(b.settings[j]))
    return Comparison(
        outcome,
        Change(float(a.lowest - b.lowest), low, high),
        low_by if np.isfinite(low) else None,
        high_by if np.isfinite(high) else None,
    )


def comparison_share(has_limit: bool) -> float:
    """Return the share of alpha that is left for the comparison."""
    return 1 - OUTSIDE_SHARE if has_limit else 1.0


def interval_ends(a: Side, b: Side, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of each comparison; infinite where a side has no member.

    Args:
        a, b: Shapes (comparisons, settings).
        alpha: Error of each interval.
    """
    most, least = _bounds(a, b, alpha)
    low, high = least.min(axis=-2).max(axis=-1), most.max(axis=-1).min(axis=-1)
    has_both = (a.members > 0) & (b.members > 0)
    return np.where(has_both, low, -np.inf), np.where(has_both, high, np.inf)


def _bounds(a: Side, b: Side, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the upper and the lower bound of each pair's difference, shape (..., k_a, k_b).

    A pair that proves nothing has infinite bounds; one that does not count has none.
    """
    first, second = a.cost.at(np.s_[..., :, None]), b.cost.at(np.s_[..., None, :])
    lead = first.mean - second.mean
    deviation = np.sqrt(first.variance + second.variance)
    shares = (np.asarray(sidak(alpha / 2, side.members))[..., None, None] for side in (a, b))
    above, below = (critical(share, first, second) * deviation for share in shares)
    most = np.where(b.is_member[..., None, :], lead + above, -np.inf)
    least = np.where(a.is_member[..., :, None], lead - below, np.inf)
    most = np.where((a.is_within & a.is_member)[..., :, None], most, np.inf)
    return most, np.where((b.is_within & b.is_member)[..., None, :], least, -np.inf)


def deciding_levels(a: Side, b: Side, margin: float) -> dict[Outcome, np.ndarray]:
    """Return the least alpha at which each outcome holds, by outcome; 1 where none does.

    It is the alpha at which an end of the interval of `compare_sides` is 0 or the margin. Under a
    limit it is that of the comparison alone.
    """
    one, other = a.cost.at(np.s_[..., :, None]), b.cost.at(np.s_[..., None, :])
    lead, df = one.mean - other.mean, difference_df(one, other)
    deviation = np.sqrt(one.variance + other.variance)
    pairs = (a.is_member & a.is_within)[..., :, None], (b.is_member & b.is_within)[..., None, :]
    members = a.is_member[..., :, None], b.is_member[..., None, :]

    def at_most(excess: np.ndarray, is_of_a: bool) -> np.ndarray:
        """Return the least error at which a setting of one side is below all others."""
        with np.errstate(invalid="ignore", divide="ignore"):
            tail = stdtr(df, np.nan_to_num(excess / deviation, nan=0.0))
        own, others, axis = (pairs[0], members[1], -1) if is_of_a else (pairs[1], members[0], -2)
        worst = np.where(others, tail, 0.0).max(axis=axis, keepdims=True)
        least = np.where(own, worst, 1.0).min(axis=(-2, -1))
        count = np.maximum((a if is_of_a else b).members, 1)
        with np.errstate(divide="ignore"):
            level = -np.expm1(count * np.log1p(-least))
        return np.where((a.members > 0) & (b.members > 0), level, 1.0)

    below, above = at_most(lead - margin, True), at_most(-lead - margin, False)
    return {
        "equivalent": np.maximum(below, above),
        "a_better": np.minimum(2 * at_most(lead, True), 1.0),
        "b_better": np.minimum(2 * at_most(-lead, False), 1.0),
    }


def with_more_runs(estimates: Estimates, more: int) -> Estimates:
    """Return the estimates if each setting had more runs, and means and variances stayed."""
    n = estimates.n + more
    return replace(
        estimates, n=n, variance=estimates.variance * estimates.n / n, df=estimates.df + more
    )


def more_runs_of_all(
    a: Side,
    b: Side,
    alpha: float = 0.05,
    margin: float = MARGIN,
    within_after: tuple[Callable[[int], np.ndarray], Callable[[int], np.ndarray]] | None = None,
) -> int | None:
    """Return about how many more runs of each member would decide; None for over 100.

    Args:
        within_after: Under a limit, which members of A and B surely meet it after so many more
            runs.
    """
    for more in MORE_TRIED:
        sides = [
            replace(
                side,
                cost=with_more_runs(side.cost, more),
                is_within=side.is_within if within_after is None else within_after[i](more),
            )
            for i, side in enumerate((a, b))
        ]
        found = compare_sides(sides[0], sides[1], alpha, margin, within_after is not None)
        if found.outcome != "undecided":
            return more
    return None
