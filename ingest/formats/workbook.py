"""Spreadsheets (xlsx, ods) and files of SQLite as the separated text of their sheets or tables."""

import csv
import io
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, time
from typing import Final

from python_calamine import CalamineError, CalamineWorkbook

from data.errors import FormatError
from ingest.settings.headings import quantity_of, read_heading

_MAGIC: Final = b"PK\x03\x04"
_DATABASE: Final = b"SQLite format 3\0"
# Where such a file says that its last changes may be in a file beside it, without which it is read.
_JOURNAL: Final = slice(18, 20)
_ENDINGS: Final = (".xlsx", ".xlsm", ".ods")
# A heading that is a setting: `8 threads`, `1200MHz`.
_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z%]*)")
_LEAST_STEPS: Final = 3
_MOST_CELLS: Final = 5_000_000


def is_workbook(name: str, head: bytes) -> bool:
    """Return whether a file is a spreadsheet or a database of SQLite."""
    is_spreadsheet = head.startswith(_MAGIC) and name.lower().endswith(_ENDINGS)
    return is_spreadsheet or head.startswith(_DATABASE)


def is_named_as_workbook(name: str) -> bool:
    """Return whether the name of a file is that of a spreadsheet, or of a database."""
    return name.lower().endswith((*_ENDINGS, ".db", ".db3", ".sqlite", ".sqlite3"))


def sheets_of(content: bytes, name: str) -> list[tuple[str, str]]:
    """Return title and text, with commas, of each sheet or table that has rows.

    Sheets with one measurement each, named by their titles, whose headings are the steps of a
    setting, are one text with a measurement a row.

    Raises:
        FormatError: It is neither, or has no rows.
    """
    is_database = content.startswith(_DATABASE)
    try:
        sheets = _tables_of(content) if is_database else _sheets_of(content)
    except (CalamineError, OSError, ValueError, sqlite3.Error) as error:
        kind = "SQLite file" if is_database else "spreadsheet"
        raise FormatError(f"no {kind}: {error} ({name})") from error
    filled = [(title, [[*map(_text, row)] for row in rows]) for title, rows in sheets if rows]
    if not filled:
        raise FormatError(f"no sheet has rows ({name})")
    if sum(len(row) for _, rows in filled for row in rows) > _MOST_CELLS:
        raise FormatError(f"over {_MOST_CELLS:,} cells ({name})")
    return _stacked(filled) or [(title, _joined(rows)) for title, rows in filled]


def _sheets_of(content: bytes) -> list[tuple[str, Sequence[Sequence[object]]]]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    return [(title, book.get_sheet_by_name(title).to_python()) for title in book.sheet_names]


def _tables_of(content: bytes) -> list[tuple[str, Sequence[Sequence[object]]]]:
    """Return the tables of a SQLite file that have rows, each below its headings.

    Rows have the columns of the row of another table that they name, unless these are measured.
    """
    writable = bytearray(content)
    writable[_JOURNAL] = b"\1\1"
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(bytes(writable))
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        titles = [title for (title,) in database.execute(listed + " ORDER BY rowid").fetchall()]
        columns = {title: _columns_of(database, title) for title in titles}
        named = {title: _named_rows(columns, title) for title in titles}
        others = {other for each in named.values() for other in each}
        tables = list[tuple[str, Sequence[Sequence[object]]]]()
        for title in [title for title in titles if title not in others]:
            rows = database.execute(_selection(title, named[title], columns))
            headings = [each[0] for each in rows.description]
            if cells := rows.fetchall():
                tables.append((title, [headings, *cells]))
    return tables


def _columns_of(database: sqlite3.Connection, title: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({_quoted(title)})")]


def _named_rows(columns: Mapping[str, Sequence[str]], title: str) -> dict[str, str]:
    """Return the tables whose rows the rows of one name, and by which column: `machine_id` names
    the `id` of `machine` or `machines`.
    """
    named = {}
    for column in columns[title]:
        stem = column.lower().removesuffix("_id")
        for other in columns:
            is_of = other.lower() in (stem, f"{stem}s") and other != title
            free = [each for each in columns[other] if each != "id"]
            measured = any(quantity_of(read_heading(each)) for each in free)
            if is_of and stem != column.lower() and "id" in columns[other] and not measured:
                named[other] = column
    return named


def _selection(title: str, named: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> str:
    hidden = {*named.values()}
    taken = {each: f"{_quoted(title)}.{_quoted(each)}" for each in columns[title]}
    shown = {name: text for name, text in taken.items() if name not in hidden}
    joins = ""
    for other, column in named.items():
        joins += f' LEFT JOIN {_quoted(other)} ON {_quoted(other)}."id" = {taken[column]}'
        for each in columns[other]:
            if each != "id":
                name = f"{other}_{each}" if each in taken else each
                shown[name] = f"{_quoted(other)}.{_quoted(each)}"
    cells = ", ".join(f"{text} AS {_quoted(name)}" for name, text in shown.items())
    return f"SELECT {cells} FROM {_quoted(title)}{joins} LIMIT {_MOST_CELLS}"


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


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
    if cell is None or isinstance(cell, bytes):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
