"""Read a table with a header: separated text, JSON, JSON lines, or Parquet.

Commas, semicolons, tabs or blanks separate the cells of a text. The settings (`[[tables]]`)
declare the columns. An undeclared column keeps its own name, cleaned for SQL; numbers become a
metric, texts a label.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, repeat
from typing import Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data.aggregates import AGGREGATE_N, sd_column
from data.catalogue import SHIPPED
from data.declared import Column, Kind, Role
from data.errors import FormatError
from data.schema import COUNTERS, KNOBS, MEASUREMENTS
from ingest.files.packed import CHUNK, Packed, packed, unpacked
from ingest.files.text_lines import iterate_lines
from ingest.formats import json_rows
from ingest.formats.json_rows import Cell, plain
from ingest.formats.problem_list import ProblemList
from ingest.formats.written_numbers import written_numbers
from ingest.records import (
    Aggregate,
    ReadContext,
    SummaryRow,
    SummaryTable,
    TableColumn,
    TableDeclaration,
)
from ingest.settings.column_names import clean_name
from ingest.settings.dataset import UNKNOWN
from ingest.settings.tables import CORE, target_kinds

_PARQUET: Final = b"PAR1"
_SEPARATORS: Final = (",", ";", "\t", None)
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# Whole numbers as programs write them. A text such as 007 is not a number.
_WHOLE: Final = re.compile(r"-?(0|[1-9]\d{0,18})")
_UNSET: Final = frozenset({"", "nan", "-nan", "na", "n/a", "null", "none"})
_HEADING: Final = re.compile(r"[A-Za-z_%].{0,79}")
# The least that makes a file an undeclared table, by whether blanks separate the cells.
_LEAST_COLUMNS: Final = {True: 3, False: 2}
_LEAST_ROWS: Final = {True: 3, False: 1}
_LOOKED_AT: Final = 40
_MOST: Final = 2**63
# Whole numbers of so many digits are below `_MOST`.
_SURE_DIGITS: Final = 18
# A 0 in these columns, and in latencies, is not a measurement.
_RATES: Final = frozenset({"load_qps", "throughput_qps"})
# What tables call the number of the core that a row is of.
_CORE_HEADINGS: Final = frozenset({"core", "core_id", "cpu", "cpu_id"})
_MOST_CORES: Final = 1024
# A column of numbers with more values than this is no factor of an experiment.
_MOST_FACTORS: Final = 20
N_COLUMN: Final = Column(
    AGGREGATE_N, "label", "whole", "Runs in a row", "runs in row",
    description="Number of runs that a row of a table is the mean of; NULL for a run.",
)  # fmt: skip
# A head of this many bytes may end within a line.
_CUT_HEAD: Final = 1 << 16

# The most of a table of runs; a compressed file of some kB may hold far more.
MOST_ROWS: Final = 1_000_000
MOST_COLUMNS: Final = 1_000
_MOST_BYTES: Final = 1 << 30
# A document takes ten times its size in memory.
_MOST_DOCUMENT_BYTES: Final = 1 << 27
# Lines by which the separator is chosen.
_FIRST_LINES: Final = 4096

Mend = Callable[[list[str], list[str]], list[str]]


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

    def append(self, line: int, cells: Sequence[Cell]) -> None:
        """Add a row."""
        self._lines.append(line)
        self._rows.append(cells)
        if len(self._rows) == CHUNK:
            columns = zip(*self._rows, strict=True)
            self._chunks.append([packed(each) for each in (self._lines, *columns)])
            self._lines, self._rows = [], []

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


@dataclass(slots=True)
class _Target:
    """The column of the lake that a column of the table becomes.

    Attributes:
        index: Index in the row.
        name, kind: Name and type in the lake.
        declared: Its declaration.
        own: Description of an undeclared column; None for a declared one.
        least: Lowest valid value.
        scale_index: Index of the column that decides the scale of each row; None for none.
    """

    index: int
    heading: str
    name: str
    kind: str
    declared: TableColumn
    own: Column | None = None
    least: float = -math.inf
    scale_index: int | None = None


def sniff(name: str, head: bytes) -> bool:
    """Return whether the head is a well-formed table.

    Its first row has names, all other rows have the same number of cells, and at least one column
    has numbers only.
    """
    if head.startswith(_PARQUET):
        return True
    if b"\0" in head:
        return False
    text = head.decode("utf-8-sig", "replace")
    if len(head) >= _CUT_HEAD:
        text = text.rpartition("\n")[0]
    all_lines = text.split("\n")
    lines = [line for line in all_lines if line.strip()]
    is_named = name.lower().endswith((".jsonl", ".ndjson"))
    if is_named or (len(lines) > 1 and lines[0].startswith('{"') and lines[1].startswith("{")):
        return _is_json_lines(lines)
    if lines and lines[0].lstrip().startswith(("{", "[")):
        return json_rows.is_table(head)
    return any(_is_table(all_lines, separator) for separator in _SEPARATORS)


def _is_json_lines(lines: Sequence[str]) -> bool:
    try:
        first = json.loads(lines[0]) if lines else None
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict)


def _is_table(lines: Sequence[str], separator: str | None) -> bool:
    try:
        content = _content(lines, separator)
        rows = [[*map(str.strip, row)] for _, row in islice(_split(content, separator), _LOOKED_AT)]
    except FormatError:
        return False
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    is_blank = separator is None
    names = header[1:] if header and not header[0] else header
    return (
        len(header) >= _LEAST_COLUMNS[is_blank]
        and len(body) >= _LEAST_ROWS[is_blank]
        and all(_HEADING.fullmatch(each) for each in names)
        and len(set(names)) == len(names)
        and all(len(row) == len(header) for row in body)
        and any(_are_numbers([row[at] for row in body], separator) for at in range(len(header)))
    )


def _content(lines: Iterable[str], separator: str | None) -> Iterator[str]:
    """Yield the lines of a table; those of comments above it and of notes below it are empty.

    A note has no separator and stands behind an empty line. A comment with the names of the
    columns is the header.
    """
    comments: list[str] = []
    is_begun = is_after_gap = False
    for line in lines:
        if not is_begun and line.lstrip("\ufeff \t").startswith("#"):
            comments.append(line)
            continue
        if not is_begun and line.strip():
            is_begun = True
            is_row = bool(comments) and _starts_with_numbers(line)
            names = comments[-1].lstrip("\ufeff \t#") if is_row else ""
            yield from [""] * (len(comments) - bool(names))
            if names:
                yield names
        is_gap = not line.strip()
        is_note = separator is not None and (separator not in line or line.lstrip()[:1] == "#")
        is_after_gap = is_begun and (is_gap or (is_after_gap and is_note))
        yield "" if is_after_gap else line


def _starts_with_numbers(line: str) -> bool:
    """Return whether a line is a row and no header: half of its cells are numbers."""
    cells = re.split(r"[,;\t ]+", line.strip())
    return sum(map(_is_number, cells)) * 2 > len(cells)


def _are_numbers(cells: Sequence[str], separator: str | None) -> bool:
    if all(map(_is_number, cells)):
        return True
    return separator is not None and written_numbers(cells, separator == ",") is not None


def has_header_of(head: bytes, tables: Iterable[TableDeclaration]) -> bool:
    """Return whether the first line is the header of a declared table."""
    if b"\0" in head:
        return False
    lines = head.decode("utf-8-sig", "replace").split("\n")
    first = next((line for line in lines if line.strip()), "")
    headers = [_headings(next(_split([first], mark), (0, []))[1]) for mark in _SEPARATORS]
    return any(t.header and t.fits_header(header) for t in tables for header in headers)


def declaration_of(tables: Sequence[TableDeclaration], headings: Sequence[str]) -> TableDeclaration:
    """Merge the declarations that fit these headings; an earlier one overrides a later one."""
    fitting = [table for table in tables if table.fits_header(headings)]
    return TableDeclaration(
        workload=next((table.workload for table in fitting if table.workload), None),
        system=next((table.system for table in fitting if table.system), None),
        constants={n: value for table in reversed(fitting) for n, value in table.constants.items()},
        columns={
            name: column for table in reversed(fitting) for name, column in table.columns.items()
        },
        kinds=fitting[-1].kinds if fitting else target_kinds({}),
        aggregate=next((table.aggregate for table in fitting if table.aggregate), None),
        has_factors=any(table.has_factors for table in fitting),
        refusal=next((table.refusal for table in fitting if table.refusal), ""),
        replicates=next((table.replicates for table in fitting if table.replicates), ""),
        last_of=next((table.last_of for table in fitting if table.last_of), ""),
        totals={n: each for table in reversed(fitting) for n, each in table.totals.items()},
        skip={name: text for table in reversed(fitting) for name, text in table.skip.items()},
        guessed=next((table.guessed for table in fitting if table.guessed), ""),
    )


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> SummaryTable:
    """Read the rows as runs, each value in the unit of its column of `runs`.

    Args:
        blocks: The file's bytes, in blocks of any length.
        context: Declares the columns.

    Returns:
        Good rows in file order. Each bad row is a problem. One more problem names all undeclared
        columns.

    Raises:
        FormatError: The file is not a table with a header, or has too many rows or columns.
    """
    problems = ProblemList()
    first, *others = parse_tables(blocks, context, problems)
    table = _summary(first, context, problems)
    table.others = [_summary(other, context, ProblemList()) for other in others]
    return table


def parse_tables(
    blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
) -> list[Table]:
    """Return the tables of a file: several only of a JSON document.

    Raises:
        FormatError: As `parse_table`.
    """
    head, blocks = _peeked(_bounded(blocks, context.name))
    if not _is_document(head):
        mend = partial(_with_gap, context.tables)
        return [parse_table(blocks, context.name, problems, mend, MOST_ROWS)]
    return _parse_document(b"".join(blocks), context, problems)


def _summary(table: Table, context: ReadContext, problems: ProblemList) -> SummaryTable:
    """Convert the rows of a table to runs."""
    declaration = declaration_of(context.tables, table.headings)
    if declaration.refusal:
        raise FormatError(f"{declaration.refusal} ({context.name})")
    table = _without(table, declaration.skip, declaration.last_of)
    table = _with_totals(table, declaration.totals)
    targets = _targets(table, declaration, context.name)
    own = [target.own for target in targets if target.own is not None]
    declared = {target.name for target in targets if target.heading in declaration.columns}
    undeclared = [c for c in own if not c.description and c.name not in declared]
    if undeclared:
        names, knobs = (
            ", ".join(sorted(c.name for c in undeclared if (c.role == "knob") is are_knobs))
            for are_knobs in (False, True)
        )
        detail = f"nobody declared {names}: numbers are kept as metrics, texts as labels"
        detail += f"; {knobs}: of few values, kept as knobs" if knobs else ""
        problems.add("undeclared_columns", "doubted", detail)
    if declaration.guessed:
        detail = f"columns were guessed from headings and cells: {declaration.guessed}"
        problems.add("guessed_columns", "doubted", detail)
    shape = declaration.aggregate
    is_numbered = shape is None and all(target.name != "replicate" for target in targets)
    rows: Packed[SummaryRow] = Packed()
    workload = declaration.workload or UNKNOWN
    result = SummaryTable(workload, rows, columns=own, is_numbered=is_numbered, place=table.place)
    result.refused = table.refused
    result.has_cores = any(target.kind == CORE for target in targets)
    constants = {
        name: _convert(name, text, declaration.kinds[name], TableColumn())
        for name, text in declaration.constants.items()
    }
    measured = [t.name for t in targets if t.name.startswith("latency_") or t.name in _RATES]
    if shape is not None and isinstance(shape.n, int):
        constants[AGGREGATE_N] = shape.n
        own.append(N_COLUMN)
    are_means = shape is not None
    for line, flags, values in _valued(table, targets, constants, are_means, problems):
        if values is None:
            result.refused += 1
            continue
        flags += _doubt(values, measured, line, problems)
        if values.get("energy_j") == 0:
            values["energy_j"] = None
            if not result.has_cores:
                detail = "an energy of 0 J is not a measurement; left unset"
                problems.add("no_energy", "doubted", detail, line)
        row_workload = values.pop("workload", None)
        system = str(values.pop("system", None) or declaration.system or UNKNOWN)
        if code := values.pop("dvfs", None):
            values["dvfs_code"] = str(code).lower()
        rows.append(
            SummaryRow(
                line, system, values, flags, None if row_workload is None else str(row_workload)
            )
        )
    result.problems = problems.all()
    return result


def _without(table: Table, skip: Mapping[str, str], last_of: str) -> Table:
    """Return a table without the rows that are no runs.

    These are rows with a text under a heading, and rows that a later one of the same run replaces.
    """
    at = {table.headings.index(name): text for name, text in skip.items() if name in table.headings}
    key = table.headings.index(last_of) if last_of in table.headings else None
    if not at and key is None:
        return table
    lasts = {cells[key]: line for line, cells in table.rows} if key is not None else {}
    kept = Table(table.headings, table.refused, table.place, table.keys)
    kept.units = table.units
    for line, cells in table.rows:
        is_last = key is None or not cells[key] or lasts[cells[key]] == line
        if is_last and not any(cells[index] == text for index, text in at.items()):
            kept.append(line, cells)
    return kept


def _with_totals(table: Table, totals: Mapping[str, str]) -> Table:
    """Return a table with a column more for each total; a row without a part has none."""
    parts = {
        name: [at for at, heading in enumerate(table.headings) if re.fullmatch(pattern, heading)]
        for name, pattern in totals.items()
        if name not in table.headings
    }
    parts = {name: places for name, places in parts.items() if places}
    if not parts:
        return table
    kept = Table([*table.headings, *parts], table.refused, table.place, table.keys)
    for line, cells in table.rows:
        texts = ([str(cells[at]).strip() for at in places] for places in parts.values())
        sums = [sum(map(float, t)) if all(map(_is_number, t)) else None for t in texts]
        kept.append(line, [*cells, *sums])
    return kept


def _valued(
    table: Table,
    targets: Sequence[_Target],
    constants: Mapping[str, Cell],
    are_means: bool,
    problems: ProblemList,
) -> Iterator[tuple[int, list[str], dict[str, Cell] | None]]:
    """Yield the line, the flags and the values of each row; no values for a row that is refused."""
    for lines, columns in table.chunks():
        plain = {
            target.name: column
            for target in targets
            if (column := _plain_column(columns[target.index], target))
        }
        others = [target for target in targets if target.name not in plain]
        rows = zip(*columns, strict=True) if others else repeat(())
        for number, (line, cells) in enumerate(zip(lines, rows, strict=False)):
            flags = ["aggregate"] if are_means else []
            try:
                values = {**constants, **_values(cells, others, line, problems, flags)}
            except FormatError as error:
                problems.add("not_a_number", "refused", f"{error}; row dropped", line)
                yield line, flags, None
                continue
            values |= {name: column[number] for name, column in plain.items()}
            if all(value is None for value in values.values()):
                problems.add("empty_row", "refused", "no cell has a value; row dropped", line)
                yield line, flags, None
            elif are_means and not _is_mean(values, bool(table.place), line, problems):
                yield line, flags, None
            elif are_means and values.get(AGGREGATE_N) is None:
                yield line, [each for each in flags if each != "aggregate"], values
            else:
                yield line, flags, values


def _doubt(
    values: dict[str, Cell], measured: Iterable[str], line: int, problems: ProblemList
) -> list[str]:
    """Report missing and impossible values of a row, unset the impossible ones; return flags."""
    if values.get("replicate", 0) is None:
        problems.add("no_replicate", "doubted", "no number of its replicate; kept without", line)
    itr = values.get("itr")
    if isinstance(itr, int) and itr > 1 and itr % 2:
        detail = f"itr {itr} is odd; the NIC counts in 2 us and rounds down"
        problems.add("odd_itr", "doubted", detail, line)
    zeros = [name for name in measured if values.get(name) == 0]
    if not zeros:
        return []
    values.update(dict.fromkeys(zeros))
    detail = f"0 is not a measurement; left unset: {' '.join(zeros)}"
    problems.add("no_load", "doubted", detail, line)
    return ["no_load"]


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


def _is_mean(values: dict[str, Cell], is_document: bool, line: int, problems: ProblemList) -> bool:
    """Return whether a row gives the number of runs that it is the mean of; report it if not.

    An object of a document may lack the list whose mean others are: it is one run.
    """
    n = values.get(AGGREGATE_N)
    if (n is None and is_document) or (isinstance(n, int) and n > 0):
        return True
    detail = f"a row cannot be the mean of {n} runs; row dropped"
    problems.add("bad_aggregate", "refused", detail, line)
    return False


def parse_table(
    blocks: Iterable[bytes],
    name: str,
    problems: ProblemList,
    mend: Mend | None = None,
    most_rows: int | None = None,
) -> Table:
    """Split a table into headings and cells; it is separated text, JSON lines, or Parquet.

    Args:
        mend: Repairs a row of a wrong length: headings and cells in, cells out.
        most_rows: Bound of the rows; None for none.

    Raises:
        FormatError: The table has no header, too many rows, columns or bytes, or two columns have
            the same name.
    """
    if most_rows is not None:
        blocks = _bounded(blocks, name)
    if name.lower().endswith(".parquet"):
        return _parse_parquet(b"".join(blocks), name, most_rows)
    lines = _Lines(iterate_lines(blocks))
    head = list(islice(lines, _FIRST_LINES))
    first = next((line for line in head if line.strip("\ufeff \t\r#")), "")
    if first.lstrip("\ufeff").startswith("{"):
        return _parse_json(chain(head, lines), name, problems, most_rows)
    separator = _separator(head, first)
    lines = _Lines(_content(chain(head, lines), separator))
    rows = _split(lines, separator)
    at, header = next(rows, (0, []))
    headings = _headings(header)
    if len(headings) < 2 and not any(headings):
        raise FormatError(f"no header ({name})")
    _check_columns(len(headings), name)
    if twice := sorted({each for each in headings if headings.count(each) > 1}):
        raise FormatError(f"two columns are called {twice[0]!r} ({name}, line {at})")
    table = Table(headings)
    for line, cells in rows:
        if len(cells) != len(headings):
            if separator is None:
                # Two blanks in sequence may enclose an empty cell.
                spaced = lines.last.strip(" \t").split(" ")
                cells = spaced if len(spaced) == len(headings) else cells
            cells = mend(headings, cells) if mend is not None else cells
        if len(cells) == len(headings):
            table.append(line, cells)
        elif not cells[0].lstrip().startswith("#"):
            detail = f"{len(cells)} fields, expected {len(headings)}; row dropped"
            problems.add("field_count", "refused", detail, line)
            table.refused += 1
        _check_rows(len(table) + table.refused, most_rows, name)
    return table if separator is None else _with_plain_numbers(table, separator == ",")


def _with_plain_numbers(table: Table, is_comma_separated: bool) -> Table:
    """Return a table with plain numbers where all cells of a column are numbers with one unit."""
    first = [cells for _, cells in islice(table.rows, _LOOKED_AT)]
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


class _Lines:
    """Lines; `last` is the one that was read last."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line


def _bounded(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        size += len(block)
        if size > _MOST_BYTES:
            raise FormatError(f"a table has {_MOST_BYTES >> 20} MiB at most: split it ({name})")
        yield block


def _check_rows(count: int, most: int | None, name: str) -> None:
    if most is not None and count > most:
        raise FormatError(
            f"a table has {most:,} rows at most: split it into several files ({name})"
        )


def _check_columns(count: int, name: str) -> None:
    if count > MOST_COLUMNS:
        raise FormatError(f"{count:,} columns, a table has {MOST_COLUMNS:,} at most ({name})")


def _headings(cells: Iterable[str]) -> list[str]:
    return [cell.lstrip("\ufeff").strip() for cell in cells]


def _separator(lines: Sequence[str], first: str) -> str | None:
    """Return the separator that makes the rows well formed, else the first one in the header.

    None stands for blanks.
    """
    for separator in _SEPARATORS:
        if _is_table(lines, separator):
            return separator
    return next((mark for mark in _SEPARATORS if mark and mark in first), None)


def _split(lines: Iterable[str], separator: str | None) -> Iterator[tuple[int, list[str]]]:
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
        raise FormatError(f"no table: {error} (line {reader.line_num})") from error


def _peeked(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file, and all its blocks."""
    rest, head = iter(blocks), b""
    for block in rest:
        head += block
        if len(head) >= _CUT_HEAD:
            break
    return head[:_CUT_HEAD], chain([head], rest)


def _is_document(head: bytes) -> bool:
    """Return whether a head begins one JSON document, and not a line for each row."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return False
    first, _, rest = text.partition("\n")
    try:
        return not (isinstance(json.loads(first), dict) and rest.strip())
    except (ValueError, RecursionError):
        return not first.startswith('{"') or not first.rstrip().endswith("}")


def _parse_document(content: bytes, context: ReadContext, problems: ProblemList) -> list[Table]:
    if len(content) > _MOST_DOCUMENT_BYTES:
        raise FormatError(
            f"a JSON document has {_MOST_DOCUMENT_BYTES >> 20} MiB at most ({context.name})"
        )
    text = content.decode("utf-8-sig", "replace")
    document, is_cut = json_rows.parse_document(text, context.name)
    if is_cut:
        problems.add("cut_document", "repaired", "the document was cut: its whole rows are read")
    places = json_rows.choose_places(json_rows.places_of(document))
    if not places:
        raise FormatError(f"no list or dictionary of objects ({context.name})")
    return [_table_at(place, context, len(places) > 1) for place in places]


def _table_at(place: json_rows.Place, context: ReadContext, is_one_of_several: bool) -> Table:
    """Return the table at a place of a document; its lines are numbers of objects."""
    headings = dict.fromkeys(name for row in place.rows() for name in row)
    series = declaration_of(context.tables, list(headings)).replicates
    rows = place.rows(series) if series else place.rows()
    content = list(rows)
    headings = dict.fromkeys(name for row in content for name in row)
    _check_columns(len(headings), context.name)
    _check_rows(len(content), MOST_ROWS, context.name)
    varied = (n for n in headings if json_rows.is_set(n) and len({r.get(n) for r in content}) > 1)
    keys = (*place.keys, *varied)
    table = Table(list(headings), 0, place.path if is_one_of_several else "", keys)
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
            cells, lists = json_rows.flatten(entry)
            cells |= json_rows.summaries(lists)
            objects.append((number, cells))
            headings |= dict.fromkeys(cells)
            _check_columns(len(headings), name)
        else:
            problems.add("bad_line", "refused", f"no JSON object: {line[:80]!r}", number)
            refused += 1
        _check_rows(len(objects) + refused, most_rows, name)
    table = Table(list(headings), refused)
    for number, each in objects:
        table.append(number, [each.get(key) for key in headings])
    return table


def _parse_parquet(content: bytes, name: str, most_rows: int | None) -> Table:
    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            _check_columns(len(file.schema_arrow), name)
            _check_rows(file.metadata.num_rows, most_rows, name)
            table, line = Table(list(file.schema_arrow.names)), 1
            for batch in file.iter_batches(batch_size=CHUNK):
                columns = [[plain(value) for value in each.to_pylist()] for each in batch.columns]
                for cells in zip(*columns, strict=True):
                    table.append(line, cells)
                    line += 1
    except (pa.ArrowInvalid, OSError) as error:
        raise FormatError(f"no Parquet: {error} ({name})") from error
    return table


def _targets(table: Table, declaration: TableDeclaration, file: str) -> list[_Target]:
    """Where each column goes; two that go to one place are refused."""
    shape = declaration.aggregate
    spreads = _spread_columns(table.headings, shape)
    targets: list[_Target] = []
    for index, heading in enumerate(table.headings):
        if index in spreads:
            continue
        if shape is not None and heading == shape.n:
            targets.append(_Target(index, heading, AGGREGATE_N, "whole", TableColumn(), N_COLUMN))
            continue
        bare = heading.removesuffix(shape.mean) if shape is not None else heading
        declared = declaration.columns.get(heading, declaration.columns.get(bare, TableColumn()))
        if declared.is_dropped or (not heading and declared.to is None and index == 0):
            continue
        bare = declared.name or bare
        name = declared.to or _name_in_lake(bare, declaration.kinds, table, index)
        if name is not None:
            kind = declaration.kinds[name]
            least = 0.0 if name in KNOBS or name in MEASUREMENTS else -math.inf
            targets.append(_Target(index, heading, name, kind, declared, least=least))
            continue
        taken = {t.name for t in targets} | {n for n, k in declaration.kinds.items() if k != CORE}
        kind = _kind_of(table.column(index))
        name = clean_name(bare, kind, taken)
        role = declared.role or _role_of(kind, table.column(index), declaration)
        if heading in table.keys and declared.role is None:
            role = "knob"
        title = bare or name
        own = Column(name, role, kind, title, title, declared.unit or table.units.get(heading, ""))
        own = replace(own, better=declared.better, is_given=declared.is_given)
        targets.append(_Target(index, heading, name, kind, declared, own))
    for target in targets:
        unit = next(iter(target.declared.scale_by), None)
        target.scale_index = table.headings.index(unit) if unit in table.headings else None
    targets += _spread_targets(table.headings, spreads, targets)
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FormatError(f"two columns go to {twice[0]!r} ({file})")
    return targets


def _name_in_lake(heading: str, kinds: Mapping[str, str], table: Table, index: int) -> str | None:
    """Return the column of the lake that an undeclared column has the name of."""
    if heading in kinds and heading != CORE:
        return heading
    if heading.lower() in _CORE_HEADINGS and kinds[CORE] == CORE:
        return CORE if _are_core_numbers(table.column(index)) else None
    return heading if heading in kinds else None


def _are_core_numbers(cells: Iterable[Cell]) -> bool:
    """Return whether a column numbers the cores of runs: 0 to n - 1, each as often as the others.

    Other columns of such names hold the use of the processor in percent, or its energy.
    """
    counts = Counter(str(cell).strip() for cell in cells if cell not in (None, ""))
    return (
        2 <= len(counts) <= _MOST_CORES
        and counts.keys() == {*map(str, range(len(counts)))}
        and max(counts.values()) - min(counts.values()) <= 1
    )


def _spread_columns(headings: Sequence[str], shape: Aggregate | None) -> dict[int, int]:
    """Map the index of each column of deviations to the index of its column of means."""
    if shape is None:
        return {}
    means = {heading: index for index, heading in enumerate(headings)}
    return {
        index: means[mean]
        for index, heading in enumerate(headings)
        if heading.endswith(shape.sd)
        and (mean := heading.removesuffix(shape.sd) + shape.mean) in means
    }


def _spread_targets(
    headings: Sequence[str], spreads: Mapping[int, int], targets: Iterable[_Target]
) -> list[_Target]:
    """Return the targets of the deviations; each has the unit of its mean."""
    of_mean = {target.index: target for target in targets if target.kind != "text"}
    spread_targets = []
    for index, mean_index in spreads.items():
        mean = of_mean.get(mean_index)
        if mean is None:
            continue
        known = SHIPPED.metrics.get(mean.name)
        title = known.title if known is not None else mean.name
        own = Column(
            sd_column(mean.name),
            "label",
            "real",
            f"{title}, deviation",
            f"sd of {title}",
            known.unit if known is not None else "",
            description=f"Sample standard deviation of {mean.name} over the runs of a row.",
        )
        declared = TableColumn(scale=abs(mean.declared.scale))
        spread_targets.append(_Target(index, headings[index], own.name, "real", declared, own))
    return spread_targets


def _kind_of(cells: Iterable[Cell]) -> Kind:
    """Return the type of a column: numbers if all values that are set are numbers, else text."""
    is_whole = True
    count = 0
    for cell in cells:
        if cell is None or (isinstance(cell, str) and cell.strip().lower() in _UNSET):
            continue
        count += 1
        if isinstance(cell, str):
            text = cell.strip()
            if _WHOLE.fullmatch(text) and text != "-0" and abs(int(text)) < _MOST:
                continue
            is_number = _is_number(text) and not re.fullmatch(r"[-+]?0\d.*", text)
            if not is_number or not math.isfinite(float(text)):
                return "text"
            is_whole = False
        elif isinstance(cell, float) or abs(cell) >= _MOST:
            if math.isinf(cell):
                return "text"
            is_whole = False
    return "text" if not count else ("whole" if is_whole else "real")


def _role_of(kind: Kind, cells: Iterable[Cell], declaration: TableDeclaration) -> Role:
    """Return what an undeclared column is: a factor of an experiment has few values."""
    if not declaration.has_factors or kind == "real":
        return "label" if kind == "text" else "metric"
    few = {*islice({str(cell).strip() for cell in cells}, _MOST_FACTORS + 1)}
    if len(few) == 1:
        return "label"
    return "knob" if kind == "text" or len(few) <= _MOST_FACTORS else "metric"


def _plain_column(cells: Sequence[Cell], target: _Target) -> Sequence[Cell] | None:
    """Convert a whole column as `_convert` would convert each cell.

    Returns:
        The values; None if a cell is not as simple as `1.5`, `12` or a text. `_convert` then
        converts cell by cell and reports the bad ones.
    """
    declared = target.declared
    if declared.values or declared.wraps_at or target.scale_index is not None:
        return None
    if target.kind == "text":
        texts = [None if cell is None else str(cell).strip() for cell in cells]
        return [text or None for text in texts]
    if not all(isinstance(cell, str) for cell in cells):
        return None
    written = cast("Sequence[str]", cells)
    return _reals(written, target) if target.kind == "real" else _plain_wholes(written, target)


def _plain_wholes(cells: Sequence[str], target: _Target) -> Sequence[int | None] | None:
    joined = "".join(cells)
    is_plain = joined.isascii() and joined.isdigit() and target.declared.scale == 1.0
    if not is_plain or max(map(len, cells)) > _SURE_DIGITS:
        return None
    return [int(cell) if cell else None for cell in cells]


def _reals(cells: Sequence[str], target: _Target) -> Sequence[float | None] | None:
    joined = "".join(cells)
    if not joined.isascii() or "_" in joined:
        return None
    try:
        # NaN stands for an empty cell.
        values = np.array([float(cell) if cell else math.nan for cell in cells])
    except ValueError:
        return None
    values *= target.declared.scale
    if np.isinf(values).any() or (values < target.least).any():
        return None
    return [None if value != value else value for value in values.tolist()]


def _values(
    cells: Sequence[Cell],
    targets: Iterable[_Target],
    line: int,
    problems: ProblemList,
    flags: list[str],
) -> dict[str, Cell]:
    """Convert the cells of a row; a counter that wrapped is added to `flags`."""
    values: dict[str, Cell] = {}
    for target in targets:
        cell = cells[target.index]
        if target.name in COUNTERS and _is_wrapped(cell):
            detail = f"{target.heading} {cell} is a negative difference; left unset"
            problems.add("wrapped_counter", "doubted", detail, line)
            cell = None
        cell, has_wrapped = _unwrapped(cell, target.declared.wraps_at)
        if has_wrapped:
            detail = (
                f"{target.heading} {cells[target.index]} wrapped at {target.declared.wraps_at:g}"
            )
            problems.add("energy_counter_wrapped", "repaired", f"{detail}; taken as {cell}", line)
            flags += [] if "energy_counter_wrapped" in flags else ["energy_counter_wrapped"]
        declared = target.declared
        if target.scale_index is not None:
            declared = _scaled(declared, str(cells[target.scale_index]).strip())
        value = _convert(target.heading, cell, target.kind, declared, target.least)
        if isinstance(value, str):
            value = value.strip() or None
        if target.kind in ("whole", CORE) and isinstance(value, float):
            # The mean of counts may be fractional.
            if value != round(value) and "aggregate" not in flags:
                detail = f"{target.heading} {cell!r} is not a whole number; taken as {round(value)}"
                problems.add("fractional_count", "repaired", detail, line)
            value = round(value)
        values[target.name] = value
    return values


def _scaled(declared: TableColumn, unit: str) -> TableColumn:
    """Return a declaration with the scale that another cell of the row decides.

    Raises:
        FormatError: That cell has a text without a scale.
    """
    ((heading, scales),) = declared.scale_by.items()
    if unit not in scales:
        raise FormatError(f"{heading} cannot be {unit[:60]!r}, known: {', '.join(scales)}")
    return TableColumn(scale=scales[unit])


def _unwrapped(cell: Cell, wraps_at: float | None) -> tuple[Cell, bool]:
    """Return the difference of a counter, and whether the counter wrapped: it is negative."""
    if wraps_at is None or cell is None or not _is_number(text := str(cell).strip()):
        return cell, False
    value = float(text)
    return (value + wraps_at, True) if -wraps_at <= value < 0 else (cell, False)


def _is_wrapped(cell: Cell) -> bool:
    """Return whether a count is beyond 2^63: a negative difference of unsigned 64-bit counters."""
    text = str(cell).strip()
    return text.isascii() and text.isdigit() and int(text) >= _MOST


def _convert(
    heading: str, cell: Cell, kind: str, declared: TableColumn, least: float = -math.inf
) -> Cell:
    """Convert a cell to the type and unit of its column.

    Raises:
        FormatError: The cell is not a number, or is out of range.
    """
    if cell is not None and declared.values:
        cell = declared.values.get(str(cell).strip(), cell)
    if kind == "text":
        return None if cell is None or cell == "" else str(cell)
    kind = "whole" if kind == CORE else kind
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _UNSET):
        return None
    if isinstance(cell, str):
        text = cell.strip()
        if not _is_number(text):
            raise FormatError(f"{heading} {text[:60]!r} is not a number")
        cell = int(text) if _WHOLE.fullmatch(text) else float(text)
    value = cell * declared.scale if declared.scale != 1.0 else cell
    if not least <= value < math.inf or (kind == "whole" and abs(value) >= _MOST):
        raise FormatError(f"{heading} {str(cell)[:60]!r} is out of range")
    return float(value) if kind == "real" else value
