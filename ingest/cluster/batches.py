"""Runs to tasks: one large run, or small ones that take about a second together."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.discover.plan import RunWork

# A scheduler takes some 2 ms for a task, whatever it does.
TASK_S: Final = 1.0
# One core reads some 200 MB of logs a second, and takes some 5 ms to open a file and write tables.
_BYTES_A_SECOND: Final = 200e6
_FILE_S: Final = 5e-3


def in_batches(works: Sequence[RunWork]) -> Iterator[tuple[RunWork, ...]]:
    """Part runs into tasks: the largest runs first, so that all workers end at about the same time.

    Small runs stay in the order given.
    """
    large = [work for work in works if estimated_s(work) >= TASK_S]
    large.sort(key=lambda work: work.size, reverse=True)
    yield from ((work,) for work in large)
    batch: list[RunWork] = []
    taken_s = 0.0
    for work in works:
        needed_s = estimated_s(work)
        if needed_s >= TASK_S:
            continue
        if batch and taken_s + needed_s > TASK_S:
            yield tuple(batch)
            batch, taken_s = [], 0.0
        batch.append(work)
        taken_s += needed_s
    if batch:
        yield tuple(batch)


def estimated_s(work: RunWork) -> float:
    """About how long one core reads a run, in seconds."""
    return work.size / _BYTES_A_SECOND + len(work.files) * _FILE_S
