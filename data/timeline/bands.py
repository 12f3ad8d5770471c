"""Bands of a line: what most of its windows show, between quantiles of windows of equal time.

Extremes alone fill a panel wherever one interrupt is unlike the others. A band is of the means of
windows, not of single interrupts or samples, and says how long its windows are.
"""

from typing import Final

import numpy as np

from data.timeline.time_cells import Line

# Each value of a band is of about this many windows; fewer have no quantiles of a tenth.
WINDOWS_EACH: Final = 10
# A window holds at least this many interrupts on average, so that it is no count of 0 or 1.
_LEAST_INTERRUPTS: Final = 10
# With fewer values a band shows nothing that the line does not.
FEWEST_VALUES: Final = 4
_QUANTILES: Final = {"p10": 0.1, "p90": 0.9}


def most_windows(bins: int, interrupts: float, samples: float) -> dict[str, int]:
    """Return the maximum numbers of windows, for `interrupts` and `counters`.

    Args:
        bins: Maximum number of values of a band.
        interrupts: Interrupts of the run in the band's time.
        samples: Counter samples of one core in it.
    """
    most = bins * WINDOWS_EACH
    return {
        "interrupts": max(min(most, int(interrupts / _LEAST_INTERRUPTS)), 1),
        "counters": max(min(most, int(samples)), 1),
    }


def band_of(windows: np.ndarray, starts: np.ndarray) -> Line:
    """Return `p10` and `p90` of a line's windows for each group of them.

    Args:
        windows: Means of the windows, shape (n,); NaN: not measured, which does not count.
        starts: First window of each group, rising from 0, shape (groups,).

    Returns:
        Float64, shape (groups,); NaN for a group without a measured window. Between two windows
        the quantile is interpolated linearly, as `numpy.quantile` does.
    """
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(windows))))
    # NaN is sorted last.
    ordered = windows[np.lexsort((windows, group))]
    measured = np.add.reduceat(np.isfinite(windows), starts)
    band = {}
    for name, share in _QUANTILES.items():
        at = starts + share * np.maximum(measured - 1, 0)
        below = np.floor(at).astype(np.intp)
        above = np.minimum(below + 1, starts + np.maximum(measured - 1, 0))
        low, high = ordered[below], ordered[above]
        band[name] = np.where(measured > 0, low + (high - low) * (at - below), np.nan)
    return band
