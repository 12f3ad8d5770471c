"""Explore as one self-contained HTML file: figures, table, linking."""

import html
from typing import Final

from app.explore.best_words import sentences
from app.explore.layout_best import best_settings_table
from app.explore.state import ExploreState
from app.explore.views import (
    VIEWS,
    asked_of,
    best_notes,
    best_table,
    explain,
    picture,
    status_words,
)
from app.kit.columns import encode_view
from app.kit.encodings import title_of
from app.kit.export import ExportedPage, render
from app.kit.lake_view import LakeView
from app.kit.page_layout import view_panel
from app.kit.words import derived_words, guessed_words, unread_words
from app.kit.work_words import work_words


def export(view: LakeView, state: ExploreState) -> ExportedPage:
    """Build the page for an export: its pictures with the drawn points, and the best settings."""
    has_lines = state.show != "points"
    drawn = [each for each in VIEWS if each.picture and (not each.is_optional or has_lines)]
    pictures = {each.name: picture(each.name, view, state) for each in drawn}
    rows, question = best_table(view, state), asked_of(view, state)
    table = best_settings_table(rows, question)
    says = (unread_words, guessed_words, work_words)
    notes = [words(view, state.selection) for words in says]
    notes.append(derived_words(view, state.selection, (state.x, state.y)))
    said = [*notes, *sentences(rows, question)]
    data = {
        "pictures": {name: encode_view(answer) for name, answer in pictures.items()},
        "state": {"clause": state.clause, "zoom": state.zoom, "limit": state.limit},
    }
    main = _MAIN.format(
        panels="".join(
            render(view_panel(each.name, each.label, [], f"panel-{each.name}", has_menu=False))
            for each in drawn
        ),
        filters=html.escape(state.selection.in_words()),
        status=html.escape(status_words(view, state)),
        findings="".join(f"<p>{html.escape(words)}</p>" for words in said if words),
        words=html.escape(best_notes(view, state)),
        table=render(table),
        explanation=html.escape(
            "\n\n".join(
                explain(view, state, name)
                for name in ("scatter", *(["lines"] if has_lines else []), "best-table")
            )
        ),
    )
    return ExportedPage(
        title_of(pictures["scatter"]["figure"]) or "Explore", main, data, view.is_synthetic
    )


_MAIN: Final = """<main class="explore-export">
<p class="quiet">{status}: {filters}. Drag in a picture to select; Escape clears.</p>
<div class="findings">{findings}</div>
<div class="export-views">
{panels}
</div>
<section class="panel panel-best"><h2>Best settings</h2><p>{words}</p>
<div id="best-table">{table}</div></section>
<p id="status-selection" role="status"></p>
<details><summary>How was this computed</summary><pre>{explanation}</pre></details>
</main>"""
