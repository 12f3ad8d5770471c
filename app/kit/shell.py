"""The frame around all pages: header, page, dialog of explanations."""

import json

import dash
import dash_mantine_components as dmc
from dash import dcc, html
from flask import has_app_context

from app.kit import ids
from app.kit.context import lake_view
from app.kit.links import address
from data.errors import WattlasError


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
    words = (
        f"lake: {name} v{view.version} · {view.runs:,} runs"
        if view.runs
        else f"lake: {name}, empty"
    )
    line = html.Span(words, id=ids.LAKE_LINE, className="lake-line")
    if not view.is_synthetic:
        return [line]
    return [html.Strong("holds synthetic data", className="badge"), line]


def shell() -> dmc.MantineProvider:
    """Lay out the frame; `dash.page_container` holds the page's own content."""
    pages = [page for page in dash.page_registry.values() if page["name"] != "Not found"]
    tabs = [
        dcc.Link(
            page["name"],
            href=address(page["path"]),
            className="tab",
            id=f"tab-{page['name'].lower()}",
        )
        for page in pages
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
                    html.Nav(tabs, **{"aria-label": "pages", "data-versions": versions}),
                    html.Span(className="spring"),
                    *_lake_line(),
                    html.Button("?", id="help-button", title="keys (?)", className="plain"),
                    html.Button("dark", id="theme-button", title="switch theme", className="plain"),
                ],
                className="top",
            ),
            dash.page_container,
            html.Div(id="hover-card", className="hover-card", role="status"),
            html.Dialog([html.H2("How was this computed"), html.Pre(id=ids.EXPLANATION)], id="how"),
        ],
        id="mantine",
        forceColorScheme="light",
        theme={"fontSizes": {"xs": "11px", "sm": "12px"}, "primaryColor": "blue"},
    )
