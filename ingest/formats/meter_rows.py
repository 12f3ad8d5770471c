"""Readings of a power meter, row by row: what is no reading becomes a problem.

Numbers have a decimal point or a comma, and thousands that are grouped or not.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.formats.hoboware_clock import Clock, MeterTime
from ingest.records import ProblemList

_SERIES: Final = ("power_w", "voltage_v", "current_a", "energy_j")
_POINT, _COMMA = ".", ","
_GROUPED: Final = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in (".", ",")
}
# Spaces, no-break spaces and apostrophes group thousands; they are never a decimal mark.
_BLANKS: Final = re.compile("(?<=\\d)[ \u00a0\u202f'\u2019](?=\\d{3}(?!\\d))")


class MeterRows:
    """Collects the readings of one table.

    Attributes:
        decimal_mark: Of numbers that are texts.
    """

    def __init__(self, columns: Mapping[str, tuple[int, float]], problems: ProblemList) -> None:
        """Begin without a reading.

        Args:
            columns: Place in a row, and factor to the unit, of `power_w` and other fields of
                `MeterReadings`; others are ignored.
        """
        self.decimal_mark = "."
        self._columns = {name: columns[name] for name in _SERIES if name in columns}
        self._power = columns["power_w"][0]
        self._problems = problems
        self._times: list[MeterTime] = []
        self._lines: list[int] = []
        self._values: dict[str, list[float]] = {name: [] for name in self._columns}

    def has_power(self, cells: Sequence[str | float | None]) -> bool:
        """Return whether a row's power is set."""
        cell = cells[self._power]
        return cell is not None and (not isinstance(cell, str) or cell.strip() != "")

    def refuse_time(self, text: str, line: int) -> None:
        """Note a row whose time cannot be read."""
        detail = f"{text[:40]!r} is not a date and time; line dropped"
        self._problems.add("bad_time", "refused", detail, line)

    def add(self, cells: Sequence[str | float | None], at: MeterTime, line: int) -> None:
        """Take a row that has a time and a power."""
        values = {
            name: self._number(cells[place]) * factor
            for name, (place, factor) in self._columns.items()
        }
        if wrong := [name for name, value in values.items() if math.isinf(value)]:
            cell = str(cells[self._columns[wrong[0]][0]])
            detail = f"{wrong[0]} {cell[:40]!r} is not a number; line dropped"
            self._problems.add("not_a_number", "refused", detail, line)
        elif values["power_w"] < 0:
            detail = f"{values['power_w']:g} W; line dropped"
            self._problems.add("negative_power", "refused", detail, line)
        else:
            self._times.append(at)
            self._lines.append(line)
            for name, value in values.items():
                self._values[name].append(value)

    def _number(self, cell: str | float | None) -> float:
        if isinstance(cell, int | float):
            return float(cell)
        return parse_number(cell or "", self.decimal_mark)

    def series(self, date_order: str | None, name: str) -> tuple[Clock, dict[str, np.ndarray]]:
        """Return the clock, and what was measured at the times that it keeps.

        Args:
            date_order: As `Clock` takes it.
            name: The file's name, for the error.

        Raises:
            FormatError: There is no good reading.
        """
        clock = Clock(self._times, self._lines, date_order, self._problems)
        if not clock.kept_rows.size:
            raise FormatError(f"no good reading ({name})")
        return clock, {
            name: np.array(values)[clock.kept_rows] for name, values in self._values.items()
        }


def find_decimal_mark(cells: Iterable[str], delimiter: str) -> str:
    """Return the decimal mark that all numbers of a table use.

    The first unambiguous cell decides: in `38,5` the comma is decimal, since a group of thousands
    has three digits; in `1.234,5` the last mark is. If all cells are ambiguous (`1,234`), the mark
    is the comma where the delimiter is another character and some cell has a comma, else the point.
    """
    has_comma = False
    for cell in cells:
        text = cell.strip()
        last = max((_POINT, _COMMA), key=text.rfind)
        if text.rfind(last) < 0:
            continue
        has_comma = has_comma or _COMMA in text
        if (_POINT in text and _COMMA in text) or not _GROUPED[last].fullmatch(text):
            return last
    return _COMMA if has_comma and delimiter != _COMMA else _POINT


def parse_number(cell: str, mark: str) -> float:
    """Parse the number in a cell; NaN if it is empty, infinite if it holds no finite number."""
    try:
        value = float(_ungrouped(cell, mark))
    except ValueError:
        return math.inf if cell.strip() else math.nan
    return value if math.isfinite(value) else math.inf


def _ungrouped(cell: str, mark: str) -> str:
    """Return a number without its thousands separators.

    Raises:
        ValueError: A separator is not followed by groups of three digits.
    """
    whole, point, decimals = _BLANKS.sub("", cell.strip()).partition(mark)
    other = _COMMA if mark == _POINT else _POINT
    if other in whole:
        if not _GROUPED[other].fullmatch(whole):
            raise ValueError("badly grouped thousands")
        whole = whole.replace(other, "")
    return whole + (point and _POINT) + decimals
