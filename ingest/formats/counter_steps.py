"""Refuses samples of a log whose counters rise by more than any machine counts between two lines.

Running totals may be large: only their steps are bounded, so that sums over a run fit in 63 bits.
"""

from collections.abc import Collection, Sequence

import numpy as np

from ingest.files.compiled import compile_loop
from ingest.records import LARGEST_STEP


@compile_loop("int64[:, :]", "int64[::1]", "bool[::1]", results=1)
def largest_step(counters: np.ndarray, last: np.ndarray, is_total: np.ndarray) -> int:
    """Return the largest step of any counter from one sample to the next; 0 if all fall.

    Args:
        counters: int64, shape (counters, n), none below 0.
        last: The sample before, int64, shape (counters,).
        is_total: Whether each counter is a running total; the step of others is the value itself.
    """
    most = np.int64(0)
    for row in range(counters.shape[0]):
        before = last[row] if is_total[row] else np.int64(0)
        for at in range(counters.shape[1]):
            most = max(most, counters[row, at] - before)
            if is_total[row]:
                before = counters[row, at]
    return int(most)


class CounterSteps:
    """Compares each sample of one log with the accepted sample before it.

    Args:
        names: Counters of a sample, in order.
        values: Those of them that are a value per sample, not a running total.
    """

    def __init__(self, names: Sequence[str], values: Collection[str] = ()) -> None:
        self._names = names
        self._is_total = np.array([name not in values for name in names])
        self._last: np.ndarray | None = None

    def refused(self, counters: np.ndarray) -> dict[int, str]:
        """Return which of the next samples are refused, with the reason.

        Args:
            counters: int64, shape (counters, n), in time order, none below 0.
        """
        if not counters.shape[1]:
            return {}
        last = counters[:, 0].copy() if self._last is None else self._last
        self._last = counters[:, -1].copy()
        if largest_step(counters, last, self._is_total) <= LARGEST_STEP:
            return {}
        refused: dict[int, str] = {}
        last = last * self._is_total
        for at in range(counters.shape[1]):
            counter = int(np.argmax(counters[:, at] - last))
            value = int(counters[counter, at])
            if (step := value - int(last[counter])) > LARGEST_STEP:
                name = self._names[counter]
                refused[at] = f"{name} rises by {step} to {value}, a step of over 2^48"
            else:
                last = counters[:, at] * self._is_total
        self._last = last
        return refused
