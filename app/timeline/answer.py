"""The answer for a window: numbers of each run, or a sentence on why there are none."""

from dataclasses import dataclass

from app.kit.lake_view import LakeView
from app.timeline.runs import RunInfo, describe_runs
from data.errors import DataError
from data.timeline.answers import Failure, WindowAnswer, answer_runs
from data.timeline.question import Question
from data.timeline.window import RunAnswer


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
