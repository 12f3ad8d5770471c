"""A large lake: cubes of settings by dataset give what one cube of the whole lake gives."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from flask import Flask
from polars.testing import assert_frame_equal

from app.explore.defaults import turned
from app.explore.prepared import prepare
from app.explore.question import Question
from app.explore.state import ExploreState
from app.explore.studies import moments_of
from app.findings.layout_runs import order_block
from app.findings.state import FindingsState
from app.kit import lake_view
from app.kit.lake_view import LakeView
from app.pages import PAGES
from data.catalogue import SHIPPED
from data.connection import open_lake
from data.errors import LakeError, WattlasError
from data.queries.runs import chosen_counts_query, facet_cube_query, outline_query
from data.selection import Selection

# The fits of all datasets, twice, take 15 s.
_EACH_PAGE = [
    pytest.param(page, marks=[pytest.mark.slow] * (page.name == "models")) for page in PAGES
]
# Of a claim, what does not follow from how many datasets and claims are judged together: those of
# the lake, or those of the chosen datasets of a large one.
_UNJUDGED = (
    "id", "kind", "subject", "reference", "metric", "effect_pct", "n_subject",
    "n_reference", "is_synthetic", "query",
)  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Flask:
    """Pages that are drawn outside of a request."""
    return Flask("pages")


@pytest.fixture
def views(logged_lake: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The sample as a small lake, and as one whose runs are more than pages look at together."""
    small, large = LakeView(open_lake(logged_lake)), LakeView(open_lake(logged_lake))
    assert not small.is_large
    monkeypatch.setattr(LakeView, "is_large", property(lambda view: view is large), raising=True)
    yield small, large
    small.lake.close()
    large.lake.close()


def test_the_outline_counts_what_the_cube_counts(views: Any) -> None:
    small, large = views
    names = ["dataset", "workload", "system", "system_label", "is_synthetic"]
    cube, outline = (
        v.group_by(names).agg(pl.col("runs").sum()).sort(names)
        for v in (small.cube_of(Selection()), large.outline)
    )
    assert_frame_equal(cube, outline)
    assert (small.runs, small.systems, small.is_synthetic) == (
        large.runs, large.systems, large.is_synthetic,
    )  # fmt: skip


def test_the_order_of_more_runs_than_are_read_is_not_checked(
    views: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = views
    chosen = Selection.of(dataset=[small.outline["dataset"][0]])
    assert large.order(chosen).checks
    monkeypatch.setattr(lake_view, "MOST_RUNS", large.matching(chosen) - 1)
    assert (large.order(chosen).checks, large.order(chosen).is_cut) == ((), True)
    note, *_ = order_block(large, FindingsState(selection=chosen))
    assert "is not checked" in note.children
    # A small lake reads what it can, and says that it is cut.
    assert small.order(chosen).checks


@pytest.mark.thin(2)
@pytest.mark.parametrize("page", _EACH_PAGE, ids=lambda page: page.name)
def test_a_page_shows_a_dataset_as_in_a_small_lake(page: Any, views: Any, server: Flask) -> None:
    small, large = views
    names = small.outline["dataset"].unique().sort().to_list()
    assert len(names) > 1
    asked = 0
    with server.app_context():
        for name in names:
            # Timeline shows runs, whatever their datasets.
            is_timeline = page.name == "timeline"
            state = (
                page.default_state(small)
                if is_timeline
                else page.state.from_query(f"dataset={name}", SHIPPED)
            )
            for view in page.views:
                if (page.name, view.name) == ("lake", "questions"):
                    # In a large lake they are of its first study.
                    continue
                try:
                    shown = page.rows(small, state, view.name)
                except WattlasError as error:
                    with pytest.raises(type(error)):
                        page.rows(large, state, view.name)
                    continue
                is_judged = (page.name, view.name) == ("findings", "claims")
                alike = _UNJUDGED if is_judged else shown.columns
                assert_frame_equal(
                    shown.select(alike), page.rows(large, state, view.name).select(alike),
                    check_row_order=not is_judged,
                )  # fmt: skip
                asked += 1
    assert asked


def test_filters_offer_the_same_choices(views: Any) -> None:
    small, large = views
    for dataset in small.outline["dataset"].unique():
        for more in ({}, {"workload": ["memcached"]}, {"dvfs": [1.2], "system": ["linux_tuned"]}):
            chosen = Selection.of(dataset=[dataset], **more)
            one, other = (v.counts_of(chosen).choices(chosen) for v in views)
            assert one == other
            assert small.matching(chosen) == large.matching(chosen)
    assert set(small.counts_of(Selection()).choices(Selection())) == set(SHIPPED.facets)


def test_columns_are_measured_whichever_runs_are_read_first(
    views: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, large = views
    monkeypatch.setattr(lake_view, "_FIRST_RUNS", 1)
    counts = chosen_counts_query(Selection(), SHIPPED.plottable, catalogue=SHIPPED)
    counted = large.lake.polars(*counts).row(0, named=True)
    measured = large.measured_columns(Selection())
    assert measured == tuple(name for name, count in counted.items() if count)
    first = chosen_counts_query(Selection(), measured, catalogue=SHIPPED, most_runs=1)
    assert 0 in large.lake.polars(*first).row(0)


def test_another_process_asks_nothing_that_was_prepared(
    views: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = views
    prepared = [next(prepare(large))]
    assert prepared == [min(small.outline.select("dataset", "workload").rows())]
    again = LakeView(large.lake)
    monkeypatch.setattr(LakeView, "is_large", property(lambda view: view is not small))
    assert again.runs == small.runs
    monkeypatch.setattr(large.lake, "polars", lambda *_: pytest.fail("asked the lake"))
    for dataset, workload in prepared:
        start = ExploreState(Selection.of(dataset=[dataset]), replicates="means")
        state = turned(again, start, workload)
        question = Question.of(again, state)
        assert_frame_equal(question.points, Question.of(small, state).points)
        assert_frame_equal(question.odd, Question.of(small, state).odd)
        assert_frame_equal(
            moments_of(question).table.rows, moments_of(Question.of(small, state)).table.rows
        )


def test_pages_open_on_the_dataset_with_most_runs(views: Any) -> None:
    _, large = views
    totals = large.outline.group_by("dataset").agg(pl.col("runs").sum()).sort("runs")
    for page in PAGES:
        state = page.default_state(large)
        if getattr(state, "selection", None) and state.selection.values("dataset"):
            found = state.selection.values("dataset")[0]
            of_storage = page.name == "storage"
            expected = large.first_study(is_storage=of_storage).values("dataset")[0]
            assert found == expected
            assert of_storage or found == totals["dataset"][-1]


def test_too_many_settings_are_refused_in_words(
    views: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake_view, "MAX_ROWS", 5)
    with pytest.raises(LakeError, match="more than 5 combinations of settings; choose a dataset"):
        views[1].cube_of(Selection())


def test_a_query_that_needs_too_much_memory_is_refused_in_words(logged_lake: Path) -> None:
    with open_lake(logged_lake) as lake:
        lake.sql("SELECT 1").fetchall()
        lake._connection.execute("SET memory_limit = '4MB'")
        lake._connection.execute("SET max_temp_directory_size = '1MB'")
        with pytest.raises(LakeError, match=r"of memory and .* of disk; filter on a dataset"):
            lake.polars("SELECT list(a ORDER BY hash(a)) FROM range(4000000) t(a)")


def test_the_cube_of_a_selection_has_its_rows_alone(logged_lake: Path) -> None:
    with open_lake(logged_lake) as lake:
        chosen = Selection.of(workload=["memcached"])
        whole = lake.polars(*facet_cube_query(catalogue=SHIPPED)).filter(workload="memcached")
        assert_frame_equal(
            lake.polars(*facet_cube_query(selection=chosen, catalogue=SHIPPED)), whole
        )
        assert len(lake.polars(*outline_query(2, catalogue=SHIPPED))) == 2
