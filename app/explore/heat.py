"""The heatmap of Explore: which runs its cells are means of, its figure, its query."""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.explore.figures.heatmap import build_heatmap
from app.explore.state import ExploreState
from app.kit.answer_cache import KnownColumns
from app.kit.encodings import message_figure
from app.kit.figure_text import BREAK, bold
from app.kit.lakes import LakeView
from app.kit.settings import MAX_ROWS
from app.kit.words import EMPTY_LAKE, slice_words, subject, synthetic_note
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.pooling import pool
from data.knobs import KNOBS, Knob
from data.metrics import metric
from data.queries.metric_cube import cells_query, metric_cube_query
from data.selection import FACETS, Selection, Value

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


def heat_knobs(state: ExploreState) -> tuple[Knob, Knob]:
    """Return the heatmap's knobs along x and y; if both are the same, y becomes another knob."""
    x, y = state.heat_x, state.heat_y
    if x == y:
        y = next(name for name in ("dvfs", "itr") if name != x)
    return KNOBS[x], KNOBS[y]


def heat_of(view: LakeView, state: ExploreState) -> Heat:
    """Return the cells of a state.

    Args:
        state: Without `performance`.
    """
    x, y = knobs = heat_knobs(state)
    is_open = KNOBS["system"] in knobs or "system" in state.pool
    asked, systems = state.selection, view.left(state.selection)["system"]
    if not is_open and state.heat_system in set(systems):
        asked = asked.with_values("system", [str(state.heat_system)])
    cube = metric_cube(view, asked, state.heat_metric)
    part = like_with_like(cube, knobs, state.pool, runs="n")
    rows = part.of(cube)
    chosen = asked.values("system") if asked is not state.selection else tuple(rows["system"][:1])
    system = None if is_open or not chosen else str(chosen[0])
    return Heat(pool(rows, (y.column, x.column)), part.narrow(asked), part, system)


def metric_cube(view: LakeView, selection: Selection, column: str) -> pl.DataFrame:
    """Return a column's statistics for each combination of knobs that matches the filters."""
    known: KnownColumns = view.known(selection, tuple(f.column for f in FACETS.values()))

    def query(asked: Selection, limit: int) -> tuple[str, list[Any]]:
        return metric_cube_query(asked, column, limit, known.names)

    return view.narrowed(query, selection, known)


def draw_heatmap(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Build the heatmap for a state.

    Args:
        state: Without `performance`.
    """
    if not view.matching(state.selection):
        return message_figure("Nothing to map." if view.runs else EMPTY_LAKE)
    heat, name = heat_of(view, state), metric(state.heat_metric).title
    left = heat.part.of(view.left(state.selection))
    if heat.system is not None:
        left = left.filter(pl.col("system") == heat.system)
    labels = dict(view.outline.select("system", "system_label").unique().iter_rows())
    label = labels.get(heat.system) or heat.system
    if not len(heat.cells):
        who = f" of {label}" if label else ""
        return message_figure(f"No run{who} has a value for{BREAK}{name}.")
    note = synthetic_note(left)
    parts = ["mean of replicates", slice_words(heat.part, labels), bold(note)]
    figure = build_heatmap(
        heat.cells,
        state.heat_metric,
        ", ".join(part for part in (name, label, subject(left, 1)) if part),
        " · ".join(part for part in parts if part),
        *heat_knobs(state),
        labels,
    )
    place: dict[str, Value | None] = {} if heat.system is None else {"system": heat.system}
    place |= {one.knob.column: one.value for one in heat.part.kept if one.levels > 1}
    figure["layout"]["meta"] |= {"system": heat.system, "of": label}
    figure["layout"]["meta"]["map"]["place"] = place
    return figure


def heat_query(view: LakeView, state: ExploreState) -> tuple[str, list[Any]]:
    """Build the query of the cells, with all filters in it.

    Args:
        state: Without `performance`.
    """
    columns = [knob.column for knob in reversed(heat_knobs(state))]
    return cells_query(heat_of(view, state).shown, columns, state.heat_metric, MAX_ROWS)
