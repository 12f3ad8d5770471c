"""Dates and times of a HOBOware table: three date orders, and clock changes of an hour."""

import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import Final, get_args

import numpy as np

from ingest.records import ProblemList
from ingest.settings.power import DateOrder

# Three fields of the date in the order of the text, and seconds of the day.
MeterTime = tuple[int, int, int, float]

_WRITTEN: Final = re.compile(
    r"\s*(\d{1,4})[/.\-](\d{1,2})[/.\-](\d{1,4})[ T,]+"
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(?:([AaPp])\.?\s?[Mm]\.?)?\s*"
)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_FIRST_DAY: Final = date(2010, 1, 1).toordinal() - _EPOCH_DAY
_HOUR_S: Final = 3600.0
_DAY_S: Final = 86400.0
# Summer time starts at 01:00, 02:00 or 03:00.
_FORWARD_BEFORE_S: Final = 4 * _HOUR_S
_LEAST_SLACK_S: Final = 2.0


def parse_time(text: str) -> MeterTime | None:
    """Split a date and time into fields, day and month still undecided; None if it is neither."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = int(match[4]), int(match[5]), int(match[6] or 0)
    if match[8]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[8] in "Pp" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = float(f"0.{match[7]}") if match[7] else 0.0
    seconds = 3600 * hour + 60 * minute + second + fraction
    return int(match[1]), int(match[2]), int(match[3]), seconds


class Clock:
    """The times of a file's readings, corrected so that they increase.

    Attributes:
        local_s: Seconds from 1970-01-01 00:00 of the meter's local time, shape (k,).
        kept_rows: Indices of the readings that have these times, shape (k,).
    """

    def __init__(
        self,
        times: Sequence[MeterTime],
        lines: Sequence[int],
        order: str | None,
        problems: ProblemList,
    ) -> None:
        """Decide the order of day and month, then correct changes of the clock.

        Args:
            times: Times of all readings, in the order of the file.
            lines: Line number of each.
            order: `mdy`, `dmy` or `ymd` if it is known.
            problems: Receives what is wrong.
        """
        self._problems = problems
        self._lines = lines
        self._order = order or self._find_order(times)
        seconds = np.array([self.read(at) for at in times])
        for place in np.flatnonzero(np.isnan(seconds)).tolist():
            date_text = f"{times[place][:3]} is not a valid date in the order {self._order}"
            problems.add("bad_time", "refused", f"{date_text}; line dropped", lines[place])
        dated = np.flatnonzero(~np.isnan(seconds))
        self.local_s, kept = self._follow(seconds[dated], dated)
        self.kept_rows = kept

    def read(self, at: MeterTime) -> float:
        """Convert a time to seconds from 1970 of local time; NaN for a date that does not exist."""
        day = _day(at, self._order)
        return float("nan") if day is None else day * _DAY_S + at[3]

    def _find_order(self, times: Sequence[MeterTime]) -> str:
        """Return the date order: by years of four digits in front, else the only order in which
        all dates exist, else the order with the smallest span of days.

        A two-digit year may also come first, but only if that fits better than both other orders.
        """
        days = {at[:3] for at in times}
        if any(first > 31 for first, _, _ in days):
            return "ymd"
        fits = {order: _misfit(days, order) for order in get_args(DateOrder)}
        best: str = min(fits, key=lambda order: fits[order])
        is_symmetric = all(first == second for first, second, _ in days)
        if days and best != "ymd" and fits["mdy"] == fits["dmy"] and not is_symmetric:
            first, second, year = next(at[:3] for at in times)
            detail = (
                f"{first}/{second}/{year} may be month or day first; month first is used "
                "(the setting power.date_order overrides this)"
            )
            self._problems.add("ambiguous_date", "doubted", detail, self._lines[0])
        return best

    def _follow(self, seconds: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keep times that increase; remove changes of the clock by an hour."""
        steps = np.diff(seconds)
        usual_s = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
        rising_s: list[float] = []
        rising_at: list[int] = []
        shift_s, last_s = 0.0, -np.inf
        for at, following, index in zip(
            seconds.tolist(),
            np.append(seconds[1:], np.inf)[: len(seconds)],
            places.tolist(),
            strict=True,
        ):
            line = self._lines[index]
            shift_s += self._change_of(at + shift_s, last_s, usual_s, line)
            now_s = at + shift_s
            if now_s <= last_s:
                self._refuse(now_s, last_s, line)
            elif last_s < following + shift_s <= now_s - usual_s and rising_s:
                detail = f"{now_s - last_s:.0f} s ahead of the lines around it; line dropped"
                self._problems.add("time_leap", "refused", detail, line)
            else:
                rising_s.append(now_s)
                rising_at.append(index)
                last_s = now_s
        return np.array(rising_s), np.array(rising_at, np.int64)

    def _change_of(self, now_s: float, last_s: float, usual_s: float, line: int) -> float:
        """Return the seconds to add from a reading on; not zero if the clock changed by an hour."""
        slack_s = max(_LEAST_SLACK_S, 1.5 * usual_s)
        step_s = now_s - last_s - usual_s
        if abs(step_s + _HOUR_S) <= slack_s:
            detail = "the clock goes back by an hour; the change is removed"
            self._problems.add("clock_set_back", "repaired", detail, line)
            return _HOUR_S
        is_early = last_s % _DAY_S < _FORWARD_BEFORE_S
        if abs(step_s - _HOUR_S) <= slack_s and is_early and usual_s < _HOUR_S / 4:
            detail = "the clock goes forward by an hour, as for summer; the change is removed"
            self._problems.add("clock_set_forward", "doubted", detail, line)
            return -_HOUR_S
        return 0.0

    def _refuse(self, now_s: float, last_s: float, line: int) -> None:
        if now_s == last_s:
            detail = "the same time as the previous reading; line dropped"
            self._problems.add("duplicate_time", "repaired", detail, line)
        else:
            detail = f"{last_s - now_s:.0f} s before the previous reading; line dropped"
            self._problems.add("time_backwards", "refused", detail, line)


def _misfit(days: Collection[tuple[int, int, int]], order: str) -> tuple[int, int]:
    """Return how badly dates fit an order: number of invalid ones, span of the others in days.

    A date before the loggers' first year of sale is invalid.
    """
    numbers = [_day((*day, 0.0), order) for day in days]
    known = [number for number in numbers if number is not None and number >= _FIRST_DAY]
    return len(numbers) - len(known), max(known) - min(known) if known else 0


def _day(at: MeterTime, order: str) -> int | None:
    """Return days since 1970-01-01; None if the date does not exist."""
    first, second, third, _ = at
    year, month, day = {
        "mdy": (third, first, second),
        "dmy": (third, second, first),
        "ymd": (first, second, third),
    }[order]
    try:
        return date(year + 2000 if year < 100 else year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
