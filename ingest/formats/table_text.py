"""Separated text: whether it is a table, what separates its cells, and its header."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from data.errors import FormatError
from ingest.declarations import TableDeclaration
from ingest.formats import json_rows
from ingest.formats.documents import may_be_document
from ingest.formats.headless_rows import are_headless_rows
from ingest.formats.json_cells import parsed
from ingest.formats.logged_blocks import are_blocks
from ingest.formats.logged_rows import logged_objects, logged_rows
from ingest.formats.reported_blocks import are_reported
from ingest.formats.table_footers import SUMMARY
from ingest.formats.table_lines import HEADING, first_section, without_frames
from ingest.formats.table_rows import LOOKED_AT, ColumnKinds, cells_beyond, fitted_header, may_recur
from ingest.formats.workbook import is_workbook
from ingest.formats.written_numbers import is_number, written_numbers
from ingest.settings.headings import is_measurement, is_setting, read_heading

_PARQUET: Final = b"PAR1"
_SEPARATORS: Final = (",", ";", "\t", "|", None)
SEPARATED: Final = re.compile(r"\.[ct]sv(\.\w+)?$", re.IGNORECASE)
# A unit below a name of a column.
_UNIT: Final = re.compile(r"[A-Za-z%°µμ][A-Za-z/%*²^0-9-]{0,9}")
# A heading that is a setting: `1200MHz`.
_STEP: Final = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z%]*)")
_SHARE: Final = re.compile(r"^(\d{1,2})%$")
# The least that makes a file an undeclared table, by whether blanks separate the cells.
_LEAST_COLUMNS: Final = {True: 3, False: 2}
_LEAST_ROWS: Final = {True: 3, False: 1}
# The header and two rows stand above a note that no empty line separates.
_LEAST_BEFORE_NOTES: Final = 3
# A head of this many bytes may end within a line.
CUT_HEAD: Final = 1 << 16


def sniff(name: str, head: bytes) -> bool:
    """Return whether the head is a well-formed table.

    Its first row has names, all other rows have the same number of cells, and at least one column
    has numbers only.
    """
    if head.startswith(_PARQUET) or is_workbook(name, head):
        return True
    if b"\0" in head:
        return False
    text = head.decode("utf-8-sig", "replace")
    if len(head) >= CUT_HEAD:
        text = text.rpartition("\n")[0]
    all_lines = [*without_frames(text.split("\n"))]
    lines = [line for line in all_lines if line.strip()]
    if not lines:
        return False
    is_named = name.lower().endswith((".jsonl", ".ndjson"))
    if is_named or (len(lines) > 1 and lines[0].startswith('{"') and lines[1].startswith("{")):
        return isinstance(parsed(lines[0]), dict)
    if may_be_document(head, name) and not lines[0].startswith("{'"):
        return json_rows.is_table(head, name)
    if logged_objects(lines) or are_blocks(text.split("\n")) or are_headless_rows(lines):
        return True
    if are_reported(lines):
        return True
    has_steps = is_measurement(name.partition(".")[0])
    is_table = any(_is_table(all_lines, separator, has_steps) for separator in _SEPARATORS)
    return is_table or logged_rows(lines) is not None


def _is_table(lines: Sequence[str], separator: str | None, has_steps: bool = False) -> bool:
    """Return whether lines are a table.

    Args:
        has_steps: Whether headings may be rising numbers, the steps of a setting, as they may be
            above rows that all begin with the name of a measurement.
    """
    try:
        content = table_rows(first_section(lines, separator), separator)
        rows = [[*map(str.strip, row)] for _, row in islice(content, LOOKED_AT)]
    except FormatError:
        return False
    header, *body = rows or [[]]
    body = [row for row in body if row != header]
    is_blank = separator is None
    if not is_blank and cells_beyond(header, body):
        body = [row[: len(header)] for row in body]
    header = fitted_header(header, body)
    kinds = ColumnKinds(header, body)
    if not is_blank:
        body = [row + [""] * len(kinds.lacked_at_end(row)) for row in body]
    names = header[1:] if header and not header[0] else header
    return (
        len(header) >= _LEAST_COLUMNS[is_blank]
        and len(body) >= _LEAST_ROWS[is_blank]
        and (all(map(HEADING.fullmatch, names)) or _are_steps(header, body, has_steps))
        and (len({*names}) == len(names) or (not is_blank and may_recur(names)))
        and all(len(row) == len(header) for row in body)
        and (
            any(_are_numbers([row[at] for row in body], separator) for at in range(len(header)))
            or (len(header) > 2 and _are_runs_in_columns(body, separator))
        )
    )


def _are_runs_in_columns(body: Sequence[Sequence[str]], separator: str | None) -> bool:
    """Return whether each row has a measurement, as numbers, or what was set in each run."""
    measured = [row[1:] for row in body if is_measurement(row[0])]
    others = [row[0] for row in body if not is_measurement(row[0])]
    are_numbers = all(_are_numbers(cells, separator) for cells in measured)
    return bool(measured) and are_numbers and all(map(is_setting, others))


def _are_steps(header: Sequence[str], body: Sequence[Sequence[str]], has_steps: bool) -> bool:
    matches = [step for each in header[1:] if (step := _STEP.fullmatch(each))]
    steps, units = [float(step[1]) for step in matches], {step[2] for step in matches}
    is_rising = len(steps) == len(header) - 1 > 1 == len(units) and steps == sorted({*steps})
    if not is_rising or (header[0] and not HEADING.fullmatch(header[0])):
        return False
    # `800MHz` says with its unit that it was set; a bare number needs the name of the file.
    is_crossed = (has_steps or bool(matches[0][2])) and not is_measurement(header[0])
    return is_crossed or all(is_measurement(row[0]) for row in body)


def table_rows(
    lines: Iterable[str], separator: str | None, notes: dict[int, str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows of a table, each with its last line number.

    Titles above the header are left out; units below it stand behind its names: `Time (s)`. Where
    blanks separate cells, a header without a name of the first column, as R writes it, gets an
    empty one.

    Args:
        notes: Gets what is left out above and below the header, by its line number.

    Raises:
        FormatError: As `split_lines`.
    """
    notes = {} if notes is None else notes
    lines = lines if separator is None else _without_titles(lines, separator, notes)
    split = split_lines(content_lines(lines, separator, notes), separator)
    if separator is None:
        first = list(islice(split, 2))
        if len(first) == 2 and len(first[1][1]) == len(first[0][1]) + 1 and first[1][1][-1].strip():
            first[0] = (first[0][0], ["", *first[0][1]])
        yield from chain(first, split)
        return
    rows = _without_last(split, separator)
    first = _one_header(list(islice(rows, 3)))
    if len(first) == 3 and _are_units(*(cells for _, cells in first)):
        (line, names), (_, units), row = first
        pairs = zip(names, map(_bare_unit, units), strict=True)
        first = [(line, [f"{name} ({unit})" if unit else name for name, unit in pairs]), row]
    yield from chain(first, rows)


def _without_last(
    rows: Iterator[tuple[int, list[str]]], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows without the empty cells that a separator at the end of the header makes.

    A name has no comma at an end, where another mark separates, and each bracket is closed.
    """
    line, header = next(rows, (0, []))
    names = header[: max((n for n, cell in enumerate(header, 1) if cell.strip()), default=0)]
    names = names if separator == "," else [_mended(name) for name in names]
    if line:
        yield line, names
    for line, cells in rows:
        is_filled = any(map(str.strip, cells[len(names) :]))
        yield line, cells if is_filled else cells[: len(names)]


def _mended(name: str) -> str:
    bare = name.strip().strip(",").strip()
    return f"{bare})" if bare.count("(") > bare.count(")") else bare


def _one_header(first: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Return the first three rows with one header, where groups stand above the names.

    pandas repeats a group above each of its columns, a spreadsheet writes it once; below both
    pandas may write the names of the first columns.
    """
    if len(first) < 3:
        return first
    (line, above), (_, below), (_, third) = first
    # The last group is of several columns: `,CPU,,GPU,`.
    if above and not above[0].strip():
        above = [*above, *([""] * (len(below) - len(above)))]
    if len({len(above), len(below), len(third)}) > 1:
        return first
    groups, owns, others = ([*map(str.strip, cells)] for cells in (above, below, third))
    if len({*groups}) == len(groups) or any(map(is_number, (*groups, *owns))):
        return first
    # What `describe` of pandas writes below each quantity.
    is_described = {"count", "mean", "std"} <= {*owns}
    if is_described:
        shares = [_SHARE.sub(r"p\1", own) for own in owns]
        owns = ["median" if share == "p50" else share for share in shares]
    names, group, is_index = [], "", True
    for title, own, other in zip(groups, owns, others, strict=True):
        group = title or (group if own else "")
        is_unit_last = read_heading(group).unit is not None and not is_described
        joined = (own, group) if is_unit_last else (group, own)
        names.append(" ".join(joined).strip() if group or own else other * (not is_number(other)))
        is_index &= not (other and (title or own))
    if len({*names}) < len(names):
        return first
    return [(line, names)] if is_index else [(line, names), first[2]]


def _are_units(header: Sequence[str], cells: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether the cells below a header are units: of columns that are numbers."""
    units = [
        (unit, value.strip())
        for c, value in zip(cells, row, strict=False)
        if (unit := _bare_unit(c))
    ]
    are_units = all(_UNIT.fullmatch(unit) and _are_numbers([cell], ";") for unit, cell in units)
    return len(header) == len(cells) == len(row) and bool(units) and are_units


def _bare_unit(cell: str) -> str:
    """Return the unit in a cell below a heading; empty for a dash, which says that it has none."""
    return cell.strip(" ()[]").strip("-")


def _without_titles(lines: Iterable[str], separator: str, notes: dict[int, str]) -> Iterator[str]:
    """Yield lines; those of titles above the header are empty.

    A title has at most half as many cells as most lines; the first line with as many has names.
    `notes` gets them by line number.
    """
    source = iter(lines)
    head = list(islice(source, LOOKED_AT))
    cells = [[c.strip() for c in line.strip("\ufeff\r\n").split(separator)] for line in head]
    # A spreadsheet fills up its rows with empty cells.
    counts = Counter(sum(map(bool, each)) for each in cells if len(each) > 1)
    counts.pop(0, None)
    usual = counts.most_common(1)[0][0] if counts else 0
    at = next((i for i, each in enumerate(cells) if sum(map(bool, each)) >= usual), 0)
    is_short = all(2 * sum(map(bool, each)) <= usual for each in cells[:at])
    is_text = not any(line.lstrip("\ufeff \t").startswith("#") for line in head[:at])
    names = [name.strip('"') for name in cells[at]] if at else [""]
    are_names = all(map(HEADING.fullmatch, names)) and len({*names}) == len(names)
    titles = at if is_short and is_text and are_names else 0
    notes |= {n: line.strip() for n, line in enumerate(head[:titles], 1) if line.strip(" \t\r,;")}
    yield from chain([""] * titles, head[titles:], source)


def content_lines(
    lines: Iterable[str], separator: str | None, notes: dict[int, str]
) -> Iterator[str]:
    """Yield the lines of a table; those of comments above it and of notes below it are empty.

    A note has no separator and stands behind an empty line, or is of several words below rows: it
    may have a separator then, but half of the header's cells at most, and no number. A comment with
    the names of the columns is the header.

    Args:
        notes: Gets the notes and the comments below the header, by line number.
    """
    comments: list[str] = []
    is_begun = is_after_gap = is_quoted = False
    rows = width = 0
    for number, line in enumerate(lines, 1):
        if not is_begun and line.lstrip("\ufeff \t").startswith("#"):
            comments.append(line)
            continue
        if not is_begun and line.strip():
            is_begun = True
            # Half of the cells of a row are numbers, and none of a header.
            cells = re.split(r"[,;\t ]+", line.strip())
            is_row = bool(comments) and sum(map(is_number, cells)) * 2 > len(cells)
            names = comments[-1].lstrip("\ufeff \t#") if is_row else ""
            yield from [""] * (len(comments) - bool(names))
            if names:
                yield names
        cells = line.split(separator)
        width = width or (len(cells) if is_begun else 0)
        filled = [cell for cell in cells if cell.strip()]
        is_total = is_begun and len(filled) == 1 and SUMMARY.fullmatch(filled[0].strip('" \r'))
        is_gap = not filled or bool(separator is not None and is_total)
        # A spreadsheet fills up gaps and notes with empty cells.
        is_note = separator is not None and (len(filled) == 1 or line.lstrip()[:1] == "#")
        is_prose = 2 * len(cells) <= width and len(filled) == len(cells)
        is_prose = is_prose and not any(is_number(cell.strip()) for cell in cells)
        is_prose |= len(cells) == 1
        is_bare = not is_quoted and separator is not None and is_prose
        is_text = is_bare and len(line.split()) > 1 and rows >= _LEAST_BEFORE_NOTES
        is_after_gap = is_begun and (is_gap or is_text or (is_note and is_after_gap))
        # A quoted cell may have several lines.
        is_quoted ^= line.count('"') % 2 == 1
        is_left_out = is_after_gap or (line.lstrip()[:1] == "#" and not is_quoted)
        rows += not is_left_out
        if filled and is_left_out:
            notes[number] = " ".join(map(str.strip, filled))
        yield "" if is_left_out else line


def _are_numbers(cells: Sequence[str], separator: str | None) -> bool:
    known = [cell for cell in cells if cell]
    if all(map(is_number, known)):
        return bool(known)
    return separator is not None and written_numbers(known, separator == ",") is not None


def fault_of(head: bytes) -> str:
    """Return what breaks separated text; empty for nothing."""
    before, nul, _ = head.partition(b"\0")
    if nul:
        line = before.count(b"\n") + 1
        return f"a NUL byte in line {line}: broken, or UTF-16 and not UTF-8"
    if len(head) < CUT_HEAD and head.count(b'"') % 2:
        quotes = (n for n, line in enumerate(head.split(b"\n"), 1) if line.count(b'"') % 2)
        return f"the quote in line {next(quotes)} is not closed"
    return _unnamed_in(head)


def _unnamed_in(head: bytes) -> str:
    """Return that all rows are longer than their header; empty for others."""
    lines = [*filter(str.strip, head.decode("utf-8-sig", "replace").split("\n"))][:LOOKED_AT]
    for separator in filter(None, _SEPARATORS):
        names, *rows = csv.reader(lines, delimiter=separator)
        widths = {*map(len, rows)}
        width = max(widths, default=0)
        if 1 < len(names) < width and len(widths) == 1 and all(map(HEADING.fullmatch, names)):
            said = f"the header has {len(names)} cells, and all rows below have {width}"
            return f"{said}: names are missing, or a separator within a cell needs quotes"
    return ""


def has_header_of(head: bytes, tables: Iterable[TableDeclaration]) -> bool:
    """Return whether the first line is the header of a declared table."""
    if b"\0" in head:
        return False
    first = next(filter(str.strip, head.decode("utf-8-sig", "replace").split("\n")), "")
    headers = [headings_of(next(split_lines([first], mark), (0, []))[1]) for mark in _SEPARATORS]
    return any(t.header and t.fits_header(header) for t in tables for header in headers)


def headings_of(cells: Iterable[str]) -> list[str]:
    """Return the headings without blanks around them and without a byte-order mark."""
    return [cell.lstrip("\ufeff").strip() for cell in cells]


def separator_of(lines: Sequence[str], first: str) -> str | None:
    """Return the separator that makes the rows well formed, else the first one in the header.

    None stands for blanks.
    """
    fitting = (mark for mark in _SEPARATORS if _is_table(lines, mark))
    return next(fitting, next((mark for mark in _SEPARATORS if mark and mark in first), None))


def split_lines(lines: Iterable[str], separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that has cells, with its last line number.

    A quoted cell may contain line breaks.
    """
    if separator is None:
        for number, line in enumerate(lines, 1):
            if cells := line.split():
                yield number, [cell.strip('"') for cell in cells]
        return
    text = (f"{line}\n" for line in lines)
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield reader.line_num, cells
    except csv.Error as error:
        reason = "a carriage return inside a line" if "new-line" in str(error) else error
        raise FormatError(f"no table: {reason} (line {reader.line_num})") from error
