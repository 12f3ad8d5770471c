"""Settings of the memory allocators of the serving process."""

import ctypes
import os
from typing import Final

from data.child_process import leave_out_pandas

# Parameters of glibc's mallopt(3).
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
# glibc returns free memory at the heap's end above this size, and maps larger blocks individually.
# With 1 MiB and 128 KiB one window of a timeline caused 4,000 page faults and took a third longer;
# with this size 80.
_KEPT_BYTES = 16 << 20
# Options of jemalloc in Polars, read when Polars is loaded: one arena for all threads, and pages
# unused for 50 ms go back to the system. The default is a second.
POLARS_OPTIONS: Final = "_RJEM_MALLOC_CONF"
_POLARS_HEAP = "narenas:1,dirty_decay_ms:50,muzzy_decay_ms:0"


def keep_memory_small() -> bool:
    """Make all threads share one heap, and return free memory to the system.

    By default glibc gives each server thread its own heap, which keeps the memory of its largest
    answer. Libraries with their own allocators do the heavy work, so sharing has no measurable
    cost.
    Call this before Polars is imported: it sets the options of Polars' allocator, unless the
    environment already does. It also leaves out pandas.

    Returns:
        Whether the C library accepted the settings; only glibc does.
    Source: mallopt(3); jemalloc(3).
    """
    leave_out_pandas()
    told = os.environ.get(POLARS_OPTIONS)
    os.environ[POLARS_OPTIONS] = f"{_POLARS_HEAP},{told}" if told else _POLARS_HEAP
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    thresholds = (_TRIM_THRESHOLD, _MMAP_THRESHOLD)
    return all(
        mallopt(*told) for told in ((_ARENA_MAX, 1), *((t, _KEPT_BYTES) for t in thresholds))
    )
