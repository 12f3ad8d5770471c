"""Defaults of Explore: a dataset, a workload, one load."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.opening_rule import (
    Pair,
    Roles,
    are_alike,
    choose_heat,
    choose_over_settings,
    choose_roles,
    is_energy_over_time,
    wants_logs,
)
from app.explore.question import Question
from app.explore.state import ExploreState
from app.kit.lake_view import LakeView, of_workload
from app.kit.metric_choice import (
    COUNTED,
    choose_cost,
    choose_performance,
    is_served,
    performance_column,
    value_counts,
)
from app.kit.panels import NONE
from app.kit.words import named_columns, some_of
from data.analysis.facet_counts import MetricRange
from data.declared import PERFORMANCE
from data.queries.runs import chosen_counts_query, one_measurement_query
from data.queries.storage import IDLE_WORKLOAD
from data.repeatable import are_past
from data.selection import Selection, Value

# Of these the value with most configurations is shown, of several the one in the middle; of loads
# and message sizes the first with half as many.
_WIDEST: Final = ("device", "rw", "request")
# URL keys of the knobs of points, heatmap and lines.
_KNOB_KEYS: Final = (("col", "size", "sym"), ("hx", "hy"), ("lx", "lby", "lst"))
_DRAWS: Final = (
    "Explore draws one measurement against another or over what was set, and no run here has"
)
_OPENS: Final = (
    "Explore opens on energy or power against a latency, a time or a rate, and no run here has an "
    "energy or a power"
)
_USEFUL: Final = "energy or power beside latency or time would make it useful."


def default_state(view: LakeView) -> ExploreState:
    """Return the view without a link: the largest dataset's first large workload, at one load.

    A workload is large if it has half as many runs as the largest. A dataset or workload whose runs
    have energy or power beside another measurement comes first, then one with any two measurements;
    of a dataset's that have energy beside a time, one that served requests (latency, rate) instead.
    Where nothing was set but the workload, all of the dataset's are shown.
    """
    if not view.runs:
        return ExploreState()
    state = _of_one_workload(view)
    if view.varying(state.selection).isdisjoint(view.catalogue.knob_of_column):
        every = Selection.of(dataset=state.selection.values("dataset"))
        if "workload" in view.varying(every):
            return opened(view, ExploreState(every))
    return state


def _of_one_workload(view: LakeView) -> ExploreState:
    totals = view.outline.group_by("dataset").agg(pl.col("runs").sum())
    datasets = totals.sort("runs", "dataset", descending=True)["dataset"]
    selections = (Selection.of(dataset=[name]) for name in datasets)
    choices = (
        (selection, value) for selection in selections for value in _large_first(view, selection)
    )
    states = (
        opened(view, ExploreState(choose_workload(view, selection, str(workload))))
        for selection, workload in choices
    )
    first: ExploreState | None = None
    telling: ExploreState | None = None
    for state in states:
        first = first or state
        if state.show != "lines" and not has_pair(view, state):
            continue
        if state.show != "lines" and state.y in view.catalogue.costs:
            return _served(view, state) or state
        # A single setting tells less than several.
        if telling is None or len(view.left(telling.selection)) == 1:
            telling = state
    return telling or first or ExploreState()


def _served(view: LakeView, state: ExploreState) -> ExploreState | None:
    """Return the view of the dataset's first workload with a cost beside a latency or a rate.

    None where the given one is such, or a workload names its performance, or all others have less
    than a quarter of its runs or one setting.
    """
    every = Selection.of(dataset=state.selection.values("dataset"))
    ranges, own = view.ranges(every), performance_column(view, state.selection)
    is_named = any(view.left(every)["performance_metric"].is_not_null())
    served = [n for n in view.catalogue.plottable if is_served(n) and ranges[n].runs]
    if is_named or is_served(own) or not served:
        return None
    least = len(view.left(state.selection)) / 4
    for workload in _large_first(view, every):
        selection = choose_workload(view, every, str(workload))
        is_large = len(view.left(selection)) >= max(least, 2)
        if workload == IDLE_WORKLOAD or not is_large:
            continue
        if is_served(performance_column(view, selection)):
            other = opened(view, ExploreState(selection))
            is_cost = other.show != "lines" and other.y in view.catalogue.costs
            if is_cost and has_pair(view, other):
                return other
    return None


def _large_first(view: LakeView, selection: Selection) -> list[Value]:
    """Return the workloads of a dataset, those with half as many runs as the largest first.

    That of idle runs is the last.
    """
    there = [c for c in view.counts_of(selection).of("workload", selection) if c.runs]
    most = max((choice.runs for choice in there), default=0)
    there.sort(key=lambda choice: (choice.value == IDLE_WORKLOAD, 2 * choice.runs < most))
    return [choice.value for choice in there]


def has_pair(view: LakeView, state: ExploreState) -> bool:
    """Return whether any run has both metrics of the scatter."""
    state = state.with_performance(performance_column(view, state.selection))
    query = chosen_counts_query(state.selection, [state.y], state.x, catalogue=view.catalogue)
    return bool(view.answered(*query).item() > 0)


def missing(view: LakeView, state: ExploreState) -> str:
    """Return that Explore has nothing to draw; empty if only the filters leave nothing."""
    is_drawn = state.show == "lines" or has_pair(view, state) or state != default_state(view)
    if is_drawn:
        return ""
    is_set = has_settings(view, state.selection)
    there = view.measured_columns(state.selection)
    titles = [view.catalogue.metric(n).title for n in view.catalogue.plottable if n in there]
    if len(titles) > 1 and {*there}.isdisjoint(view.catalogue.costs):
        nor = "" if is_set else ", nor was anything set"
        return f"{_OPENS}{nor}; measured were {some_of(titles)}."
    what = "one" if is_set else "two, nor was anything set"
    return f"{_DRAWS} {what}: {_USEFUL}"


def has_settings(view: LakeView, selection: Selection) -> bool:
    """Return whether a setting differs between the runs of the chosen datasets and workloads."""
    return not view.varying(selection).isdisjoint(view.catalogue.knob_of_column)


def opened(view: LakeView, state: ExploreState) -> ExploreState:
    """Return the state with the metrics and knobs that it leaves open.

    Without a link that is every one. Links leave out energy, performance, DVFS, ITR and system in
    their usual places: a metric that a link does not name is chosen where no run has the usual one,
    the knobs of points, heatmap or lines where it names none of them and the study lacks a usual
    one.
    """
    if not view.matching(state.selection):
        return state
    named, knobs = state.named, view.catalogue.knobs
    measured, alone = _with_metrics(view, state)
    chosen = with_knobs(view, measured, _telling(view, measured))
    varying, changes = view.varying(state.selection), dict[str, Any]()
    for keys in _KNOB_KEYS:
        names = [state.parameters()[key].attribute for key in keys]
        usual = (knobs.get(getattr(state, name)) for name in names)
        is_lacking = any(knob and knob.column not in varying for knob in usual)
        if named is None or (named.isdisjoint(keys) and is_lacking):
            changes |= {name: getattr(chosen, name) for name in names}
    is_unsaid = named is None or "rep" not in named
    if is_unsaid and (
        varying.isdisjoint(view.catalogue.configuration) or _are_unlike(view, measured)
    ):
        # Runs that no setting tells apart are no replicates of one.
        changes["replicates"] = "runs"
    result = replace(measured, **changes)
    over = view.left(state.selection)[knobs[result.lines_x].column]
    if alone and over.n_unique() > 1 and (named is None or named.isdisjoint(("show", "x", "y"))):
        ly = alone if named is None or "ly" not in named else result.lines_y
        result = replace(result, show="lines", lines_y=ly)
    elif alone and (named is None or named.isdisjoint(("show", "x", "y"))):
        # Nothing was set to draw two of a kind over: time tells more, though it hardly differs.
        performance = performance_column(view, state.selection)
        known = view.ranges(state.selection)[performance]
        if known.runs > 1 and known.low < known.high and result.y != performance:
            result = replace(result, x=PERFORMANCE, limited=PERFORMANCE)
    return result if named is not None else _with_axes(view, result)


def _with_axes(view: LakeView, state: ExploreState) -> ExploreState:
    """Return the state with logarithmic axes where values span decades."""
    performance = performance_column(view, state.selection)
    ranges = view.ranges(state.selection)

    def range_of(name: str) -> MetricRange:
        return ranges[performance if name == PERFORMANCE else name]

    x, y = range_of(state.x), range_of(state.y)
    x_log, y_log = wants_logs((x.low, y.low), (x.high, y.high))
    drawn = [range_of(name) for name in state.lines_y]
    over = view.left(state.selection)[view.catalogue.knobs[state.lines_x].column].drop_nulls()
    lines_x_log = False
    if view.catalogue.knobs[state.lines_x].facet.is_number and len(over):
        (lines_x_log,) = wants_logs([float(over.min())], [float(over.max())])  # type: ignore[arg-type]
    lines_y_log = any(wants_logs([r.low for r in drawn], [r.high for r in drawn]))
    return replace(
        state, x_log=x_log, y_log=y_log, lines_x_log=lines_x_log, lines_y_log=lines_y_log
    )


def _with_metrics(view: LakeView, state: ExploreState) -> tuple[ExploreState, tuple[str, ...]]:
    """Choose the metrics that a state leaves open; see `opened`.

    Returns:
        The state, and the metrics that stand over what was set, since they make no pair: the only
        measurement, one of several of a kind, or two that at most one run has both of. Else none.
    """
    catalogue, usual = view.catalogue, ExploreState()
    performance = performance_column(view, state.selection)
    counts = value_counts(view, state.selection, performance)

    def is_open(key: str, column: str) -> bool:
        return state.named is None or not (key in state.named or counts.get(column))

    x = performance if state.x == PERFORMANCE else state.x
    if is_open("x", performance):
        x = choose_performance(counts, performance, catalogue)
    paired = value_counts(view, state.selection, x, x)
    among = paired if any(n for name, n in paired.items() if name != x) else counts
    y = choose_cost(among, among[x], x, catalogue) if is_open("y", usual.y) else state.y
    y = performance if y == PERFORMANCE else y
    first, second = catalogue.metric(x), catalogue.metric(y)
    is_cost = bool(y in catalogue.costs and counts.get(y))
    is_spare = is_open("y", usual.y) and not is_cost and first.better is not None
    runs = counts.get(x, 0), counts.get(y, 0), paired.get(y, 0)
    # What has no direction, or is counted while a processor works, tells nothing beside a result.
    is_no_result = second.better is None or second.group in COUNTED
    is_alike = are_alike(first, second) or (is_spare and is_no_result)
    if not is_alike and not is_energy_over_time(first, second):
        choice = catalogue.choice_columns
        query = one_measurement_query(state.selection, first.name, second.name, choice)
        is_alike = bool(view.answered(*query).item())
    axes, most = choose_over_settings(Pair(*runs, is_alike, is_spare))
    # Nothing stands over what was set where nothing was: two results, though of one measurement.
    y = x if axes == "x" and has_settings(view, state.selection) else y
    over = [name for name in ({"x": x, "y": y}[axis] for axis in axes) if counts.get(name, 0) > 1]
    shown_x = PERFORMANCE if x == performance else x
    chosen = {
        "x": shown_x, "y": y, "hmet": y, "cost": y, "by": shown_x, "ly": (y, shown_x)
    }  # fmt: skip
    usual_of = {"x": performance, "by": performance}
    changes: dict[str, Any] = {
        state.parameters()[key].attribute: value
        for key, value in chosen.items()
        if is_open(key, usual_of.get(key, usual.y))
    }
    return replace(state, **changes), tuple(shown_x if name == x else name for name in over[:most])


def _are_unlike(view: LakeView, state: ExploreState) -> bool:
    """Return whether the runs of most settings that were repeated are no replicates in the cost."""
    question = Question.of(view, state)
    if question.has_negative_costs:
        return False
    costs = [chosen.study.cost for chosen in question.studies]
    unlike = sum(int(np.count_nonzero(cost.is_unlike)) for cost in costs)
    return 2 * unlike > sum(int(np.count_nonzero(cost.n > 1)) for cost in costs)


def _telling(view: LakeView, state: ExploreState) -> list[str]:
    """Return the setting that tells most of the y of the scatter's points, if it does.

    The means of its values make up most of the variance, adjusted for their number. None where all
    settings have roles.
    """
    varying = view.varying(state.selection)
    knobs = [knob for knob in view.catalogue.knobs.values() if knob.column in varying]
    if len(knobs) <= len(Roles._fields):
        return []
    points = Question.of(view, state).narrowed
    if len(points) < 2:
        return []
    y = points.floats("y")
    y = np.log(y) if y.min() > 0 else y
    y, left = y - y.mean(), {}
    for knob in (k for k in knobs if not k.is_given and k.column in points.table.columns):
        codes = points.codes(knob.column).codes
        counts = np.bincount(codes)
        between = float((np.square(np.bincount(codes, y)) / np.maximum(counts, 1)).sum())
        freedom = len(y) - np.count_nonzero(counts)
        left[knob.name] = (y @ y - between) / freedom if freedom else np.inf
    best = min(left, key=left.__getitem__, default="")
    return [best] if best and left[best] < 0.5 * (y @ y) / (len(y) - 1) else []


def with_knobs(view: LakeView, state: ExploreState, telling: Collection[str] = ()) -> ExploreState:
    """Return the state with the knobs that distinguish its runs; see `choose_roles`."""
    left = view.left(state.selection)
    knobs = view.catalogue.knobs
    columns = {name: left[knob.column] for name, knob in knobs.items()}
    again = view.varying(state.selection) - named_columns(view, state.selection)
    values = {
        name: 1 if knobs[name].column in again else column.n_unique()
        for name, column in columns.items()
    }
    known = {name: n if columns[name].count() else 0 for name, n in values.items()}
    numbers = [name for name, knob in knobs.items() if not knob.is_name]
    items = [n for n, knob in knobs.items() if knob.column in view.catalogue.item_columns]
    heat_x, heat_y = choose_heat(known, items, telling)
    # Times that have passed are no setting, where anything else differs.
    past = {n for n in values if values[n] > 1 and are_past(knobs[n].column, columns[n].unique())}
    others = {name: n for name, n in values.items() if name not in past}
    roles = choose_roles(others if max(others.values()) > 1 else values, numbers, telling)
    # A line runs over numbers rather than names, and over what was set rather than its items.
    over, style = heat_y, heat_x
    if heat_x in numbers and (heat_y not in numbers or (heat_y in items and heat_x not in items)):
        over, style = heat_x, heat_y
    is_turned = {over, style} <= {*numbers} and not {over, style} & {*items}
    if is_turned:
        # Of an incomplete grid most lines may be of one point: 5 threads over 1 and 2 processes.
        places = pl.DataFrame([columns[over], columns[style]]).n_unique()
        is_turned = 2 * (places - known[style]) < places and known[over] < known[style]
    if is_turned:
        over, style = style, over
    if known.get(over, 0) < 2:
        over, style = heat_x if over == heat_y else heat_y, NONE
    if heat_x not in numbers and known[heat_x] > known[heat_y]:
        # Names stand beside their rows; below columns they would take the height of the cells.
        heat_x, heat_y = heat_y, heat_x
    if style not in numbers or known.get(style, 0) < 2:
        style = NONE
    # A line for each name, though these may be too many for symbols.
    by = roles.colour if roles.symbol == NONE and roles.colour not in numbers else roles.symbol
    if by == over:
        by = style if is_turned else roles.colour if roles.colour in items else NONE
    style = NONE if style == by else style
    return replace(
        state,
        heat_x=heat_x,
        heat_y=heat_y,
        lines_x=over,
        lines_by=by,
        lines_style=style,
        **roles._asdict(),
    )


def choose_workload(view: LakeView, selection: Selection, workload: str | None) -> Selection:
    """Return the filters for a workload, without those that match no run of it.

    Args:
        workload: None for the first one of the datasets, by name.
    """
    result = of_workload(view, selection.values("dataset"), workload)
    if not result.values("workload"):
        return result
    for facet in ("load", "message", "device", "rw", "request"):
        values = [c.value for c in view.counts_of(result).of(facet, result)]
        real = [v for v in values if v != view.catalogue.facets[facet].null_word]
        previous = [v for v in selection.values(facet) if v in real]
        shown = previous
        if real and not previous:
            widths = {v: len(view.left(result.with_values(facet, [v]))) for v in real}
            least = max(widths.values()) / (1 if facet in _WIDEST else 2)
            wide = [value for value in real if widths[value] >= least]
            shown = [wide[(len(wide) - 1) // 2 if facet in _WIDEST else 0]]
        pinned = result.with_values(facet, shown)
        # With fewer competitors than loads the study swept the loads: all of them are shown.
        if previous or len(real) == 1 or _competing(view, pinned) >= len(real):
            result = pinned
    for facet in ("depth", "threads", "system", "mode", "itr", "dvfs", "rapl"):
        values = [c.value for c in view.counts_of(result).of(facet, result)]
        result = result.with_values(facet, [v for v in selection.values(facet) if v in values])
    return result


def _competing(view: LakeView, selection: Selection) -> int:
    """Return how many configurations may compete: 0 if they differ in what ran alone."""
    left, items = view.left(selection), view.catalogue.item_columns
    own = [n for n in left.columns if n in view.catalogue.knob_of_column and n not in items]
    return len(left) if any(left[name].n_unique() > 1 for name in own) else 0


def turned(view: LakeView, state: ExploreState, workload: str | None) -> ExploreState:
    """Return the state for another workload or dataset; keep the filters that match some runs."""
    selection = choose_workload(view, state.selection, workload)
    return opened(view, replace(state, selection=selection, named=None))
