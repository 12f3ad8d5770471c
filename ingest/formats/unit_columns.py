"""Units that a column beside the numbers says: `energy_unit`, `energy: {"unit": "kWh", ...}`."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.table_rows import Table
from ingest.formats.written_numbers import is_number, is_unset, written_numbers
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import quantity_of, read_heading
from ingest.settings.units import unit_of

_STEM: Final = re.compile(r"(.*?)([._\s-]*)units?", re.IGNORECASE)
_UNIT: Final = re.compile(r"[A-Za-z%°µμ][\w%°µμ/^*·-]{0,15}")
# What of a quantity is in its unit; the number of its values is not.
_OF_VALUES: Final = WORDS["statistics"] | WORDS["plain"] | {"value", "values", "score"}

# Of how far values were apart, in their unit.
_ERRORS: Final = WORDS["spreads"] | {"error", "err", "uncertainty", "deviation"}


_Column = tuple[str, list[Cell]]


def with_units_beside(table: Table, declared: Collection[str] = ()) -> Table:
    """Return a table whose headings have the units that columns of units say: `total (kWh)`.

    Cells in several units of one quantity are in the first one; those of several quantities have a
    column each. So do tables of one heading whose units differ.

    Args:
        declared: Headings that a person declared, which stay as they are.
    """
    of_units = {
        heading: [str(cell or "").strip() for cell in table.column(at)]
        for at, heading in enumerate(table.headings)
        if words_of(heading)[-1:] in (("unit",), ("units",))
    }
    stated: dict[str, list[str]] = {}
    # Of `energy_unit` and `energy_total_unit` the longer one says that of a total.
    for heading in sorted(of_units, key=len):
        known = {*filter(None, of_units[heading])}
        if known and all(map(_UNIT.fullmatch, known)):
            found = _headings_of(heading, table, known)
            stated |= dict.fromkeys(found, of_units[heading])
    columns: list[_Column] = []
    for at, heading in enumerate(table.headings if stated else ()):
        cells = [*table.column(at)]
        is_stated = heading in stated and heading not in {*declared, *table.units}
        columns += _in_units(heading, cells, stated[heading]) if is_stated else [(heading, cells)]
    headings = [heading for heading, _ in columns]
    if headings in ([], table.headings) or len({*headings}) < len(headings):
        return table
    rows = zip(*(cells for _, cells in columns), strict=True)
    return table.of_same_place(headings, zip((line for line, _ in table.rows), rows, strict=True))


def names_units(heading: str, cells: Sequence[Cell]) -> bool:
    """Return whether a column has the unit of a number beside it: `kJ`, `Latency (In minutes)`."""
    is_named = not {"unit", "units"}.isdisjoint(words_of(heading))
    return is_named and all(read_heading(str(cell or "")).unit is not None for cell in {*cells})


def in_unit(heading: str, unit: str) -> str:
    """Return the heading of numbers in a unit, which may say of what it is: `Latency (ms)`."""
    return f"{heading} ({unit})" if unit_of(unit, in_brackets=True) else unit


def _headings_of(of_units: str, table: Table, units: Collection[str]) -> Iterator[str]:
    """Yield the headings whose numbers are in the units of a column.

    They are of the same object and have its words, and beside these either those of a statistic or
    the quantity of the units. A column `unit` is of the one before it, and if that is an
    error, of the one before that.
    """
    match = _STEM.fullmatch(of_units)
    stem, mark = match.groups() if match else ("", "")
    place = f"{stem}." if mark == "." else of_units[: of_units.rfind(".") + 1]
    words = {*words_of(stem)}
    quantities = {unit.quantity for each in units if (unit := unit_of(each))}
    if not words:
        before = table.headings[: table.headings.index(of_units)] if len(units) == 1 else []
        for heading in reversed(before):
            read = read_heading(heading)
            if read.unit is None or read.unit.quantity == "percent":
                yield heading
            if not read.has(*_ERRORS):
                return
        return
    for heading in table.headings:
        read = read_heading(heading)
        rest = {*read.words} - words
        is_of = heading.startswith(place) and words <= {*read.words} and read.unit is None
        if is_of and (rest <= _OF_VALUES or quantities == {quantity_of(read)} != {""}):
            yield heading


def _in_units(heading: str, cells: list[Cell], units: Sequence[str]) -> list[_Column]:
    """Return a column with its unit, or one for each of several quantities."""
    is_set = [cell is not None and not is_unset(str(cell)) for cell in cells]
    said = dict.fromkeys(compress(units, is_set))
    if not said or "" in said or not all(is_number(str(cell)) for cell in compress(cells, is_set)):
        return [(heading, cells)]
    pairs = zip(cells, units, is_set, strict=True)
    written = [f"{cell} {unit}" if is_filled else None for cell, unit, is_filled in pairs]
    plain = written_numbers(written, True) if len(said) > 1 else None
    if plain is not None:
        return [(f"{heading} ({plain[1]})", [*plain[0]])]
    return [
        (
            f"{heading} ({unit})",
            [cell if own == unit else None for cell, own in zip(cells, units, strict=True)],
        )
        for unit in said
    ]
