"""The content of Explore for a state: figures, rows, best settings, counts, texts.

The page's callbacks and the export both call these functions.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.decided import decided, setting_keys, unjudged_words, with_standings
from app.explore.explained import explain_best
from app.explore.figures.marks import find_marks
from app.explore.figures.scatter import Scene, build_scatter
from app.explore.fronts import areas_of, attained_lines, bands_of
from app.explore.heat import HOW_POOLED, draw_heatmap, heat_of, heat_query
from app.explore.layout_best import Asked
from app.explore.odd import odd_words, with_odd
from app.explore.points import encode_points
from app.explore.question import AGREED_METRIC, AGREED_US, MOST_RUNS_DRAWN, Question
from app.explore.roles import encoding_of, in_trace_order
from app.explore.state import ExploreState
from app.kit.encodings import message_figure
from app.kit.lake_view import LakeView
from app.kit.metric_choice import PERFORMANCE
from app.kit.settings import MAX_POINTS, MAX_ROWS
from app.kit.words import EMPTY_LAKE, explanation, no_run_left
from data.analysis.thinning import thin
from data.queries.points import points_query
from data.queries.runs import runs_query

# Columns of points with which the browser compares limits, boxes and polygons.
_COMPARED: Final = ("x", "y", "limited", "clause_x", "clause_y")


def scatter(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the scatter for a state, {figure, columns}; its points are the rows of the page."""
    if not view.runs:
        return {"figure": message_figure(EMPTY_LAKE), "columns": None}
    question, catalogue = Question.of(view, state), view.catalogue
    state = question.state
    points = in_trace_order(question.points, state, catalogue)
    if not len(points):
        return {"figure": message_figure(_nothing_left(question)), "columns": None}
    odd = question.odd.clear() if state.without_odd else question.odd
    points = with_standings(question, with_odd(points, odd, state, catalogue))
    encoding = encoding_of(points, state, view.systems, catalogue)
    marks = find_marks(points, state, encoding, catalogue)
    drawn = thin(len(points), MAX_POINTS, marks.needed())
    scene = Scene(catalogue, encoding, marks, view.runs, *_certainty(question, points))
    figure = build_scatter(points, drawn, state, scene)
    measured = {n: m for n, m in question.measured.items() if n in _COMPARED}
    columns = encode_points(points[drawn], measured, question.varying, catalogue)
    return {"figure": figure, "columns": columns}


def _certainty(question: Question, points: pl.DataFrame) -> tuple[Any, Any]:
    """Return the bands of the frontiers, and the lines that sweeps attain where runs are drawn."""
    state = question.state
    if not state.bands:
        return (), ()
    is_each = state.replicates == "runs"
    return bands_of(question), attained_lines(question, points) if is_each else ()


def heatmap(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the heatmap for a state, {figure}: it is linked with the points of the scatter."""
    return {"figure": draw_heatmap(Question.of(view, state))}


def best_table(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the best settings under the state's limit: columns of `decided`, and the areas.

    Where the reader chose a system to compare with, `area`, `area_low` and `area_high` are how many
    times its area each system's frontier dominates; `area_x` and `area_y` the reference point.
    """
    question = Question.of(view, state)
    rows, ratios = decided(question), areas_of(question)
    metric, shown = view.catalogue.metric, question.state
    signs = [metric(name).sign for name in (shown.x, shown.y)]
    ratios_of = [ratios.get(key) for key in rows.select(view.catalogue.choice_columns).rows()]
    areas = [
        (one.estimate, one.low, one.high, *np.exp(np.array(signs) * one.reference))
        if one is not None and np.isfinite(one.estimate) else (None,) * 5
        for one in ratios_of
    ]  # fmt: skip
    names = ("area", "area_low", "area_high", "area_x", "area_y")
    return rows.hstack(pl.DataFrame(areas, dict.fromkeys(names, pl.Float64), orient="row"))


def asked_of(view: LakeView, state: ExploreState) -> Asked:
    """Return what the table of best settings answers."""
    question = Question.of(view, state)
    label = state.against
    if state.against:
        systems = view.outline.filter(pl.col("system") == state.against)
        label = next(iter(systems["system_label"].drop_nulls()), state.against)
    return Asked(
        cost=question.cost,
        limited=question.limited,
        limit=state.limit,
        against=label,
        axes=tuple(view.catalogue.metric(name) for name in (question.state.x, question.state.y)),
        varying=question.varying.intersection(setting_keys(question)),
        catalogue=view.catalogue,
    )


def best_notes(view: LakeView, state: ExploreState) -> str:
    """Return what else to know of the best settings: odd runs, and choices that are left out."""
    notes = [odd_change(view, state), unjudged_words(Question.of(view, state))]
    return " ".join(filter(None, notes))


def odd_change(view: LakeView, state: ExploreState) -> str:
    """Return for which systems odd runs decide which setting is best; empty for none."""
    odd = Question.of(view, state).odd
    if not len(odd):
        return ""
    shown = best_table(view, state)
    other = best_table(view, replace(state, without_odd=not state.without_odd))
    changed = shown.join(
        other, on=["standing", *view.catalogue.knob_of_column], how="anti", nulls_equal=True
    )
    names = changed.select(pl.coalesce("system_label", "system")).to_series().unique().sort()
    if not len(names):
        return ""
    word = "With" if state.without_odd else "Without"
    return f"{word} odd runs another setting is best for {', '.join(names)}."


def status_words(view: LakeView, state: ExploreState) -> str:
    """Return how many runs are shown, of how many, and how many lack a value on an axis."""
    matching = view.matching(state.selection)
    words = [f"{matching:,} of {view.runs:,} runs"]
    if not matching:
        return words[0]
    question = Question.of(view, state)
    odd = question.odd
    left_out = odd["run_id"].n_unique() if state.without_odd else 0
    missing = matching - left_out - int(question.points["n"].sum())
    if missing:
        words.append(f"{missing:,} of them without both axes' values")
    if question.state.replicates != state.replicates:
        words.append(f"means are drawn, not runs: over {MOST_RUNS_DRAWN:,} match")
    counted = odd_words(odd, state.without_odd, view.catalogue)
    return " \N{MIDDLE DOT} ".join([*words, *filter(None, [counted])])


def limit_domain(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the range of the limited metric over the runs that match the filters.

    Returns:
        `low` and `high` (None if no run has a value), `unit`, `column`; where the workload has
        such latencies, the `agreed` limit and `by`, the choice of its metric.
    """
    question = Question.of(view, state)
    measure = question.limited
    cube = question.cube(measure.name, question.filters)
    low, high = cube["low"].min(), cube["high"].max()
    domain = {"low": low, "high": high, "unit": measure.unit, "column": measure.name}
    if AGREED_METRIC in view.measured_columns(state.selection):
        is_own = question.performance == AGREED_METRIC
        domain |= {"agreed": AGREED_US, "by": PERFORMANCE if is_own else AGREED_METRIC}
    return domain


def rows_behind(view: LakeView, state: ExploreState, name: str) -> pl.DataFrame:
    """Return the rows behind a view, or all runs that match the filters.

    Args:
        name: `scatter`, `heatmap`, `best-table` or `runs`.
    """
    question = Question.of(view, state)
    if name == "runs":
        return view.lake.polars(*_runs_query(question))
    if name == "heatmap":
        cells = heat_of(question).cells.rename({"sd": "mean_sd"})
        return _with_units(cells, {"mean": question.state.heat_metric})
    if name == "scatter":
        return _with_units(view.lake.polars(*_points_query(question)), question.measured)
    rows = best_table(view, state).drop("set")
    return rows.rename({"cost": question.cost.name, "limited": f"limited_{question.limited.name}"})


def _runs_query(question: Question) -> tuple[str, list[Any]]:
    return runs_query(question.selection, MAX_ROWS, catalogue=question.catalogue)


def _points_query(question: Question) -> tuple[str, list[Any]]:
    means = question.state.replicates == "means"
    return points_query(
        question.selection, question.measured, means, MAX_ROWS, catalogue=question.catalogue
    )


def _with_units(rows: pl.DataFrame, columns: dict[str, str]) -> pl.DataFrame:
    """Rename columns to the metrics that they hold; drop repeated columns."""
    named: dict[str, str] = {}
    for name in rows.columns:
        base, end = (name[:-3], "_sd") if name.endswith("_sd") else (name, "")
        named.setdefault(columns.get(base, base) + end, name)
    return rows.select(pl.col(old).alias(new) for new, old in named.items())


def explain(view: LakeView, state: ExploreState, name: str = "scatter") -> str:
    """Return how a view was computed: its query with all filters, and the steps on its answer."""
    question = Question.of(view, state)
    before = [f"performance metric: {question.performance}"]
    if name == "runs":
        return explanation(view, question.selection, _runs_query(question), before)
    if name == "heatmap":
        shown = heat_of(question).shown
        return explanation(view, shown, heat_query(question), [HOW_POOLED])
    if name == "scatter":
        return explanation(view, question.selection, _points_query(question), before)
    return explain_best(question)


def _nothing_left(question: Question) -> str:
    """Return which filter to clear if no run matches, else which axes no run has."""
    view, state, metric = question.view, question.state, question.catalogue.metric
    matching = view.matching(state.selection)
    if matching:
        x, y = metric(state.x).title, metric(state.y).title
        return f"None of the {matching:,} runs that the filters leave has both {x} and {y}."
    return no_run_left(view.cube_of(state.selection), state.selection, question.catalogue)
