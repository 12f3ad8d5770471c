"""The compiled loops of logs: compiled before the first log is read, and cached for the machine."""

from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

from data.child_process import Child, end_with_parent
from ingest.formats.counter_steps import largest_step
from ingest.formats.line_parser import parse_counter_lines
from ingest.formats.time_order import falls_of
from ingest.logs.cut_loop import cut_interrupts, cut_samples
from ingest.logs.merge_loop import merge_rows
from ingest.logs.size_histograms import join_words
from ingest.logs.step_loop import step_samples

_LOOPS: Final = (
    *(parse_counter_lines, cut_interrupts, merge_rows, step_samples, join_words),
    *(falls_of, largest_step, cut_samples),
)


def compile_loops(on_begin: Callable[[], None] = lambda: None) -> None:
    """Compile the loops that are not cached, in two processes if another can be started.

    Args:
        on_begin: Called before the compilation, if there is one.
    """
    if are_cached():
        return
    on_begin()
    # The first loop takes nearly half of the time.
    with suppress(OSError), closing(Child(__name__)) as other:
        load_loops(slice(1, None))
        other.last_words()
    load_loops()


def main() -> None:
    """Compile the first loop, in a process of its own."""
    end_with_parent()
    load_loops(slice(0, 1))


def are_cached() -> bool:
    """Return whether the machine has all loops."""
    return all(loop.is_kept() for loop in _LOOPS)


def load_loops(which: slice = slice(None)) -> None:
    """Load loops, or compile them; runs none."""
    for loop in _LOOPS[which]:
        loop.load()
