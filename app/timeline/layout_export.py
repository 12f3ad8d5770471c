"""The timeline as one HTML file: the window in view, and the whole run if it is small."""

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
from dash import html as tags

from app.kit.encodings import OKABE_ITO
from app.kit.export import ExportedPage, render
from app.kit.lake_view import LakeView
from app.timeline.layout import distribution_parts, ids, move_buttons, runs_in_browser, time_parts
from app.timeline.routes import answer_window
from app.timeline.runs import RunInfo, describe_runs
from app.timeline.state import TimelineState
from app.timeline.tables import explain_view
from data.timeline.question import BANDS

# More pixels per line than on a screen, so that zooming in shows more.
_WIDTH: Final = 2000
_OPENING_WIDTH: Final = 400
_MOST_WHOLE_BYTES: Final = 1_000_000


def export_page(view: LakeView, state: TimelineState) -> ExportedPage:
    """Build the page for an export."""
    infos = describe_runs(view, state.runs)
    state = replace(state, width=_WIDTH)
    data = {
        "answers": _answers(view, state),
        **_shown(state, infos),
    }
    main = _MAIN.format(
        runs="".join(f"<li>{html.escape(info.label)}</li>" for info in infos),
        moves=render(move_buttons()),
        span=render(tags.Span(id=ids("span"), className="span-words", role="status")),
        panels=render(time_parts()),
        distributions=render(distribution_parts()),
        explanation=html.escape(explain_view(view, state, "figure") if infos else ""),
    )
    is_synthetic = any(info.is_synthetic for info in infos)
    return ExportedPage("Timeline", main, data, is_synthetic)


def _shown(state: TimelineState, infos: Sequence[RunInfo]) -> dict[str, Any]:
    return {
        "state": {
            **runs_in_browser(state, infos),
            "panels": list(state.shown_panels),
            "cores": state.cores,
            "heat": state.heat,
            "layout": state.layout,
            "align": state.align,
        },
        "colors": list(OKABE_ITO),
    }


def opening(view: LakeView, state: TimelineState) -> dict[str, Any] | None:
    """Return the window in few bins, of which the page's script makes the first figure."""
    if not state.runs:
        return None
    question = replace(state.question(), width=_OPENING_WIDTH, parts=("panels", "heat"))
    answer = answer_window(view, question, state.base)
    return {"answer": answer, **_shown(state, describe_runs(view, state.runs))}


def _answers(view: LakeView, state: TimelineState) -> list[dict[str, Any]]:
    """Return the answer for the window in view, and for the whole runs if that is small enough."""
    if not state.runs:
        return []
    answers = [_answer(view, state)]
    if state.from_x is not None or state.to_x is not None:
        whole = replace(state, from_x=None, to_x=None)
        answer = _answer(view, whole)
        if len(orjson.dumps(answer)) <= _MOST_WHOLE_BYTES:
            answers.append(answer)
    return answers


def _answer(view: LakeView, state: TimelineState) -> dict[str, Any]:
    """Return the answer for a window, with the bands of its runs."""
    question = state.question()
    answer = answer_window(view, question, state.base)
    bands = answer_window(view, replace(question, parts=BANDS), state.base)
    return _plain({**answer, "bands": bands["runs"]})


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = orjson.loads(orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY))
    return plain


_MAIN: Final = """<main class="page timeline timeline-export">
<div class="views">
<section class="panel panel-time" tabindex="0" data-view="timeline-figure">
<div class="panel-head">{moves}{span}</div>{panels}</section>
<section class="panel panel-distributions" tabindex="0" data-view="timeline-gaps">
<div class="panel-head"><h2 id="timeline-gaps-title">Distributions</h2></div>
{distributions}</section>
<section class="panel panel-totals" tabindex="0" data-view="timeline-totals">
<div class="panel-head"><h2 id="timeline-totals-title">Totals</h2></div>
<div id="timeline-totals" class="table-frame"></div></section>
</div>
<footer><ol class="export-runs" type="A">{runs}</ol>
<details><summary>How was this computed</summary><pre>{explanation}</pre></details></footer>
</main>"""
