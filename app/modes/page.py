"""Modes: the winner of each cell, its lead, and what the runs prove of it."""

from dataclasses import replace
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, State, callback, clientside_callback, html

from app.kit.callbacks import (
    register_answer,
    register_filters,
    register_gather,
    register_workload,
)
from app.kit.columns import encode_view
from app.kit.context import lake_view
from app.kit.encodings import message_figure
from app.kit.filters import offered_choices
from app.kit.lake_view import LakeView
from app.kit.page import Page, View
from app.modes.answer import answer
from app.modes.defaults import for_workload
from app.modes.evidence import evidence
from app.modes.layout import (
    EVIDENCE_WORDS,
    FINDINGS,
    IDS,
    SELECTED,
    against_choices,
    correction_choices,
    knob_choices,
    limited_choices,
    map_pool_choices,
    metric_choices,
    modes_export,
    modes_layout,
    panel_choices,
)
from app.modes.layout_evidence import evidence_words
from app.modes.opening import default_state, missing, open_link
from app.modes.state import ModesState
from app.modes.tables import explain, recomputed, rows_behind

_LINKED: Final = ("winners", "shares", "pareto")
# Controls that change with the workload.
_ROLES: Final = ("x", "y", "who", "metric")
_RULES: Final = (
    "vs", "limit", "by", "test", "corr", "alpha", "margin", "lead", "against", "pool", "split",
)  # fmt: skip


PAGE: Final = Page(
    name="modes",
    title="Modes",
    path="/modes",
    state=ModesState,
    default_state=default_state,
    layout=modes_layout,
    views=(
        View("winners", "map of winners"),
        View("shares", "share of cells"),
        View("pareto", "Pareto view"),
        View("evidence", "evidence of the selected cell"),
        View("runs", "all compared runs", is_picture=False),
    ),
    rows=rows_behind,
    explain=explain,
    recomputed=recomputed,
    opening=lambda view, state: {"figure": answer(view, state).winners},
    export=modes_export,
    missing=missing,
    keys=(
        ("arrow keys", "with the focus on a view: go to the next cell, bar or point"),
        ("Enter", "select the cell under the cursor, and open its evidence"),
        ("Escape", "clear the selection"),
    ),
    open_link=open_link,
    old_paths={"/how/modes/<view>": "/modes/how/<view>"},
)


def _map(view: LakeView, state: ModesState) -> tuple:
    """Compare the cells and draw them, after any change except the selection."""
    drawn = answer(view, state)
    winners = encode_view({"figure": drawn.winners, "columns": drawn.cells})
    others = (encode_view({"figure": figure}) for figure in (drawn.shares, drawn.pareto))
    return (winners, *others, [html.P(words) for words in drawn.conclusions], drawn.status)


update_map = register_answer(
    IDS,
    ModesState,
    [
        *[Output(IDS.figure(graph), "data") for graph in _LINKED],
        Output(FINDINGS, "children"),
        Output(IDS.status, "children"),
    ],
    _map,
)


@callback(
    Output(IDS.figure("evidence"), "data"),
    Output(EVIDENCE_WORDS, "children"),
    Input(SELECTED, "data"),
    Input(IDS.view_state, "data"),
    State(IDS.lake_version, "data"),
)
def update_evidence(sel: str, raw_state: dict[str, Any], version: int) -> tuple:
    """Show the evidence of the selected cell, after a change of the selection or the state."""
    view = lake_view(version)
    found = evidence(view, replace(ModesState.from_json(raw_state, view.catalogue), sel=sel))
    figure = found.figure if found and found.figure else message_figure("")
    return encode_view({"figure": figure}), evidence_words(found)


update_filters = register_filters(
    IDS,
    ModesState,
    offered_choices,
    {
        "x": knob_choices,
        "y": knob_choices,
        "who": knob_choices,
        "metric": metric_choices,
        "against": against_choices,
        "by": limited_choices,
        "corr": correction_choices,
        "pool": map_pool_choices,
        "split": panel_choices,
    },
)
change_workload = register_workload(IDS, ModesState, for_workload, (*_ROLES, "limit", "by"))
register_gather(IDS, dict.fromkeys((*_ROLES, *_RULES), "value") | {"own": "checked"})
# The browser draws the pictures in its theme, and links them.
clientside_callback(
    ClientsideFunction("modes", "showMap"),
    *[Input(IDS.figure(graph), "data") for graph in _LINKED],
)
clientside_callback(
    ClientsideFunction("modes", "showEvidence"),
    Input(IDS.figure("evidence"), "data"),
)
