"""The recurrences of finite queues, compiled.

Imported where a queue is solved: Numba takes 50 MB, which a server that shows no model saves.
"""

from typing import Final

import numpy as np
from numba import njit

# Values above this are scaled down, with all before them, before they overflow.
_HUGE: Final = 1e30


@njit(cache=True)
def departures(tails: np.ndarray, none: float, ring: int) -> np.ndarray:
    """Return the shares of n = 0..ring-1 packets left behind; `tails[k]`: at least k arrivals."""
    left = np.zeros(ring)
    left[0] = 1.0
    first = 0
    for n in range(ring - 1):
        weight = left[0] * tails[n + 1] if n + 1 < len(tails) else 0.0
        for j in range(max(1, first, n + 3 - len(tails)), n + 1):
            weight += left[j] * tails[n + 2 - j]
        left[n + 1] = weight / none
        if left[n + 1] > _HUGE:
            largest = left[n + 1]
            for j in range(first, n + 2):
                left[j] /= largest
            while left[first] == 0:
                first += 1
    return left / left.sum()


@njit(cache=True)
def first_order(ratio: float, inputs: np.ndarray) -> np.ndarray:
    """Solve `x[n] = ratio * x[n - 1] + inputs[n]` with x[-1] = 0, shape (n,); ratio <= 1."""
    values = np.empty(len(inputs))
    before = 0.0
    for n in range(len(inputs)):
        before = ratio * before + inputs[n]
        values[n] = before
    return values
