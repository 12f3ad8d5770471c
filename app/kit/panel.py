"""The panel of a view: its controls, its menu, its figure."""

from collections.abc import Sequence
from typing import Any, Final

from dash import html
from dash.development.base_component import Component

# Tools of a picture (`assets/_kit/tools.js`).
ZOOM_TOOLS: Final = ("zoom", "pan", "in", "out", "fit", "reset")
ALL_TOOLS: Final = ("zoom", "pan", "select", "lasso", "in", "out", "fit", "reset")
_TOOL_PX: Final = 24


def view_panel(
    view: str,
    name: str,
    controls: Sequence,
    class_name: str,
    tools: Sequence[str] = ALL_TOOLS,
    has_menu: bool = True,
) -> html.Section:
    """Lay out a panel around a picture that `assets/_kit/view.js` draws.

    Args:
        has_menu: False in an exported page, which has no server to ask.
    """
    body = [html.Div(id=view, className="graph"), legend_of(view)]
    bar = [tool_bar(view, tools)] if tools else []
    menu = [view_menu(view)] if has_menu else []
    return panel(view, name, [*controls, *bar, *menu], body, class_name)


def tool_bar(graph_id: str, tools: Sequence[str]) -> html.Div:
    """Lay out the tool bar of a figure, which the browser fills when the figure is drawn."""
    data = {"data-tools-of": graph_id, "data-tools": " ".join(tools), "aria-label": "tools"}
    # One more presents the picture.
    style = {"minWidth": f"{_TOOL_PX * (len(tools) + 1)}px"}
    return html.Div(className="tools", role="toolbar", style=style, **data)


def legend_of(graph_id: str) -> html.Div:
    """Lay out the legend of a figure, which the browser fills."""
    data = {"data-legend-of": graph_id, "aria-label": "legend"}
    return html.Div(className="legend", role="group", **data)


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


def view_menu(view: str, name: str = "this view", has_rows: bool = True) -> html.Button:
    """Lay out the button of a view's menu, which `assets/_kit/page_menu.js` opens.

    Args:
        name: Name of the view for screen readers.
        has_rows: Whether the server has the rows behind it, and says how they were computed.
    """
    properties = {"data-menu-of": view, "aria-haspopup": "menu", "aria-expanded": "false"}
    properties |= {} if has_rows else {"data-has-rows": "no"}
    label = f"menu of {name}"
    return html.Button(
        "\N{VERTICAL ELLIPSIS}", className="tool", **{"aria-label": label, **properties}
    )
