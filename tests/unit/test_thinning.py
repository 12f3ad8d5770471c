"""Thinning keeps what matters, the same every time, no more than it may."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.kit.columns import thin


@given(st.integers(1, 3000), st.integers(0, 400), st.data())
def test_size_keep_order_and_determinism(count: int, limit: int, data: st.DataObject) -> None:
    keep = np.array(data.draw(st.lists(st.integers(0, count - 1), max_size=30)), dtype=int)
    chosen = thin(count, limit, keep)
    assert len(chosen) == min(count, max(limit, len(set(keep.tolist()))))
    assert set(keep.tolist()) <= set(chosen.tolist())
    assert (np.diff(chosen) > 0).all()
    assert set(chosen.tolist()) <= set(range(count))
    assert chosen.tolist() == thin(count, limit, keep).tolist()


def test_few_points_are_all_drawn() -> None:
    assert thin(3, 3, np.array([], dtype=int)).tolist() == [0, 1, 2]
    assert thin(0, 3, np.array([], dtype=int)).tolist() == []


def test_each_stretch_keeps_its_share() -> None:
    # 1,000 of 10,000: a tenth of each tenth, give or take two.
    chosen = thin(10_000, 1000, np.array([], dtype=int))
    shares = np.histogram(chosen, bins=10, range=(0, 10_000))[0]
    assert shares.sum() == 1000
    assert (abs(shares - 100) <= 2).all()


def test_keep_alone_may_exceed_the_limit() -> None:
    assert thin(10, 2, np.array([7, 1, 4, 1])).tolist() == [1, 4, 7]
