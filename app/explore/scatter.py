"""The scatter of Explore: its points, its figure, and the columns that all pictures link."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.marks import Marks, find_marks
from app.explore.figures.scatter import Scene, build_scatter, scatter_words
from app.explore.fronts import attained_lines, bands_of
from app.explore.odd import odd_column
from app.explore.question import Question
from app.explore.roles import Encoding, encoding_of, in_trace_order, labels_of
from app.explore.studies import standings_of
from app.kit.columns import encode_columns, encode_counts, encode_numbers, thin
from app.kit.encodings import message_figure
from app.kit.joined import join_panels
from app.kit.metric_choice import is_of_unstated
from app.kit.panels import Split
from app.kit.settings import MAX_POINTS, MAX_ROWS
from app.kit.words import EMPTY_LAKE, configuration_knobs, explanation, knob_words, no_run_left
from data.analysis.coded_rows import Part
from data.catalogue import Catalogue
from data.knobs import Knob
from data.queries.explore import points_query
from data.selection import Value, unset_itr

# Columns of points with which the browser compares limits, boxes and polygons.
_COMPARED: Final = ("x", "y", "limited", "clause_x", "clause_y")
# Knobs that every configuration names; others are sent only if a point has a value.
KNOBS: Final = (
    "dataset", "workload", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes",
)  # fmt: skip
# What a point may have besides, as a knob: a link may name one run.
_MARKS: Final = ("replicate", "flags", "odd", "standing", "next_run", "best")


def scatter(question: Question) -> dict[str, Any]:
    """Return the scatter, {figure, columns}; its points are the rows that all pictures link."""
    state, catalogue, view = question.state, question.catalogue, question.view
    if not view.runs:
        return {"figure": message_figure(EMPTY_LAKE), "columns": None}
    points = _points(question)
    if not len(points):
        return {"figure": message_figure(_nothing_left(question)), "columns": None}
    split = Split.of(points, question.split) if question.split else None
    parts = split.parts(points) if split else [points]
    questions = question.of_panels(split) if split else [question]
    encoding = encoding_of(_joined(parts), state, view.systems, catalogue)
    parts = [in_trace_order(part, encoding) for part in parts]
    ends, points = np.cumsum([0, *map(len, parts)]), _joined(parts)
    varying, is_contest = question.varying, question.has_rivals
    marks = [find_marks(own, state, encoding, catalogue, varying, is_contest) for own in parts]
    needed = [mark.needed() + start for mark, start in zip(marks, ends, strict=False)]
    drawn = thin(len(points), MAX_POINTS, np.concatenate(needed))
    shown = points if len(drawn) == len(points) else points.taken(drawn)
    every = shown if split else None
    figures = [
        _panel(panel, own, drawn[(drawn >= start) & (drawn < end)] - start, mark, encoding, every)
        for panel, own, start, end, mark in zip(
            questions, parts, ends, ends[1:], marks, strict=False
        )
    ]
    figure = figures[0]
    if split:
        missed = [mark.missed + start for mark, start in zip(marks, ends, strict=False)]
        of_all = replace(marks[0], missed=np.concatenate(missed))
        scene = Scene(
            catalogue, encoding, of_all, question.varying, view.runs,
            is_unstated=is_of_unstated(view, points.values("dataset")),
        )  # fmt: skip
        title, subtitle = scatter_words(points, len(points) - len(drawn), state, scene)
        subtitle = " · ".join(filter(None, [subtitle, split.words()]))
        figure = join_panels(figures, split, title, subtitle, not state.own_axes)
    measured = {n: m for n, m in question.measured.items() if n in _COMPARED}
    columns = encode_points(shown, measured, question.varying, catalogue)
    return {"figure": figure, "columns": columns}


def _points(question: Question) -> Part:
    """Return the points, their performance as a cost, and what is known of their settings."""
    points, state, catalogue = question.narrowed, question.state, question.catalogue
    if not len(points):
        return points
    performance = catalogue.metric(question.performance)
    # Without a better end no value is the best.
    cost = points.floats("performance") * (performance.sign if performance.better else np.nan)
    odd = question.odd.clear() if state.without_odd else question.odd
    column = odd_column(points, odd, state, catalogue)
    return points.with_columns(standings_of(question) | {"odd": column}, {"performance": cost})


def _joined(parts: Sequence[Part]) -> Part:
    """Return the rows of some parts of one table."""
    if len(parts) == 1:
        return parts[0]
    return Part(parts[0].table, np.concatenate([part.at for part in parts]))


def _panel(
    question: Question,
    points: Part,
    drawn: np.ndarray,
    marks: Marks,
    encoding: Encoding,
    every: Part | None,
) -> dict[str, Any]:
    """Draw the points of a panel, or of the page."""
    state = question.state
    bands = bands_of(question) if state.bands else ()
    is_each = state.bands and state.replicates == "runs"
    attained = attained_lines(question, points.rows) if is_each else ()
    scene = Scene(
        question.catalogue, encoding, marks, question.varying, question.view.runs, bands, attained,
        every, is_of_unstated(question.view, points.values("dataset")),
    )  # fmt: skip
    return build_scatter(points, drawn, state, scene)


def _nothing_left(question: Question) -> str:
    """Return which filter to clear if no run matches, else which axes no run has."""
    view, state, metric = question.view, question.state, question.catalogue.metric
    matching = view.matching(state.selection)
    if matching:
        x, y = metric(state.x).title, metric(state.y).title
        return f"None of the {matching:,} runs that the filters leave has both {x} and {y}."
    return no_run_left(view.cube_of(state.selection), state.selection, question.catalogue)


def scatter_rows(question: Question) -> pl.DataFrame:
    """Return the points with their metrics' names, repeated columns once."""
    rows, columns = question.view.lake.polars(*_points_query(question)), question.measured
    named: dict[str, str] = {}
    for name in rows.columns:
        base, end = (name[:-3], "_sd") if name.endswith("_sd") else (name, "")
        named.setdefault(columns.get(base, base) + end, name)
    return rows.select(pl.col(old).alias(new) for new, old in named.items())


def explain_scatter(question: Question) -> str:
    """Return how the points were computed."""
    before = [f"performance metric: {question.performance}"]
    return explanation(question.view, question.selection, _points_query(question), before)


def _points_query(question: Question) -> tuple[str, list[Any]]:
    means = question.state.replicates == "means"
    return points_query(
        question.selection, question.measured, means, MAX_ROWS, catalogue=question.catalogue
    )


def encode_points(
    points: Part,
    measured: Mapping[str, str],
    varying: Collection[str],
    catalogue: Catalogue,
) -> dict[str, Any]:
    """Encode the drawn points.

    Args:
        points: Rows of `points_query` in the order of the traces.
        measured: Column of `points` to the metric that it holds.
        varying: Columns with several values in the study, which hovers and tables name.

    Returns:
        The answer of `encode_columns`: metrics in float64, because limits and boxes are compared
        with them; `configuration` (the knobs of one); `named` (those that hovers and tables name:
        `column`, `title`, `hint`, `words` and `cells` of each value, `is_given`); `labels`
        (system to label); `runs` and `logged` (counts); `spreads` (of both axes).
    """
    knobs = catalogue.knobs
    given = [knobs[name] for name in ("load", "message") if knobs[name].column in varying]
    named = [*given, *configuration_knobs(varying, catalogue)]
    others = [n for n in catalogue.configuration if n in catalogue.knob_of_column]
    there = points.known({*others, *_MARKS}.intersection(points.table.columns))
    configuration = [*KNOBS, *(n for n in others if n not in KNOBS and n in there)]
    marks = [name for name in _MARKS if name in there]
    fields = {name: points.floats(column) for column, name in measured.items()}
    encoded = encode_columns(points, [*configuration, *marks], fields)
    return {
        **encoded,
        "configuration": configuration,
        "named": [
            _named(
                knob,
                catalogue.metric(knob.column).short,
                encoded["knobs"][knob.column]["values"],
                knob in given,
                _unset(points, knob.name),
            )
            for knob in named
            if knob.column in configuration
        ],
        "labels": labels_of(points),
        "runs": encode_counts(points.numbers("n")),
        "logged": encode_counts(points.numbers("logged")),
        "spreads": {
            axis: encode_numbers(points.floats(f"{axis}_sd").astype(np.float32)) for axis in "xy"
        },
    }


def _unset(points: Part, knob: str) -> list[str | None]:
    """Return the systems of points without an ITR, for which the word depends on them."""
    if knob != "itr":
        return []
    return points.taken(np.flatnonzero(points.codes("itr_us").is_null)).values("system")


def _named(
    knob: Knob,
    short: str,
    values: Sequence[Value | None],
    is_given: bool,
    unset: Sequence[str | None],
) -> dict[str, Any]:
    """Encode a knob for hovers and the table of selected points."""
    plain = knob.is_plain_number
    cells = [knob.label(v) if v is None or not plain else v for v in values]
    words = [knob.words(value) for value in values]
    if None in values:
        words[values.index(None)] = knob_words(knob, None, unset)
        if knob.name == "itr":
            cells[values.index(None)] = unset_itr(unset)
    return {
        "column": knob.column,
        "title": f"{short}, {knob.unit}" if knob.unit else short,
        "hint": knob.title,
        "words": words,
        "cells": cells,
        "is_given": is_given,
    }
