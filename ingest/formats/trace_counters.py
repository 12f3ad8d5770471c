"""Columns of energy: running totals and their steps, and what is a power times a time."""

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

# A fall is a wrap if it is from so many usual steps below a power of two, and in its last tenth.
_NEAR_STEPS: Final = 6.0
_LAST_SHARE: Final = 0.1
# The least at which a counter wraps, J.
_LEAST_PERIOD_J: Final = 1024.0
# Linux' powercap counts in whole nanojoules of the unit of the registers, which have 32 bits:
# 2^-16, 2^-15, 2^-14, 2^-13, 2^-12 J, and 15.3 uJ of memories of servers.
POWERCAP_J: Final = tuple(
    (2**32 - 1) * unit_nj * 1e-9 for unit_nj in (15_258, 15_300, 30_517, 61_035, 122_070, 244_140)
)
_LEAST_RISING: Final = 0.97
_LEAST_SAMPLES: Final = 4
# An energy is a power times a time within this share, by a power of ten or the factor of Wh.
_EQUAL: Final = 0.05
_UNITS: Final = (1.0, 3.6, 1 / 3.6)
_NEARLY_ALL: Final = 0.9


@dataclass(slots=True)
class CounterSteps:
    """The steps of a running total.

    Attributes:
        values: Step to each sample from the one before, float64, shape (n,); NaN for the first.
        repaired, reset: Index of each fall that was a wrap, or a new start, and what was done.
    """

    values: np.ndarray
    repaired: list[tuple[int, str]] = field(default_factory=list)
    reset: list[tuple[int, str]] = field(default_factory=list)


def is_running_total(values: np.ndarray) -> bool:
    """Return whether values rise from sample to sample, but for fewer falls to near 0."""
    steps = np.diff(values)
    falls = steps < 0
    if len(values) < _LEAST_SAMPLES or (steps > 0).sum() <= falls.sum():
        return False
    is_start = values[1:][falls] < 0.5 * values[:-1][falls]
    return bool((steps >= 0).mean() >= min(_LEAST_RISING, 1 - 1.5 / len(steps)) and is_start.all())


def steps_of(values: np.ndarray, is_powercap: bool = False) -> CounterSteps:
    """Return the steps of a running total, J.

    A fall from just below a power of two (of joules, or of 2^-16 J and the like, which are powers
    of two of joules too) is a wrap. Any other fall is a new start at 0.

    Args:
        is_powercap: Whether Linux' powercap made the numbers (uJ), which wrap a little earlier.
    """
    steps = np.diff(values, prepend=np.nan)
    counter = CounterSteps(steps)
    rising = steps[steps > 0]
    near = _NEAR_STEPS * float(np.median(rising)) if len(rising) else 0.0
    for at in np.flatnonzero(steps < 0).tolist():
        before, after = float(values[at - 1]), float(values[at])
        periods = [2.0 ** math.ceil(math.log2(before)), *(POWERCAP_J if is_powercap else ())]
        period = min(each for each in periods if each >= before)
        is_near = period - before + after <= min(near, _LAST_SHARE * period)
        if is_near and period >= _LEAST_PERIOD_J:
            steps[at] += period
            detail = f"fell from {before:g} to {after:g} J: wrapped at {period:g} J"
            counter.repaired.append((at, detail))
        else:
            steps[at] = after
            detail = f"fell from {before:g} to {after:g} J: taken as a new start at 0"
            counter.reset.append((at, detail))
    return counter


def are_products(energy: np.ndarray, power: np.ndarray, time: np.ndarray) -> bool:
    """Return whether nearly all energies are powers times times, by one factor of units."""
    is_told = (energy > 0) & (power * time > 0)
    if is_told.mean() < _NEARLY_ALL:
        return False
    factors = energy[is_told] / (power * time)[is_told]
    usual = float(np.median(factors))
    of_units = (scale * 10.0 ** round(np.log10(usual / scale)) for scale in _UNITS)
    agreeing = (np.abs(factors / each - 1) <= _EQUAL for each in of_units)
    return any(each.sum() >= _NEARLY_ALL * len(energy) for each in agreeing)
