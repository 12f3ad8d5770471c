"""The list of runs in the sidebar, and the list of runs to add."""

from collections.abc import Sequence
from typing import Any, Final

from dash import html

from app.kit.encodings import OKABE_ITO
from app.kit.lake_view import LakeView
from app.kit.words import load_words, workload_title
from app.timeline.runs import RunInfo, short_label
from app.timeline.state import TimelineState
from data.queries.logged_runs import logged_runs_query
from data.timeline.question import MOST_RUNS
from data.units import counted, format_quantity

_MOST_CHOICES: Final = 100
_MOST_WORDS: Final = 12
_ADD: Final = "add a run\N{HORIZONTAL ELLIPSIS}"
_FULL: Final = f"{MOST_RUNS} runs at most"


def run_items(infos: Sequence[RunInfo], state: TimelineState) -> list[html.Li]:
    """Return the drawn runs, each with its letter, line, configuration and buttons."""
    hues = state.shown_hues
    return [
        _run_item(info, chr(65 + at), hues[at], is_base=at == state.base)
        for at, info in enumerate(infos)
    ]


def _run_item(info: RunInfo, letter: str, hue: int, *, is_base: bool) -> html.Li:
    compare = html.Button(
        "reference" if is_base else "ref",
        className="plain base",
        title="differences are relative to this run"
        if is_base
        else "show differences relative to this run",
        **{"data-edit": "compare", "data-run": info.run_id, "aria-pressed": str(is_base).lower()},
    )
    remove = html.Button(
        "\N{MULTIPLICATION SIGN}",
        className="plain",
        title="remove",
        **{"data-edit": "remove", "data-run": info.run_id, "aria-label": f"remove run {letter}"},
    )
    line = html.Span(
        className=f"run-line dash-{hue % MOST_RUNS}",
        style={"--hue": OKABE_ITO[hue % len(OKABE_ITO)]},
        **{"aria-hidden": "true"},
    )
    label = html.Div(info.label, className="run-label", title=info.run_id)
    return html.Li(
        [html.B(letter), line, html.Span(className="spring"), compare, remove, label],
        className="run",
        **{"data-shown-run": info.run_id},
    )


def add_words(runs: int) -> tuple[str, bool]:
    """Return the text of the button that adds a run, and whether it is disabled."""
    return (_FULL, True) if runs >= MOST_RUNS else (_ADD, False)


def choices(view: LakeView, words: str, near: str | None) -> list[dict[str, Any]]:
    """Return the runs that can be added: answer of `logged_runs_query`."""
    asked = words.split()[:_MOST_WORDS]
    query = logged_runs_query(asked, near, _MOST_CHOICES, catalogue=view.catalogue)
    return view.lake.polars(*query).to_dicts()


def choice_words(rows: Sequence[dict[str, Any]]) -> str:
    """Return how many runs can be added, and how many of them are listed."""
    total = rows[0]["total"] if rows else 0
    runs = f"{counted(total, 'run')} with a per-interrupt log"
    if total <= len(rows):
        return runs
    return f"the first {len(rows)} of {runs}: type words to narrow"


def choice_items(view: LakeView, rows: Sequence[dict[str, Any]], shown: Sequence[str]) -> list[Any]:
    """Return the runs that can be added, under a heading for each workload and load.

    Args:
        shown: The drawn runs.
    """
    items: list[Any] = []
    subject = None
    for row in rows:
        if _subject(row) != subject:
            subject = _subject(row)
            items.append(html.Div(subject, className="choice-subject"))
        items.append(_choice(view, row, shown))
    return items


def _subject(row: dict[str, Any]) -> str:
    load = load_words(row["load_qps"], row["message_bytes"])
    workload = workload_title(row["workload"])
    return f"{workload}{f' at {load}' if load else ''} · {row['dataset']}"


def _choice(view: LakeView, row: dict[str, Any], shown: Sequence[str]) -> html.Button:
    is_shown = row["run_id"] in shown
    label = short_label(view, row)
    duration = format_quantity(row["duration_s"], "s")
    note = f"replicate {row['replicate']} · {duration} · {row['interrupts'] or 0:,} interrupts"
    return html.Button(
        [("\N{CHECK MARK} " if is_shown else "+ ") + label, html.Span(note, className="quiet")],
        className="choice",
        role="option",
        title=row["run_id"],
        disabled=len(shown) >= MOST_RUNS and not is_shown,
        **{
            "data-edit": "remove" if is_shown else "add",
            "data-run": row["run_id"],
            "aria-selected": str(is_shown).lower(),
        },
    )
