"""Lines of a log that mark where runs began and ended, with the time: `START threads=4 2026-...`.

They stand around outputs of tools, or alone beside a trace of power.
"""

import re
from typing import Final, NamedTuple

from ingest.formats.trace_times import is_local, unix_of_number, unix_seconds
from ingest.records import UtcWindow

_BEGINS: Final = r"start(?:ed|ing)?|begin(?:s|ning)?|began"
_ENDS: Final = r"end(?:ed|ing)?|stop(?:ped)?|finish(?:ed)?|done|complete[d]?"
_WORD: Final = re.compile(
    rf"(?i)\b(?:(?P<begin>{_BEGINS})|(?P<end>{_ENDS}))(?:[ _]?(?:time|at))?\b"
)
_CLOCK: Final = r"\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?"
_TIME: Final = re.compile(
    rf"\d{{4}}[-/]\d\d[-/]\d\d[T _]{_CLOCK}(?:Z|\s?[-+]\d\d:?\d\d| UTC| GMT)?"
    rf"|[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} +\d\d? {_CLOCK}(?: [AP]M)?(?: [A-Z]{{3,4}})? \d{{4}}"
    r"|(?<![\d.])1\d{9}(?:\d{9}|\d{6}|\d{3})?(?:\.\d+)?(?![\d.])"
)
# A longer line is of a log that tells of other things.
_LONGEST: Final = 200


class Mark(NamedTuple):
    """A begin or an end of a run.

    Attributes:
        rest: The line without the time and its word: what was set.
    """

    is_begin: bool
    unix_s: float
    is_local: bool
    rest: str


def mark_in(line: str) -> Mark | None:
    """Return what a line marks; None for other lines."""
    if len(line) > _LONGEST or not any(map(str.isdigit, line)):
        return None
    times = [*_TIME.finditer(line)]
    if len(times) != 1:
        return None
    time = times[0]
    others = f"{line[: time.start()]} {line[time.end() :]}"
    words = [*_WORD.finditer(others)]
    if len(words) != 1:
        return None
    text = time[0]
    number = re.fullmatch(r"[\d.]+", text)
    unix_s = unix_of_number(float(text)) if number else unix_seconds(re.sub(r"(?<=\d)_", " ", text))
    if not unix_s > 0:
        return None
    rest = others[: words[0].start()] + others[words[0].end() :]
    rest = re.sub(r"\[[^\w]*\]|\([^\w]*\)", " ", rest).strip(" \t\r-=#*:>|,;@.")
    return Mark(words[0]["begin"] is not None, unix_s, is_local(text), rest)


def window_of(begin: Mark, end: Mark) -> UtcWindow | None:
    """Return the time between two marks of one clock; None if there is none."""
    is_one = begin.is_local == end.is_local and begin.unix_s < end.unix_s
    return UtcWindow(begin.unix_s, end.unix_s, is_local=begin.is_local) if is_one else None
