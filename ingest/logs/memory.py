"""Memory that is free but not given back: glibc's heaps keep what they ever needed."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import pyarrow as pa

# M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc's malloc.h: one heap, not one a
# thread, and large blocks outside of it.
_OPTIONS: Final = {-8: 1, -3: 1 << 20, -1: 4 << 20}


def keep_heap_small() -> None:
    """Tell the C library to hold less in reserve; does nothing where it is not glibc."""
    with suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in _OPTIONS.items():
            set_option(option, value)


@contextmanager
def spare_collector() -> Iterator[None]:
    """Have the garbage collector pass over what is there already, modules for the most part."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def give_back() -> None:
    """Give free memory back to the system; a few milliseconds."""
    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
