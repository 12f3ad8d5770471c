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

from data.analysis.best_set import OUTSIDE_SHARE, BestSet, critical, sidak
from data.analysis.noise import Estimates

Outcome = Literal["a_better", "b_better", "equivalent", "undecided"]
MARGIN: Final = float(np.log(1.02))
# Numbers of further runs of each setting that are tried.
MORE_TRIED: Final = (*range(1, 11), *range(12, 31, 2), *range(35, 101, 5))


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


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the members of its best set that were measured at least twice.

    Attributes:
        settings: Index of each in its choice, shape (k,).
        cost: Estimates of the objective, shape (k,).
        is_within: Surely meets the limit, shape (k,); all True without one.
    """

    settings: np.ndarray
    cost: Estimates
    is_within: np.ndarray

    @classmethod
    def of(cls, cost: Estimates, best: BestSet) -> "Side":
        """Take the members of a best set with two or more runs."""
        settings = np.flatnonzero(best.is_member & (cost.n >= 2))
        return cls(settings, cost.at(settings), best.is_within[settings])


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
    kept = (1 - OUTSIDE_SHARE) * alpha if has_limit else alpha
    low, low_by, high, high_by = _ends(a, b, kept)
    inner_low, _, inner_high, _ = _ends(a, b, 2 * kept)
    outcome: Outcome = "undecided"
    if -margin < inner_low and inner_high < margin:
        outcome = "equivalent"
    elif high < 0:
        outcome = "a_better"
    elif low > 0:
        outcome = "b_better"
    estimate = float(_lowest(a) - _lowest(b))
    return Comparison(outcome, Change(estimate, low, high), low_by, high_by)


def _lowest(side: Side) -> float:
    candidates = side.cost.mean[side.is_within] if side.is_within.any() else side.cost.mean
    return float(candidates.min())


def _ends(
    a: Side, b: Side, alpha: float
) -> tuple[float, tuple[int, int] | None, float, tuple[int, int] | None]:
    """Return both ends of the interval, each with the settings that decide it."""
    one, other = a.cost.at(np.s_[:, None]), b.cost.at(np.s_[None, :])
    lead = one.mean - other.mean
    deviation = np.sqrt(one.variance + other.variance)
    most = lead + critical(sidak(alpha / 2, len(a.settings)), one, other) * deviation
    least = lead - critical(sidak(alpha / 2, len(b.settings)), one, other) * deviation
    high = np.where(a.is_within, most.max(axis=1), np.inf)
    low = np.where(b.is_within, least.min(axis=0), -np.inf)
    i, j = int(high.argmin()), int(low.argmax())
    high_by = (int(a.settings[i]), int(b.settings[most[i].argmax()]))
    low_by = (int(a.settings[least[:, j].argmin()]), int(b.settings[j]))
    return (
        float(low[j]), low_by if np.isfinite(low[j]) else None,
        float(high[i]), high_by if np.isfinite(high[i]) else None,
    )  # fmt: skip


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
