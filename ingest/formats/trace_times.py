"""The times of a trace: numbers since a start or since 1970, or dates and times of day."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np

from ingest.formats.trace_cells import number_text

_ISO: Final = "ISO 8601"
_FORMATS: Final = (
    _ISO, "%Y-%m-%d %H:%M:%S",
    "%m-%d-%Y %H:%M:%S", "%d-%m-%Y %H:%M:%S", "%m-%d-%y %H:%M:%S", "%d-%m-%y %H:%M:%S",
    "%Y-%m-%d_%H:%M:%S", "%Y-%m-%d_%H-%M-%S", "%Y%m%d %H:%M:%S", "%Y-%m-%d %H-%M-%S",
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Y %z", "%a %b %d %I:%M:%S %p %Y",
    "%a %d %b %Y %H:%M:%S", "%a %d %b %Y %I:%M:%S %p", "%a %d %b %H:%M:%S %Y",
    "%d %b %Y %H:%M:%S", "%b %d %Y %H:%M:%S", "%b %d %H:%M:%S",
)  # fmt: skip
_FRACTION: Final = re.compile(r"(:\d\d?:\d\d?)[.,:](\d{1,9})(?!\d)")
# Ada writes a blank before numbers, and ms without zeros: `19: 17: 7. 99` is 19:17:07.099.
_BLANKS: Final = re.compile(r"([-:]) +(?=\d)")
# Times with the name of a zone are taken as UTC.
_ZONE: Final = re.compile(r"(?<=[\dM]) (?!AM|PM)[A-Z]{3,4}(?=$| \d{4}$)")
_BLANK_MS: Final = re.compile(r"\. (\d{1,3})(?!\d)")
_OF_DAY: Final = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?")
_DAY_S: Final = 86_400.0
_OFFSET: Final = re.compile(r"(?:\dZ|\b(?:UTC|GMT)\b.*|:\d\d(?:\.\d+)? ?[-+]\d\d:?\d\d)$")
_COUNTED: Final = re.compile(r"\d{10,19}(?:[.,]\d+)?(?:[eE]\+?\d+)?|\d(?:\.\d+)?[eE]\+?\d+")
# Least of a number of ns, us, ms, s since 1970 that is a date: 1973; of s 2001, since clocks that
# start with the machine count ms.
_EPOCHS: Final = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3), (1e9, 1.0))


def read_times(
    texts: Sequence[str], scale: float, has_unit: bool
) -> tuple[np.ndarray, float | None] | None:
    """Return the times of samples.

    Args:
        texts: Cells of the column, or of the columns of date and time joined by a blank.
        scale: Seconds a unit, if the heading `has_unit`.

    Returns:
        Seconds since the first sample, float64, shape (n,), NaN where a cell is no time; and the
        Unix time of the first, None if there is no date. Times without an offset are taken as UTC.
        None for a column that has no times.
    """
    try:
        numbers = np.array([float(number_text(text)) for text in texts])
    except ValueError:
        return None
    if np.isfinite(numbers).mean() > 0.5:
        first = numbers[np.isfinite(numbers)][0]
        for least, seconds in _EPOCHS:
            # A clock since the start of the machine counts smaller units than a date would.
            is_other = has_unit and (scale < seconds or (scale != seconds and least < 1e9))
            if first >= least and not is_other:
                return (numbers - first) * seconds, float(first * seconds)
        return (numbers - first) * scale, None
    of_day = [_OF_DAY.fullmatch(text) for text in texts]
    if of_day[0] is not None:
        seconds_of_day = np.array([_seconds_of(match) for match in of_day])
        known_at = np.flatnonzero(~np.isnan(seconds_of_day))
        # Each midnight adds a day.
        midnights = np.cumsum(np.diff(seconds_of_day[known_at]) < -_DAY_S / 2)
        seconds_of_day[known_at[1:]] += midnights * _DAY_S
        return seconds_of_day - seconds_of_day[known_at[0]], None
    form = next((f for f in _FORMATS if not np.isnan(_unix_seconds(texts[0], f))), None)
    if form is None:
        return None
    moments = np.array([_unix_seconds(text, form) for text in texts])
    known = moments[~np.isnan(moments)]
    return moments - known[0], float(known[0])


def _seconds_of(match: re.Match[str] | None) -> float:
    if match is None:
        return np.nan
    hours, minutes, seconds, fraction = match.groups()
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + float(f"0.{fraction or 0}")


def _unix_seconds(text: str, form: str) -> float:
    """Return the Unix time of a text in a form of `strptime`, or ISO 8601; NaN for others."""
    bare = _BLANK_MS.sub(lambda ms: f".{ms[1]:0>3}", _BLANKS.sub(r"\1", text.strip()))
    bare = _ZONE.sub("", bare.replace("/", "-"))
    try:
        if form == _ISO:
            return _unix(datetime.fromisoformat(bare.replace(",", ".")))
        fraction = _FRACTION.search(bare)
        moment = _unix(datetime.strptime(_FRACTION.sub(r"\1", bare), form))
        return moment + (float(f"0.{fraction[2]}") if fraction else 0.0)
    except ValueError:
        return np.nan


def is_local(text: str) -> bool:
    """Return whether a time has neither an offset from UTC nor is a number since 1970."""
    return not (_OFFSET.search(text.strip()) or _COUNTED.fullmatch(text.strip()))


def unix_seconds(text: str) -> float:
    """Return the Unix time of a text in any of the known forms; NaN for others."""
    times = (_unix_seconds(text, form) for form in _FORMATS)
    return next((time for time in times if not np.isnan(time)), np.nan)


def unix_of_number(number: float) -> float:
    """Return the Unix time of a number of s, ms, us or ns since 1970; NaN for smaller numbers."""
    return next((number * seconds for least, seconds in _EPOCHS if number >= least), np.nan)


def _unix(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
