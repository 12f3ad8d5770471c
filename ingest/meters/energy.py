"""Energy of a time window from power-meter readings. Pure: arrays in, numbers out."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from data.errors import DataError

# Two readings further apart than this many usual intervals have a gap between them.
GAP_INTERVALS: Final = 1.5
# Fewer readings in a window do not determine its power.
LEAST_READINGS: Final = 2


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """Readings of one meter, on the clock of the runs.

    Attributes:
        t_s: Unix seconds UTC, shape (n,), n > 0, strictly increasing.
        power_w: Active power, shape (n,), finite.
        interval_s: The usual time between two readings.
    """

    t_s: np.ndarray
    power_w: np.ndarray
    interval_s: float


@dataclass(frozen=True, slots=True)
class PowerIntegral:
    """Energy and power of a window.

    Attributes:
        energy_j: Power integrated over the window.
        power_w: Mean power: `energy_j` divided by the window's length.
        uncertainty_j: Standard uncertainty of `energy_j`; see `integrate_power`.
        readings: Number of readings in the window.
        gap_s: Part of the window in gaps of the readings, or beyond them.
    """

    energy_j: float
    power_w: float
    uncertainty_j: float
    readings: int
    gap_s: float


def make_series(t_s: np.ndarray, power_w: np.ndarray) -> PowerSeries:
    """Check readings and find their usual interval (the median; 1 s for a single reading).

    Raises:
        DataError: Shapes differ or are empty, times do not increase, or a value is not finite.
    """
    if t_s.shape != power_w.shape or t_s.ndim != 1 or not t_s.size:
        raise DataError(f"times {t_s.shape} and powers {power_w.shape} must have one shape (n,)")
    if not (np.isfinite(t_s).all() and np.isfinite(power_w).all()):
        raise DataError("times and powers must be finite")
    steps = np.diff(t_s)
    if (steps <= 0).any():
        raise DataError(f"times must increase: reading {int(np.argmax(steps <= 0)) + 1} does not")
    interval_s = float(np.median(steps)) if steps.size else 1.0
    return PowerSeries(t_s, power_w, interval_s)


def integrate_power(
    series: PowerSeries,
    start_s: float,
    end_s: float,
    accuracy_pct: float = 0.0,
    slack_s: float = 0.0,
) -> PowerIntegral:
    """Integrate power over [start_s, end_s] by the trapezoidal rule.

    Power is linear between two readings, also at the window's ends, and constant before the first
    and after the last reading. So windows that share an end add up, and constant power P over T
    gives P T.

    The energy is a sum of readings, E = sum w_i P_i. Its standard uncertainty u combines
    independent parts, u^2 = a + b + c + d:

    - a = s^2 sum w_i^2, the scatter of the readings. s^2 = sum (P_i+1 - P_i)^2 / (2 m) over the m
      neighbours in the window, which a slow trend does not raise.
    - b = (t (P_end - P_start))^2, for clocks that are off by t: `slack_s`, and the interval /
      sqrt(12), since readings locate a step of power only to an interval, in quadrature.
    - c = (accuracy E)^2 / 3, for a meter whose error is uniform within `accuracy_pct`. It is common
      to all runs of a meter and cancels when two of them are compared.
    - d = (G (P_max - P_min))^2 / 12, for G seconds in gaps, where power may lie anywhere between
      the window's extremes.

    Args:
        accuracy_pct: Limit of the meter's error, percent of the reading.
        slack_s: Uncertainty of the window's ends.

    Raises:
        DataError: The window is empty or not finite.

    Source: JCGM 100:2008 (GUM), 4.3.7 for limits of error and 5.1.2 for the combination; von
    Neumann, Ann. Math. Statist. 12(4), 1941 for s.
    """
    if not (np.isfinite([start_s, end_s]).all() and end_s > start_s):
        raise DataError(f"no window from {start_s} to {end_s}")
    # The readings within the window, and one neighbour on either side.
    low = max(int(np.searchsorted(series.t_s, start_s, side="right")) - 1, 0)
    high = int(np.searchsorted(series.t_s, end_s, side="left")) + 1
    t_s, power_w = series.t_s[low:high], series.power_w[low:high]
    weights = _weights(t_s, start_s, end_s)
    inside = (t_s >= start_s) & (t_s <= end_s)
    energy_j = float(weights @ power_w)
    gap_s = _gap_s(series, t_s, start_s, end_s)
    at_start, at_end = np.interp([start_s, end_s], t_s, power_w)
    clock_s = np.hypot(slack_s, series.interval_s / 12**0.5)
    swing_w = float(np.ptp(power_w[inside])) if inside.any() else 0.0
    is_near = np.diff(t_s) <= GAP_INTERVALS * series.interval_s
    steps_w = np.diff(power_w)[inside[1:] & inside[:-1] & is_near]
    scatter_w2 = float(steps_w @ steps_w / (2 * len(steps_w))) if len(steps_w) else 0.0
    variance = (
        scatter_w2 * float(weights @ weights)
        + (clock_s * (at_end - at_start)) ** 2
        + (accuracy_pct / 100 * energy_j) ** 2 / 3
        + (gap_s * swing_w) ** 2 / 12
    )
    mean_w = energy_j / (end_s - start_s)
    return PowerIntegral(energy_j, mean_w, float(np.sqrt(variance)), int(inside.sum()), gap_s)


def _weights(t_s: np.ndarray, start_s: float, end_s: float) -> np.ndarray:
    """Return the weight of each reading, seconds; they add up to the window's length."""
    weights = np.zeros(len(t_s))
    left = np.clip(t_s[:-1], start_s, end_s)
    right = np.clip(t_s[1:], start_s, end_s)
    length, middle, step = right - left, (left + right) / 2, np.diff(t_s)
    weights[:-1] += length * (t_s[1:] - middle) / step
    weights[1:] += length * (middle - t_s[:-1]) / step
    weights[0] += max(min(t_s[0], end_s) - start_s, 0.0)
    weights[-1] += max(end_s - max(t_s[-1], start_s), 0.0)
    return weights


def _gap_s(series: PowerSeries, t_s: np.ndarray, start_s: float, end_s: float) -> float:
    """Return how much of a window, seconds, no reading covers.

    The first and the last reading also cover half an interval beyond them.
    """
    half_s = series.interval_s / 2
    left = np.clip(t_s[:-1], start_s, end_s)
    right = np.clip(t_s[1:], start_s, end_s)
    is_gap = np.diff(t_s) > GAP_INTERVALS * series.interval_s
    before = min(series.t_s[0] - half_s, end_s) - start_s
    after = end_s - max(series.t_s[-1] + half_s, start_s)
    return float((right - left)[is_gap].sum() + max(before, 0.0) + max(after, 0.0))
