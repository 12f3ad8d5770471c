"""The table of best settings."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
from dash import html

from app.explore.best_words import (
    MOST_REGRET_PCT,
    Asked,
    area_words,
    decided_side,
    interval_words,
    is_guessed,
    kind_of_mean,
    more_runs_words,
    percent,
    place_columns,
    place_words,
    setting_words,
)
from app.explore.decided import DEFAULT_WORDS, is_unjudged
from app.kit.words import system_name
from data.below_zero import below_zero_words
from data.metrics import Metric
from data.units import MISSING, format_digits, format_quantity, lowered


def best_settings_table(rows: pl.DataFrame, question: Asked) -> html.Div:
    """Lay out the answer of `decided`; a click on a row selects its best set."""
    if not len(rows):
        title = lowered(question.cost.title)
        reason = f"no run has both {title} and the metric."
        if question.has_negative_costs:
            reason = f"{below_zero_words(question.cost)}."
        if question.cost.better is None:
            reason = (
                f"whether less or more {title} is better is not declared (`better` in settings)."
            )
        return html.Div(f"Nothing to compare: {reason}", className="note")
    listed = rows.to_dicts()
    settings = [setting_words(row, question) for row in listed]
    place_names = place_columns(rows, question)
    has_default = any(row["change_pct"] is not None for row in listed)
    has_settings = any(settings)
    has_areas = any(row["area"] is not None for row in listed)
    has_sets = any(row["settings"] > 1 for row in listed)
    shown = {"cost": question.cost}
    if question.cost is not question.limited:
        shown["limited"] = question.limited
    best = _best_row(listed, question)
    area_title = (
        f"how many times the area of {question.against} the system's frontier dominates, on "
        "logarithmic axes"
    )
    # Rows are systems, or the places of a study without any.
    has_systems = any(system_name(row) for row in listed)
    subjects = "System" if has_systems else "Place" if place_names else "Dataset"
    head = [
        html.Th(subjects),
        *([html.Th(_setting_title(listed, question))] if has_settings else []),
        *(_metric_head(each, listed) for each in shown.values()),
        *([html.Th("Not told apart", className="number", title=_SET_TITLE)] if has_sets else []),
        *([html.Th("Regret", className="number", title=_REGRET_TITLE)] if has_sets else []),
        *(
            [html.Th(f"{question.cost.title} vs default", className="number")]
            if has_default
            else []
        ),
        *([html.Th(f"vs {question.against}", className="number")] if question.against else []),
        *([html.Th("Area", className="number", title=area_title)] if has_areas else []),
        html.Th("n", className="number", title="runs of the setting"),
    ]
    body = [
        html.Tr(
            [
                html.Th(_subject(row, place_names, question), scope="row"),
                *([_setting(row, setting_text, question)] if has_settings else []),
                *(_mean(row, column, metric.unit) for column, metric in shown.items()),
                *([_set(row), _regret(row)] if has_sets else []),
                *([_change(row, question)] if has_default else []),
                *([_against(row, question)] if question.against else []),
                *([_area(row, question)] if has_areas else []),
                _n(row, question),
            ],
            tabIndex=0,
            **{"data-config": row["set"], "data-meets": str(row["standing"] != "outside")},
            **({"data-best": _best_words(row, question)} if row is best else {}),
        )
        for row, setting_text in zip(listed, settings, strict=True)
    ]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="best")


def _metric_head(metric: Metric, listed: Sequence[Mapping[str, Any]]) -> html.Th:
    return html.Th(metric.title_in(*(row["dataset"] for row in listed)), className="number")


def _best_words(row: Mapping[str, Any], question: Asked) -> str:
    """Return what is said of the points of the marked row; nothing of one that has no rival."""
    has_rivals = row["settings"] > 1 and not is_unjudged(row)
    return "may be the best" if has_rivals and not is_guessed(row, question) else ""


def _setting_title(listed: Sequence[Mapping[str, Any]], question: Asked) -> str:
    if not any(is_guessed(row, question) for row in listed):
        return "Recommended setting"
    most = "most" if question.cost.better == "more" else "least"
    return f"Setting with {most} {lowered(question.cost.title)}"


def _best_row(listed: Sequence[Mapping[str, Any]], question: Asked) -> Mapping[str, Any] | None:
    """Return the row that costs least among those that do what the first one does.

    Systems compete; loads, sizes and programs do not. If all miss the limit: the row nearest to it.
    """
    sign = -1 if question.cost.better == "more" else 1
    can = [row for row in listed if row["standing"] != "outside" and row["cost"] is not None]
    if not can:
        near = [row for row in listed if row["limited"] is not None]
        toward = -1 if question.limited.better == "more" else 1
        return min(near, key=lambda row: toward * row["limited"], default=None)
    # A row without a value on the other axis is no point.
    can = [row for row in can if row["limited"] is not None] or can
    given = [name for name in question.catalogue.choice_columns if name != "system"]
    alike = (row for row in can if all(row[name] == can[0][name] for name in given))
    return min(alike, key=lambda row: sign * row["cost"], default=None)


def _subject(row: Mapping[str, Any], place_names: Sequence[str], question: Asked) -> str:
    named = [system_name(row), place_words(row, place_names, question)]
    return " · ".join(filter(None, named)) or row["dataset"] or MISSING


def _mean(row: Mapping[str, Any], name: str, unit: str) -> html.Td:
    """Lay out a mean; its kind stands beside it where an arithmetic mean reads otherwise."""
    kind = kind_of_mean(row, name, unit)
    about = "about " if name == "cost" and row["is_unlike"] else ""
    value = f"{about}{format_quantity(row[name], unit)}"
    if not kind:
        return html.Td(value, className="number")
    title = f"{kind}; arithmetic mean {format_quantity(row[f'{name}_mean'], unit)}"
    mark = html.Span(f" {kind}", className="spread ends")
    return html.Td([value, mark], className="number", title=title)


_SET_TITLE: Final = (
    "settings measured at least twice that cannot be told from the best, and those measured once "
    "that cannot be ruled out"
)
_REGRET_TITLE: Final = "the setting costs at most so much more than the best one of these"


def _n(row: Mapping[str, Any], question: Asked) -> html.Td:
    if row["n"] == 1 and row["dataset"] in question.unstated:
        return html.Td("not stated", className="number quiet in-words")
    return html.Td(str(row["n"]), className="number")


def _area(row: Mapping[str, Any], question: Asked) -> html.Td:
    if row["area"] is None:
        return html.Td(MISSING, className="number quiet")
    words, low, high = (format_digits(row[f"area{end}"]) for end in ("", "_low", "_high"))
    spread = html.Span(f" [{low}, {high}]", className="spread ends")
    return html.Td([f"{words} x", spread], className="number", title=area_words(row, question))


def _setting(row: Mapping[str, Any], setting_text: str, question: Asked) -> html.Td:
    if row["standing"] == "outside":
        missed = f"none meets {format_quantity(question.limit, question.limited.unit)}"
        text = f"{missed}; nearest: {setting_text}" if setting_text else missed
        return html.Td([text, *_possible(row, question)], className="missed")
    if 1 < row["settings"] == row["equals"]:
        return html.Td("all equal")
    note = ""
    if is_unjudged(row):
        note = " · no replicates: not judged"
    elif row["n"] == 1 and row["settings"] > 1:
        note = " · unproven"
    elif row["standing"] == "maybe" and question.limit is not None:
        note = " · may miss the limit"
    return html.Td([setting_text, html.Span(note, className="missed")] if note else setting_text)


def _possible(row: Mapping[str, Any], question: Asked) -> list[html.Button]:
    """Lay out a button that sets the nearest limit that the system can meet, to three digits."""
    value = row["limited"]
    if value is None or not value > 0:
        return []
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    steps = (
        math.floor(value / step) if question.limited.better == "more" else math.ceil(value / step)
    )
    limit = float(f"{steps * step:.6g}")
    words = f"limit {format_quantity(limit, question.limited.unit)}"
    title = f"set the nearest limit that {system_name(row) or 'a setting'} meets"
    return [html.Button(words, className="plain", title=title, **{"data-limit": str(limit)})]


def _set(row: Mapping[str, Any]) -> html.Td:
    if row["standing"] == "outside" or row["settings"] == 1 or is_unjudged(row):
        return html.Td(MISSING, className="number quiet")
    once = f" + {row['members_once']:,} once" if row["members_once"] else ""
    if not row["members"]:
        return html.Td(f"not judged{once}", className="number quiet")
    words = f"{row['members']:,} of {row['settings_twice']:,}"
    return html.Td([words, html.Span(once, className="spread ends")], className="number")


def _regret(row: Mapping[str, Any]) -> html.Td:
    is_alone = row["settings"] == 1 or is_unjudged(row)
    if not row["members"] or row["standing"] == "outside" or is_alone:
        return html.Td(MISSING, className="number quiet")
    regret_pct = row["regret_pct"]
    bound = f"≤ {percent(regret_pct)}" if regret_pct else "0 %"
    if regret_pct is None or regret_pct > MOST_REGRET_PCT:
        bound = "not bounded"
    return html.Td(bound, className="number" if bound[-1] == "%" else "number in-words")


def _change(row: Mapping[str, Any], question: Asked) -> html.Td:
    if row["change_pct"] is None:
        is_default = row["reason"] == DEFAULT_WORDS
        return html.Td(DEFAULT_WORDS if is_default else MISSING, className="number quiet")
    return _interval_cell(row, "change", question)


def _against(row: Mapping[str, Any], question: Asked) -> html.Td:
    if row["against_outcome"] is None:
        return html.Td(MISSING, className="number quiet")
    if row["against_outcome"] == "undecided":
        more = f" {more_runs_words(row['against_more_runs'])}"
        return html.Td(
            ["undecided", html.Span(more, className="spread ends")],
            className="number quiet in-words", title=interval_words(row, "against"),
        )  # fmt: skip
    if row["against_outcome"] == "equivalent":
        words = f" {interval_words(row, 'against')}"
        return html.Td(
            ["equivalent", html.Span(words, className="spread ends")], className="number quiet"
        )
    return _interval_cell(row, "against", question)


def _interval_cell(row: Mapping[str, Any], name: str, question: Asked) -> html.Td:
    side = decided_side(row, name)
    tone = {0: "quiet", -1: "good", 1: "bad"}[-side if question.cost.better == "more" else side]
    estimate, _, interval = interval_words(row, name).partition(" [")
    return html.Td(
        [estimate, html.Span(f" [{interval}", className="spread ends")], className=f"number {tone}"
    )
