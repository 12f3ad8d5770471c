"""The layout of Explore: sidebar, scatter, heatmap, best settings, selection, status line."""

from dataclasses import replace
from typing import Final

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import dcc, html

from app.explore.heat import heat_of
from app.explore.opening_rule import NONE
from app.explore.presets import study_presets
from app.explore.question import AGREED_US, Question
from app.explore.state import ExploreState
from app.kit import ids
from app.kit.filters import filter_blocks, offered_choices
from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import PERFORMANCE, performance_column
from app.kit.page_layout import (
    Entries,
    entries,
    filter_sidebar,
    link_to,
    page_layout,
    pool_choices,
    pool_select,
    preset_block,
    segments,
    select,
    sidebar_block,
    state_stores,
    status_line,
)
from app.kit.panel import panel, view_menu, view_panel
from data.selection import Selection

IDS: Final = ids.PageIds("explore")
_STORES: Final = (
    IDS.figure("scatter"), IDS.figure("heatmap"), IDS("limit-domain"),
)  # fmt: skip


def explore_layout(view: LakeView, state: ExploreState, notice: str) -> html.Main:
    """Lay out Explore for a state; callbacks bring the figures."""
    title = "the winners under these filters, and the cells of the selection"
    return page_layout(
        IDS.page,
        state_stores(IDS.page, view, state, _STORES),
        notice,
        filter_sidebar(_sidebar(view, state)),
        [
            html.Div(id=IDS("findings"), className="findings", role="status"),
            _scatter_panel(view, state),
            _heatmap_panel(view, state),
            _best_panel(view, state),
            _selected_panel(),
        ],
        status_line(IDS, link_to(IDS, "modes", title)),
    )


def _sidebar(view: LakeView, state: ExploreState) -> list:
    blocks = filter_blocks(view, state.selection, offered_choices, IDS)
    titles = {"means": "Means", "runs": "Each run"}
    control = IDS.control("rep")
    replicates = segments(control, "replicates", state.replicates, titles, fullWidth=True)
    presets = preset_block(study_presets(view))
    odd = _switch("noodd", "without odd runs", state.without_odd)
    return [*presets, *blocks, sidebar_block("Replicates", replicates, odd)]


def _scatter_panel(view: LakeView, state: ExploreState) -> html.Section:
    columns = column_choices(view, state)
    controls = [
        _select("y", "y", columns, state.y),
        _switch("ylog", "log y", state.y_log),
        html.Span("against", className="quiet"),
        _select("x", "x", columns, state.x, 222),
        _switch("xlog", "log x", state.x_log),
        _switch("frontier", "frontier", state.frontier),
        _switch("band", "how sure", state.bands),
        html.Div(_role_selects(view, state), className="roles"),
    ]
    return view_panel("scatter", "energy against performance", controls, "panel-scatter")


def _role_selects(view: LakeView, state: ExploreState) -> list:
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
            _select(key, label, choices, value, 128),
        )
    ]


def _heatmap_panel(view: LakeView, state: ExploreState) -> html.Section:
    columns, systems = column_choices(view, state), system_choices(view, state)
    system = heat_of(Question.of(view, state)).system or state.heat_system
    knobs = knob_choices(view, state)
    axes = [
        html.Span("y", className="quiet"),
        _select("hy", "knob along y", knobs, state.heat_y),
        html.Span("x", className="quiet"),
        _select("hx", "knob along x", knobs, state.heat_x),
        pool_select(IDS.control("pool"), heat_pool_choices(view, state), state.pool),
    ]
    controls = [
        _select("hmet", "metric of the heatmap", columns, state.heat_metric),
        _select("hsys", "system of the heatmap", systems, system, placeholder="all systems"),
        html.Div(axes, className="roles"),
    ]
    return view_panel("heatmap", "heatmap of two knobs", controls, "panel-heatmap")


def _best_panel(view: LakeView, state: ExploreState) -> html.Section:
    unit = Question.of(view, state).limited.unit
    columns = column_choices(view, state)
    number = dmc.NumberInput(
        id=IDS.control("limit"), value="" if state.limit is None else state.limit,
        placeholder="none", suffix=f" {unit}", min=0, size="xs", w=76, hideControls=True,
        allowNegative=False, debounce=300, decimalScale=6, **{"aria-label": "latency limit"},
    )  # fmt: skip
    slider = dmc.Slider(
        id=IDS("limit-slider"), min=0, max=1000, value=1000, label=None, size="sm",
        updatemode="drag", thumbLabel="latency limit",
    )  # fmt: skip
    head = [
        html.H2("Best settings"),
        html.Span("of", className="quiet"),
        _select("cost", "cost", columns, state.cost, 132),
        html.Label("limit", htmlFor=IDS.control("limit"), className="quiet"),
        _select("by", "limited metric", columns, state.limited, 222),
        number,
        html.Div(slider, className="limit-slider"),
        html.Button(
            f"{AGREED_US:g} us",
            id=IDS("limit-agreed"),
            className="plain",
            hidden=True,
            title="the service-level agreement of the network study",
        ),
        html.Span(id="limit-words", className="limit-words", role="status"),
        view_menu("best-table"),
        html.Div(_proof_controls(view, state), className="roles"),
    ]
    table = html.Div(id="best-table", className="table-frame pending")
    name = "best settings under the limit"
    return panel("best-table", name, head, [table], "panel-best", is_stop=False)


def _proof_controls(view: LakeView, state: ExploreState) -> list:
    """Lay out what best settings are compared with, the error, and the margin."""
    number = {"size": "xs", "hideControls": True, "allowNegative": False, "debounce": 300}
    return [
        html.Span("against the default and", className="quiet"),
        _select("vs", "system to compare with", against_choices(view, state),
                state.against or None, 150, placeholder="no other system"),
        html.Label("level", htmlFor=IDS.control("alpha"), className="quiet"),
        dmc.NumberInput(id=IDS.control("alpha"), value=state.alpha, min=0.001, max=0.4, w=58,
                        **{"aria-label": "level of the intervals"},
                        **number),
        html.Label("margin", htmlFor=IDS.control("margin"), className="quiet"),
        dmc.NumberInput(id=IDS.control("margin"), value=state.margin_pct, min=0.1, max=40, w=58,
                        suffix=" %", **{"aria-label": "margin of equal settings"}, **number),
        pool_select(IDS.control("same"), merge_choices(view, state), state.merged,
                    "no effect of", "knobs without effect"),
    ]  # fmt: skip


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
    """Lay out the panel of selected points; the browser adds the table after the scatter."""
    head = [
        html.H2("Selected"),
        html.Span("loading", id="selected-words", className="quiet", role="status"),
        html.Button("timeline (t)", id="selected-timeline", className="plain", hidden=True),
        html.Button("clear (Esc)", id="clear-selection", className="plain", hidden=True),
    ]
    body = [
        dcc.Store(id=IDS("selected-grid"), data=_selected_grid().to_plotly_json()),
        html.Div(id=IDS("selected-frame"), className="grid"),
    ]
    return panel("", "selected points", head, body, "panel-selected", is_stop=False)


def column_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the workload's columns with values; its performance metric comes first."""
    workloads = state.selection.values("workload")
    columns = view.measured_columns(state.selection) if workloads else ("energy_j",)
    metric = view.catalogue.metric
    performance = metric(performance_column(view, state.selection)).title
    listed = {PERFORMANCE: f"{performance} (performance)"}
    listed |= {name: metric(name).title for name in columns}
    for name in (state.x, state.y, state.heat_metric, state.cost, state.limited):
        listed.setdefault(name, metric(name).title if name != PERFORMANCE else name)
    return entries(listed)


def system_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the systems that match the filters, by their labels."""
    left = view.left(state.selection).select("system", "system_label").unique().sort("system")
    return entries({system: label or system for system, label in left.iter_rows() if system})


def against_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the systems of the workloads, whatever the other filters, to compare with."""
    everyone = Selection(leading(state.selection).clauses)
    return system_choices(view, replace(state, selection=everyone))


def knob_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that vary in the lake, and those that are shown."""
    shown = (state.colour, state.size, state.symbol, state.heat_x, state.heat_y)
    varying = view.varying(state.selection if view.is_large else Selection())
    listed = {
        n: k.menu_title
        for n, k in view.catalogue.knobs.items()
        if n in shown or k.column in varying
    }
    return entries(listed)


def heat_pool_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the settings that the heatmap may pool."""
    shown = Question.of(view, state).heat_knobs
    left = view.left(state.selection)
    return pool_choices(left, shown, state.pool, catalogue=view.catalogue)


def merge_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that a reader may call without effect: those that settings differ in."""
    left = view.left(state.selection)
    return pool_choices(left, (), state.merged, catalogue=view.catalogue)


def role_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs that a colour or a symbol can show, and none."""
    return [{"value": NONE, "label": "none"}, *knob_choices(view, state)]


def size_choices(view: LakeView, state: ExploreState) -> Entries:
    """List the knobs of numbers, which a size can show, and none."""
    listed = role_choices(view, state)
    knobs = view.catalogue.knobs
    return [c for c in listed if c["value"] == NONE or knobs[c["value"]].facet.is_number]


def _select(
    key: str, label: str, data: Entries, value: str | None, width: int = 158, **more: str
) -> dmc.Select:
    return select(IDS.control(key), label, data, value, width, 230, searchable=True, **more)


def _switch(key: str, label: str, checked: bool) -> dmc.Switch:
    return dmc.Switch(id=IDS.control(key), label=label, checked=checked, size="xs")
