"""Numbers of HOBOware exports: decimal point or comma, thousands grouped or not."""

import math
import re
from collections.abc import Iterable
from typing import Final

_POINT, _COMMA = ".", ","
_GROUPED: Final = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in (".", ",")
}
# Spaces, no-break spaces and apostrophes group thousands; they are never a decimal mark.
_BLANKS: Final = re.compile("(?<=\\d)[ \u00a0\u202f'\u2019](?=\\d{3}(?!\\d))")


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
