"""Decide which runs threads of this process read and which worker processes read."""

from collections.abc import Sequence
from typing import Final

from ingest.discover.plan import RunWork
from ingest.runs.batches import estimated_s, in_batches
from ingest.runs.worker_server import WORTH_A_PROCESS_BYTES

# If one run is larger than this multiple of the bytes left for each other process, those would idle
# while it is read. Measured on two cores: threads are as fast as processes at a multiple of 1, and
# need 0.70 of their time at 1.7. The multiple for more cores is an estimate.
_LARGEST_SHARE_OF_TWO: Final = 1.2
_LARGEST_SHARE: Final = 2.5
# Threads read small runs one after the other: their interpreter lock is held most of the time. The
# start of processes takes about a second.
WORTH_PROCESSES_S: Final = 4.0

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
    while large and (workers == 1 or _is_much_larger(large[-1].size, left, workers)):
        left -= large.pop().size
    batches: list[Batch] = [(work,) for work in reversed(large)]
    small = [work for work in works if work.size < WORTH_A_PROCESS_BYTES]
    if workers > 1 and sum(map(estimated_s, small)) >= WORTH_PROCESSES_S:
        small_batches = list(in_batches(small))
        # One batch would keep one process at work.
        batches += small_batches if len(small_batches) > 1 else []
    apart = {work.run_id for batch in batches for work in batch}
    return [work for work in works if work.run_id not in apart], batches


def _is_much_larger(size: int, total: int, workers: int) -> bool:
    share = _LARGEST_SHARE_OF_TWO if workers == 2 else _LARGEST_SHARE
    return size > share * (total - size) / (workers - 1)
