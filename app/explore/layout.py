"""The layout of Explore: sidebar, scatter, heatmap, best settings, selection, status line."""

from typing import Final

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import dcc, html

from app.explore.answer import heat_system, resolve
from app.explore.opening_rule import NONE
from app.explore.presets import study_presets
from app.explore.state import ExploreState
from app.kit import ids
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lakes import LakeView
from app.kit.links import address
from app.kit.opening import state_stores
from app.kit.panel import graph_panel, view_menu
from app.kit.performance import PERFORMANCE, performance_column
from app.kit.presets import preset_block
from app.kit.sidebar import filter_sidebar
from data.analysis.facets import matches
from data.knobs import KNOBS
from data.metrics import metric
from data.selection import Selection

IDS: Final = ids.PageIds("explore")
_STORES: Final = (
    IDS.figure("scatter"), IDS.figure("heatmap"), IDS("points"), IDS("limit-domain"),
)  # fmt: skip


def explore_layout(view: LakeView, state: ExploreState, notice: str) -> html.Main:
    """Lay out Explore for a state; callbacks bring the figures."""
    return html.Main(
        [
            *state_stores("explore", view, state, _STORES),
            html.Div(notice, id=ids.NOTICE, className="notice", role="alert"),
            filter_sidebar(_sidebar(view, state)),
            html.Div(
                [
                    _scatter_panel(view, state),
                    _heatmap_panel(view, state),
                    _best_panel(view, state),
                    _selected_panel(),
                ],
                className="views",
                id="views",
            ),
            _status(),
        ],
        className="page explore",
    )


def _sidebar(view: LakeView, state: ExploreState) -> list:
    blocks = filter_blocks(view, state.selection, offered_choices, IDS)
    replicates = html.Div(
        [
            html.Div(html.Span("Replicates", className="facet-title"), className="facet-head"),
            dmc.SegmentedControl(
                id=IDS.control("rep"),
                value=state.replicates,
                data=[{"value": "means", "label": "Means"}, {"value": "runs", "label": "Each run"}],
                size="xs",
                fullWidth=True,
            ),
        ],
        className="facet",
    )
    return [*preset_block(study_presets(view)), *blocks, replicates]


def _scatter_panel(view: LakeView, state: ExploreState) -> html.Section:
    columns = column_choices(view, state)
    controls = [
        _select(IDS.control("y"), "y", columns, state.y),
        _log_switch(IDS.control("ylog"), "log y", state.y_log),
        html.Span("against", className="quiet"),
        _select(IDS.control("x"), "x", columns, state.x, 212),
        _log_switch(IDS.control("xlog"), "log x", state.x_log),
        dmc.Switch(id=IDS.control("frontier"), label="frontier", checked=state.frontier, size="xs"),
        html.Div(_role_selects(view, state), className="roles"),
    ]
    return graph_panel("scatter", "energy against performance", controls, "panel-scatter")


def _role_selects(view: LakeView, state: ExploreState) -> list:
    """What colour, size and symbol of the points show."""
    listed, sizes = role_choices(view, state), size_choices(view, state)
    roles = (
        ("col", "colour", listed, state.colour),
        ("size", "size", sizes, state.size),
        ("sym", "symbol", listed, state.symbol),
    )
    return [
        part
        for key, label, choices, value in roles
        for part in (
            html.Span(label, className="quiet"),
            _select(IDS.control(key), label, choices, value, 128),
        )
    ]


def _heatmap_panel(view: LakeView, state: ExploreState) -> html.Section:
    controls = [
        _select(IDS.control("hmet"), "metric of the heatmap", column_choices(view, state),
                state.heat_metric),
        _select(IDS.control("hsys"), "system of the heatmap", system_choices(view, state),
                heat_system(view, state)),
        html.Div(
            [
                html.Span("y", className="quiet"),
                _select(IDS.control("hy"), "knob along y", knob_choices(view, state), state.heat_y),
                html.Span("x", className="quiet"),
                _select(IDS.control("hx"), "knob along x", knob_choices(view, state), state.heat_x),
            ],
            className="roles",
        ),
    ]  # fmt: skip
    return graph_panel("heatmap", "heatmap of two knobs", controls, "panel-heatmap")


def _best_panel(view: LakeView, state: ExploreState) -> html.Section:
    unit = metric(resolve(view, state)[0].limited).unit
    columns = column_choices(view, state)
    return html.Section(
        [
            html.Div(
                [
                    html.H2("Best settings"),
                    html.Span("of", className="quiet"),
                    _select(IDS.control("cost"), "cost", columns, state.cost, 140),
                    html.Label("limit", htmlFor=IDS.control("limit"), className="quiet"),
                    _select(IDS.control("by"), "limited metric", columns, state.limited, 204),
                    dmc.NumberInput(
                        id=IDS.control("limit"),
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
                            id=IDS("limit-slider"),
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
                    view_menu("best-table"),
                ],
                className="panel-head",
            ),
            html.Div(id="best-table", className="table-frame"),
        ],
        className="panel panel-best",
        **{"aria-label": "best settings under the limit", "data-view": "best-table"},
    )


def _selected_grid() -> dag.AgGrid:
    return dag.AgGrid(
        id=IDS("grid"),
        columnDefs=[],
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


def _selected_panel() -> html.Section:
    """The panel of selected points; the browser mounts its table after the scatter is drawn."""
    return html.Section(
        [
            html.Div(
                [
                    html.H2("Selected"),
                    html.Span("nothing yet: drag a box in a picture", id="selected-words",
                              className="quiet", role="status"),
                    html.Button("timeline (t)", id="selected-timeline", className="plain",
                                hidden=True),
                    html.Button("clear (Esc)", id="clear-selection", className="plain",
                                hidden=True),
                ],
                className="panel-head",
            ),
            dcc.Store(id=IDS("selected-grid"), data=_selected_grid().to_plotly_json()),
            html.Div(id=IDS("selected-frame"), className="grid"),
        ],
        className="panel panel-selected",
        **{"aria-label": "selected points"},
    )  # fmt: skip


def _status() -> html.Footer:
    return html.Footer(
        [
            html.Span(id=IDS.status),
            html.Span(id="status-selection"),
            html.Span(className="spring"),
            dcc.Link(
                "in Modes",
                href=address("/modes"),
                id=IDS.link("modes"),
                className="plain",
                title="who wins under these filters, and where what is selected stands",
            ),
            html.Button("copy link", className="plain", **{"data-action": "copy-link"}),
            html.A("export", id=IDS.link("export"), className="plain", download="wattlas.html"),
            html.A("data", id=IDS.link("data"), className="plain"),
        ],
        className="status",
    )


def column_choices(view: LakeView, state: ExploreState) -> list[dict[str, str]]:
    """List the workload's columns with values; its performance metric comes first."""
    workloads = state.selection.values("workload")
    columns = view.measured_columns(state.selection) if workloads else ("energy_j",)
    performance = metric(performance_column(view, state.selection)).title
    listed = {PERFORMANCE: f"{performance} (performance)"}
    listed |= {name: metric(name).title for name in columns}
    for name in (state.x, state.y, state.heat_metric, state.cost, state.limited):
        listed.setdefault(name, metric(name).title if name != PERFORMANCE else name)
    return [{"value": name, "label": title} for name, title in listed.items()]


def system_choices(view: LakeView, state: ExploreState) -> list[dict[str, str]]:
    """List the systems that the filters leave, by their labels."""
    left = (
        view.cube_of(state.selection)
        .filter(matches(state.selection))
        .select("system", "system_label")
    )
    rows = left.unique().sort("system").iter_rows()
    return [{"value": system, "label": label or system} for system, label in rows if system]


def knob_choices(view: LakeView, state: ExploreState) -> list[dict[str, str]]:
    """List the knobs that vary in the lake, and those that are shown."""
    shown = (state.colour, state.size, state.symbol, state.heat_x, state.heat_y)
    varying = view.varying(state.selection if view.is_large else Selection())
    return [
        {"value": name, "label": knob.menu_title}
        for name, knob in KNOBS.items()
        if name in shown or knob.column in varying
    ]


def role_choices(view: LakeView, state: ExploreState) -> list[dict[str, str]]:
    """List the knobs that a colour or a symbol can show, and none."""
    return [{"value": NONE, "label": "none"}, *knob_choices(view, state)]


def size_choices(view: LakeView, state: ExploreState) -> list[dict[str, str]]:
    """List the knobs of numbers, which a size can show, and none."""
    listed = role_choices(view, state)
    return [c for c in listed if c["value"] == NONE or KNOBS[c["value"]].facet.is_number]


def _select(
    component_id: str, label: str, data: list, value: str | None, width: int = 158
) -> dmc.Select:
    return dmc.Select(
        id=component_id,
        data=data,
        value=value,
        size="xs",
        searchable=True,
        allowDeselect=False,
        w=width,
        comboboxProps={"width": 230, "position": "bottom-start"},
        **{"aria-label": label},
    )


def _log_switch(component_id: str, label: str, checked: bool) -> dmc.Switch:
    return dmc.Switch(id=component_id, label=label, checked=checked, size="xs")
