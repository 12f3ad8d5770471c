"""The layout of a page that has nothing to show: the reason, and pages that show these runs."""

from collections.abc import Sequence

from dash import dcc, html

from app.kit import ids
from app.kit.lakes import LakeView
from app.kit.links import address
from app.kit.page import Page


def nothing_to_show(
    page: Page, view: LakeView, words: str, notice: str, pages: Sequence[Page]
) -> html.Main:
    """Lay out the sentence of `page.missing`, with links to the pages that can show the runs."""
    links = [
        dcc.Link(f"{one.title} shows these runs", href=address(one.path), className="plain")
        for one in pages
        if one is not page and one.missing and not one.missing(view, one.default_state(view))
    ]
    body = [html.H2(f"Nothing to show on {page.title}"), html.P(words), html.P(links)]
    return html.Main(
        [
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            html.Div(body, className="nothing-to-show", id="views"),
        ],
        className=f"page {page.name}",
    )
