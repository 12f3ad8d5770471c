"""Functions that Python and JavaScript share: JavaScript's half of the tables in tests/fixtures."""

import json
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from app.kit.clause import MAX_CHARS
from tests.browser.conftest import load_scripts
from tests.fixtures.tables import read_table

pytestmark = pytest.mark.browser

CLAUSES: Final = read_table("clauses")
WORDS: Final = read_table("words")
# As the server sends them: each column once, knobs as distinct values and an index into them.
COLUMNS: Final = """(rows) => {
  const knob = (name) => {
    const values = [...new Set(rows.map((row) => row[name]))];
    return { values, index: rows.map((row) => values.indexOf(row[name])) };
  };
  const field = (name) => rows.map((row) => (row[name] === null ? NaN : row[name]));
  const entries = (names, of) => Object.fromEntries(names.map((name) => [name, of(name)]));
  window.columns = {
    count: rows.length,
    knobs: entries(["system", "itr_us", "dvfs_ghz", "replicate"], knob),
    fields: entries(["latency_p99_us", "energy_j"], field),
  };
}"""
SELECTED: Final = """(texts) => texts.map((text) => {
  const mask = wattlas.clause.evaluate(text, columns);
  return mask && [...mask.keys()].filter((i) => mask[i]);
})"""


@pytest.fixture(scope="module")
def scripts(blank: Page) -> Page:
    """A blank page with the kit's scripts that have a twin in Python."""
    return load_scripts(blank, "_kit/columns", "_kit/clause")


def put_through(page: Page, rule: str, table: list[list[Any]]) -> list[tuple[Any, Any]]:
    """Apply a function to the rows of a table; return pairs of the result and the last column."""
    found = page.evaluate(f"(table) => table.map((row) => ({rule})(...row.slice(0, -1)))", table)
    return list(zip(found, (row[-1] for row in table), strict=True))


def test_quantities(scripts: Page) -> None:
    pairs = put_through(scripts, "wattlas.formatQuantity", WORDS["format_quantity"])
    assert [found for found, _ in pairs] == [expected for _, expected in pairs]


def test_a_rectangle_of_bins_is_one_object_and_a_hole_makes_two(scripts: Page) -> None:
    found = scripts.evaluate("""() => {
      const all = (count, width) => Array.from({ length: count }, (_, k) =>
        Array.from({ length: width }, (_, i) => 1000 + k * width + i));
      const cells = (columns, rows) => columns.flatMap((_, c) => rows.map((_, r) => [c, r]));
      const small = { xs: [[1, 2], 3], ys: [[10, 20], [30, 40]] };
      const text = (map, skipped) => wattlas.clause.bins("a", "b", map,
        cells(map.xs, map.ys).filter(([c, r]) => c + "," + r !== skipped));
      return [text(small), text(small, "1,0"), text({ xs: all(20, 20), ys: all(20, 20) }).length];
    }""")
    whole, holed, length = found
    assert json.loads(whole.partition("~")[2]) == {"a": [1, 2, 3], "b": [10, 20, 30, 40]}
    assert json.loads(holed.partition("~")[2]) == [
        {"a": [1, 2], "b": [10, 20, 30, 40]}, {"a": [3], "b": [30, 40]},
    ]  # fmt: skip
    assert length <= MAX_CHARS


def test_clauses_select(scripts: Page) -> None:
    scripts.evaluate(COLUMNS, CLAUSES["rows"])
    found = scripts.evaluate(SELECTED, [text for text, _ in CLAUSES["selects"]])
    assert dict(zip((text for text, _ in CLAUSES["selects"]), found, strict=True)) == dict(
        CLAUSES["selects"]
    )


def test_clauses_are_read(scripts: Page) -> None:
    texts = [text for text, _, _ in CLAUSES["means"]]
    found = scripts.evaluate("(texts) => texts.map(wattlas.clause.read)", texts)
    assert [[t, c["kind"], c["value"]] for t, c in zip(texts, found, strict=True)] == CLAUSES[
        "means"
    ]


def test_invalid_clauses_are_refused(scripts: Page) -> None:
    found = scripts.evaluate("(texts) => texts.map(wattlas.clause.read)", CLAUSES["refused"])
    assert [t for t, clause in zip(CLAUSES["refused"], found, strict=True) if clause] == []


def test_a_clause_of_the_greatest_length_and_a_longer_one(scripts: Page) -> None:
    longest = 'knobs~{"system":"' + "x" * (MAX_CHARS - 19) + '"}'
    found = scripts.evaluate("(texts) => texts.map(wattlas.clause.read)", [longest, longest + " "])
    assert found[0]["kind"] == "knobs"
    assert found[1] is None


def test_clauses_are_written(scripts: Page) -> None:
    pairs = put_through(scripts, "wattlas.clause.knobs", CLAUSES["written"])
    assert [found for found, _ in pairs] == [expected for _, expected in pairs]
