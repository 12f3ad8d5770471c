"""The cells of a table in little memory, and the most that a table may hold."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from data.errors import FormatError
from ingest.files.packed import CHUNK, packed, unpacked
from ingest.formats.json_cells import STATISTICS, Cell, flatten, summaries
from ingest.formats.written_numbers import (
    energies_of_slurm,
    is_either,
    is_number,
    is_unset,
    means_and_deviations,
    written_durations,
    written_numbers,
)
from ingest.records import ProblemList
from ingest.settings.column_names import FAMILIES, VALUES, WORDS
from ingest.settings.headings import is_measurement, is_setting, read_heading, words_of

# Rows by which the cells of a column are judged first.
LOOKED_AT: Final = 40
# A number whose point is no mark of thousands.
_POINT: Final = re.compile(r"[-+]?\d+\.(?!\d{3}$)\d+")
# The most of a table of runs; a compressed file of some kB may hold far more.
MOST_ROWS: Final = 1_000_000
MOST_COLUMNS: Final = 1_000
_MOST_BYTES: Final = 1 << 30
# Headings that recur are a part of this many at most, unless they are of measurements.
_FEW: Final = 3
# Last words of what the names of runs are called.
_OF_TEXTS: Final = frozenset(
    words_of(name)[-1:] for name in (*VALUES, *FAMILIES, *WORDS["programs"], "name")
)


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
    def stacked(alike: Sequence[tuple[str, "Table"]], heading: str) -> "Table":
        """Return tables of one header as one; with a heading their titles are its first column."""
        own, first = [heading] * bool(heading), alike[0][1]
        whole = Table([*own, *first.headings], sum(t.refused for _, t in alike), "", own)
        whole.units = first.units
        for title, table in alike:
            for line, cells in table.rows:
                whole.append(line, (title, *cells) if heading else cells)
        return whole

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
    texts = [at for at, cells in enumerate(columns) if not all(map(_is_number_or_unset, cells))]
    measured = [at for at, name in enumerate(header) if is_measurement(name)]

    def fits(begin: int) -> bool:
        named = {at - begin for at in texts}
        return all(0 <= at < len(header) for at in named) and named.isdisjoint(measured)

    is_first = bool(texts and measured) and fits(0) and not any(map(fits, range(1, count + 1)))
    is_named = all(words_of(header[at])[-1:] in _OF_TEXTS for at in texts if at < len(header))

    def counts(begin: int) -> bool:
        numbered = (
            cells
            for name, cells in zip(header, columns[begin:], strict=False)
            if not WORDS["replicates"].isdisjoint(words_of(name))
        )
        return any({"0", "1"} & {*each} and all(map(str.isdigit, each)) for each in numbered)

    is_counted = counts(0) and not any(map(counts, range(1, count + 1)))
    return count if is_first and (is_named or is_counted) else 0


def _is_number_or_unset(cell: str) -> bool:
    return is_number(cell) or is_unset(cell)


def may_recur(headings: Sequence[str]) -> bool:
    """Return whether headings that recur are few, or of measurements and settings: `time,time`."""
    twice = {each for each in headings if headings.count(each) > 1}
    are_few = _FEW * (len(headings) - len({*headings})) <= len(headings)
    return are_few or all(is_measurement(each) or is_setting(each) for each in twice)


def told_apart(headings: list[str], line: int, problems: ProblemList) -> list[str]:
    """Number headings that recur: `time`, `time 2`; of three and more the first one too.

    So three and more are replicates if their values are alike, while of two nothing says it.
    """
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


def has_decimal_commas(table: Table, problems: ProblemList) -> bool:
    """Return whether a comma in numbers such as `12,345` is taken as a decimal mark: unless points
    or commas of other columns say that it is of thousands. Where nothing says it they are reported.
    """
    first = (islice(table.column(at), LOOKED_AT) for at in range(len(table.headings)))
    columns = [[str(cell).strip() for cell in cells if cell] for cells in first]
    written = {
        heading: cells
        for heading, cells in zip(table.headings, columns, strict=True)
        if any("," in cell for cell in cells)
    }
    unclear = {heading: cells for heading, cells in written.items() if is_either(cells)}
    marks = {"." for cells in columns if any(map(_POINT.fullmatch, cells))} if unclear else set()
    for heading in written.keys() - unclear.keys():
        plain, _ = written_numbers(written[heading], False) or ([], "")
        if plain:
            is_comma = "." in "".join(filter(None, plain)) and "." not in "".join(written[heading])
            marks.add("," if is_comma else ".")
    for heading, cells in unclear.items() if not marks else ():
        detail = f"the comma in {cells[0]} of {heading} is taken as a decimal mark"
        problems.add("unclear_comma", "doubted", detail)
    return marks != {"."}


def with_plain_numbers(table: Table, is_comma_separated: bool) -> Table:
    """Return a table with plain numbers where all cells of a column are numbers with one unit.

    Durations such as `1m23.4s` are seconds; of `12.5 ± 0.5` the deviation is a column of its own.
    """
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    others: dict[int, tuple[list[str | None], str]] = {}
    deviations: dict[str, list[str | None]] = {}
    for index, heading in enumerate(table.headings):
        # Beside `ConsumedEnergyRaw` it says the same with fewer digits.
        is_shortened = heading == "ConsumedEnergy" and f"{heading}Raw" not in table.headings
        if is_shortened and (joules := energies_of_slurm([*table.column(index)])) is not None:
            others[index] = joules, "J"
            continue
        if not first or not _plain([cells[index] for cells in first], heading, is_comma_separated):
            continue
        if (found := _plain([*table.column(index)], heading, is_comma_separated)) is None:
            continue
        others[index] = found[:2]
        if found[2] is not None and f"std {heading}" not in table.headings:
            deviations[f"std {heading}"] = found[2]
    if not others:
        return table
    headings = [*table.headings, *deviations]
    plain_table = Table(headings, table.refused, table.place, table.keys)
    units = {table.headings[index]: unit for index, (_, unit) in others.items() if unit}
    of_deviations = {name: units.get(name.removeprefix("std "), "") for name in deviations}
    plain_table.units = units | {name: unit for name, unit in of_deviations.items() if unit}
    for row, (line, cells) in enumerate(table.rows):
        numbers = [others[at][0][row] if at in others else cell for at, cell in enumerate(cells)]
        plain_table.append(line, [*numbers, *(each[row] for each in deviations.values())])
    return plain_table


def _plain(
    cells: Sequence[Cell], heading: str, is_comma_separated: bool
) -> tuple[list[str | None], str, list[str | None] | None] | None:
    """Return the numbers of cells, their unit and their deviations; None for other cells."""
    if (written := written_numbers(cells, is_comma_separated)) is not None:
        return *written, None
    if (seconds := written_durations(cells, heading)) is not None:
        return seconds, "s", None
    if (pairs := means_and_deviations(cells)) is not None:
        means, deviations, unit = pairs
        return means, unit, deviations
    return None


def with_summed_lists(table: Table) -> Table:
    """Return a table with the statistics of the columns whose cells are lists: `[1.5, 1.25]`."""
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    lists = {
        heading: [*map(_list_in, table.column(at))]
        for at, heading in enumerate(table.headings)
        if first and all(map(_list_in, (cells[at] for cells in first)))
    }
    numbered = (zip(lists, of, strict=True) for of in zip(*lists.values(), strict=True))
    sums = [*map(summaries, map(dict, numbered))]
    names = [*dict.fromkeys(name for each in sums for name in each)]
    if not names or not {*names}.isdisjoint(table.headings):
        return table
    kept = [at for at, heading in enumerate(table.headings) if heading not in lists]
    summed = table.of_same_place([*(table.headings[at] for at in kept), *names])
    for heading in lists:
        unit = read_heading(heading).unit
        own = {f"{heading}_{each}": unit.text for each in STATISTICS[1:] if unit is not None}
        summed.units |= own
    for (line, cells), more in zip(table.rows, sums, strict=True):
        summed.append(line, [*(cells[at] for at in kept), *map(more.get, names)])
    return summed


def _list_in(cell: Cell) -> list[float]:
    """Return the numbers of a cell that is a list of several; empty for others."""
    text = str(cell or "").strip()
    if not text.startswith("[") or "," not in text:
        return []
    try:
        return flatten({"": json.loads(text)})[1].get("", [])
    except (ValueError, RecursionError):
        return []


def with_filled_cells(table: Table, problems: ProblemList) -> Table:
    """Return a table in which blank cells have the name above, as spreadsheets merge cells.

    The first columns have each name once, or once below each name to their left, above as many
    blank cells each time.
    """
    blank = [is_unset(str(cell or "")) for cell in islice(table.column(0), LOOKED_AT)]
    if not any(blank) or blank[0]:
        return table
    columns = [[*table.column(at)] for at in range(len(table.headings))]
    rows = len(table)
    begins, filled = [0], 0
    for heading, cells in zip(table.headings[:-1], columns, strict=False):
        # A note is of its row.
        if not WORDS["remarks"].isdisjoint(words_of(heading)):
            break
        own = [row for row, cell in enumerate(cells) if not is_unset(str(cell or ""))]
        sizes = {end - begin for begin, end in pairwise([*own, rows])}
        names = [str(cells[row]).strip() for row in own]
        is_once = len({*names}) == len(names) or filled > 0
        is_merged = len(own) > 1 and len(sizes) == 1 < min(sizes) and {*begins} <= {*own}
        if not (is_merged and is_once):
            break
        for begin, end in pairwise([*own, rows]):
            cells[begin:end] = [cells[begin]] * (end - begin)
        begins, filled = own, filled + 1
    if not filled or any(is_number(str(columns[0][row])) for row in begins):
        return table
    detail = f"blank cells of {', '.join(table.headings[:filled])} are taken as the name above them"
    problems.add("merged_cells", "doubted", detail)
    whole = Table(table.headings, table.refused, table.place, table.keys)
    for at, (line, _) in enumerate(table.rows):
        whole.append(line, [cells[at] for cells in columns])
    return whole
