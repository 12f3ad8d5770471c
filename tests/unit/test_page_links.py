"""Links between pages carry filters, a selection and a version of the lake."""

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from app.kit.clause import write_knobs
from app.kit.links import page_link
from app.kit.page import Page
from app.pages import PAGES
from data.catalogue import SHIPPED
from data.selection import Selection

_TABLE: Final = Path(__file__).resolve().parents[1] / "fixtures" / "links_v1.json"
LINKS: Final = json.loads(_TABLE.read_text("utf-8"))


def test_a_link_has_filters_selection_and_version() -> None:
    found = urlsplit(page_link("/timeline", Selection.of(load=[2e5]), "outcome~tie", 3))
    assert found.path == "/timeline"
    assert parse_qs(found.query) == {
        "v": ["2"], "load": ["200000"], "sel": ["outcome~tie"], "lake": ["3"],
    }  # fmt: skip
    assert page_link("/", Selection()) == "/?v=2"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_reads_the_links_of_other_pages(page: Page) -> None:
    clause = write_knobs([{"itr_us": 100}])
    query = urlsplit(page_link(page.path, Selection.of(load=[2e5]), clause, 3)).query
    state = page.state.from_query(query, SHIPPED)
    assert state.lake_version == 3
    assert getattr(state, page.state.parameters()["sel"].attribute) == clause
    if "load" in page.state.filters(SHIPPED):
        assert state.selection == Selection.of(load=[2e5])
    assert int(parse_qs(query)["v"][0]) <= page.state.VERSION


@pytest.mark.parametrize("written", LINKS, ids=lambda written: written["name"])
def test_links_of_version_1_are_read_and_stay_the_same_when_written_anew(
    written: dict[str, Any],
) -> None:
    """What they show is tested in a browser."""
    found = urlsplit(written["link"])
    (page,) = [page for page in PAGES if page.path == found.path]
    state = page.state.from_query(found.query, SHIPPED)
    anew = state.to_query()
    assert parse_qs(anew)["v"] == [str(page.state.VERSION)]
    assert page.state.from_query(anew, SHIPPED) == state
    filters = {
        k: set(v) for k, v in parse_qs(found.query).items() if k in page.state.filters(SHIPPED)
    }
    assert filters == {
        k: set(v) for k, v in parse_qs(anew).items() if k in page.state.filters(SHIPPED)
    }
