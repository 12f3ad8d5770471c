"""Stretches of a power meter's readings in which no run was under way. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ingest.meters.energy import GAP_INTERVALS, PowerSeries
from ingest.records import UtcWindow

# Power at its level: within so many deviations of the median, for so many readings on end.
_DEVIATIONS: Final = 5.0
_READINGS: Final = 5
_LEAST_DEVIATION_W: Final = 0.1
_NORMAL: Final = 1.4826


def idle_stretches(
    series: PowerSeries, windows: Sequence[UtcWindow], shortest_s: float
) -> list[UtcWindow]:
    """Find the stretches without a run that are long enough, in order of time.

    A stretch lies between two windows, or a window and the end of the readings, and has no gap in
    it. Its ends are cut off where power is not yet, or no longer, at its level: the stretch's
    median, give or take five deviations (estimated by the median of distances). There the
    programs that run before and after a window begin and end.

    Args:
        windows: Of all runs that the meter covers.
        shortest_s: What is shorter is left out; 0 finds nothing.
    """
    if shortest_s <= 0 or len(series.t_s) < 2:
        return []
    found = []
    for start_s, end_s in _free(series, windows):
        low = int(np.searchsorted(series.t_s, start_s, side="left"))
        high = int(np.searchsorted(series.t_s, end_s, side="right"))
        for first, last in _ungapped(series, low, high):
            begin, end = _level(series.power_w[first:last])
            if end - begin < 2:
                continue
            stretch = UtcWindow(series.t_s[first + begin], series.t_s[first + end - 1])
            if stretch.length_s >= shortest_s:
                found.append(stretch)
    return found


def _free(series: PowerSeries, windows: Sequence[UtcWindow]) -> list[tuple[float, float]]:
    """Times between windows, from the first reading to the last."""
    free = []
    since_s = float(series.t_s[0])
    for window in sorted(windows, key=lambda one: one.start_s):
        if window.start_s > since_s:
            free.append((since_s, min(window.start_s, float(series.t_s[-1]))))
        since_s = max(since_s, window.end_s)
    free.append((since_s, float(series.t_s[-1])))
    return [(start_s, end_s) for start_s, end_s in free if end_s > start_s]


def _ungapped(series: PowerSeries, low: int, high: int) -> list[tuple[int, int]]:
    """Part a range of readings at its gaps."""
    steps = np.diff(series.t_s[low:high])
    cuts = low + 1 + np.flatnonzero(steps > GAP_INTERVALS * series.interval_s)
    ends = [low, *cuts.tolist(), high]
    return [(a, b) for a, b in pairwise(ends) if b - a > 1]


def _level(power_w: np.ndarray) -> tuple[int, int]:
    """Where power is at its level for the first and the last time, as a range; empty if never."""
    median_w = np.median(power_w)
    distance_w = np.abs(power_w - median_w)
    deviation_w = max(_NORMAL * float(np.median(distance_w)), _LEAST_DEVIATION_W)
    is_level = distance_w <= _DEVIATIONS * deviation_w
    runs = np.convolve(is_level, np.ones(_READINGS, dtype=int), "valid") == _READINGS
    places = np.flatnonzero(runs)
    return (int(places[0]), int(places[-1]) + _READINGS) if len(places) else (0, 0)
