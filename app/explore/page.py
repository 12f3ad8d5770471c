"""Explore, the front page: where energy and latency trade off, and which settings win."""

from typing import Any, Final

import dash
from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    html,
    no_update,
)
from flask import Flask

from app.explore.answer import (
    best_table,
    choose_workload,
    default_state,
    heat_system,
    heatmap,
    limit_domain,
    scatter,
    status_words,
)
from app.explore.layout import column_choices, explore_layout, system_choices
from app.explore.routes import add_routes
from app.explore.state import ViewState
from app.explore.tables import best_settings_table, limit_words
from app.kit import ids
from app.kit.context import lake_view
from app.kit.filters import chip_value, facet_chips, facet_note, is_idle
from app.kit.opening import open_page, or_a_sentence
from app.kit.performance import performance_column
from app.modes.links import way_to_modes
from data.analysis.facets import all_choices

PATH = "/"
TITLE = "Explore"
KEYS = (
    ("Escape", "clear the selection"),
    ("arrow keys", "in a view that has the focus: move from point to point, cell to cell"),
    ("Enter", "select the point, cell or table row under the cursor"),
    ("t", "timeline of what is selected, or of the point under the cursor"),
    ("drag", "select a box; the tool bar has lasso and zoom"),
)
# Filters that another workload may leave without a run.
_TURNED: Final = tuple(name for name in ids.FACET_NAMES if name not in ("dataset", "workload"))


def register(server: Flask) -> None:
    """Make the page known to Dash, and its downloads to the server; called once the app exists."""
    dash.register_page(
        __name__, path=PATH, order=0, name=TITLE, title="wattlas · Explore", layout=layout
    )
    add_routes(server)


@or_a_sentence
def layout(**parts: str | list[str]) -> html.Main:
    """Lay the page out for the URL's query; a bad one is named, and the default view shown."""
    view, state, notice = open_page(parts, ViewState.from_query)
    return explore_layout(view, state or default_state(view), notice)


@callback(
    Output(ids.SCATTER_FIGURE, "data"),
    Output(ids.POINTS, "data"),
    Input(ids.VIEW, "data"),
    State(ids.LAKE_VERSION, "data"),
)
def update_scatter(raw_state: dict[str, Any], version: int) -> tuple[dict, dict | None]:
    """New filters or axes: the scatter and the columns that the browser links by."""
    answer = scatter(lake_view(version), ViewState.from_json(raw_state))
    return answer.figure, answer.points


@callback(
    Output(ids.HEATMAP_FIGURE, "data"),
    Input(ids.VIEW, "data"),
    Input(ids.HEAT_SYSTEM, "value"),
    Input(ids.HEAT_METRIC, "value"),
    State(ids.LAKE_VERSION, "data"),
)
def update_heatmap(raw_state: dict[str, Any], system: str, column: str, version: int) -> dict:
    """New filters, system or metric: the heatmap."""
    state = ViewState.from_json({**raw_state, "hsys": system, "hmet": column})
    return heatmap(lake_view(version), state)


@callback(
    Output(ids.BEST, "children"),
    Output("limit-words", "children"),
    Input(ids.VIEW, "data"),
    Input(ids.LIMIT_BOX, "value"),
    State(ids.LAKE_VERSION, "data"),
)
def update_best(raw_state: dict[str, Any], limit: float | str, version: int) -> tuple:
    """New filters or a new limit: the table of best settings and what meets the limit."""
    state = ViewState.from_json({**raw_state, "limit": limit})
    view = lake_view(version)
    performance = performance_column(view, state.selection)
    rows = best_table(view, state)
    table = best_settings_table(rows, performance, state.limit)
    return table, limit_words(rows, performance, state.limit)


@callback(
    Output(ids.QUERY, "data"),
    Output(ids.STATUS, "children"),
    Output(ids.LIMIT_DOMAIN, "data"),
    Input(ids.VIEW, "data"),
    Input(ids.HEAT_SYSTEM, "value"),
    Input(ids.HEAT_METRIC, "value"),
    Input(ids.LIMIT_BOX, "value"),
    State(ids.LAKE_VERSION, "data"),
)
def describe_view(
    raw_state: dict[str, Any], system: str, column: str, limit: float | str, version: int
) -> tuple:
    """Any change: the URL's query, the status line, the range of the limit."""
    raw = {**raw_state, "hsys": system, "hmet": column, "limit": limit}
    state, view = ViewState.from_json(raw), lake_view(version)
    return state.to_query(), status_words(view, state), limit_domain(view, state)


@callback(
    Output(ids.MODES_WAY, "data"),
    Input(ids.MODES_ASKED, "data"),
    State(ids.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def lead_to_modes(query: str, version: int) -> dict[str, str]:
    """The pictures of new filters are drawn: what Modes would ask under them."""
    way = way_to_modes(lake_view(version), ViewState.from_query(query).selection)
    return {"asked": query, "way": way}


@callback(
    *[Output(ids.facet(name), "children") for name in ids.FACET_NAMES],
    *[Output(ids.facet_count(name), "children") for name in ids.FACET_NAMES],
    *[Output(ids.facet_frame(name), "hidden") for name in ids.FACET_NAMES],
    Output(ids.X_AXIS, "data"),
    Output(ids.Y_AXIS, "data"),
    Output(ids.HEAT_METRIC, "data"),
    Output(ids.HEAT_SYSTEM, "data"),
    Output(ids.HEAT_SYSTEM_LEFT, "data"),
    Input(ids.CHANGED, "data"),
    State(ids.HEAT_SYSTEM, "value"),
    State(ids.HEAT_METRIC, "value"),
    State(ids.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def update_filters(raw_state: dict[str, Any], system: str, column: str, version: int) -> tuple:
    """New filters: what each other filter still offers, and how many runs."""
    state = ViewState.from_json({**raw_state, "hsys": system, "hmet": column})
    view = lake_view(version)
    shown_system = heat_system(view, state)
    offered = all_choices(view.cube, state.selection)
    return (
        *[facet_chips(n, c) for n, c in offered.items()],
        *[facet_note(n, c, state.selection.values(n)) for n, c in offered.items()],
        *[is_idle(n, c) for n, c in offered.items()],
        *[column_choices(view, state)] * 3,
        system_choices(view, state),
        no_update if shown_system == system else shown_system,
    )


@callback(
    *[Output(ids.facet(name), "value") for name in _TURNED],
    Input(ids.facet("workload"), "value"),
    Input(ids.facet("dataset"), "value"),
    State(ids.VIEW, "data"),
    State(ids.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def turn_workload(
    workload: str | None, datasets: list[str], raw_state: dict[str, Any] | None, version: int
) -> tuple:
    """Another workload or dataset: keep the filters that still leave something of it."""
    before = ViewState.from_json(raw_state or {}).selection
    if before.values("workload") == (workload,) and set(before.values("dataset")) == set(datasets):
        return (no_update,) * len(_TURNED)
    chosen = before.with_values("dataset", datasets)
    selection = choose_workload(lake_view(version), chosen, workload)
    return tuple([chip_value(v) for v in selection.values(name)] for name in _TURNED)


# What the browser does alone: gather the controls, dress and link the pictures, write the URL.
clientside_callback(
    ClientsideFunction("wattlas", "gatherState"),
    Output(ids.VIEW, "data"),
    Output(ids.CHANGED, "data"),
    *[Input(ids.facet(name), "value") for name in ids.FACET_NAMES],
    Input(ids.REPLICATES, "value"),
    Input(ids.X_AXIS, "value"),
    Input(ids.Y_AXIS, "value"),
    Input(ids.X_LOG, "checked"),
    Input(ids.Y_LOG, "checked"),
    Input(ids.FRONTIER, "checked"),
    State(ids.PINNED, "data"),
)
clientside_callback(
    ClientsideFunction("wattlas", "dressScatter"),
    Output(ids.SCATTER, "figure"),
    Input(ids.SCATTER_FIGURE, "data"),
    Input(ids.THEME, "data"),
    State(ids.POINTS, "data"),
    State(ids.PINNED, "data"),
)
clientside_callback(
    ClientsideFunction("wattlas", "dressHeatmap"),
    Output(ids.HEATMAP, "figure"),
    Input(ids.HEATMAP_FIGURE, "data"),
    Input(ids.THEME, "data"),
)
clientside_callback(
    ClientsideFunction("wattlas", "mountGrid"),
    Output(ids.PICKED_FRAME, "children"),
    Input(ids.PICKED_GRID, "data"),
)
clientside_callback(
    ClientsideFunction("wattlas", "turnHeatmap"),
    Input(ids.HEAT_SYSTEM_LEFT, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("wattlas", "dressBest"),
    Input(ids.BEST, "children"),
)
clientside_callback(
    ClientsideFunction("wattlas", "slideLimit"),
    Input(ids.LIMIT_SLIDER, "value"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("wattlas", "setLimit"),
    Input(ids.LIMIT_BOX, "value"),
    Input(ids.LIMIT_DOMAIN, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasWay", "take"),
    Input(ids.MODES_WAY, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("wattlas", "writeUrl"),
    Output("export-link", "href"),
    Output("data-link", "href"),
    Input(ids.QUERY, "data"),
)
