"""The noise of replicates on the log scale: moderated variances, and odd runs.

A setting is one combination of knobs; a choice is all settings of one question (one system, load,
machine). The variances of a choice's settings share a prior, so that two or three replicates are
judged by what all settings show.

Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3(1), 2004 (limma).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from data.analysis.replicates import are_equal, are_unlike, observed
from data.errors import DataError

# The prior has at most these degrees of freedom, and needs this number of variances.
MOST_D0: Final = 4.0
ENOUGH_SETTINGS: Final = 10
LEAST_SETTINGS: Final = 3
# An odd run is off its setting's median by more than both.
ODD_SHARE: Final = 0.10
ODD_DEVIATIONS: Final = 8.0
# The deviation of normal values over the median of their distances from their median.
_DEVIATION_OF_MEDIAN: Final = 1.4826
_LEAST_RUNS: Final = 3
# For the fit alone, variances below this share of their median count as that.
_LEAST_SHARE: Final = 1e-5
# Steps that values may be whole multiples of, to so many digits of each value.
RESOLUTIONS: Final = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Settings:
    """Moments of each setting's runs on the log scale, shape (k,) each.

    Attributes:
        n: Number of runs.
        mean: Mean of y.
        variance: Sample variance of y, not below the floor; NaN for one run.
        floor: Variance that the rounding of the values hides.
        is_log: Whether y are logarithms; else values, such as percentages.
    """

    n: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    floor: np.ndarray
    is_log: bool = True

    @property
    def is_equal(self) -> np.ndarray:
        """Whether a setting has several runs, all with equal values."""
        return are_equal(self.variance, self.floor, 1.0 if self.is_log else self.mean)


@dataclass(frozen=True, slots=True)
class Prior:
    """Variance that a choice's settings share: s0 squared, with d0 degrees of freedom.

    Without enough variances d0 and s0 are 0: nothing is moderated. Both may be arrays, one number
    for each setting, where the settings are of several choices.
    """

    d0: Any
    s0: Any


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the runs of each setting say of its mean; less is better.

    Attributes:
        n: Number of runs, shape (k,).
        mean: Mean on the scale of the choice, shape (k,).
        variance: Of that mean, moderated, shape (k,); NaN where nothing is known of it.
        df: Degrees of freedom of the variance, shape (k,).
        prior: Of the choice.
        is_unlike: Whether the runs of a setting are no replicates, shape (k,); False for none.
    """

    n: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    df: np.ndarray
    prior: Prior
    is_unlike: Any = False

    @property
    def is_judged(self) -> np.ndarray:
        """Whether a setting has a variance: two or more runs, or noise borrowed from the choice."""
        return ~np.isnan(self.variance)

    @property
    def is_least_unlike(self) -> bool:
        """Whether the runs of the setting of least mean are no replicates."""
        is_unlike = np.broadcast_to(self.is_unlike, self.mean.shape)
        return bool(is_unlike.any() and is_unlike[np.nanargmin(self.mean)])

    def at(self, places: Any) -> "Estimates":
        """Return the estimates of some settings, by any index of NumPy."""
        prior = self.prior
        if np.ndim(prior.d0):
            prior = Prior(prior.d0[places], prior.s0[places])
        is_unlike = self.is_unlike[places] if np.ndim(self.is_unlike) else self.is_unlike
        return Estimates(
            self.n[places], self.mean[places], self.variance[places], self.df[places], prior,
            is_unlike,
        )  # fmt: skip


def log_scale(values: np.ndarray) -> np.ndarray:
    """Return the logarithms of values.

    Args:
        values: Any shape, above 0.

    Raises:
        DataError: A value is not above 0.
    """
    values = np.asarray(values, dtype=float)
    if not (values > 0).all():
        worst = values[~(values > 0)].flat[0]
        raise DataError(f"no logarithm: a value is {worst:g}, expected numbers above 0")
    return np.log(values)


def resolution(values: np.ndarray) -> float:
    """Return the largest power of ten of which every value is a whole multiple.

    Args:
        values: Shape (n,), in the metric's unit.

    Returns:
        From 1000 down to 1e-6, in the metric's unit, to six digits of each value; 0 if none fits,
        or without values.
    """
    values = np.asarray(values, dtype=float)
    for step in RESOLUTIONS:
        multiples = values / step
        if values.size and (np.abs(multiples - np.rint(multiples)) <= TOLERANCE * multiples).all():
            return step
    return 0.0


def settings_of(values: np.ndarray, setting: np.ndarray, step: float | None = None) -> Settings:
    """Return the moments of each setting.

    Args:
        values: A metric of each run, above 0, shape (n,).
        setting: Number of each run's setting, 0 to k - 1, each with a run, shape (n,).
        step: Resolution of the values, in their unit; None computes it.
    """
    y = log_scale(values)
    n = np.bincount(setting)
    mean = np.bincount(setting, y) / n
    squares = np.bincount(setting, (y - mean[setting]) ** 2)
    step = resolution(values) if step is None else step
    floor = (step / (np.bincount(setting, values) / n)) ** 2 / 12
    n, variance = observed(n, squares / np.maximum(n - 1, 1), floor)
    return Settings(n, mean, variance, floor)


def fit_prior(settings: Settings, is_lender: Any = True) -> Prior:
    """Fit the prior of the variances of settings with at least two runs.

    Args:
        is_lender: Settings that count, shape (k,).

    Returns:
        The prior; d0 and s0 are 0 for fewer than LEAST_SETTINGS variances, and where most settings
        have equal values, which say nothing of noise.
    """
    from scipy.special import digamma, zeta

    several = is_lender & (settings.n > 1)
    enough = several & (settings.variance > 0)
    equal = int((several & settings.is_equal).sum())
    if enough.sum() < LEAST_SETTINGS or 2 * equal > several.sum():
        return Prior(0.0, 0.0)
    freedom, s2 = (settings.n[enough] - 1).astype(float), settings.variance[enough]
    s2 = np.maximum(s2, _LEAST_SHARE * np.median(s2))
    # Settings have few numbers of runs, and these functions take long.
    kinds, kind = np.unique(freedom, return_inverse=True)
    e = np.log(s2) - digamma(kinds / 2)[kind] + np.log(freedom / 2)
    # The trigamma function is the Hurwitz zeta function of 2, which SciPy computes sooner.
    x = float(np.var(e, ddof=1) - np.mean(zeta(2, kinds / 2)[kind]))
    d0 = MOST_D0 if x <= float(zeta(2, MOST_D0 / 2)) else 2 * _inverse_trigamma(x)
    s0_squared = math.exp(float(np.mean(e)) + float(digamma(d0 / 2)) - math.log(d0 / 2))
    return Prior(d0, math.sqrt(s0_squared))


def moderated(settings: Settings, prior: Prior) -> tuple[np.ndarray, np.ndarray]:
    """Return each setting's moderated variance of one run, and its degrees of freedom.

    A setting with one run has the prior's; without a prior its variance is NaN.
    """
    freedom = settings.n - 1.0
    total = prior.d0 + freedom
    variance = np.where(np.isnan(settings.variance), 0.0, settings.variance)
    parts = prior.d0 * prior.s0**2 + freedom * variance
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, np.maximum(parts / total, settings.floor), np.nan), total


def estimates_of(settings: Settings, prior: Prior, is_more_better: bool = False) -> Estimates:
    """Return the estimates of a choice's settings, or of others judged by its noise.

    Without a prior, runs with equal values are one observation: they say nothing of noise.

    Args:
        is_more_better: The mean is negated, so that less is better.
    """
    is_alone = np.asarray(prior.d0) <= 0
    if is_alone.any():
        is_one = is_alone & settings.is_equal
        settings = replace(settings, n=np.where(is_one, 1, settings.n))
    variance, df = moderated(settings, prior)
    mean = -settings.mean if is_more_better else settings.mean
    is_unlike = settings.is_log & are_unlike(settings.variance)
    return Estimates(settings.n, mean, variance / settings.n, df, prior, is_unlike)


def priors(
    values: np.ndarray, setting: np.ndarray, choice: np.ndarray, family: np.ndarray
) -> list[Prior]:
    """Fit the prior of each choice, or of its family where the choice has too few settings.

    Args:
        values: A metric of each run, above 0, shape (n,).
        setting: Number of each run's setting, 0 to k - 1, shape (n,).
        choice: Number of each run's choice, 0 to c - 1, shape (n,).
        family: Number of each run's system and workload, over all loads, shape (n,).

    Returns:
        One prior a choice.
    """
    fits: list[Prior] = []
    by_family: dict[int, Prior] = {}
    order = np.argsort(choice, kind="stable")
    ends = np.flatnonzero(np.diff(choice[order])) + 1
    for runs in np.split(order, ends) if len(order) else ():
        fit, count = _fit_of(values[runs], setting[runs])
        if count < ENOUGH_SETTINGS:
            number = int(family[runs[0]])
            if number not in by_family:
                relatives = np.flatnonzero(family == number)
                by_family[number] = _fit_of(values[relatives], setting[relatives])[0]
            fit = by_family[number]
        fits.append(fit)
    return fits


def odd_runs(values: np.ndarray, setting: np.ndarray, s0: np.ndarray) -> np.ndarray:
    """Mark the runs far off their siblings: |y - median| > max(ln 1.10, 8 s0), with n >= 3.

    Without a prior s0 is the setting's own, by the median distance from its median: of runs that
    all differ none is odd. Odd runs are real, and stay in unless a reader leaves them out.

    Args:
        values: A metric of each run, above 0, shape (n,).
        setting: Number of each run's setting, 0 to k - 1, each with a run, shape (n,).
        s0: The prior's deviation for each run, shape (n,), on the log scale; 0 where there is none.

    Returns:
        Boolean mask, shape (n,).
    """
    if not len(values):
        return np.zeros(0, dtype=bool)
    y = log_scale(values)
    distance = np.abs(y - group_medians(y, setting)[setting])
    own = _DEVIATION_OF_MEDIAN * group_medians(distance, setting)[setting]
    bound = np.maximum(math.log(1 + ODD_SHARE), ODD_DEVIATIONS * np.where(s0 > 0, s0, own))
    enough = np.bincount(setting)[setting] >= _LEAST_RUNS
    return enough & (distance > bound)


def group_medians(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the median of each group, shape (k,); groups are numbered 0 to k - 1 without gaps."""
    is_later, is_same = np.diff(group) > 0, np.diff(group) == 0
    is_ordered = (is_later | (is_same & (np.diff(values) >= 0))).all()
    ordered = values if is_ordered else values[np.lexsort((values, group))]
    n = np.bincount(group)
    first = np.cumsum(n) - n
    return (ordered[first + (n - 1) // 2] + ordered[first + n // 2]) / 2


def _fit_of(values: np.ndarray, setting: np.ndarray) -> tuple[Prior, int]:
    """Fit the prior of some runs; also return how many of their settings have several runs."""
    numbered = np.unique(setting, return_inverse=True)[1]
    settings = settings_of(values, numbered)
    return fit_prior(settings), int((settings.n > 1).sum())


def _inverse_trigamma(x: float) -> float:
    """Solve trigamma(y) = x for y above 0 by Newton's method on 1 / trigamma, which is convex."""
    from scipy.special import zeta

    y = 0.5 + 1 / x
    for _ in range(50):
        value = float(zeta(2, y))
        step = value * (1 - value / x) / float(-2 * zeta(3, y))
        y += step
        if abs(step) < 1e-12 * y:
            break
    return y
