"""Records of the workload window: time stamps that the server took at its start and end."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.records import ProblemList, ReadContext, Reading, Window, window_fault

_SHORTEST_RUN_S: Final = 3
_LONGEST_RUN_S: Final = 40
_LEAST_TSC: Final = 1 << 32
_WIDTHS: Final = (2, 3, 4)
_INTEGER: Final = re.compile("-[0-9]{1,18}|[0-9]{1,19}")

Row = tuple[int, ...]


def sniff(name: str, head: bytes) -> bool:
    """Return whether lines hold two, three or four integers of which the last two are time stamps.

    If the numbers are too small for time stamps, the name decides.
    """
    lines = head.decode("latin-1").split("\n")
    rows = [row for row in map(_integers, lines[:-1] if len(lines) > 1 else lines) if row != ()]
    good = [row for row in rows if row and len(row) in _WIDTHS]
    if not good or 2 * len(good) <= len(rows):
        return False
    return "rdtsc" in name or any(max(row[-2:]) >= _LEAST_TSC for row in good)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Find the window by the rule for the record's number of columns.

    Args:
        context: Ticks per second, which records of three columns need.

    Returns:
        A Reading with the window; if no window is usable, a `no_window` problem says why.

    Raises:
        FormatError: No line of two, three or four integers.
    """
    problems = ProblemList()
    rows = _read_rows(blocks, problems, context.name)
    match len(next(iter(rows.values()))):
        case 4:
            window, why = _connections_window(list(rows.values()), problems)
        case 3:
            window, why = _threads_window(list(rows.values()), context.tsc_hz)
        case _:
            window, why = _single_window(list(rows.values()), problems)
    if window is None:
        problems.add("no_window", "doubted", why)
    elif why := window_fault(window.start_tsc, window.end_tsc, context.tsc_hz):
        line = next(number for number, row in rows.items() if row[-1] == window.end_tsc)
        problems.add("window_range", "refused", why, line)
        window = None
    return Reading(window=window, problems=problems.all())


def _integers(line: str) -> Row | None:
    """Return a line's integers: () if it is blank, None if it holds anything else."""
    fields = line.split()
    return tuple(map(int, fields)) if all(map(_INTEGER.fullmatch, fields)) else None


def _read_rows(blocks: Iterable[bytes], problems: ProblemList, name: str) -> dict[int, Row]:
    """Return the rows of the most common width by line number."""
    lines = [(number, line) for number, line in enumerate(iterate_lines(blocks), 1) if line.strip()]
    parsed = [(number, line, _integers(line)) for number, line in lines]
    widths = Counter(len(row) for _, _, row in parsed if row and len(row) in _WIDTHS)
    if not widths:
        raise FormatError(f"no line of 2, 3 or 4 integers among {len(lines)} ({name})")
    width = widths.most_common(1)[0][0]
    rows = {}
    for number, line, row in parsed:
        if row is None:
            detail = f"{line[:60]!r} is not a list of whole numbers; line dropped"
            problems.add("not_digits", "refused", detail, number)
        elif len(row) != width:
            detail = f"{len(row)} fields, expected {width}; line dropped"
            problems.add("field_count", "refused", detail, number)
        else:
            rows[number] = row
    return rows


def _connections_window(rows: list[Row], problems: ProblemList) -> tuple[Window | None, str]:
    """Find the window of one line per connection: from the latest start to the latest end."""
    starts = [start for _, _, start, _ in rows if start > 0]
    ends = [end for _, _, _, end in rows if end > 0]
    if not ends:
        return None, f"the end is 0 in all {len(rows)} lines"
    if not starts:
        return None, f"no start in any of {len(rows)} lines"
    if len(ends) < len(rows):
        missing = len(rows) - len(ends)
        detail = f"{missing} of {len(rows)} connections have no end; the others' latest end is used"
        problems.add("missing_end", "doubted", detail)
    return _checked(max(starts), max(ends))


def _threads_window(rows: list[Row], tsc_hz: float) -> tuple[Window | None, str]:
    """Find the window in lines of one thread or trial each: the first of a plausible length."""
    for _, start, end in rows:
        if start >= 0 and end > 0:
            seconds = (end - start) / tsc_hz
            if _SHORTEST_RUN_S < seconds < _LONGEST_RUN_S:
                return Window(start, end), ""
    lengths = f"over {_SHORTEST_RUN_S} s and under {_LONGEST_RUN_S} s"
    return None, f"none of {len(rows)} lines has a start, an end, and a length {lengths}"


def _single_window(rows: list[Row], problems: ProblemList) -> tuple[Window | None, str]:
    if len(rows) > 1:
        problems.add("several_windows", "doubted", f"{len(rows)} windows; the first is used")
    start, end = rows[0]
    if start < 0 or end <= 0:
        return None, f"start {start} and end {end} are not a valid window"
    return _checked(start, end)


def _checked(start: int, end: int) -> tuple[Window | None, str]:
    if end <= start:
        return None, f"the end {end} is not after the start {start}"
    return Window(start, end), ""
