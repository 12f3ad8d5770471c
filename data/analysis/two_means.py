"""Pairs of means compared cell by cell, and what all cells together say of a claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from data.analysis.significance import Moments, equivalence, t_test

LEVEL: Final = 0.05
# Means are as good as equal that differ by less than this share of the second.
EQUAL_WITHIN: Final = 0.10


@dataclass(frozen=True, slots=True)
class TwoMeans:
    """Two means and the test between them.

    Attributes:
        at: The cell in which both were measured.
        means: The first and the second.
        n: Replicates of each.
        p: Of the test that was asked for.
    """

    at: Any
    means: tuple[float, float]
    n: tuple[int, int]
    p: float

    @property
    def is_more(self) -> bool:
        """Whether the first mean is significantly the greater."""
        return self.p <= LEVEL and self.means[0] > self.means[1]

    @property
    def is_less(self) -> bool:
        """Whether the first mean is significantly the smaller."""
        return self.p <= LEVEL and self.means[0] < self.means[1]


def two_means(
    first: pl.DataFrame, second: pl.DataFrame, by: str, is_equivalence: bool = False
) -> list[TwoMeans]:
    """Compare the means of two groups in every cell that holds both, two replicates each at least.

    Args:
        first: Columns `by` (the cell), `n`, `mean`, `sd`; one row a cell.
        second: The same of the other group.
        is_equivalence: Test whether they are equal within EQUAL_WITHIN, instead of Student's test
            whether they differ.

    Returns:
        In the order of `by`. Cells with fewer replicates are left out.
    """
    enough = pl.col("n") > 1
    both = first.filter(enough).join(second.filter(enough), on=by, suffix="_other").sort(by)
    if not len(both):
        return []
    pair_moments = Moments(*(
        np.concatenate([both[name], both[f"{name}_other"]]).astype(float)
        for name in ("n", "mean", "sd")
    ))  # fmt: skip
    a, b = np.arange(len(both)), len(both) + np.arange(len(both))
    if is_equivalence:
        p = equivalence(pair_moments, a, b, EQUAL_WITHIN * np.abs(pair_moments.mean[b]))
    else:
        p = t_test(pair_moments, a, b)
    rows = both.select(by, "mean", "mean_other", "n", "n_other").iter_rows()
    return [
        TwoMeans(at, (mean, other), (n, n_other), float(value))
        for (at, mean, other, n, n_other), value in zip(rows, p, strict=True)
    ]


def best_of(groups: Sequence[str], cells: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Find the group with the greatest mean in each cell that holds all of them.

    Args:
        groups: Two or more.
        cells: Columns `by`, `group`, `n`, `mean`, `sd`; one row a cell and group.

    Returns:
        Columns `by`; `best` (NULL for a tie: Student's test of the best two has p above LEVEL);
        of the best two `first`, `mean`, `n` and `second`, `mean_second`, `n_second`; `p`. Sorted by
        `by`. Cells in which a group has fewer than two replicates are left out.
    """
    there = cells.filter(pl.col("group").is_in(list(groups)), pl.col("n") > 1)
    whole = there.filter(pl.len().over(by) == len(groups)).sort(
        *by, "mean", "group", descending=[*[False] * len(by), True, False]
    )
    ranked = whole.with_columns(rank=pl.int_range(pl.len()).over(by))
    best, other = ranked.filter(rank=0), ranked.filter(rank=1)
    pair_moments = Moments(*(
        np.concatenate([best[name], other[name]]).astype(float) for name in ("n", "mean", "sd")
    ))  # fmt: skip
    p = t_test(pair_moments, np.arange(len(best)), len(best) + np.arange(len(best)))
    two = best.select(*by, first="group", mean="mean", n="n").with_columns(
        second=other["group"], mean_second=other["mean"], n_second=other["n"],
        p=pl.Series(p, dtype=pl.Float64),
    )  # fmt: skip
    return two.with_columns(best=pl.when(pl.col("p") <= LEVEL).then("first"))
