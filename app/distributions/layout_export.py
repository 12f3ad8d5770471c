"""Distributions as one self-contained HTML file: the map and both tables."""

from dash import html

from app.distributions.answer import VIEWS, Answer, explain, status_words
from app.distributions.figure import draw_map
from app.distributions.layout import map_panel, quantile_table, sibling_table, table_panels
from app.distributions.state import DistributionsState
from app.kit.columns import encode_view
from app.kit.export import ExportedPage, how_computed, render
from app.kit.lake_view import LakeView


def export(view: LakeView, state: DistributionsState) -> ExportedPage:
    """Build the page for an export."""
    answer = Answer.of(view, state)
    bodies = {
        "quantiles": quantile_table(answer),
        "siblings": sibling_table(answer, has_links=False),
    }
    sentence = f"{status_words(answer)}: {state.selection.in_words()}."
    main = html.Main(
        [
            html.P(sentence, className="quiet export-words"),
            html.Div(
                [map_panel([], has_menu=False), *table_panels(bodies, has_menus=False)],
                className="views",
            ),
            how_computed("\n\n".join(explain(view, state, each.name) for each in VIEWS)),
        ],
        className="distributions distributions-export",
    )
    data = {"pictures": {"map": encode_view(draw_map(answer))}}
    return ExportedPage("Distributions", render(main), data, view.is_synthetic)
