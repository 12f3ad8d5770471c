"""Registration of pages with Dash, and the layout of a page for a link."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

import dash
from dash import html
from flask import Flask

from app.kit.context import lake_view, lakes
from app.kit.links import open_page
from app.kit.nothing_to_show import not_followed, nothing_to_show, say_ignored
from app.kit.page import Page
from app.serve.response_cache import keep_no_response
from app.serve.routes import add_page_routes
from data.errors import WattlasError

_UNREADABLE: Final = "There is nothing to show: the lake cannot be read. Reload once it can."


def register(server: Flask, page: Page, pages: Sequence[Page]) -> None:
    """Register one of the pages with Dash and its addresses with the server."""
    dash.register_page(
        f"app.{page.name}.page",
        path=page.path,
        order=pages.index(page),
        name=page.title,
        title=f"wattlas · {page.title}",
        state_version=page.state.VERSION,
        layout=lambda **parts: open_layout(page, parts, pages),
    )
    add_page_routes(server, page)


def open_layout(
    page: Page, parts: Mapping[str, str | Sequence[str]], pages: Sequence[Page] = ()
) -> html.Main:
    """Lay a page out for its link.

    If the link cannot be followed, the page says why and offers the default view. If the lake
    cannot be read, the page says so; the header says why. If the page can show none of the lake's
    runs, it says what is missing and which pages can.

    Args:
        parts: The parameters of the link.
        pages: All pages.
    """
    try:
        try:
            view, state, words = open_page(page, lakes(), urlencode(parts, doseq=True))
        except WattlasError as error:
            lake_view(None)
            return not_followed(page, error, parts)
        words = " ".join(part for part in (lakes().trouble, words) if part)
        missing = page.missing(view, state) if view.runs and page.missing else ""
        if missing:
            return nothing_to_show(page, view, missing, words, pages)
        main = page.layout(view, state, words)
    except WattlasError:
        keep_no_response()
        return html.Main(html.Div(_UNREADABLE, className="notice"), className=f"page {page.name}")
    say_ignored(main, state.ignored)
    return main
