"""Divide the runs of an ingest: between threads and processes, and into batches for the latter.

A batch is one large run, or small runs that take about a second together.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.discover.plan import RunWork
from ingest.runs.worker_server import WORTH_A_PROCESS_BYTES

# If one run is larger than this multiple of the bytes left for each other process, those would idle
# while it is read. Measured on two cores: threads are as fast as processes at a multiple of 1, and
# need 0.70 of their time at 1.7. The multiple for more cores is an estimate.
_LARGEST_SHARE_OF_TWO: Final = 1.2
_LARGEST_SHARE: Final = 2.5
# Threads read small runs one after the other: their interpreter lock is held most of the time. The
# start of processes takes about a second.
WORTH_PROCESSES_S: Final = 4.0
# A cluster's scheduler needs about 2 ms for each task, which reads one batch.
TASK_S: Final = 1.0
# One core reads about 200 MB of logs a second, 2 to 10 MB of other files, and needs 5 ms to open a
# file and write its tables.
_LOG_BYTES_A_SECOND: Final = 200e6
_BYTES_A_SECOND: Final = 4e6
_FILE_S: Final = 5e-3

Batch = tuple[RunWork, ...]


def share_out(works: Sequence[RunWork], workers: int) -> tuple[list[RunWork], list[Batch]]:
    """Divide the runs between threads of this process and worker processes.

    Threads read a run that is much larger than the bytes left for each other process, and small
    runs, unless those are so many that processes are worth their start.

    Returns:
        Runs for threads in the given order, and batches for processes: large runs alone, largest
        first, so that all processes end at about the same time, then small runs.
    """
    large = [work for work in works if work.size >= WORTH_A_PROCESS_BYTES]
    large.sort(key=lambda work: work.size)
    left = sum(work.size for work in large)
    share = _LARGEST_SHARE_OF_TWO if workers == 2 else _LARGEST_SHARE
    while large:
        left -= large[-1].size
        if workers > 1 and large[-1].size <= share * left / (workers - 1):
            break
        large.pop()
    batches: list[Batch] = [(work,) for work in reversed(large)]
    small = [work for work in works if work.size < WORTH_A_PROCESS_BYTES]
    if workers > 1 and sum(map(estimated_s, small)) >= WORTH_PROCESSES_S:
        small_batches = list(in_batches(small))
        # One batch would keep one process at work.
        batches += small_batches if len(small_batches) > 1 else []
    apart = {work.run_id for batch in batches for work in batch}
    return [work for work in works if work.run_id not in apart], batches


def in_batches(works: Sequence[RunWork]) -> Iterator[Batch]:
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
