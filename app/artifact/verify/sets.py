"""Best sets (Gupta 1965) and comparisons."""

import math
from collections.abc import Callable
from typing import Any

from app.artifact.verify.functions import quantile, sidak
from app.artifact.verify.noise import (
    ENOUGH_SETTINGS,
    Estimate,
    critical,
    deviation,
    estimates,
    fit_prior,
    moments,
    step_of,
)
from app.artifact.verify.report import Row

OUTSIDE_SHARE, MOST_TESTED_BY_ALL, STRONGEST = 0.2, 1000, 64

# A difference of means and the ends of its interval.
Interval = tuple[float, float, float]
# A setting, and whether it surely meets the limit.
Sided = tuple[Estimate, bool]


class Study:
    """The settings of one system in one scope: estimates of a metric, and of a limited one."""

    def __init__(
        self,
        rows: list[Row],
        everything: list[Row],
        metric: dict[str, Any],
        limit: dict[str, Any] | None,
    ) -> None:
        self.rows = [row for row in rows if row[f"{metric['name']}_n"]]
        self.everything = everything
        self.prior, self.step = self.noise(metric["name"])
        self.cost = self.estimated(metric, self.prior, self.step)
        self.limit: list[Estimate] = []
        self.at = math.nan
        if limit is not None:
            self.at = limit["sign"] * math.log(limit["at"])
            self.limit = self.estimated(limit, *self.noise(limit["name"]))

    def noise(self, name: str) -> tuple[tuple[float, float], float]:
        step = step_of(self.rows, name)
        own = moments(self.rows, name, step)
        if sum(n > 1 for n, *_ in own) >= ENOUGH_SETTINGS:
            return fit_prior(own), step
        return fit_prior(moments(self.everything, name, step_of(self.everything, name))), step

    def estimated(
        self, metric: dict[str, Any], prior: tuple[float, float], step: float
    ) -> list[Estimate]:
        return estimates(moments(self.rows, metric["name"], step), prior, metric["sign"])

    def best(self, alpha: float) -> tuple[list[bool], list[bool]]:
        """Return for each setting whether it is in the best set, and surely within the limit."""
        challengers = sum(c.n >= 2 for c in self.cost)
        share = 1 - OUTSIDE_SHARE if self.limit else 1.0
        pair = sidak(share * alpha, challengers - 1)
        within, outside = [True] * len(self.cost), self.outside(alpha)
        if self.limit:
            for i, room in enumerate(self.room()):
                within[i] = room >= quantile(pair, self.limit[i].df) and self.cost[i].n >= 2
        every = zip(self.cost, within, outside, strict=True)
        against = [c for c, is_in, is_out in every if c.n >= 2 and is_in and not is_out]
        if len(self.cost) > MOST_TESTED_BY_ALL:
            against.sort(key=lambda c: c.mean + 3 * math.sqrt(c.variance))
            against = against[:STRONGEST]
        members = []
        for own, is_outside in zip(self.cost, outside, strict=True):
            is_in = not is_outside and not math.isnan(own.variance)
            members.append(is_in and not any(beats(b, own, pair) for b in against))
        return members, within

    def room(self) -> list[float]:
        """Return how many deviations each setting is within the limit."""
        return [
            (self.at - own.mean) / math.sqrt(own.variance) if own.variance else math.nan
            for own in self.limit
        ]

    def outside(self, alpha: float) -> list[bool]:
        """Return whether each setting is surely beyond the limit; without one none is."""
        every = zip(self.room(), self.limit, strict=True)
        beyond = [room <= -quantile(OUTSIDE_SHARE * alpha, own.df) for room, own in every]
        return beyond or [False] * len(self.cost)

    def side(self, alpha: float) -> list[Sided]:
        """Return the members of the best set with several runs, and which are surely within."""
        members, within = self.best(alpha)
        every = zip(self.cost, members, within, strict=True)
        return [(own, is_within) for own, is_in, is_within in every if is_in and own.n >= 2]


def beats(b: Estimate, a: Estimate, alpha: float) -> bool:
    lead = a.mean - b.mean
    return lead > 0 and lead >= critical(alpha, a, b) * deviation(a, b)


def saving(setting: Estimate, other: Estimate, among: int, alpha: float) -> Interval:
    d, dev = setting.mean - other.mean, deviation(setting, other)
    low = critical(alpha / 2, setting, other) * dev
    high = critical(sidak(alpha / 2, among), setting, other) * dev
    return d, d - low, d + high


def from_constant(setting: Estimate, at: float, alpha: float) -> Interval:
    d = setting.mean - at
    width = quantile(alpha / 2, setting.df) * math.sqrt(setting.variance)
    return d, d - width, d + width


def paired(differences: list[float], items: list[Any], alpha: float) -> Interval:
    """Cells of one item, such as a program, are a cluster."""
    k = len(differences)
    mean = math.fsum(differences) / k
    clusters: dict[Any, list[float]] = {}
    for x, item in zip(differences, items if len(set(items)) > 1 else range(k), strict=True):
        clusters.setdefault(item, []).append(x - mean)
    n = len(clusters)
    squares = math.fsum(math.fsum(each) ** 2 for each in clusters.values())
    error = math.sqrt(squares * n / (n - 1)) / k
    # Differences that are equal in all cells bound nothing.
    width = quantile(alpha / 2, n - 1) * error if error > 1e-12 else math.inf
    return mean, mean - width, mean + width


def of_sides(a: list[Sided], b: list[Sided], alpha: float) -> Interval:
    """Compare two best sets; each side is a list of (estimate, is surely within)."""

    def lowest(side: list[Sided]) -> float:
        sure = [e.mean for e, w in side if w]
        return min(sure or [e.mean for e, _ in side])

    up, down = sidak(alpha / 2, len(a)), sidak(alpha / 2, len(b))
    highs, lows = [math.inf], [-math.inf]
    for i, is_sure in a:
        if is_sure:
            highs.append(max(i.mean - j.mean + critical(up, i, j) * deviation(i, j) for j, _ in b))
    for j, is_sure in b:
        if is_sure:
            lows.append(min(i.mean - j.mean - critical(down, i, j) * deviation(i, j) for i, _ in a))
    return lowest(a) - lowest(b), max(lows), min(highs)


def outcome_of(change: Callable[[float], Interval], alpha: float, margin: float) -> str:
    _, low, high = change(alpha)
    _, inner_low, inner_high = change(2 * alpha)
    if -margin < inner_low and inner_high < margin:
        return "equivalent"
    return "a_better" if high < 0 else "b_better" if low > 0 else "undecided"
