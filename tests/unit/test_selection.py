"""Filters as values: SQL, words, refusals; and the same rows in SQL and in Polars."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.analysis.facet_counts import count_runs, matches
from data.catalogue import SHIPPED
from data.connection import Lake, open_lake
from data.errors import SelectionError
from data.queries.runs import facet_cube_query
from data.selection import Clause, Selection
from tests.fixtures.lakes import run, write_lake

TEXTS = ["linux_tuned", "ebbrt_tuned", "O'Brien", "läufer", "x%_", ""]
NUMBERS = [0.0, 2.0, 2.5, 8192.0, 200_000.0]


def test_no_filter_is_true() -> None:
    assert Selection().predicate() == ("TRUE", [])
    assert Selection.of(system=[], itr=()) == Selection()


@pytest.mark.parametrize(
    ("facet", "values", "sql", "parameters"),
    [
        ("system", ["a"], "(system IN (?))", ["a"]),
        ("system", ["a", "none"], "(system IN (?) OR system IS NULL)", ["a"]),
        ("itr", [2, 50.0], "(itr_us IN (?, ?))", [2.0, 50.0]),
        ("itr", ["adaptive"], "(itr_us IS NULL)", []),
        ("dvfs", ["governor", 2.9], "(dvfs_ghz IN (?) OR dvfs_ghz IS NULL)", [2.9]),
        ("rapl", ["none"], "(rapl_w IS NULL)", []),
        ("load", [2e5], "(load_qps IN (?))", [2e5]),
        ("message", [64], "(message_bytes IN (?))", [64.0]),
    ],
)
def test_a_clause_as_sql(facet: str, values: list, sql: str, parameters: list) -> None:
    assert Selection.of(**{facet: values}).predicate() == (sql, parameters)


def test_clauses_are_joined_and_one_can_be_left_out() -> None:
    selection = Selection.of(system=["a", "b"], itr=["adaptive"], load=[1])
    assert selection.predicate() == (
        "(system IN (?, ?)) AND (itr_us IS NULL) AND (load_qps IN (?))",
        ["a", "b", 1.0],
    )
    assert selection.predicate(exclude="system") == (
        "(itr_us IS NULL) AND (load_qps IN (?))",
        [1.0],
    )
    assert Selection.of(system=["a"]).predicate(exclude="system") == ("TRUE", [])


def test_values_are_replaced_not_added() -> None:
    selection = Selection.of(system=["a"], itr=[2])
    assert selection.with_values("system", ["b"]).values("system") == ("b",)
    assert selection.with_values("system", []) == Selection.of(itr=[2])
    assert selection.values("dvfs") == ()
    assert selection.values("system") == ("a",)


def test_in_words() -> None:
    assert Selection().in_words() == "all runs"
    selection = Selection.of(system=["linux_tuned"], itr=[2, 50, "adaptive"])
    assert selection.in_words() == "system linux_tuned; itr 2 us or 50 us or adaptive"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Selection.of(colour=["red"]), "unknown filter 'colour'; known: dataset, workload"),
        (lambda: Clause(SHIPPED.facets["itr"], ()), "filter 'itr' has no value"),
        (lambda: Clause(SHIPPED.facets["itr"], ("fast",)), "'itr' wants a number, not 'fast'"),
        (lambda: Clause(SHIPPED.facets["system"], (3,)), "'system' wants a text, not 3"),
        (lambda: Clause(SHIPPED.facets["itr"], (True,)), "'itr' wants a number, not True"),
        (
            lambda: Clause(SHIPPED.facets["dvfs"], ("adaptive",)),
            "'dvfs' wants a number, not 'adaptive'",
        ),
        (
            lambda: Selection(
                (Clause(SHIPPED.facets["itr"], (1,)), Clause(SHIPPED.facets["itr"], (2,)))
            ),
            "given twice",
        ),
    ],
)
def test_refusals_name_filter_and_value(make: Any, words: str) -> None:
    with pytest.raises(SelectionError, match=words):
        make()


def random_rows() -> list[dict[str, Any]]:
    """Every facet with every value and with NULL, mixed so that no two facets go together."""
    return [
        run(
            run_id=str(i),
            dataset=TEXTS[i % 3],
            workload=[*TEXTS, None][i % 7],
            system=[*TEXTS, None][(i // 3) % 7],
            load_qps=[*NUMBERS, None][i % 6],
            message_bytes=[None, 64, 8192][i % 3],
            itr_us=[*NUMBERS, None][(i // 2) % 6],
            dvfs_ghz=[None, 1.2, 2.9][(i // 5) % 3],
            rapl_w=[None, 135.0][(i // 7) % 2],
        )
        for i in range(120)
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    path: Path = tmp_path_factory.mktemp("mixed")
    return open_lake(write_lake(path, random_rows()))


@pytest.fixture(scope="module")
def rows(lake: Lake) -> pl.DataFrame:
    return lake.polars("SELECT * FROM runs")


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    chosen = {}
    for facet in SHIPPED.facets.values():
        known: list = [1.2, 2.9, 64.0, 135.0, *NUMBERS] if facet.is_number else TEXTS
        values = st.sampled_from([*known, facet.null_word])
        chosen[facet.name] = draw(st.lists(values, max_size=4, unique=True) | st.just([]))
    return Selection.of(**chosen)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(selection=selections(), exclude=st.sampled_from([None, *SHIPPED.facets]))
def test_polars_gives_the_rows_that_sql_gives(
    lake: Lake, rows: pl.DataFrame, selection: Selection, exclude: str | None
) -> None:
    condition, parameters = selection.predicate(exclude)
    by_sql = lake.polars(f"SELECT run_id FROM runs WHERE {condition}", parameters)
    by_polars = rows.filter(matches(selection, exclude))
    assert sorted(by_sql["run_id"]) == sorted(by_polars["run_id"])


@given(selection=selections())
def test_the_cube_counts_what_sql_counts(lake: Lake, selection: Selection) -> None:
    condition, parameters = selection.predicate()
    counted = lake.polars(f"SELECT count(*) FROM runs WHERE {condition}", parameters).item()
    assert count_runs(lake.polars(*facet_cube_query(catalogue=SHIPPED)), selection) == counted
