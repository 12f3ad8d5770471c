"""A query with its values in it answers as the query with its parameters."""

import duckdb
import pytest

from data.queries.statement import statement

VALUES = [
    None, True, 7, -(2**62), 2.0, 0.1, -0.0, 1e300, float("inf"), "it's", "a ? b", "", "--", "\n",
    ["x", "y'"], [1.5, 2.5],
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_the_one_that_was_bound(value: object) -> None:
    sql = "SELECT ? AS a, '?' || 'it''s ?' AS b, ? AS c"
    with duckdb.connect() as connection:
        written = connection.sql(statement(sql, [value, 1])).fetchall()
        bound = connection.execute(sql, [value, 1]).fetchall()
    assert repr(written) == repr(bound)
    assert written[0][1] == "?it's ?"
