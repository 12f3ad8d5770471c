"""Several reads of one answer at the same time: while one waits for Python, another decodes."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

# For all visitors together: the threads that answer have the work's other part.
_POOL: Final = ThreadPoolExecutor(max(os.cpu_count() or 1, 1), thread_name_prefix="read")


def side_by_side(*calls: Callable[[], Any]) -> list[Any]:
    """Call functions at the same time, the first of them in this thread.

    None of them may use `side_by_side` itself: it would wait for a thread that waits for it.

    Returns:
        Their results, in their order.
    Raises:
        Exception: What the first of them raised that raised anything; all have ended by then.
    """
    others = [_POOL.submit(call) for call in calls[1:]]
    try:
        found = [calls[0]()] if calls else []
    finally:
        wait(others)
    return found + [other.result() for other in others]
