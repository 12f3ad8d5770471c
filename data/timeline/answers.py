"""A window of several runs: clipped to the longest, and a failure of one run affects no other."""

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
            it ends before the window begins; `unreadable`: a file of it is gone or broken.
        message: Without the run's name; empty for `unknown` and `bare`.
    """

    kind: Literal["unknown", "bare", "outside", "unreadable"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """A window of some runs.

    Attributes:
        question: As it was answered: its window within the longest run.
        clipped: What was asked for and what is answered instead, in words; empty if the same.
        from_s, to_s: The window, with both ends.
        runs: In the order of the question.
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
    """Length of the longest run that has a log; 0 where none has one."""
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

    A window wholly outside is moved to the nearer end, and keeps its width if that fits.

    Args:
        end_s: Length of the longest run; 0 where there is none.

    Returns:
        The question, and what was asked and is shown instead, in words; empty if it is the same.
    """
    from_s = 0.0 if question.from_s is None else question.from_s
    to_s = end_s if question.to_s is None else question.to_s
    is_within = from_s >= -_SAME_S and to_s <= end_s + _SAME_S and from_s < to_s
    if end_s <= 0 or is_within:
        return question, ""
    begin_s, stop_s = max(from_s, 0.0), min(to_s, end_s)
    if begin_s >= stop_s:
        wide_s = min(to_s - from_s, end_s) if to_s > from_s else end_s
        begin_s = 0.0 if to_s <= 0 else end_s - wide_s
        stop_s = begin_s + wide_s
    words = (
        f"asked for {from_s:.6g} to {to_s:.6g} s; the longest run lasts {end_s:.6g} s: "
        f"shown is {begin_s:.6g} to {stop_s:.6g} s"
    )
    return replace(question, from_s=begin_s, to_s=stop_s), words
