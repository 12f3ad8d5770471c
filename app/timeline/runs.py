"""Facts of a timeline's runs, their answers for a window, and changes of the list of runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypedDict

from app.kit.lake_view import LakeView
from app.kit.words import configuration_words, load_words, workload_title
from app.timeline.state import TimelineState
from data.errors import DataError, SelectionError
from data.queries.timeline import others_query, reference_query
from data.selection import Selection
from data.timeline.answers import Failure, WindowAnswer, answer_runs
from data.timeline.question import MOST_RUNS, Question
from data.timeline.window import RunAnswer

_MOST_OTHERS: Final = 6
NO_LOG: Final = (
    "has no per-interrupt log, so there is nothing to show between its start and its end"
)
OF_TRACES: Final = (
    "a row of a table has a trace that took another time than the row says, or that came to the "
    "lake before such traces had timelines: then add the files again"
)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run of a timeline.

    Attributes:
        label: Configuration and replicate; `short` leaves out the workload and load.
        itr_us: None: the driver's adaptive policy.
        cores: Cores with a log, rising.
        packages: Name of a package to its cores with a log; `?` if unknown.
        problem: A sentence on why it cannot be shown; None if it can.
        others: If it has no log, the nearest runs with one: `run_id`, `label`.
        knobs: By which a selection of other pages picks it: those that vary, and `replicate`.
    """

    run_id: str
    known: bool
    label: str
    short: str = ""
    itr_us: float | None = None
    duration_s: float | None = None
    cores: tuple[int, ...] = ()
    packages: dict[str, tuple[int, ...]] = field(default_factory=dict)
    has_log: bool = False
    is_synthetic: bool = False
    problem: str | None = None
    others: tuple[dict[str, str], ...] = ()
    knobs: dict[str, Any] = field(default_factory=dict)


def describe_runs(view: LakeView, run_ids: Sequence[str]) -> list[RunInfo]:
    """Describe some runs in their order; an unknown run has a problem and no facts.

    A run is described once for a version of the lake, not again for each window of it.
    """
    view.files.facts(run_ids)  # One query for all.
    return [view.once(_describe, run_id) for run_id in run_ids]


def reference_of(view: LakeView, run_id: str) -> str | None:
    """Return the run to compare with: the default system's at the same load, if it has a log."""
    rows = view.lake.arrow(*reference_query(run_id)).to_pylist()
    return rows[0]["run_id"] if rows else None


def _describe(view: LakeView, run_id: str) -> RunInfo:
    facts = view.files.facts([run_id]).get(run_id)
    if facts is None:
        unknown = f"The lake (version {view.version}) holds no run {run_id!r}."
        return RunInfo(run_id, known=False, label=run_id, short=run_id, problem=unknown)
    row = facts.row
    label = run_label(view, row)
    picked_by = {*view.varying(Selection()), "dataset", "workload", "system", "replicate"}
    problem: str | None = None
    others: tuple[dict[str, str], ...] = ()
    if not facts.has_log:
        problem = f"{label} {NO_LOG}{f'; {OF_TRACES}' * row['is_of_trace']}."
        logged = view.lake.arrow(
            *others_query(facts.run_id, _MOST_OTHERS, catalogue=view.catalogue)
        ).to_pylist()
        others = tuple({"run_id": r["run_id"], "label": run_label(view, r)} for r in logged)
    return RunInfo(
        facts.run_id,
        known=True,
        label=label,
        short=short_label(view, row),
        itr_us=row["itr_us"],
        duration_s=row["duration_s"],
        cores=facts.cores,
        packages=facts.package_cores,
        has_log=facts.has_log,
        is_synthetic=bool(row["is_synthetic"]),
        problem=problem,
        others=others,
        knobs={
            name: row[name]
            for name in (*view.catalogue.knob_of_column, "replicate")
            if name in picked_by
        },
    )


def run_label(view: LakeView, row: dict[str, Any]) -> str:
    """Return `Linux tuned · ITR 50 us · 2.9 GHz · 135 W · memcached 600k QPS · run 0`."""
    load = load_words(row["load_qps"], row["message_bytes"])
    subject = f"{workload_title(row['workload'])} {load}".strip()
    replicate = "" if row["replicate"] is None else f" · run {row['replicate']}"
    return f"{short_label(view, row)} · {subject}{replicate}"


def short_label(view: LakeView, row: dict[str, Any]) -> str:
    """Return the system, and the knobs that its dataset varies: `Linux tuned · ITR 50 us`."""
    varying = view.varying(Selection.of(dataset=[row["dataset"]]))
    words = configuration_words(row, varying, view.catalogue)
    return " · ".join(part for part in (row["system_label"] or row["system"], words) if part)


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """A window of some runs, and the facts of each run."""

    window: WindowAnswer
    infos: tuple[RunInfo, ...]

    def pairs(self) -> list[tuple[RunInfo, RunAnswer | Failure]]:
        """Return each run with its answer or failure."""
        return list(zip(self.infos, self.window.runs, strict=True))

    def shown(self) -> list[tuple[RunInfo, RunAnswer]]:
        """Return the runs that have an answer.

        Raises:
            DataError: No run has one; the message gives each run's reason.
        """
        drawn = [(info, one) for info, one in self.pairs() if isinstance(one, RunAnswer)]
        if not drawn:
            failures = [(info, one) for info, one in self.pairs() if isinstance(one, Failure)]
            raise DataError(" ".join(failure_sentence(*pair) for pair in failures))
        return drawn


def answer_question(view: LakeView, question: Question) -> PageAnswer:
    """Answer a question for each of its runs."""
    infos = tuple(describe_runs(view, question.runs))
    return PageAnswer(answer_runs(view.files, question), infos)


def failure_sentence(info: RunInfo, failure: Failure) -> str:
    """Return why a run cannot be shown."""
    return info.problem or f"{info.label}: {failure.message}."


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
