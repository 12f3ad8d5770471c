"""Misfit of power levels to windows: what the estimate of a meter's clock minimises. Pure."""

from typing import Final

import numpy as np

from ingest.meters.energy import GAP_INTERVALS, PowerSeries

# Offsets times windows per block: bounds the memory to some megabytes.
_BLOCK: Final = 50_000


class Levels:
    """Sums of squares of power around one level per window and one common level between them.

    A reading counts for half an interval on either side; the rest of a gap counts for nothing.
    """

    def __init__(self, series: PowerSeries, ends: np.ndarray) -> None:
        t_s, power_w = series.t_s, series.power_w - series.power_w.mean()
        half = np.minimum(np.diff(t_s), GAP_INTERVALS * series.interval_s) / 2
        widths = np.concatenate([[series.interval_s / 2], half])
        widths_after = np.concatenate([half, [series.interval_s / 2]])
        edges = np.stack([t_s - widths, t_s + widths_after], axis=1).ravel()
        weights = np.stack([widths + widths_after, np.zeros(len(t_s))], axis=1).ravel()
        self._edges = edges
        self._sums = np.stack(
            [
                np.concatenate([[0.0], np.cumsum(weights * value)])[:-1]
                for value in (1.0, np.repeat(power_w, 2), np.repeat(power_w**2, 2))
            ]
        )
        self._ends = ends
        seconds, first, second = self._sums[:, -1]
        self._whole = self._sums[:, -1]
        self.total = float(second - first**2 / seconds)

    def sums_of_squares(self, offsets_s: np.ndarray) -> np.ndarray:
        """Return sums of squares, W^2 s, shape (n,), for n offsets added to the meter's times."""
        ends = self._ends
        blocks = np.array_split(offsets_s, len(offsets_s) * len(ends) // _BLOCK + 1)
        sums = []
        for block_s in blocks:
            # From the moved windows, shape (2, offsets, windows).
            inside = self._between(ends.T[:, None] - block_s[:, None])
            outside = self._whole[:, None] - inside.sum(axis=2)
            sums.append(_around(inside).sum(axis=1) + _around(outside))
        return np.concatenate(sums)

    def _between(self, at: np.ndarray) -> np.ndarray:
        after = np.clip(np.searchsorted(self._edges, at), 1, len(self._edges) - 1)
        left, right = self._edges[after - 1], self._edges[after]
        width = np.maximum(right - left, 1e-9)
        share = np.clip((at - left) / width, 0.0, 1.0)
        sums = self._sums[:, after - 1] * (1 - share) + self._sums[:, after] * share
        return np.asarray(sums[:, 1] - sums[:, 0])


def _around(sums: np.ndarray) -> np.ndarray:
    """Return sums of squares around the mean from rows of seconds, sums and sums of squares."""
    seconds, first, second = sums
    mean = np.divide(first, seconds, out=np.zeros_like(first), where=seconds > 1e-9)
    return np.maximum(second - mean * first, 0.0)
