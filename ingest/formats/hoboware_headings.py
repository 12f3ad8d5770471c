"""English headings of a HOBOware table: columns found by quantity and unit.

A table with other words is declared in `[[meters]]`; `Headings.unknown` names its headings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

# `RMS Voltage, V (LGR S/N: 1)` or, exported without commas, `RMS Voltage (V) (LGR S/N: 1)`.
_TITLE: Final = re.compile(r"\s*(?P<quantity>[^,(]+?)\s*[,(]\s*(?P<unit>[A-Za-z%]+)\b(?!\s*/)")
_STATISTIC: Final = re.compile(r"\s*(max|min|std|stdev|std dev)\b", re.IGNORECASE)
_DATE_TIME: Final = re.compile(r"\s*date\b", re.IGNORECASE)
_TIME: Final = re.compile(r"\s*time\b", re.IGNORECASE)
_OFFSET: Final = re.compile(r"(?:GMT|UTC)\s*(?:([+\-\u2212])\s*(\d{1,2}):?(\d{2})?)?")
_SERIAL: Final = re.compile(r"LGR S/N:\s*([\w-]+)", re.IGNORECASE)
_UNKNOWN: Final = "unknown"
_EVENT_MARK: Final = "logged"
_EVENT_STARTS: Final = ("l", "L", " ")


@dataclass(frozen=True, slots=True)
class _Quantity:
    """How to recognise a quantity by its unit and a word in its title.

    Attributes:
        units: Unit to its factor to the unit of the column name.
        word: The title must hold it.
        unwanted: Words of other quantities in the same unit; the title must hold none.
    """

    units: dict[str, float]
    word: str
    unwanted: tuple[str, ...] = ()


_OTHER_POWER: Final = ("apparent", "reactive", "factor")
_QUANTITIES: Final[dict[str, _Quantity]] = {
    "power_w": _Quantity({"W": 1.0, "kW": 1e3, "mW": 1e-3}, "power", _OTHER_POWER),
    "voltage_v": _Quantity({"V": 1.0, "mV": 1e-3}, "voltage", ("batt",)),
    "current_a": _Quantity({"A": 1.0, "mA": 1e-3}, "current"),
    "energy_j": _Quantity({"Wh": 3.6e3, "kWh": 3.6e6, "J": 1.0}, "energy", _OTHER_POWER),
}


@dataclass(frozen=True, slots=True)
class Column:
    """Index of a quantity's column, and the factor from its unit to ours."""

    index: int
    factor: float


@dataclass(slots=True)
class Headings:
    """The parsed headings of a table.

    Attributes:
        when: Indices of the date and time columns; one index if one column holds both.
        columns: Columns by field name of `MeterReadings`.
        others: Columns that may mark an event: index to name.
        several: Quantities with more than one column.
        unknown: Headings with the unit of a quantity but not its English name.
        utc_offset_s: As in `MeterReadings`.
    """

    when: tuple[int, ...]
    columns: dict[str, Column] = field(default_factory=dict)
    others: dict[int, str] = field(default_factory=dict)
    several: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    utc_offset_s: float | None = None
    serial: str = ""

    @property
    def width(self) -> int:
        """Minimum number of fields in a row."""
        return 1 + max((*self.when, *(column.index for column in self.columns.values())))

    def events_in(self, row: Sequence[str]) -> list[str]:
        """Return the names of the events that a row marks."""
        return [
            name
            for index, name in self.others.items()
            if index < len(row)
            and row[index][:1] in _EVENT_STARTS
            and row[index].strip().lower() == _EVENT_MARK
        ]


def find_headings(row: Sequence[str]) -> Headings | None:
    """Parse a row as headings; None without a date or a quantity in an electrical unit."""
    named = (i for i, cell in enumerate(row) if _DATE_TIME.match(cell))
    # Only the title of the dates holds a UTC offset.
    offsets = ((i, _OFFSET.search(cell)) for i, cell in enumerate(row))
    date = next(named, next((i for i, offset in offsets if offset and offset[1]), None))
    if date is None:
        return None
    own_time = [i for i, cell in enumerate(row) if i != date and _TIME.match(cell)]
    headings = Headings((date, *own_time[:1]))
    for index, cell in enumerate(row):
        if index in headings.when:
            continue
        name, factor = _quantity(cell)
        if name == _UNKNOWN:
            headings.unknown.append(cell.strip())
        elif not name:
            headings.others[index] = re.split(r"\s*[,(]", cell.strip())[0]
        elif name in headings.columns:
            headings.several.append(name)
        else:
            headings.columns[name] = Column(index, factor)
    headings.utc_offset_s = _utc_offset_s(" ".join(row[index] for index in headings.when))
    headings.serial = next((s[1] for cell in row if (s := _SERIAL.search(cell))), "")
    return headings if headings.columns or headings.unknown else None


def _quantity(title: str) -> tuple[str, float]:
    """Return a title's quantity and factor; empty if it has none, `_UNKNOWN` if only its unit."""
    parts = _TITLE.match(title)
    if parts is None or _STATISTIC.match(title):
        return "", 0.0
    title, unit = parts["quantity"].lower(), parts["unit"]
    for name, quantity in _QUANTITIES.items():
        if unit in quantity.units and not any(word in title for word in quantity.unwanted):
            is_named = quantity.word in title
            if is_named:
                return name, quantity.units[unit]
            return _UNKNOWN if name == "power_w" else "", 0.0
    return "", 0.0


def _utc_offset_s(title: str) -> float | None:
    match = _OFFSET.search(title)
    if match is None:
        return None
    if match[1] is None:
        return 0.0
    seconds = 3600.0 * int(match[2]) + 60.0 * int(match[3] or 0)
    return seconds if match[1] == "+" else -seconds
