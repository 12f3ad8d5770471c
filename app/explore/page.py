"""Explore, the front page: energy against performance, and the best settings."""

from collections.abc import Callable
from typing import Any, Final, cast

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

from app.explore.best_words import sentences
from app.explore.defaults import default_state, missing, opened, turned
from app.explore.export import export
from app.explore.layout import explore_layout
from app.explore.layout_best import best_settings_table
from app.explore.layout_controls import IDS, MENUS
from app.explore.state import ExploreState
from app.explore.views import (
    VIEWS,
    ExploreView,
    asked_of,
    best_notes,
    best_table,
    explain,
    limit_domain,
    picture,
    rows_behind,
    scope,
    source_words,
    status_words,
)
from app.kit.callbacks import (
    control_properties,
    register_answer,
    register_filters,
    register_gather,
    register_workload,
)
from app.kit.columns import encode_view
from app.kit.context import lake_view
from app.kit.filters import offered_choices
from app.kit.lake_view import LakeView
from app.kit.page import Page, View
from app.kit.words import derived_words, guessed_words, unread_words
from app.kit.work_words import work_words


def _opening(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the scatter; with a limit also its columns, which say which points miss it.

    The columns are as large as the picture.
    """
    answer = picture("scatter", view, state)
    return answer if state.limit is not None else {"figure": answer["figure"]}


PAGE = Page(
    name="explore",
    title="Explore",
    path="/",
    state=ExploreState,
    default_state=default_state,
    layout=explore_layout,
    views=tuple(View(each.name, each.title, each.picture is not None) for each in VIEWS),
    rows=rows_behind,
    explain=explain,
    scope=scope,
    export=export,
    opening=_opening,
    missing=missing,
    open_link=lambda view, state: (opened(view, state), ""),
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


def _register_picture(shown: ExploreView) -> Callable[..., tuple]:
    """Register the callback that draws a view: its answer, and the values that it adopts.

    An optional view is asked by the browser, while it is shown.
    """
    controls = [Input(IDS.control(key), _PROPERTIES[key]) for key in shown.asks]
    asks: list[Input] = [Input(IDS.view_state, "data"), *controls]
    if shown.is_optional:
        show = Input(IDS.control("show"), "value")
        ask, store = ClientsideFunction("explore", "ask"), IDS.requested(shown.name)
        clientside_callback(ask, Output(store, "data"), *asks, show)
        asks = [Input(store, "data")]

    @callback(
        [
            Output(IDS.figure(shown.name), "data"),
            *[Output(IDS.control(key), "value") for key in shown.adopts],
        ],
        *asks,
        State(IDS.lake_version, "data"),
        prevent_initial_call=shown.is_optional,
    )
    def update_picture(raw_state: dict[str, Any], *values: Any) -> tuple:
        *controls, version = values
        view = lake_view(version)
        asked = {**raw_state, **dict(zip(shown.asks, controls, strict=False))}
        answer = picture(shown.name, view, ExploreState.from_json(asked, view.catalogue))
        adopted = {k: v for k, v in answer.get("adopts", {}).items() if v not in (None, asked[k])}
        return (
            encode_view({**answer, "adopts": adopted}),
            *[adopted.get(key, no_update) for key in shown.adopts],
        )

    return cast(Callable[..., tuple], update_picture)


_PROPERTIES: Final = control_properties(ExploreState)
UPDATES: Final = {each.name: _register_picture(each) for each in VIEWS if each.picture}


def _best(view: LakeView, state: ExploreState) -> tuple:
    """List the best settings, and write what the runs prove of them; the status and the limits."""
    rows, question = best_table(view, state), asked_of(view, state)
    table = best_settings_table(rows, question)
    notes = (
        source_words(view, state),
        unread_words(view, state.selection),
        guessed_words(view, state.selection),
        derived_words(view, state.selection, (state.x, state.y)),
        work_words(view, state.selection),
    )
    said = [html.P(words, className="quiet") for words in notes if words]
    said += map(html.P, sentences(rows, question))
    about = status_words(view, state), limit_domain(view, state)
    return table, best_notes(view, state), said, *about


update_best = register_answer(
    IDS,
    ExploreState,
    [
        Output("best-table", "children"),
        Output("limit-words", "children"),
        Output(IDS("findings"), "children"),
        Output(IDS.status, "children"),
        Output(IDS("limit-domain"), "data"),
    ],
    _best,
    ("limit", "cost", "by", "vs", "alpha", "margin", "same", "show", "lx", "ly"),
)
register_gather(IDS, _PROPERTIES)
update_filters = register_filters(IDS, ExploreState, offered_choices, MENUS)
turn_workload = register_workload(
    IDS,
    ExploreState,
    turned,
    ("x", "y", "col", "size", "sym", "hx", "hy", "lx", "ly", "lby", "lst"),
)

# The browser draws the pictures in its theme, and links them.
for each in UPDATES:
    clientside_callback(ClientsideFunction("explore", "show"), Input(IDS.figure(each), "data"))
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
