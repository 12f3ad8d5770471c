"""What Modes shows for a state: the map of winners, shares, the Pareto view, counts, in words."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from app.kit.competitors import (
    Competitors,
    competitors_of,
    ordered_values,
    value_label,
)
from app.kit.encodings import message_figure
from app.kit.lakes import LakeView
from app.kit.messages import EMPTY_LAKE
from app.kit.settings import MAX_POINTS
from app.kit.words import lowered
from app.modes.defaults import resolved
from app.modes.figures.pareto import ParetoScene, build_pareto, pareto_members
from app.modes.figures.shares import build_shares
from app.modes.figures.winner_map import MapScene, build_winner_map
from app.modes.links import explore_state
from app.modes.payload import encode_cells, index_of
from app.modes.state import ModesState
from app.modes.words import OUTCOME_WORDS, nothing_left, subject, subtitle
from data.analysis.thinning import thin
from data.analysis.ties import OUTCOMES, Comparison, compare, win_counts
from data.metrics import metric
from data.queries.modes import configurations_query
from data.queries.points import CONFIGURATION
from data.selection import Value


@dataclass(frozen=True, slots=True)
class ModesAnswer:
    """The pictures of a state, and what the browser needs to link them."""

    winners: dict[str, Any]
    shares: dict[str, Any]
    pareto: dict[str, Any]
    cells: dict[str, Any] | None
    status: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A state with every choice made, and its cells judged.

    Attributes:
        axes: Values along x and y, in order.
        labels: By system, as pages call it.
    """

    state: ModesState
    comparison: Comparison
    competitors: Competitors
    axes: tuple[list[Value | None], list[Value | None]]
    labels: dict[str, str]


def judge(view: LakeView, state: ModesState) -> Judged:
    """Compare the competitors in every cell of a state."""
    state = resolved(view, state)
    x, y, competitor = state.knobs()
    prize = str(state.metric)
    groups, constant = _groups(view, state)
    better = metric(prize).better or "less"
    comparison = compare(groups, x.column, y.column, competitor.column, better, state.rules)
    comparison = replace(comparison, groups=comparison.groups.with_columns(constant))
    labels = system_labels(view)
    competing = comparison.contenders["competitor"].unique().to_list()
    competitors = competitors_of(competitor, competing, view.systems, labels)
    axes = tuple(
        ordered_values(knob, comparison.cells[name].unique().to_list())
        for knob, name in ((x, "x"), (y, "y"))
    )
    return Judged(state, comparison, competitors, (axes[0], axes[1]), labels)


def _groups(view: LakeView, state: ModesState) -> tuple[pl.DataFrame, list[pl.Expr]]:
    """The configurations with their replicates, and the columns that are the same in all of them.

    Those cost the most by far, in the question to the lake and in what sorts its answer, and tell
    nothing apart.
    """
    prize, against = str(state.metric), state.against
    known = view.constants(state.selection)
    constant = {name: value for name, value in known.items() if name in CONFIGURATION}
    groups = view.replicates(
        lambda selection, limit: configurations_query(selection, prize, against, limit, constant),
        state.selection,
        constant,
    ).with_columns(cs.categorical().cast(pl.String))
    rest = [name for name in constant if name not in {knob.column for knob in state.knobs()}]
    schema = groups.schema
    return groups.drop(rest), [pl.lit(constant[n], schema[n]).alias(n) for n in rest]


def system_labels(view: LakeView) -> dict[str, str]:
    """Systems by the names that pages call them by."""
    return dict(
        view.cube.select("system", "system_label").unique().sort("system_label").iter_rows()
    )


def answer(view: LakeView, state: ModesState) -> ModesAnswer:
    """Build the pictures of a state."""
    if not view.runs:
        return _nothing(EMPTY_LAKE, "0 of 0 runs")
    found = judge(view, state)
    status = _status(view, found)
    if not len(found.comparison.cells):
        return _nothing(nothing_left(view, found.state), status)
    placed = _placed(found)
    scene = _map_scene(view, found)
    counts = win_counts(found.comparison)
    who = found.competitors.knob.noun
    return ModesAnswer(
        winners=build_winner_map(found.comparison, placed, scene),
        shares=build_shares(counts, found.competitors, f"Cells won by each {who}"),
        pareto=_pareto(found),
        cells=_cells(view, found, placed),
        status=status,
    )


def _cells(view: LakeView, found: Judged, placed: pl.DataFrame) -> dict[str, Any]:
    cells = encode_cells(
        found.comparison, placed, found.axes, found.competitors, found.state, found.labels
    )
    return {**cells, "explore": explore_state(view, found.state).to_query()}


def place_of(state: ModesState) -> dict[str, Value | None]:
    """Knob column to value of the cell that is picked; empty when none is."""
    picked = state.picked
    if picked is None or picked.kind != "cell":
        return {}
    x, y, _ = state.knobs()
    return {x.column: picked.x, y.column: picked.y}


def _nothing(sentence: str, status: str) -> ModesAnswer:
    empty = message_figure("")
    return ModesAnswer(message_figure(sentence), empty, empty, None, status)


def _status(view: LakeView, found: Judged) -> str:
    """How many runs are compared, of how many, and how the cells ended."""
    compared = int(found.comparison.groups["values"].list.len().sum())
    ended = found.comparison.cells["outcome"].value_counts()
    counts = dict(ended.iter_rows())
    words = [f"{counts[o]:,} {OUTCOME_WORDS[o]}" for o in OUTCOMES if counts.get(o)]
    cells = len(found.comparison.cells)
    parts = [f"{compared:,} of {view.runs:,} runs"]
    if cells:
        parts.append(f"{cells:,} cell{'' if cells == 1 else 's'}: {', '.join(words)}")
    return " · ".join(parts)


def _placed(found: Judged) -> pl.DataFrame:
    """Where each cell stands on the map, and who leads it."""
    cells, contenders = found.comparison.cells, found.comparison.contenders
    leaders = contenders["competitor"].gather(cells["winner"])
    return pl.DataFrame(
        {
            "column": index_of(cells["x"], found.axes[0]),
            "row": index_of(cells["y"], found.axes[1]),
            "who": index_of(leaders, found.competitors.values),
        }
    )


def _map_scene(view: LakeView, found: Judged) -> MapScene:
    state = found.state
    x, y, competitor = state.knobs()
    measure = metric(str(state.metric))
    columns, rows = (
        tuple(knob.label(v) if knob.unit else value_label(knob, v, found.labels) for v in values)
        for knob, values in zip((x, y), found.axes, strict=True)
    )
    return MapScene(
        columns=columns,
        rows=rows,
        x_title=x.axis_title,
        y_title=y.axis_title,
        title=f"{measure.title} ({measure.better} is better): best {competitor.noun}, "
        f"{subject(found.comparison, state, found.labels)}",
        subtitle=subtitle(view, found.comparison, state),
        unit=measure.unit,
        is_percent=state.margin == "percent",
        competitors=found.competitors,
    )


def pareto_points(found: Judged) -> pl.DataFrame:
    """Each competitor's best setting in each cell in both metrics; those with both measured.

    Returns:
        Columns `who`, `cell`, `mean`, `against`, `at` (row among the contenders).
    """
    contenders, groups = found.comparison.contenders, found.comparison.groups
    return pl.DataFrame(
        {
            "who": index_of(contenders["competitor"], found.competitors.values),
            "cell": contenders["cell"],
            "mean": contenders["mean"],
            "against": groups["against"].gather(contenders["row"]),
            "at": np.arange(len(contenders)),
        }
    ).filter(pl.col("against").is_not_null())


def _pareto(found: Judged) -> dict[str, Any]:
    points = pareto_points(found)
    prize, against = metric(str(found.state.metric)), metric(found.state.against)
    if not len(points):
        return message_figure(f"No run has both {prize.title}<br>and {against.title}.")
    kept = thin(len(points), MAX_POINTS, pareto_members(points, against.name, prize.name))
    scene = ParetoScene(
        against=against.name,
        prize=prize.name,
        title=f"{prize.title} against {lowered(against.title)}",
        competitors=found.competitors,
        left_out=len(points) - len(kept),
    )
    return build_pareto(points[kept], scene)
