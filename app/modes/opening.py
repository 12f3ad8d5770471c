"""What Modes opens on: the map with most decided cells, or what a link of another page selects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from app.kit.clause import MAX_CHARS, write_knobs
from app.kit.competitors import models_that_ran, what_ran
from app.kit.lake_view import LakeView, leading
from app.kit.links import configurations
from app.modes.defaults import (
    axis_pairs,
    chosen,
    competitors,
    offered_metrics,
    resolved,
    varying_knobs,
    with_values,
)
from app.modes.payload import judge
from app.modes.state import ModesState
from data.analysis.like_with_like import like_with_like
from data.analysis.rules import PROVEN
from data.catalogue import Catalogue
from data.selection import Selection

_NO_COMPETITOR: Final = (
    "Modes compares systems, machines or settings, and the runs of this lake differ in none of "
    "them: runs with a second one would make it useful."
)
_ONLY_WORK: Final = (
    "Modes compares systems, machines or settings, and the runs of this lake differ only in what "
    "ran ({}): Explore shows these, and runs of one of them with a second setting would be "
    "compared here."
)
_NO_METRIC: Final = (
    "Modes compares measurements, and no run of this lake has one: energy, power, latency or time "
    "would make it useful."
)
# So many maps are compared at most; those that can have most decided cells come first.
_MOST_COMPARED: Final = 6
_MOST_STUDIES: Final = 8
# Studies of which is asked whether they have an energy or a power.
_MOST_RANKED: Final = 50


def default_state(view: LakeView) -> ModesState:
    """Return the map with most decided cells, of completion modes if the lake has several.

    A map is a workload, its expected pairs of axes, and one value of each other given knob. Where
    nothing was repeated it is the map with most contests.
    """
    return view.once(_default_state, Selection())


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A map.

    Attributes:
        most: How many of its cells could be decided at most.
        contests: In how many of its cells several compete, though each with one run.
        runs: The runs in these.
    """

    state: ModesState
    most: int
    contests: int
    runs: int


def _default_state(view: LakeView, _: Selection) -> ModesState:
    found = [*_candidates(view)]
    # What follows from the place, as a model's precision does, competes in no cell: others may.
    # Where nothing that was set does, models are compared.
    for rivals_of in (_other_settings, models_that_ran):
        if not any(one.contests for one in found):
            found += _candidates(view, rivals_of)
    found.sort(key=lambda one: (-one.most, -one.contests, -one.runs))
    best, decided = ModesState(), -1
    for candidate in found[:_MOST_COMPARED]:
        if candidate.most <= decided:
            break
        state = with_values(view, candidate.state)
        outcomes = judge(view, state).comparison.cells["outcome"]
        count = int(outcomes.is_in(PROVEN).sum())
        if count > decided:
            best, decided = state, count
    return best


def _other_settings(catalogue: Catalogue, left: pl.DataFrame) -> list[str]:
    """Return the settings of names that differ in some runs but the first, which was tried."""
    varying = {k.name for k in varying_knobs(catalogue, left) if not k.facet.is_number}
    return [name for name in competitors(catalogue) if name in varying][1:]


def _candidates(
    view: LakeView, rivals_of: Callable[[Catalogue, pl.DataFrame], list[str]] | None = None
) -> Iterator[_Candidate]:
    catalogue = view.catalogue
    for selection in _studies(view):
        left = view.left(selection)
        rivals = rivals_of(catalogue, left) if rivals_of else [None]
        if not rivals:
            continue
        state = chosen(view, ModesState(selection, competitor=rivals[-1]))
        pairs = axis_pairs(catalogue, left, str(state.competitor))
        for x, y in dict.fromkeys([*pairs, (str(state.x), str(state.y))]):
            shown = replace(state, x=x, y=y)
            yield from _pinned(view, shown, left)


def _studies(view: LakeView) -> list[Selection]:
    """Return the datasets and workloads that compare most: modes, else systems, else settings."""
    cube = view.cube_of(view.first_study())
    if not len(cube):
        return []
    competing = [view.catalogue.knobs[name].column for name in competitors(view.catalogue)]
    ranked = (
        cube.group_by("dataset", "workload")
        .agg(
            modes=pl.col("mode").drop_nulls().n_unique() > 1,
            systems=pl.col("system").n_unique() > 1,
            competing=pl.max_horizontal(pl.col(competing).n_unique()) > 1,
            runs=pl.col("runs").sum(),
        )
        .sort("modes", "systems", "competing", "runs", "dataset", "workload", nulls_last=True)
        .reverse()
    )
    kind = ("modes", "systems", "competing")
    rows = ranked.select("dataset", "workload", *kind, "runs").rows()[:_MOST_RANKED]
    studies = [(Selection.of(dataset=[row[0]], workload=[row[1]]), row[2:-1]) for row in rows]
    costs = frozenset(view.catalogue.costs)
    # Energy or power is what readers come for, where something competes at all.
    costly = [(own, kinds) for own, kinds in studies
              if kinds[-1] and not costs.isdisjoint(view.measured_columns(own))]  # fmt: skip
    best = costly or studies
    return [own for own, kinds in best if kinds == best[0][1]][:_MOST_STUDIES]


def _pinned(view: LakeView, state: ModesState, left: pl.DataFrame) -> Iterator[_Candidate]:
    """Return one map for each combination of the given knobs that are no axis."""
    catalogue = view.catalogue
    shown = state.knobs(catalogue)
    part = like_with_like(left, shown, is_given_only=True, catalogue=catalogue)
    columns = [pin.knob.column for pin in part.fixed]
    x, y, competitor = (knob.column for knob in shown)
    rivals = pl.col(competitor)
    cells = left.group_by(*columns, x, y).agg(
        most=rivals.filter(pl.col("runs") > 1).n_unique() > 1,
        contests=rivals.n_unique() > 1,
        runs=pl.col("runs").sum(),
    )
    counts = cells.group_by(columns) if columns else cells.group_by(pl.lit(0).alias("all"))
    ranks = {"most": pl.col("most").sum(), "contests": pl.col("contests").sum(),
             "runs": pl.col("runs").filter("contests").sum()}  # fmt: skip
    falls = [*[True] * len(ranks), *[False] * len(columns)]
    ranked = counts.agg(**ranks).sort(*ranks, *columns, descending=falls, nulls_last=True)
    for row in ranked.head(_MOST_COMPARED).iter_rows(named=True):
        selection = state.selection
        for pin in part.fixed:
            value = row[pin.knob.column]
            null = pin.knob.facet.null_word
            selection = selection.with_values(pin.knob.facet, [null if value is None else value])
        yield _Candidate(replace(state, selection=selection), *(int(row[name]) for name in ranks))


def missing(view: LakeView, state: ModesState) -> str:
    """Return that nothing competes, or that nothing was measured."""
    left = view.left(leading(state.selection))
    varying = {knob.name for knob in varying_knobs(view.catalogue, left)}
    # Of what ran models alone are compared: an amount or a part of the work wins nothing.
    competing = varying & {*competitors(view.catalogue), *models_that_ran(view.catalogue, left)}
    is_asked = state.competitor is not None and state != default_state(view)
    if is_asked or (competing and offered_metrics(view, replace(state, metric=None))):
        return ""
    if competing:
        return _NO_METRIC
    ran = what_ran(view.catalogue, left)
    return _ONLY_WORK.format(", ".join(ran)) if ran else _NO_COMPETITOR


def open_link(view: LakeView, state: ModesState) -> tuple[ModesState, str]:
    """Convert a selection of another page to the cells that hold it.

    Returns:
        The state, and text for the notice if the selection had to be dropped.
    """
    clause = state.clause(view.catalogue)
    if clause is None or clause.kind in ("won", "outcome") or not view.runs:
        return state, ""
    state = chosen(view, state)
    x, y, _ = state.knobs(view.catalogue)
    panels = view.catalogue.knobs.get(resolved(view, state).split)
    columns = {x.column, y.column, *([panels.column] if panels else [])}
    if clause.kind == "knobs" and all(set(knobs) == columns for knobs in clause.knobs):
        return state, ""
    rows = configurations(view, state.selection, clause)
    sel = cells_clause(rows, x.column, y.column, panels.column if panels else "")
    if not sel:
        return replace(state, sel=""), "No run under these filters is in the link's selection."
    if len(sel) > MAX_CHARS:
        return replace(state, sel=""), "The link's selection has too many cells for an address."
    return replace(state, sel=sel), ""


def cells_clause(rows: pl.DataFrame, x: str, y: str, panel: str = "") -> str:
    """Write the cells that hold some configurations, one object per row of a map.

    Args:
        rows: With the columns `x`, `y` and `panel` (empty for one map), named by the arguments.

    Returns:
        A `knobs` clause; empty for no rows.
    """
    names = [*([panel] if panel else []), y]
    cells = rows.select(*names, x).unique().sort(*names, x, nulls_last=True)
    lines: dict[tuple, list] = {}
    for *line, x_value in cells.iter_rows():
        lines.setdefault(tuple(line), []).append(x_value)
    alternatives = [
        dict(zip(names, line, strict=True)) | {x: xs[0] if len(xs) == 1 else xs}
        for line, xs in lines.items()
    ]
    return write_knobs(alternatives) if alternatives else ""
