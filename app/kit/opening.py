"""Registration of pages with Dash, and the layout of a page for a link."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import dash
from dash import dcc, html
from dash.development.base_component import Component
from flask import Flask

from app.kit import ids
from app.kit.context import lake_view, lakes
from app.kit.lakes import LakeView, State
from app.kit.nothing_to_show import nothing_to_show
from app.kit.page import Page
from app.kit.response_cache import keep_no_response
from app.kit.routes import add_page_routes
from app.kit.url_state import has_state
from data.errors import SelectionError, WattlasError

_NOT_FOLLOWED: Final = "This link could not be followed: {}. The default view is shown instead."
_UNREADABLE: Final = "There is nothing to show: the lake cannot be read. Reload once it can."


def register(server: Flask, page: Page, pages: Sequence[Page]) -> None:
    """Register one of the pages with Dash and its addresses with the server."""
    dash.register_page(
        f"app.{page.name}.page",
        path=page.path,
        order=pages.index(page),
        name=page.title,
        title=f"wattlas · {page.title}",
        layout=lambda **parts: open_layout(page, parts, pages),
    )
    add_page_routes(server, page)


def open_layout(
    page: Page, parts: Mapping[str, str | Sequence[str]], pages: Sequence[Page] = ()
) -> html.Main:
    """Lay a page out for its link.

    If the link is invalid, the notice says why and the default view is shown. If the lake cannot be
    read, the page says so; the header says why. If the page can show none of the lake's runs, it
    says what is missing and which pages can.

    Args:
        parts: The parameters of the link.
        pages: All pages.
    """
    try:
        view, state, words = open_page(parts, page.state.from_query)
        if state is not None and page.open_link:
            try:
                state, more = page.open_link(view, state)
                words = " ".join(part for part in (words, more) if part)
            except SelectionError as error:
                state, words = None, _NOT_FOLLOWED.format(error)
        words = " ".join(part for part in (lakes().trouble, words) if part)
        state = state or page.default_state(view)
        missing = page.missing(view, state) if view.runs and page.missing else ""
        if missing:
            return nothing_to_show(page, view, missing, words, pages)
        return page.layout(view, state, words)
    except WattlasError:
        keep_no_response()
        return html.Main(html.Div(_UNREADABLE, className="notice"), className=f"page {page.name}")


def browser_state(page: str, view: LakeView, state: Any) -> dict[str, Any]:
    """Return the data that the browser needs to hold a page's state and write its URL.

    Returns:
        `page`; `kept` (URL keys whose values only the browser holds); `lake` (the version that the
        link pins, or null); `shown` (the version on the page); and the entries of `UrlState.spec`.
    """
    return {
        "page": page, "kept": kept_values(state), "lake": state.lake_version, "shown": view.version,
        **state.spec(),
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


def open_page(
    parts: Mapping[str, str | Sequence[str]], read: Callable[[str], State]
) -> tuple[LakeView, State | None, str]:
    """Read a link and open its version of the lake.

    Args:
        parts: The parameters of the link.
        read: Reads a state from a query; raises an error for a bad one.

    Returns:
        The lake; the state, or None if the page has to choose; a sentence for the page's notice,
        empty if there is nothing to say.
    """
    query = urlencode(parts, doseq=True)
    if not has_state(query):
        return lake_view(None), None, ""
    try:
        view, state = lakes().asked(read, query)
    except WattlasError as error:
        return lake_view(None), None, _NOT_FOLLOWED.format(error)
    if state.lake_version is not None:
        newest = lakes().newest
        if view.version != newest:
            notice = f"This link pins version {view.version} of the lake; the newest is {newest}."
            return view, state, notice
    return view, state, ""
