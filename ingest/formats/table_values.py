"""The cells of a table as values of the lake."""

import math
from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np

from data.errors import FormatError
from data.schema import COUNTERS
from ingest.declarations import TableColumn
from ingest.formats.json_cells import Cell
from ingest.formats.table_columns import Target
from ingest.formats.written_numbers import MOST_WHOLE, WHOLE, is_number, is_unset
from ingest.records import ProblemList
from ingest.settings.tables import CORE

# Whole numbers of so many digits are below `MOST_WHOLE`.
_SURE_DIGITS: Final = 18


def plain_column(cells: Sequence[Cell], target: Target) -> Sequence[Cell] | None:
    """Convert a whole column as `convert` would convert each cell.

    Returns:
        The values; None if a cell is not as simple as `1.5`, `12` or a text. `convert` then
        converts cell by cell and reports the bad ones.
    """
    declared = target.declared
    if declared.values or declared.wraps_at or target.scale_index is not None:
        return None
    if target.kind == "text":
        texts = [None if cell is None else str(cell).strip() for cell in cells]
        return [text or None for text in texts]
    if not all(isinstance(cell, str) for cell in cells):
        return None
    written = cast("Sequence[str]", cells)
    if target.kind == "real":
        return _reals(written, target)
    joined = "".join(written)
    is_plain = joined.isascii() and joined.isdigit() and target.declared.scale == 1.0
    if not is_plain or max(map(len, written)) > _SURE_DIGITS:
        return None
    return [int(cell) if cell else None for cell in written]


def _reals(cells: Sequence[str], target: Target) -> Sequence[float | None] | None:
    joined = "".join(cells)
    if not joined.isascii() or "_" in joined:
        return None
    try:
        # NaN stands for an empty cell.
        values = np.array([float(cell) if cell else math.nan for cell in cells])
    except ValueError:
        return None
    values *= target.declared.scale
    if np.isinf(values).any() or (values < target.least).any():
        return None
    return [None if value != value else value for value in values.tolist()]


def values_of(
    cells: Sequence[Cell],
    targets: Iterable[Target],
    line: int,
    problems: ProblemList,
    flags: list[str],
) -> dict[str, Cell]:
    """Convert the cells of a row; a counter that wrapped is added to `flags`."""
    values: dict[str, Cell] = {}
    for target in targets:
        cell = cells[target.index]
        # A count beyond 2^63 is a negative difference of unsigned 64-bit counters.
        count = str(cell).strip() if target.name in COUNTERS else ""
        if count.isascii() and count.isdigit() and int(count) >= MOST_WHOLE:
            detail = f"{target.heading} {cell} is a negative difference; left unset"
            problems.add("wrapped_counter", "doubted", detail, line)
            cell = None
        declared, text = target.declared, "" if cell is None else str(cell).strip()
        if target.may_lack and not (text in declared.values or is_unset(text) or is_number(text)):
            detail = f"{target.heading} {text[:60]!r} is not a number; left unset"
            problems.add("no_number", "doubted", detail, line)
            cell, text = None, ""
        wraps_at = declared.wraps_at
        if wraps_at is not None and is_number(text) and -wraps_at <= float(text) < 0:
            cell = float(text) + wraps_at
            detail = f"{target.heading} {text} wrapped at {wraps_at:g}; taken as {cell:.10g}"
            problems.add("energy_counter_wrapped", "repaired", detail, line)
            flags += [] if "energy_counter_wrapped" in flags else ["energy_counter_wrapped"]
        if target.scale_index is not None:
            declared = _scaled(declared, str(cells[target.scale_index]).strip())
        value = convert(target.heading, cell, target.kind, declared, target.least)
        if isinstance(value, str):
            value = value.strip() or None
        if target.kind in ("whole", CORE) and isinstance(value, float):
            # The mean of counts may be fractional.
            if value != round(value) and "aggregate" not in flags:
                detail = f"{target.heading} {cell!r} is not a whole number; taken as {round(value)}"
                problems.add("fractional_count", "repaired", detail, line)
            value = round(value)
        values[target.name] = value
    return values


def _scaled(declared: TableColumn, unit: str) -> TableColumn:
    """Return a declaration with the scale that another cell of the row decides.

    Raises:
        FormatError: That cell has a text without a scale.
    """
    ((heading, scales),) = declared.scale_by.items()
    if unit not in scales:
        raise FormatError(f"{heading} cannot be {unit[:60]!r}, known: {', '.join(scales)}")
    return TableColumn(scale=scales[unit])


def convert(
    heading: str, cell: Cell, kind: str, declared: TableColumn, least: float = -math.inf
) -> Cell:
    """Convert a cell to the type and unit of its column.

    Raises:
        FormatError: The cell is not a number, or is out of range.
    """
    if cell is not None and declared.values:
        cell = declared.values.get(str(cell).strip(), cell)
    if kind == "text":
        return None if cell is None or cell == "" else str(cell)
    kind = "whole" if kind == CORE else kind
    if cell is None or (isinstance(cell, str) and is_unset(cell)):
        return None
    if isinstance(cell, str):
        text = cell.strip()
        if not is_number(text):
            raise FormatError(f"{heading} {text[:60]!r} is not a number")
        cell = int(text) if WHOLE.fullmatch(text) else float(text)
    value = cell * declared.scale if declared.scale != 1.0 else cell
    if not least <= value < math.inf or (kind == "whole" and abs(value) >= MOST_WHOLE):
        raise FormatError(f"{heading} {str(cell)[:60]!r} is out of range")
    return float(value) if kind == "real" else value
