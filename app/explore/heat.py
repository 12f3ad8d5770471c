"""The heatmap of Explore: which runs its cells are means of, its figure, its query."""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.explore.figures.heatmap import build_heatmap
from app.explore.question import Question
from app.kit.encodings import message_figure
from app.kit.figure_text import BREAK, bold
from app.kit.settings import MAX_ROWS
from app.kit.words import EMPTY_LAKE, slice_words, subject, synthetic_note
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.pooling import pool
from data.queries.metric_cube import cells_query
from data.selection import Selection, Value

# For explanations.
HOW_POOLED: Final = (
    "A cell is the mean of the replicates of one configuration. Where the reader pools knobs, it "
    "is the mean over all their runs, so a value with more runs weighs more."
)


@dataclass(frozen=True, slots=True)
class Heat:
    """The cells of a state, and the runs behind them.

    Attributes:
        cells: The columns of both knobs, `mean`, `sd`, `n`; NULLs last.
        shown: The filters of these runs: the state's, the system, the kept values.
        part: The kept values and the pooled knobs.
        system: The one system; None if it is an axis, pooled, or no run is left.
    """

    cells: pl.DataFrame
    shown: Selection
    part: Slice
    system: str | None


def heat_of(question: Question) -> Heat:
    """Return the cells of a question."""
    x, y = knobs = question.heat_knobs
    state, system_knob = question.state, question.catalogue.knobs["system"]
    is_open = system_knob in knobs or "system" in state.pool
    filters, systems = state.selection, question.view.left(state.selection)["system"]
    if not is_open and state.heat_system in set(systems):
        filters = filters.with_values("system", [str(state.heat_system)])
    cube = question.cube(state.heat_metric, filters)
    part = like_with_like(cube, knobs, state.pool, runs="n", catalogue=question.catalogue)
    rows = part.of(cube)
    chosen = (
        filters.values("system") if filters is not state.selection else tuple(rows["system"][:1])
    )
    system = None if is_open or not chosen else str(chosen[0])
    return Heat(pool(rows, (y.column, x.column)), part.narrow(filters), part, system)


def draw_heatmap(question: Question) -> dict[str, Any]:
    """Build the heatmap."""
    view, state = question.view, question.state
    if not view.matching(state.selection):
        return message_figure("Nothing to map." if view.runs else EMPTY_LAKE)
    heat, measure = heat_of(question), question.catalogue.metric(state.heat_metric)
    left = heat.part.of(view.left(state.selection))
    if heat.system is not None:
        left = left.filter(pl.col("system") == heat.system)
    labels = dict(view.outline.select("system", "system_label").unique().iter_rows())
    label = labels.get(heat.system) or heat.system
    if not len(heat.cells):
        who = f" of {label}" if label else ""
        return message_figure(f"No run{who} has a value for{BREAK}{measure.title}.")
    parts = ["mean of replicates", slice_words(heat.part, labels), bold(synthetic_note(left))]
    figure = build_heatmap(
        heat.cells,
        measure,
        ", ".join(part for part in (measure.title, label, subject(left, 1)) if part),
        " · ".join(part for part in parts if part),
        *question.heat_knobs,
        labels,
    )
    place: dict[str, Value | None] = {} if heat.system is None else {"system": heat.system}
    place |= {kept.knob.column: kept.value for kept in heat.part.kept if kept.levels > 1}
    figure["layout"]["meta"] |= {"system": heat.system, "of": label}
    figure["layout"]["meta"]["map"]["place"] = place
    return figure


def heat_query(question: Question) -> tuple[str, list[Any]]:
    """Build the query of the cells, with all filters in it."""
    columns = [knob.column for knob in reversed(question.heat_knobs)]
    metric, catalogue = question.state.heat_metric, question.catalogue
    return cells_query(heat_of(question).shown, columns, metric, MAX_ROWS, catalogue=catalogue)
