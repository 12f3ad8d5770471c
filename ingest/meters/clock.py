"""An estimate of how far a power meter's clock is off, from steps of power at the ends of runs.

It minimises the misfit of power levels to windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.meters.energy import GAP_INTERVALS, PowerSeries
from ingest.records import UtcWindow

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


SEARCH_S: Final = 300.0
LEAST_WINDOWS: Final = 3
# Fine search: four intervals around the best offset, in twentieths of an interval.
_FINE_STEPS: Final = 10
_FINE_REACH: Final = 40


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """The offset at which the windows of runs explain most of a meter's power.

    Attributes:
        offset_s: Seconds to add to the meter's times to get the runs' clock.
        explained: Share of power's variance that lies between the windows, not within them.
        windows: Number of windows that the readings cover.
    """

    offset_s: float
    explained: float
    windows: int


def estimate_offset(
    series: PowerSeries, windows: Sequence[UtcWindow], search_s: float = SEARCH_S
) -> ClockEstimate | None:
    """Find the offset at which the windows of runs best separate high power from low.

    Power is modelled as one level per window and one common level between windows. The estimate
    minimises the sum of squares around these levels, to which each step of power off a window's
    end adds. It searches a grid of half the usual interval, then a finer one around the best.
    Equal runs at equal distances fit as well one place further, and runs that change no power
    explain nothing: a person decides whether the offset is plausible, and declares it.

    Args:
        series: Readings on the meter's own clock.
        windows: Windows of the runs that the meter may cover, on the runs' clock; overlapping
            ones are merged.
        search_s: Maximum absolute offset.

    Returns:
        The estimate; None if the readings cover under three windows, or power never changes.
    """
    ends = _merged(windows, series, search_s)
    if len(ends) < LEAST_WINDOWS:
        return None
    levels = Levels(series, ends)
    if levels.total <= 0:
        return None
    step_s = series.interval_s / 2
    grid = np.arange(-np.ceil(search_s / step_s), np.ceil(search_s / step_s) + 1) * step_s
    coarse_s = float(grid[np.argmin(levels.sums_of_squares(grid))])
    fine = coarse_s + np.arange(-_FINE_REACH, _FINE_REACH + 1) * step_s / _FINE_STEPS
    misfit = levels.sums_of_squares(fine)
    lowest = float(misfit.min())
    offset_s = float(np.mean(fine[misfit <= lowest * (1 + 1e-12)]))
    return ClockEstimate(offset_s, 1 - lowest / levels.total, len(ends))


def _merged(windows: Sequence[UtcWindow], series: PowerSeries, search_s: float) -> np.ndarray:
    """Return the windows that readings may cover at any offset, shape (k, 2), overlaps merged."""
    first, last = series.t_s[0] - search_s, series.t_s[-1] + search_s
    merged: list[list[float]] = []
    for window in sorted(windows, key=lambda each: each.start_s):
        if window.end_s < first or window.start_s > last:
            continue
        if merged and window.start_s <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], window.end_s)
        else:
            merged.append([window.start_s, window.end_s])
    return np.array(merged).reshape(-1, 2)
