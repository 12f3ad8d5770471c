"""Models as one HTML file, in which the sliders still change the curves by formula."""

from typing import Any

from dash import html

from app.kit.export import ExportedPage, how_computed, render
from app.kit.lakes import LakeView
from app.kit.page_layout import kept_values
from app.models.answers import fits_answer, runs_answer
from app.models.curves import simulation
from app.models.layout import IDS, models_views, status_words
from app.models.routes import finished
from app.models.spec import spec
from app.models.state import ModelsState
from app.models.tables import explain
from app.models.views import ALL, NAME


def export_page(view: LakeView, state: ModelsState) -> ExportedPage:
    """Build the page for an export: the state, the runs, the fits, finished simulations."""
    words = (
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
    }
    explained = "\n\n".join(
        f"{one.title}\n\n{explain(view, state, one.name)}" for one in (ALL[0], ALL[7], ALL[10])
    )
    controls = html.Div(id=IDS("controls"), className="models-controls")
    views = html.Div(models_views(has_menus=False), className="views")
    main = html.Main(
        [
            html.P(words, className="quiet export-words"),
            html.Div([controls, views], className="models-exported"),
            how_computed(explained),
            html.Footer(status_words(), className="status"),
        ],
        className=f"{NAME} models-export",
    )
    return ExportedPage("Models", render(main), data, view.is_synthetic)
