"""The layout of a page that has nothing to show: the reason, and pages that show these runs."""

from collections.abc import Sequence

from dash import dcc, get_relative_path, html

from app.kit import ids
from app.kit.lakes import LakeView
from app.kit.page import Page


def nothing_to_show(
    page: Page, view: LakeView, words: str, notice: str, pages: Sequence[Page]
) -> html.Main:
    """Lay out the sentence, with links to the pages that can show the lake's runs.

    Args:
        words: What `page.missing` returned.
        notice: Text for the notice.
        pages: All pages.
    """
    useful = [
        other
        for other in pages
        if other is not page
        and other.missing
        and not other.missing(view, other.default_state(view))
    ]
    links = [dcc.Link(f"{one.title} shows these runs", href=get_relative_path(one.path),
                      className="plain") for one in useful]  # fmt: skip
    return html.Main(
        [
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            html.Div(
                [html.H2(f"Nothing to show on {page.title}"), html.P(words), html.P(links)],
                className="nothing-to-show",
                id="views",
            ),
        ],
        className=f"page {page.name}",
    )
