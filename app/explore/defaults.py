"""What Explore shows when nobody has chosen: a dataset, a workload, one load."""

from dataclasses import replace

import polars as pl

from app.explore.state import ExploreState
from app.kit.lakes import LakeView
from data.analysis.facets import facet_choices
from data.selection import FACETS, Selection


def default_state(view: LakeView) -> ExploreState:
    """Return the view without a link: the largest dataset's first workload, at one load."""
    cube = view.cube
    if not len(cube):
        return ExploreState()
    totals = cube.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
    selection = Selection.of(dataset=[totals["dataset"][-1]])
    return ExploreState(choose_workload(view, selection, None))


def choose_workload(view: LakeView, selection: Selection, workload: str | None) -> Selection:
    """Return the filters for a workload, without those that would leave no run of it.

    Args:
        workload: None for the first by name that the datasets hold.
    """
    keep = {"dataset": selection.values("dataset"), "system": selection.values("system")}
    base = Selection.of(dataset=keep["dataset"])
    offered = [c.value for c in facet_choices(view.cube, base, "workload")]
    chosen = workload if workload in offered else (offered[0] if offered else None)
    if chosen is None:
        return base
    result = base.with_values("workload", [chosen])
    for facet in ("load", "message", "device", "rw", "request"):
        values = [c.value for c in facet_choices(view.cube, result, facet)]
        real = [v for v in values if v != FACETS[facet].null_word]
        previous = [v for v in selection.values(facet) if v in real]
        result = result.with_values(facet, previous or real[:1])
    for facet in ("depth", "threads", "system", "mode", "itr", "dvfs", "rapl"):
        values = [c.value for c in facet_choices(view.cube, result, facet)]
        result = result.with_values(facet, [v for v in selection.values(facet) if v in values])
    return result


def turned(view: LakeView, state: ExploreState, workload: str | None) -> ExploreState:
    """Return the state for another workload or dataset; keep the filters that leave some runs."""
    return replace(state, selection=choose_workload(view, state.selection, workload))
