"""Texts of Modes: names of tests and corrections, titles, warnings, empty results."""

from collections.abc import Mapping
from typing import Final

from app.kit.competitors import value_words
from app.kit.figure_text import BREAK, bold
from app.kit.lakes import LakeView
from app.kit.words import WORKLOAD_TITLES, no_run_left, slice_words, synthetic_note
from app.modes.state import ModesState
from data.analysis.like_with_like import Slice
from data.analysis.ties import Comparison
from data.knobs import KNOBS
from data.metrics import metric

TEST_TITLES: Final = {
    "student": "Student's t test",
    "welch": "Welch's t test",
    "mann-whitney": "Mann-Whitney U test",
}
CORRECTION_TITLES: Final = {
    "none": "uncorrected",
    "holm": "Holm's correction over the cells",
    "benjamini-hochberg": "Benjamini-Hochberg over the cells",
}
OUTCOME_WORDS: Final = {
    "win": "won",
    "tie": "tied",
    "too few": "too few runs",
    "alone": "alone",
    "differ": "differ",
}
# Maximum characters in a line of the subtitle.
_LINE_CHARS: Final = 105


def nothing_left(view: LakeView, state: ModesState) -> str:
    """Return which filter to clear, or that no run has a value of the metric."""
    matching = view.matching(state.selection)
    if matching:
        title = metric(str(state.metric)).title
        return (
            f"None of the {matching:,} runs that the filters leave has a value for{BREAK}{title}. "
            "Choose another metric."
        )
    return no_run_left(view.cube_of(state.selection), state.selection)


def rules_words(state: ModesState) -> str:
    """Return a text such as `Student's t test at 5 %, uncorrected`."""
    level = f"{100 * state.level:.4g} %"
    return f"{TEST_TITLES[state.test]} at {level}, {CORRECTION_TITLES[state.correction]}"


def subject(comparison: Comparison, state: ModesState, labels: Mapping[str, str]) -> str:
    """Name what was compared: the workload, and the given knobs with one value in all runs."""
    taken = {state.x, state.y, state.competitor, "dataset", "workload"}
    groups = comparison.groups
    names = [WORKLOAD_TITLES.get(w, w) for w in groups["workload"].unique().drop_nulls().sort()]
    words = [", ".join(names)]
    for knob in KNOBS.values():
        if knob.is_given and knob.name not in taken and groups[knob.column].n_unique() == 1:
            value = groups[knob.column][0]
            words += [] if value is None else [value_words(knob, value, labels)]
    return " · ".join(words)


def subtitle(view: LakeView, state: ModesState, part: Slice, labels: Mapping[str, str]) -> str:
    """Return how cells are compared, which runs, and a warning of synthetic data; 1 or 2 lines.

    Args:
        state: With the filters of the compared runs.
    """
    note = synthetic_note(view.left(state.selection))
    parts = [slice_words(part, labels), bold(note)]
    first, rest = rules_words(state), " · ".join(each for each in parts if each)
    if len(first) + len(rest) > _LINE_CHARS:
        return f"{first}{BREAK}{rest}"
    return " · ".join(each for each in (first, rest) if each)
