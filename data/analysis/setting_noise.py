"""What the runs of each setting say of its mean, for many choices at once.

It is section by section what `data.choices` computes for one choice: moments of the logarithms, the
rounding floor, the prior of the choice, or of its system at all loads where the choice is small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from data.analysis.noise import (
    ENOUGH_SETTINGS,
    RESOLUTIONS,
    TOLERANCE,
    Estimates,
    Prior,
    Settings,
    estimates_of,
    fit_prior,
)
from data.analysis.replicates import observed
from data.analysis.significance import Moments, Samples

Better = Literal["less", "more"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How values become numbers of which less is better.

    Attributes:
        is_log: Logarithms; else the values themselves, such as shares, or values of 0 and below.
        sign: -1 where more is better, and where there is no direction.
    """

    is_log: bool
    sign: float

    @classmethod
    def of(cls, values: np.ndarray, better: Better | None, unit: str) -> "Scale":
        """Choose the scale of a metric: percentages stay linear, and values of 0 and below."""
        is_log = unit != "%" and bool((values > 0).all())
        return cls(is_log, 1.0 if better == "less" else -1.0)

    def value(self, mean: np.ndarray) -> np.ndarray:
        """Return means in the metric's unit: geometric ones where logarithms were taken."""
        return np.exp(self.sign * mean) if self.is_log else self.sign * mean

    def margin(self, percent: float, means: np.ndarray) -> float:
        """Return the margin of equivalence on the scale.

        Args:
            percent: A share of the mean; without logarithms of the median size of the means.
        """
        if self.is_log:
            return float(np.log1p(percent / 100))
        return float(percent / 100 * np.median(np.abs(means))) if len(means) else 0.0


def numbered(rows: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Number the combinations of some columns, NULL a value like any other, shape (rows,).

    Columns that are absent have one value in all rows.
    """
    numbers = np.zeros(len(rows), np.int64)
    for name in columns:
        if name in rows.columns and rows[name].n_unique() > 1:
            codes = rows[name].rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
            pairs = numbers * (int(codes.max()) + 1) + codes
            numbers = np.unique(pairs, return_inverse=True)[1]
    return numbers


def setting_moments(
    samples: Samples, pooled: Moments, has_means: np.ndarray, scale: Scale, choice: np.ndarray
) -> Settings:
    """Return the moments of each setting on a scale, before its sign.

    Args:
        pooled: Moments of the values, where some values are means of runs.
        has_means: Which settings have such values, shape (k,).
        choice: Number of each setting's choice, whose values have one resolution, shape (k,).
    """
    n, first = samples.n, samples.starts[:-1]
    y = np.log(samples.values) if scale.is_log else samples.values
    mean = np.add.reduceat(y, first) / n if len(n) else np.zeros(0)
    squares = (y - np.repeat(mean, n)) ** 2
    variance = np.add.reduceat(squares, first) / np.maximum(n - 1, 1) if len(n) else mean
    if has_means.any():
        # To second order a logarithm deviates by the relative deviation of the value.
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = (pooled.sd / (pooled.mean if scale.is_log else 1.0)) ** 2
            centre = np.log(pooled.mean) if scale.is_log else pooled.mean
        below = np.nan_to_num(spread) * (pooled.n - 1) / pooled.n / 2 if scale.is_log else 0.0
        n = np.where(has_means, pooled.n, n)
        mean = np.where(has_means, centre - below, mean)
        variance = np.where(has_means, spread, variance)
    steps = np.full(int(choice.max(initial=-1)) + 1, np.inf)
    np.minimum.at(steps, choice, _steps(samples))
    floor = (steps[choice] / (pooled.mean if scale.is_log else 1.0)) ** 2 / 12
    n, variance = observed(n, variance, floor)
    return Settings(n, mean, variance, floor, scale.is_log)


def _steps(samples: Samples) -> np.ndarray:
    """Return the resolution of each setting's values, as `noise.resolution`, shape (k,)."""
    steps = np.zeros(len(samples.n))
    left = np.arange(len(samples.n))
    for step in RESOLUTIONS:
        # Most settings are ruled out by their first value alone.
        candidates = left[_is_whole(samples.values[samples.starts[left]], step)]
        if len(candidates):
            sizes = samples.n[candidates]
            group = np.repeat(np.arange(len(candidates)), sizes)
            offset = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            is_whole = _is_whole(samples.values[samples.starts[candidates][group] + offset], step)
            candidates = candidates[np.bincount(group, ~is_whole, len(candidates)) == 0]
            steps[candidates] = step
            left = left[steps[left] == 0]
    return steps


def _is_whole(values: np.ndarray, step: float) -> np.ndarray:
    multiples = values / step
    return np.asarray(np.abs(multiples - np.rint(multiples)) <= TOLERANCE * np.abs(multiples))


def limited_moments(rows: pl.DataFrame, name: str, choice: np.ndarray) -> Settings:
    """Return the moments of the logarithms of a metric, NaN without a value above 0.

    Args:
        rows: The metric's columns of `data.queries.moments`, one row a setting.
        choice: As of `setting_moments`.
    """
    ends = ("n", "log_mean", "log_variance", "mean", "step")
    counted, mean, variance, value, step = (
        rows[f"{name}_{end}"].cast(pl.Float64).fill_null(np.nan).to_numpy() for end in ends
    )
    steps = np.full(int(choice.max(initial=-1)) + 1, np.inf)
    np.fmin.at(steps, choice, step)
    floor = (np.where(np.isfinite(steps), steps, 0.0)[choice] / value) ** 2 / 12
    n, variance = observed(counted.astype(np.int64), variance, floor)
    return Settings(n, mean, variance, floor)


@dataclass(frozen=True, slots=True)
class Relatives:
    """Settings that lend their noise to small choices; arrays of shape (relatives,).

    Attributes:
        family: Its number of each, as that of the choices.
    """

    settings: Settings
    is_lender: np.ndarray
    family: np.ndarray


def moderated_estimates(
    settings: Settings,
    is_lender: np.ndarray,
    choice: np.ndarray,
    family: np.ndarray,
    is_more_better: bool,
    relatives: Relatives,
) -> Estimates:
    """Moderate each setting's variance by the prior of its choice, or of the choice's family.

    Args:
        is_lender: Settings that count for the priors, shape (k,): all but the defaults.
        choice, family: Numbers of each setting's choice, and of its system and workload whatever
            the load, shape (k,).
        is_more_better: The means are negated, so that less is better.
        relatives: The settings of the families at all loads.
    """
    is_lender = is_lender & (settings.n > 1)
    fits: list[Prior] = []
    which = np.full(len(choice), -1)
    counts = np.bincount(choice, is_lender) if len(choice) else np.zeros(0)
    for number in np.flatnonzero(counts >= ENOUGH_SETTINGS):
        own = choice == number
        which[own] = len(fits)
        fits.append(fit_prior(settings, own & is_lender))
    for number in np.unique(family[which < 0]):
        theirs = relatives.settings
        lent = relatives.is_lender & (relatives.family == number) & (theirs.n > 1)
        which[(which < 0) & (family == number)] = len(fits)
        fits.append(fit_prior(theirs, lent))
    d0, s0 = (np.array([getattr(fit, name) for fit in fits]) for name in ("d0", "s0"))
    prior = Prior(d0[which], s0[which]) if len(fits) else Prior(0.0, 0.0)
    return estimates_of(settings, prior, is_more_better)
