"""Modes as one HTML file without a server: map, shares, Pareto view, one cell's evidence."""

from typing import Final

from dash import html

from app.kit.columns import compact_figure
from app.kit.encodings import message_figure, title_of
from app.kit.export import ExportedPage, how_computed, render
from app.kit.lakes import LakeView
from app.kit.panel import ZOOM_TOOLS, panel, tool_bar, view_panel
from app.modes.answer import answer
from app.modes.defaults import resolved
from app.modes.evidence import evidence
from app.modes.layout import EVIDENCE_WORDS
from app.modes.layout_evidence import evidence_words
from app.modes.state import ModesState
from app.modes.tables import explain

_INVITATION: Final = "Click a cell of the map or a point of the Pareto view to see its comparison."


def modes_export(view: LakeView, state: ModesState) -> ExportedPage:
    """Build the page for an export, with the compared cells and the runs of the selected one."""
    found, shown = answer(view, state), evidence(view, state)
    words = evidence_words(shown, has_links=False) if shown else html.Div(_INVITATION)
    figure = shown.figure if shown and shown.figure else message_figure("")
    figures = {
        "winners": found.winners, "shares": found.shares, "pareto": found.pareto,
        "evidence": figure,
    }  # fmt: skip
    name = "evidence" if state.sel else "winners"
    explained = explain(view, state, name) if found.cells else ""
    filters = resolved(view, state).selection.in_words() if view.runs else ""
    main = html.Main(
        [
            html.P(
                f"{found.status}: {filters}. Click a cell, a bar or a point to select; Escape "
                "clears.",
                className="quiet",
            ),
            html.Div(
                [
                    _panel("winners", "map of winners"),
                    _panel("shares", "cells won by each competitor"),
                    _evidence_panel(words),
                    _panel("pareto", "Pareto view over the cells"),
                ],
                className="views",
            ),
            html.P(id="status-selection", role="status"),
            how_computed(explained),
        ],
        className="modes modes-export",
    )
    data = {"figures": compact_figure(figures), "cells": found.cells, "sel": state.sel}
    title = title_of(found.winners) or "Modes"
    return ExportedPage(title, render(main), data, view.is_synthetic)


def _panel(graph: str, name: str) -> html.Section:
    return view_panel(graph, name, [], f"panel-{graph}", ZOOM_TOOLS, has_menu=False)


def _evidence_panel(words: html.Div) -> html.Section:
    clear = html.Button("clear (Esc)", id="clear-selection", className="plain", hidden=True)
    head = [html.H2("Evidence of a cell"), clear, tool_bar("evidence", ZOOM_TOOLS)]
    graph = html.Div(id="evidence", className="graph")
    beside = html.Div(words, id=EVIDENCE_WORDS, className="table-frame")
    body = [html.Div([graph, beside], className="evidence-body")]
    return panel("evidence", "evidence of the selected cell", head, body, "panel-evidence")
