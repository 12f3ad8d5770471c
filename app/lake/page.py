"""Lake: what the lake holds, how complete it is, and which questions it can answer."""

from typing import Any

from dash import ClientsideFunction, Input, Output, State, callback, clientside_callback

from app.kit.callbacks import register_gather
from app.kit.context import lake_view
from app.kit.export import render
from app.kit.links import LAKE_PATH
from app.kit.page import Page, View
from app.lake.answer import explain, has_unlike_datasets, rows_behind
from app.lake.layout import IDS, SECTIONS, export_page, first_sections, lake_layout, questions_block
from app.lake.state import LakePageState

PAGE = Page(
    name=IDS.page,
    title="Lake",
    path=LAKE_PATH,
    state=LakePageState,
    default_state=lambda _: LakePageState(),
    layout=lake_layout,
    views=tuple(View(name, title, is_picture=False) for name, title in SECTIONS.items()),
    rows=rows_behind,
    explain=explain,
    export=export_page,
    missing=None,
    opening=lambda view, _: {"html": render(first_sections(view))},
    opens_first=has_unlike_datasets,
    keys=(("Tab", "to the next question, dataset or list"),),
)


@callback(
    Output(IDS("questions-html"), "data"),
    Input(IDS.view_state, "data"),
    State(IDS.lake_version, "data"),
)
def update_questions(raw_state: dict[str, Any], version: int) -> str:
    """Answer the questions."""
    del raw_state
    return render(questions_block(lake_view(version)))


register_gather(IDS, {})
clientside_callback(
    ClientsideFunction("wattlas", "writeHtml"), Input(IDS("questions-html"), "data")
)
