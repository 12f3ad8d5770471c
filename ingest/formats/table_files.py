"""The tables of a file: separated text, JSON, YAML, JSON lines, Parquet or a spreadsheet."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from data.errors import FormatError
from ingest.declarations import TableDeclaration
from ingest.files.packed import CHUNK, Packed
from ingest.files.text_lines import iterate_lines
from ingest.formats import json_rows, workbook
from ingest.formats.documents import is_yaml, open_nodes, parse_document
from ingest.formats.headless_rows import are_headless_rows, headless_rows
from ingest.formats.job_steps import join_steps
from ingest.formats.json_cells import Cell, flatten, plain, summaries
from ingest.formats.logged_rows import (
    LoggedRows,
    are_logged_objects,
    logged_object,
    logged_rows,
)
from ingest.formats.table_footers import drop_footers
from ingest.formats.table_rows import (
    MOST_ROWS,
    Table,
    bounded,
    check_columns,
    check_rows,
    doubt_commas,
    with_plain_numbers,
)
from ingest.formats.table_text import CUT_HEAD, headings_of, separator_of, table_rows
from ingest.formats.workbook import is_workbook
from ingest.records import ProblemList, ReadContext
from ingest.settings.tables import CORE, target_kinds

# A document takes ten times its size in memory.
_MOST_DOCUMENT_BYTES: Final = 1 << 27
# Heading of the names of the sheets of a spreadsheet.
SHEET: Final = "sheet"
# Lines by which the separator is chosen.
_FIRST_LINES: Final = 4096


def declaration_of(tables: Sequence[TableDeclaration], headings: Sequence[str]) -> TableDeclaration:
    """Merge the declarations that fit these headings; an earlier one overrides a later one."""
    fitting = [table for table in tables if table.fits_header(headings)]
    merged: dict[str, Any] = {"kinds": fitting[-1].kinds if fitting else target_kinds({})}
    for field in fields(TableDeclaration):
        values = [getattr(table, field.name) for table in fitting]
        if field.name in ("path", "header", "kinds", "is_shipped"):
            continue
        if field.default_factory is dict:
            merged[field.name] = {n: each for own in reversed(values) for n, each in own.items()}
        elif any(values):
            merged[field.name] = next(filter(None, values))
    return TableDeclaration(**merged)


def parse_tables(
    blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
) -> list[Table]:
    """Return the tables of a file: several only of a document; steps of jobs are no rows.

    Raises:
        FormatError: As `parse_table`.
    """
    found = _parse_tables(blocks, context, problems)
    skips = [declaration_of(context.tables, table.headings).skip for table in found]
    return [join_steps(table, problems, skip) for table, skip in zip(found, skips, strict=True)]


def _parse_tables(
    blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
) -> list[Table]:
    head, blocks = _peeked(bounded(blocks, context.name))
    if is_workbook(context.name, head):
        return _parse_workbook(b"".join(blocks), context, problems)
    if not _is_document(head, context.name):
        return [parse_table(blocks, context.name, problems, context.tables, MOST_ROWS)]
    return _parse_document(b"".join(blocks), context, problems)


def _parse_workbook(content: bytes, context: ReadContext, problems: ProblemList) -> list[Table]:
    """Return the tables of a spreadsheet: of each sheet that is one."""
    tables, faults = [], []
    sheets = workbook.sheets_of(content, context.name)
    for title, text in sheets:
        try:
            text_blocks = [text.encode()]
            table = parse_table(text_blocks, context.name, problems, context.tables, MOST_ROWS)
        except FormatError as error:
            faults.append(error)
            continue
        table.place = title if len(sheets) > 1 else ""
        tables += [table] if len(table) else []
    if not tables:
        raise faults[0] if faults else FormatError(f"no sheet has a table ({context.name})")
    return _with_sheets(tables)


def _with_sheets(tables: Sequence[Table]) -> list[Table]:
    """Return the tables of sheets; those with one header are one table with a column `sheet`."""
    by_header: dict[tuple[str, ...], list[Table]] = {}
    for table in tables:
        by_header.setdefault((*table.headings,), []).append(table)
    joined = []
    for headings, alike in by_header.items():
        if len(alike) == 1 or SHEET in headings:
            joined += alike
            continue
        whole = Table([SHEET, *headings], sum(t.refused for t in alike), "", (SHEET,))
        whole.units = alike[0].units
        for table in alike:
            for line, cells in table.rows:
                whole.append(line, (table.place, *cells))
        joined.append(whole)
    return joined


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


def parse_table(
    blocks: Iterable[bytes],
    name: str,
    problems: ProblemList,
    tables: Sequence[TableDeclaration] = (),
    most_rows: int | None = None,
) -> Table:
    """Split a table into headings and cells; it is separated text, JSON lines, or Parquet.

    Args:
        tables: Declarations, by which a row of a wrong length may be repaired; of what a person
            declared no row is left out as a total of others.
        most_rows: Bound of the rows; None for none.

    Raises:
        FormatError: The table has no header, too many rows, columns or bytes, or two columns have
            the same name.
    """
    if most_rows is not None:
        blocks = bounded(blocks, name)
    if name.lower().endswith(".parquet"):
        return _parse_parquet(b"".join(blocks), name, most_rows)
    lines = _Lines(iterate_lines(blocks))
    head = list(islice(lines, _FIRST_LINES))
    first = next((line for line in head if line.strip("\ufeff \t\r#")), "")
    if first.lstrip("\ufeff").startswith("{"):
        return _parse_json(chain(head, lines), name, problems, most_rows)
    if are_logged_objects(head):
        logged = (logged_object(line) for line in chain(head, lines))
        objects = (json.dumps(each) if each else "" for each in logged)
        return _parse_json(objects, name, problems, most_rows)
    separator = separator_of(head, first)
    lines = _Lines(chain(head, lines))
    if (of_log := logged_rows(head)) is not None and separator == ",":
        lines = _Lines(_rows_of_log(lines, of_log, problems))
    notes: dict[int, str] = {}
    rows = table_rows(lines, separator, notes)
    if are_headless_rows(head):
        separator, rows = ",", headless_rows(lines, name)
    at, header = next(rows, (0, []))
    headings = headings_of(header)
    if len(headings) < 2 and not any(headings):
        raise FormatError(f"no header ({name})")
    check_columns(len(headings), name)
    if twice := sorted({each for each in headings if headings.count(each) > 1}):
        raise FormatError(f"two columns are called {twice[0]!r} ({name}, line {at})")
    table, last = Table(headings), at
    for line, cells in rows:
        if len(cells) != len(headings):
            if separator is None:
                # Two blanks in sequence may enclose an empty cell.
                spaced = lines.last.strip(" \t").split(" ")
                cells = spaced if len(spaced) == len(headings) else cells
            cells = _with_gap(tables, headings, cells) if tables else cells
        if len(cells) == len(headings):
            table.append(line, cells)
            last = line
        elif not cells[0].lstrip().startswith("#"):
            detail = f"{len(cells)} fields, expected {len(headings)}; row dropped"
            problems.add("field_count", "refused", detail, line)
            table.refused += 1
        check_rows(len(table) + table.refused, most_rows, name)
    for line in (each for each in notes if each < last):
        detail = f"{notes[line][:80]!r} between rows says nothing of them here: give a column to it"
        problems.add("text_between_rows", "doubted", detail, line)
    own = (each for each in tables if not each.is_shipped and not each.guessed)
    drop_footers(table, problems, any(each.fits_header(headings) for each in own))
    if separator is None:
        return table
    if separator != ",":
        doubt_commas(table, problems)
    return with_plain_numbers(table, separator == ",")


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


class _Lines:
    """Lines; `last` is the one that was read last."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line


def _peeked(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file, and all its blocks."""
    rest, head = iter(blocks), b""
    for block in rest:
        head += block
        if len(head) >= CUT_HEAD:
            break
    return head[:CUT_HEAD], chain([head], rest)


def _is_document(head: bytes, name: str) -> bool:
    """Return whether a head begins one document, and not an object of JSON for each row."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return is_yaml(name)
    first, _, rest = text.partition("\n")
    try:
        return not (isinstance(json.loads(first), dict) and rest.strip())
    except (ValueError, RecursionError):
        return not first.startswith('{"') or not first.rstrip().endswith("}")


def _parse_document(content: bytes, context: ReadContext, problems: ProblemList) -> list[Table]:
    if len(content) > _MOST_DOCUMENT_BYTES:
        raise FormatError(
            f"a document has {_MOST_DOCUMENT_BYTES >> 20} MiB at most ({context.name})"
        )
    text = content.decode("utf-8-sig", "replace")
    document, is_cut = parse_document(text, context.name)
    places = json_rows.choose_places(json_rows.places_of(document))
    if is_cut:
        problems.add("cut_document", "repaired", "the document was cut: its whole rows are read")
        if not (places := json_rows.whole_places(places, open_nodes(document, text))):
            end = f"ends in line {len(text.splitlines())}, before two objects are whole"
            raise FormatError(f"a document that {end} ({context.name})")
    if not places:
        raise FormatError(f"no list or dictionary of objects ({context.name})")
    if aside := json_rows.left_out(document, places):
        many = f"{len(aside)} objects like the rows stand apart, and are none, such as"
        one = "1 object like the rows stands apart, and is none:"
        detail = f"{one if len(aside) == 1 else many} {aside[0]}"
        problems.add("other_objects", "doubted", detail)
    return [_table_at(place, context, len(places) > 1) for place in places]


def _table_at(list_place: json_rows.Place, context: ReadContext, is_one_of_several: bool) -> Table:
    """Return the table at a place of a document; its lines are numbers of objects."""
    headings = dict.fromkeys(name for row in list_place.rows() for name in row)
    series = declaration_of(context.tables, list(headings)).replicates
    rows = list_place.rows(series) if series else list_place.rows()
    content = list(rows)
    headings = dict.fromkeys(name for row in content for name in row)
    check_columns(len(headings), context.name)
    check_rows(len(content), MOST_ROWS, context.name)
    varied = (n for n in headings if json_rows.is_set(n) and len({r.get(n) for r in content}) > 1)
    keys = (*list_place.keys, *varied)
    table = Table(list(headings), 0, list_place.path if is_one_of_several else "", keys)
    for number, row in enumerate(content, 1):
        table.append(number, [row.get(name) for name in headings])
    return table


def _parse_json(
    lines: Iterable[str], name: str, problems: ProblemList, most_rows: int | None
) -> Table:
    objects: Packed[tuple[int, dict[str, Cell]]] = Packed()
    refused, headings = 0, dict[str, None]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict):
            cells, lists = flatten(entry)
            cells |= summaries(lists)
            objects.append((number, cells))
            headings |= dict.fromkeys(cells)
            check_columns(len(headings), name)
        else:
            problems.add("bad_line", "refused", f"no JSON object: {line[:80]!r}", number)
            refused += 1
        check_rows(len(objects) + refused, most_rows, name)
    table = Table(list(headings), refused)
    for number, each in objects:
        table.append(number, [each.get(key) for key in headings])
    return table


def _parse_parquet(content: bytes, name: str, most_rows: int | None) -> Table:
    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            check_columns(len(file.schema_arrow), name)
            check_rows(file.metadata.num_rows, most_rows, name)
            table, line = Table(list(file.schema_arrow.names)), 1
            for batch in file.iter_batches(batch_size=CHUNK):
                columns = [[plain(value) for value in each.to_pylist()] for each in batch.columns]
                for cells in zip(*columns, strict=True):
                    table.append(line, cells)
                    line += 1
    except (pa.ArrowInvalid, OSError) as error:
        raise FormatError(f"no Parquet: {error} ({name})") from error
    return table
