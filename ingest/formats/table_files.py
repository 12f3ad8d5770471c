"""The tables of a file: separated text, JSON, YAML, JSON lines, Parquet or a spreadsheet."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from data.errors import FormatError
from ingest.declarations import TableDeclaration
from ingest.files.packed import CHUNK
from ingest.formats import json_rows, workbook
from ingest.formats.documents import is_yaml, may_be_document, open_nodes, parse_document
from ingest.formats.job_steps import join_steps
from ingest.formats.json_cells import plain
from ingest.formats.table_footers import drop_failed
from ingest.formats.table_rows import MOST_ROWS, Table, bounded, check_columns, check_rows
from ingest.formats.table_text import CUT_HEAD
from ingest.formats.text_tables import text_tables
from ingest.formats.unit_columns import with_units_beside
from ingest.formats.workbook import is_workbook
from ingest.records import ProblemList, ReadContext
from ingest.settings.tables import declaration_of

# A document takes ten times its size in memory.
_MOST_DOCUMENT_BYTES: Final = 1 << 27
# Heading of the names of the sheets of a spreadsheet.
SHEET: Final = "sheet"


def parse_tables(
    blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
) -> list[Table]:
    """Return the tables of a file: steps of jobs are no rows.

    Raises:
        FormatError: As `text_tables`.
    """
    stated = [each for each in context.tables if (each.path or each.header) and not each.guessed]
    found = []
    for table in _parse_tables(blocks, context, problems):
        fitting = [each for each in stated if each.fits_header(table.headings)]
        if not fitting:
            drop_failed(table, problems)
        # What a header was declared for keeps it.
        declared = {name for each in fitting for name in each.columns}
        is_free = not any(each.header for each in fitting)
        found.append(with_units_beside(table, declared) if is_free else table)
    skips = [declaration_of(context.tables, table.headings).skip for table in found]
    return [join_steps(table, problems, skip) for table, skip in zip(found, skips, strict=True)]


def _parse_tables(
    blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
) -> list[Table]:
    head, blocks = _peeked(bounded(blocks, context.name))
    if is_workbook(context.name, head):
        return _parse_workbook(b"".join(blocks), context, problems)
    if context.name.lower().endswith(".parquet"):
        return [_parse_parquet(b"".join(blocks), context.name, MOST_ROWS)]
    if not _is_document(head, context.name):
        return text_tables(blocks, context.name, problems, context.tables, MOST_ROWS)
    return _parse_document(b"".join(blocks), context, problems)


def _parse_workbook(content: bytes, context: ReadContext, problems: ProblemList) -> list[Table]:
    """Return the tables of a spreadsheet: of each sheet that is one."""
    tables, faults = [], []
    sheets = workbook.sheets_of(content, context.name)
    for title, text in sheets:
        try:
            text_blocks = [text.encode()]
            own = text_tables(text_blocks, context.name, problems, context.tables, MOST_ROWS)
        except FormatError as error:
            faults.append(error)
            continue
        for table in own:
            table.place = f"{title} {table.place}".strip() if len(sheets) > 1 else table.place
        tables += [table for table in own if len(table)]
    if not tables:
        raise faults[0] if faults else FormatError(f"no sheet has a table ({context.name})")
    return [table for _, table in Table.stacked([([each.place], each) for each in tables], SHEET)]


def parse_table(
    blocks: Iterable[bytes],
    name: str,
    problems: ProblemList,
    tables: Sequence[TableDeclaration] = (),
) -> Table:
    """Return the table of a file that has one, of any length; its first one of several.

    Args:
        tables: As for `text_tables`.

    Raises:
        FormatError: As `text_tables`.
    """
    if name.lower().endswith(".parquet"):
        return _parse_parquet(b"".join(blocks), name, None)
    return text_tables(blocks, name, problems, tables)[0]


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
    if not text.startswith(("{", "[")) or not may_be_document(head, name):
        return is_yaml(name)
    first, _, rest = text.partition("\n")
    if first.startswith("{'"):
        # A dictionary of Python a line.
        return False
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
