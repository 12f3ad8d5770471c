"""The rail of filters at the left of a page."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component


def filter_rail(blocks: Sequence[Component]) -> html.Aside:
    """The rail around a page's filters, with the button that folds it."""
    head = html.Div(
        [
            html.Span("Filters", className="rail-title"),
            html.Button("\N{LEFTWARDS ARROW}", id="rail-button", className="plain",
                        title="fold the filters", **{"aria-expanded": "true"}),
        ],
        className="rail-head",
    )  # fmt: skip
    return html.Aside([head, *blocks], className="rail", id="rail", **{"aria-label": "filters"})
