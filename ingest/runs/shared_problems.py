"""Collect the problems of files that several runs share or that make no run, each once."""

from collections.abc import Mapping, Sequence

from ingest.discover.plan import RunWork
from ingest.lake.commits import Committer
from ingest.lake.state import LakeState
from ingest.records import Problem
from ingest.runs.assembly import AssembledRun

Reported = Mapping[tuple[str, str], Sequence[Problem]]


def news_of(
    work: RunWork, run: AssembledRun, state: LakeState, committer: Committer, reported: Reported
) -> dict[str, list[Problem]]:
    """Return all current problems of each file of a run.

    Args:
        reported: Problems that this ingest has found so far, by dataset and path.

    Returns:
        Problems by path, without files that make no run and of which an earlier ingest found the
        same problems.
    """
    return {
        path: _joined(work, path, problems, state, reported)
        for path, problems in run.problems.items()
        if run.row is not None or not _is_known(work, path, problems, state, committer)
    }


def _is_known(
    work: RunWork, path: str, problems: Sequence[Problem], state: LakeState, committer: Committer
) -> bool:
    """Whether an earlier ingest found the same problems; for a part of a file, at least these."""
    if any(file.part for file in work.files if file.path == path):
        known = state.problems[work.key.dataset].get(path, [])
        return all(problem in known for problem in problems)
    return committer.is_known(work.key.dataset, path, problems)


def _joined(
    work: RunWork, path: str, problems: Sequence[Problem], state: LakeState, reported: Reported
) -> list[Problem]:
    """A file's problems with those of other runs in the same file, unless its content changed."""
    key = work.key.dataset, path
    before = list(reported.get(key, ()))
    if any(file.part and file.is_unchanged for file in work.files if file.path == path):
        before += [p for p in state.problems[key[0]].get(path, ()) if p not in before]
    return [*before, *(problem for problem in problems if problem not in before)]
