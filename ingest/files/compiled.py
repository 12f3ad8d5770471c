"""How Numba compiles the loops over lines and rows: all without the GIL."""

from typing import Any, Final

from numba import njit

# The stubs of Numba lack the options about wrappers.
_njit: Final[Any] = njit
_OPTIONS: Final = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# Decorates a loop that Python calls; Numba caches it for the machine.
compile_loop: Final[Any] = _njit(cache=True, **_OPTIONS)
# Decorates a function that only loops call. Without a wrapper for Python it compiles faster.
compile_part: Final[Any] = _njit(no_cpython_wrapper=True, **_OPTIONS)
compile_inlined: Final[Any] = _njit(forceinline=True, no_cpython_wrapper=True, **_OPTIONS)
