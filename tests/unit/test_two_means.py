"""Pairs of means against scipy.stats of the values themselves; ties, equal means, too few runs."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from data.analysis.two_means import LEVEL, best_of, two_means

LOW = {1: [10.0, 11.0, 12.0], 8: [20.0, 21.0, 22.0], 32: [5.0]}
HIGH = {1: [14.0, 15.0, 16.0], 8: [20.5, 21.5, 22.5], 32: [9.0, 9.0], 64: [1.0, 2.0]}


def cells(values: dict[int, list[float]], **more: str) -> pl.DataFrame:
    """A row a cell: n, mean, sample standard deviation."""
    return pl.DataFrame(
        [
            {"at": at, "n": len(v), "mean": float(np.mean(v)), **more,
             "sd": float(np.std(v, ddof=1)) if len(v) > 1 else None}
            for at, v in values.items()
        ],
        schema_overrides={"sd": pl.Float64},
    )  # fmt: skip


def test_cells_with_two_replicates_of_both_are_compared() -> None:
    pairs = two_means(cells(HIGH), cells(LOW), "at")
    assert [(pair.at, pair.means, pair.n) for pair in pairs] == [
        (1, (15, 11), (3, 3)), (8, (21.5, 21), (3, 3)),
    ]  # fmt: skip
    assert [pair.p for pair in pairs] == pytest.approx(
        [stats.ttest_ind(HIGH[at], LOW[at]).pvalue for at in (1, 8)]
    )
    assert [pair.is_more for pair in pairs] == [True, False]


def test_equal_means_are_shown_by_two_one_sided_tests() -> None:
    first, second = [1.00, 1.01, 0.99, 1.0], [1.0, 1.02, 0.98, 1.01]
    (pair,) = two_means(cells({1: first}), cells({1: second}), "at", is_equivalence=True)
    margin = 0.1 * np.mean(second)
    one_sided = [
        stats.ttest_ind(np.array(first) + shift, second, alternative=side).pvalue
        for shift, side in ((margin, "greater"), (-margin, "less"))
    ]
    assert pair.p == pytest.approx(max(one_sided))
    assert pair.p <= LEVEL
    # a spread of the margin's size shows nothing, though the means are the same
    (wide,) = two_means(cells({1: [0.9, 1.1]}), cells({1: [0.9, 1.1]}), "at", is_equivalence=True)
    assert wide.p > LEVEL


def test_values_without_spread_are_equal_or_differ() -> None:
    same = cells({1: [1.0, 1.0]})
    assert [pair.p for pair in two_means(same, same, "at", is_equivalence=True)] == [0]
    (pair,) = two_means(same, same, "at")
    assert np.isnan(pair.p)
    assert not pair.is_more


def test_the_best_group_of_a_cell_or_a_tie() -> None:
    groups = pl.concat(
        [
            cells({1: [3.0, 3.1, 3.2], 8: [3.0, 3.1, 3.2], 32: [1.0, 2.0]}, group="a"),
            cells({1: [1.0, 1.1, 1.2], 8: [3.1, 3.2, 3.3], 32: [1.0, 2.0]}, group="b"),
            cells({1: [2.0, 2.1, 2.2], 8: [1.0, 1.1, 1.2], 32: [1.0]}, group="c"),
        ]
    )
    found = best_of(("a", "b", "c"), groups, ["at"])
    # 8: 3.1 against 3.2 is no difference; 32: one replicate of c
    assert found.select("at", "best").rows() == [(1, "a"), (8, None)]
    assert found.select("first", "mean", "second", "n_second").row(0) == ("a", 3.1, "c", 3)
    assert found["p"][0] == pytest.approx(stats.ttest_ind([3.0, 3.1, 3.2], [2.0, 2.1, 2.2]).pvalue)
    assert len(best_of(("a", "b", "c"), groups.clear(), ["at"])) == 0
