"""How sure a frontier is, and how much more area one system dominates than another.

Runs of different settings have nothing to do with each other: only the two metrics of one run
belong together. So nothing here pairs the replicates of settings. Less is better in both metrics;
estimates are on the scale of `data.analysis.noise`.

Source: Fonseca, Fleischer, Technical Report, University of Coimbra, 2001, for attainment; Zitzler,
Thiele, IEEE Trans. Evolutionary Computation 3(4), 1999, for the dominated area.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from data.analysis.best_set import quantile, sidak
from data.analysis.noise import Estimates
from data.analysis.pareto import pareto_mask

DRAWS: Final = 400
# How much worse than the worst point of both frontiers the reference point is.
BEYOND: Final = 1.05


def attainment_line(x: np.ndarray, y: np.ndarray, setting: np.ndarray, level: float) -> np.ndarray:
    """Return the corners of the line above which a sweep attains points with a chance of `level`.

    Args:
        x, y: Metrics of each run, shape (runs,), finite.
        setting: Number of each run's setting, integers from 0, shape (runs,).
        level: Chance, above 0 and at most 1.

    Returns:
        Points (x, y) by rising x and falling y, shape (k, 2): the corners on the grid of the runs'
        values. Empty where no point is attained so often.
    """
    runs = np.bincount(setting)
    height = np.argsort(y, kind="stable")
    rank_of = np.empty(len(y), int)
    rank_of[height] = np.arange(len(y))
    order = np.argsort(x, kind="stable")
    is_last = np.append(np.diff(x[order]) > 0, True)[: len(x)]
    # Of each run so far, by height: what it adds to ln(1 - attainment).
    steps = np.zeros(len(y))
    members: list[list[int]] = [[] for _ in runs]
    needed = np.log1p(-level) if level < 1 else -np.inf
    corners: list[tuple[float, float]] = []
    for run, is_corner in zip(order, is_last, strict=True):
        ranks, n = members[setting[run]], runs[setting[run]]
        ranks.append(int(rank_of[run]))
        ranks.sort()
        with np.errstate(divide="ignore"):
            rest = np.log(1 - np.arange(len(ranks) + 1) / n)
        steps[ranks] = np.diff(rest)
        if not is_corner:
            continue
        reached = np.flatnonzero(np.cumsum(steps) <= needed + 1e-12)
        if len(reached):
            low = float(y[height[reached[0]]])
            if not corners or low < corners[-1][1]:
                corners.append((float(x[run]), low))
    return np.array(corners).reshape(-1, 2)


def sure_frontier(x: Estimates, y: Estimates, alpha: float = 0.05) -> np.ndarray:
    """Return the points that the settings attain with certainty, all together but for `alpha`.

    Returns:
        Points (x, y) by rising x, shape (k, 2). Settings with one run have none.
    """
    twice = np.flatnonzero((x.n >= 2) & (y.n >= 2))
    share = sidak(alpha, len(twice))
    ends = [
        e.mean[twice] + quantile(share, e.df[twice]) * np.sqrt(e.variance[twice]) for e in (x, y)
    ]
    return _frontier(*ends)


def possible_frontier(x: Estimates, y: Estimates, alpha: float = 0.05) -> np.ndarray:
    """Return the points that no setting's true point lies in front of, each but for `alpha`.

    Returns:
        Points (x, y) by rising x, shape (k, 2). Settings without any estimate of noise have none.
    """
    judged = np.flatnonzero(x.is_judged & y.is_judged)
    ends = [
        e.mean[judged] - quantile(alpha / 2, e.df[judged]) * np.sqrt(e.variance[judged])
        for e in (x, y)
    ]
    return _frontier(*ends)


def _frontier(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    points = np.column_stack([x, y])
    points = points[np.isfinite(points).all(axis=1)]
    return np.unique(points[pareto_mask(points[:, 0], points[:, 1])], axis=0)


def dominated_area(x: np.ndarray, y: np.ndarray, reference: tuple[float, float]) -> np.ndarray:
    """Return the area between points and a reference point that is worse than they are.

    Args:
        x, y: Points, shape (..., points); those not below the reference add nothing.

    Returns:
        Shape (...), in units of x times y.
    """
    right, top = reference
    x, y = np.minimum(x, right), np.minimum(y, top)
    order = np.argsort(x, axis=-1)
    x, y = np.take_along_axis(x, order, -1), np.take_along_axis(y, order, -1)
    low = np.minimum.accumulate(y, axis=-1)
    width = np.diff(x, axis=-1, append=np.full((*x.shape[:-1], 1), right))
    area: np.ndarray = (width * (top - low)).sum(axis=-1)
    return area


@dataclass(frozen=True, slots=True)
class AreaRatio:
    """How many times the area of B the frontier of A dominates.

    Attributes:
        estimate, low, high: NaN where a system, or a draw of it, has no point below the reference.
        areas: Of A and B, on the means.
        reference: The reference point (x, y), on the scale of the estimates.
    """

    estimate: float
    low: float
    high: float
    areas: tuple[float, float]
    reference: tuple[float, float]


def area_ratio(
    a: tuple[Estimates, Estimates],
    b: tuple[Estimates, Estimates],
    seed: int,
    limits: tuple[float | None, float | None] = (None, None),
    alpha: float = 0.05,
) -> AreaRatio:
    """Return the ratio of the areas that two systems dominate, with its interval.

    Noise makes an area too large: some setting is lucky. So the draws, which carry noise twice, are
    reflected at the ratio of the means.

    Args:
        a, b: Estimates of both metrics (x, y), on the log scale.
        seed: Of the draws; derive it from the input, so that the same runs give the same interval.
        limits: The reference point where it is set; else it is BEYOND the worst of both frontiers.
    """
    fronts = [_frontier(x.mean, y.mean) for x, y in (a, b)]
    worst = np.concatenate(fronts).max(axis=0) + np.log(BEYOND)
    right, top = (w if limit is None else limit for w, limit in zip(worst, limits, strict=True))
    reference = (float(right), float(top))
    areas = [float(dominated_area(x.mean, y.mean, reference)) for x, y in (a, b)]
    if min(areas) <= 0:
        return AreaRatio(np.nan, np.nan, np.nan, (areas[0], areas[1]), reference)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = [
        dominated_area(_drawn(x, generator), _drawn(y, generator), reference) for x, y in (a, b)
    ]
    if min(area.min() for area in drawn) <= 0:
        # So noisy that a draw has no point below the reference: nothing bounds the ratio.
        return AreaRatio(np.nan, np.nan, np.nan, (areas[0], areas[1]), reference)
    draws = np.log(drawn[0]) - np.log(drawn[1])
    log_ratio = np.log(areas[0] / areas[1])
    low, middle, high = np.quantile(draws, [alpha / 2, 0.5, 1 - alpha / 2])
    estimate, below, above = np.exp(2 * log_ratio - np.array([middle, high, low]))
    return AreaRatio(float(estimate), float(below), float(above), (areas[0], areas[1]), reference)


def _drawn(estimates: Estimates, generator: np.random.Generator) -> np.ndarray:
    """Draw means of all settings as their noise allows; those measured once keep their own."""
    twice = estimates.n >= 2
    drawn = generator.standard_t(np.where(twice, estimates.df, 1.0), (DRAWS, len(twice)))
    deviation = np.where(twice, np.sqrt(np.nan_to_num(estimates.variance)), 0.0)
    return estimates.mean + drawn * deviation
