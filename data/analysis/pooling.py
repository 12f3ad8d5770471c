"""Pooled means and deviations of groups, from those of their parts."""

from collections.abc import Sequence

import numpy as np
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
    Source: Chan, Golub, LeVeque, The American Statistician 37(3), 1983.
    """
    rows = parts.sort(by, nulls_last=True, maintain_order=True)
    group = rows.select(pl.struct(by).rle_id()).to_series().to_numpy().astype(np.int64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    n, mean = rows["n"].to_numpy().astype(float), rows["mean"].to_numpy()
    sd = rows["sd"].fill_null(0.0).to_numpy()
    total = np.bincount(group, n)
    # Sums are relative to the first part's mean, so that one part, or equal ones, keep every digit.
    pooled = mean[first] + np.bincount(group, n * (mean - mean[first][group])) / total
    squares = np.bincount(group, (n - 1) * sd**2 + n * (mean - pooled[group]) ** 2)
    deviation = np.sqrt(squares / np.maximum(total - 1, 1))
    return (
        rows[first]
        .select(by)
        .with_columns(
            mean=pl.Series(pooled),
            sd=pl.Series(deviation),
            n=pl.Series(total.astype(np.int64)),
        )
        .with_columns(sd=pl.when(pl.col("n") > 1).then("sd"))
    )
