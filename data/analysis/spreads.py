"""Error bars of means and of differences, and pooled means and deviations of groups."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

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


def pool(parts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Pool `n`, `mean` and `sd` of parts into one row per group, as if over all their runs.

    Sums run in the order of the rows, so that the same parts always give the same digits.

    Args:
        parts: Columns `by`, `n` (at least 1), `mean`, `sd` (sample standard deviation; NULL where
            n is 1).
        by: Columns that identify a group; NULL is a value like any other.

    Returns:
        Columns `by`, `mean`, `sd` (NULL where n is 1), `n`; sorted by `by`, NULLs last. No parts,
        no rows.
    """
    n, mean, variance = pooled(pl.col("n"), pl.col("mean"), pl.col("sd").pow(2))
    rows = parts.sort(by, nulls_last=True, maintain_order=True)
    return rows.group_by(by, maintain_order=True).agg(mean=mean, sd=variance.sqrt(), n=n)


def pooled(n: pl.Expr, mean: pl.Expr, variance: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the number, mean and variance of a group, from those of its parts.

    Deviations are from the mean of the first part, so that one part, or equal ones, keep every
    digit. The SQL of `data.catalogue` and `data.queries.moments` is the same formula over rows.

    Args:
        n: Values of each part.
        mean: Their mean; NULL where there is none.
        variance: Their sample variance; NULL counts as 0, as for one value.

    Returns:
        Aggregations; the variance is NULL where there is one value at most.
    Source: Chan, Golub, LeVeque, The American Statistician 37(3), 1983.
    """
    total, first = n.sum(), mean.drop_nulls().first().fill_null(0.0)
    whole = first + (n * (mean - first)).sum() / total
    squares = ((n - 1) * variance.fill_null(0)).sum() + (n * (mean - whole).pow(2)).sum()
    return total, whole, pl.when(total > 1).then(squares / (total - 1))
