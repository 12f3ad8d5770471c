"""The runs that a timeline opens with: those of a link from another page, or a default.

A configuration is shown by its first replicate with a per-interrupt log. The default system's run
at the same load is added as the reference.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.kit.clause import read_clause
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from app.kit.settings import MAX_ROWS
from app.timeline.panels import SAMPLED_HEAT, SAMPLED_PANELS
from app.timeline.runs import OF_TRACES, reference_of
from app.timeline.state import TimelineState
from data.queries.logged_runs import (
    first_look_query,
    joined_traces_query,
    logged_configurations_query,
    logged_runs_query,
)
from data.selection import Selection
from data.timeline.question import MOST_RUNS

_NO_LOGS: Final = (
    "Timeline draws what happens within a run, and no run of this lake has a per-interrupt log: "
    "the raw logs of the runs would make it useful."
)
_OTHER_RUNS: Final = (
    "No run under the link's filters has a per-interrupt log: these are runs of the lake that have."
)
_NO_REFERENCE: Final = (
    "The default system has no run with a per-interrupt log at this load to compare with."
)
_NO_ROOM: Final = (
    f"{MOST_RUNS} runs leave no room for the default system's: the first is the reference."
)


def default_state(view: LakeView) -> TimelineState:
    """Return a default run, and the best run of each other system at its load."""
    return _fitted(view, TimelineState(runs=tuple(view.lake.polars(*first_look_query())["run_id"])))


def _fitted(view: LakeView, state: TimelineState) -> TimelineState:
    """Choose panels that show something where no run has interrupts and no panel was chosen."""
    facts = view.files.facts(state.runs).values()
    if state.panels is not None or not facts or any(f.row["interrupts"] for f in facts):
        return state
    heat = SAMPLED_HEAT if state.heat == TimelineState.heat else state.heat
    return replace(state, panels=SAMPLED_PANELS, heat=heat)


def missing(view: LakeView, state: TimelineState) -> str:
    """Return that no run of the lake has a log, and why traces of rows of tables are none."""
    has_logs = state.runs or len(
        view.lake.polars(*logged_runs_query([], None, 1, catalogue=view.catalogue))
    )
    if has_logs:
        return ""
    has_traces = len(view.lake.polars(*joined_traces_query()))
    return f"{_NO_LOGS} {OF_TRACES.capitalize()}." if has_traces else _NO_LOGS


def open_link(view: LakeView, state: TimelineState) -> tuple[TimelineState, str]:
    """Find the runs that a link from another page selects.

    Returns:
        The state with its runs, and text for the notice.
    """
    if state.is_first_look:
        runs = default_state(view).runs
        return _fitted(view, replace(state, runs=runs, is_first_look=False)), ""
    linked = state
    # The page shows runs; it hands filters and selection on to other pages.
    state = replace(state, selection=Selection.of(), sel="", picked=0)
    if state.runs or not (linked.sel or linked.selection.clauses):
        return _fitted(view, state), ""
    logged, picked = _first_runs(view, linked)
    if not (logged or linked.sel):
        runs = default_state(view).runs
        return _fitted(view, replace(state, runs=runs)), _OTHER_RUNS if runs else ""
    runs, base, words = with_reference(view, logged, max(picked, linked.picked))
    return _fitted(view, replace(state, runs=runs, base=base)), words


def _first_runs(view: LakeView, state: TimelineState) -> tuple[list[str], int]:
    """Return the first run with a log of each configuration, and the number of configurations."""
    picked = configurations(view, state.selection, read_clause(state.sel))
    catalogue = view.catalogue
    query = logged_configurations_query(state.selection, MAX_ROWS, catalogue=catalogue)
    logged = view.lake.polars(*query)
    by = [name for name in (*catalogue.configuration, "replicate") if name in picked.columns]
    order = picked.with_row_index("place").join(logged, on=by, nulls_equal=True)
    first = order.sort("place", "replicate", "run_id").unique("place", keep="first")
    return first.sort("place")["run_id"].unique(maintain_order=True).to_list(), len(picked)


def with_reference(
    view: LakeView, logged: Sequence[str], picked: int
) -> tuple[tuple[str, ...], int, str]:
    """Put the reference of the first run before the others, unless it is one of them.

    If more runs were picked than fit, the reference replaces the last one. If exactly MOST_RUNS
    were picked, all are shown, and the first is the reference.

    Returns:
        The runs, the index of the reference, and text for the notice.
    """
    if not logged:
        return (), 0, _left_out(picked, 0)
    shown = list(logged[:MOST_RUNS])
    reference = reference_of(view, shown[0])
    if reference in shown:
        return tuple(shown), shown.index(str(reference)), _left_out(picked, len(shown))
    if reference is None:
        return tuple(shown), 0, f"{_left_out(picked, len(shown))} {_NO_REFERENCE}".lstrip()
    if picked <= len(shown) == MOST_RUNS:
        return tuple(shown), 0, _NO_ROOM
    shown = shown[: MOST_RUNS - 1]
    return (reference, *shown), 0, _left_out(picked, len(shown))


def _left_out(picked: int, shown: int) -> str:
    if shown == picked:
        return ""
    if not shown:
        return (
            "None of the configurations picked has a per-interrupt log in this lake: summary "
            "tables hold none. Runs that have one are under “add a run”."
        )
    return (
        f"{shown} of the {picked:,} configurations picked "
        f"{'is' if shown == 1 else 'are'} shown: the first with a per-interrupt log, "
        f"{MOST_RUNS} runs at most with the reference."
    )
