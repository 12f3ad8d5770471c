"""The offset of a power meter's clock, fitted to steps of power at the starts and ends of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.meters.energy import PowerSeries
from ingest.meters.levels import Levels
from ingest.records import UtcWindow

SEARCH_S: Final = 300.0
LEAST_WINDOWS: Final = 3
LONGEST_LEAD_S: Final = 30.0
LEAST_EXPLAINED: Final = 0.8
# Fine search: six intervals around the best offset, in fortieths of an interval.
_FINE_STEPS: Final = 20
_FINE_REACH: Final = 120
# Maximum number of windows in a search; a drift is fitted to the offsets of `_PARTS` parts.
MOST_SEARCHED: Final = 400
_PARTS: Final = 5
_CHANCE: Final = 0.01
_WORSE: Final = 1.25
# Makers promise one minute a month, 23e-6. A drift is used only if it improves the fit by `_WORTH`.
LARGEST_DRIFT: Final = 60e-6
_WORTH: Final = 1.05


@dataclass(frozen=True, slots=True)
class ClockFit:
    """The result of a fit.

    Attributes:
        offset_s: Seconds to add to the meter's times to get the runs' clock.
        error_s: Standard uncertainty of the offset.
        explained: Share of power's variance that lies between the windows, not within them.
        rival_s: The second-best offset, at least a few intervals from the best.
        lead_s: How long power is high before a window begins.
        drift: Relative rate by which the runs' clock is faster than the meter's.
        middle_s: The meter's time at which the drift adds nothing to the offset.
        is_sure: Whether windows explain most of the variance, and the best offset explains it
            significantly better than its rival.
        windows: Number of windows that the readings cover.
    """

    offset_s: float
    error_s: float
    explained: float
    rival_s: float
    lead_s: float
    drift: float
    middle_s: float
    is_sure: bool
    windows: int

    def corrected(self, t_s: np.ndarray) -> np.ndarray:
        """Convert times of the meter to the runs' clock."""
        return t_s + self.offset_s + self.drift * (t_s - self.middle_s)


def fit_offset(
    series: PowerSeries, windows: Sequence[UtcWindow], search_s: float = SEARCH_S
) -> ClockFit | None:
    """Find the offset at which the windows of runs best separate high power from low.

    Power is modelled as one level per window and one common level between windows. The fit
    minimises the sum of squares around these levels, to which each step of power off a window's
    end adds. It searches a grid of half the usual interval, then a finer one around the best.
    Power may rise before a window begins, while a load generator warms up: this lead, equal for
    all windows, is fitted too, and so is the drift, if it amounts to half an interval or more.

    Args:
        series: Readings on the meter's own clock.
        windows: Windows of the runs that the meter may cover, on the runs' clock; overlapping
            ones are merged.
        search_s: Maximum absolute offset.

    Returns:
        The best offset; None if the readings cover under three windows, or power never changes.
        `error_s` is how far the offset can move until the sum of squares rises by its mean square
        (one standard deviation of a least-squares parameter), and at least interval / sqrt(12),
        since readings locate a step of power only to an interval. Equal runs at equal distances
        fit as well one place further: then `is_sure` is false. For n readings and sums of squares
        S and S', n/2 ln(S'/S) is the log-likelihood ratio. The rival is ruled out at odds of 100
        to 1 if also S' exceeds S by a quarter, since real power never keeps exactly to levels as
        these odds assume. An offset at the end of the search is not sure.

    Source: Seber and Wild, Nonlinear Regression, 1989, 5.3 for the error; 2.1 for the likelihood.
    """
    ends = _merged(windows, series, search_s)
    if len(ends) < LEAST_WINDOWS:
        return None
    levels = Levels(series, ends)
    if levels.total <= 0:
        return None
    step_s = series.interval_s / 2
    grid = np.arange(-np.ceil(search_s / step_s), np.ceil(search_s / step_s) + 1) * step_s
    part = _middle(series, ends, search_s)
    lead_s = _find_lead(part, grid, series.interval_s)
    misfit = part.sums_of_squares(grid, lead_s)
    offset_s = float(grid[np.argmin(misfit)])
    moved_s, drift = _find_drift(levels, series, ends, offset_s, lead_s)
    fine_steps = np.arange(-_FINE_REACH, _FINE_REACH + 1) * step_s / _FINE_STEPS
    fine = offset_s + moved_s + fine_steps
    near = levels.sums_of_squares(fine, lead_s, drift)
    lowest = float(near.min())
    centre = float(np.mean(fine[near <= lowest * (1 + 1e-12)]))
    others = np.abs(grid - centre) > 4 * series.interval_s
    rival = int(np.flatnonzero(others)[np.argmin(misfit[others])])
    explained = 1 - lowest / levels.total
    is_within = abs(centre) < search_s - 2 * step_s
    best = float(part.sums_of_squares(offset_s + fine_steps, lead_s).min())
    ratio = max(misfit[rival], 1e-300) / max(best, 1e-300)
    is_alone = ratio > _WORSE and part.readings / 2 * np.log(ratio) > -np.log(_CHANCE)
    return ClockFit(
        offset_s=centre,
        error_s=max(
            _error_s(fine, near, lowest, levels.readings - len(ends) - 2),
            series.interval_s / 12**0.5,
        ),
        explained=explained,
        rival_s=float(grid[rival]),
        lead_s=lead_s,
        drift=drift,
        middle_s=levels.middle_s,
        is_sure=bool(is_within and is_alone and explained >= LEAST_EXPLAINED),
        windows=len(ends),
    )


def _middle(series: PowerSeries, ends: np.ndarray, search_s: float) -> Levels:
    """Build the levels of the middle `MOST_SEARCHED` windows of a sweep.

    Windows within the search margin on either side are included.
    """
    spare = len(ends) - MOST_SEARCHED
    if spare <= 0:
        return Levels(series, ends)
    first = spare // 2
    span = ends[first, 0] - search_s, ends[first + MOST_SEARCHED - 1, 1] + search_s
    return _cut(series, ends, span)


def _cut(series: PowerSeries, ends: np.ndarray, span: tuple[float, float]) -> Levels:
    """Build the levels of the readings in a span, with the windows that overlap it."""
    low, high = np.searchsorted(series.t_s, span)
    is_inside = (ends[:, 1] > span[0]) & (ends[:, 0] < span[1])
    cut = PowerSeries(series.t_s[low:high], series.power_w[low:high], series.interval_s)
    return Levels(cut, ends[is_inside])


def _find_lead(levels: Levels, grid: np.ndarray, interval_s: float) -> float:
    """Return how long power is high before windows begin, around the best offset without a lead."""
    best_s = float(grid[np.argmin(levels.sums_of_squares(grid, 0.0))])
    near = best_s + np.arange(-LONGEST_LEAD_S, LONGEST_LEAD_S + interval_s, interval_s)
    leads = np.arange(0.0, LONGEST_LEAD_S + interval_s, interval_s)
    lowest = [float(levels.sums_of_squares(near, lead).min()) for lead in leads]
    return float(leads[int(np.argmin(lowest))])


def _find_drift(
    levels: Levels, series: PowerSeries, ends: np.ndarray, offset_s: float, lead_s: float
) -> tuple[float, float]:
    """Fit a line through the offsets of parts of a sweep.

    Returns:
        Change of the offset in the middle, and the drift; zeros if a drift cannot matter, or if
        it barely improves the fit of the whole sweep.
    """
    reach_s = LARGEST_DRIFT * float(np.ptp(series.t_s)) / 2
    parts = min(_PARTS, len(ends) // LEAST_WINDOWS)
    if reach_s < series.interval_s / 2 or parts < 2:
        return 0.0, 0.0
    steps = np.ceil(2 * reach_s / series.interval_s)
    near = np.arange(-2 * steps, 2 * steps + 1) * series.interval_s / 2
    found, at = [], []
    for several in np.array_split(np.arange(len(ends)), parts):
        spare = max(len(several) - MOST_SEARCHED // parts, 0) // 2
        chosen = ends[several[spare : len(several) - spare]]
        margin_s = near[-1] + lead_s
        span = chosen[0, 0] - offset_s - margin_s, chosen[-1, 1] - offset_s + margin_s
        misfit = _cut(series, ends - offset_s, span).sums_of_squares(near, lead_s)
        found.append(float(near[np.argmin(misfit)]))
        at.append(float(chosen.mean()) - offset_s)
    drift, moved_s = np.polyfit(np.array(at) - levels.middle_s, found, 1)
    around = np.arange(-2, 3) * series.interval_s / 2
    before = levels.sums_of_squares(offset_s + around, lead_s).min()
    after = levels.sums_of_squares(offset_s + moved_s + around, lead_s, drift).min()
    is_worth_it = abs(drift) <= LARGEST_DRIFT and before > _WORTH * after
    return (float(moved_s), float(drift)) if is_worth_it else (0.0, 0.0)


def _merged(windows: Sequence[UtcWindow], series: PowerSeries, search_s: float) -> np.ndarray:
    """Return the windows that readings may cover at any offset, shape (k, 2), overlaps merged."""
    first, last = series.t_s[0] - search_s, series.t_s[-1] + search_s
    merged: list[list[float]] = []
    for window in sorted(windows, key=lambda one: one.start_s):
        if window.end_s < first or window.start_s > last:
            continue
        if merged and window.start_s <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], window.end_s)
        else:
            merged.append([window.start_s, window.end_s])
    return np.array(merged).reshape(-1, 2)


def _error_s(fine: np.ndarray, near: np.ndarray, lowest: float, freedom: int) -> float:
    """Return half the width of the offsets within one mean square of the lowest sum of squares."""
    return float(np.ptp(fine[near <= lowest + lowest / max(freedom, 1)])) / 2
