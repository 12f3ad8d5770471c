"""Texts of Modes: names of rules and corrections, titles, verdicts, warnings, empty results."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import value_words
from app.kit.encodings import BREAK, bold
from app.kit.lake_view import LakeView
from app.kit.words import (
    n_words,
    no_run_left,
    slice_words,
    some_of,
    synthetic_note,
    workload_title,
)
from app.modes.defaults import metric_title
from app.modes.judged import Judged
from app.modes.state import ModesState
from data.analysis.replicates import UNLIKE_WHY
from data.analysis.rules import (
    ALONE,
    DIFFER,
    EQUIVALENT,
    OVER,
    SETS,
    TIE,
    TOO_FEW,
    UNDECIDED,
    UNLIKE,
    WIN,
)
from data.analysis.significance import smallest_p
from data.units import counted, format_change, format_quantity, format_signed_ends, lowered

TEST_TITLES: Final = {
    "sets": "best sets, four outcomes",
    "student": "Student's t test",
    "welch": "Welch's t test",
    "mann-whitney": "Mann-Whitney U test",
}
# The same in menus.
TEST_LABELS: Final = {
    "sets": "best sets",
    "student": "Student's t",
    "welch": "Welch",
    "mann-whitney": "Mann-Whitney",
}
CORRECTION_LABELS: Final = {
    "none": "uncorrected",
    "holm": "Holm",
    "benjamini-hochberg": "Benjamini-Hochberg",
}
CORRECTION_TITLES: Final = {
    "none": "uncorrected",
    "holm": "Holm's correction over the cells",
    "benjamini-hochberg": "Benjamini-Hochberg over the cells",
}
VERSUS_TITLES: Final = {"each": "each other", "default": "the default"}
OUTCOME_WORDS: Final = {
    "win": "won",
    "equivalent": "equivalent",
    "undecided": "undecided",
    "tie": "tied",
    "too few": "too few runs",
    "alone": "alone",
    "over": "over the limit",
    "differ": "differ",
    "unlike": "without replicates",
}
# Test to its effect size.
EFFECT_TITLES: Final = {
    "sets": "",
    "student": "Hedges' g",
    "welch": "Hedges' g",
    "mann-whitney": "probability that its run beats one of the runner-up",
}
# Values that say nothing without the name of what was set.
_BARE: Final = frozenset({"true", "false", "yes", "no", "on", "off", "none"})
# Maximum number of characters in a line of the subtitle.
_LINE_CHARS: Final = 105


def nothing_left(view: LakeView, state: ModesState) -> str:
    """Return which filter to clear, or that no run has a value of the metric."""
    matching = view.matching(state.selection)
    if matching:
        title = view.catalogue.metric(str(state.metric)).title
        return (
            f"None of the {matching:,} runs that the filters leave has a value for{BREAK}{title}. "
            "Choose another metric."
        )
    return no_run_left(view.cube_of(state.selection), state.selection, view.catalogue)


def rules_words(state: ModesState) -> str:
    """Return a text such as `Student's t test at 5 %, uncorrected`."""
    margin = f", margin {state.margin_pct:g} %" if state.test == SETS else ""
    return (
        f"{TEST_TITLES[state.test]} at {100 * state.alpha:.4g} %{margin}, "
        f"{CORRECTION_TITLES[state.correction]}"
    )


def limit_words(judged: Judged) -> str:
    """Return the limit in words: `p99 latency at most 500 us`; empty for none."""
    state = judged.state
    if state.limit is None:
        return ""
    measure = judged.catalogue.metric(state.limited)
    bound = "at least" if measure.better == "more" else "at most"
    return f"{measure.title} {bound} {format_quantity(state.limit, measure.unit)}"


def question(judged: Judged, is_guessed: bool = False) -> str:
    """`Energy (less is better): best system`; without a direction `Temperature by system`.

    Args:
        is_guessed: Whether it is a guess that the competitors compete: none is called the best, as
            none of programs, models and inputs is.
    """
    measure, noun = judged.metric, judged.competitors.knob.noun
    if not measure.better:
        return f"{measure.title} by {noun} (neither less nor more is better)"
    against = " against the default" if judged.has_default else ""
    is_item = judged.competitors.knob.column in judged.catalogue.item_columns
    best = f" by {noun}" if is_guessed or is_item else f": best {noun}"
    return f"{measure.title} ({measure.better} is better){best}{against}"


def subject(judged: Judged) -> str:
    """Name what was compared: the workload, and the given knobs with one value in all runs."""
    state, groups = judged.state, judged.comparison.groups
    taken = {state.x, state.y, state.competitor, "dataset", "workload"}
    names = [workload_title(w) for w in groups["workload"].unique().drop_nulls().sort()]
    parts = [some_of(names)]
    for knob in judged.catalogue.knobs.values():
        if knob.is_given and knob.name not in taken and groups[knob.column].n_unique() == 1:
            value = groups[knob.column][0]
            parts += [] if value is None else [value_words(knob, value, judged.labels)]
    return " · ".join(parts)


def subtitle(view: LakeView, judged: Judged) -> str:
    """Return how cells are compared, which runs, and a warning of synthetic data; 1 or 2 lines."""
    note = synthetic_note(view.part_left(judged.state.selection))
    panels = "each panel compared by itself" if judged.split else ""
    parts = [panels, limit_words(judged), slice_words(judged.part, judged.labels), bold(note)]
    parts.append(judged.split.words() if judged.split else "")
    first, rest = rules_words(judged.state), " · ".join(each for each in parts if each)
    if len(first) + len(rest) > _LINE_CHARS:
        return f"{first}{BREAK}{rest}"
    return " · ".join(each for each in (first, rest) if each)


def conclusions(judged: Judged) -> list[str]:
    """Return what the map says as a whole: who wins how many cells, what is open, the best lead."""
    cells, total = judged.comparison.cells, len(judged.comparison.cells)
    counts = dict(cells["outcome"].value_counts().iter_rows())
    if not total:
        return []
    title, cell_words = metric_title(judged.metric), counted(total, "cell")
    won = cells.filter(pl.col("outcome") == WIN)
    who = pl.Series(judged.who[won["winner"].to_numpy()]).value_counts(sort=True).iter_rows()
    parts = [f"{competitor_name(judged, i)} in {n:,}" for i, n in who]
    if parts:
        against = " against the default" if judged.has_default else ""
        name, count = parts[0].rsplit(" in ", 1)
        parts[0] = f"{_capital(judged, name)} has {title} in {count} of {cell_words}{against}"
    elif judged.metric.better and not counts.get(DIFFER):
        cell_words = "the only cell" if total == 1 else f"any of {cell_words}"
        parts = [f"Nobody has {title} in {cell_words}"]
    listed = [", ".join(parts)] if parts else []
    listed += [words for name, words in _open_words(judged, counts) if counts.get(name)]
    return [f"{'; '.join(listed)}.", *_largest_lead(judged, won)]


def _open_words(judged: Judged, counts: dict[str, int]) -> list[tuple[str, str]]:
    """Return what is said of the cells that nobody wins, by outcome."""
    cells = judged.comparison.cells
    more = cells.filter(pl.col("outcome") == UNDECIDED)["more_runs"]
    decide = more.filter(more > 0).unique().sort()
    needs = [more_words(int(n)) for n in decide]
    if len(needs) > 1:
        needs = [f"about {int(decide[0])} to {int(decide[-1])} more runs of each"]
    needs += [more_words(-1)] if (more < 0).any() else []
    would = f" ({' or '.join(needs)} would decide)" if needs else ""
    margin = f"{judged.state.margin_pct:g} %"
    is_missing = judged.has_default and judged.state.limit is None
    alone = "without a default" if is_missing else "with one alone"
    return [
        (DIFFER, f"{counts.get(DIFFER, 0):,} cells differ"),
        (EQUIVALENT, f"{counts.get(EQUIVALENT, 0):,} equivalent within {margin}"),
        (UNDECIDED, f"{counts.get(UNDECIDED, 0):,} undecided{would}"),
        (TIE, f"{counts.get(TIE, 0):,} tied"),
        (TOO_FEW, _unproven_words(judged)),
        (ALONE, f"{counts.get(ALONE, 0):,} {alone}"),
        (OVER, f"{counts.get(OVER, 0):,} in which none meets the limit"),
        (UNLIKE, f"{counts.get(UNLIKE, 0):,} not judged: the runs of a setting are no replicates"),
    ]


def _unproven_words(judged: Judged) -> str:
    """Return `6 unproven with too few runs (pin true leads in 5)`: who leads in most of them."""
    cells = judged.comparison.cells.filter(pl.col("outcome") == TOO_FEW)
    who = pl.Series(judged.who[cells["winner"].to_numpy()]).value_counts(sort=True)
    if not len(who):
        return ""
    if not judged.metric.better:
        return f"{counted(len(cells), 'cell')} with too few runs to be compared"
    leader, n = who.row(0)
    name = competitor_name(judged, leader)
    return f"{len(cells):,} unproven with too few runs ({name} leads in {n:,})"


def competitor_name(judged: Judged, competitor: int) -> str:
    """Return a competitor's name; a bare value of a declared knob with the knob: `pin false`."""
    name, knob = judged.competitors.labels[competitor], judged.competitors.knob
    is_bare = (knob.is_declared and name[:1].isdigit()) or name.lower() in _BARE
    return f"{knob.noun} {name}" if is_bare else name


def _largest_lead(judged: Judged, won: pl.DataFrame) -> list[str]:
    """Return the sentence of the win with the largest lead; none without a finite one."""
    size = pl.col("margin_share").log1p().abs()
    ranked = won.filter(size.is_finite()).sort(size, descending=True, maintain_order=True)
    if not len(ranked):
        return []
    cell, n = ranked.row(0, named=True), judged.comparison.contenders["n"]
    x, y, _ = judged.knobs
    named = [(x, cell["x"]), (y, cell["y"])]
    if judged.split:
        named.append((judged.split.knob, judged.split.values[cell["panel"]]))
    cell_words = " · ".join(value_words(knob, value, judged.labels) for knob, value in named)
    name = competitor_name(judged, judged.who[cell["winner"]])
    lead = f"{format_change(cell['margin_share'])}{interval_words(cell)}"
    runs = f"n = {n[cell['winner']]} and {n[cell['runner_up']]}"
    return [f"The largest lead: {name} at {cell_words}, {lead} ({runs})."]


def more_words(more: int) -> str:
    """Return how many more runs of each setting would decide: `about 3 more runs of each`."""
    if more < 0:
        return "more than 100 further runs of each"
    return f"about {counted(more, 'more run')} of each"


def verdict_words(judged: Judged, cell: dict[str, Any], names: Sequence[str]) -> str:
    """Write the outcome of a cell in one sentence.

    Args:
        names: Of the winner and the runner-up, or of the only contender.
    """
    first = names[0]
    if cell["outcome"] == OVER:
        return f"No {judged.competitors.knob.noun} meets the limit here ({limit_words(judged)})."
    if cell["outcome"] == ALONE:
        if cell["competitors"] > 1:
            return f"Only {first} may meet the limit here ({limit_words(judged)}): no comparison."
        missing = "No default was" if judged.has_default else f"Only {first} was"
        return f"{missing} measured here: there is nothing to compare it with, so no win."
    if cell["outcome"] == UNLIKE:
        sides = f"{first} or {names[1]}"
        return f"Not judged: runs of one setting of {sides} are no replicates: {UNLIKE_WHY}."
    second, lead = names[1], lead_words(judged, cell)
    leads = "leads" if judged.metric.better else "is above"
    if cell["outcome"] == DIFFER:
        return (
            f"{_capital(judged, first)} is above {second} ({lead}). There is no better direction, "
            "so nothing wins."
        )
    if cell["outcome"] == EQUIVALENT:
        return (
            f"Equivalent: {first} and {second} differ by less than {judged.state.margin_pct:g} %. "
            f"{_capital(judged, first)} {leads}{'' if judged.metric.better else ' it'}: {lead}."
        )
    if cell["outcome"] == UNDECIDED:
        more = more_words(cell["more_runs"])
        return f"Undecided: {first} {leads} {second} ({lead}); {more} would decide."
    if cell["outcome"] == TIE and not cell["margin_share"]:
        return f"A tie: {first} and {second} have the same {lowered(judged.metric.title)}."
    if cell["outcome"] == TIE:
        return f"A tie: {first} and {second} do not differ significantly ({lead})."
    if cell["outcome"] == TOO_FEW:
        why = why_too_few(judged, cell)
        return f"Unproven: {first} {leads} {second} ({lead}). {why}"
    return f"{_capital(judged, first)} wins over {second} ({lead})."


def lead_words(judged: Judged, cell: dict[str, Any]) -> str:
    """Return a lead with its interval: `Energy -12.2 % [-14.1, -10.7], 310 J less`."""
    measure = judged.metric
    change = "less" if measure.better == "less" else "more"
    absolute = f"{format_quantity(cell['margin'], measure.unit)} {change}"
    doubt = measure.doubt_of(*judged.comparison.groups["dataset"].unique())
    share = format_change(cell["margin_share"])
    return f"{measure.title} {share}{interval_words(cell)}, {absolute}{doubt and f', {doubt}'}"


def interval_words(cell: dict[str, Any]) -> str:
    """Return the interval of a lead as ` [-14.1, -10.7] %`, open ends as words; empty for none."""
    low, high = cell["share_low"], cell["share_high"]
    if np.isnan(low) and np.isnan(high):
        return ""
    return f" {format_signed_ends(100 * low, 100 * high, 'not bounded')}"


def _capital(judged: Judged, label: str) -> str:
    """Begin a sentence with a mode's words or the default; names stay as they are."""
    is_words = judged.competitors.knob.name == "mode" or label == judged.competitors.labels[-1]
    has_words = is_words and (judged.competitors.knob.name == "mode" or judged.has_default)
    return f"{label[:1].upper()}{label[1:]}" if has_words else label


def why_too_few(judged: Judged, cell: dict[str, Any]) -> str:
    """Return why a cell could not be compared."""
    n = judged.comparison.contenders["n"]
    first, second = int(n[cell["winner"]]), int(n[cell["runner_up"]])
    if min(first, second) < 2 or judged.state.test == SETS:
        words = n_words([first, second], judged.is_unstated)
        return f"{words}: a comparison needs two or more."
    least = smallest_p(judged.state.test, np.array([first]), np.array([second]))[0]
    return (
        f"n = {first} and {second}: the exact {TEST_TITLES[judged.state.test]} gives no p value "
        f"below {least:.3g}."
    )


def p_words(p: float) -> str:
    """Format a p value with three digits; an en dash if the test has none."""
    return "\N{EN DASH}" if np.isnan(p) else f"{p:.3g}"
