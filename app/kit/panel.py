"""The panel of a view: its controls, its menu, its figure."""

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

GRAPH_CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,
    "responsive": True,
    "displayModeBar": "hover",
    "scrollZoom": False,
    "doubleClick": "reset",
    "modeBarButtonsToRemove": ["toImage", "sendDataToCloud"],
}

# An empty figure; the style sheet shows a loading text behind it.
_NO_PICTURE = {
    "xaxis": {"visible": False},
    "yaxis": {"visible": False},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
}


def graph_panel(graph_id: str, name: str, controls: Sequence, class_name: str) -> html.Section:
    """Lay out a panel around one figure, with controls in its header."""
    empty = graph(graph_id, {"data": [], "layout": _NO_PICTURE})
    return panel(graph_id, name, [*controls, view_menu(graph_id)], [empty], class_name)


def graph(graph_id: str, figure: dict[str, Any]) -> dcc.Graph:
    """Lay out a figure that Dash draws."""
    return dcc.Graph(
        id=graph_id, config=GRAPH_CONFIG, className="graph", responsive=True, figure=figure
    )


def panel(
    view: str,
    name: str,
    head: Sequence[Component],
    body: Sequence[Component],
    class_name: str,
    is_stop: bool = True,
) -> html.Section:
    """Lay out a panel.

    Args:
        view: Id of its figure or table; empty for a panel without a menu.
        name: Name for screen readers.
        head: Components of its header; empty for a panel without one.
        is_stop: Whether the Tab key stops at the panel.
    """
    header = [html.Div(head, className="panel-head")] if head else []
    properties: dict[str, Any] = {"aria-label": name}
    properties |= {"data-view": view} if view else {}
    properties |= {"tabIndex": 0} if is_stop else {}
    return html.Section([*header, *body], className=f"panel {class_name}", **properties)


def view_menu(view: str, name: str = "this view") -> dmc.Menu:
    """Lay out a view's menu; `name` names the view for screen readers."""
    entries = (
        ("copy-link", "Copy link"),
        ("png", "Picture as PNG"),
        ("svg", "Picture as SVG"),
        ("csv", "Data as CSV"),
        ("parquet", "Data as Parquet"),
        ("explain", "How was this computed"),
    )
    items = [
        dmc.MenuItem(words, n_clicks=0, **{"data-action": action, "data-view-target": view})
        for action, words in entries
    ]
    button = dmc.ActionIcon(
        "\N{VERTICAL ELLIPSIS}", variant="subtle", size="sm", **{"aria-label": f"menu of {name}"}
    )
    return dmc.Menu([dmc.MenuTarget(button), dmc.MenuDropdown(items)], position="bottom-end")
