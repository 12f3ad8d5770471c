"""The layout of a page that has nothing to show, and why: no such runs, or a bad link."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from dash import dcc, html

from app.kit import ids
from app.kit.lakes import LakeView
from app.kit.links import address
from app.kit.page import Page
from data.errors import UnknownVersionError, WattlasError

_MOST_IGNORED: Final = 5
_LONGEST_NAME: Final = 40


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
    return _message(page, notice, body)


def not_followed(
    page: Page, error: WattlasError, parts: Mapping[str, str | Sequence[str]]
) -> html.Main:
    """Lay out why a link cannot be followed, with links that can be.

    Args:
        parts: The parameters of the link.
    """
    ways = {f"{page.title} without the link's settings": ""}
    if isinstance(error, UnknownVersionError):
        others = {name: value for name, value in parts.items() if name != "lake"}
        ways = {"This link on the newest version of the lake": urlencode(others, doseq=True)} | ways
    links = [
        dcc.Link(words, href=address(page.path) + (f"?{query}" if query else ""), className="plain")
        for words, query in ways.items()
    ]
    body = [html.H2("This link cannot be followed"), html.P(links)]
    return _message(page, f"This link could not be followed: {error}.", body)


def _message(page: Page, notice: str, body: list) -> html.Main:
    return html.Main(
        [
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            html.Div(body, className="nothing-to-show", id="views"),
        ],
        className=f"page {page.name}",
    )


def say_ignored(main: html.Main, names: Sequence[str]) -> None:
    """Write into the page's status line which names of its link were ignored."""
    if names:
        shown = [name[:_LONGEST_NAME] for name in names[:_MOST_IGNORED]]
        more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
        main[ids.IGNORED].children = f"ignored in the link: {', '.join([*shown, *more])}"
