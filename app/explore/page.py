"""Explore, the front page: energy against performance, and the best settings."""

from typing import Any

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

from app.explore.answer import (
    asked_of,
    best_notes,
    best_table,
    explain,
    heatmap,
    limit_domain,
    rows_behind,
    scatter,
    status_words,
)
from app.explore.defaults import default_state, missing, turned
from app.explore.export import export
from app.explore.layout import (
    IDS,
    against_choices,
    column_choices,
    explore_layout,
    heat_pool_choices,
    knob_choices,
    merge_choices,
    role_choices,
    size_choices,
    system_choices,
)
from app.explore.layout_best import best_settings_table, sentences
from app.explore.state import ExploreState
from app.kit.callbacks import register_filters, register_gather, register_workload
from app.kit.columns import encode_view
from app.kit.context import lake_view
from app.kit.filters import offered_choices
from app.kit.page import Page, View

PAGE = Page(
    name="explore",
    title="Explore",
    path="/",
    state=ExploreState,
    default_state=default_state,
    layout=explore_layout,
    views=(
        View("scatter", "Energy against performance"),
        View("heatmap", "Heatmap over two knobs"),
        View("best-table", "Best settings", is_picture=False),
        View("runs", "Runs that the filters leave", is_picture=False),
    ),
    rows=rows_behind,
    explain=explain,
    export=export,
    missing=missing,
    keys=(
        ("Escape", "clear the selection"),
        ("arrow keys", "in a view that has the focus: move from point to point, cell to cell"),
        ("Enter", "select the point, cell or table row under the cursor"),
        ("t", "timeline of the selection, or of the point under the cursor"),
        ("drag", "select a box; the tool bar has lasso and zoom"),
    ),
    examples={"explore": "v=2&workload=memcached&load=400000&limit=200&xlog=1"},
    old_paths={
        "/export.html": "/explore/export.html",
        "/data/<view>.csv": "/explore/data/<view>.csv",
        "/data/<view>.parquet": "/explore/data/<view>.parquet",
        "/how/explore/<view>": "/explore/how/<view>",
    },
)


@callback(
    Output(IDS.figure("scatter"), "data"),
    Input(IDS.view_state, "data"),
    Input(IDS.control("limit"), "value"),
    Input(IDS.control("by"), "value"),
    Input(IDS.control("cost"), "value"),
    Input(IDS.control("alpha"), "value"),
    Input(IDS.control("same"), "value"),
    Input(IDS.control("band"), "checked"),
    State(IDS.lake_version, "data"),
)
def update_scatter(raw_state: dict[str, Any], *controls: Any) -> dict[str, Any]:
    """Draw the scatter with the marks within the limit, the best sets, and how sure it is."""
    *values, version = controls
    view = lake_view(version)
    asked = dict(zip(("limit", "by", "cost", "alpha", "same", "band"), values, strict=True))
    state = ExploreState.from_json({**raw_state, **asked}, view.catalogue)
    return encode_view(scatter(view, state))


@callback(
    Output(IDS.figure("heatmap"), "data"),
    Output(IDS.control("hsys"), "value"),
    Input(IDS.view_state, "data"),
    Input(IDS.control("hsys"), "value"),
    Input(IDS.control("hmet"), "value"),
    Input(IDS.control("hx"), "value"),
    Input(IDS.control("hy"), "value"),
    Input(IDS.control("pool"), "value"),
    State(IDS.lake_version, "data"),
)
def update_heatmap(
    raw_state: dict[str, Any],
    system: str,
    column: str,
    x: str,
    y: str,
    pool: list[str],
    version: int,
) -> tuple:
    """Draw the heatmap; of another system if the filters exclude the chosen one."""
    view = lake_view(version)
    asked = {"hsys": system, "hmet": column, "hx": x, "hy": y, "pool": pool}
    state = ExploreState.from_json({**raw_state, **asked}, view.catalogue)
    picture = heatmap(view, state)
    shown = picture["figure"]["layout"]["meta"].get("system")
    return encode_view(picture), no_update if shown in (None, system) else shown


@callback(
    Output("best-table", "children"),
    Output("limit-words", "children"),
    Output(IDS("findings"), "children"),
    Input(IDS.view_state, "data"),
    Input(IDS.control("limit"), "value"),
    Input(IDS.control("cost"), "value"),
    Input(IDS.control("by"), "value"),
    Input(IDS.control("vs"), "value"),
    Input(IDS.control("alpha"), "value"),
    Input(IDS.control("margin"), "value"),
    Input(IDS.control("same"), "value"),
    State(IDS.lake_version, "data"),
)
def update_best(raw_state: dict[str, Any], *controls: Any) -> tuple:
    """List the best settings, and write what the runs prove of them."""
    *values, version = controls
    view = lake_view(version)
    keys = ("limit", "cost", "by", "vs", "alpha", "margin", "same")
    asked = dict(zip(keys, values, strict=True))
    state = ExploreState.from_json({**raw_state, **asked}, view.catalogue)
    rows, question = best_table(view, state), asked_of(view, state)
    table = best_settings_table(rows, question)
    return table, best_notes(view, state), list(map(html.P, sentences(rows, question)))


@callback(
    Output(IDS.status, "children"),
    Output(IDS("limit-domain"), "data"),
    Input(IDS.view_state, "data"),
    Input(IDS.control("by"), "value"),
    State(IDS.lake_version, "data"),
)
def describe_view(raw_state: dict[str, Any], limited: str, version: int) -> tuple:
    """Write the status line, and return the range of the limit."""
    view = lake_view(version)
    state = ExploreState.from_json({**raw_state, "by": limited}, view.catalogue)
    return status_words(view, state), limit_domain(view, state)


register_gather(
    IDS,
    {
        "rep": "value", "x": "value", "y": "value", "xlog": "checked", "ylog": "checked",
        "frontier": "checked", "band": "checked", "noodd": "checked",
        "col": "value", "size": "value", "sym": "value",
        "hx": "value", "hy": "value", "hsys": "value", "hmet": "value", "pool": "value",
        "limit": "value", "cost": "value", "by": "value", "vs": "value", "alpha": "value",
        "margin": "value", "same": "value",
    },
)  # fmt: skip
update_filters = register_filters(
    IDS,
    ExploreState,
    offered_choices,
    {
        "x": column_choices, "y": column_choices, "hmet": column_choices, "hsys": system_choices,
        "cost": column_choices, "by": column_choices, "vs": against_choices,
        "col": role_choices, "size": size_choices,
        "sym": role_choices, "hx": knob_choices, "hy": knob_choices, "pool": heat_pool_choices,
        "same": merge_choices,
    },
)  # fmt: skip
turn_workload = register_workload(
    IDS, ExploreState, turned, ("x", "y", "col", "size", "sym", "hx", "hy")
)

# The browser draws the pictures in its theme, and links them.
clientside_callback(
    ClientsideFunction("explore", "showScatter"),
    Input(IDS.figure("scatter"), "data"),
)
clientside_callback(
    ClientsideFunction("explore", "showHeatmap"),
    Input(IDS.figure("heatmap"), "data"),
)
clientside_callback(
    ClientsideFunction("explore", "keepGrid"),
    Output(IDS("selected-frame"), "children"),
    Input(IDS("selected-grid"), "data"),
)
clientside_callback(ClientsideFunction("explore", "showBest"), Input("best-table", "children"))
clientside_callback(
    ClientsideFunction("explore", "slideLimit"),
    Input(IDS("limit-slider"), "value"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("explore", "setLimit"),
    Input(IDS.control("limit"), "value"),
    Input(IDS("limit-domain"), "data"),
)
