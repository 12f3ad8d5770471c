"""A window of several runs: within them, and trouble with one of them leaves the others be."""

from dataclasses import dataclass, replace
from typing import Final

from app.kit.lakes import LakeView
from app.timeline.runs import RunInfo, describe_runs
from app.timeline.window import OutsideError, Question, RunAnswer, answer_run
from data.errors import DataError, LakeError

# Times travel in whole nanoseconds.
_SAME_S: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why one run has no answer.

    Attributes:
        outside: Where nothing is wrong but that the run ends before the window begins: that,
            without the run's name.
    """

    sentence: str
    outside: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """A window of some runs.

    Attributes:
        question: As it was answered: its window within the longest run.
        clipped: What of the asked window lay outside, in words; empty for nothing.
        from_s, to_s: The window, with both ends.
        infos: Of the runs, in their order.
        answers: Of each run.
    """

    question: Question
    clipped: str
    from_s: float
    to_s: float
    infos: tuple[RunInfo, ...]
    answers: tuple[RunAnswer | Trouble, ...]

    def shown(self) -> list[tuple[RunInfo, RunAnswer]]:
        """The runs that have an answer.

        Raises:
            DataError: None has; the message says why not, run by run.
        """
        pairs = zip(self.infos, self.answers, strict=True)
        found = [(info, one) for info, one in pairs if isinstance(one, RunAnswer)]
        if not found:
            troubles = [one for one in self.answers if isinstance(one, Trouble)]
            raise DataError(" ".join(one.sentence for one in troubles))
        return found


def answer_runs(view: LakeView, question: Question) -> Answers:
    """Answer a question for each of its runs."""
    infos = describe_runs(view, question.runs)
    end_s = max((info.duration_s or 0.0 for info in infos if info.has_log), default=0.0)
    question, clipped = clip_question(question, end_s)
    return Answers(
        question,
        clipped,
        0.0 if question.from_s is None else question.from_s,
        end_s if question.to_s is None else question.to_s,
        tuple(infos),
        tuple(_answer(view, info, question, end_s) for info in infos),
    )


def _answer(view: LakeView, info: RunInfo, question: Question, end_s: float) -> RunAnswer | Trouble:
    if info.problem is not None:
        return Trouble(info.problem)
    facts = view.files.facts([info.run_id])[info.run_id]
    try:
        return answer_run(view.files, facts, question, end_s)
    except OutsideError as error:
        return Trouble(f"{info.label}: {error}.", str(error))
    except (LakeError, DataError) as error:
        return Trouble(f"{info.label}: {error}.")


def clip_question(question: Question, end_s: float) -> tuple[Question, str]:
    """Put a question's window into the longest run.

    What lies outside is cut off. A window that lies outside as a whole is moved to the nearer end,
    as wide as it was where there is room.

    Args:
        end_s: Length of the longest run; 0 where there is none.

    Returns:
        The question, and what was asked and is shown instead, in words; empty where it is the same.
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
