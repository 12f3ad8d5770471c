"""Refuses samples of a log whose counters rise by more than any machine counts between two lines.

Running totals may be large: only their steps are bounded, so that sums over a run fit in 63 bits.
"""

from collections.abc import Collection, Sequence

import numpy as np

from ingest.records import LARGEST_STEP


class CounterSteps:
    """Compares each sample of one log with the accepted sample before it.

    Args:
        names: Counters of a sample, in order.
        values: Those of them that are a value per sample, not a running total.
    """

    def __init__(self, names: Sequence[str], values: Collection[str] = ()) -> None:
        self._names = names
        self._is_total = np.array([[name not in values] for name in names])
        self._has_values = bool(values)
        self._last: np.ndarray | None = None

    def refused(self, counters: np.ndarray) -> dict[int, str]:
        """Return which of the next samples are refused, with the reason.

        Args:
            counters: int64, shape (counters, n), in time order, none below 0.
        """
        if not counters.shape[1]:
            return {}
        last = counters[:, :1] if self._last is None else self._last
        last = last * self._is_total
        refused: dict[int, str] = {}
        if (
            (counters[:, :1] - last).max() > LARGEST_STEP
            or (counters[:, 1:] - counters[:, :-1]).max(initial=0) > LARGEST_STEP
            or (self._has_values and counters[~self._is_total[:, 0]].max() > LARGEST_STEP)
        ):
            for at in range(counters.shape[1]):
                counter = int(np.argmax(counters[:, at] - last[:, 0]))
                value = int(counters[counter, at])
                if (step := value - int(last[counter, 0])) > LARGEST_STEP:
                    name = self._names[counter]
                    refused[at] = f"{name} rises by {step} to {value}, a step of over 2^48"
                else:
                    last = counters[:, at : at + 1] * self._is_total
        else:
            last = counters[:, -1:]
        self._last = last.copy()
        return refused
