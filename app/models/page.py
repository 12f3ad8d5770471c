"""Models: theory of interrupt handling and of energy, compared with the runs of the lake."""

from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, html

from app.kit import ids as kit_ids
from app.kit.callbacks import register_filters, register_gather
from app.kit.export import ExportedPage, how_computed, render
from app.kit.filters import offered_choices
from app.kit.lake_view import LakeView
from app.kit.page import Page
from app.kit.page_layout import kept_values
from app.models import layout
from app.models.curves import simulation, spec
from app.models.explained import explain, recomputed
from app.models.routes import add_routes, finished, fits_answer, runs_answer
from app.models.runs import default_state, open_link
from app.models.state import ALL, NAME, RUNS, TABS, VIEWS, ModelsState
from app.models.tables import view_rows


def export_page(view: LakeView, state: ModelsState) -> ExportedPage:
    """Build the page for an export: the state, the runs, the fits, finished simulations."""
    head = (
        "Curves in formulas follow the sliders. Simulations and fits are those of the page: "
        "a server is needed for others."
    )
    request = simulation(state)
    data: dict[str, Any] = {
        "spec": {**spec(), "lakeIsEmpty": not view.runs},
        "kept": kept_values(state),
        "runs": runs_answer(view, state),
        "fits": fits_answer(view, state),
        "simulated": {"labels": request["labels"], "results": finished(request)},
        "at": {"results": finished(simulation(state, "at"))},
    }
    explained = "\n\n".join(
        f"{one.title}\n\n{explain(view, state, one.name)}"
        for one in ALL
        if one.name in ("throughput", "energy", "plane", "fits")
    )
    controls = html.Div(id=layout.IDS("controls"), className="models-controls")
    views = html.Div(layout.models_views(has_menus=False), className="views")
    main = html.Main(
        [
            html.P(head, className="quiet export-words"),
            html.Div([controls, views], className="models-exported"),
            how_computed(explained),
            html.Footer(layout.status_words(), className="status"),
        ],
        className=f"{NAME} models-export",
    )
    return ExportedPage("Models", render(main), data, view.is_synthetic)


def opening(view: LakeView, state: ModelsState) -> dict[str, Any] | None:
    """Return what the page's script makes the first figure of; None for tabs but the first."""
    if state.tab != next(iter(TABS)):
        return None
    return {"spec": {**spec(), "lakeIsEmpty": not view.runs}, "kept": kept_values(state)}


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
    opening=opening,
    framed=lambda parts: VIEWS.get(parts.get("tab", ""), ALL),
    missing=None,
    recomputed=recomputed,
    keys=(
        ("1, 2, 3, 4", "the tabs Interrupts, Energy, Fit and Traffic"),
        ("left, right arrow", "with the focus on a panel: move the crosshair; with Shift by ten"),
        ("s", "simulate, or cancel the simulation"),
        ("click", "in a panel: put the crosshair there; in the legend: show or hide a scheme"),
    ),
    open_link=open_link,
    examples={
        "models": "v=1&workload=memcached&fig=7&sim=1",
        "models-energy": "v=1&tab=energy&multiples=11",
        "models-traffic": "v=3&tab=traffic&fig=9",
        "models-fit": "v=1&tab=fit&workload=memcached",
    },
    add_routes=add_routes,
    cached_routes=("/models/runs", "/models/fits"),
)
register_gather(layout.IDS, {})
update_filters: Any = register_filters(layout.IDS, ModelsState, offered_choices)
clientside_callback(
    ClientsideFunction("wattlasModels", "show"),
    Output(layout.DRAWN, "data"),
    Input(layout.SPEC, "data"),
    Input(kit_ids.THEME, "data"),
)
