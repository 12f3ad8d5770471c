"""Models: theory of interrupt handling and of energy, compared with the runs of the lake."""

from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback

from app.kit import ids as kit_ids
from app.kit.callbacks import register_filters, register_gather
from app.kit.page import Page
from app.models import layout
from app.models.defaults import default_state, offered, open_link
from app.models.layout_export import export_page
from app.models.routes import add_routes
from app.models.state import ModelsState
from app.models.tables import explain, view_rows
from app.models.views import ALL, NAME, RUNS

PAGE = Page(
    name=NAME,
    title="Models",
    path="/models",
    state=ModelsState,
    default_state=default_state,
    layout=layout.models_layout,
    views=(*ALL, RUNS),
    rows=view_rows,
    explain=explain,
    export=export_page,
    missing=None,
    keys=(
        ("1, 2, 3", "the tabs Interrupts, Energy and Fit"),
        ("left, right arrow", "with the focus on a panel: move the crosshair; with Shift by ten"),
        ("s", "simulate, or cancel the simulation"),
        ("click", "in a panel: put the crosshair there; in the legend: show or hide a scheme"),
    ),
    open_link=open_link,
    examples={
        "models": "v=1&workload=memcached&fig=7&sim=1",
        "models-energy": "v=1&tab=energy&multiples=11",
        "models-fit": "v=1&tab=fit&workload=memcached",
    },
    add_routes=add_routes,
    cached_routes=("/models/runs", "/models/fits"),
)
register_gather(layout.IDS, {})
update_filters: Any = register_filters(layout.IDS, ModelsState, offered)
clientside_callback(
    ClientsideFunction("wattlasModels", "show"),
    Output(layout.DRAWN, "data"),
    Input(layout.SPEC, "data"),
    Input(kit_ids.THEME, "data"),
)
