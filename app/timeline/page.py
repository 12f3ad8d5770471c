"""The timeline: what happened between interrupts, in one run or several, at any zoom."""

from typing import Any, Final

from dash import ClientsideFunction, Input, Output, State, callback, clientside_callback, html

from app.kit.callbacks import register_gather
from app.kit.context import lake_view
from app.kit.page import Page
from app.timeline.defaults import default_state, missing, open_link
from app.timeline.layout import ids, runs_in_browser, timeline_layout
from app.timeline.layout_export import export_page, opening
from app.timeline.layout_runs import add_words, choice_items, choice_words, choices, run_items
from app.timeline.routes import add_routes
from app.timeline.runs import AskedEdits, apply_edits, describe_runs
from app.timeline.state import TimelineState
from app.timeline.tables import VIEWS, explain_view, recomputed, view_rows

_KEYS: Final = (
    ("+ -", "zoom in, zoom out"),
    ("left, right arrow", "move the window by a fifth; with Shift by nearly all of it"),
    ("Home", "the whole run"),
    ("Backspace", "the previous window"),
    (
        "Page Up, Page Down",
        "scroll panels that are taller than their frame; so does the wheel beside them",
    ),
    (
        "v, click",
        "read values: arrow keys go from value to value and from panel to panel, with "
        "Shift ten at a time; m: the largest; Enter: the heatmap's core; Escape: stop",
    ),
    ("arrow keys", "with the focus on the distributions: read values"),
    ("d", "drag moves the window instead of zooming, or zooms again"),
    ("a", "add a run"),
    ("drag, wheel", "zoom; with Shift: move"),
)
PAGE: Final = Page(
    name="timeline",
    title="Timeline",
    path="/timeline",
    state=TimelineState,
    default_state=default_state,
    layout=timeline_layout,
    views=VIEWS,
    rows=view_rows,
    explain=explain_view,
    export=export_page,
    opening=opening,
    recomputed=recomputed,
    missing=missing,
    keys=_KEYS,
    open_link=open_link,
    add_routes=add_routes,
    part_title="Runs side by side",
)

register_gather(ids, dict.fromkeys(("panel", "align", "layout", "heat", "kind", "list"), "value"))
clientside_callback(
    ClientsideFunction("timeline", "edited"),
    Input(ids("shown-runs"), "data"),
    prevent_initial_call=True,
)


@callback(
    Output(ids("runs"), "children"),
    Output(ids("add"), "children"),
    Output(ids("add"), "disabled"),
    Output(ids("shown-runs"), "data"),
    Input(ids("edits"), "data"),
    State(ids.lake_version, "data"),
    prevent_initial_call=True,
)
def update_runs(edited: AskedEdits, version: int) -> tuple[list[html.Li], str, bool, Any]:
    """Apply a visitor's changes to the list of runs since the last response."""
    view = lake_view(version)
    before = TimelineState(
        runs=tuple(edited["runs"]),
        hues=tuple(edited["hues"]),
        base=edited["base"],
        other=edited["other"],
    )
    state = apply_edits(view, before, edited["edits"])
    infos = describe_runs(view, state.runs)
    shown = {**runs_in_browser(state, infos), "edits": len(edited["edits"])}
    return run_items(infos, state), *add_words(len(infos)), shown


@callback(
    Output(ids("choices"), "children"),
    Output(ids("choices-words"), "children"),
    Input(ids("search"), "value"),
    Input(ids("picking"), "data"),
    State(ids.lake_version, "data"),
    prevent_initial_call=True,
)
def update_choices(
    search_text: str | None, shown: list[str] | None, version: int
) -> tuple[list, str]:
    """List the runs that match all words, those similar to the first drawn run first."""
    runs = shown or []
    view = lake_view(version)
    rows = choices(view, search_text or "", runs[0] if runs else None)
    return choice_items(view, rows, runs), choice_words(rows)
