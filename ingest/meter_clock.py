"""How far a power meter's clock is off, from power's steps at the beginnings and ends of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.power import GAP_INTERVALS, PowerSeries
from ingest.records import UtcWindow

SEARCH_S: Final = 300.0
LEAST_WINDOWS: Final = 3
LONGEST_LEAD_S: Final = 30.0
LEAST_EXPLAINED: Final = 0.8
_FINE_STEPS: Final = 20
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
    levels = _Levels(series, ends)
    if levels.total <= 0:
        return None
    step_s = series.interval_s / 2
    grid = np.arange(-np.ceil(search_s / step_s), np.ceil(search_s / step_s) + 1) * step_s
    lead_s = _find_lead(levels, grid, series.interval_s)
    drift = _find_drift(levels, grid, lead_s, series)
    badness = levels.badnesses(grid, lead_s, drift)
    best = int(np.argmin(badness))
    fine = grid[best] + np.linspace(-2 * step_s, 2 * step_s, 8 * _FINE_STEPS + 1)
    near = levels.badnesses(fine, lead_s, drift)
    lowest = float(near.min())
    centre = float(np.mean(fine[near <= lowest * (1 + 1e-12)]))
    others = np.abs(grid - centre) > 4 * series.interval_s
    rival = int(np.flatnonzero(others)[np.argmin(badness[others])])
    explained = 1 - lowest / levels.total
    is_within = abs(centre) < search_s - 2 * step_s
    ratio = max(badness[rival], 1e-300) / max(lowest, 1e-300)
    is_alone = ratio > _WORSE and levels.readings / 2 * np.log(ratio) > -np.log(_CHANCE)
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


def _find_lead(levels: "_Levels", grid: np.ndarray, interval_s: float) -> float:
    """How long power is up before windows begin, looked for around the best offset without."""
    best_s = float(grid[np.argmin(levels.badnesses(grid, 0.0))])
    near = best_s + np.arange(-LONGEST_LEAD_S, LONGEST_LEAD_S + interval_s, interval_s)
    leads = np.arange(0.0, LONGEST_LEAD_S + interval_s, interval_s)
    lowest = [float(levels.badnesses(near, lead).min()) for lead in leads]
    return float(leads[int(np.argmin(lowest))])


def _find_drift(levels: "_Levels", grid: np.ndarray, lead_s: float, series: PowerSeries) -> float:
    """How much faster the runs' clock goes; 0 where it makes no difference, or hardly any."""
    length_s = float(np.ptp(series.t_s))
    reach_s = LARGEST_DRIFT * length_s / 2
    if reach_s < series.interval_s / 2:
        return 0.0
    best_s = float(grid[np.argmin(levels.badnesses(grid, lead_s))])
    steps = np.ceil(reach_s / series.interval_s)
    near = best_s + np.arange(-2 * steps, 2 * steps + 1) * series.interval_s / 2
    drifts = np.arange(-2 * steps, 2 * steps + 1) * series.interval_s / length_s
    lowest = [float(levels.badnesses(near, lead_s, drift).min()) for drift in drifts]
    best = int(np.argmin(lowest))
    is_worth_it = lowest[len(drifts) // 2] > _WORTH * lowest[best]
    return float(drifts[best]) if is_worth_it else 0.0


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


class _Levels:
    """Sums of squares of power around one level a window and one level between them.

    A reading stands for half an interval on either side; in a gap nothing is known.
    """

    def __init__(self, series: PowerSeries, ends: np.ndarray) -> None:
        t_s, power_w = series.t_s, series.power_w - series.power_w.mean()
        half = np.minimum(np.diff(t_s), GAP_INTERVALS * series.interval_s) / 2
        widths = np.concatenate([[series.interval_s / 2], half])
        widths_after = np.concatenate([half, [series.interval_s / 2]])
        edges = np.stack([t_s - widths, t_s + widths_after], axis=1).ravel()
        weights = np.stack([widths + widths_after, np.zeros(len(t_s))], axis=1).ravel()
        self._edges = edges
        self._sums = np.stack(
            [
                np.concatenate([[0.0], np.cumsum(weights * value)])[:-1]
                for value in (
                    1.0,
                    np.repeat(power_w, 2),
                    np.repeat(power_w**2, 2),
                )
            ]
        )
        self._ends = ends
        self.readings = len(t_s)
        self.middle_s = float(t_s[0] + t_s[-1]) / 2
        seconds, first, second = self._sums[:, -1]
        self._whole = self._sums[:, -1]
        self.total = float(second - first**2 / seconds)

    def badnesses(self, offsets_s: np.ndarray, lead_s: float, drift: float = 0.0) -> np.ndarray:
        """Sums of squares, W^2 s, if each of these is added to the meter's times."""
        ends = self._ends.copy()
        ends[:, 0] -= lead_s
        ends[1:, 0] = np.maximum(ends[1:, 0], self._ends[:-1, 1])
        ends -= drift * (ends - self.middle_s)
        return np.array([self._badness(ends - offset) for offset in offsets_s])

    def _badness(self, at: np.ndarray) -> float:
        inside = self._between(at[:, 0], at[:, 1])
        outside = self._whole - inside.sum(axis=1)
        return float(_around(inside).sum() + _around(outside[:, None]).sum())

    def _between(self, start_s: np.ndarray, end_s: np.ndarray) -> np.ndarray:
        return np.array(
            [np.interp(end_s, self._edges, sums) - np.interp(start_s, self._edges, sums)
             for sums in self._sums]
        )  # fmt: skip


def _around(sums: np.ndarray) -> np.ndarray:
    """Sum of squares around the mean, of seconds, their sum and their sum of squares."""
    seconds, first, second = sums
    mean = np.divide(first, seconds, out=np.zeros_like(first), where=seconds > 1e-9)
    return np.maximum(second - mean * first, 0.0)
