"""The frame around all pages, and what it holds where a page has nothing to show."""

import json
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

import dash
import dash_mantine_components as dmc
from dash import dcc, html
from flask import has_app_context

from app.kit import ids
from app.kit.context import lake_view
from app.kit.controls import CONTROLS
from app.kit.encodings import BREAK, without_marks
from app.kit.lake_view import LakeView
from app.kit.links import LAKE_PATH, address
from app.kit.page import Page
from app.kit.settings import WATTLAS_VERSION
from data.errors import UnknownVersionError, WattlasError
from data.units import counted

_MOST_IGNORED: Final = 5
_LONGEST_NAME: Final = 40


def _lake_line() -> list:
    """Return the lake's name and version, and a warning if it holds synthetic runs.

    Dash also calls the layout once at start, outside a request; then there is no lake to name.
    """
    if not has_app_context():
        return []
    try:
        view = lake_view(None)
    except WattlasError as error:
        return [html.Span(str(error), className="lake-line", role="alert")]
    name = view.lake.path.name
    runs = f" · {counted(view.runs, 'run')}"
    parts = (f"{name} v{view.version}", runs) if view.runs else (f"{name}, empty", "")
    line = dcc.Link(
        [_where_wide("lake: "), parts[0], _where_wide(parts[1])],
        href=address(LAKE_PATH),
        id=ids.LAKE_LINE,
        className="lake-line",
        title="".join(parts),
    )
    if not view.is_synthetic:
        return [line]
    badge = [_where_wide("holds "), "synthetic", _where_wide(" data")]
    return [html.Strong(badge, className="badge"), line]


def _where_wide(words: str) -> html.Span:
    """Lay out words that narrow windows leave out."""
    return html.Span(words, className="where-wide")


def shell() -> dmc.MantineProvider:
    """Lay out the frame; `dash.page_container` holds the page's own content."""
    pages = [page for page in dash.page_registry.values() if page["name"] != "Not found"]
    # Scripts write the address of each page to its link, also where the tab is that of another.
    tab_of = {page["name"].lower(): page["tab"] for page in pages}
    tabs = [
        dcc.Link(
            page["name"],
            href=address(page["path"]),
            className="tab" if tab_of[name] == name else "tab part",
            id=f"tab-{name}",
        )
        for name, page in zip(tab_of, pages, strict=True)
    ]
    # Links to a page have the version of its URL state.
    versions = json.dumps({page["name"].lower(): page["state_version"] for page in pages})
    return dmc.MantineProvider(
        [
            dcc.Store(id=ids.THEME, data="light"),
            html.A("Skip to the views", href="#views", className="skip"),
            html.Header(
                [
                    html.Span("wattlas", className="brand"),
                    html.Nav(
                        tabs,
                        **{
                            "aria-label": "pages",
                            "data-versions": versions,
                            "data-tabs": json.dumps(tab_of),
                            "data-maker": f"wattlas {WATTLAS_VERSION}",
                        },
                    ),
                    html.Span(className="spring"),
                    *_lake_line(),
                    html.Button("?", id="help-button", title="keys (?)", className="plain"),
                    html.Button("dark", id="theme-button", title="switch theme", className="plain"),
                ],
                className="top",
            ),
            dash.page_container,
            html.Div(id="hover-card", className="hover-card", role="status"),
            html.Dialog(
                [
                    html.Button("close", className="plain closes"),
                    html.H2("How was this computed"),
                    html.Pre(id=ids.EXPLANATION),
                ],
                id="how",
            ),
        ],
        id="mantine",
        forceColorScheme="light",
        theme={"fontSizes": {"xs": "12px", "sm": "12px"}, "components": CONTROLS},
    )


def nothing_to_show(
    page: Page, view: LakeView, sentence: str, notice: str, pages: Sequence[Page]
) -> html.Main:
    """Lay out the sentence of `page.missing`, with links to the pages that can show the runs."""
    links = [
        dcc.Link(f"{one.title} shows these runs", href=address(one.path), className="plain")
        for one in pages
        if one is not page and one.missing and not one.missing(view, one.default_state(view))
    ]
    said = [html.P(without_marks(part)) for part in sentence.split(BREAK)]
    body = [html.H1(f"Nothing to show on {page.title}"), *said, html.P(links)]
    return _message(page.name, notice, body)


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
    body = [html.H1("This link cannot be followed"), html.P(links)]
    return _message(page.name, f"This link could not be followed: {error}.", body)


def not_drawn(page: Page, words: str) -> html.Main:
    """Lay out why a page cannot be drawn; if the lake cannot be read, the header says more."""
    link = html.A("Reload this page", href=address(page.path), className="plain")
    return _message(page.name, words, [html.H1(f"Nothing to show on {page.title}"), html.P(link)])


def no_page(pages: Sequence[Page]) -> html.Main:
    """Lay out that no page has the address, with links to all pages."""
    ways = [dcc.Link(one.title, href=address(one.path), className="plain") for one in pages]
    body = [html.H1("No page has this address"), html.P("These are the pages:"), html.P(ways)]
    return _message("no-page", "", body)


def _message(name: str, notice: str, body: list) -> html.Main:
    return html.Main(
        [
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            html.Div(body, className="nothing-to-show", id="views"),
        ],
        className=f"page {name}",
    )


def show_parts(main: html.Main, page: Page, pages: Sequence[Page]) -> None:
    """Put links to the other parts of the page's tab above its views, if there are any."""
    parts = [part for part in pages if part.tab == page.tab]
    if len(parts) < 2:
        return
    links = [
        html.Span(part.part_title or part.title, **{"aria-current": "page"})
        if part is page
        else dcc.Link(
            part.part_title or part.title, href=address(part.path), id=page.ids.link(part.name)
        )
        for part in parts
    ]
    named = {"aria-label": f"parts of {parts[0].title}"}
    main.children.insert(0, html.Nav(links, className="parts", **named))


def say_ignored(main: html.Main, names: Sequence[str]) -> None:
    """Write into the page's status line which names of its link were ignored."""
    if names:
        shown = [name[:_LONGEST_NAME] for name in names[:_MOST_IGNORED]]
        more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
        main[ids.IGNORED].children = f"ignored in the link: {', '.join([*shown, *more])}"
