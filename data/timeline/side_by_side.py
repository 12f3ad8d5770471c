"""Parallel reads of one answer: while one waits for Python, another decodes."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

# Shared by all visitors; the threads that answer do the other part of the work.
_POOL: Final = ThreadPoolExecutor(max(os.cpu_count() or 1, 1), thread_name_prefix="read")


def side_by_side(*calls: Callable[[], Any]) -> list[Any]:
    """Call functions in parallel, the first of them in this thread.

    They must not use `side_by_side` themselves: they would wait for their own thread.

    Returns:
        Their results, in their order.
    Raises:
        Exception: The first function's exception, in their order, once all have ended.
    """
    others = [_POOL.submit(call) for call in calls[1:]]
    try:
        results = [calls[0]()] if calls else []
    finally:
        wait(others)
    return results + [other.result() for other in others]
