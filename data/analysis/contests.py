"""The outcomes of many comparisons of two sides at once, such as those of the cells of a map.

Each side of a contest is the settings of one competitor; a best set is found on each side, and the
two are compared as `outcomes.compare_sides` compares them. The errors of all contests are
controlled together, and each interval has the level at which its outcome was read.

Source: Benjamini, Yekutieli, J. American Statistical Association 100(469), 2005, for intervals
beside a false discovery rate; Holm, Scandinavian Journal of Statistics 6, 1979.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from data.analysis.best_set import Limit, best_set, best_sets
from data.analysis.noise import Estimates, Prior
from data.analysis.outcomes import (
    DECIDED,
    MORE_TRIED,
    Outcome,
    Side,
    comparison_share,
    deciding_levels,
    interval_ends,
    with_more_runs,
)
from data.analysis.planner import more_runs_of_pairs
from data.analysis.rules import Correction, corrected

UNDECIDED: Final[Outcome] = "undecided"
# Larger sides have their sets found one by one: all pairs of many contests would not fit.
_MOST_TOGETHER: Final = 256
# The level falls each time that larger sets leave fewer contests decided.
_MOST_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class Runs:
    """Where the settings of one side of each contest are.

    Attributes:
        first: Index of its first setting; the others follow, shape (contests,).
        count: Number of its settings, all with two or more runs and at least one not surely beyond
            the limit, shape (contests,).
    """

    first: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The outcomes of contests; all arrays have shape (contests,).

    Attributes:
        outcome: Names of `Outcome`.
        p: Least alpha at which a contest alone is decided; `p_corrected`: with all others.
        estimate: Difference of the best of A to the best of B on the scale, negative: A is better.
        low, high: Its interval; infinite where the data do not bound it. Of two that are equivalent
            it is that of the two one-sided tests, with twice the error, which is within the margin.
        level: Error of each interval: alpha, corrected.
        more_runs: About how many more runs of each setting would decide; 0 if it is decided, -1 for
            over 100.
        members_a, members_b: Settings that cannot be told from the best of each side.
    """

    outcome: np.ndarray
    p: np.ndarray
    p_corrected: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    more_runs: np.ndarray
    members_a: np.ndarray
    members_b: np.ndarray


@dataclass(frozen=True, slots=True)
class _Batch:
    """Contests whose sides have equally many settings.

    Attributes:
        is_of_two: Each side has one setting.
    """

    contests: np.ndarray
    is_of_two: bool
    a: Side
    b: Side
    limits: tuple[Limit | None, Limit | None]


def decide_contests(
    cost: Estimates,
    limit: Limit | None,
    a: Runs,
    b: Runs,
    alpha: float,
    margin: float,
    correction: Correction,
) -> Verdicts:
    """Decide contests.

    The correction is a search for the level at which the outcomes are read: a smaller level has
    larger sets and wider intervals, and leaves fewer contests decided, which lowers the level.

    Args:
        cost, limit: Of all settings, shape (settings,).
        a, b: The sides.
        alpha: Error of one comparison without a correction.
        margin: Differences within it are as good as none, on the scale of the estimates.
    """
    count = len(a.first)
    share = comparison_share(limit is not None)
    level, batches = alpha, []
    p = p_corrected = np.ones(count)
    for _ in range(_MOST_ROUNDS):
        batches = list(_batches(cost, limit, a, b, level))
        levels: dict[Outcome, np.ndarray] = {name: np.ones(count) for name in DECIDED}
        for batch in batches:
            for decided, values in deciding_levels(batch.a, batch.b, margin).items():
                levels[decided][batch.contests] = values
        p = np.minimum(np.min([levels[name] for name in DECIDED], axis=0) / share, 1.0)
        p_corrected = corrected(p, correction)
        lower = _level_of(p_corrected, correction, alpha)
        is_settled = lower >= level or (a.count.max(initial=1) == 1 == b.count.max(initial=1))
        level = min(level, lower)
        if is_settled:
            break
    is_decided = p_corrected <= alpha
    names: list[np.ndarray] = [is_decided & (levels[n] / share <= level) for n in DECIDED]
    outcome = np.select(names, DECIDED, UNDECIDED)
    shown = {name: np.full(count, np.nan) for name in ("estimate", "low", "high", "a", "b")}
    for batch in batches:
        here = batch.contests
        ends, inner = (interval_ends(batch.a, batch.b, error * share * level) for error in (1, 2))
        is_same = outcome[here] == "equivalent"
        for name, one, other in zip(("low", "high"), ends, inner, strict=True):
            shown[name][here] = np.where(is_same, other, one)
        shown["estimate"][here] = batch.a.lowest - batch.b.lowest
        shown["a"][here], shown["b"][here] = batch.a.members, batch.b.members
    more = np.zeros(count, np.int64)
    for batch in batches:
        still_open = np.flatnonzero(outcome[batch.contests] == UNDECIDED)
        more[batch.contests[still_open]] = _more_runs(_some(batch, still_open), level, margin)
    return Verdicts(
        outcome, p, p_corrected, shown["estimate"], shown["low"], shown["high"], level, more,
        shown["a"].astype(np.int64), shown["b"].astype(np.int64),
    )  # fmt: skip


def _level_of(p_corrected: np.ndarray, correction: Correction, alpha: float) -> float:
    """Return the error of one interval that agrees with the corrected p values."""
    count, decided = len(p_corrected), int((p_corrected <= alpha).sum())
    if correction == "none" or not count:
        return alpha
    if correction == "holm":
        return alpha / max(count - decided, 1)
    return alpha * max(decided, 1) / count


def _batches(
    cost: Estimates, limit: Limit | None, a: Runs, b: Runs, level: float
) -> Iterator[_Batch]:
    """Find the best sets of all sides, contests of one shape together."""
    shapes, shape = np.unique(np.stack((a.count, b.count)), axis=1, return_inverse=True)
    for number in range(shapes.shape[1]):
        contests = np.flatnonzero(shape.ravel() == number)
        sides, limits = [], []
        for runs, width in zip((a, b), shapes[:, number], strict=True):
            settings = runs.first[contests][:, None] + np.arange(width)
            own = None if limit is None else Limit(limit.at, limit.metric.at(settings))
            side, there = _side(settings, cost.at(settings), own, level)
            sides.append(side)
            limits.append(own if own is None else Limit(own.at, own.metric.at(np.s_[:, there])))
        is_of_two = bool((shapes[:, number] == 1).all())
        yield _Batch(contests, is_of_two, sides[0], sides[1], (limits[0], limits[1]))


def _side(
    settings: np.ndarray, cost: Estimates, limit: Limit | None, level: float
) -> tuple[Side, np.ndarray]:
    """Return one side of some contests, and which of the settings any of them needs."""
    if settings.shape[1] <= _MOST_TOGETHER:
        is_member, is_within, _ = best_sets(cost, limit, level)
    else:
        each = [
            best_set(
                _alone(cost.at(i)),
                None if limit is None else Limit(limit.at, _alone(limit.metric.at(i))),
                level,
            )
            for i in range(len(settings))
        ]
        is_member = np.stack([one.is_member for one in each])
        is_within = np.stack([one.is_within for one in each])
    # A side keeps one setting at least, also where none may meet the limit.
    there = np.flatnonzero(is_member.any(axis=0) | (np.arange(is_member.shape[1]) == 0))
    kept = np.s_[:, there]
    return Side(settings[kept], cost.at(kept), is_within[kept], is_member[kept]), there


def _alone(estimates: Estimates) -> Estimates:
    """Return the estimates of one choice, whose settings share one prior."""
    d0, s0 = (float(np.ravel(value)[0]) for value in (estimates.prior.d0, estimates.prior.s0))
    return replace(estimates, prior=Prior(d0, s0))


def _some(batch: _Batch, rows: np.ndarray) -> _Batch:
    """Return some contests of a batch."""
    a, b = (
        Side(s.settings[rows], s.cost.at(rows), s.is_within[rows], s.is_member[rows])
        for s in (batch.a, batch.b)
    )
    limits = [
        None if limit is None else Limit(limit.at, limit.metric.at(rows)) for limit in batch.limits
    ]
    return _Batch(batch.contests[rows], batch.is_of_two, a, b, (limits[0], limits[1]))


def _more_runs(batch: _Batch, level: float, margin: float) -> np.ndarray:
    """Return how many more runs of each setting would decide each contest; -1 for over 100."""
    a, b = batch.a, batch.b
    if batch.is_of_two and batch.limits[0] is None:
        first, second = a.cost.at(np.s_[:, 0]), b.cost.at(np.s_[:, 0])
        more = more_runs_of_pairs(
            first.mean - second.mean,
            np.stack((first.variance * first.n, second.variance * second.n)),
            np.stack((first.n, second.n)),
            np.broadcast_to(first.prior.d0, first.n.shape),
            alpha=level,
            margin=margin,
        )
        return np.where(more > 0, more, -1)
    share = comparison_share(batch.limits[0] is not None)
    runs = np.full(len(batch.contests), -1)
    left = np.arange(len(batch.contests))
    for more in MORE_TRIED:
        if not len(left):
            break
        part = _some(batch, left)
        sides = [
            _with_more(side, limit, more, level)
            for side, limit in zip((part.a, part.b), part.limits, strict=True)
        ]
        levels = deciding_levels(sides[0], sides[1], margin)
        is_decided = np.min([levels[name] for name in DECIDED], axis=0) / share <= level
        runs[left[is_decided]] = more
        left = left[~is_decided]
    return runs


def _with_more(side: Side, limit: Limit | None, more: int, level: float) -> Side:
    is_within = side.is_within
    if limit is not None:
        metric = with_more_runs(limit.metric, more)
        is_within = best_sets(side.cost, Limit(limit.at, metric), level)[1]
    return replace(side, cost=with_more_runs(side.cost, more), is_within=is_within)
