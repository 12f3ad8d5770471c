"""Columns that queries leave out because the filter cube tells them."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from app.kit.answer_cache import key_columns, known_columns
from data.analysis.coded_rows import Part
from data.analysis.like_with_like import varying_within

CUBE = pl.DataFrame(
    {
        "system": ["linux", "linux", "library", "library"],
        "itr_us": [2.0, None, 2.0, None],
        "kernel": ["5.15", "5.15", "6.1", "6.1"],
        "ring_bytes": [64, None, 64, None],
        "machine": ["c220g1"] * 4,
        "device": pl.Series([None] * 4, dtype=pl.String),
    }
)


def test_columns_that_follow_from_others_are_left_out_and_come_back() -> None:
    known = known_columns(CUBE, CUBE.columns)
    assert known.key == ("system", "itr_us")
    assert known.names == {"kernel", "ring_bytes", "machine", "device"}
    rows = CUBE.reverse().with_columns(pl.col("system").cast(pl.Categorical))
    whole = known.added_to(rows.select("system", "itr_us"))
    assert whole.select(CUBE.columns).rows() == CUBE.reverse().rows()


def test_no_run_and_one_configuration() -> None:
    assert known_columns(CUBE.clear(), CUBE.columns).names == frozenset()
    one = known_columns(CUBE[:1], CUBE.columns)
    assert (one.key, one.names) == ((), frozenset(CUBE.columns))


@given(
    st.lists(st.tuples(*[st.sampled_from([None, 0, 1, 2])] * 4), max_size=30),
    st.permutations(["a", "b", "c", "d"]),
)
def test_the_key_tells_all_rows_apart(rows: list[tuple], order: list[str]) -> None:
    table = pl.DataFrame(rows, dict.fromkeys("abcd", pl.Int64), orient="row").unique()
    key = key_columns(table, order)
    assert list(key) == [name for name in order if name in key]
    assert table.select(key).n_unique() == len(table) if key else len(table) < 2


@given(data=st.data())
def test_columns_that_vary_where_a_key_is_equal(data: st.DataObject) -> None:
    """As a group-by counts them; NULL is a value."""
    value = st.sampled_from([None, "a", "b"])
    count = data.draw(st.integers(0, 6))
    lists = {n: data.draw(st.lists(value, min_size=count, max_size=count)) for n in "xyzw"}
    rows = pl.DataFrame(lists, schema=dict.fromkeys(lists, pl.String))
    counted = rows.group_by("x", "y").agg(pl.col("z", "w").n_unique())
    varying = [name for name in ("w", "z") if (counted[name] > 1).any()]
    assert varying_within(Part.of(rows), ["x", "y"], ["w", "z"]) == varying
