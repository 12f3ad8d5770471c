"""An estimate of how far a power meter's clock is off, from steps of power at the ends of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.meters.energy import PowerSeries
from ingest.meters.levels import Levels
from ingest.records import UtcWindow

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
