"""The headings and columns of a trace, in the layouts that samplers write.

- A header, then a row a sample; lines above it, comments and repeated headers are left out.
- A header of two lines: groups above names (PCM), or units below names (`nvidia-smi dmon`).
- No header: each row alternates names and values (`Time,..,Watts,..`, SPEC PTDaemon).
- No header: a date and numbers in each row, or numbers of one rising time.
- Records of lines `name: value`, which repeat (`trace_records.py`).
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from ingest.files.text_lines import without_separator
from ingest.formats.trace_cells import POINT, WRITTEN, is_number, is_value
from ingest.formats.trace_records import find_records
from ingest.formats.written_numbers import is_either, without_commas

_SEPARATORS: Final = (",", ";", "\t", None)
_FIRST_LINES: Final = 60
_LEAST_ROWS: Final = 3
# Of those below a header.
_LEAST_BELOW: Final = 2
_LEAST_COLUMNS: Final = 2
# How a date with a time of day begins.
_DATE: Final = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T_ ]\d\d?:\d\d|\d\d?[-/.]\d\d?[-/.]\d{4} \d\d?:\d\d"
)
_WHEN: Final = re.compile(rf"{_DATE.pattern}|\d\d?:\d\d:\d\d(?:[.,]\d+)?$")
_STAMP: Final = re.compile(
    rf"\s*[\[(]?((?:{_DATE.pattern})(?::\d\d)?(?:[.,]\d+)?|1\d{{9}}(?:\.\d+)?)[\])]?(?:[:,;]?\s)"
)
_DIGIT: Final = re.compile(r"\d")
# How dcgmi names the device of a row.
_ENTITY: Final = re.compile(r"^(GPU|GPU-I|GPU-CI|CPU|Switch) (\d+)")
# A number behind its name, and a unit.
_NAMED: Final = re.compile(
    r"(?<![\w.])([A-Za-z][\w.]*)[ :=@]+(\d+(?:\.\d+)?(?:\s?(?:[mu]?[WVAJ]\b|%))?)"
)
# A unit below a name.
_UNIT: Final = re.compile(r"[A-Za-z%°µμ][A-Za-z/%]{0,7}|%|-")

_CHANNEL: Final = re.compile(r"Ch\d+")


@dataclass(slots=True)
class Layout:
    """The cells of a trace.

    Attributes:
        headings: Names of the columns, with their units where the file has them.
        lines: Line numbers of the rows.
        columns: Texts of the cells by column, each of shape (rows,).
        refused: Lines with another number of cells: number and text.
        doubts: What was guessed of units.
        unclear: Columns of which nothing says what their commas are.
        is_named: Whether each line names its numbers, as samplers do.
        is_bare: Whether nothing names them.
        is_sampled: Whether lines with times lead the rows, which are samples.
        is_series: Whether even dates alone say that the rows are samples.
        is_rate: Whether the name of the file says `per second` of its only series.
        is_of_board: Whether the name says that its columns are powers, one of them the sum.
    """

    headings: list[str]
    lines: list[int] = field(default_factory=list)
    columns: list[list[str]] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    is_named: bool = False
    is_bare: bool = False
    is_sampled: bool = False
    is_series: bool = False
    is_rate: bool = False
    is_of_board: bool = False
    doubts: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)


def read_layout(lines: Iterable[str], most: int | None = None) -> Layout | None:
    """Return the cells of a trace; None for a text in no such layout.

    Args:
        most: Lines that are read, of all layouts but records; None for all.
    """
    source: Iterator[tuple[int, str]] = enumerate(without_separator(lines), 1)
    head = list(islice(source, _FIRST_LINES))
    records, source = find_records(head, source)
    if records is not None:
        layout = Layout(records.names, is_sampled=records.are_samples)
        return _take(layout, records.rows(chain(head, source)))
    source = islice(source, most and max(most - _FIRST_LINES, 0))
    for separator in _SEPARATORS:
        numbered = [(n, _split(line, separator)) for n, line in head]
        if (pairs := _pairs(numbered)) is not None:
            rows = _cells(head, source, separator)
            return _take(Layout(pairs), ((n, _of_all_channels(cells)[1::2]) for n, cells in rows))
        if (header := _header(numbered)) is not None:
            headings, skip = header
            rows = _cells(head[skip:], source, separator)
            return _take(Layout(_distinct(headings)), rows, separator == ",")
    for separator in _SEPARATORS[:-1]:
        if names := _without_names([(n, _split(line, separator)) for n, line in head]):
            return _take(Layout(names, is_bare=True), _cells(head, source, separator))
    if names := _named(head):
        named = ((n, [*_numbers_of(line).values()]) for n, line in chain(head, source))
        with_numbers = ((n, cells) for n, cells in named if cells)
        return _take(Layout(names, is_named=True), with_numbers)
    return None


def header_of(head: bytes) -> str:
    """Return the first line of a text but `sep=` and comments; empty if it names no columns."""
    lines = without_separator(head.decode("utf-8-sig", "replace").splitlines()[:_FIRST_LINES])
    line = next((each.strip() for each in lines if each.strip() and each[0] != "#"), "")
    cells = next((c for s in _SEPARATORS if len(c := _split(line, s)) >= _LEAST_COLUMNS), [])
    is_named = bool(cells) and line[0] not in "{[" and not any(map(is_value, cells))
    return line if is_named else ""


def _without_names(rows: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Return names for rows of a date or a time of day and numbers; empty for other rows."""
    filled = [cells for _, cells in rows if any(cells)]
    width = len(filled[0]) if filled else 0
    if len(filled) < 2 * _LEAST_ROWS or width < _LEAST_COLUMNS:
        return []
    if any(len(cells) != width or not _WHEN.match(cells[0]) for cells in filled):
        return []
    is_all = all(map(is_number, (cell for cells in filled for cell in cells[1:])))
    return ["time", *(f"value {n}" for n in range(1, width))] if is_all else []


def _numbers_of(line: str) -> dict[str, str]:
    """Return the numbers of a line by the names before them: `RAM 2000/7771MB VDD_IN 4500/4400`.

    A date and a time at its beginning are the time of the sample.
    """
    date = _STAMP.match(line)
    numbers = {"timestamp": date[1]} if date else {}
    return numbers | {found[1]: found[2] for found in _NAMED.finditer(line)}


def _named(head: Sequence[tuple[int, str]]) -> list[str]:
    """Return the names of lines that have the same names with numbers; empty for others."""
    rows = [[*_numbers_of(line)] for _, line in head if line.strip()]
    names = rows[0] if rows else []
    is_same = sum(each == names for each in rows) >= 0.8 * len(rows)
    return names if len(rows) >= _LEAST_ROWS and len(names) >= _LEAST_COLUMNS and is_same else []


def layout_of(rows: Sequence[Mapping[str, object]]) -> Layout:
    """Return the cells of the objects of a document."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = ((n, ["" if (c := row.get(name)) is None else str(c) for name in names])
             for n, row in enumerate(rows, 1))  # fmt: skip
    return _take(Layout(names), cells)


def _split(line: str, separator: str | None) -> list[str]:
    text = line.strip()
    if separator is None:
        return _ENTITY.sub(r"\1_\2", text).split()
    with suppress(csv.Error):
        if '"' in text:
            return [cell.strip() for cell in next(csv.reader([text], delimiter=separator), [])]
    return [cell.strip() for cell in text.split(separator)]


def _cells(
    head: Iterable[tuple[int, str]], rest: Iterable[tuple[int, str]], separator: str | None
) -> Iterator[tuple[int, list[str]]]:
    for lines in (head, rest):
        for number, line in lines:
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, _split(line, separator)


def _pairs(rows: Sequence[tuple[int, list[str]]]) -> list[str] | None:
    """Return the names of rows that alternate names and values; None for other rows."""
    filled = [_of_all_channels(cells) for _, cells in rows if len(cells) > 1]
    if len(filled) < _LEAST_ROWS:
        return None
    names = filled[0][0::2]
    is_same = all(cells[0::2] == names for cells in filled)
    texts = all(name and not _DIGIT.search(name) for name in names)
    return names if is_same and texts and len(names) > 1 and len(set(names)) > 1 else None


def _of_all_channels(cells: list[str]) -> list[str]:
    """Return the cells before the first channel of a meter of several: those of their sums."""
    first = next((at for at, cell in enumerate(cells) if _CHANNEL.fullmatch(cell)), len(cells))
    return cells[:first]


def _header(rows: Sequence[tuple[int, list[str]]]) -> tuple[list[str], int] | None:
    """Return the headings, and how many lines of the head are above the first row."""
    for at, (_, cells) in enumerate(rows):
        below = [each for _, each in rows[at + 1 :] if any(each) and each[0] != "#"]
        if len(below) < _LEAST_BELOW:
            return None
        is_comment = cells[:1] != [] and cells[0].startswith("#")
        names = _bare(cells)
        if len(names) < _LEAST_COLUMNS or any(map(is_value, names)):
            continue
        units = rows[at + 1][1]
        if is_comment and units[:1] and units[0].startswith("#"):
            marks = _bare(units)
            if len(marks) == len(names) and all(map(_UNIT.fullmatch, marks)):
                names = [f"{n} [{u}]" if u != "-" else n for n, u in zip(names, marks, strict=True)]
                return (names, at + 2) if _fits(names, rows[at + 2 :]) else None
        elif (
            len(units) == len(cells)
            and not any(map(is_value, units))
            and len(set(map(str.lower, units))) > _LEAST_COLUMNS
            and _fits(units, rows[at + 2 :])
        ):
            return _grouped(names, units), at + 2
        if _fits(names, rows[at + 1 :]):
            return names, at + 1
    return None


def _bare(cells: Sequence[str]) -> list[str]:
    """Return the cells of a header line without the mark of a comment."""
    if cells[:1] == ["#"]:
        return list(cells[1:])
    return [cells[0].lstrip("#").strip(), *cells[1:]] if cells else []


def _fits(names: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Return whether the next rows have a cell for each heading, and a column of numbers.

    Series that are not measured at one time leave cells without one.
    """
    some = [cells for _, cells in rows if any(cells) and not cells[0].startswith("#")][:8]
    fitting = [cells for cells in some if len(cells) == len(names)]
    if len(fitting) < _LEAST_BELOW or len(fitting) < 0.7 * len(some):
        return False
    columns = [*zip(*fitting, strict=True)]
    return any(any(map(is_value, cells)) and all(map(is_number, cells)) for cells in columns)


def _grouped(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return names with the group above each; a group holds until the next one."""
    headings, group = [], ""
    for above, name in zip(groups, names, strict=True):
        group = above or group
        headings.append(f"{group} {name}" if group and group.lower() != "system" else name)
    return headings


def _distinct(headings: Sequence[str]) -> list[str]:
    """Return headings, each once: further ones of a name get a number."""
    seen: dict[str, int] = {}
    distinct = []
    for heading in headings:
        seen[heading] = seen.get(heading, 0) + 1
        distinct.append(heading if seen[heading] == 1 else f"{heading} {seen[heading]}")
    return distinct


def _take(
    layout: Layout, rows: Iterator[tuple[int, list[str]]], is_comma_separated: bool = False
) -> Layout:
    width = len(layout.headings)
    good_rows: list[list[str]] = []
    for number, cells in rows:
        if len(cells) == width + 1 and not cells[-1]:
            cells = cells[:-1]
        if good_rows and not _DIGIT.search(cells[0]) and _DIGIT.search(good_rows[0][0]):
            # A line of a summary, such as `Average`, or a bar above it.
            continue
        if len(cells) == width and cells != layout.headings:
            layout.lines.append(number)
            good_rows.append(cells)
        elif len(cells) != width and any(map(is_value, cells)):
            layout.refused.append((number, " ".join(cells)[:80]))
    layout.columns = [list(column) for column in zip(*good_rows, strict=True)] if good_rows else []
    _take_commas(layout, is_comma_separated)
    return layout


def _take_commas(layout: Layout, is_comma_separated: bool) -> None:
    """Write the numbers of each column with a decimal point: all have the same mark.

    A column whose commas may be either mark has that of the others; where none tells it is doubted.
    The numbers with commas of a column with both marks are left out, with a doubt too.
    """
    written = {}
    for at, cells in enumerate(layout.columns):
        if any("," in cell for cell in cells):
            matches = [match for cell in {*cells} if (match := WRITTEN.fullmatch(cell))]
            if any("," in match[1] for match in matches):
                written[at] = [[match[1] for match in matches], [match[2] for match in matches]]
    unclear = [at for at, (numbers, _) in written.items() if is_either(numbers)]
    marks = {"." for at, cells in enumerate(layout.columns) if unclear and at not in written
             if any(map(POINT.fullmatch, cells))}  # fmt: skip
    for at in sorted(written, key=lambda at: at in unclear):
        numbers, units = written[at]
        heading, example = layout.headings[at], next(each for each in numbers if "," in each)
        if at in unclear:
            is_decimal = marks == {","} or (marks != {"."} and not is_comma_separated)
            plain: list[str] | None = [n.replace(",", "." if is_decimal else "") for n in numbers]
            if len(marks) != 1:
                said = "a decimal mark" if is_decimal else "a mark of thousands"
                layout.unclear.append(
                    f"the comma of {heading}, as in {example}, is taken as {said}"
                )
        else:
            plain = without_commas(numbers, is_comma_separated)
        if plain is None:
            detail = f"{heading} has numbers with other marks: those with a comma are left out"
            layout.unclear.append(f"{detail}, such as {example}")
            continue
        if at not in unclear:
            marks.add("." if example.replace(",", "") in plain else ",")
        texts = {f"{n}{u}": f"{p}{u}" for n, u, p in zip(numbers, units, plain, strict=True)}
        layout.columns[at] = [texts.get(cell, cell) for cell in layout.columns[at]]
