"""Registration of pages with Dash, and the layout of a page for a link."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import dash
from dash import dcc, html
from dash.development.base_component import Component
from flask import Flask

from app.kit import ids
from app.kit.context import lake_view, lakes
from app.kit.lakes import LakeView
from app.kit.links import open_page
from app.kit.nothing_to_show import not_followed, nothing_to_show, say_ignored
from app.kit.page import Page
from app.kit.response_cache import keep_no_response
from app.kit.routes import add_page_routes
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


def browser_state(page: str, view: LakeView, state: Any) -> dict[str, Any]:
    """Return the data that the browser needs to hold a page's state and write its URL.

    Returns:
        `page`; `kept` (URL keys whose values only the browser holds); `carried` (what the page
        hands on and cannot use, lists by URL key); `lake` (the version that the link pins, or
        null); `shown` (the version on the page); and the entries of `UrlState.spec`.
    """
    carried = {key: [text for k, text in state.carried if k == key] for key, _ in state.carried}
    return {
        "page": page, "kept": kept_values(state), "carried": carried, "lake": state.lake_version,
        "shown": view.version, **state.spec(),
    }  # fmt: skip


def kept_values(state: Any) -> dict[str, Any]:
    """Return the values that only the browser holds, by URL key; tuples as lists."""
    values = {key: getattr(state, state.PARAMETERS[key].attribute) for key in state.KEPT}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def state_stores(
    page: str,
    view: LakeView,
    state: Any,
    empty: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
) -> list[Component]:
    """Return the stores that every page has, plus empty ones with the ids in `empty`.

    Args:
        more: Further data for the browser, beside `browser_state`.
    """
    names = ids.PageIds(page)
    return [
        dcc.Store(id=names.lake_version, data=view.version),
        dcc.Store(id=names.browser, data={**browser_state(page, view, state), **(more or {})}),
        *[dcc.Store(id=name) for name in (names.view_state, names.changed, *empty)],
    ]
