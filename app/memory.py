"""How the serving process asks the system for memory, and gives it back."""

import ctypes

# Parameters of glibc's mallopt(3).
_TRIM_THRESHOLD = -1
_ARENA_MAX = -8
_TRIM_ABOVE_BYTES = 1 << 20


def keep_memory_small() -> bool:
    """Have all threads share one heap that shrinks again.

    By default glibc gives each of the server's threads a heap of its own, and each keeps what its
    largest answer took. The heavy work is done by libraries with allocators of their own, so that
    sharing costs nothing that can be measured.

    Returns:
        Whether the C library took it; others than glibc have no such parameters.
    Source: mallopt(3).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(_ARENA_MAX, 1) and mallopt(_TRIM_THRESHOLD, _TRIM_ABOVE_BYTES))
