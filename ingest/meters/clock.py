"""How far a power meter's clock is off, from power's steps at the beginnings and ends of runs."""

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
# Six intervals around the best offset of the search, in fortieths of one.
_FINE_STEPS: Final = 20
_FINE_REACH: Final = 120
# Windows that a search looks at, however long the sweep, and parts whose offsets tell of a drift.
MOST_SEARCHED: Final = 400
_PARTS: Final = 5
_CHANCE: Final = 0.01
_WORSE: Final = 1.25
# The makers promise a minute a month, which is 23 millionths. A drift has to earn its place.
LARGEST_DRIFT: Final = 60e-6
_WORTH: Final = 1.05


@dataclass(frozen=True, slots=True)
class ClockFit:
    """What a fit proposes.

    Attributes:
        offset_s: Seconds to add to the meter's times; on the runs' clock then.
        error_s: Standard uncertainty of it.
        explained: Share of power's variance that is between the windows and not within them.
        rival_s: The second-best offset, apart from the best by more than a few intervals.
        lead_s: How long power is up before a window begins.
        drift: How much faster than the meter's the runs' clock goes, as a share of 1.
        middle_s: The meter's time at which the offset holds as it is.
        is_sure: Whether windows explain most of the variance, and the best offset explains it so
            much better than its rival that no chance would do.
        windows: How many windows the readings cover.
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
        """Times of the meter on the runs' clock."""
        return t_s + self.offset_s + self.drift * (t_s - self.middle_s)


def fit_offset(
    series: PowerSeries, windows: Sequence[UtcWindow], search_s: float = SEARCH_S
) -> ClockFit | None:
    """Find the offset under which the windows of runs best part high power from low.

    Power is modelled as one level a window and one level between windows. For each offset the
    sum of squares around these levels tells how badly that fits: every step of power that does
    not fall on a window's end adds to it. It is looked for on a grid of half the usual interval,
    then finer around the best. Power may be up already before the windows begin, while a load
    generator warms up; how long that is, the same for all, is found together with the offset, and
    so is how fast the clock runs, where that comes to half an interval or more.

    Args:
        series: On the meter's own clock.
        windows: Of the runs that the meter may cover, on theirs; overlapping ones count as one.
        search_s: Offsets up to this, either way, are tried.

    Returns:
        The best offset; None if the readings cover under three windows, or power never changes.
        `error_s` is how far the offset may go until the sum of squares rises by its own mean
        square (one standard deviation of a least-squares parameter), and at least interval /
        sqrt(12), since a reading only tells in which interval a step of power lies. Equal runs at
        equal distances fit as well one place further: then `is_sure` is false. With n readings
        and sums of squares S and S', n/2 ln(S'/S) is the logarithm of their likelihoods' ratio;
        the rival is ruled out at odds of 100 to 1, and if S' is over S by a quarter, because
        power never quite keeps to levels, which those odds take it to do. An offset at the end of
        the search is not sure.

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
    badness = part.badnesses(grid, lead_s)
    offset_s = float(grid[np.argmin(badness)])
    moved_s, drift = _find_drift(levels, series, ends, offset_s, lead_s)
    closely = np.arange(-_FINE_REACH, _FINE_REACH + 1) * step_s / _FINE_STEPS
    fine = offset_s + moved_s + closely
    near = levels.badnesses(fine, lead_s, drift)
    lowest = float(near.min())
    centre = float(np.mean(fine[near <= lowest * (1 + 1e-12)]))
    others = np.abs(grid - centre) > 4 * series.interval_s
    rival = int(np.flatnonzero(others)[np.argmin(badness[others])])
    explained = 1 - lowest / levels.total
    is_within = abs(centre) < search_s - 2 * step_s
    best = float(part.badnesses(offset_s + closely, lead_s).min())
    ratio = max(badness[rival], 1e-300) / max(best, 1e-300)
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
    """As many windows from the middle of a sweep as a search takes, and the readings of their time.

    Windows in the margin that the search needs belong to it as well.
    """
    spare = len(ends) - MOST_SEARCHED
    if spare <= 0:
        return Levels(series, ends)
    first = spare // 2
    span = ends[first, 0] - search_s, ends[first + MOST_SEARCHED - 1, 1] + search_s
    return _cut(series, ends, span)


def _cut(series: PowerSeries, ends: np.ndarray, span: tuple[float, float]) -> Levels:
    """The readings of a time, and the windows that lie in it in part or whole."""
    low, high = np.searchsorted(series.t_s, span)
    is_inside = (ends[:, 1] > span[0]) & (ends[:, 0] < span[1])
    cut = PowerSeries(series.t_s[low:high], series.power_w[low:high], series.interval_s)
    return Levels(cut, ends[is_inside])


def _find_lead(levels: Levels, grid: np.ndarray, interval_s: float) -> float:
    """How long power is up before windows begin, looked for around the best offset without."""
    best_s = float(grid[np.argmin(levels.badnesses(grid, 0.0))])
    near = best_s + np.arange(-LONGEST_LEAD_S, LONGEST_LEAD_S + interval_s, interval_s)
    leads = np.arange(0.0, LONGEST_LEAD_S + interval_s, interval_s)
    lowest = [float(levels.badnesses(near, lead).min()) for lead in leads]
    return float(leads[int(np.argmin(lowest))])


def _find_drift(
    levels: Levels, series: PowerSeries, ends: np.ndarray, offset_s: float, lead_s: float
) -> tuple[float, float]:
    """Fit a line through the offsets of parts of a sweep.

    Returns:
        How much the offset moves in the middle, and the drift; nothing where a drift makes no
        difference, or where the whole fits hardly better with it.
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
        badness = _cut(series, ends - offset_s, span).badnesses(near, lead_s)
        found.append(float(near[np.argmin(badness)]))
        at.append(float(chosen.mean()) - offset_s)
    drift, moved_s = np.polyfit(np.array(at) - levels.middle_s, found, 1)
    around = np.arange(-2, 3) * series.interval_s / 2
    before = levels.badnesses(offset_s + around, lead_s).min()
    after = levels.badnesses(offset_s + moved_s + around, lead_s, drift).min()
    is_worth_it = abs(drift) <= LARGEST_DRIFT and before > _WORTH * after
    return (float(moved_s), float(drift)) if is_worth_it else (0.0, 0.0)


def _merged(windows: Sequence[UtcWindow], series: PowerSeries, search_s: float) -> np.ndarray:
    """Windows that the readings cover under any offset tried, those that overlap as one."""
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
    """Half the width in which the sum of squares is within one mean square of its lowest."""
    return float(np.ptp(fine[near <= lowest + lowest / max(freedom, 1)])) / 2
