"""Rules that Python and JavaScript share: Python's half of the tables in tests/fixtures."""

from typing import Any, Final

import polars as pl
import pytest

from app.kit.clause import MAX_CHARS, matching, read_clause, write_knobs
from data.errors import SelectionError
from data.units import format_quantity
from tests.fixtures.tables import read_table

CLAUSES: Final = read_table("clauses")
WORDS: Final = read_table("words")
KINDS: Final = ("knobs", "box", "lasso", "won", "outcome")


@pytest.mark.parametrize(("value", "unit", "text"), WORDS["format_quantity"])
def test_a_quantity(value: float | None, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize(("text", "selected"), CLAUSES["selects"])
def test_a_clause_selects(text: str, selected: list[int]) -> None:
    clause = read_clause(text, KINDS)
    assert clause
    rows = pl.DataFrame(CLAUSES["rows"], infer_schema_length=None)
    assert matching(clause, rows, *(clause.fields or ())).arg_true().to_list() == selected


@pytest.mark.parametrize(("text", "kind", "value"), CLAUSES["means"])
def test_a_clause_means(text: str, kind: str, value: str | float | None) -> None:
    clause = read_clause(text, KINDS)
    assert clause
    assert (clause.kind, clause.value) == (kind, value)


@pytest.mark.parametrize("text", CLAUSES["refused"])
def test_a_text_that_is_no_clause_is_refused(text: str) -> None:
    with pytest.raises(SelectionError):
        read_clause(text, KINDS)


def test_the_longest_clause_and_one_that_is_too_long() -> None:
    longest = 'knobs~{"system":"' + "x" * (MAX_CHARS - 19) + '"}'
    assert len(longest) == MAX_CHARS
    assert read_clause(longest)
    with pytest.raises(SelectionError, match=f"{MAX_CHARS + 1} characters is too long"):
        read_clause(longest + " ")


@pytest.mark.parametrize(("alternatives", "text"), CLAUSES["written"])
def test_a_clause_is_written(alternatives: list[dict[str, Any]], text: str) -> None:
    assert write_knobs(alternatives) == text
