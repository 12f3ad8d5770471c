"""The cells of a table in little memory, the most that it may hold, and its header."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from data.errors import FormatError
from ingest.files.packed import CHUNK, packed, unpacked
from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import is_number, is_unset
from ingest.records import ProblemList
from ingest.settings.column_names import FAMILIES, VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting

# Rows by which the cells of a column are judged first.
LOOKED_AT: Final = 40
# The most of a table of runs; a compressed file of some kB may hold far more.
MOST_ROWS: Final = 1_000_000
MOST_COLUMNS: Final = 1_000
_MOST_BYTES: Final = 1 << 30
# Headings that recur are a part of this many at most, unless they are of measurements.
_FEW: Final = 3
# Rows with all cells that tell what a row lacks.
_LEAST_WHOLE: Final = 2
# Last words of what the names of runs are called.
_OF_TEXTS: Final = frozenset(
    words_of(name)[-1:] for name in (*VALUES, *FAMILIES, *WORDS["programs"], "name")
)


# The number of a line, and its cells.
Row = tuple[int, Sequence[Cell]]


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

    def of_same_place(self, headings: list[str], rows: Iterable[Row] = ()) -> "Table":
        """Return a table with these headings and rows that stands where this one does."""
        table = Table(headings, self.refused, self.place, self.keys)
        table.units = {name: unit for name, unit in self.units.items() if name in headings}
        for line, cells in rows:
            table.append(line, cells)
        return table

    def append(self, line: int, cells: Sequence[Cell]) -> None:
        """Add a row."""
        self._lines.append(line)
        self._rows.append(cells)
        if len(self._rows) == CHUNK:
            columns = zip(*self._rows, strict=True)
            self._chunks.append([packed(each) for each in (self._lines, *columns)])
            self._lines, self._rows = [], []

    def last(self, count: int) -> list[Row]:
        """Return the last rows with their line numbers, of those that are not packed yet."""
        return [*zip(self._lines, self._rows, strict=True)][max(0, len(self._rows) - count) :]

    def drop(self, are_dropped: Sequence[bool]) -> list[int]:
        """Remove rows, and return their line numbers."""
        rows, lines = [*zip(are_dropped, self.rows, strict=True)], []
        self._chunks, self._lines, self._rows = [], [], []
        for is_dropped, (line, cells) in rows:
            if is_dropped:
                lines.append(line)
            else:
                self.append(line, cells)
        return lines

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

    @staticmethod
    def stacked(
        titled: Sequence[tuple[Sequence[str], "Table"]], heading: str
    ) -> list[tuple[str, "Table"]]:
        """Return tables with those of one header as one, each with its first title.

        Titles are a first column with a heading of their own if they tell the tables apart.
        """
        by_header: dict[tuple[str, ...], list[tuple[Sequence[str], Table]]] = {}
        for titles, table in titled:
            by_header.setdefault((*table.headings,), []).append((titles, table))
        stacked = []
        for headings, alike in by_header.items():
            titles, whole = _telling([titles for titles, _ in alike]), alike[0][1]
            if len(alike) > 1:
                is_told = len({*titles}) == len(alike) and heading not in headings
                own = [heading] * is_told
                whole = Table([*own, *headings], sum(t.refused for _, t in alike), "", own)
                whole.units = alike[0][1].units
                for title, (_, table) in zip(titles, alike, strict=True):
                    for line, cells in table.rows:
                        whole.append(line, (title, *cells) if own else cells)
            stacked.append((titles[0], whole))
        return stacked

    @property
    def rows(self) -> Iterator[Row]:
        """The rows with their line numbers."""
        for lines, columns in self.chunks():
            yield from zip(lines, zip(*columns, strict=True), strict=True)


def _telling(titles: Sequence[Sequence[str]]) -> list[str]:
    """Return for each table its last title, or as many as tell all tables apart, but for the words
    that all have: of `A`, `Results` and `B`, `Results` the first.
    """
    last = [each[-1] if each else "" for each in titles]
    for count in range(2, max(map(len, titles)) + 1 if len({*last}) < len(last) else 0):
        ends = [each[-count:] for each in titles]
        same = {*ends[0]}.intersection(*ends)
        told = [" / ".join(title for title in each if title not in same) for each in ends]
        if len({*told}) == len(told):
            return told
    return last


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


def cells_beyond(header: Sequence[str], body: Sequence[Sequence[str]]) -> int:
    """Return how many numbers behind the names of a header all rows have; 0 if nothing shows it.

    The first cells fit the names: numbers stand under each name of a measurement, texts under
    others, and no text would have a name if the names began later. As names of rows may have none,
    either numbers of replicates count under theirs, or all texts stand under names of texts.
    """
    beyond = {len(row) - len(header) for row in body}
    if len(beyond) != 1 or (count := beyond.pop()) <= 0 or len(body) < 2:
        return 0
    columns = [[cell.strip() for cell in column] for column in zip(*body, strict=True)]
    filled = [[cell for cell in column if not is_unset(cell)] for column in columns]
    texts = [at for at, cells in enumerate(filled) if not all(map(is_number, cells))]
    measured = [at for at, name in enumerate(header) if is_measurement(name)]

    def fits(begin: int) -> bool:
        named = {at - begin for at in texts}
        return all(0 <= at < len(header) for at in named) and named.isdisjoint(measured)

    def counts(begin: int) -> bool:
        return any(
            {"0", "1"} & {*cells} and all(map(str.isdigit, cells))
            for name, cells in zip(header, columns[begin:], strict=False)
            if not WORDS["replicates"].isdisjoint(words_of(name))
        )

    later = range(1, count + 1)
    is_first = bool(texts and measured) and fits(0) and not any(map(fits, later))
    is_named = all(words_of(header[at])[-1:] in _OF_TEXTS for at in texts if at < len(header))
    is_told = is_named or (counts(0) and not any(map(counts, later)))
    return count if is_first and is_told else 0


class ColumnKinds:
    """Kinds of the cells in the columns of a table, by its first rows."""

    def __init__(self, headings: Sequence[str], body: Sequence[Sequence[str]]) -> None:
        self._headings, self._body = headings, body

    @cached_property
    def _columns(self) -> Sequence[tuple[Sequence[str], set[str]]]:
        rows = [row for row in self._body if len(row) == len(self._headings)]
        columns = zip(*rows, strict=True) if len(rows) >= _LEAST_WHOLE else ()
        return [([cell.strip() for cell in cells], _kinds_of(cells)) for cells in columns]

    def lacked_at_end(self, cells: Sequence[str]) -> list[str]:
        """Return the last headings if a row lacks the cells of these, and of no others.

        Its cells are of the kinds of the first columns, and of no other columns in this order. A
        number at its end has the decimals of others, and is not cut.
        """
        if not (1 < len(cells) < len(self._headings) and self._columns):
            return []
        # The number of ways to put the first cells into the columns so far.
        ways = [1] + [0] * len(cells)
        own = [_kinds_of([cell]) for cell in cells]
        for at, (_, kinds) in enumerate(self._columns):
            fits = [kind <= kinds or not kinds for kind in own]
            if at < len(own) and not (own[at] and fits[at]):
                return []
            for n in range(len(own), 0, -1):
                ways[n] += ways[n - 1] * fits[n - 1]
        last, others = cells[-1].strip(), self._columns[len(cells) - 1][0]
        least = max(1, min(map(_decimals, others)))
        is_whole = _decimals(last) >= least if is_number(last) else last in others
        return [*self._headings[len(cells) :]] if ways[-1] == 1 and is_whole else []


def _kinds_of(cells: Iterable[str]) -> set[str]:
    """Return the kinds of cells that are set; a column of fractions may have whole numbers."""
    texts = {cell.strip() for cell in cells if not is_unset(cell)}
    kinds = {"text" if not is_number(t) else "real" if _decimals(t) else "whole" for t in texts}
    return kinds | {"whole"} if "real" in kinds and len(texts) > 1 else kinds


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def may_recur(headings: Sequence[str]) -> bool:
    """Return whether headings that recur are few, or of measurements and settings: `time,time`."""
    twice = {each for each in headings if headings.count(each) > 1}
    are_few = _FEW * (len(headings) - len({*headings})) <= len(headings)
    return are_few or all(is_measurement(each) or is_setting(each) for each in twice)


def _of_domains(headings: list[str]) -> list[str]:
    """Return headings with the name of their domain, if all that recur follow each domain alike.

    Names of domains differ in a number, `Package0 (W)` and `Package1 (W)`, or in their first word.
    """
    counts = Counter(headings)
    begins = [at for at, each in enumerate(headings) if counts[each] == 1]
    width = len(headings) // max(len(begins), 1)
    blocks = [headings[at + 1 : at + width] for at in begins]
    names = [re.split(r"\s*[(\[]", headings[at])[0] for at in begins]
    is_even = begins == [*range(0, len(headings), width)] if width > 1 else False
    are_domains = len({*names}) > 1 == len({re.sub(r"\d+", "#", name) for name in names})
    # `Redis Query`, `MySQL Query`
    firsts, rests = [name.partition(" ")[0] for name in names], {n.partition(" ")[2] for n in names}
    if len({*firsts}) == len(names) > 1 == len(rests - {""}) and not any(
        map(is_measurement, names)
    ):
        are_domains, names = True, firsts
    if not (is_even and are_domains) or any(block != blocks[0] for block in blocks):
        return headings
    return [
        heading if at % width == 0 else f"{names[at // width]} {heading}"
        for at, heading in enumerate(headings)
    ]


def told_apart(headings: list[str], line: int, problems: ProblemList) -> list[str]:
    """Number headings that recur: `time`, `time 2`; of three and more the first one too.

    So three and more are replicates if their values are alike, while of two nothing says it. Those
    behind each of several domains are of it: `Package0 Cores (W)`.
    """
    headings = _of_domains(headings)
    counts, seen, names = Counter(headings), Counter[str](), list[str]()
    for each in headings:
        seen[each] += 1
        is_first = counts[each] == 1 or (counts[each] == 2 and seen[each] == 1)
        names.append(each if is_first or not each else f"{each} {seen[each]}")
    for each, count in counts.items():
        if each and count > 1:
            own = [name for name, old in zip(names, headings, strict=True) if old == each]
            detail = f"{count} columns are called {each!r}: read as {', '.join(own)}"
            problems.add("repeated_heading", "doubted", detail, line)
    return names


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
