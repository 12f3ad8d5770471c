"""Find the tables among files that nobody described: their headings, and some of their cells."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from data.errors import FormatError
from ingest.declarations import Aggregate, TableColumn, TableDeclaration
from ingest.files.blocks import read_head
from ingest.formats.documents import may_be_document
from ingest.formats.json_cells import Cell
from ingest.formats.table_files import parse_tables
from ingest.formats.table_reshaped import reshape
from ingest.formats.table_rows import Table
from ingest.formats.written_numbers import are_readings, is_precise, seconds_of_span
from ingest.proposals.crossed_tables import measured_in_cells
from ingest.records import ProblemList, ReadContext
from ingest.settings.column_names import WORDS
from ingest.settings.copy_names import has_mark_of_copy, is_named_as_copy
from ingest.settings.dataset import Settings
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement
from ingest.settings.tables import declaration_of

# Of each table so many bytes and rows are read, of tables with one heading so many files.
_MOST_BYTES: Final = 8 << 20
_MOST_ROWS: Final = 50_000
_MOST_FILES: Final = 24
# Fewer rows are those of another file by chance.
_LEAST_COPIED: Final = 4
# So many headings of a document tell it, and others that another table of the study has not.
_MOST_NAMED: Final = 12
# Files that are read of all.
_MOST_READ: Final = 600


def plain_name(text: str) -> str:
    """Return a text as the name of a workload."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.")


@dataclass(slots=True)
class FoundTable:
    """Tables with the same headings.

    Attributes:
        paths: Their files, relative to the folder.
        columns: Cells of each column, from some of the files.
        units: By heading the unit that follows each number.
        rows: Number of rows that were read.
        sources: The file of each of these rows.
        place: Where a document has it, if the document has several.
        keys: Headings of the keys of its dictionaries.
        is_document: Whether documents of JSON or YAML have it.
        shared: Of documents with not quite the same headings those of all; empty if none differs.
        declared: What the settings say of its columns already.
        copies: Files whose rows are all rows of another one.
        measured: What the names of the files say that all cells are, but those of the first column.
        means: What the settings say of rows that are means.
    """

    headings: tuple[str, ...]
    paths: list[str] = field(default_factory=list)
    columns: list[list[Cell]] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    sources: list[str] = field(default_factory=list)
    place: str = ""
    keys: frozenset[str] = frozenset()
    is_document: bool = False
    shared: tuple[str, ...] = ()
    declared: Mapping[str, TableColumn] = field(default_factory=dict)
    measured: str = ""
    means: Aggregate | None = None
    read: int = 0
    rows_of: dict[str, frozenset[int]] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)

    def name(self, settings: Settings) -> str:
        """Return what ran, by the name of the first file or a folder; empty if none says it."""
        path = self.paths[0].split("/")
        place, stem = self.place.rpartition("/")[2].rpartition(".")[2], path[-1].split(".")[0]
        for part in (place, stem, *reversed(path[:-1])):
            telling = {word for word in words_of(part) if not word.isdigit()} - WORDS["general"]
            if telling and not re.fullmatch(r"[\W\d]+", part):
                return settings.workload_words.get(part.lower(), plain_name(part))
        return ""

    def add(self, path: str, columns: Sequence[Sequence[Cell]]) -> None:
        """Add the rows of one more file, unless all are rows of another one."""
        rows = frozenset(map(hash, islice(zip(*columns, strict=True), _MOST_ROWS)))
        folder, _, _ = path.rpartition("/")
        is_sure = any(is_precise(cell) for cells in columns for cell in islice(cells, 1))
        measured = (c for h, c in zip(self.headings, columns, strict=True) if is_measurement(h))
        is_read = len(rows) >= _LEAST_COPIED and any(map(are_readings, measured))
        is_read |= has_mark_of_copy(path)
        if any(
            (is_read and rows <= theirs and is_named_as_copy(path, other))
            or (
                is_sure
                and len(rows) < _LEAST_COPIED
                and rows == theirs
                and folder == other.rpartition("/")[0]
            )
            for other, theirs in self.rows_of.items()
        ):
            self.copies.add(path)
            return
        self.rows_of[path] = rows
        self.columns = self.columns or [[] for _ in self.headings]
        for mine, cells in zip(self.columns, columns, strict=True):
            some = islice(cells, _MOST_ROWS - len(mine))
            mine += (cell.strip() if isinstance(cell, str) else cell for cell in some)
        self.rows = len(self.columns[0])
        self.sources += [path] * (self.rows - len(self.sources))
        self.read += 1

    def is_of_kind(self, other: "FoundTable") -> bool:
        """Return whether documents of one run each have one name, but for numbers, and half of
        their headings in common; the others are of objects in them, as `model.alpha` is.
        """
        if not all(t.is_document and not t.place and t.rows == t.read for t in (self, other)):
            return False
        paths = ((path.count("/"), path.rpartition("/")[2]) for path in (*self.paths, *other.paths))
        kinds = {(depth, re.sub(r"\d+", "#", name)) for depth, name in paths}
        own, theirs = {*(self.shared or self.headings)}, {*other.headings}
        is_near = 2 * len(own & theirs) >= max(len(own), len(theirs))
        return len(kinds) == 1 and is_near and all("." in each for each in own ^ theirs)

    def join(self, other: "FoundTable") -> None:
        """Add the rows of another table, and columns for the headings that it alone has."""
        shared = self.shared or self.headings
        self.shared = tuple(each for each in shared if each in {*other.headings})
        new = [heading for heading in other.headings if heading not in {*self.headings}]
        self.headings += tuple(new)
        self.columns += [[None] * self.rows for _ in new]
        cells = dict(zip(other.headings, other.columns, strict=True))
        for heading, column in zip(self.headings, self.columns, strict=True):
            column += cells.get(heading) or [None] * other.rows
        self.rows, self.read = self.rows + other.rows, self.read + other.read
        self.paths += other.paths
        self.sources += other.sources
        self.keys, self.copies = self.keys | other.keys, self.copies | other.copies
        self.units, self.declared = self.units | other.units, {**self.declared, **other.declared}

    def read_spans(self) -> None:
        """Take times such as `1:23:45` for durations if one of the files says so."""
        for heading, cells in zip(self.headings, self.columns, strict=True):
            if self.units.get(heading) == "s":
                cells[:] = [seconds_of_span(str(c)) or c for c in cells]

    def reshaped(self, declaration: TableDeclaration) -> "FoundTable":
        """Return it as its rows become runs."""
        d = declaration
        if not (d.unpivot or d.split or d.skip or d.differences or d.pivot or d.parts):
            return self
        table = Table(list(self.headings))
        table.units = self.units
        for line, cells in enumerate(zip(*self.columns, strict=True)):
            table.append(line, cells)
        table = reshape(table, declaration)
        columns = [[*table.column(index)] for index in range(len(table.headings))]
        named = tuple(table.headings)
        return replace(self, headings=named, columns=columns, units=table.units, rows=len(table))


def find_tables(
    groups: Iterable[Sequence[str]], place_of: Callable[[str], Path], settings: Settings
) -> tuple[list[FoundTable], dict[str, str]]:
    """Read the tables of groups of files whose names differ in numbers only.

    Args:
        groups: Paths in the folder.
        place_of: Returns where a path is on the disk.
        settings: Tables of which they declare the workload are left out.

    Returns:
        A table for each set of headings, and why files are none, by path.
    """
    tables: dict[tuple[str, ...], FoundTable] = {}
    faults: dict[str, str] = {}
    read = 0
    # Of a file and its copies the file is read first: then they are told by it.
    for group in sorted(groups, key=lambda paths: has_mark_of_copy(paths[0])):
        known: tuple[FoundTable, ...] = ()
        step = max(1, len(group) // _MOST_FILES)
        for number, path in enumerate(group):
            is_wanted = number % step == 0 and read < _MOST_READ
            if is_wanted and (not known or any(t.read < _MOST_FILES for t in known)):
                read += 1
                try:
                    known = tuple(_read(path, place_of(path), tables, settings))
                except (FormatError, OSError) as error:
                    faults[path] = str(error)
                    known = ()
            for table in (each for each in known if path not in each.copies):
                table.paths.append(path)
    for table in tables.values():
        table.read_spans()
    return _joined(tables.values()), faults


def _joined(tables: Iterable[FoundTable]) -> list[FoundTable]:
    """Return tables; documents of one kind are one, such as those of models of which each has
    parameters of its own.
    """
    joined = list[FoundTable]()
    for table in tables:
        like = next((each for each in joined if each.is_of_kind(table)), None)
        if like is None:
            joined.append(table)
        else:
            like.join(table)
    return joined


def _read(
    path: str, place: Path, tables: dict[tuple[str, ...], FoundTable], settings: Settings
) -> Iterable[FoundTable]:
    head = read_head(place, _MOST_BYTES)
    if len(head) == _MOST_BYTES and not head.startswith(b"PAR1"):
        head = head.rpartition(b"\n")[0] or head
    context = ReadContext(Path(path).name, settings.machine.tsc_hz, tables=settings.tables_of(path))
    is_document = may_be_document(head, path)
    for table in parse_tables([head], context, ProblemList()):
        headings = tuple(table.headings)
        known = declaration_of(context.tables, headings)
        names_work = any(column.to == "workload" for column in known.columns.values())
        if known.workload or names_work or known.refusal:
            continue
        measured = measured_in_cells(path, headings)
        # What a total adds up is declared by it.
        parts = "|".join(known.totals.values())
        added = {
            each: TableColumn(role="metric")
            for each in headings
            if parts and re.fullmatch(parts, each)
        }
        like = tables.setdefault(
            (*headings, f"\0{measured}"),
            FoundTable(headings, declared={**added, **known.columns}, measured=measured),
        )
        like.means = known.aggregate
        like.place, like.is_document = table.place, is_document
        like.keys |= {*table.keys}
        like.units |= table.units
        like.add(path, [[*table.column(index)] for index in range(len(headings))])
        yield like


def paths_beside(table: FoundTable, tables: Iterable[FoundTable], alike: float) -> list[str]:
    """Return the paths of tables of one sweep, its own too: with nearly the same headings, and as
    deep in folders.

    One of its files may lack a measurement, or write a heading in other letters.

    Args:
        alike: The least part of their headings that they share.
    """
    own = {each.lower() for each in table.headings}
    depth = table.paths[0].count("/")
    paths = list[str]()
    for other in tables:
        theirs = {each.lower() for each in other.headings}
        is_like = len(own & theirs) >= alike * len(own | theirs)
        is_like = is_like and not any(each.place or each.measured for each in (table, other))
        if other is table or (is_like and all(p.count("/") == depth for p in other.paths)):
            paths += other.paths
    return paths


def header_pattern(table: FoundTable, tables: Iterable[FoundTable] = ()) -> str:
    """Return the expression for the headings; of a document some of them in any order.

    Args:
        tables: Others of the study, which it must not fit if they are of documents.
    """
    named = [heading for heading in table.headings if heading]
    if not table.is_document:
        return re.escape(" ".join(named)).replace("\\ ", " ").replace("\\-", "-")
    named = [heading for heading in table.shared or named if heading]
    own, told = {*named}, dict.fromkeys(named[:_MOST_NAMED], True)
    of_some = {*table.headings} - own
    for other in (each for each in tables if each.is_document and each is not table):
        theirs = {*filter(None, other.headings)}
        if all((name in theirs) == is_there for name, is_there in told.items()):
            more, less = own - theirs, theirs - own - of_some
            told |= {min(more): True} if more else {min(less): False} if less else {}
    each = (
        rf"(?{'=' if is_there else '!'}(?:.* )?{re.escape(name)}(?: |$))"
        for name, is_there in told.items()
    )
    return "".join(each).replace("\\ ", " ").replace("\\-", "-") + ".*"
