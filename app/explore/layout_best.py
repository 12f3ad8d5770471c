"""The table of best settings, and the sentences that lead the page."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from dash import html

from app.explore.decided import DEFAULT_WORDS
from app.kit.words import configuration_words, knob_words, load_words, lowered
from data.catalogue import Catalogue
from data.metrics import Metric
from data.units import MINUS, MISSING, format_digits, format_quantity

# A regret above it says that the data do not bound it.
MOST_REGRET_PCT: Final = 25.0
_MOST_SENTENCES: Final = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What the table answers.

    Attributes:
        cost, limited: The metrics of which a setting has the best value, and that has the limit.
        limit: In the unit of `limited`; None without one.
        against: Label of the system to compare with; empty for none.
        axes: The metrics along x and y, in which areas are compared.
        varying: Columns with several values in the study, which name a setting.
        catalogue: Columns of the lake.
    """

    cost: Metric
    limited: Metric
    limit: float | None
    against: str
    axes: tuple[Metric, ...]
    varying: Collection[str]
    catalogue: Catalogue

    @property
    def limit_words(self) -> str:
        """The limit as the start of a sentence: `Under 500 us`; empty without one."""
        if self.limit is None:
            return ""
        word = "At least" if self.limited.better == "more" else "Under"
        return f"{word} {format_quantity(self.limit, self.limited.unit)}"


def best_settings_table(rows: pl.DataFrame, question: Asked) -> html.Div:
    """Lay out the answer of `decided`; a click on a row selects its best set."""
    if not len(rows):
        title = lowered(question.cost.title)
        words = f"no run has both {title} and the metric."
        if question.cost.better is None:
            words = (
                f"whether less or more {title} is better is not declared (`better` in settings)."
            )
        return html.Div(f"Nothing to compare: {words}", className="note")
    listed = rows.to_dicts()
    settings = [_setting_words(row, question) for row in listed]
    place_names = place_columns(rows, question)
    has_default = any(row["change_pct"] is not None for row in listed)
    has_settings = any(settings)
    has_areas = any(row["area"] is not None for row in listed)
    has_sets = any(row["settings"] > 1 for row in listed)
    shown = (
        [question.cost] if question.cost is question.limited else [question.cost, question.limited]
    )
    best = _best_row(listed, question)
    head = [
        html.Th("System"),
        *([html.Th("Recommended setting")] if has_settings else []),
        *(html.Th(each.title, className="number") for each in shown),
        *([html.Th("Not told apart", className="number", title=_SET_TITLE)] if has_sets else []),
        *([html.Th("Regret", className="number", title=_REGRET_TITLE)] if has_sets else []),
        *(
            [html.Th(f"{question.cost.title} vs default", className="number")]
            if has_default
            else []
        ),
        *([html.Th(f"vs {question.against}", className="number")] if question.against else []),
        *([html.Th("Area", className="number", title=_area_title(question))] if has_areas else []),
        html.Th("n", className="number", title="runs of the setting"),
    ]
    body = [
        html.Tr(
            [
                html.Th(_name(row, place_names, question), scope="row"),
                *([_setting(row, words, question)] if has_settings else []),
                *_values(row, question),
                *([_set(row), _regret(row)] if has_sets else []),
                *([_change(row, question)] if has_default else []),
                *([_against(row, question)] if question.against else []),
                *([_area(row, question)] if has_areas else []),
                html.Td(str(row["n"]), className="number"),
            ],
            tabIndex=0,
            **{"data-config": row["set"], "data-meets": str(row["standing"] != "outside")},
            **({"data-best": ""} if row is best else {}),
        )
        for row, words in zip(listed, settings, strict=True)
    ]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="best")


def _best_row(listed: Sequence[Mapping[str, Any]], question: Asked) -> Mapping[str, Any] | None:
    """Return the row that costs least among those that do what the first one does.

    None if all miss the limit. Systems compete; loads, sizes and programs do not.
    """
    sign = -1 if question.cost.better == "more" else 1
    can = [row for row in listed if row["standing"] != "outside" and row["cost"] is not None]
    # A row without a value on the other axis is no point.
    can = [row for row in can if row["limited"] is not None] or can
    given = [name for name in question.catalogue.choice_columns if name != "system"]
    alike = (row for row in can if all(row[name] == can[0][name] for name in given))
    return min(alike, key=lambda row: sign * row["cost"], default=None)


_SET_TITLE: Final = (
    "settings measured at least twice that cannot be told from the best, and those measured once "
    "that cannot be ruled out"
)
_REGRET_TITLE: Final = "the setting costs at most so much more than the best one of these"


def _area_title(question: Asked) -> str:
    return (
        f"how many times the area of {question.against} the system's frontier dominates, on "
        "logarithmic axes"
    )


def _area(row: Mapping[str, Any], question: Asked) -> html.Td:
    if row["area"] is None:
        return html.Td(MISSING, className="number quiet")
    words, low, high = (format_digits(row[f"area{end}"]) for end in ("", "_low", "_high"))
    spread = html.Span(f" [{low}, {high}]", className="spread ends")
    return html.Td([f"{words} x", spread], className="number", title=area_words(row, question))


def area_words(row: Mapping[str, Any], question: Asked) -> str:
    """Return the ratio of two areas as a sentence without its end, with the reference point."""
    name = row["system_label"] or row["system"]
    estimate, low, high = (format_digits(row[f"area{end}"]) for end in ("", "_low", "_high"))
    bounds = (
        f"{lowered(metric.title)} {'above' if metric.better == 'more' else 'below'} "
        f"{format_quantity(row[f'area_{axis}'], metric.unit)}"
        for axis, metric in zip("xy", question.axes, strict=True)
    )
    return (
        f"{name} dominates {estimate} [{low}, {high}] times the area of {question.against} "
        f"({' and '.join(bounds)}, log axes)"
    )


def place_columns(rows: pl.DataFrame, question: Asked) -> list[str]:
    """Return the given knobs that differ between rows: what tells one choice from another."""
    return [
        knob.column for knob in question.catalogue.knobs.values()
        if knob.is_given and rows[knob.column].n_unique() > 1
    ]  # fmt: skip


def _place_words(row: Mapping[str, Any], place_names: Collection[str], question: Asked) -> str:
    """Return what was given, in words: `400k QPS · 64 B messages · haswell`."""
    parts = (
        knob_words(knob, row[knob.column])
        for knob in question.catalogue.knobs.values()
        if knob.column in place_names and knob.column not in ("load_qps", "message_bytes")
    )
    shown = "load_qps" in place_names or "message_bytes" in place_names
    load = load_words(row["load_qps"], row["message_bytes"]) if shown else ""
    return " · ".join(filter(None, [load, *parts]))


def _name(row: Mapping[str, Any], place: Collection[str], question: Asked) -> str:
    name = row["system_label"] or row["system"] or ""
    return " · ".join(filter(None, [name, _place_words(row, place, question)]))


def _setting_words(row: Mapping[str, Any], question: Asked) -> str:
    given = {knob.column for knob in question.catalogue.knobs.values() if knob.is_given}
    return configuration_words(row, set(question.varying) - given, question.catalogue)


def _setting(row: Mapping[str, Any], setting_text: str, question: Asked) -> html.Td:
    if row["standing"] == "outside":
        missed = f"none meets {format_quantity(question.limit, question.limited.unit)}"
        text = f"{missed}; nearest: {setting_text}" if setting_text else missed
        return html.Td([text, *_possible(row, question)], className="missed")
    note = ""
    if row["n"] == 1 and row["settings"] > 1:
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
    title = f"set the nearest limit that {row['system_label'] or row['system']} meets"
    return [html.Button(words, className="plain", title=title, **{"data-limit": str(limit)})]


def _values(row: Mapping[str, Any], question: Asked) -> list[html.Td]:
    shown = [html.Td(format_quantity(row["cost"], question.cost.unit), className="number")]
    if question.cost is not question.limited:
        text = format_quantity(row["limited"], question.limited.unit)
        shown.append(html.Td(text, className="number"))
    return shown


def _set(row: Mapping[str, Any]) -> html.Td:
    if row["standing"] == "outside" or row["settings"] == 1:
        return html.Td(MISSING, className="number quiet")
    once = f" + {row['members_once']:,} once" if row["members_once"] else ""
    if not row["members"]:
        return html.Td(f"not judged{once}", className="number quiet")
    words = f"{row['members']:,} of {row['settings_twice']:,}"
    return html.Td([words, html.Span(once, className="spread ends")], className="number")


def _regret(row: Mapping[str, Any]) -> html.Td:
    if not row["members"] or row["standing"] == "outside" or row["settings"] == 1:
        return html.Td(MISSING, className="number quiet")
    words = _regret_words(row["regret_pct"])
    return html.Td(words, className="number" if words[-1] == "%" else "number in-words")


def _regret_words(regret_pct: float | None) -> str:
    if regret_pct is None or regret_pct > MOST_REGRET_PCT:
        return "not bounded"
    return f"≤ {percent(regret_pct)}" if regret_pct else "0 %"


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


def decided_side(row: Mapping[str, Any], name: str) -> int:
    """Return -1 or 1 if an interval is below or above 0, else 0."""
    low, high = row[f"{name}_low_pct"], row[f"{name}_high_pct"]
    if high is not None and high < 0:
        return -1
    return 1 if low is not None and low > 0 else 0


def interval_words(row: Mapping[str, Any], name: str) -> str:
    """Return an estimate with its interval in brackets; an end that is not bounded is a dash."""
    estimate, low, high = (row[f"{name}{end}_pct"] for end in ("", "_low", "_high"))
    ends = ", ".join(MISSING if end is None else signed(end) for end in (low, high))
    return f"{MISSING if estimate is None else signed(estimate)} % [{ends}]"


def signed(value: float) -> str:
    """Return a number with its sign and three digits."""
    return f"{MINUS if value < 0 else '+'}{format_digits(abs(value))}"


def percent(value: float) -> str:
    """Return a share in percent with three digits."""
    return f"{format_digits(value)} %"


def more_runs_words(more: int | None) -> str:
    """Return how many more runs would decide."""
    if more is None:
        return "over 100 more runs of each"
    return f"about {more} more {'run' if more == 1 else 'runs'} of each"


def sentences(rows: pl.DataFrame, question: Asked) -> list[str]:
    """Return what the page concludes: one sentence a system at a load, three at most.

    The default's own row is none: it is what the others are compared with. What was run once comes
    last: it proves least.
    """
    told = [row for row in rows.to_dicts() if row["reason"] != DEFAULT_WORDS]
    told.sort(key=lambda row: row["n"] == 1)
    place = {"load_qps", "message_bytes", *(place_columns(rows, question) if len(rows) else ())}
    listed = [_sentence(row, question, place) for row in told[:_MOST_SENTENCES]]
    if len(told) > _MOST_SENTENCES:
        listed.append(
            f"{len(told) - _MOST_SENTENCES} more in Best settings.{_most(told, question)}"
        )
    return listed


def _most(told: Sequence[Mapping[str, Any]], question: Asked) -> str:
    """Say which setting is recommended in over half of the choices among several; else nothing."""
    several = [r for r in told if r["settings"] > 1 and r["standing"] != "outside"]
    counts = Counter(filter(None, (_setting_words(row, question) for row in several)))
    setting, count = max(counts.items(), key=lambda each: each[1], default=("", 0))
    if count < 2 or 2 * count <= len(several):
        return ""
    return f" {setting} is recommended in {count} of {len(several)}."


def _sentence(row: Mapping[str, Any], question: Asked, place: Collection[str]) -> str:
    name = row["system_label"] or row["system"] or "the best setting"
    load = _place_words(row, place, question)
    where = " at ".join(filter(None, [question.limit_words, load])) or ""
    if where and not question.limit_words:
        where = f"At {load}"
    start = f"{where}, {name}" if where else name
    what, setting = lowered(question.cost.title), _setting_words(row, question)
    value = format_quantity(row["cost"], question.cost.unit)
    if row["standing"] == "outside":
        nearest = format_quantity(row["limited"], question.limited.unit)
        word = "highest" if question.limited.better == "more" else "lowest"
        named = f" ({setting})" if setting else ""
        limit = format_quantity(question.limit, question.limited.unit)
        load = f" at {load}" if load else ""
        return (
            f"No setting of {name} meets {limit}{load}: "
            f"the {word} {lowered(question.limited.title)} is {nearest}{named}."
        )
    if question.limit is not None and row["limited"] is None:
        return f"{name}{f' at {load}' if load else ''} has no {lowered(question.limited.title)}."
    parts = [_change_sentence(row, question, what, value), *_against_sentence(row, question)]
    if row["members"] and row["settings"] > 1:
        parts.append(_set_sentence(row))
    if setting and row["settings"] > 1:
        parts.append(f"recommended: {setting}{_caution(row, question)}")
    return f"{start} {'; '.join(parts)}."


def _change_sentence(row: Mapping[str, Any], question: Asked, what: str, value: str) -> str:
    if row["change_pct"] is None:
        best = "the most" if question.cost.better == "more" else "the least"
        return f"has {best} {what} with {value} (n = {row['n']})"
    side = decided_side(row, "change")
    n = f"(n = {row['n']} and {row['default_n']})"
    if not side:
        more = more_runs_words(row["default_more_runs"])
        return (
            f"is undecided against the default in {what}: {interval_words(row, 'change')} {n}, "
            f"{more} would decide"
        )
    estimate, low, high = (row[f"change{end}_pct"] for end in ("", "_low", "_high"))
    ends = [None if end is None else abs(end) for end in ((high, low) if side < 0 else (low, high))]
    span = ", ".join(MISSING if end is None else format_digits(end) for end in ends)
    size = f"{percent(abs(estimate))} [{span}]"
    if side < 0:
        return f"saves {size} of the default's {what} {n}"
    return f"has {size} more {what} than the default {n}"


def _against_sentence(row: Mapping[str, Any], question: Asked) -> list[str]:
    """Return how it compares with the system that the reader chose; empty without one."""
    interval = interval_words(row, "against")
    if row["against_outcome"] is None:
        return []
    if row["against_outcome"] == "undecided":
        more = more_runs_words(row["against_more_runs"])
        return [f"undecided against {question.against}: {interval}, {more} would decide"]
    if row["against_outcome"] == "equivalent":
        return [f"equivalent to {question.against}: {interval}"]
    return [f"against {question.against}: {interval}"]


def _set_sentence(row: Mapping[str, Any]) -> str:
    twice = (
        f"{row['members']:,} of {row['settings_twice']:,} settings measured at least twice "
        "cannot be told from the best"
    )
    if row["members"] == 1:
        twice = f"it is the best of {row['settings_twice']:,} settings measured at least twice"
    once = f", {row['members_once']:,} measured once cannot be ruled out"
    return twice + (once if row["members_once"] else "")


def _caution(row: Mapping[str, Any], question: Asked) -> str:
    if row["n"] == 1:
        return " (n = 1: unproven)"
    if row["standing"] == "maybe" and question.limit is not None:
        return " (which may miss the limit)"
    regret = row["regret_pct"]
    if regret is None or regret > MOST_REGRET_PCT:
        return " (these data do not bound its regret)"
    if regret:
        return f" (at most {percent(regret)} above the best)"
    return ""
