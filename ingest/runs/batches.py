"""Divide runs into batches: one large run, or small runs that take about a second together."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.discover.plan import RunWork

# A cluster's scheduler needs about 2 ms for each task, which reads one batch.
TASK_S: Final = 1.0
# One core reads about 200 MB of logs a second, 2 to 10 MB of other files, and needs 5 ms to open a
# file and write its tables.
_LOG_BYTES_A_SECOND: Final = 200e6
_BYTES_A_SECOND: Final = 4e6
_FILE_S: Final = 5e-3


def in_batches(works: Sequence[RunWork]) -> Iterator[tuple[RunWork, ...]]:
    """Yield batches, the largest run first: all workers end at about the same time.

    Small runs stay in the given order.
    """
    large = [work for work in works if estimated_s(work) >= TASK_S]
    large.sort(key=estimated_s, reverse=True)
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
    """Estimate the time that one core needs to read a run, seconds."""
    return sum(
        _FILE_S
        + file.size / (_LOG_BYTES_A_SECOND if file.format.role == "log" else _BYTES_A_SECOND)
        for file in work.files
    )
