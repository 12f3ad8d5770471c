"""Which runs are read by threads together, and which by processes of their own."""

from collections.abc import Sequence
from typing import Final

from ingest.discover.plan import RunWork
from ingest.runs.worker_server import WORTH_A_PROCESS_BYTES

# On two cores threads read a run 1.2 times as fast as one alone does. So while a process has a run
# so many times as large as what each of the others has, those idle for longer than threads lose.
_LARGEST_SHARE: Final = 2.5


def share_out(works: Sequence[RunWork], workers: int) -> tuple[list[RunWork], list[RunWork]]:
    """Part the runs into those for the threads of this process, and those for others.

    Small runs are read by threads, several at once; so is a run that is much larger than what is
    left for each of the other processes meanwhile.

    Returns:
        The former in the order given, the latter from the largest on, so that all end at about
        the same time.
    """
    large = [work for work in works if work.size >= WORTH_A_PROCESS_BYTES]
    large.sort(key=lambda work: work.size)
    left = sum(work.size for work in large)
    while large and (workers == 1 or _is_much_larger(large[-1].size, left, workers)):
        left -= large.pop().size
    apart = {work.run_id for work in large}
    return [work for work in works if work.run_id not in apart], large[::-1]


def _is_much_larger(size: int, total: int, workers: int) -> bool:
    return size > _LARGEST_SHARE * (total - size) / (workers - 1)
