"""The cells of a trace: numbers with a comma or without, units behind them, and nothing."""

import re
from typing import Final

_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
# A number with a comma or without, and a unit.
WRITTEN: Final = re.compile(
    r"([-+]?(?:\d+(?:[.,]\d+)*\.?|\.\d+)(?:[eE][-+]?\d+)?)(\s*[A-Za-z%°µμ/]{0,6})"
)
# A number whose point is no mark of thousands.
POINT: Final = re.compile(r"[-+]?\d+\.(?!\d{3}$)\d+")
# A cell such as `45.32 W`, `10 %` or `1410 MHz`.
_WITH_UNIT: Final = re.compile(rf"({_NUMBER.pattern})\s*([A-Za-z%°µμ/]{{1,6}})")
_NOTHING: Final = re.compile(r"\[?(?:n/?a|nan|not supported|unknown error|-+|)\]?", re.IGNORECASE)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, a number with a unit, or not there."""
    return is_value(cell) or bool(_NOTHING.fullmatch(cell))


def unit_of(cell: str) -> str:
    """Return the unit in a cell; empty for none."""
    found = _WITH_UNIT.fullmatch(cell)
    return found[2] if found else ""


def number_text(cell: str) -> str:
    """Return a cell's number without its unit; `nan` for a cell without one."""
    if _NUMBER.fullmatch(cell):
        return cell
    found = _WITH_UNIT.fullmatch(cell)
    return found[1] if found else "nan"


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, with a comma or without, and with a unit or without."""
    if "," in cell and WRITTEN.fullmatch(cell):
        cell = cell.replace(",", "")
    return bool(_NUMBER.fullmatch(cell) or _WITH_UNIT.fullmatch(cell))
