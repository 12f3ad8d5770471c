"""Spreadsheets (xlsx, ods) as the separated text of their sheets."""

import csv
import io
import re
from collections.abc import Sequence
from datetime import date, time
from typing import Final

from python_calamine import CalamineError, CalamineWorkbook

from data.errors import FormatError
from ingest.settings.headings import quantity_of, read_heading

_MAGIC: Final = b"PK\x03\x04"
_ENDINGS: Final = (".xlsx", ".xlsm", ".ods")
# A heading that is a setting: `8 threads`, `1200MHz`.
_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z%]*)")
_LEAST_STEPS: Final = 3
_MOST_CELLS: Final = 5_000_000


def is_workbook(name: str, head: bytes) -> bool:
    """Return whether a file is a spreadsheet."""
    return head.startswith(_MAGIC) and name.lower().endswith(_ENDINGS)


def sheets_of(content: bytes, name: str) -> list[tuple[str, str]]:
    """Return title and text, with commas, of each sheet that has rows.

    Sheets with one measurement each, named by their titles, whose headings are the steps of a
    setting, are one text with a measurement a row.

    Raises:
        FormatError: It is no spreadsheet, or has no rows.
    """
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [(title, book.get_sheet_by_name(title).to_python()) for title in book.sheet_names]
    except (CalamineError, OSError, ValueError) as error:
        raise FormatError(f"no spreadsheet: {error} ({name})") from error
    filled = [(title, [[*map(_text, row)] for row in rows]) for title, rows in sheets if rows]
    if not filled:
        raise FormatError(f"no sheet has rows ({name})")
    if sum(len(row) for _, rows in filled for row in rows) > _MOST_CELLS:
        raise FormatError(f"over {_MOST_CELLS:,} cells ({name})")
    return _stacked(filled) or [(title, _joined(rows)) for title, rows in filled]


def _stacked(sheets: Sequence[tuple[str, list[list[str]]]]) -> list[tuple[str, str]]:
    header = sheets[0][1][0]
    steps = {at: step for at, each in enumerate(header) if (step := _STEP.fullmatch(each))}
    names = {step[2].rstrip("s") for step in steps.values()}
    is_one = len(names) == 1 and len(steps) >= _LEAST_STEPS
    measured = all(quantity_of(read_heading(title)) for title, _ in sheets)
    if not is_one or not measured or any(rows[0] != header for _, rows in sheets):
        return []
    others = [at for at in range(len(header)) if at not in steps]
    plural = max((step[2] for step in steps.values()), key=len) or "step"
    stacked = [[*(header[at] for at in others), plural, "metric", "value"]]
    stacked += [
        [*(row[at] for at in others), step[1], title, row[at_step]]
        for title, rows in sheets
        for row in rows[1:]
        for at_step, step in steps.items()
        if row[at_step]
    ]
    return [("", _joined(stacked))]


def _joined(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _text(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
