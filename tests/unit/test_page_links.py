"""Links between pages carry filters, a selection and a version of the lake."""

from urllib.parse import parse_qs, urlsplit

from app.kit.links import page_link
from data.selection import Selection


def test_a_link_has_filters_selection_and_version() -> None:
    found = urlsplit(page_link("/timeline", Selection.of(load=[2e5]), "outcome~tie", 3))
    assert found.path == "/timeline"
    assert parse_qs(found.query) == {
        "v": ["2"], "load": ["200000"], "sel": ["outcome~tie"], "lake": ["3"],
    }  # fmt: skip
    assert page_link("/", Selection()) == "/?v=2"
