"""The choices of Modes that a link leaves open: axes, competitor, metric, and what limits apply to.

No name or load is fixed here: choices follow from the combinations of knobs in the lake.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import polars as pl

from app.kit.competitors import models_that_ran
from app.kit.lake_view import LakeView, leading, of_workload
from app.kit.metric_choice import (
    choose_cost,
    costs_beside,
    performance_column,
    telling,
    unlike_work,
    value_counts,
)
from app.kit.page_layout import Preset
from app.kit.panels import split_name
from app.modes.state import ModesState
from data.analysis.facet_counts import LEADING
from data.analysis.like_with_like import like_with_like
from data.catalogue import SHIPPED, Catalogue
from data.declared import PERFORMANCE
from data.knobs import Knob
from data.metrics import Metric
from data.reference.tables import published_tables
from data.selection import Selection, Value
from data.units import lowered

# Competitors and pairs of axes, in the order in which readers of the studies expect them.
_COMPETITORS: Final = ("mode", "system", "machine", "dvfs", "itr", "rapl", "device")
_AXES: Final = (
    ("request", "depth"), ("request", "threads"), ("load", "dvfs"), ("load", "itr"),
    ("message", "itr"), ("message", "dvfs"), ("itr", "dvfs"),
)  # fmt: skip
# Idle runs have arbitrary lengths, so their energies do not compare.
_IDLE_METRICS: Final = ("power_w",)
_STORAGE_METRICS: Final = ("bytes_per_joule", "ios_per_joule")
_METRIC: Final = "bytes_per_joule"
_READ, _BASE_BYTES = "randread", 4096
# The figure's axes: 1 to 128 KiB, 1 to 64 in flight.
_RANGES: Final = {"request": (1 << 10, 128 << 10), "depth": (1, 64)}


def competitors(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the knobs that compete unless a visitor asks otherwise: settings, not given loads.

    Names compete before numbers, which make axes.
    """
    others = [name for name, knob in catalogue.knobs.items() if not knob.is_given]
    others.sort(key=lambda name: catalogue.knobs[name].facet.is_number)
    return tuple(dict.fromkeys((*_COMPETITORS, *others)))


def chosen(view: LakeView, state: ModesState, pin: bool = False) -> ModesState:
    """Choose axes, competitor and metric where the state leaves them open.

    Args:
        pin: Also filter each load, size and other given knob that is not an axis to its most
            frequent value, so that a cell compares like with like.
    """
    if state.x and state.y and state.competitor and state.metric and not pin:
        return state
    left = view.left(state.selection)
    competitor = state.competitor or _competitor(view, state)
    x, y = _axes(view.catalogue, left, state, competitor)
    column = state.metric or _metric(view, state.selection, competitor)
    found = replace(state, x=x, y=y, competitor=competitor, metric=column)
    if not pin:
        return found
    return with_values(view, replace(found, selection=_pinned(view.catalogue, left, found)))


def with_values(view: LakeView, state: ModesState) -> ModesState:
    """Choose another metric where no run that the filters leave has a value of the chosen one."""
    known = view.ranges(state.selection).get(str(state.metric))
    if known is None or known.runs:
        return state
    return replace(state, metric=_metric(view, state.selection, str(state.competitor)))


def for_workload(view: LakeView, state: ModesState, workload: str | None) -> ModesState:
    """Change to another workload or dataset; choose again what does not vary or exist there."""
    selection = of_workload(view, state.selection.values("dataset"), workload)
    if not selection.values("workload"):
        return replace(state, selection=selection, sel="", limit=None, limited=PERFORMANCE)
    left = view.left(selection)
    for knob in view.catalogue.knobs.values():
        if knob.name not in LEADING:
            there = {knob.facet.null_word if v is None else v for v in left[knob.column].unique()}
            kept = [v for v in state.selection.values(knob.name) if v in there]
            selection = selection.with_values(knob.facet, kept)
    varying = {knob.name for knob in varying_knobs(view.catalogue, left)}
    x, y, competitor = (
        name if name in varying else None for name in (state.x, state.y, state.competitor)
    )
    column = state.metric if state.metric in view.measured_columns(selection) else None
    # A limit is one on a metric of its workload.
    moved = replace(
        state, selection=selection, sel="", x=x, y=y, competitor=competitor, metric=column,
        limit=None, limited=PERFORMANCE,
    )  # fmt: skip
    return chosen(view, moved, pin=True)


def resolved(view: LakeView, state: ModesState) -> ModesState:
    """Return the state with every choice made, and `performance` replaced by its column.

    If that is the compared metric itself or was not measured, the second metric of the Pareto view
    becomes what `choose_cost` prefers of the measured ones. `split` becomes a knob or `none`.
    """
    state = chosen(view, state)
    against, performance = state.against, performance_column(view, state.selection)
    if against == PERFORMANCE:
        against = performance
        measured = offered_metrics(view, state)
        if against == state.metric or against not in measured:
            against = choose_cost(dict.fromkeys(measured, 1), 1, str(state.metric), view.catalogue)
    limited = performance if state.limited == PERFORMANCE else state.limited
    taken = (state.x, state.y, state.competitor)
    split = split_name(state.split, state.selection, taken)
    return replace(state, against=against, limited=limited, split=split)


def offered_knobs(view: LakeView, state: ModesState) -> list[Knob]:
    """Return the knobs with several values in the dataset and workload, and those of the state."""
    left = view.left(leading(state.selection))
    varying = {knob.name for knob in varying_knobs(view.catalogue, left)}
    named = {state.x, state.y, state.competitor}
    return [knob for name, knob in view.catalogue.knobs.items() if name in varying | named]


def offered_metrics(view: LakeView, state: ModesState) -> list[str]:
    """Return the metrics of which the workload has values: with a better direction, then others.

    Properties of the measurement, which nobody compares, are left out.
    """
    metrics, plottable = view.catalogue.metrics, view.catalogue.plottable
    workloads = state.selection.values("workload")
    measured = view.measured_columns(state.selection) if workloads else plottable
    listed = [n for n in plottable if n == state.metric or (n in measured and metrics[n].group)]
    return sorted(listed, key=lambda name: metrics[name].better is None)


def varying_knobs(catalogue: Catalogue, rows: pl.DataFrame) -> list[Knob]:
    """Return the knobs with more than one value in some rows; NULL counts as a value."""
    return [knob for knob in catalogue.knobs.values() if rows[knob.column].n_unique() > 1]


def _competitor(view: LakeView, state: ModesState) -> str:
    """Choose what varies under the filters, else under the leading filters."""
    axes, catalogue = (state.x, state.y), view.catalogue
    for selection in (state.selection, leading(state.selection)):
        varying = [knob.name for knob in varying_knobs(catalogue, view.left(selection))]
        work = models_that_ran(catalogue, view.left(selection))
        names = dict.fromkeys((*competitors(catalogue), *work, *varying))
        free = [n for n in names if n in varying and n not in axes]
        if free:
            return free[0]
    return next(name for name in ("system", *catalogue.knobs) if name not in axes)


def _axes(
    catalogue: Catalogue, left: pl.DataFrame, state: ModesState, competitor: str
) -> tuple[str, str]:
    """Choose the axes that the state leaves open: the most contested of the expected pairs.

    Two knobs that depend on each other, such as threads and depth, would give a diagonal instead of
    a map. An expected pair of which one knob has a single value is better.
    """
    varying = [k.name for k in varying_knobs(catalogue, left) if k.name != competitor]
    expected = [pair for pair in _AXES if set(pair) <= set(varying)]
    pairs = [*expected, *combinations(varying, 2)]
    if state.x and state.y:
        return state.x, state.y
    if state.x or state.y:
        fixed = state.x or state.y
        others = [n for pair in pairs if fixed in pair for n in pair if n != fixed]
        others += list(catalogue.knobs)
        other = next(n for n in others if n not in (fixed, competitor))
        return (str(state.x), other) if state.x else (other, str(state.y))
    # A study with fewer knobs than axes has one row or one cell, by a knob that it has.
    there = [name for name, knob in catalogue.knobs.items() if left[knob.column].count()]
    half = [pair for pair in _AXES if {*pair} & {*varying} and {*pair} <= {*there} - {competitor}]
    rest = [n for n in (*varying, *there, "itr", "dvfs", "load") if n != competitor]
    bare = list(combinations(dict.fromkeys(rest), 2))
    known = axis_pairs(catalogue, left, competitor) or half or bare
    best = max(known, key=lambda pair: _contested(catalogue, left, pair, competitor))
    # What decides the competitor is no axis: nobody would compete in any cell.
    pairs = [best] if _contested(catalogue, left, best, competitor) else [best, *bare]
    return max(pairs, key=lambda pair: _contested(catalogue, left, pair, competitor))


def axis_pairs(catalogue: Catalogue, left: pl.DataFrame, competitor: str) -> list[tuple[str, str]]:
    """Return the pairs of knobs that vary and make a map, expected ones if there are any."""
    varying = [k.name for k in varying_knobs(catalogue, left) if k.name != competitor]
    expected = [pair for pair in _AXES if set(pair) <= set(varying)]
    # `_is_apart` is slow, so it is called only if no pair is expected.
    return expected or [p for p in combinations(varying, 2) if _is_apart(catalogue, left, p)]


def _is_apart(catalogue: Catalogue, left: pl.DataFrame, pair: Sequence[str]) -> bool:
    """Return whether neither of two knobs depends on the other."""
    columns = [catalogue.knobs[name].column for name in pair]
    return left.select(columns).n_unique() > max(left[column].n_unique() for column in columns)


def _contested(
    catalogue: Catalogue, left: pl.DataFrame, pair: Sequence[str], competitor: str
) -> float:
    """Return the share of measured cells in which more than one competitor was measured."""
    by = [catalogue.knobs[name].column for name in pair]
    sizes = left.group_by(by).agg(n=pl.col(catalogue.knobs[competitor].column).n_unique())
    return float((sizes["n"] > 1).mean() or 0)  # type: ignore[arg-type]


def _metric(view: LakeView, selection: Selection, competitor: str) -> str:
    state = ModesState(selection)
    offered = offered_metrics(view, state)
    is_idle = selection.values("workload") == ("idle",)
    first = _IDLE_METRICS if is_idle else _STORAGE_METRICS if competitor == "mode" else ()
    performance = performance_column(view, selection)
    names = (*first, *costs_beside(performance, view.catalogue), performance)
    counted = [name for name in dict.fromkeys(names) if name in offered]
    if not counted:
        return choose_cost(dict.fromkeys(offered, 1), 1, "", view.catalogue)
    ranges = view.ranges(selection)
    counts = {name: ranges[name].runs for name in counted}
    told = next(iter(telling(view, selection, counts)), counted[0])
    if unlike_work(view, selection, told):
        return choose_cost(value_counts(view, selection, told), view.runs, "", view.catalogue)
    return told


def _pinned(catalogue: Catalogue, left: pl.DataFrame, state: ModesState) -> Selection:
    """Filter the given knobs without a filter to what the map would show of them."""
    shown = state.knobs(catalogue)
    part = like_with_like(left, shown, is_given_only=True, catalogue=catalogue)
    selection = state.selection
    for clause in part.narrow(selection).clauses:
        name = clause.facet.name
        if not selection.values(name) and name not in LEADING:
            selection = selection.with_values(clause.facet, clause.values)
    return selection


def metric_title(measure: Metric) -> str:
    """Return a metric's title with the direction that wins, for menus: `least energy`."""
    direction = {"less": "least ", "more": "most ", None: ""}[measure.better]
    return f"{direction}{lowered(measure.title)}"


def rule_preset(state: ModesState) -> Preset:
    """Return the preset of a map by the rule of the papers."""
    hint = "this map by Student's t test at 5 %, uncorrected: p above it is a tie"
    rule = replace(state, test="student", correction="none", alpha=0.05, sel="", limit=None)
    return Preset("Student's rule", hint, rule)


def study_presets(view: LakeView) -> list[Preset]:
    """Return presets of the map over request size and IO depth, and of 4 KB reads.

    They use the dataset with most completion modes, then most runs; empty if none has two modes.
    """
    rows = view.cube_of(view.first_study(is_storage=True)).filter(
        pl.col("request_bytes").is_not_null() & pl.col("mode").is_not_null(), rw=_READ
    )
    datasets = (
        rows.group_by("dataset", "workload")
        .agg(modes=pl.col("mode").n_unique(), runs=pl.col("runs").sum())
        .sort("modes", "runs", "dataset", "workload")
    )
    if not len(datasets) or datasets["modes"][-1] < 2:
        return []
    dataset, workload = datasets.row(-1)[:2]
    if _METRIC not in view.measured_columns(Selection.of(dataset=[dataset], workload=[workload])):
        return []
    rows = rows.filter(dataset=dataset, workload=workload)
    base = Selection.of(dataset=[dataset], workload=[workload], rw=[_READ])
    judged = ModesState(
        base, competitor="mode", metric=_METRIC, lead="absolute", test="student", correction="none"
    )
    presets = _figure_3(rows, judged)
    small = rows.filter(request_bytes=_BASE_BYTES)
    if small["mode"].n_unique() > 1:
        selection = base.with_values("request", [float(_BASE_BYTES)])
        state = replace(judged, x="depth", y="device", selection=selection)
        hint = "most bytes per joule of 4 KB random reads, by IO depth and device"
        presets.append(Preset("4 KB reads", hint, state))
    return presets


def _figure_3(rows: pl.DataFrame, judged: ModesState) -> list[Preset]:
    """Return the preset; empty if no size or depth is within the figure's axes."""
    device = _device(rows)
    selection = judged.selection
    if device is not None:
        selection = selection.with_values("device", [device])
        rows = rows.filter(device=device)
    for facet, (low, high) in _RANGES.items():
        there = rows[SHIPPED.facets[facet].column].drop_nulls().unique().sort()
        inside: list[Value] = [float(value) for value in there if low <= value <= high]
        if not inside:
            return []
        if len(inside) < len(there):
            selection = selection.with_values(facet, inside)
    hint = "most bytes per joule by completion mode, IO depth x request size, Student's t, 5 %"
    state = replace(judged, x="depth", y="request", selection=selection)
    return [Preset("figure 3 of HotStorage '22", hint, state)]


def _device(rows: pl.DataFrame) -> str | None:
    """Return the paper's device, else the one with most modes, then most sizes and depths."""
    (pattern,) = {r["device_pattern"] for r in published_tables()["hotstorage22_performance"].rows}
    ranked = (
        rows.drop_nulls("device")
        .group_by("device")
        .agg(
            modes=pl.col("mode").n_unique(), cells=pl.struct("request_bytes", "io_depth").n_unique()
        )
        .sort("modes", "cells", "device")
    )
    devices: list[str] = ranked["device"].to_list()
    of_paper = [name for name in devices if re.search(pattern, name, re.IGNORECASE)]
    return next(reversed(of_paper or devices), None)
