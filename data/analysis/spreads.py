"""Error bars of means and of differences between means."""

from typing import Final

import numpy as np

from data.analysis.significance import Moments, mean_half_widths

CONFIDENCE: Final = 0.95


def mean_spreads(n: np.ndarray, sd: np.ndarray, is_interval: bool) -> np.ndarray:
    """Return the half length of each mean's error bar.

    Args:
        n: Replicates of each mean, shape (k,).
        sd: Sample standard deviations, shape (k,); any value for one replicate.
        is_interval: Use the 95 % confidence interval of the mean (Student's t) instead of the
            standard deviation.

    Returns:
        Shape (k,), in the unit of `sd`; NaN for fewer than two replicates.
    """
    enough = n > 1
    deviation = np.where(enough, sd, np.nan)
    if not is_interval:
        return deviation
    return mean_half_widths(Moments(n, np.zeros(len(n)), deviation), CONFIDENCE)


def difference_spreads(
    n: tuple[np.ndarray, np.ndarray], sd: tuple[np.ndarray, np.ndarray], is_interval: bool
) -> np.ndarray:
    """Return the half length of the error bar of each difference between two independent means.

    Args:
        n: Replicates of the first and second mean of each pair, shape (k,) each.
        sd: Their sample standard deviations, shape (k,) each.
        is_interval: As in `mean_spreads`; if false, the root of the summed squares.

    Returns:
        Shape (k,), in the unit of `sd`; NaN where either has fewer than two replicates.
    Source: Welch, Biometrika 34(1-2), 1947, for the degrees of freedom.
    """
    enough = (n[0] > 1) & (n[1] > 1)
    if not is_interval:
        return np.where(enough, np.hypot(sd[0], sd[1]), np.nan)
    from scipy.special import stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [s**2 / m for s, m in zip(sd, n, strict=True)]
        variance = parts[0] + parts[1]
        freedom = variance**2 / sum(p**2 / (m - 1) for p, m in zip(parts, n, strict=True))
        half = stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(variance)
    return np.where(enough, np.where(variance > 0, half, 0.0), np.nan)
