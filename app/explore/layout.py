"""The layout of Explore: rail, scatter, heatmap, best settings, what is selected, status line."""

from typing import Any

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import dcc, html

from app.explore.answer import heat_system
from app.explore.state import ViewState
from app.kit import ids
from app.kit.filters import filter_block
from app.kit.lakes import LakeView
from app.kit.panel import graph_panel, view_menu
from app.kit.performance import PERFORMANCE, performance_column
from app.kit.sidebar import filter_rail
from data.analysis.facets import all_choices, matches
from data.metrics import metric


def explore_layout(view: LakeView, state: ViewState, notice: str) -> html.Main:
    """Lay Explore out for a state; pictures come by callback."""
    return html.Main(
        [
            *_stores(view, state),
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            filter_rail(_rail(view, state)),
            html.Div(
                [
                    _scatter_panel(view, state),
                    _heatmap_panel(view, state),
                    _best_panel(view, state),
                    _picked_panel(),
                ],
                className="views",
                id="views",
            ),
            _status(),
        ],
        className="page explore",
    )


def _stores(view: LakeView, state: ViewState) -> list:
    return [
        dcc.Store(id=ids.LAKE_VERSION, data=view.version),
        dcc.Store(id=ids.PINNED, data={"brush": state.brush, "zoom": state.zoom,
                                       "lake": state.lake_version, "shown": view.version}),
        dcc.Store(id=ids.VIEW),
        dcc.Store(id=ids.CHANGED),
        dcc.Store(id=ids.HEAT_SYSTEM_LEFT),
        dcc.Store(id=ids.QUERY),
        dcc.Store(id=ids.POINTS),
        dcc.Store(id=ids.SCATTER_FIGURE),
        dcc.Store(id=ids.HEATMAP_FIGURE),
        dcc.Store(id=ids.LIMIT_DOMAIN),
        dcc.Store(id=ids.MODES_ASKED),
        dcc.Store(id=ids.MODES_WAY),
    ]  # fmt: skip


def _rail(view: LakeView, state: ViewState) -> list:
    blocks = [
        filter_block(name, choices, state.selection.values(name))
        for name, choices in all_choices(view.cube, state.selection).items()
    ]
    replicates = html.Div(
        [
            html.Div(html.Span("Replicates", className="facet-title"), className="facet-head"),
            dmc.SegmentedControl(
                id=ids.REPLICATES,
                value=state.replicates,
                data=[
                    {"value": "means", "label": "Means"},
                    {"value": "runs", "label": "Each run"},
                ],
                size="xs",
                fullWidth=True,
            ),
        ],
        className="facet",
    )
    return [*blocks, replicates]


def _scatter_panel(view: LakeView, state: ViewState) -> html.Section:
    columns = column_choices(view, state)
    controls = [
        _select(ids.Y_AXIS, "y", columns, state.y),
        _log_switch(ids.Y_LOG, "log y", state.y_log),
        html.Span("against", className="quiet"),
        _select(ids.X_AXIS, "x", columns, state.x),
        _log_switch(ids.X_LOG, "log x", state.x_log),
        dmc.Switch(id=ids.FRONTIER, label="frontier", checked=state.frontier, size="xs"),
    ]
    return graph_panel(ids.SCATTER, "energy against performance", controls, "panel-scatter")


def _heatmap_panel(view: LakeView, state: ViewState) -> html.Section:
    controls = [
        _select(ids.HEAT_METRIC, "metric of the heatmap", column_choices(view, state),
                state.heat_metric),
        _select(ids.HEAT_SYSTEM, "system of the heatmap", system_choices(view, state),
                heat_system(view, state)),
    ]  # fmt: skip
    return graph_panel(ids.HEATMAP, "DVFS by ITR heatmap", controls, "panel-heatmap")


def _best_panel(view: LakeView, state: ViewState) -> html.Section:
    unit = metric(performance_column(view, state.selection)).unit
    return html.Section(
        [
            html.Div(
                [
                    html.H2("Best settings"),
                    html.Label("limit", htmlFor=ids.LIMIT_BOX, className="quiet"),
                    dmc.NumberInput(
                        id=ids.LIMIT_BOX,
                        value="" if state.limit is None else state.limit,
                        placeholder="none",
                        suffix=f" {unit}",
                        min=0,
                        size="xs",
                        w=110,
                        hideControls=True,
                        allowNegative=False,
                        debounce=300,
                        decimalScale=6,
                        **{"aria-label": "latency limit"},
                    ),
                    html.Div(
                        dmc.Slider(
                            id=ids.LIMIT_SLIDER,
                            min=0,
                            max=1000,
                            value=1000,
                            label=None,
                            size="sm",
                            updatemode="drag",
                            thumbLabel="latency limit",
                        ),
                        className="limit-slider",
                    ),
                    html.Span(id="limit-words", className="limit-words", role="status"),
                    view_menu(ids.BEST),
                ],
                className="panel-head",
            ),
            html.Div(id=ids.BEST, className="table-frame"),
        ],
        className="panel panel-best",
        **{"aria-label": "best settings under the limit", "data-view": ids.BEST},
    )


def _picked_grid() -> dag.AgGrid:
    number = {"type": "rightAligned", "width": 84}
    columns: list[dict[str, Any]] = [
        {"field": "system", "headerName": "System", "width": 100},
        {"field": "itr", "headerName": "ITR, us", **number, "width": 70},
        {"field": "dvfs", "headerName": "GHz", **number, "width": 62},
        {"field": "rapl", "headerName": "W", **number, "width": 46},
        {"field": "n", "headerName": "n", **number, "width": 40},
        {"field": "y", "headerName": "y", **number},
        {"field": "x", "headerName": "x", **number},
        {"field": "load", "headerName": "Load", "width": 84},
    ]
    return dag.AgGrid(
        id=ids.PICKED,
        columnDefs=columns,
        rowData=[],
        columnSize=None,
        defaultColDef={"sortable": True, "resizable": True},
        dashGridOptions={
            "rowHeight": 24,
            "headerHeight": 26,
            "suppressNoRowsOverlay": True,
            "theme": {"function": "themeBalham"},
            "enableCellTextSelection": True,
        },
        className="grid",
        style={"height": "100%"},
    )


def _picked_panel() -> html.Section:
    """The panel of what is selected; the browser mounts the table when the scatter is painted."""
    return html.Section(
        [
            html.Div(
                [
                    html.H2("Selected"),
                    html.Span("nothing yet: drag a box in a picture", id="picked-words",
                              className="quiet", role="status"),
                    html.Button("timeline (t)", id="picked-timeline", className="plain",
                                hidden=True),
                    html.Button("clear (Esc)", id="clear-selection", className="plain",
                                hidden=True),
                ],
                className="panel-head",
            ),
            dcc.Store(id=ids.PICKED_GRID, data=_picked_grid().to_plotly_json()),
            html.Div(id=ids.PICKED_FRAME, className="grid"),
        ],
        className="panel panel-picked",
        **{"aria-label": "selected points"},
    )  # fmt: skip


def _status() -> html.Footer:
    return html.Footer(
        [
            html.Span(id=ids.STATUS),
            html.Span(id="status-selection"),
            html.Span(className="spring"),
            dcc.Link(
                "in Modes",
                href="/modes",
                id="explore-to-modes",
                className="plain",
                title="who wins under these filters, and where what is selected stands",
            ),
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            html.A("export", id="export-link", className="plain", download="wattlas.html"),
            html.A("data", id="data-link", className="plain"),
        ],
        className="status",
    )


def column_choices(view: LakeView, state: ViewState) -> list[dict[str, str]]:
    """Columns that the workload has values of; its performance metric stands first by that name."""
    workloads = [str(w) for w in state.selection.values("workload")]
    columns = view.measured_columns(workloads[0]) if workloads else ("energy_j",)
    performance = metric(performance_column(view, state.selection)).title
    listed = {PERFORMANCE: f"{performance} (performance)"}
    listed |= {name: metric(name).title for name in columns}
    for name in (state.x, state.y, state.heat_metric):
        listed.setdefault(name, metric(name).title if name != PERFORMANCE else name)
    return [{"value": name, "label": title} for name, title in listed.items()]


def system_choices(view: LakeView, state: ViewState) -> list[dict[str, str]]:
    """The systems that the filters leave, by their labels."""
    left = view.cube.filter(matches(state.selection)).select("system", "system_label")
    rows = left.unique().sort("system").iter_rows()
    return [{"value": system, "label": label or system} for system, label in rows if system]


def _select(component_id: str, label: str, data: list, value: str | None) -> dmc.Select:
    return dmc.Select(
        id=component_id,
        data=data,
        value=value,
        size="xs",
        searchable=True,
        allowDeselect=False,
        w=158,
        comboboxProps={"width": 230, "position": "bottom-start"},
        **{"aria-label": label},
    )


def _log_switch(component_id: str, label: str, checked: bool) -> dmc.Switch:
    return dmc.Switch(id=component_id, label=label, checked=checked, size="xs")
