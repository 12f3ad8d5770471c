"""The sidebar at the left of a page."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component


def filter_sidebar(
    blocks: Sequence[Component], title: str = "Filters", name: str = "filters"
) -> html.Aside:
    """Lay out a page's filters in the sidebar, with the button that folds it."""
    fold = html.Button(
        "\N{LEFTWARDS ARROW}",
        id="sidebar-button",
        className="plain",
        title="fold the sidebar",
        **{"aria-expanded": "true"},
    )
    words = html.Span(title, className="sidebar-title")
    head = html.Div([words, fold], className="sidebar-head")
    return html.Aside([head, *blocks], className="sidebar", id="sidebar", **{"aria-label": name})


def sidebar_block(title: str, *parts: Component, class_name: str = "facet") -> html.Div:
    """Lay out controls under a title."""
    head = html.Div(html.Span(title, className="facet-title"), className="facet-head")
    return html.Div([head, *parts], className=class_name)
