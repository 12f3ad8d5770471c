"""Changes of the list of runs by a visitor: add, remove, replace, compare."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from app.kit.lake_view import LakeView
from app.timeline.runs import reference_of
from app.timeline.state import TimelineState
from data.errors import SelectionError
from data.timeline.question import MOST_RUNS


class AskedEdits(TypedDict):
    """What the browser sends: the list of runs that it has, and the changes of it since."""

    runs: list[str]
    hues: list[int]
    base: int
    other: int | None
    edits: list[list[str]]


def apply_edits(
    view: LakeView, state: TimelineState, edits: Sequence[Sequence[str]]
) -> TimelineState:
    """Apply edits one after the other.

    Args:
        edits: Each is a name of EDITS, a run, and for `replace` the new run.

    Raises:
        SelectionError: No such edit.
    """
    for name, *runs in edits:
        if name not in EDITS:
            raise SelectionError(f"no edit {name[:40]!r}; known: {', '.join(EDITS)}")
        state = EDITS[name](view, state, *runs)
    return state


def _add(view: LakeView, state: TimelineState, run_id: str) -> TimelineState:
    """Add a run; with the first run of an empty list, also add its reference."""
    reference = None if state.runs else reference_of(view, run_id)
    for added in (reference, run_id):
        if added is not None and added not in state.runs and len(state.runs) < MOST_RUNS:
            hue = min(set(range(MOST_RUNS)) - set(state.shown_hues))
            state = replace(state, runs=(*state.runs, added), hues=(*state.shown_hues, hue))
    return state


def _remove(view: LakeView, state: TimelineState, run_id: str) -> TimelineState:  # noqa: ARG001
    """Remove a run; the others keep their colours. The first replaces a removed reference."""
    if run_id not in state.runs:
        return state
    at = state.runs.index(run_id)

    def moved(index: int | None, removed: int | None) -> int | None:
        return index if index is None or index < at else removed if index == at else index - 1

    base, other = moved(state.base, 0) or 0, moved(state.other, None)
    hues = state.shown_hues
    return replace(
        state,
        runs=state.runs[:at] + state.runs[at + 1 :],
        hues=hues[:at] + hues[at + 1 :],
        base=base,
        other=None if other == base else other,
    )


def _compare(view: LakeView, state: TimelineState, run_id: str) -> TimelineState:  # noqa: ARG001
    """Make a run the reference; if it was the compared run, the two are exchanged."""
    if run_id not in state.runs:
        return state
    at = state.runs.index(run_id)
    return replace(state, base=at, other=state.base if state.other == at else state.other)


EDITS: Final[dict[str, Callable[..., TimelineState]]] = {
    "add": _add,
    "remove": _remove,
    "replace": lambda view, state, run_id, by: _add(view, _remove(view, state, run_id), by),
    "compare": _compare,
}
