"""Which runs are read by threads together, and which by processes of their own."""

from collections.abc import Sequence
from typing import Final

from ingest.plan import RunWork

# A process takes some 20 ms to begin, and reads this much meanwhile.
_WORTH_A_PROCESS_BYTES: Final = 16 << 20


def share_out(works: Sequence[RunWork], workers: int) -> tuple[list[RunWork], list[RunWork]]:
    """Part the runs into those for the threads of this process, and those for others.

    Small runs are read by threads, several at once. So is a run as large as all that other
    processes would have to read meanwhile: it alone keeps all cores busy.

    Returns:
        Both in the order given.
    """
    large = sorted(
        (work for work in works if work.size >= _WORTH_A_PROCESS_BYTES), key=lambda work: work.size
    )
    total = sum(work.size for work in large)
    while large and (workers == 1 or large[-1].size * workers > total):
        total -= large.pop().size
    apart = {work.run_id for work in large}
    return (
        [work for work in works if work.run_id not in apart],
        [work for work in works if work.run_id in apart],
    )
