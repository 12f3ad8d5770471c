"""A window of several runs, clipped to the longest; a failure of one run affects no other."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from data.errors import DataError, LakeError
from data.run_files import RunFacts, RunFiles
from data.timeline.question import Question
from data.timeline.window import OutsideError, RunAnswer, answer_run

# Times are sent as whole nanoseconds.
_SAME_S: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one run has no answer.

    Attributes:
        kind: `unknown`: the lake does not hold it; `bare`: it has no per-interrupt log; `outside`:
            it ends before the window begins; `unreadable`: a file of it is missing or broken.
        message: Details without the run's name; empty for `unknown` and `bare`.
    """

    kind: Literal["unknown", "bare", "outside", "unreadable"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """A window of some runs.

    Attributes:
        question: The answered question; its window lies within the longest run.
        clipped: A sentence about the requested and the answered window; empty if they are equal.
        from_s, to_s: The window's bounds, seconds, never None.
        runs: Answers in the order of the question.
    """

    question: Question
    clipped: str
    from_s: float
    to_s: float
    runs: tuple[RunAnswer | Failure, ...]


def answer_runs(files: RunFiles, question: Question) -> WindowAnswer:
    """Answer a question for each of its runs."""
    facts = files.facts(question.runs)
    end_s = longest_s(facts.values())
    question, clipped = clip_question(question, end_s)
    return WindowAnswer(
        question,
        clipped,
        0.0 if question.from_s is None else question.from_s,
        end_s if question.to_s is None else question.to_s,
        tuple(_answer(files, facts.get(run_id), question, end_s) for run_id in question.runs),
    )


def longest_s(runs: Iterable[RunFacts]) -> float:
    """Return the length of the longest run that has a log, seconds; 0 if none has one."""
    return max((facts.row["duration_s"] or 0.0 for facts in runs if facts.has_log), default=0.0)


def _answer(
    files: RunFiles, facts: RunFacts | None, question: Question, end_s: float
) -> RunAnswer | Failure:
    if facts is None:
        return Failure("unknown")
    if not facts.has_log:
        return Failure("bare")
    try:
        return answer_run(files, facts, question, end_s)
    except OutsideError as error:
        return Failure("outside", str(error))
    except (LakeError, DataError) as error:
        return Failure("unreadable", str(error))


def clip_question(question: Question, end_s: float) -> tuple[Question, str]:
    """Clip a question's window to the longest run.

    A window entirely outside moves to the nearer end and keeps its width if that fits.

    Args:
        end_s: Length of the longest run; 0 if there is none.

    Returns:
        The question, and a sentence about the requested and the shown window; empty if equal.
    """
    from_s = 0.0 if question.from_s is None else question.from_s
    to_s = end_s if question.to_s is None else question.to_s
    is_within = from_s >= -_SAME_S and to_s <= end_s + _SAME_S and from_s < to_s
    if end_s <= 0 or is_within:
        return question, ""
    begin_s, stop_s = max(from_s, 0.0), min(to_s, end_s)
    if begin_s >= stop_s:
        width_s = min(to_s - from_s, end_s) if to_s > from_s else end_s
        begin_s = 0.0 if to_s <= 0 else end_s - width_s
        stop_s = begin_s + width_s
    words = (
        f"asked for {from_s:.6g} to {to_s:.6g} s; the longest run lasts {end_s:.6g} s: "
        f"showing {begin_s:.6g} to {stop_s:.6g} s"
    )
    return replace(question, from_s=begin_s, to_s=stop_s), words
