"""The heatmap of Explore: one metric over any two knobs, the runs of its cells, its figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.heat_traces import (
    catcher_trace,
    means_trace,
    missing_trace,
    unlike_trace,
    veil_trace,
)
from app.explore.question import Question
from app.explore.unlike import unlike_places
from app.kit.columns import floats, values_of
from app.kit.competitors import MOST_LEVELS, axis_labels, legible, ordered_values, words_of
from app.kit.encodings import (
    BREAK,
    axis_title,
    base_layout,
    bold,
    finishing,
    fitting_unit,
    message_figure,
    short_labels,
)
from app.kit.metric_choice import is_of_unstated
from app.kit.settings import MAX_ROWS
from app.kit.words import (
    EMPTY_LAKE,
    common_prefix,
    explanation,
    slice_words,
    subject,
    synthetic_note,
    system_name,
)
from data.analysis.coded_rows import Coded
from data.analysis.like_with_like import Slice, like_with_like, pool
from data.knobs import Knob
from data.metrics import Metric
from data.queries.explore import cells_query
from data.selection import Selection, Value
from data.units import has_prefix

# A knob with more values than that is nearly continuous: the map has so many bins of it.
_BINS: Final = 20
_LETTER_PX: Final = 7
# Latencies of a hundred times as many microseconds are written so.
_OF_US: Final = ((1e6, "s"), (1e3, "ms"))
# Letters of a label beside the map.
_LONGEST: Final = 18


# The values along an axis of the map; a bin has several.
Levels = list[list[Value | None]]


# For explanations.
HOW_POOLED: Final = (
    "A cell is the mean of the replicates of one configuration. Where the reader pools knobs, it "
    "is the mean over all their runs, so a value with more runs weighs more. A knob of over "
    f"{MOST_LEVELS} numbers is drawn in {_BINS} bins of about as many values each, of one of more "
    "names those with the highest means; the rows have all values."
)


@dataclass(frozen=True, slots=True)
class Heat:
    """The cells of a state, and the runs behind them.

    Attributes:
        cells: The columns of both knobs, `mean`, `sd`, `n`; NULLs last.
        shown: The filters of these runs: the state's, the system, the kept values.
        part: The kept values and the pooled knobs.
        has_unlike: Whether a cell has runs of one setting that are no replicates.
        system: The one system; None if it is an axis, pooled, or no run is left.
    """

    cells: pl.DataFrame
    shown: Selection
    part: Slice
    system: str | None
    has_unlike: bool = False


def heat_of(question: Question) -> Heat:
    """Return the cells of a question."""
    x, y = knobs = question.heat_knobs
    state, system_knob = question.state, question.catalogue.knobs["system"]
    is_open = system_knob in knobs or "system" in state.pool
    filters, systems = state.selection, question.view.part_left(state.selection).values("system")
    if not is_open and state.heat_system in systems:
        filters = filters.with_values("system", [str(state.heat_system)])
    cube = question.cube(state.heat_metric, filters)
    part = like_with_like(cube, knobs, state.pool, runs="n", catalogue=question.catalogue)
    left, by = part.within(cube), (y.column, x.column)
    if filters is not state.selection:
        chosen = filters.values("system")
    else:
        chosen = (left.row(0)["system"],) if len(left) else ()
    system = None if is_open or not chosen else str(chosen[0])
    cells = pool(left, by)
    unlike = unlike_places(question, state.heat_metric, filters, part, by)
    if unlike:
        is_there = [place in unlike for place in cells.select(by).iter_rows()]
        cells = cells.with_columns(unlike=pl.Series(is_there, dtype=pl.Boolean))
    return Heat(cells, part.narrow(filters), part, system, bool(unlike))


def heatmap(question: Question) -> dict[str, Any]:
    """Return the heatmap, {figure}: it is linked with the points of the scatter."""
    view, state = question.view, question.state
    if not view.matching(state.selection):
        return {"figure": message_figure("Nothing to map." if view.runs else EMPTY_LAKE)}
    if question.varying.isdisjoint(question.catalogue.knob_of_column):
        return {"figure": message_figure("Nothing to map: no knob has two values here.")}
    heat, measure = heat_of(question), question.catalogue.metric(state.heat_metric)
    place = heat.part.place if heat.system is None else heat.part.place | {"system": heat.system}
    left = view.part_left(state.selection).at_values(place)
    labels = view.labels
    of = {"system": heat.system, "system_label": labels.get(heat.system or "")}
    label = system_name(of | {"dataset": left.row(0)["dataset"] if len(left) else None})
    if not len(heat.cells):
        who = f" of {label}" if label else ""
        return {"figure": message_figure(f"No run{who} has a value for{BREAK}{measure.title}.")}
    unstated = is_of_unstated(view, left.values("dataset"))
    single = "row" if unstated else "run"
    parts = [
        "arithmetic means of replicates" if (heat.cells["n"] > 1).any() else f"one {single} each",
        "no mean where runs are no replicates" if heat.has_unlike else "",
        slice_words(heat.part, labels),
        bold(synthetic_note(left)),
    ]
    figure = build_heatmap(
        heat.cells,
        measure,
        ", ".join(part for part in (measure.title, label, subject(left, 1)) if part),
        " · ".join(part for part in parts if part),
        *question.heat_knobs,
        labels,
    )
    fixed: dict[str, Value | None] = {} if heat.system is None else {"system": heat.system}
    fixed |= {kept.knob.column: kept.value for kept in heat.part.fixed if kept.levels > 1}
    figure["layout"]["meta"] |= {"system": heat.system, "of": label, "unstated": unstated}
    figure["layout"]["meta"]["map"]["place"] = fixed
    return {"figure": figure, "adopts": {"hsys": heat.system}}


def heat_rows(question: Question) -> pl.DataFrame:
    """Return the cells, with the metric's name."""
    metric = question.state.heat_metric
    cells = heat_of(question).cells.drop("unlike", strict=False)
    return cells.rename({"sd": f"{metric}_sd", "mean": metric})


def explain_heat(question: Question) -> str:
    """Return how the cells were computed: their query with all filters in it."""
    shown, metric = heat_of(question).shown, question.state.heat_metric
    columns = [knob.column for knob in reversed(question.heat_knobs)]
    query = cells_query(shown, columns, metric, MAX_ROWS, catalogue=question.catalogue)
    return explanation(question.view, shown, query, [HOW_POOLED])


@finishing
def build_heatmap(
    cells: pl.DataFrame,
    measure: Metric,
    title: str,
    subtitle: str,
    x_knob: Knob,
    y_knob: Knob,
    systems: Mapping[str, str] = MappingProxyType({}),
) -> dict:
    """Build the heatmap as a figure dictionary.

    Traces in order: the means; a cross in each cell that was not measured; a veil with which the
    browser dims cells that are not selected; invisible points for box and lasso; how many runs
    cells without a mean have.

    Args:
        cells: The columns of both knobs, `mean`, `sd`, `n`; at least one row. Optionally `unlike`,
            whether its runs are no replicates: it has no colour then.
        systems: System to its label.
    """
    for knob in (x_knob, y_knob):
        every, cells = cells, legible(cells, knob, pl.col("mean"))
        if cells is not every:
            drawn, count = (each[knob.column].n_unique() for each in (cells, every))
            subtitle += f" · {drawn} of {count} {knob.plural}: the highest means"
    bins = {knob.column: _bins(knob, cells[knob.column]) for knob in (x_knob, y_knob)}
    for knob in (x_knob, y_knob):
        levels = bins[knob.column]
        first = {value: level[0] for level in levels for value in level}
        if len(first) > len(levels):
            cells = cells.with_columns(pl.col(knob.column).replace(first))
            cells = pool(cells, (y_knob.column, x_knob.column))
            subtitle += f" · {len(first)} values of {knob.menu_title} in {len(levels)} bins"
    grid = _grid(cells, x_knob, y_knob)
    grid |= {name: bins[knob.column] for name, knob in (("x", x_knob), ("y", y_knob))}
    scale, unit = _unit_of_cells(measure.unit, float(np.nanmax(np.abs(grid["mean"]))))
    unlike = grid.get("unlike", np.zeros(grid["mean"].shape)) == 1
    z = np.where(unlike, np.nan, grid["mean"] / scale)
    x, y = (_labels(k, grid[name], systems) for k, name in ((x_knob, "x"), (y_knob, "y")))
    missing = np.argwhere(np.isnan(grid["mean"]))
    return {
        "data": [
            means_trace(z, x, y, grid, measure, unit),
            missing_trace([x[j] for _, j in missing], [y[i] for i, _ in missing]),
            veil_trace(z, x, y),
            catcher_trace(grid["mean"], x, y),
            *unlike_trace(grid["n"], np.argwhere(unlike), x, y),
        ],
        "layout": _layout(title, subtitle, x, y, x_knob, y_knob)
        | {"meta": _meta(grid, measure, x_knob, y_knob, systems)},
    }


def _bins(knob: Knob, values: pl.Series) -> Levels:
    """Return the values of each column or row of the map: one, or those of a bin."""
    ordered = ordered_values(knob, values_of(values))
    known = [value for value in ordered if value is not None]
    if not knob.facet.is_number or len(known) <= MOST_LEVELS:
        return [[value] for value in ordered]
    parts = np.array_split(np.arange(len(known)), _BINS)
    bins: Levels = [[*known[part[0] : part[-1] + 1]] for part in parts]
    return [*bins, [None]] if len(known) < len(ordered) else bins


def _labels(knob: Knob, levels: Levels, systems: Mapping[str, str]) -> list[str]:
    """Return the labels along an axis; of systems with one label their names too."""
    labels = _ends(knob, levels, axis_labels, systems)
    return [
        f"{label} ({level[0]})" if labels.count(label) > 1 else label
        for label, level in zip(labels, levels, strict=True)
    ]


def _ends(
    knob: Knob,
    levels: Levels,
    texts: Callable[[Knob, list[Value | None], Mapping[str, str]], list[str]],
    systems: Mapping[str, str],
) -> list[str]:
    """Return each value, or the first and the last of each bin, in words: `ITR 2 us to 8 us`."""
    ends = [value for level in levels for value in {level[0], level[-1]}]
    words = dict(zip(ends, texts(knob, ends, systems), strict=True))
    return [
        words[level[0]]
        if len(level) == 1
        else f"{words[level[0]]} to {words[level[-1]].removeprefix(knob.before)}"
        for level in levels
    ]


def _grid(cells: pl.DataFrame, x_knob: Knob, y_knob: Knob) -> dict:
    """Return the cells as matrices: one row per value along y, one column per value along x."""
    x, y = (Coded.of(cells[knob.column]) for knob in (x_knob, y_knob))
    xs, ys = ordered_values(x_knob, x.values), ordered_values(y_knob, y.values)
    columns, rows = (
        np.array([ordered.index(value) for value in own.values])[own.codes]
        for own, ordered in ((x, xs), (y, ys))
    )
    grid: dict[str, Any] = {"x": xs, "y": ys}
    for name in {"mean", "sd", "n", "unlike"}.intersection(cells.columns):
        grid[name] = np.full((len(ys), len(xs)), np.nan)
        grid[name][rows, columns] = floats(cells[name])
    return grid


def _unit_of_cells(unit: str, top: float) -> tuple[float, str]:
    """Return the factor and the unit in which cells up to a size are written."""
    if unit == "us":
        return next((one for one in _OF_US if top >= 100 * one[0]), (1.0, unit))
    if unit == "%" or has_prefix(unit):
        return fitting_unit(unit, top)
    scale, prefix = common_prefix(top)
    return scale, f"{prefix}{unit}"


def _layout(
    title: str, subtitle: str, x: Sequence[str], y: Sequence[str], x_knob: Knob, y_knob: Knob
) -> dict:
    longest = min(max(len(label) for label in y), _LONGEST)
    short = short_labels((*x, *y), _LONGEST)
    axis = {
        "type": "category", "showgrid": False, "zeroline": False, "tickfont": {"size": 12},
        "automargin": True, **({"labelalias": short} if short else {}),
    }  # fmt: skip
    return {
        **base_layout(title, subtitle),
        "margin": {
            "l": max(46, 30 + _LETTER_PX * longest),
            "r": 8,
            "t": 46,
            "b": 44,
        },
        "xaxis": {**axis, "title": axis_title(x_knob.axis_title)},
        "yaxis": {**axis, "title": axis_title(y_knob.short_axis_title)},
        "dragmode": "select",
    }


def _meta(
    grid: dict, measure: Metric, x_knob: Knob, y_knob: Knob, systems: Mapping[str, str]
) -> dict:
    return {
        "kind": "heatmap",
        "column": measure.name,
        "title": measure.title_in(*measure.doubted_in),
        "unit": measure.unit,
        "map": {
            "knobs": [x_knob.column, y_knob.column],
            "xs": [level if len(level) > 1 else level[0] for level in grid["x"]],
            "ys": [level if len(level) > 1 else level[0] for level in grid["y"]],
            "place": {},
            "missing": np.argwhere(np.isnan(grid["mean"])).tolist(),
        },
        "y_words": _ends(y_knob, grid["y"], words_of, systems),
        "x_words": _ends(x_knob, grid["x"], words_of, systems),
    }
