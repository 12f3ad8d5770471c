"""The content of Modes for a state: map of winners, shares, Pareto view, and status line."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import index_in, thin
from app.kit.competitors import axis_labels, legible
from app.kit.encodings import BREAK, message_figure
from app.kit.joined import columns_of, join_panels
from app.kit.lake_view import LakeView
from app.kit.metric_choice import is_below_zero
from app.kit.settings import MAX_POINTS
from app.kit.words import EMPTY_LAKE, derived_words, guessed_words
from app.kit.work_words import work_words
from app.modes.alike import alike_conclusions
from app.modes.figures.pareto import ParetoScene, build_pareto, pareto_members
from app.modes.figures.shares import build_shares
from app.modes.figures.winner_map import MapScene, build_winner_map
from app.modes.judged import Judged
from app.modes.payload import encode_cells, judge
from app.modes.state import ModesState
from app.modes.words import OUTCOME_WORDS, conclusions, nothing_left, question, subject, subtitle
from data.analysis.rules import OUTCOMES, WIN
from data.below_zero import below_zero_words
from data.selection import Value
from data.units import counted, lowered

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
    status, selection = _status(view, judged), judged.state.selection
    if is_below_zero(view, judged.metric.name):
        reason = f"Nothing to compare: {below_zero_words(judged.metric)}."
        return _message(reason, counted(view.runs, "run"))
    notes = [guessed_words(view, selection), work_words(view, selection)]
    notes.append(derived_words(view, selection, (judged.metric.name,)))
    if not len(judged.comparison.cells):
        return _message(nothing_left(view, judged.state), status)
    placed = placed_cells(judged)
    who = judged.competitors.knob.noun
    title = f"Cells won by each {who}" if judged.comparison.better else f"Cells by {who}: no winner"
    return ModesAnswer(
        winners=_winners(view, judged, placed),
        shares=build_shares(
            placed, judged.competitors, title, judged.comparison.better is not None
        ),
        pareto=_pareto(judged),
        cells=encode_cells(judged, placed),
        status=status,
        conclusions=[*conclusions(judged), *alike_conclusions(judged), *filter(None, notes)],
    )


def _message(sentence: str, status: str) -> ModesAnswer:
    empty = message_figure("")
    return ModesAnswer(message_figure(sentence), empty, empty, None, status)


def _status(view: LakeView, judged: Judged) -> str:
    compared = int(judged.comparison.groups["values"].list.len().sum())
    counts = dict(judged.comparison.cells["outcome"].value_counts().iter_rows())
    outcome_counts = [f"{counts[o]:,} {OUTCOME_WORDS[o]}" for o in OUTCOMES if counts.get(o)]
    cells = len(judged.comparison.cells)
    parts = [f"{compared:,} of {counted(view.runs, 'run')}"]
    if cells:
        parts.append(f"{counted(cells, 'cell')}: {', '.join(outcome_counts)}")
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


def _winners(view: LakeView, judged: Judged, placed: pl.DataFrame) -> dict[str, Any]:
    """Draw the map, or one of each panel."""
    is_guessed = bool(guessed_words(view, judged.state.selection))
    asked = question(judged, is_guessed)
    titles = f"{asked}, {subject(judged)}", subtitle(view, judged)
    split = judged.split
    if split is None:
        drawn, judged, words = _with_largest_leads(placed, judged)
        titles = titles[0], " · ".join((titles[1], *words))
        return build_winner_map(drawn, _map_scene(judged, titles), placed)
    columns = columns_of(len(judged.panels))
    share = (columns, math.ceil(len(judged.panels) / columns))
    maps = []
    for panel, value in zip(judged.panels, split.values, strict=True):
        scene = _map_scene(panel, titles, {split.knob.column: value}, share)
        maps.append(build_winner_map(placed_cells(panel), scene, placed))
    return join_panels(maps, split, *titles, not judged.state.own_axes)


def _map_scene(
    judged: Judged,
    titles: tuple[str, str],
    cell: Mapping[str, Value | None] | None = None,
    share: tuple[int, int] = (1, 1),
) -> MapScene:
    x, y, _ = judged.knobs
    columns, rows = (
        tuple(axis_labels(knob, values, judged.labels))
        for knob, values in zip((x, y), judged.axes, strict=True)
    )
    return MapScene(
        knobs=(x.column, y.column),
        xs=judged.axes[0],
        ys=judged.axes[1],
        columns=columns,
        rows=rows,
        x_title=x.axis_title,
        y_title=y.short_axis_title,
        title=titles[0],
        subtitle=titles[1],
        competitors=judged.competitors,
        panel=cell or {},
        share=share,
        has_winners=judged.comparison.better is not None,
    )


def _with_largest_leads(
    placed: pl.DataFrame, judged: Judged
) -> tuple[pl.DataFrame, Judged, list[str]]:
    """Leave out columns and rows where an axis has more names, such as programs, than can be read.

    Returns:
        The cells, the axes of the drawn ones, and what the map leaves out.
    """
    axes, leads = list(judged.axes), []
    lead = pl.col("strength") * (pl.col("outcome") == WIN)
    for i, name in enumerate(("column", "row")):
        knob, values = judged.knobs[i], axes[i]
        placed = legible(placed, knob, lead, name)
        drawn = placed[name].unique().sort()
        if len(drawn) < len(values):
            placed = placed.with_columns(pl.col(name).rank("dense").cast(pl.Int64) - 1)
            axes[i] = [values[at] for at in drawn]
            leads.append(f"{len(drawn)} of {len(values)} {knob.plural}: the largest leads")
    return placed, replace(judged, axes=(axes[0], axes[1])), leads


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
    if not len(points):
        return message_figure(f"No run has both {y.title}{BREAK}and {x.title}.")
    split = judged.split
    knobs = [*judged.knobs[1::-1], *([split.knob] if split else [])]
    scene = ParetoScene(
        x=x,
        y=y,
        title=f"{y.title} against {lowered(x.title)}",
        competitors=judged.competitors,
        knobs=tuple(knob.column for knob in knobs),
        has_best=judged.comparison.better is not None,
        total=len(points),
        kinds=("arithmetic", judged.kind_of_mean) if (contenders["n"] > 1).any() else ("", ""),
    )
    if split is None:
        return build_pareto(points[thin(len(points), MAX_POINTS, pareto_members(points, x, y))],
                            scene)  # fmt: skip
    panel = judged.comparison.cells["panel"].gather(points["cell"])
    parts = [points.filter(panel == number) for number in range(len(split.values))]
    has_points = [len(part) > 0 for part in parts]
    most = MAX_POINTS // len(parts)
    every = points if not judged.state.own_axes else None
    figures = [
        build_pareto(part[thin(len(part), most, pareto_members(part, x, y))], scene, every)
        for part in parts if len(part)
    ]  # fmt: skip
    drawn = sum(len(t["x"]) for f in figures for t in f["data"] if t["meta"]["kind"] == "points")
    words = scene.title, scene.subtitle(drawn)
    return join_panels(figures, split.only(has_points), *words, not judged.state.own_axes)
