"""Which runs of one setting are replicates of each other.

Runs of one setting are replicates where only noise tells them apart. Where they differ far more,
something was set that no column states, or a run failed: their mean is no value of a setting, and
their spread does not say how repeatable a run is. Where most settings have runs that do not differ
at all to four digits or more, these are copies, or their values were computed or set: they are one
observation.
"""

import math
from typing import Any, Final

import numpy as np

from data.units import counted

# Runs of a larger variance of their logarithms are no replicates: a deviation by a factor of 2.
_MOST_VARIANCE: Final = math.log(2.0) ** 2
# Equal values: the variance of their logarithms is that of rounding in sums at most, and the step
# of their digits this share of the value at most.
_EQUAL_VARIANCE: Final = 1e-24
EQUAL_STEP: Final = 1e-3
_EQUAL_FLOOR: Final = EQUAL_STEP**2 / 12
# What may have made them so.
UNLIKE_WHY: Final = "something that is no setting here may have differed, or a run failed"


def are_unlike(variance: Any) -> Any:
    """Return whether runs of one setting are no replicates.

    Args:
        variance: Of the logarithms of a metric above 0, a number or an array; NaN if unknown, as
            of one run.
    """
    return variance > _MOST_VARIANCE


def observed(
    n: np.ndarray, variance: np.ndarray, floor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of observations in the runs of each setting, and their variance.

    Means of runs whose deviation nobody told are one observation.

    Args:
        n: Runs of each setting, shape (k,).
        variance: Of a metric of these runs, or of its logarithms; NaN if unknown.
        floor: The part of it that the rounding of the values hides.

    Returns:
        Both of shape (k,); the variance is NaN for one observation, else not below its floor.
    """
    n = np.where(np.isnan(variance), np.minimum(n, 1), n)
    return n, np.where(n > 1, np.maximum(variance, floor), np.nan)


def are_equal(variance: np.ndarray, floor: np.ndarray, size: Any = 1.0) -> np.ndarray:
    """Return whether the runs of each setting have equal values to four digits or more.

    Args:
        variance, floor: As `observed` returns and takes them.
        size: Of values that are no logarithms their mean, shape (k,).
    """
    square = np.square(size)
    is_equal = variance <= np.maximum(floor, _EQUAL_VARIANCE * square)
    return np.asarray(is_equal & (floor <= _EQUAL_FLOOR * square))


def unlike_words(settings: int) -> str:
    """Return `the runs of 2 settings are no replicates: something ...`."""
    return f"the runs of {counted(settings, 'setting')} are no replicates: {UNLIKE_WHY}"


def equal_words(settings: int) -> str:
    """Return `the runs of 2 settings have equal values to all digits: ...`."""
    return (
        f"the runs of {counted(settings, 'setting')} have equal values to all digits: they say "
        "nothing of noise, as copies of one run would"
    )


def unlike_sql(column: str) -> str:
    """Return the SQL of the same over the runs of a group; NULL for one run.

    Args:
        column: A metric of which all values are above 0.
    """
    return f"var_samp(ln({column})) > {_MOST_VARIANCE!r}"
