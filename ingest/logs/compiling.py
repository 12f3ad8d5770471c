"""The compiled loops of logs: compiled before the first log is read, and cached for the machine."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any, Final

from numba import float32, float64, int32, int64, types, uint8

from ingest.formats.line_parser import parse_counter_lines
from ingest.logs.cut_loop import cut_interrupts
from ingest.logs.merge_loop import merge_rows
from ingest.logs.size_histograms import join_words
from ingest.logs.step_loop import step_samples

_IGNORE_CTRL_C: Final = (signal.SIGINT, signal.SIG_IGN)
_COLUMN, _ROWS, _PART = int64[::1], int64[:, ::1], int64[:, :]
_BITS, _BIT_ROWS = types.boolean[::1], types.boolean[:, ::1]
# Each loop with the types of its arguments. Other types would cost seconds of compiling.
_LOOPS: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    (parse_counter_lines, (uint8[::1], int64, int64, _ROWS, _ROWS, _COLUMN, _ROWS)),
    (
        cut_interrupts,
        (
            *(_PART, int64, float64, _ROWS, int64),
            *(_COLUMN, _ROWS, _COLUMN, _COLUMN, _ROWS, _COLUMN, _ROWS),
        ),
    ),
    (
        merge_rows,
        (
            *(int64[:, :, ::1], _COLUMN, _COLUMN, int32[::1]),
            *(int32[::1], _COLUMN, int32[:, ::1], _ROWS, int64),
        ),
    ),
    (
        step_samples,
        (
            *(_PART, _ROWS, _BIT_ROWS, int64, _ROWS, _BITS, _ROWS, _ROWS),
            *(_COLUMN, int64[:, :, ::1], _COLUMN, float64, float32[:, :, :, ::1]),
        ),
    ),
    (join_words, (_COLUMN, _COLUMN, _COLUMN, int64, _ROWS)),
)
_lock: Final = threading.Lock()


def compile_loops(on_begin: Callable[[], None] = lambda: None) -> None:
    """Compile the loops that are not cached, in two processes if this one may start another.

    Args:
        on_begin: Called before the compilation, if there is one.
    """
    if are_cached():
        return
    on_begin()
    if current_process().daemon:
        load_loops()
        return
    # The first loop takes nearly half of the time.
    with (
        suppress(OSError),
        ProcessPoolExecutor(1, get_context("spawn"), signal.signal, _IGNORE_CTRL_C) as other,
    ):
        other.submit(load_loops, slice(0, 1))
        load_loops(slice(1, None))
    load_loops()


def are_cached() -> bool:
    """Return whether Numba's cache has an index file for each loop."""
    return all(_is_cached(loop) for loop, _ in _LOOPS)


def _is_cached(loop: Any) -> bool:
    folder, code = loop.stats.cache_path, loop.py_func.__code__
    pattern = f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"
    return folder is not None and any(Path(folder).glob(pattern))


def load_loops(which: slice = slice(None)) -> None:
    """Load loops from the cache, or compile them; runs none."""
    with _lock:
        for loop, arguments in _LOOPS[which]:
            if arguments not in loop.signatures:
                loop.disable_compile(False)
                loop.compile(arguments)
            loop.disable_compile()
