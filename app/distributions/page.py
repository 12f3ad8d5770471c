"""Distributions: what the logs of thousands of runs count, against any knob; odd replicates."""

from typing import Final

from dash import ClientsideFunction, Input, Output, clientside_callback, html

from app.distributions.answer import VIEWS, Answer, explain, recomputed, rows_behind, status_words
from app.distributions.figure import draw_map
from app.distributions.layout import (
    IDS,
    distributions_layout,
    map_panel,
    quantile_table,
    sibling_table,
    table_panels,
)
from app.distributions.runs import (
    DistributionsState,
    default_state,
    knob_choices,
    missing,
    offered,
    open_link,
    split_choices,
)
from app.kit.callbacks import control_properties, register_answer, register_filters, register_gather
from app.kit.columns import encode_view
from app.kit.export import ExportedPage, how_computed, render
from app.kit.lake_view import LakeView
from app.kit.page import Page


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


PAGE: Final = Page(
    name="distributions",
    title="Distributions",
    path="/distributions",
    state=DistributionsState,
    default_state=default_state,
    layout=distributions_layout,
    views=VIEWS,
    rows=rows_behind,
    explain=explain,
    export=export,
    opening=lambda view, state: {"figure": draw_map(Answer.of(view, state))["figure"]},
    recomputed=recomputed,
    missing=missing,
    keys=(
        ("arrow keys", "in the map: move from quantile to quantile"),
        ("Enter, click", "open the runs with most of their values in this bin in Timeline"),
        ("drag", "zoom; double-click: all again"),
    ),
    open_link=open_link,
    part_of="timeline",
    examples={"distributions": "v=2&workload=memcached"},
)

register_gather(IDS, control_properties(DistributionsState) | {"sel": "data"})
update_filters = register_filters(
    IDS, DistributionsState, offered, {"x": knob_choices, "split": split_choices}
)


def _views(view: LakeView, state: DistributionsState) -> tuple:
    """Draw the map, and list quantiles and runs."""
    answer = Answer.of(view, state)
    tables = quantile_table(answer), sibling_table(answer)
    return encode_view(draw_map(answer)), *tables, status_words(answer)


update_views = register_answer(
    IDS,
    DistributionsState,
    [
        Output(IDS.figure("map"), "data"),
        Output(IDS("quantiles"), "children"),
        Output(IDS("siblings"), "children"),
        Output(IDS.status, "children"),
    ],
    _views,
)

clientside_callback(ClientsideFunction("distributions", "show"), Input(IDS.figure("map"), "data"))
