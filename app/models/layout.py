"""The layout of Models and of its export; the browser fills bar, controls and views."""

from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from app.kit.filters import filter_blocks, offered_choices
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.page import View
from app.kit.page_layout import (
    ZOOM_TOOLS,
    filter_sidebar,
    link_to,
    page_layout,
    panel,
    state_stores,
    status_line,
    tool_bar,
    view_menu,
)
from app.models.curves import spec
from app.models.state import NAME, TABS, VIEWS, ModelsState

IDS = PageIds(NAME)
SPEC, DRAWN = IDS("spec"), IDS("drawn")
# Of the Tab key (`assets/_kit/tools.js`).
_ONE_STOP: Final = {"data-one-stop": "1"}


def models_layout(view: LakeView, state: ModelsState, notice: str) -> html.Main:
    """Lay Models out for a state; the browser draws it."""
    blocks = filter_blocks(view, state.selection, offered_choices, IDS)
    runs = html.Div(
        [html.Div("Measured runs", className="sidebar-title models-heading"), *blocks],
        className="models-filters",
    )
    stores = state_stores(NAME, view, state, (DRAWN,))
    return page_layout(
        NAME,
        [*stores, dcc.Store(id=SPEC, data={**spec(), "lakeIsEmpty": not view.runs})],
        notice,
        filter_sidebar([html.Div(id=IDS("controls"), className="facet models-controls"), runs]),
        models_views(has_menus=True),
        status_line(IDS, link_to(IDS, "explore"), components=status_words()),
    )


def status_words() -> list[Component]:
    """Lay out the texts on the shown runs and on the simulation."""
    return [
        html.Span(id=IDS.status, role="status"),
        html.Span(id="status-selection", role="status"),
    ]


def models_views(has_menus: bool) -> list[Component]:
    """Lay out the bar, the legend, and the views of each tab.

    Args:
        has_menus: Whether views have menus, which need a server.
    """
    return [
        html.Div(id=IDS("bar"), className="models-bar"),
        html.Div(id=IDS("questions"), className="models-questions small", **_ONE_STOP),
        html.Div(
            id=IDS("legend"),
            className="models-legend small",
            role="group",
            **{"aria-label": "legend", **_ONE_STOP},
        ),
        *[
            html.Div(
                [_panel(view, has_menus) for view in VIEWS[tab]],
                className=f"models-tab models-{tab}",
                role="tabpanel",
                hidden=True,
                **{"data-tab-panel": tab, "aria-label": title},
            )
            for tab, title in TABS.items()
        ],
    ]


def _panel(view: View, has_menus: bool) -> html.Section:
    graph = IDS(view.name)
    tools = [tool_bar(graph, ZOOM_TOOLS)] if view.is_picture else []
    head = [*tools, *([view_menu(graph, view.title)] if has_menus else [])]
    body = html.Div(id=graph, className="graph" if view.is_picture else "table-frame")
    return panel(graph, view.title, head, [body], f"models-panel models-panel-{view.name}")
