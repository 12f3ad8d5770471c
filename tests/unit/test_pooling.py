"""Pooled means and deviations, worked by hand and against the runs themselves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.like_with_like import pool

SCHEMA = {"k": pl.Float64, "n": pl.Int64, "mean": pl.Float64, "sd": pl.Float64}
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5)


def parts(*rows: tuple) -> pl.DataFrame:
    return pl.DataFrame(rows, SCHEMA, orient="row")


def test_two_parts_of_one_group() -> None:
    # Runs 1, 3 (mean 2, sd 2**0.5) and 8: mean 4, squares 9 + 1 + 16 = 26, sd 13**0.5.
    pooled = pool(parts((7.0, 2, 2.0, 2**0.5), (7.0, 1, 8.0, None)), ["k"])
    assert pooled.rows() == [(7.0, 4.0, pytest.approx(13**0.5), 3)]


def test_null_is_a_group_and_stands_last() -> None:
    pooled = pool(parts((None, 1, 5.0, None), (2.0, 1, 6.0, None)), ["k"])
    assert pooled.rows() == [(2.0, 6.0, None, 1), (None, 5.0, None, 1)]


def test_one_part_keeps_every_digit() -> None:
    assert pool(parts((1.0, 3, 0.1, 0.3)), ["k"])["mean"].to_list() == [0.1]


def test_nothing_gives_nothing() -> None:
    assert pool(parts(), ["k"]).rows() == []


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_pooling_parts_is_taking_all_their_runs(runs: list[list[float]]) -> None:
    rows = [
        (1.0, len(v), float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else None)
        for v in runs
    ]
    every = np.concatenate(runs)
    [(_, mean, sd, n)] = pool(parts(*rows), ["k"]).rows()
    assert n == every.size
    assert mean == pytest.approx(every.mean(), abs=1e-6)
    if n > 1:
        assert sd == pytest.approx(every.std(ddof=1), rel=1e-6, abs=1e-4)
    else:
        assert sd is None
