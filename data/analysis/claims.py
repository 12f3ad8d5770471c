"""Many claims on one page: each judged so that of those decided at most 5 % are wrong.

A question returns its comparison at any error. The outcomes of a page are read off intervals whose
error is that at which Benjamini and Hochberg decide the page, so that no interval contradicts its
verdict.

Source: Benjamini, Hochberg, J. Royal Statistical Society B 57(1), 1995; Benjamini, Yekutieli, J.
American Statistical Association 100(469), 2005, for the intervals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from data.analysis.best_set import Change, quantile
from data.analysis.noise import Estimates
from data.analysis.outcomes import MARGIN, MORE_TRIED, Comparison, Outcome, with_more_runs

# Differences of logarithms that deviate by no more are equal but for rounding in sums.
_NO_SPREAD: Final = 1e-12
# The comparison of a claim at an error.
Question = Callable[[float], Comparison]


@dataclass(frozen=True, slots=True)
class Judged:
    """One claim of a page.

    Attributes:
        alpha: Error of its interval.
        holds_alone: It is decided even if every claim of the page shares the error.
    """

    comparison: Comparison
    alpha: float
    holds_alone: bool


def judge_all(questions: Sequence[Question], alpha: float = 0.05) -> list[Judged]:
    """Judge the claims of a page.

    Args:
        alpha: Expected share of wrong ones among the decided claims.
    """
    count = len(questions)
    ranks = np.array([_rank(question, alpha, count) for question in questions])
    decided = max((r for r in range(1, count + 1) if (ranks <= r).sum() >= r), default=0)
    level = alpha * max(decided, 1) / max(count, 1)
    return [
        Judged(question(level), level, bool(rank == 1))
        for question, rank in zip(questions, ranks, strict=True)
    ]


def _rank(question: Question, alpha: float, count: int) -> int:
    """Return the least r for which an error of alpha r / count decides; count + 1 for none.

    An interval only grows as its error falls, so that halving finds r.
    """
    if question(alpha).outcome == "undecided":
        return count + 1
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2 if low else 1
        if question(alpha * middle / count).outcome == "undecided":
            low = middle
        else:
            high = middle
        if low == 0:
            return 1
    return high


def outcome_of(
    change_at: Callable[[float], Change], alpha: float, margin: float = MARGIN
) -> Comparison:
    """Read the outcome off the interval of a difference; two one-sided tests say `equivalent`."""
    change, inner = change_at(alpha), change_at(2 * alpha)
    outcome: Outcome = "undecided"
    if -margin < inner.low and inner.high < margin:
        outcome = "equivalent"
    elif change.high < 0:
        outcome = "a_better"
    elif change.low > 0:
        outcome = "b_better"
    return Comparison(outcome, change, None, None)


def paired_change(differences: np.ndarray, alpha: float, items: np.ndarray | None = None) -> Change:
    """Return the mean of paired differences with its t interval, df = items - 1.

    Differences that are equal in all cells bound nothing: copies of rows have such.

    Cells of one item share what is its own, so that they do not count as independent: the error is
    that of clusters (Cameron and Miller, 2015). Without items each cell is one by itself.

    Args:
        differences: One of each pair of cells, shape (cells,), two cells at least.
        items: The number of each cell's item, shape (cells,); several different ones.
    """
    mean = float(differences.mean())
    sums = differences - mean if items is None else np.bincount(items, differences - mean)
    count = len(sums)
    error = (count / (count - 1) * float((sums**2).sum())) ** 0.5 / len(differences)
    width = float(stdtrit(count - 1, 1 - alpha / 2)) * error if error > _NO_SPREAD else np.inf
    return Change(mean, mean - width, mean + width)


def change_from(estimate: Estimates, constant: float, alpha: float) -> Change:
    """Return the difference of one setting's mean from a constant, with its t interval."""
    difference = float(estimate.mean - constant)
    width = float(quantile(alpha / 2, np.array(estimate.df)) * np.sqrt(estimate.variance))
    return Change(difference, difference - width, difference + width)


def more_runs_from(
    estimate: Estimates, constant: float, alpha: float, margin: float = MARGIN
) -> int | None:
    """Return about how many more runs tell a setting's mean from a constant; None for over 100."""
    for more in MORE_TRIED:
        after = with_more_runs(estimate, more)
        found = outcome_of(lambda a, e=after: change_from(e, constant, a), alpha, margin)  # type: ignore[misc]
        if found.outcome != "undecided":
            return more
    return None
