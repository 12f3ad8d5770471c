"""The content of Modes for a state: map of winners, shares, Pareto view, and status line."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from app.kit.answer_cache import KnownColumns
from app.kit.columns import index_in
from app.kit.competitors import Competitors, axis_label, competitors_of, ordered_values
from app.kit.encodings import message_figure
from app.kit.figure_text import BREAK
from app.kit.lakes import LakeView, Query
from app.kit.settings import MAX_POINTS
from app.kit.words import EMPTY_LAKE, lowered
from app.modes.defaults import resolved
from app.modes.figures.pareto import ParetoScene, build_pareto, pareto_members
from app.modes.figures.shares import build_shares
from app.modes.figures.winner_map import MapScene, build_winner_map
from app.modes.payload import encode_cells
from app.modes.state import ModesState
from app.modes.words import OUTCOME_WORDS, nothing_left, subject, subtitle
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.thinning import thin
from data.analysis.ties import OUTCOMES, Comparison, compare, merged, win_counts
from data.knobs import KNOBS, Knob
from data.metrics import Metric, metric
from data.queries.modes import configurations_query
from data.queries.points import CONFIGURATION
from data.selection import Value


@dataclass(frozen=True, slots=True)
class ModesAnswer:
    """The figures of a state, the cells with which the browser links them, and the status line."""

    winners: dict[str, Any]
    shares: dict[str, Any]
    pareto: dict[str, Any]
    cells: dict[str, Any] | None
    status: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A state with every choice made, and its compared cells.

    Attributes:
        part: The part of the filtered runs that is compared; the state's filters are of it.
        axes: Values along x and y, in order.
        labels: System to its label.
    """

    state: ModesState
    part: Slice
    comparison: Comparison
    competitors: Competitors
    axes: tuple[list[Value | None], list[Value | None]]
    labels: dict[str, str]

    @property
    def metric(self) -> str:
        """The compared column."""
        return str(self.state.metric)

    @property
    def pooled(self) -> tuple[str, ...]:
        """Columns of the pooled knobs, NULL in the compared configurations."""
        return tuple(k.column for k, _ in self.part.pooled.knobs) if self.part.pooled else ()


def judge(view: LakeView, state: ModesState) -> Judged:
    """Compare the competitors in every cell of a state."""
    state = resolved(view, state)
    x, y, competitor = state.knobs()
    better = metric(str(state.metric)).better
    groups, constant, part = _groups(view, state)
    comparison = compare(groups, x.column, y.column, competitor.column, better, state.rules)
    comparison = replace(comparison, groups=comparison.groups.with_columns(constant))
    labels = dict(
        view.outline.select("system", "system_label").unique().sort("system_label").iter_rows()
    )
    competing = comparison.contenders["competitor"].unique().to_list()
    competitors = competitors_of(competitor, competing, view.systems, labels)
    axes = tuple(
        ordered_values(knob, comparison.cells[name].unique().to_list())
        for knob, name in ((x, "x"), (y, "y"))
    )
    state = replace(state, selection=part.narrow(state.selection))
    return Judged(state, part, comparison, competitors, (axes[0], axes[1]), labels)


def replicates_query(view: LakeView, state: ModesState) -> tuple[Query, KnownColumns]:
    """Build the query of the configurations with their replicates.

    Args:
        state: With every choice made.

    Returns:
        The query by selection and limit; the columns that it leaves out because the filter cube
        has them. Reading these columns would need most of the time.
    """
    known = view.known(state.selection, tuple(CONFIGURATION))
    names, column, against = known.names, str(state.metric), state.against
    return (
        lambda selection, limit: configurations_query(selection, column, against, limit, names),
        known,
    )


def _groups(view: LakeView, state: ModesState) -> tuple[pl.DataFrame, list[pl.Expr], Slice]:
    """Return the configurations with their replicates, those that differ in pooled knobs as one.

    Returns:
        The configurations; the columns with one value in all; which of the filtered runs they are.
        A setting is kept only where the metric has no direction: else the best one counts.
    """
    query, known = replicates_query(view, state)
    groups = view.narrowed(query, state.selection, known, is_replicates=True)
    knobs = state.knobs()
    rest = [name for name in known.constant if name not in {knob.column for knob in knobs}]
    groups = groups.drop(rest).with_columns(cs.categorical().cast(pl.String))
    counted = groups.with_columns(runs=pl.col("values").list.len())
    is_given_only = metric(str(state.metric)).better is not None
    part = like_with_like(counted, knobs, state.pool, is_given_only=is_given_only)
    groups = part.of(groups)
    if part.pooled:
        over = [knob.column for knob, _ in part.pooled.knobs]
        others = {knob.column for knob in KNOBS.values()}.difference(over)
        groups = merged(groups, [name for name in groups.columns if name in others])
        groups = groups.with_columns(pl.lit(None, groups.schema[n]).alias(n) for n in over)
    constant, schema = view.constants(state.selection), view.cube_of(state.selection).schema
    return groups, [pl.lit(constant[n], schema[n]).alias(n) for n in rest], part


def answer(view: LakeView, state: ModesState) -> ModesAnswer:
    """Build the figures of a state."""
    if not view.runs:
        return _message(EMPTY_LAKE, "0 of 0 runs")
    found = judge(view, state)
    status = _status(view, found)
    if not len(found.comparison.cells):
        return _message(nothing_left(view, found.state), status)
    placed = _placed(found)
    counts = win_counts(found.comparison)
    who = found.competitors.knob.noun
    title = f"Cells won by each {who}" if found.comparison.better else f"Cells by {who}: no winner"
    return ModesAnswer(
        winners=build_winner_map(placed, _map_scene(view, found)),
        shares=build_shares(counts, found.competitors, title),
        pareto=_pareto(found),
        cells=encode_cells(
            found.comparison, placed, found.axes, found.competitors, found.state, found.labels
        ),
        status=status,
    )


def _message(sentence: str, status: str) -> ModesAnswer:
    empty = message_figure("")
    return ModesAnswer(message_figure(sentence), empty, empty, None, status)


def _status(view: LakeView, found: Judged) -> str:
    compared = int(found.comparison.groups["values"].list.len().sum())
    counts = dict(found.comparison.cells["outcome"].value_counts().iter_rows())
    words = [f"{counts[o]:,} {OUTCOME_WORDS[o]}" for o in OUTCOMES if counts.get(o)]
    cells = len(found.comparison.cells)
    parts = [f"{compared:,} of {view.runs:,} runs"]
    if cells:
        parts.append(f"{cells:,} cell{'' if cells == 1 else 's'}: {', '.join(words)}")
    return " · ".join(parts)


def _placed(found: Judged) -> pl.DataFrame:
    """Return each cell's column, row and outcome, and the index of its best competitor."""
    cells, contenders = found.comparison.cells, found.comparison.contenders
    best = contenders["competitor"].gather(cells["winner"])
    return cells.select(
        "outcome",
        column=pl.Series(index_in(cells["x"], found.axes[0])),
        row=pl.Series(index_in(cells["y"], found.axes[1])),
        competitor=pl.Series(index_in(best, found.competitors.values)),
    )


def _map_scene(view: LakeView, found: Judged) -> MapScene:
    state = found.state
    x, y, competitor = state.knobs()
    measure = metric(found.metric)
    columns, rows = (
        tuple(axis_label(knob, v, found.labels) for v in values)
        for knob, values in zip((x, y), found.axes, strict=True)
    )
    return MapScene(
        columns=columns,
        rows=rows,
        x_title=x.axis_title,
        y_title=y.axis_title,
        title=f"{_question(measure, competitor)}, {subject(found.comparison, state, found.labels)}",
        subtitle=subtitle(view, state, found.part, found.labels),
        competitors=found.competitors,
        has_winners=found.comparison.better is not None,
    )


def _question(measure: Metric, competitor: Knob) -> str:
    """`Energy (less is better): best system`; without a direction `Temperature by system`."""
    if measure.better:
        return f"{measure.title} ({measure.better} is better): best {competitor.noun}"
    return f"{measure.title} by {competitor.noun} (neither less nor more is better)"


def _pareto(found: Judged) -> dict[str, Any]:
    """Draw each competitor's best setting in each cell, where both metrics were measured."""
    contenders, groups = found.comparison.contenders, found.comparison.groups
    points = pl.DataFrame(
        {
            "who": index_in(contenders["competitor"], found.competitors.values),
            "x": groups["against"].gather(contenders["row"]),
            "y": contenders["mean"],
            "at": np.arange(len(contenders)),
        }
    ).filter(pl.col("x").is_not_null())
    x, y = metric(found.state.against), metric(found.metric)
    if not len(points):
        return message_figure(f"No run has both {y.title}{BREAK}and {x.title}.")
    kept = thin(len(points), MAX_POINTS, pareto_members(points, x.name, y.name))
    scene = ParetoScene(
        x=x.name,
        y=y.name,
        title=f"{y.title} against {lowered(x.title)}",
        competitors=found.competitors,
        has_best=found.comparison.better is not None,
        left_out=len(points) - len(kept),
    )
    return build_pareto(points[kept], scene)
