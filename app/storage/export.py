"""Storage as one self-contained HTML file: all its pictures, linked, and the published values."""

from typing import Final

from dash import html

from app.kit.export_page import ExportedPage, page_html, render
from app.kit.lakes import LakeView
from app.storage.answer import answer
from app.storage.defaults import place_words
from app.storage.published_tables import published_tables_block
from app.storage.sections import mode_legend, section_menu, storage_sections
from app.storage.state import StorageState
from app.storage.study import study_of
from app.storage.tables import explain_all

# The hover card and the palette of all pages, then what of Storage knows no Dash.
_SCRIPTS: Final = ("_kit/[!p]*.js", "explore/view*.js", "storage/view*.js", "storage/export.js")


def export_html(view: LakeView, state: StorageState) -> str:
    """Write the page; the same lake and state give the same bytes.

    It holds the pictures, plotly.js and the scripts that link them; a content policy keeps it from
    asking the network for anything.
    """
    found = answer(view, state)
    study = study_of(view, state)
    place = place_words(study.place)
    shown = f"{found.status}: {study.state.selection.in_words()}."
    if place:
        shown += f" Lines and maps at {place}."
    main = html.Main(
        [
            html.P(f"{shown} Click a point or drag a box to select; Escape clears.",
                   className="quiet export-words"),
            html.Div(
                [
                    html.Div([section_menu(), mode_legend()], className="storage-bar exported-bar"),
                    *storage_sections(
                        published_tables_block(found.published, found.spread), has_menus=False
                    ),
                ],
                className="views",
            ),
            html.Details(
                [html.Summary("How was this computed"), html.Pre(explain_all(study, view))]
            ),
            html.Footer(
                [
                    html.Span(id="status-selection", role="status"),
                    html.Button("clear (Esc)", id="storage-clear", className="plain", hidden=True),
                ],
                className="status",
            ),
        ],
        className="storage storage-export",
    )  # fmt: skip
    data = {
        "figures": found.figures,
        "configurations": found.configurations,
        "pick": state.pick,
    }
    synthetic = bool(study.scene.note)
    return page_html(view, ExportedPage("Storage", render(main), data, _SCRIPTS, synthetic))
