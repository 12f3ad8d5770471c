"""The content of Explore for a state: figures, rows, best settings, counts, texts.

The page's callbacks and the export both call these functions.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.decided import decided, explain_best, unjudged_words
from app.explore.figures.marks import must_draw
from app.explore.figures.scatter import Scene, build_scatter
from app.explore.heat import HOW_POOLED, draw_heatmap, heat_of, heat_query, metric_cube
from app.explore.layout_best import Asked
from app.explore.odd import odd_of, odd_words, with_odd, without_odd
from app.explore.opening_rule import NONE
from app.explore.points import encode_points
from app.explore.roles import encoding_of, in_trace_order
from app.explore.state import ExploreState
from app.kit.answer_cache import KnownColumns
from app.kit.encodings import message_figure
from app.kit.lakes import LakeView, Query
from app.kit.metric_choice import performance_column
from app.kit.settings import MAX_POINTS, MAX_ROWS
from app.kit.words import EMPTY_LAKE, explanation, no_run_left
from data.analysis.thinning import thin
from data.knobs import KNOBS
from data.metrics import metric
from data.queries.points import SHOWN, points_query, shown_points_query
from data.queries.runs import runs_query
from data.selection import Selection

# Columns that distinguish the scatter's traces; sorting by them keeps a trace together.
_TRACE_ORDER: Final = ("system", "dvfs_ghz", "itr_us")
# Columns of points with which the browser compares limits, boxes and polygons.
_COMPARED: Final = ("x", "y", "limited", "clause_x", "clause_y")


def resolve(view: LakeView, state: ExploreState) -> tuple[ExploreState, str]:
    """Return the state with `performance` replaced by its column, and that column.

    Colour and size become `none` if their knob has one value in the study. The filters leave odd
    runs out if the state says so.
    """
    column = performance_column(view, state.selection)
    varying = view.varying(state.selection)
    roles = {"colour": state.colour, "size": state.size}
    idle = {r: NONE for r, n in roles.items() if n != NONE and KNOBS[n].column not in varying}
    resolved = replace(state.with_performance(column), **idle)  # type: ignore[arg-type]
    return without_odd(view, resolved) if state.without_odd else resolved, column


def scatter(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the scatter for a state, {figure, columns}; its points are the rows of the page."""
    if not view.runs:
        return {"figure": message_figure(EMPTY_LAKE), "columns": None}
    state, performance = resolve(view, state)
    points = in_trace_order(_points(view, state), state)
    if not len(points):
        return {"figure": message_figure(_nothing_left(view, state)), "columns": None}
    odd = odd_of(view, state)
    points = with_odd(points, odd.clear() if state.without_odd else odd, state)
    crowded = len(points) > MAX_POINTS
    encoding = encoding_of(points, state, view.systems)
    needed = must_draw(points, state, encoding) if crowded else np.arange(0)
    drawn = thin(len(points), MAX_POINTS, needed)
    scene = Scene(
        systems=view.systems,
        total=view.runs,
        matching=view.matching(state.selection),
        left_out=len(points) - len(drawn),
    )
    figure = build_scatter(points, drawn, state, scene)
    measured = {n: m for n, m in _columns(state, performance).items() if n in _COMPARED}
    columns = encode_points(points[drawn], measured, view.varying(state.selection))
    return {"figure": figure, "columns": columns}


def heatmap(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the heatmap for a state, {figure}: it is linked with the points of the scatter."""
    return {"figure": draw_heatmap(view, resolve(view, state)[0])}


def best_table(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the best settings under the state's limit: columns of `decided`."""
    return decided(view, resolve(view, state)[0])


def asked_of(view: LakeView, state: ExploreState) -> Asked:
    """Return what the table of best settings answers."""
    resolved, _ = resolve(view, state)
    label = state.against
    if state.against:
        systems = view.outline.filter(pl.col("system") == state.against)
        label = next(iter(systems["system_label"].drop_nulls()), state.against)
    return Asked(
        metric(resolved.cost), metric(resolved.limited), state.limit,
        label, view.varying(state.selection),
    )  # fmt: skip


def best_notes(view: LakeView, state: ExploreState) -> str:
    """Return what else to know of the best settings: odd runs, and choices that are left out."""
    notes = [odd_change(view, state), unjudged_words(view, resolve(view, state)[0])]
    return " ".join(filter(None, notes))


def odd_change(view: LakeView, state: ExploreState) -> str:
    """Return for which systems odd runs decide which setting is best; empty for none."""
    if not len(odd_of(view, resolve(view, state)[0])):
        return ""
    shown = best_table(view, state)
    other = best_table(view, replace(state, without_odd=not state.without_odd))
    knobs = ["standing", *(knob.column for knob in KNOBS.values())]
    changed = shown.join(other, on=knobs, how="anti", nulls_equal=True)
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
    resolved, _ = resolve(view, state)
    odd = odd_of(view, resolved)
    left_out = odd["run_id"].n_unique() if state.without_odd else 0
    missing = matching - left_out - int(_points(view, resolved)["n"].sum())
    if missing:
        words.append(f"{missing:,} of them without both axes' values")
    return " · ".join([*words, *filter(None, [odd_words(odd, state)])])


def limit_domain(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the range of the limited metric over the runs that match the filters.

    Returns:
        `low` and `high` (None if no run has a value), `unit`, `column`.
    """
    column = resolve(view, state)[0].limited
    cube = metric_cube(view, state.selection, column)
    low, high = cube["low"].min(), cube["high"].max()
    return {"low": low, "high": high, "unit": metric(column).unit, "column": column}


def rows_behind(view: LakeView, state: ExploreState, name: str) -> pl.DataFrame:
    """Return the rows behind a view, or all runs that match the filters.

    Args:
        name: `scatter`, `heatmap`, `best-table` or `runs`.
    """
    resolved, performance = resolve(view, state)
    if name == "runs":
        return view.lake.polars(*runs_query(resolved.selection, MAX_ROWS))
    if name == "heatmap":
        cells = heat_of(view, resolved).cells.rename({"sd": "mean_sd"})
        return _with_units(cells, {"mean": resolved.heat_metric})
    if name == "scatter":
        columns, means = _columns(resolved, performance), state.replicates == "means"
        query = points_query(resolved.selection, columns, means, MAX_ROWS)
        return _with_units(view.lake.polars(*query), columns)
    rows = decided(view, resolved).drop("set")
    return rows.rename({"cost": resolved.cost, "limited": f"limited_{resolved.limited}"})


def _with_units(rows: pl.DataFrame, columns: dict[str, str]) -> pl.DataFrame:
    """Rename columns to the metrics that they hold; drop repeated columns."""
    named: dict[str, str] = {}
    for name in rows.columns:
        base, end = (name[:-3], "_sd") if name.endswith("_sd") else (name, "")
        named.setdefault(columns.get(base, base) + end, name)
    return rows.select(pl.col(old).alias(new) for new, old in named.items())


def explain(view: LakeView, state: ExploreState, name: str = "scatter") -> str:
    """Return how a view was computed: its query with all filters, and the steps on its answer."""
    resolved, performance = resolve(view, state)
    before = [f"performance metric: {performance}"]
    if name == "runs":
        return explanation(
            view, resolved.selection, runs_query(resolved.selection, MAX_ROWS), before
        )
    if name == "heatmap":
        query = heat_query(view, resolved)
        return explanation(view, heat_of(view, resolved).shown, query, [HOW_POOLED])
    if name == "scatter":
        columns, means = _columns(resolved, performance), state.replicates == "means"
        query = points_query(resolved.selection, columns, means, MAX_ROWS)
        return explanation(view, resolved.selection, query, before)
    return explain_best(view, resolved)


def _columns(state: ExploreState, performance: str) -> dict[str, str]:
    columns = {
        "x": state.x,
        "y": state.y,
        "performance": performance,
        "limited": state.limited,
        "energy_j": "energy_j",
        "edp_js": "edp_js",
    }
    fields = state.clause_fields
    if fields and fields != (state.x, state.y):
        columns |= {"clause_x": fields[0], "clause_y": fields[1]}
    return columns


def _points_query(
    view: LakeView, state: ExploreState, columns: dict[str, str], means: bool
) -> Query:
    left_out = _known_points(view, state.selection).names

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        return shown_points_query(selection, columns, means, limit, left_out)

    return query


def _known_points(view: LakeView, selection: Selection) -> KnownColumns:
    """Return the columns that queries of points leave out; the key begins with _TRACE_ORDER."""
    return view.known(selection, (*_TRACE_ORDER, *(n for n in SHOWN if n not in _TRACE_ORDER)))


def _points(view: LakeView, state: ExploreState) -> pl.DataFrame:
    state, performance = resolve(view, state)
    columns = _columns(state, performance)
    return _asked_points(view, state, columns, state.replicates == "means")


def _asked_points(
    view: LakeView, state: ExploreState, columns: dict[str, str], means: bool
) -> pl.DataFrame:
    query = _points_query(view, state, columns, means)
    return view.narrowed(query, state.selection, _known_points(view, state.selection))


def _nothing_left(view: LakeView, state: ExploreState) -> str:
    """Return which filter to clear if no run matches, else which axes no run has."""
    matching = view.matching(state.selection)
    if matching:
        x, y = metric(state.x).title, metric(state.y).title
        return f"None of the {matching:,} runs that the filters leave has both {x} and {y}."
    return no_run_left(view.cube_of(state.selection), state.selection)
