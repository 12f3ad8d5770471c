"""The tables of separated text and of JSON lines: their headings, and the cells of good rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from data.errors import FormatError
from ingest.declarations import TableDeclaration
from ingest.files.packed import Packed
from ingest.files.text_lines import iterate_lines, without_separator
from ingest.formats.headless_rows import are_headless_rows, headless_rows
from ingest.formats.json_cells import Cell, flatten, parsed, summaries
from ingest.formats.logged_blocks import TITLES, are_blocks, blocks_of
from ingest.formats.logged_rows import (
    LoggedObjects,
    LoggedRows,
    logged_objects,
    logged_rows,
    with_settings,
)
from ingest.formats.plain_cells import (
    has_decimal_commas,
    with_filled_cells,
    with_plain_numbers,
    with_summed_lists,
    without_bounds,
)
from ingest.formats.reported_blocks import are_reported, reported_blocks
from ingest.formats.table_footers import doubt_notes, drop_footers, keep_whole
from ingest.formats.table_lines import Section, sections_of, without_frames
from ingest.formats.table_rows import (
    LOOKED_AT,
    ColumnKinds,
    Table,
    cells_beyond,
    check_columns,
    check_rows,
    told_apart,
)
from ingest.formats.table_text import (
    content_lines,
    fitted_header,
    headings_of,
    separator_of,
    split_lines,
    table_rows,
)
from ingest.records import ProblemList
from ingest.settings.column_names import name_of_values
from ingest.settings.tables import CORE, declaration_of

SECTION: Final = "section"  # Heading of the titles above several tables of a file.
# Titles of a second table that says again what the rows of the first say.
_OF_ROWS_ABOVE: Final = re.compile(
    r"\W*(?:summary|overall|totals?|averages?|(?:geometric |arithmetic )?means?|medians?)"
    r"(?: (?:values|results|of .*|over .*))?\W*",
    re.IGNORECASE,
)
_POINT: Final = re.compile(r"[:=]\s*\d+\.\d")
# Lines by which the separator is chosen.
_FIRST_LINES: Final = 4096


def text_tables(
    blocks: Iterable[bytes],
    name: str,
    problems: ProblemList,
    tables: Sequence[TableDeclaration] = (),
    most_rows: int | None = None,
) -> list[Table]:
    """Split the tables of a text into headings and cells.

    Tables with one header are one; titles above them are its column SECTION.

    Args:
        tables: Declarations, by which a row of a wrong length may be repaired; of what a person
            declared no row is left out as a total of others.
        most_rows: Bound of the rows; None for none.

    Raises:
        FormatError: A table has no header, or too many rows or columns.
    """
    lines = without_separator(iterate_lines(blocks))
    head = list(islice(lines, _FIRST_LINES))
    first = next((line for line in head if line.strip("\ufeff \t\r#")), "").lstrip("\ufeff")
    if first.startswith("{") and not first.startswith("{'"):
        return [_parse_json(chain(head, lines), name, problems, most_rows)]
    if (objects := logged_objects(head)) is not None:
        rows_of_log = _objects_of_log(chain(head, lines), objects, problems)
        return [with_plain_numbers(_table_of_objects(rows_of_log, name, most_rows), False)]
    if are_reported(head):
        return [_table_of_objects(reported_blocks(chain(head, lines)), name, most_rows)]
    if are_blocks(head):
        whole = _table_of_objects(blocks_of(chain(head, lines)), name, most_rows)
        whole.headings = [_name_of_titles(whole, at) for at, _ in enumerate(whole.headings)]
        # Beside decimal points a comma is of thousands.
        return [with_plain_numbers(whole, any(map(_POINT.search, head)))]
    reader = _Reader(name, problems, tables, most_rows)
    if are_headless_rows(head):
        of_tool = _Lines(chain(head, lines))
        return [reader.read(Section(), headless_rows(of_tool, name), ",", of_tool, {})]
    separator = separator_of([*without_frames(head)], first)
    if names := next((each.names for each in tables if each.names), ()):
        plain = _Lines(chain(head, lines))
        rows = chain([(0, [*names])], split_lines(content_lines(plain, separator, {}), separator))
        return [reader.read(Section(), rows, separator, plain, {})]
    lines = without_frames(chain(head, lines))
    if (of_log := logged_rows(head)) is not None and separator == ",":
        lines = _rows_of_log(lines, of_log, problems)
    return _joined([*reader.sections(lines, separator)], name)


def _name_of_titles(table: Table, at: int) -> str:
    """Return what a column is called: one of titles as their texts say, if they say it."""
    heading = table.headings[at]
    of = heading.startswith(TITLES) and name_of_values({str(c) for c in table.column(at) if c})
    return of if of and of not in table.headings else heading


def _joined(found: Sequence[tuple[Sequence[str], Table]], name: str) -> list[Table]:
    """Return the tables with those of one header as one.

    Args:
        found: Each with its titles.

    Raises:
        FormatError: There is none.
    """
    if not found:
        raise FormatError(f"no header ({name})")
    joined = Table.stacked(found, SECTION)
    for number, (title, table) in enumerate(joined if len(joined) > 1 else (), 1):
        table.place = title or f"table {number}"
    return [table for _, table in joined]


class _Reader:
    """Reads the tables of a text; has what applies to all of them."""

    def __init__(
        self,
        name: str,
        problems: ProblemList,
        tables: Sequence[TableDeclaration],
        most_rows: int | None,
    ) -> None:
        self._name = name
        self._problems = problems
        self._tables = tables
        self._most_rows = most_rows

    def sections(
        self, lines: Iterable[str], separator: str | None
    ) -> Iterator[tuple[Sequence[str], Table]]:
        """Yield each table with its titles; one behind the first that is none is a problem.

        Raises:
            FormatError: As `text_tables`.
        """
        for number, (section, own) in enumerate(sections_of(lines, separator)):
            notes: dict[int, str] = {}
            counted = _Lines(own)
            try:
                rows = table_rows(counted, separator, notes)
                table = self.read(section, rows, separator, counted, notes)
            except FormatError as error:
                if not number:
                    raise
                detail = f"{error}; this table is not read"
                self._problems.add("bad_content", "refused", detail, section.start + 1)
            else:
                title = section.titles[-1] if section.titles else ""
                if number and _OF_ROWS_ABOVE.fullmatch(title):
                    detail = f"{title[:80]!r}: a table of means or totals; no runs"
                    self._problems.add("summary_row", "refused", detail, section.start + 1)
                    continue
                yield section.titles, table

    def read(
        self,
        section: Section,
        rows: Iterator[tuple[int, list[str]]],
        separator: str | None,
        lines: "_Lines",
        notes: dict[int, str],
    ) -> Table:
        """Return one table.

        Args:
            rows: Its header and its rows.
            notes: What is left out above and below the header, by line number in the section.
        """
        name, problems = self._name, self._problems
        at, header = next(rows, (0, []))
        # Each with its text, since the first ones are read ahead.
        texted = ((line, cells, "" if separator else lines.last) for line, cells in rows)
        first = [*islice(texted, LOOKED_AT)]
        headings = headings_of(header)
        some = [self._repaired(headings, cells, "") for _, cells, _ in first]
        beyond = cells_beyond(headings, some) if separator else 0
        if beyond:
            detail = f"all rows have {beyond} cells behind the last name of the header; not read"
            problems.add("field_count", "doubted", detail, section.start + at)
            some = [cells[: len(headings)] for cells in some]
        fitted = fitted_header(headings, some) if separator else headings
        if lacking := headings[len(fitted) :]:
            detail = f"all rows lack the last of the header's cells: no {', '.join(lacking)}"
            problems.add("field_count", "doubted", detail, section.start + at)
        written = headings = fitted
        if len(headings) < 2 and not any(headings):
            raise FormatError(f"no header ({name})")
        check_columns(len(headings), name)
        headings = told_apart(headings, section.start + at, problems)
        table, last, kinds = Table(headings), at, ColumnKinds(headings, some)
        for line, cells, text in chain(first, texted):
            if beyond and len(cells) == len(headings) + beyond:
                cells = cells[: len(headings)]
            if len(cells) != len(headings):
                cells = self._repaired(headings, cells, text)
            if lacking := kinds.lacked_at_end(cells) if separator else []:
                detail = f"{len(cells)} fields, expected {len(headings)}: no {', '.join(lacking)}"
                problems.add("field_count", "doubted", detail, section.start + line)
                cells = [*cells, *("" for _ in lacking)]
            if len(cells) != len(headings):
                if not cells[0].lstrip().startswith("#"):
                    detail = f"{len(cells)} fields, expected {len(headings)}; row dropped"
                    problems.add("field_count", "refused", detail, section.start + line)
                    table.refused += 1
            elif cells[0].strip() == written[0] and headings_of(cells) == written:
                detail = "the header stands between rows again; passed over"
                problems.add("repeated_header", "repaired", detail, section.start + line)
            else:
                table.append(section.start + line, cells)
                last = line
            check_rows(len(table) + table.refused, self._most_rows, name)
        doubt_notes(notes, range(at + 1, last), section.start, problems)
        fitting = [each for each in self._tables if each.fits_header(headings)]
        if whole := {name: text for each in fitting for name, text in each.whole.items()}:
            table = keep_whole(table, whole, problems)
        own = (each for each in fitting if not each.is_shipped and not each.guessed)
        drop_footers(table, problems, any(own))
        if separator is None:
            return table
        is_plain = separator == "," or not has_decimal_commas(table, problems)
        table = with_filled_cells(without_bounds(table, problems), problems)
        columns = declaration_of(self._tables, table.headings).columns
        took = {name for name, each in columns.items() if each.to == "duration_s"}
        return with_plain_numbers(with_summed_lists(table), is_plain, took)

    def _repaired(self, headings: list[str], cells: list[str], line: str) -> list[str]:
        """Return a row of another length with its empty cell, where one can be told.

        Args:
            line: Its text where blanks separate cells.
        """
        # Two blanks in sequence may enclose an empty cell.
        spaced = line.strip(" \t").split(" ") if line else []
        cells = spaced if len(spaced) == len(headings) else cells
        return _with_gap(self._tables, headings, cells) if self._tables else cells


def _with_gap(
    tables: Sequence[TableDeclaration], headings: list[str], cells: list[str]
) -> list[str]:
    """Insert an empty cell into a row that lacks one: the core, which totals of runs do not have,
    else the replicate.

    The DVFS code of such a row is one column too far left.
    """
    columns = declaration_of(tables, headings).columns
    names = [columns[each].to if each in columns else each for each in headings]
    missing = CORE if CORE in names else "replicate"
    if len(cells) == len(headings) - 1 and {missing, "dvfs"} <= {*names}:
        index, code = names.index(missing), names.index("dvfs")
        if index < code and cells[code - 1][:2].lower() == "0x":
            return [*cells[:index], "", *cells[index:]]
    return cells


def _rows_of_log(lines: Iterable[str], rows: LoggedRows, problems: ProblemList) -> Iterator[str]:
    """Yield the header and the rows of a log; other lines are empty, and reported together."""
    passed = total = 0
    for line in lines:
        is_row = total == 0 or not line.strip() or rows.has(line)
        total += bool(line.strip())
        passed += not is_row
        yield line if is_row else ""
    detail = f"{passed} of {total} lines are no rows of the header; passed over"
    problems.add("other_lines", "doubted", detail)


def _objects_of_log(
    lines: Iterable[str], objects: LoggedObjects, problems: ProblemList
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the rows of a log with their lines; lines with other values are reported together."""
    passed = list[int]()
    for number, line in enumerate(with_settings(lines), 1):
        if (row := objects.row(line)) is not None:
            yield number, row
        elif objects.is_other(line):
            passed.append(number)
    if passed:
        detail = f"{len(passed)} lines have values with other names than the rows; passed over"
        problems.add("other_lines", "doubted", detail, passed[0])


class _Lines:
    """Lines; `last` is the one that was read last."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line


def _parse_json(
    lines: Iterable[str], name: str, problems: ProblemList, most_rows: int | None
) -> Table:
    refused: list[int] = []

    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if isinstance(entry := parsed(line), dict):
                yield number, entry
            else:
                problems.add("bad_line", "refused", f"no JSON object: {line[:80]!r}", number)
                refused.append(number)
                check_rows(len(refused), most_rows, name)

    table = _table_of_objects(objects(), name, most_rows)
    table.refused = len(refused)
    return table


def _table_of_objects(
    found: Iterable[tuple[int, Mapping[str, Any]]], name: str, most_rows: int | None
) -> Table:
    """Return objects, each with its line, as rows."""
    objects: Packed[tuple[int, dict[str, Cell]]] = Packed()
    headings = dict[str, None]()
    for number, entry in found:
        cells, lists = flatten(entry)
        cells |= summaries(lists)
        objects.append((number, cells))
        headings |= dict.fromkeys(cells)
        check_columns(len(headings), name)
        check_rows(len(objects), most_rows, name)
    table = Table(list(headings))
    for number, each in objects:
        table.append(number, [each.get(key) for key in headings])
    return table
