"""Pooled means and deviations of groups, from those of their parts."""

from collections.abc import Sequence

import polars as pl


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
    digit. The SQL of `data.aggregates` and `data.queries.moments` is the same formula over rows.

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
