"""The package energy counter: 32 bits that wrap, one a package and not one a core."""

import numpy as np


def unwrapped_steps(counter: np.ndarray, bits: int) -> np.ndarray:
    """Steps between readings of a counter that wraps, each taken as less than one full turn.

    Args:
        counter: Raw readings in time order, int64, shape (n,), each in [0, 2**bits).
        bits: Width of the counter.

    Returns:
        Steps, int64, shape (max(n - 1, 0),), each in [0, 2**bits).
    """
    return np.mod(np.diff(counter.astype(np.int64)), np.int64(1 << bits))


def has_wrapped(counter: np.ndarray) -> bool:
    """Whether a reading is ever below the one before it."""
    return bool(np.any(np.diff(counter) < 0))


def energy_j(counter: np.ndarray, bits: int, unit_j: float) -> float | None:
    """Joules between the first and the last reading; None with fewer than two readings."""
    if len(counter) < 2:
        return None
    return int(unwrapped_steps(counter, bits).sum()) * unit_j


def widest_core(spans: dict[int, tuple[int, int]]) -> int | None:
    """The core whose samples span the most ticks; of equals the lowest number; None of none.

    Args:
        spans: Core to the ticks of its first and last sample in the window.
    """
    if not spans:
        return None
    return min(spans, key=lambda core: (spans[core][0] - spans[core][1], core))
