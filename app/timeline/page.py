"""The timeline: what happened between interrupts, in one run or several, at any zoom."""

from dataclasses import replace
from urllib.parse import urlencode

import dash
from dash import ClientsideFunction, Input, Output, clientside_callback, html
from flask import Flask

from app.kit import ids
from app.kit.context import lake_view
from app.kit.lakes import LakeView
from app.kit.opening import or_a_sentence
from app.kit.url_codec import has_state, is_version
from app.timeline.defaults import (
    Opened,
    add_open_routes,
    choices,
    first_look,
    open_configurations,
)
from app.timeline.layout import timeline_layout
from app.timeline.routes import add_routes
from app.timeline.runs import describe_runs
from app.timeline.state import TimelineState
from data.errors import WattlasError

PATH = "/timeline"
TITLE = "Timeline"
KEYS = (
    ("+ -", "zoom in, zoom out"),
    ("left, right arrow", "move the window by a fifth; with Shift by nearly all of it"),
    ("Home", "the whole run"),
    ("Backspace", "the window before this one"),
    (
        "Page Up, Page Down",
        "scroll panels that are taller than their frame; so does the wheel beside them",
    ),
    (
        "v, click",
        "read values: arrow keys go from value to value and from panel to panel, with "
        "Shift ten at a time; m: the largest; Enter: the heatmap's core; Escape: no more",
    ),
    ("arrow keys", "where the distributions have the focus: read them"),
    ("p", "drag moves the window, or zooms again"),
    ("a", "add a run"),
    ("drag, wheel", "zoom; with Shift: move"),
)


def register(server: Flask) -> None:
    """Make the page known to Dash, and its answers to the server; called once the app exists."""
    dash.register_page(
        __name__, path=PATH, order=2, name=TITLE, title="wattlas · Timeline", layout=layout
    )
    add_routes(server)
    add_open_routes(server)


@or_a_sentence
def layout(**parts: str | list[str]) -> html.Main:
    """Lay the page out for the URL's query; a bad one is named, and a first look shown instead."""
    try:
        view, state, notice = _asked(dict(parts))
    except WattlasError as error:
        view = lake_view(None)
        notice = f"This link could not be followed: {error}. A first look is shown instead."
        state = _opened(TimelineState(), first_look(view))
    has_logs = bool(choices(view, "", None)["total"])
    return timeline_layout(view, state, describe_runs(view, state.runs), notice, has_logs)


def _asked(parts: dict[str, str | list[str]]) -> tuple[LakeView, TimelineState, str]:
    """The lake, the state and what to say of it: of a link, of picks in Explore, or of neither."""
    picked, count = parts.pop("open", []), str(parts.pop("of", ""))
    query = urlencode(parts, doseq=True)
    state = TimelineState.from_query(query) if has_state(query) else TimelineState()
    view = lake_view(state.lake_version)
    if picked:
        texts = [picked] if isinstance(picked, str) else picked
        opened = open_configurations(view, texts, int(count) if is_version(count) else 0)
        return view, _opened(state, opened), opened.words
    if not state.runs and "v" not in parts:
        return view, _opened(state, first_look(view)), ""
    return view, state, _pinned_words(view, state)


def _opened(state: TimelineState, opened: Opened) -> TimelineState:
    return replace(state, runs=opened.run_ids, base=opened.base)


def _pinned_words(view: LakeView, state: TimelineState) -> str:
    newest = lake_view(None).version
    if state.lake_version is None or view.version == newest:
        return ""
    return f"This link pins version {view.version} of the lake; the newest is {newest}."


clientside_callback(
    ClientsideFunction("timeline", "open"),
    Output(ids.TIMELINE_OPENED, "data"),
    Input(ids.TIMELINE_START, "data"),
)
clientside_callback(
    ClientsideFunction("timeline", "control"),
    Input(ids.TIMELINE_PANELS, "value"),
    Input(ids.TIMELINE_LAYOUT, "value"),
    Input(ids.TIMELINE_HEAT, "value"),
    Input(ids.TIMELINE_CORES, "value"),
    Input(ids.TIMELINE_CORES_LIST, "value"),
)
