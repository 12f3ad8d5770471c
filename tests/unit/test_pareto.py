"""The Pareto mask's promises, whatever the points, and the line through its members."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.pareto import frontier, pareto_mask
from data.errors import DataError

# Few different values, so that ties and equal points are common.
coarse = st.integers(0, 5).map(float)
fine = st.floats(-1e9, 1e9, allow_nan=False)
points = st.lists(st.tuples(coarse, coarse) | st.tuples(fine, fine), max_size=60)


def columns(rows: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(rows, dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """The definition itself: at least as good in both, better in one; less is better."""
    return a[0] <= b[0] and a[1] <= b[1] and a != b


def test_by_hand() -> None:
    #  y 4 | a . . .        a, c, e: nothing is left of and below them
    #    3 | . c b .        b: c is left of it at the same height
    #    1 | . . d e        d: wins over e at the same height, so e is out and d is in
    a, b, c, d, e = (1, 4), (3, 3), (2, 3), (3, 1), (4, 1)
    mask = pareto_mask(*columns([a, b, c, d, e]))
    assert mask.tolist() == [True, False, True, True, False]


@given(points)
def test_members_are_beaten_by_nobody_and_others_by_a_member(
    rows: list[tuple[float, float]],
) -> None:
    mask = pareto_mask(*columns(rows))
    members = [row for row, kept in zip(rows, mask, strict=True) if kept]
    others = [row for row, kept in zip(rows, mask, strict=True) if not kept]
    assert not any(beats(row, member) for member in members for row in rows)
    assert all(any(beats(member, other) for member in members) for other in others)


@given(points, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[tuple[float, float]], shuffler) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    mask = pareto_mask(*columns(rows))
    shuffled = pareto_mask(*columns([rows[i] for i in order]))
    assert shuffled.tolist() == [mask[i] for i in order]


@given(points.filter(bool), st.integers(2, 4))
def test_equal_points_share_their_fate(rows: list[tuple[float, float]], copies: int) -> None:
    once = pareto_mask(*columns(rows))
    assert pareto_mask(*columns(rows * copies)).tolist() == once.tolist() * copies


@given(points.filter(bool))
def test_best_in_one_metric_is_always_there(rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    mask = pareto_mask(x, y)
    assert mask.any()
    assert x[mask].min() == x.min()
    assert y[mask].min() == y.min()


def test_no_points_no_members() -> None:
    mask = pareto_mask(np.array([]), np.array([]))
    assert mask.shape == (0,)
    assert mask.dtype == bool


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.0, 2.0], [1.0], r"differ in shape: \(2,\) and \(1,\)"),
        ([[1.0, 2.0]], [[1.0, 2.0]], r"shape \(1, 2\), expected \(n,\)"),
        ([1.0, float("nan")], [1.0, 2.0], "not finite: nan at index 1"),
        ([1.0, 2.0], [float("-inf"), 2.0], "not finite: -inf at index 0"),
    ],
    ids=["shapes", "flat", "nan", "infinite"],
)
def test_bad_metrics_are_named(first: list, second: list, words: str) -> None:
    with pytest.raises(DataError, match=words):
        pareto_mask(np.array(first), np.array(second))


def test_the_frontier_is_sorted_and_holds_equal_members_once() -> None:
    x = np.array([3.0, 1.0, 2.0, 1.0, 9.0])
    y = np.array([1.0, 4.0, 3.0, 4.0, 9.0])
    line_x, line_y = frontier(x, y, pareto_mask(x, y))
    assert line_x.tolist() == [1.0, 2.0, 3.0]
    assert line_y.tolist() == [4.0, 3.0, 1.0]


@given(points)
def test_a_frontier_falls_all_the_way(rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    line_x, line_y = frontier(x, y, pareto_mask(x, y))
    assert (np.diff(line_x) > 0).all()
    assert (np.diff(line_y) < 0).all()
