"""The compiled loops of logs: compiled before the first log is read, and cached for the machine."""

import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import current_process, get_context
from typing import Final

from ingest.formats.counter_steps import largest_step
from ingest.formats.line_parser import parse_counter_lines
from ingest.formats.time_order import falls_of
from ingest.logs.cut_loop import cut_interrupts, cut_samples
from ingest.logs.merge_loop import merge_rows
from ingest.logs.size_histograms import join_words
from ingest.logs.step_loop import step_samples

_IGNORE_CTRL_C: Final = (signal.SIGINT, signal.SIG_IGN)
_LOOPS: Final = (
    *(parse_counter_lines, cut_interrupts, merge_rows, step_samples, join_words),
    *(falls_of, largest_step, cut_samples),
)


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
    """Return whether the machine has all loops."""
    return all(loop.is_kept() for loop in _LOOPS)


def load_loops(which: slice = slice(None)) -> None:
    """Load loops, or compile them; runs none."""
    for loop in _LOOPS[which]:
        loop.load()
