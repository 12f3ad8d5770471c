"""Free memory that glibc's heaps would otherwise keep."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

# M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc's malloc.h: one heap for all threads,
# large blocks outside of it.
_OPTIONS: Final = {-8: 1, -3: 1 << 20, -1: 4 << 20}


def keep_heap_small() -> None:
    """Reduce the memory that glibc keeps in reserve; no effect with another C library."""
    with suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in _OPTIONS.items():
            set_option(option, value)


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Disable the garbage collector, and freeze all objects that exist at the end.

    New objects, of modules or of a lake's files, are all in use; a collection would only take time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def frozen_garbage_collector() -> Iterator[None]:
    """Exclude all present objects, mostly modules, from garbage collection."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def release_memory() -> None:
    """Return free memory to the system; takes a few milliseconds."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
