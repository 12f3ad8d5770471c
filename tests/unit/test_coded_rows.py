"""Parts of tables in memory: what they say is what Polars says of the same rows."""

import numpy as np
import polars as pl
import pytest

from data.analysis.coded_rows import Coded, CodedRows, Part, distinct
from data.analysis.facet_counts import matches
from data.selection import Selection

ROWS = pl.DataFrame(
    {
        "system": ["b", "a", None, "a", "b", "a"],
        "itr_us": [2.0, None, 2.0, 50.0, 2.0, None],
        "is_baseline": [True, None, False, True, True, None],
        "mode": ["none", None, "poll", "none", None, "poll"],
        "gone": pl.Series([None] * 6, dtype=pl.Float64),
        "runs": [1, 2, 3, 4, 5, 6],
    }
)
TABLE = CodedRows(ROWS)
PARTS = [Part(TABLE, at) for at in (slice(None), np.array([0, 2, 5]), np.array([1, 2, 3]))]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("column", ROWS.columns)
def test_a_column_of_a_part_is_that_of_its_rows(part: Part, column: str) -> None:
    of_rows, coded = part.rows[column], part.codes(column)
    assert [coded.values[code] for code in coded.codes] == of_rows.to_list()
    assert set(part.values(column)) == set(of_rows.to_list())
    assert (column in part.known([column])) == (of_rows.null_count() < len(of_rows))
    assert part.varying([column]) == [column] * (of_rows.n_unique() > 1)
    assert [part.row(number)[column] for number in range(len(part))] == of_rows.to_list()


@pytest.mark.parametrize("part", PARTS)
def test_combinations_are_numbered_as_they_differ(part: Part) -> None:
    first, numbers = part.numbered(["system", "itr_us", "gone"])
    combinations = part.rows.select("system", "itr_us").rows()
    assert len(first) == len(set(combinations))
    assert [combinations[first[number]] for number in numbers] == combinations
    assert [combinations.index(combinations[row]) for row in first] == first.tolist()


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_categories_are_coded_like_texts(dtype: type[pl.DataType]) -> None:
    coded = Coded.of(pl.Series(["b", None, "a", "b"], dtype=dtype))
    assert [coded.values[code] for code in coded.codes] == ["b", None, "a", "b"]


@pytest.mark.parametrize(
    "place", [{}, {"system": None}, {"itr_us": 2.0, "system": "b"}, {"runs": 9}]
)
def test_rows_with_values(place: dict) -> None:
    wanted = ROWS.filter(*(pl.col(name).eq_missing(pl.lit(v)) for name, v in place.items()))
    assert Part.of(ROWS).at_values(place).rows.equals(wanted)


@pytest.mark.parametrize(
    "chosen",
    [{"mode": ["none"]}, {"mode": ["poll", "none"]}, {"itr": [2, "adaptive"], "system": ["a"]}, {}],
)
def test_filters_leave_the_rows_that_they_leave_in_the_lake(chosen: dict) -> None:
    # Without a mode is not the mode of the same name.
    selection = Selection.of(**chosen)
    assert TABLE.part(selection.clauses).rows.equals(ROWS.filter(matches(selection)))


def test_rows_that_follow_each_other_are_not_copied() -> None:
    part = Part(TABLE, np.array([1, 2, 3]))
    assert part.rows["itr_us"].to_numpy().base is not None
    assert part.rows.equals(ROWS[1:4])
    assert not len(Part(TABLE, np.zeros(0, np.int64)).rows)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("value", ["a", None, "absent"])
def test_rows_that_differ_from_a_place(part: Part, value: str | None) -> None:
    wanted = [own != value for own in part.rows["system"]]
    differing = part.differing({"system": value, "itr_us": 2.0})
    assert differing["system"].tolist() == wanted
    assert differing["itr_us"].tolist() == [own != 2.0 for own in part.rows["itr_us"]]


@pytest.mark.parametrize("values", [[], ["a"], ["a", "a"], [None, None], ["a", None, "a", "b"]])
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_distinct_values_by_their_first_rows(
    values: list[str | None], dtype: type[pl.DataType]
) -> None:
    column = pl.Series(values, dtype=dtype)
    first, index = distinct(column)
    assert [column[first[number].item()] for number in index] == values
    assert len(first) == len(set(values))


def test_rows_are_taken_in_any_order_and_get_further_columns() -> None:
    order = np.array([0, 2, 1, 3])
    part = Part.of(ROWS).taken(order)
    assert part.rows.equals(ROWS[order.tolist()])
    name = ROWS.columns[0]
    column = Coded(["a", None], np.array([0, 1, 1, 0], np.uint8))
    numbers = np.array([4.0, 3.0, 2.0, 1.0])
    wide = part.with_columns({"kind": column}, {"size": numbers})
    some = wide.taken(np.array([3, 1]))
    assert (some.values("kind"), some.numbers("size").tolist()) == (["a", None], [1.0, 3.0])
    assert some.listed((name,), np.arange(2))[name] == ROWS[name][[3, 2]].to_list()
    assert wide.known(["kind"]) == {"kind"}
    assert not wide.where(np.array([False, True, True, False])).known(["kind"])
    assert (len(wide), wide.table.columns) == (4, [*ROWS.columns, "kind", "size"])
