"""What Explore shows when nobody has chosen: a dataset, a workload, one load."""

from dataclasses import replace

import polars as pl

from app.explore.opening_rule import choose_cost, choose_performance, choose_roles
from app.explore.state import PERFORMANCE, ExploreState
from app.kit.lakes import LakeView
from app.kit.performance import performance_column
from data.analysis.facets import facet_choices, matches
from data.knobs import KNOBS
from data.metrics import plottable
from data.queries.runs import chosen_counts_query
from data.selection import FACETS, Selection


def default_state(view: LakeView) -> ExploreState:
    """Return the view without a link: the largest dataset's first workload, at one load."""
    cube = view.cube
    if not len(cube):
        return ExploreState()
    totals = cube.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
    selection = Selection.of(dataset=[totals["dataset"][-1]])
    return opened(view, ExploreState(choose_workload(view, selection, None)))


def opened(view: LakeView, state: ExploreState) -> ExploreState:
    """Return the state with the metrics and knobs that most of its runs have."""
    left = view.cube.filter(matches(state.selection))
    if not len(left):
        return state
    performance = performance_column(view, state.selection)
    x = choose_performance(_counts(view, state.selection, performance), performance)
    counts = _counts(view, state.selection, x, x)
    y = choose_cost(counts, counts[x], x)
    values = {name: left[knob.column].n_unique() for name, knob in KNOBS.items()}
    numbers = [name for name, knob in KNOBS.items() if knob.facet.is_number]
    roles = choose_roles(values, numbers)
    varying = [n for n in ("itr", "dvfs", *sorted(values, key=lambda n: -values[n]))
               if values[n] > 1 and n != "system"]  # fmt: skip
    heat = [*dict.fromkeys((*varying, "itr", "dvfs"))]
    if {"itr", "dvfs"} & set(varying):
        heat = ["itr", "dvfs"]
    shown_x = PERFORMANCE if x == performance else x
    return replace(
        state,
        x=shown_x,
        y=y,
        heat_metric=y,
        cost=y,
        limited=shown_x,
        heat_x=heat[0],
        heat_y=heat[1],
        **roles._asdict(),
    )


def _counts(view: LakeView, selection: Selection, x: str, measured: str = "") -> dict[str, int]:
    """How many of the chosen runs have a value in each metric.

    Args:
        measured: Only runs that have a value in it; empty for all.
    """
    names = dict.fromkeys((x, *plottable()))
    rows = view.lake.polars(*chosen_counts_query(selection, list(names), measured))
    return dict(rows.row(0, named=True))


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
    return opened(view, replace(state, selection=choose_workload(view, state.selection, workload)))
