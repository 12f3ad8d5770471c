"""The cells of a table in little memory, and the most that a table may hold."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from data.errors import FormatError
from ingest.files.packed import CHUNK, packed, unpacked
from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import is_either, written_numbers
from ingest.records import ProblemList

# Rows by which the cells of a column are judged first.
LOOKED_AT: Final = 40
# The most of a table of runs; a compressed file of some kB may hold far more.
MOST_ROWS: Final = 1_000_000
MOST_COLUMNS: Final = 1_000
_MOST_BYTES: Final = 1 << 30


class Table:
    """The cells of a table as the file has them, in little memory.

    Attributes:
        refused: Number of rows that are left out.
        place: Where it is in a document; empty for a file of one table.
        keys: Headings of the keys of a document's dictionaries, which are knobs.
        units: By heading the unit that stood behind each number of a column.
    """

    def __init__(
        self, headings: list[str], refused: int = 0, place: str = "", keys: Iterable[str] = ()
    ) -> None:
        self.headings = headings
        self.refused = refused
        self.place = place
        self.keys = frozenset(keys)
        self.units: dict[str, str] = {}
        # Of each chunk its line numbers, then its columns.
        self._chunks: list[list[bytes]] = []
        self._lines: list[int] = []
        self._rows: list[Sequence[Cell]] = []

    def of_same_place(self, headings: list[str]) -> "Table":
        """Return an empty table with these headings that stands where this one does."""
        table = Table(headings, self.refused, self.place, self.keys)
        table.units = {name: unit for name, unit in self.units.items() if name in headings}
        return table

    def append(self, line: int, cells: Sequence[Cell]) -> None:
        """Add a row."""
        self._lines.append(line)
        self._rows.append(cells)
        if len(self._rows) == CHUNK:
            columns = zip(*self._rows, strict=True)
            self._chunks.append([packed(each) for each in (self._lines, *columns)])
            self._lines, self._rows = [], []

    def last(self, count: int) -> list[tuple[int, Sequence[Cell]]]:
        """Return the last rows with their line numbers, of those that are not packed yet."""
        return [*zip(self._lines, self._rows, strict=True)][max(0, len(self._rows) - count) :]

    def drop_last(self, count: int) -> None:
        """Remove rows that `last` has."""
        del self._lines[len(self._lines) - count :], self._rows[len(self._rows) - count :]

    def __len__(self) -> int:
        return len(self._chunks) * CHUNK + len(self._rows)

    def column(self, index: int) -> Iterator[Cell]:
        """Yield the cells of a column."""
        for chunk in self._chunks:
            yield from unpacked(chunk[index + 1])
        yield from (cells[index] for cells in self._rows)

    def chunks(self) -> Iterator[tuple[list[int], list[Sequence[Cell]]]]:
        """Yield the line numbers and the columns of some rows at a time."""
        for chunk in self._chunks:
            lines, *columns = map(unpacked, chunk)
            yield lines, columns
        if self._rows:
            yield self._lines, list(zip(*self._rows, strict=True))

    @property
    def rows(self) -> Iterator[tuple[int, Sequence[Cell]]]:
        """The rows with their line numbers."""
        for lines, columns in self.chunks():
            yield from zip(lines, zip(*columns, strict=True), strict=True)


def fitted_header(header: list[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return a header that fits all rows, of which each has as many cells.

    It lacks the last names of columns that they have not. Numbers of the rows have no name.
    """
    widths = {len(row) for row in body}
    width = widths.pop() if len(widths) == 1 and len(body) > 1 else len(header)
    counts = ([str(begin + n) for n in range(len(body))] for begin in (0, 1))
    if width == len(header) + 1 and [row[0].strip() for row in body] in counts:
        return ["", *header]
    return header[:width] if 1 < width < len(header) <= 2 * width else header


def bounded(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the blocks of a file; refuse one of over 1 GiB with a FormatError."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > _MOST_BYTES:
            raise FormatError(f"a table has {_MOST_BYTES >> 20} MiB at most: split it ({name})")
        yield block


def check_rows(count: int, most: int | None, name: str) -> None:
    """Refuse a table of more rows with a FormatError; None allows any number."""
    if most is not None and count > most:
        raise FormatError(
            f"a table has {most:,} rows at most: split it into several files ({name})"
        )


def check_columns(count: int, name: str) -> None:
    """Refuse a table of more than MOST_COLUMNS columns with a FormatError."""
    if count > MOST_COLUMNS:
        raise FormatError(f"{count:,} columns, a table has {MOST_COLUMNS:,} at most ({name})")


def doubt_commas(table: Table, problems: ProblemList) -> None:
    """Report columns whose numbers are like `12,345` at first, if no other has decimal commas."""
    first = (islice(table.column(at), LOOKED_AT) for at in range(len(table.headings)))
    columns = ([str(cell).strip() for cell in cells] for cells in first)
    written = {
        heading: [cell for cell in cells if cell]
        for heading, cells in zip(table.headings, columns, strict=True)
        if any("," in cell for cell in cells)
    }
    unclear = {heading: cells for heading, cells in written.items() if is_either(cells)}
    for heading in written.keys() - unclear.keys():
        plain, _ = written_numbers(written[heading], False) or ([], "")
        if "." in "".join(filter(None, plain)) and "." not in "".join(written[heading]):
            return
    for heading, cells in unclear.items():
        detail = f"the comma in {cells[0]} of {heading} is taken as a decimal mark"
        problems.add("unclear_comma", "doubted", detail)


def with_plain_numbers(table: Table, is_comma_separated: bool) -> Table:
    """Return a table with plain numbers where all cells of a column are numbers with one unit."""
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    others = {
        index: written
        for index in range(len(table.headings))
        if written_numbers([cells[index] for cells in first], is_comma_separated)
        and (written := written_numbers([*table.column(index)], is_comma_separated))
    }
    if not others:
        return table
    plain_table = Table(table.headings, table.refused, table.place, table.keys)
    plain_table.units = {table.headings[index]: unit for index, (_, unit) in others.items() if unit}
    for row, (line, cells) in enumerate(table.rows):
        plain_table.append(
            line,
            [others[at][0][row] if at in others else cell for at, cell in enumerate(cells)],
        )
    return plain_table
