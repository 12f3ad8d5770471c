"""Storage: what the storage studies drew, over the lake's runs, every view linked to all others."""

from typing import Any

import dash
from dash import ClientsideFunction, Input, Output, State, callback, clientside_callback, html
from flask import Flask

from app.kit.context import lake_view
from app.kit.filters import facet_chips, facet_note, is_idle
from app.kit.opening import open_page, or_a_sentence
from app.storage import ids as names
from app.storage.answer import answer
from app.storage.defaults import default_state, offered, storage_cube
from app.storage.layout import storage_layout
from app.storage.published_tables import published_tables_block
from app.storage.routes import add_routes
from app.storage.state import StorageState

PATH = "/storage"
TITLE = "Storage"
KEYS = (
    ("Escape", "clear the selection"),
    ("arrow keys", "in a view that has the focus: move from point to point, cell to cell"),
    ("Enter", "select the configurations under the cursor in all views"),
    ("drag", "select a box; a click selects a point, a cell, a bar or a mode of the legend"),
)


def register(server: Flask) -> None:
    """Make the page known to Dash, and its downloads to the server; called once the app exists."""
    dash.register_page(
        __name__, path=PATH, order=3, name=TITLE, title="wattlas · Storage", layout=layout
    )
    add_routes(server)


@or_a_sentence
def layout(**parts: str | list[str]) -> html.Main:
    """Lay the page out for the URL's query; a bad one is named, and the default view shown."""
    view, state, notice = open_page(parts, StorageState.from_query)
    return storage_layout(view, state or default_state(view), notice)


@callback(
    Output(names.FIGURES, "data"),
    Output(names.CONFIGURATIONS, "data"),
    Output(names.PUBLISHED, "children"),
    Output(names.PLACED, "data"),
    Output(names.STATUS, "children"),
    Output(names.QUERY, "data"),
    Input(names.VIEW, "data"),
    State(names.LAKE_VERSION, "data"),
)
def update_views(raw_state: dict[str, Any], version: int) -> tuple:
    """Any change but of the selection: every picture, and the published values beside it."""
    found = answer(lake_view(version), StorageState.from_json(raw_state))
    state = found.state
    size = None if state.at_request is None else f"{state.at_request:.0f}"
    values = {"device": state.at_device, "rw": state.at_rw, "request_bytes": size}
    return (
        found.figures,
        found.configurations,
        published_tables_block(found.published, found.spread),
        {"choices": found.places, "values": values},
        found.status,
        state.to_query(),
    )


@callback(
    *[Output(names.facet(name), "children") for name in names.FACETS],
    *[Output(names.facet_count(name), "children") for name in names.FACETS],
    *[Output(names.facet_frame(name), "hidden") for name in names.FACETS],
    Input(names.CHANGED, "data"),
    State(names.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def update_filters(raw_state: dict[str, Any], version: int) -> tuple:
    """New filters: what each other filter still offers, and how many runs."""
    selection = StorageState.from_json(raw_state).selection
    choices = offered(storage_cube(lake_view(version)), selection)
    return (
        *[facet_chips(n, c) for n, c in choices.items()],
        *[facet_note(n, c, selection.values(n)) for n, c in choices.items()],
        *[is_idle(n, c) for n, c in choices.items()],
    )


# What the browser does alone: gather the controls, draw and link the pictures, write the URL.
clientside_callback(
    ClientsideFunction("wattlasStorage", "gather"),
    Output(names.VIEW, "data"),
    Output(names.CHANGED, "data"),
    *[Input(names.facet(name), "value") for name in names.FACETS],
    *[Input(control, "value") for control in names.CONTROLS.values()],
    State(names.PINNED, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasStorage", "draw"),
    Output(names.DRAWN, "data"),
    Input(names.FIGURES, "data"),
    Input("theme", "data"),
    State(names.CONFIGURATIONS, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasStorage", "place"),
    Input(names.PLACED, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("wattlasStorage", "writeUrl"),
    Output(names.DATA_LINK, "href"),
    Input(names.QUERY, "data"),
)
