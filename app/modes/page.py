"""Modes: who wins where, by how much, and whether the difference is real."""

from threading import Thread
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

from app.kit.context import lake_view
from app.kit.encodings import message_figure
from app.kit.filters import chip_value, facet_chips, facet_note, is_idle
from app.kit.opening import open_page, or_a_sentence
from app.kit.typed_arrays import compact_figure
from app.modes import ids as names
from app.modes.answer import answer
from app.modes.defaults import default_state, turned
from app.modes.evidence import evidence
from app.modes.evidence_table import standings_table
from app.modes.layout import (
    against_choices,
    knob_choices,
    modes_layout,
    prize_choices,
)
from app.modes.routes import add_routes
from app.modes.state import ModesState
from data.analysis.facets import all_choices
from data.analysis.significance import load_statistics

PATH = "/modes"
TITLE = "Modes"
KEYS = (
    ("arrow keys", "in a view that has the focus: from cell to cell, bar to bar, or point"),
    ("Enter", "select the cell under the cursor, and open its evidence"),
    ("Escape", "clear the selection"),
)
# Filters that another workload may leave without a run.
_TURNED: Final = tuple(name for name in names.FACET_NAMES if name not in ("dataset", "workload"))


def register(server: Flask) -> None:
    """Make the page known to Dash, and its downloads to the server; called once the app exists."""
    dash.register_page(
        __name__, path=PATH, order=1, name=TITLE, title="wattlas · Modes", layout=layout
    )
    add_routes(server)


@or_a_sentence
def layout(**parts: str | list[str]) -> html.Main:
    """Lay the page out for the URL's query; a bad one is named, and the default view shown."""
    # While the browser fetches and lays out the page: its first picture needs it.
    Thread(target=load_statistics, daemon=True).start()
    view, state, notice = open_page(parts, ModesState.from_query)
    return modes_layout(view, state or default_state(view), notice)


@callback(
    Output(names.CELLS, "data"),
    Output(names.figure(names.WINNERS), "data"),
    Output(names.figure(names.SHARES), "data"),
    Output(names.figure(names.PARETO), "data"),
    Output(names.STATUS, "children"),
    Output(names.QUERY, "data"),
    Input(names.VIEW, "data"),
    State(names.LAKE_VERSION, "data"),
)
def update_map(raw_state: dict[str, Any], version: int) -> tuple:
    """Any change but of the selection: judge the cells and draw them."""
    state = ModesState.from_json(raw_state)
    found = answer(lake_view(version), state)
    figures = (compact_figure(f) for f in (found.winners, found.shares, found.pareto))
    return (found.cells, *figures, found.status, state.to_query())


@callback(
    Output(names.figure(names.EVIDENCE), "data"),
    Output(names.STANDINGS, "children"),
    Input(names.PICK, "data"),
    Input(names.VIEW, "data"),
    State(names.LAKE_VERSION, "data"),
)
def update_evidence(pick: str, raw_state: dict[str, Any], version: int) -> tuple:
    """Another cell, or another question: the evidence of the cell that is picked."""
    state = ModesState.from_json({**raw_state, "pick": pick})
    found = evidence(lake_view(version), state)
    figure = found.figure if found and found.figure else message_figure("")
    return compact_figure(figure), standings_table(found)


@callback(
    *[Output(names.facet(name), "children") for name in names.FACET_NAMES],
    *[Output(names.facet_count(name), "children") for name in names.FACET_NAMES],
    *[Output(names.facet_frame(name), "hidden") for name in names.FACET_NAMES],
    *[Output(name, "data") for name in (names.X, names.Y, names.COMPETITOR)],
    Output(names.METRIC, "data"),
    Output(names.AGAINST, "data"),
    Input(names.CHANGED, "data"),
    State(names.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def update_filters(raw_state: dict[str, Any], version: int) -> tuple:
    """New filters: what each other filter still offers, and what can be asked."""
    state, view = ModesState.from_json(raw_state), lake_view(version)
    offered = all_choices(view.cube, state.selection)
    return (
        *[facet_chips(n, c) for n, c in offered.items()],
        *[facet_note(n, c, state.selection.values(n)) for n, c in offered.items()],
        *[is_idle(n, c) for n, c in offered.items()],
        *[knob_choices(view, state)] * 3,
        prize_choices(view, state),
        against_choices(view, state),
    )


@callback(
    Output(names.TURNED, "data"),
    Input(names.facet("workload"), "value"),
    Input(names.facet("dataset"), "value"),
    State(names.VIEW, "data"),
    State(names.LAKE_VERSION, "data"),
    prevent_initial_call=True,
)
def turn_workload(
    workload: str | None, datasets: list[str], raw_state: dict[str, Any] | None, version: int
) -> Any:
    """Another workload or dataset: filters, axes and prize that mean something there."""
    before = ModesState.from_json(raw_state or {})
    was = before.selection
    if was.values("workload") == (workload,) and set(was.values("dataset")) == set(datasets):
        return no_update
    state = ModesState.from_json({**(raw_state or {}), "dataset": datasets})
    after = turned(lake_view(version), state, workload)
    return {
        "facets": {n: [chip_value(v) for v in after.selection.values(n)] for n in _TURNED},
        "controls": {"x": after.x, "y": after.y, "who": after.competitor, "metric": after.metric},
    }


# What the browser does alone: gather the controls, dress and link the pictures, write the URL.
clientside_callback(
    ClientsideFunction("wattlasModes", "gather"),
    Output(names.VIEW, "data"),
    Output(names.CHANGED, "data"),
    *[Input(names.facet(name), "value") for name in names.FACET_NAMES],
    *[Input(control, "value") for control in names.CONTROLS.values()],
    State(names.PINNED, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasModes", "turn"),
    Input(names.TURNED, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("wattlasModes", "dress"),
    *[Output(graph, "figure") for graph in (names.WINNERS, names.SHARES, names.PARETO)],
    *[Input(names.figure(g), "data") for g in (names.WINNERS, names.SHARES, names.PARETO)],
    Input("theme", "data"),
    State(names.CELLS, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasModes", "dressEvidence"),
    Output(names.EVIDENCE, "figure"),
    Input(names.figure(names.EVIDENCE), "data"),
    Input("theme", "data"),
)
clientside_callback(
    ClientsideFunction("wattlasModes", "writeUrl"),
    Output("modes-data-link", "href"),
    Input(names.QUERY, "data"),
)
