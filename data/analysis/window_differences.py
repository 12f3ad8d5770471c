"""Differences of two runs window by window, in units of the noise between windows.

Let `d[i]` be the second run's mean in window `i` minus the first run's. Successive windows have
nearly the same difference unless something happens, so their steps `d[i + 1] - d[i]` measure the
noise: for independent noise of standard deviation s the steps have s * sqrt(2), and the median of
their sizes is 0.6745 of that. Drift cancels in steps (von Neumann et al. 1941, "The mean square
successive difference"), and a median ignores a burst in less than half of the windows.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

# Median size of a normal variable of standard deviation 1.
_NORMAL_MEDIAN: Final = 0.674489750196
# Fewer windows give no usable median of steps.
FEWEST_WINDOWS: Final = 8


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive windows `first` to `end` (exclusive) that differ in one direction.

    Attributes:
        peak: Largest difference in units of the noise, with its sign.
        at: The window of the peak.
    """

    first: int
    end: int
    at: int
    peak: float


def window_means(
    values: np.ndarray, weights: np.ndarray | None, edges: np.ndarray, windows: np.ndarray
) -> np.ndarray:
    """Return means of bins by window, any unit; NaN for windows without a measured bin.

    Args:
        values: Means of bins, shape (bins,); NaN: not measured.
        weights: Weights of bins, such as interrupts in them; None for equal ones.
        edges: Edges of the bins, shape (bins + 1,), in the unit of `windows`. A bin belongs to the
            window of its middle.
        windows: Edges of the windows, ascending, shape (windows + 1,).
    """
    at = np.searchsorted(windows, (edges[:-1] + edges[1:]) / 2, side="right") - 1
    count = len(windows) - 1
    by_bin = np.ones(len(values)) if weights is None else weights.astype(float)
    kept = np.isfinite(values) & (at >= 0) & (at < count) & (by_bin > 0)
    sums = np.bincount(at[kept], (values * by_bin)[kept], count)
    weight = np.bincount(at[kept], by_bin[kept], count)
    return np.divide(sums, weight, out=np.full(count, np.nan), where=weight > 0)


def in_noise(reference: np.ndarray, other: np.ndarray) -> np.ndarray | None:
    """Return `other` minus `reference` in units of the noise between windows, shape (windows,).

    If over half of the steps are 0, the noise is their root mean square divided by sqrt(2).
    None: fewer than FEWEST_WINDOWS windows of both, or no noise to compare with.
    """
    difference = other - reference
    measured = difference[np.isfinite(difference)]
    if len(measured) < FEWEST_WINDOWS:
        return None
    steps = np.diff(measured)
    noise = float(np.median(np.abs(steps))) / _NORMAL_MEDIAN / math.sqrt(2)
    # A step that only rounding makes is no noise.
    least = 1e-9 * float(np.nanmax(np.abs([reference, other])))
    if noise <= least:
        noise = math.sqrt(float(np.mean(steps**2)) / 2)
    return difference / noise if noise > least else None


def local(units: np.ndarray, least: float) -> tuple[float | None, np.ndarray]:
    """Tell a difference of the whole runs from those of some windows.

    Returns:
        The median difference if it is at least `least` units, else None; the differences, less
        that median if there is one.
    """
    median = float(np.nanmedian(units))
    return (median, units - median) if abs(median) >= least else (None, units)


def stretches(units: np.ndarray, least: float) -> list[Stretch]:
    """Join successive windows of at least `least` units in one direction, in order of time."""
    signs = np.where(np.abs(units) >= least, np.sign(units), 0)
    bounds = np.flatnonzero(np.diff(signs, prepend=0, append=0))
    joined = []
    for first, end in pairwise(bounds):
        if signs[first]:
            at = int(first + np.argmax(np.abs(units[first:end])))
            joined.append(Stretch(int(first), int(end), at, float(units[at])))
    return joined
