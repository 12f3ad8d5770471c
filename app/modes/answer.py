"""The content of Modes for a state: map of winners, shares, Pareto view, and status line."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import index_in
from app.kit.competitors import axis_label
from app.kit.encodings import message_figure
from app.kit.figure_text import BREAK
from app.kit.lake_view import LakeView
from app.kit.settings import MAX_POINTS
from app.kit.words import EMPTY_LAKE, lowered
from app.modes.figures.pareto import ParetoScene, build_pareto, pareto_members
from app.modes.figures.shares import build_shares
from app.modes.figures.winner_map import MapScene, build_winner_map
from app.modes.judged import Judged, judge
from app.modes.payload import encode_cells
from app.modes.state import ModesState
from app.modes.words import OUTCOME_WORDS, conclusions, nothing_left, question, subject, subtitle
from data.analysis.rules import OUTCOMES
from data.analysis.thinning import thin

# A lead of twice the runner-up has the full hue; its square root is shown, so that a few percent
# differ from none.
_FULL_LEAD: Final = float(np.log(2.0))


@dataclass(frozen=True, slots=True)
class ModesAnswer:
    """The figures of a state, the cells with which the browser links them, and what they say."""

    winners: dict[str, Any]
    shares: dict[str, Any]
    pareto: dict[str, Any]
    cells: dict[str, Any] | None
    status: str
    conclusions: list[str] = field(default_factory=list)


def answer(view: LakeView, state: ModesState) -> ModesAnswer:
    """Build the figures of a state."""
    if not view.runs:
        return _message(EMPTY_LAKE, "0 of 0 runs")
    judged = judge(view, state)
    status = _status(view, judged)
    if not len(judged.comparison.cells):
        return _message(nothing_left(view, judged.state), status)
    placed = placed_cells(judged)
    who = judged.competitors.knob.noun
    title = f"Cells won by each {who}" if judged.comparison.better else f"Cells by {who}: no winner"
    return ModesAnswer(
        winners=build_winner_map(placed, _map_scene(view, judged)),
        shares=build_shares(
            placed, judged.competitors, title, judged.comparison.better is not None
        ),
        pareto=_pareto(judged),
        cells=encode_cells(judged, placed),
        status=status,
        conclusions=conclusions(judged),
    )


def _message(sentence: str, status: str) -> ModesAnswer:
    empty = message_figure("")
    return ModesAnswer(message_figure(sentence), empty, empty, None, status)


def _status(view: LakeView, judged: Judged) -> str:
    compared = int(judged.comparison.groups["values"].list.len().sum())
    counts = dict(judged.comparison.cells["outcome"].value_counts().iter_rows())
    words = [f"{counts[o]:,} {OUTCOME_WORDS[o]}" for o in OUTCOMES if counts.get(o)]
    cells = len(judged.comparison.cells)
    parts = [f"{compared:,} of {view.runs:,} runs"]
    if cells:
        parts.append(f"{cells:,} cell{'' if cells == 1 else 's'}: {', '.join(words)}")
    return " · ".join(parts)


def placed_cells(judged: Judged) -> pl.DataFrame:
    """Return what the map shows of each cell.

    Returns:
        `column` and `row`, `outcome`, `competitor` (index of the best one), and `strength`: 0 for
        no lead to 1 for one of twice the runner-up or more.
    """
    cells = judged.comparison.cells
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = np.abs(np.log1p(cells["margin_share"].to_numpy()))
    strength = np.sqrt(np.minimum(np.nan_to_num(lead, nan=0.0) / _FULL_LEAD, 1.0))
    return cells.select(
        "outcome",
        column=pl.Series(index_in(cells["x"], judged.axes[0])),
        row=pl.Series(index_in(cells["y"], judged.axes[1])),
        competitor=pl.Series(judged.who[cells["winner"].to_numpy()]),
        strength=pl.Series(strength),
    )


def _map_scene(view: LakeView, judged: Judged) -> MapScene:
    x, y, _ = judged.knobs
    columns, rows = (
        tuple(axis_label(knob, v, judged.labels) for v in values)
        for knob, values in zip((x, y), judged.axes, strict=True)
    )
    return MapScene(
        knobs=(x.column, y.column),
        xs=judged.axes[0],
        ys=judged.axes[1],
        columns=columns,
        rows=rows,
        x_title=x.axis_title,
        y_title=y.axis_title,
        title=f"{question(judged)}, {subject(judged)}",
        subtitle=subtitle(view, judged),
        competitors=judged.competitors,
        has_winners=judged.comparison.better is not None,
    )


def _pareto(judged: Judged) -> dict[str, Any]:
    """Draw each competitor's best setting in each cell, where both metrics were measured."""
    contenders, groups = judged.comparison.contenders, judged.comparison.groups
    points = pl.DataFrame(
        {
            "who": judged.who,
            "x": groups["against"].gather(contenders["row"]),
            "y": contenders["mean"],
            "at": np.arange(len(contenders)),
            "cell": contenders["cell"],
        }
    ).filter(pl.col("x").is_not_null())
    x, y = judged.catalogue.metric(judged.state.against), judged.metric
    columns = tuple(knob.column for knob in judged.knobs[1::-1])
    if not len(points):
        return message_figure(f"No run has both {y.title}{BREAK}and {x.title}.")
    drawn = thin(len(points), MAX_POINTS, pareto_members(points, x, y))
    scene = ParetoScene(
        x=x,
        y=y,
        title=f"{y.title} against {lowered(x.title)}",
        competitors=judged.competitors,
        knobs=(columns[0], columns[1]),
        has_best=judged.comparison.better is not None,
        left_out=len(points) - len(drawn),
    )
    return build_pareto(points[drawn], scene)
