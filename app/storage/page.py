"""Storage: the figures of the storage studies for the lake's runs, with linked selections."""

from dash import ClientsideFunction, Input, Output, clientside_callback, html

from app.kit.callbacks import register_answer, register_filters, register_gather
from app.kit.export import ExportedPage, how_computed, render
from app.kit.lake_view import LakeView
from app.kit.page import Page
from app.kit.page import View as PageView
from app.storage import layout
from app.storage.answer import (
    StorageAnswer,
    answer,
    explain,
    explain_all,
    open_link,
    opening,
    recomputed,
    rows_behind,
    scope,
)
from app.storage.layout_tables import claims_blocks, published_tables_block
from app.storage.state import NAME, StorageState
from app.storage.study import (
    default_state,
    missing,
    offered,
    place_choices,
    storage_cube,
    storage_pool_choices,
    study_of,
)
from app.storage.views import ALL, PUBLISHED


def export(view: LakeView, state: StorageState) -> ExportedPage:
    """Build the page for an export: all figures, the published values, the claims."""
    drawn = answer(view, state)
    scene = drawn.study.scene
    head = f"{drawn.status}: {drawn.study.state.selection.in_words()}."
    if scene.place_words:
        head += f" Lines and maps at {scene.place_words}."
    head += " Click a point or drag a box to select; Escape clears."
    legend = layout.mode_legend(_legend(drawn))
    bar = html.Div([layout.section_menu(), legend], className="storage-bar exported-bar")
    bodies = {PUBLISHED.name: published_tables_block(drawn.compared, scene)}
    bodies |= claims_blocks(drawn.study)
    main = html.Main(
        [
            html.P(head, className="quiet export-words"),
            html.Div([bar, *layout.storage_sections(bodies, has_menus=False)], className="views"),
            how_computed(explain_all(drawn.study)),
            html.Footer(layout.selection_words(), className="status"),
        ],
        className=f"{NAME} storage-export",
    )
    data = {"pictures": drawn.pictures, "sel": state.sel}
    return ExportedPage("Storage", render(main), data, bool(scene.note))


PAGE = Page(
    name=NAME,
    title="Storage",
    path="/storage",
    state=StorageState,
    default_state=default_state,
    layout=layout.storage_layout,
    views=tuple(PageView(v.name, v.title, is_picture=v.figure is not None) for v in ALL),
    rows=rows_behind,
    explain=explain,
    scope=scope,
    recomputed=recomputed,
    export=export,
    opening=lambda view, state: {"figure": opening(view, state)},
    missing=missing,
    keys=(
        ("Escape", "clear the selection"),
        ("arrow keys", "in a view that has the focus: move from point to point, cell to cell"),
        ("Enter", "select the configurations under the cursor in all views"),
        ("drag", "select a box; a click selects a point, a cell, a bar or a mode of the legend"),
    ),
    open_link=open_link,
    old_paths={
        "/how/storage/storage-<view>": "/storage/how/<view>",
        "/how/storage/<view>": "/storage/how/<view>",
        "/storage/data/storage-<view>.csv": "/storage/data/<view>.csv",
        "/storage/data/storage-<view>.parquet": "/storage/data/<view>.parquet",
    },
)


def _views(view: LakeView, asked: StorageState) -> tuple:
    """Draw all figures and published values, after any change except the selection."""
    drawn = answer(view, asked)
    state = drawn.study.state
    placed = {
        "choices": place_choices(storage_cube(view, state.selection), state),
        "values": layout.place_values(state),
    }
    tables = {PUBLISHED.name: render(published_tables_block(drawn.compared, drawn.study.scene))}
    legend = _legend(drawn)
    return drawn.pictures, tables, legend, placed, drawn.status


update_views = register_answer(
    layout.IDS,
    StorageState,
    [
        Output(layout.PICTURES, "data"),
        Output(layout.PUBLISHED_HTML, "data"),
        Output(layout.LEGEND, "children"),
        Output(layout.PLACED, "data"),
        Output(layout.IDS.status, "children"),
    ],
    _views,
)
# Apart, because loading the statistics would delay the figures.
update_claims = register_answer(
    layout.IDS,
    StorageState,
    Output(layout.CLAIMS_HTML, "data"),
    lambda view, state: view.once(_claims, state),
)


def _claims(view: LakeView, state: StorageState) -> dict[str, str]:
    return {name: render(block) for name, block in claims_blocks(study_of(view, state)).items()}


def _legend(drawn: StorageAnswer) -> list:
    if not drawn.configurations:
        return []
    traces = [trace for figure in drawn.figures.values() for trace in figure["data"]]
    has_published = any(trace["meta"]["kind"] == "published" for trace in traces)
    modes = drawn.configurations["knobs"]["mode"]["values"]
    return layout.legend_entries(drawn.study.scene, modes, has_published)


# The browser gathers the controls, and draws and links the figures.
register_gather(layout.IDS, dict.fromkeys(("at", "access", "size", "err", "pool"), "value"))
update_filters = register_filters(layout.IDS, StorageState, offered, {"pool": storage_pool_choices})
# As Dash components, tables and claims would be most of the page's components, and Dash visits all
# components for each one that appears.
for each in (layout.PUBLISHED_HTML, layout.CLAIMS_HTML):
    clientside_callback(ClientsideFunction("wattlasStorage", "writeHtml"), Input(each, "data"))
clientside_callback(
    ClientsideFunction("wattlasStorage", "draw"),
    Output(layout.DRAWN, "data"),
    Input(layout.PICTURES, "data"),
)
clientside_callback(
    ClientsideFunction("wattlasStorage", "place"),
    Input(layout.PLACED, "data"),
    prevent_initial_call=True,
)
