"""Rows of a table that someone copied into another one: one measurement, under two names of files.

Two runs do not agree in every measured cell, if these are numbers of many digits. What a person
declared is read as declared: only tables whose columns were guessed are compared.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Final

from data.schema import MEASUREMENTS
from ingest.files.packed import Packed
from ingest.records import Problem, SummaryRow
from ingest.tables.table_reads import TableRead

# Two runs agree by chance in fewer numbers, or in numbers of fewer digits.
_FEWEST_NUMBERS: Final = 3
_FEWEST_DIGITS: Final = 3
# Without the longest number, which may follow from others, as an energy does.
_FEWEST_DIGITS_OF_OTHERS: Final = 8
# Longer tables are no summaries that people put together.
_MOST_ROWS: Final = 20_000


def without_copied(reads: Sequence[TableRead]) -> None:
    """Drop each row whose cells, but those that paths give, stand in a row of another table.

    Args:
        reads: The tables of a dataset, of which the first one keeps the row.
    """
    guessed = [read for read in reads if read.is_guessed]
    if len(guessed) < 2 or sum(len(read.table.rows) for read in guessed) > _MOST_ROWS:
        return
    known: dict[Hashable, TableRead] = {}
    seen = set[Hashable]()
    for read in guessed:
        copies: dict[str, list[int]] = defaultdict(list)
        rows: Packed[SummaryRow] = Packed()
        contents: list[Hashable] = []
        for row in read.table.rows:
            content = _content(read, row)
            first = known.get(content) if content else None
            if first is None or first.file.path == read.file.path:
                rows.append(row)
                contents.append(content)
            else:
                copies[first.file.path].append(row.line)
        known |= {each: read for each in contents if each}
        # Of a table that is a copy as a whole the path may say another setting.
        cells = {_cells(read, row) for row in read.table.rows}
        if not cells <= seen:
            _drop(read, rows, copies)
        seen |= cells


def _drop(read: TableRead, rows: Packed[SummaryRow], copies: dict[str, list[int]]) -> None:
    """Leave some rows of a table, and say which others are those of other files."""
    read.table.copied += len(read.table.rows) - len(rows)
    read.table.rows = rows
    for path, lines in copies.items():
        detail = f"{len(lines)} of its rows, such as line {lines[0]}, stand in {path} too, in all "
        detail += "that was measured: one measurement; dropped, though the name of the file differs"
        read.table.problems.append(Problem("identical_row", "doubted", detail))


def _content(read: TableRead, row: SummaryRow) -> Hashable:
    """Return the cells of a row, of which no path says any; None where others agree by chance."""
    cells = {name: value for name, value in row.values.items() if value is not None}
    measured = (cells[name] for name in cells.keys() & {*read.measured})
    numbers = {abs(each) for each in measured if isinstance(each, int | float)}
    numbers = {each for each in numbers if _digits(each) >= _FEWEST_DIGITS}
    is_usual = any(name in MEASUREMENTS for name in cells)
    *others, _ = sorted(map(_digits, numbers)) or [0]
    is_known = len(numbers) >= _FEWEST_NUMBERS and sum(others) >= _FEWEST_DIGITS_OF_OTHERS
    if not (is_usual and is_known):
        return None
    return _cells(read, row)


def _cells(read: TableRead, row: SummaryRow) -> Hashable:
    """Return the cells of a row of which no path says any."""
    cells = row.values.items()
    own = frozenset((n, v) for n, v in cells if v is not None and n not in read.of_path)
    return own, row.workload


def _digits(value: float) -> int:
    return len(f"{value:.12g}".partition("e")[0].replace(".", "").strip("-0"))
