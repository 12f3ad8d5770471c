"""Stretches of a power meter's readings without any run. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ingest.meters.energy import GAP_INTERVALS, PowerSeries
from ingest.records import UtcWindow

# Power is steady where this many consecutive readings lie within these deviations of the median.
_DEVIATIONS: Final = 5.0
_READINGS: Final = 5
_LEAST_DEVIATION_W: Final = 0.1
_NORMAL: Final = 1.4826


def idle_stretches(
    series: PowerSeries, windows: Sequence[UtcWindow], shortest_s: float
) -> list[UtcWindow]:
    """Find the stretches without a run that are long enough, in order of time.

    A stretch lies between two windows, or a window and the end of the readings, and has no gap.
    Its ends are cut where power is not steady, since programs start and end there. Steady is
    within five deviations (estimated by the median distance) of the stretch's median.

    Args:
        windows: Windows of all runs that the meter covers.
        shortest_s: Minimum length; 0 finds nothing.
    """
    if shortest_s <= 0 or len(series.t_s) < 2:
        return []
    stretches = []
    for start_s, end_s in _between_windows(series, windows):
        low = int(np.searchsorted(series.t_s, start_s, side="left"))
        high = int(np.searchsorted(series.t_s, end_s, side="right"))
        steps_s = np.diff(series.t_s[low:high])
        gaps = low + 1 + np.flatnonzero(steps_s > GAP_INTERVALS * series.interval_s)
        for first, last in pairwise([low, *gaps.tolist(), high]):
            if last - first < 2:
                continue
            begin, end = _steady_range(series.power_w[first:last])
            if end - begin < 2:
                continue
            stretch = UtcWindow(series.t_s[first + begin], series.t_s[first + end - 1])
            if stretch.length_s >= shortest_s:
                stretches.append(stretch)
    return stretches


def _between_windows(
    series: PowerSeries, windows: Sequence[UtcWindow]
) -> list[tuple[float, float]]:
    """Return the times between windows, from the first reading to the last."""
    free = []
    since_s = float(series.t_s[0])
    for window in sorted(windows, key=lambda one: one.start_s):
        if window.start_s > since_s:
            free.append((since_s, min(window.start_s, float(series.t_s[-1]))))
        since_s = max(since_s, window.end_s)
    free.append((since_s, float(series.t_s[-1])))
    return [(start_s, end_s) for start_s, end_s in free if end_s > start_s]


def _steady_range(power_w: np.ndarray) -> tuple[int, int]:
    """Return the range from the first to the last steady reading; empty if there is none."""
    median_w = np.median(power_w)
    distance_w = np.abs(power_w - median_w)
    deviation_w = max(_NORMAL * float(np.median(distance_w)), _LEAST_DEVIATION_W)
    is_level = distance_w <= _DEVIATIONS * deviation_w
    runs = np.convolve(is_level, np.ones(_READINGS, dtype=int), "valid") == _READINGS
    places = np.flatnonzero(runs)
    return (int(places[0]), int(places[-1]) + _READINGS) if len(places) else (0, 0)
