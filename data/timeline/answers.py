"""A window of several runs, clipped to the longest; a failure of one run affects no other."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from data.errors import DataError, LakeError
from data.run_files import RunFacts, RunFiles
from data.timeline.alignment import ALIGNMENTS, RunAxis, run_axis
from data.timeline.question import Question
from data.timeline.window import OutsideError, RunAnswer, answer_run

# Places are sent with nine decimals.
_SAME: Final = 1e-9


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
        from_x, to_x: The window's bounds on the x axis, never None.
        end_x: The end of the longest run on the x axis.
        runs: Answers in the order of the question.
    """

    question: Question
    clipped: str
    from_x: float
    to_x: float
    end_x: float
    runs: tuple[RunAnswer | Failure, ...]


def answer_runs(files: RunFiles, question: Question) -> WindowAnswer:
    """Answer a question for each of its runs."""
    facts = files.facts(question.runs)
    axes = [_axis(files, facts.get(run_id), question.align) for run_id in question.runs]
    end_x = max((axis.end for axis in axes if isinstance(axis, RunAxis)), default=0.0)
    question, clipped = clip_question(question, end_x)
    return WindowAnswer(
        question,
        clipped,
        0.0 if question.from_x is None else question.from_x,
        end_x if question.to_x is None else question.to_x,
        end_x,
        tuple(
            axis
            if isinstance(axis, Failure)
            else _answer(files, facts[run_id], question, end_x, axis)
            for run_id, axis in zip(question.runs, axes, strict=True)
        ),
    )


def _axis(files: RunFiles, facts: RunFacts | None, align: str) -> RunAxis | Failure:
    if facts is None:
        return Failure("unknown")
    if not facts.has_log:
        return Failure("bare")
    try:
        return run_axis(files, facts, align)
    except (LakeError, DataError) as error:
        return Failure("unreadable", str(error))


def _answer(
    files: RunFiles, facts: RunFacts, question: Question, end_x: float, axis: RunAxis
) -> RunAnswer | Failure:
    try:
        return answer_run(files, facts, question, end_x, axis)
    except OutsideError as error:
        return Failure("outside", str(error))
    except (LakeError, DataError) as error:
        return Failure("unreadable", str(error))


def clip_question(question: Question, end_x: float) -> tuple[Question, str]:
    """Clip a question's window to the longest run.

    A window entirely outside moves to the nearer end and keeps its width if that fits.

    Args:
        end_x: End of the longest run on the x axis; 0 if there is none.

    Returns:
        The question, and a sentence about the requested and the shown window; empty if equal.
    """
    from_x = 0.0 if question.from_x is None else question.from_x
    to_x = end_x if question.to_x is None else question.to_x
    is_within = from_x >= -_SAME and to_x <= end_x + _SAME and from_x < to_x
    if end_x <= 0 or is_within:
        return question, ""
    begin, stop = max(from_x, 0.0), min(to_x, end_x)
    if begin >= stop:
        width = min(to_x - from_x, end_x) if to_x > from_x else end_x
        begin = 0.0 if to_x <= 0 else end_x - width
        stop = begin + width
    of = ALIGNMENTS[question.align]
    message = (
        f"asked for {from_x:.6g} to {to_x:.6g} {of.unit}; the longest run {of.ends} {end_x:.6g} "
        f"{of.unit}: showing {begin:.6g} to {stop:.6g} {of.unit}"
    )
    return replace(question, from_x=begin, to_x=stop), message
