"""Explore as one self-contained HTML file: figures, table, linking."""

import html
from typing import Final

from app.explore.answer import (
    asked_of,
    best_notes,
    best_table,
    explain,
    heatmap,
    scatter,
    status_words,
)
from app.explore.layout_best import best_settings_table, sentences
from app.explore.state import ExploreState
from app.kit.columns import encode_view
from app.kit.encodings import title_of
from app.kit.export import ExportedPage, render
from app.kit.lake_view import LakeView
from app.kit.panel import view_panel


def export(view: LakeView, state: ExploreState) -> ExportedPage:
    """Build the page for an export: scatter, heatmap, best settings, and the drawn points."""
    picture = scatter(view, state)
    rows, asked = best_table(view, state), asked_of(view, state)
    table = best_settings_table(rows, asked)
    data = {
        "scatter": encode_view(picture),
        "heatmap": encode_view(heatmap(view, state)),
        "state": {"clause": state.clause, "zoom": state.zoom, "limit": state.limit},
    }
    main = _MAIN.format(
        scatter=_panel("scatter", "energy against performance"),
        heatmap=_panel("heatmap", "heatmap of two knobs"),
        filters=html.escape(state.selection.in_words()),
        status=html.escape(status_words(view, state)),
        findings="".join(f"<p>{html.escape(words)}</p>" for words in sentences(rows, asked)),
        words=html.escape(best_notes(view, state)),
        table=render(table),
        explanation=html.escape(
            "\n\n".join(explain(view, state, name) for name in ("scatter", "best-table"))
        ),
    )
    return ExportedPage(title_of(picture["figure"]) or "Explore", main, data, view.is_synthetic)


def _panel(name: str, title: str) -> str:
    return render(view_panel(name, title, [], f"panel-{name}", has_menu=False))


_MAIN: Final = """<main class="explore-export">
<p class="quiet">{status}: {filters}. Drag in a picture to select; Escape clears.</p>
<div class="findings">{findings}</div>
<div class="export-views">
{scatter}{heatmap}
</div>
<section class="panel panel-best"><h2>Best settings</h2><p>{words}</p>
<div id="best-table">{table}</div></section>
<p id="status-selection" role="status"></p>
<details><summary>How was this computed</summary><pre>{explanation}</pre></details>
</main>"""
