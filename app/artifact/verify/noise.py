"""Noise: moderated variances of the logarithms (Smyth 2004)."""

import math
from typing import Any

from app.artifact.verify.functions import digamma, inverse_trigamma, quantile, trigamma
from app.artifact.verify.report import Row

ENOUGH_SETTINGS, LEAST_SETTINGS, MOST_D0, LEAST_SHARE = 10, 3, 4.0, 1e-5
# Runs of one setting that deviate by more than a factor of 2 are no replicates.
MOST_VARIANCE = math.log(2.0) ** 2
# Runs have equal values if no more than rounding tells them apart, at so many digits.
EQUAL_VARIANCE, EQUAL_FLOOR = 1e-24, 1e-3**2 / 12

# n, mean, variance (None for one run) and rounding floor of the logarithms of a setting's runs.
Moments = tuple[int, Any, Any, float]


class Estimate:
    """What the runs of one setting say of its mean, on a scale where less is better."""

    is_unlike = False

    def __init__(self, n: int, mean: float, variance: float, df: float, has_prior: bool) -> None:
        self.n, self.mean, self.variance = n, mean, variance
        self.df, self.has_prior = df, has_prior


def moments(rows: list[Row], metric: str, step: float) -> list[Moments]:
    """Return n, mean, variance (None for one run) and rounding floor of each row's logarithms."""
    by_setting = []
    for row in rows:
        n, mean, variance, value = (
            row[f"{metric}_{end}"] for end in ("n", "log_mean", "log_variance", "mean")
        )
        floor = (step / value) ** 2 / 12 if value else math.nan
        n = min(n, 1) if variance is None else n
        by_setting.append((n, mean, max(variance, floor) if n > 1 else None, floor))
    return by_setting


def step_of(rows: list[Row], metric: str) -> float:
    steps = [row[f"{metric}_step"] for row in rows if row[f"{metric}_step"] is not None]
    return min(steps, default=0.0)


def are_equal(variance: Any, floor: float) -> bool:
    return variance is not None and variance <= max(floor, EQUAL_VARIANCE) and floor <= EQUAL_FLOOR


def fit_prior(found: list[Moments]) -> tuple[float, float]:
    """Return d0 and s0 squared of the variances of settings with several runs."""
    equal = [are_equal(v, floor) for n, _, v, floor in found if n > 1]
    several = [(n - 1, v) for n, _, v, _ in found if n > 1 and v > 0]
    # Where most settings have equal values, these say nothing of noise.
    if len(several) < LEAST_SETTINGS or 2 * sum(equal) > len(equal):
        return 0.0, 0.0
    ordered = sorted(v for _, v in several)
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    e = [
        math.log(max(v, LEAST_SHARE * median)) - digamma(f / 2) + math.log(f / 2)
        for f, v in several
    ]
    mean = math.fsum(e) / len(e)
    spread = math.fsum((x - mean) ** 2 for x in e) / (len(e) - 1)
    x = spread - math.fsum(trigamma(f / 2) for f, _ in several) / len(several)
    d0 = MOST_D0 if x <= trigamma(MOST_D0 / 2) else 2 * inverse_trigamma(x)
    return d0, math.exp(mean + digamma(d0 / 2) - math.log(d0 / 2))


def estimates(settings: list[Moments], prior: tuple[float, float], sign: float) -> list[Estimate]:
    d0, s0_squared = prior
    listed = []
    for runs, mean, variance, floor in settings:
        n = 1 if not d0 > 0 and are_equal(variance, floor) else runs
        df = d0 + n - 1
        if mean is None or n < 1 or not df > 0:
            listed.append(
                Estimate(n, math.nan if mean is None else sign * mean, math.nan, df, d0 > 0)
            )
            continue
        one = max((d0 * s0_squared + (n - 1) * (variance or 0.0)) / df, floor)
        estimate = Estimate(n, sign * mean, one / n, df, d0 > 0)
        estimate.is_unlike = (variance or 0.0) > MOST_VARIANCE
        listed.append(estimate)
    return listed


def critical(p: float, a: Estimate, b: Estimate) -> float:
    return quantile(p, freedom(a, b))


def freedom(a: Estimate, b: Estimate) -> float:
    """Return the degrees of freedom of a difference: the fewer, or Welch's without a prior."""
    if a.has_prior:
        return min(a.df, b.df)
    total = (a.variance + b.variance) ** 2
    return total / (a.variance**2 / a.df + b.variance**2 / b.df)


def deviation(a: Estimate, b: Estimate) -> float:
    return math.sqrt(a.variance + b.variance)
