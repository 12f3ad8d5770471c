"""Rows of tables that other files have too: one measurement, whatever the files are called.

A row is that of another file if a number of many digits of which less or more is better is the same
in both, if both have the same under each name that they share, and if no other row fits. A table
all of whose rows are in another one is joined to it. Of others single rows are copies if all of
their cells agree, three measured numbers of many digits among these. Of what a person declared only
whole tables are copies, by their name or their digits.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import isclose
from typing import Any, Final

from data.declared import Column
from data.schema import MEASUREMENTS
from ingest.discover.found_files import Ignored
from ingest.files.packed import Packed
from ingest.formats.written_numbers import are_readings, is_precise
from ingest.records import Problem, Severity, SummaryRow
from ingest.settings.copy_names import has_mark_of_copy, is_marked_copy, is_named_as_copy
from ingest.settings.heading_words import words_of
from ingest.tables.table_reads import TableRead

# Numbers of fewer digits may be the same by chance.
_LEAST_DIGITS: Final = 4
# So near are two writings of one number.
_SAME_NUMBER: Final = 1e-9
# Of files with fewer runs in common nothing says that these are the same.
FEWEST_RUNS: Final = 2
# Longer tables are no summaries of other files, or that people put together.
MOST_ROWS: Final = 5_000
_MOST_COPIED: Final = 20_000
# Single rows agree by chance in fewer numbers, or in numbers of fewer digits.
_FEWEST_NUMBERS: Final = 3
_FEWEST_DIGITS: Final = 3
# Without the longest number, which may follow from others, as an energy does.
_FEWEST_DIGITS_OF_OTHERS: Final = 8
# Files of fewer rows are copies only beside the other one, to the byte, and precise to six digits.
_FEWEST_COPIED: Final = 4
# By fewer settings rows are not told.
_LEAST_SAID: Final = 2
# What issues requests at once.
_CLIENTS: Final = frozenset({"clients", "concurrency", "connections", "users", "vus"})


class SameRows:
    """Finds the rows of a table that are those of other files."""

    def __init__(self, read: TableRead) -> None:
        self.rows = [*read.table.rows]
        self._by_number: dict[float, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            for number in _numbers(row.values, read.columns):
                self._by_number[number].append(at)

    def place(self, values: Mapping[str, Any], columns: Iterable[Column]) -> int | None:
        """Return the only row that has a number of others, and the same under the same names."""
        numbers = _numbers(values, columns)
        places = {at for number in numbers for at in self._by_number.get(number, ())}
        places = {at for at in places if _agree(self.rows[at].values, values)}
        return places.pop() if len(places) == 1 else None


def new_values(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return what others have besides; a number of many digits stays under the name that it has."""
    numbers = [*filter(_is_long, values.values())]
    return {n: v for n, v in others.items() if not any(_are_one(v, own) for own in numbers)}


def rows_with(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[Mapping[str, object]]
) -> Sequence[int]:
    """Return the places of rows that have the settings of others, each of one row alone.

    Args:
        keys: Settings of each other one, under names of their own.

    Returns:
        Nothing if any of these has no row.
    """
    told = [name for name in keys[0] if len({key.get(name) for key in keys}) > 1]
    if any(set(key) != set(keys[0]) for key in keys):
        return ()
    columns = _same_columns(rows, keys, told)
    if len(columns) < max(len(told), _LEAST_SAID):
        return ()
    of_rows: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        of_rows[tuple(_plain(row.get(own)) for own in columns.values())].append(at)
    own_rows = [of_rows.get(tuple(_plain(key[name]) for name in columns), ()) for key in keys]
    places = [own[0] for own in own_rows if len(own) == 1]
    return places if len(keys) == len({*places}) else ()


def _same_columns(
    rows: Sequence[Mapping[str, object]], keys: Sequence[Mapping[str, object]], names: Sequence[str]
) -> dict[str, str]:
    """Return by the name of a setting in keys the column of rows that has its values.

    Of several columns it is the one whose name says so, as `bs` and `batch_size` or `t` and
    `threads`, else, of texts, the one with the fewest other values. A setting for which two are
    alike is left out.
    """
    own = {column: {_plain(row.get(column)) for row in rows} for column in rows[0]}
    same: dict[str, str] = {}
    for name in names:
        values = {_plain(key[name]) for key in keys}
        # Numbers of repetitions and of threads may be the same, names are not by chance.
        is_text = any(isinstance(value, str) for value in values)
        fitting = {
            column: (-_likeness(name, column), len(each - values))
            for column, each in own.items()
            if values <= each and column not in same.values()
            if is_text or _likeness(name, column)
        }
        ranked = sorted(fitting, key=fitting.__getitem__)
        if ranked and [*fitting.values()].count(fitting[ranked[0]]) == 1:
            same[name] = ranked[0]
    return same


def _plain(value: object) -> object:
    """Return a cell as it is compared: texts without marks and capitals."""
    return re.sub(r"[\W_]+", "", value.lower()) if isinstance(value, str) else value


def _likeness(name: str, column: str) -> int:
    """Return how much the name of a setting in paths is like a heading: 2 for the same name, 1 for
    the same words, their beginning or their first letters, else 0."""
    if name == column:
        return 2
    words, others = words_of(name), words_of(column)
    starts = any(other.startswith(word) for word in words for other in others)
    starts |= bool(_CLIENTS & {*words}) and bool(_CLIENTS & {*others})
    return int(starts or name.lower() == "".join(other[0] for other in others)[: len(name)])


def join_repeated(reads: Sequence[TableRead]) -> tuple[list[TableRead], list[Ignored]]:
    """Return the tables without those all of whose rows are in another one, and what became of
    these. Rows of others that stand in an earlier table too are dropped.
    """
    gone: dict[int, Ignored] = {}
    guessed = [read for read in reads if read.is_guessed]
    total = sum(len(read.table.rows) for read in guessed)
    if len(guessed) > 1 and sum(len(read.table.rows) for read in reads) <= MOST_ROWS:
        for read in sorted(guessed, key=_is_told_first):
            if len(read.table.rows) >= FEWEST_RUNS and id(read) not in gone:
                others = [each for each in guessed if each is not read and id(each) not in gone]
                for other in _join_parts(read, others):
                    reason = f"runs of {read.file.name}, whose numbers it has"
                    gone[id(other)] = Ignored(other.file.path, reason, True)
    if len(guessed) > 1 and total <= _MOST_COPIED:
        _drop_copied([read for read in guessed if id(read) not in gone])
    return [read for read in reads if id(read) not in gone], [*gone.values()]


def _join_parts(read: TableRead, others: Iterable[TableRead]) -> Iterator[TableRead]:
    """Give rows what other tables have of all of their own, no two of the same; yield these."""
    rows = SameRows(read)
    parts: list[tuple[TableRead, dict[int, dict[str, Any]]]] = []
    for other in others:
        if 0 < len(other.table.rows) <= len(rows.rows) and not _are_sisters(read, other):
            names = {*other.knobs, *other.measured}
            values = [row.values for row in other.table.rows]
            compared = ({n: v for n, v in own.items() if n in names} for own in values)
            places = (rows.place(own, other.columns) for own in compared)
            same = {at: own for at, own in zip(places, values, strict=True) if at is not None}
            parts += [(other, same)] if len(same) == len(values) else []
    often = Counter(at for _, same in parts for at in same)
    parts = [each for each in parts if all(often[at] == 1 for at in each[1])]
    for other, same in parts if sum(len(same) for _, same in parts) >= FEWEST_RUNS else ():
        given = {
            at: SummaryRow(0, "", new_values(rows.rows[at].values, own)) for at, own in same.items()
        }
        read.fill(given, other.table.columns)
        read.joined.append(other)
        detail = f"{other.file.name} has the same numbers for {len(same)} of its runs"
        read.table.problems.append(Problem("joined_table", "repaired", detail))
        yield other


def _drop_copied(reads: Sequence[TableRead]) -> None:
    """Drop each row whose cells, but those that paths give, stand in a row of an earlier table.

    So is one of a table of other headings whose measured numbers, three of many digits at least,
    stand in a row that agrees with it under all names that both have.
    """
    known: dict[Hashable, TableRead] = {}
    by_energy: dict[object, list[tuple[TableRead, SameRows]]] = defaultdict(list)
    seen = set[Hashable]()
    for read in reads:
        cells = [_cells(read, row) for row in read.table.rows]
        copies: dict[str, list[int]] = defaultdict(list)
        rows: Packed[SummaryRow] = Packed()
        for row, own in zip(read.table.rows, cells, strict=True):
            first = known.setdefault(own, read) if _is_telling(read, row) else read
            if first is read:
                alike = by_energy.get(row.values.get("energy_j"), ())
                first = next((e for e, rows_of in alike if _measured_in(rows_of, read, row)), read)
            if first.file.path == read.file.path:
                rows.append(row)
            else:
                copies[first.file.path].append(row.line)
        # Of a table that is a copy as a whole the path may say another setting.
        if not seen.issuperset(cells):
            read.table.copied += len(cells) - len(rows)
            read.table.rows = rows
            for path, lines in copies.items():
                detail = f"{len(lines)} of its rows, such as line {lines[0]}, stand in {path} too, "
                detail += "in all that was measured: one measurement; dropped, though the name of "
                detail += "the file differs"
                read.table.problems.append(Problem("identical_row", "doubted", detail))
        seen.update(cells)
        same = SameRows(read)
        for energy in {row.values.get("energy_j") for row in same.rows} - {None}:
            by_energy[energy].append((read, same))


def drop_copies(reads: Sequence[TableRead]) -> None:
    """Drop the rows of each table that all stand in another one, unless its name says more.

    They may stand in any order, and what paths say of them may differ.
    """
    filled = [read for read in reads if read.table.rows]
    by_row: dict[Hashable, list[tuple[TableRead, set[Hashable]]]] = defaultdict(list)
    is_small = sum(len(read.table.rows) for read in filled) <= _MOST_COPIED
    order = sorted(filled, key=_is_told_first)
    for read in order if len(filled) > 1 and is_small else ():
        cells = {_cells(read, row) for row in read.table.rows}
        among = by_row[next(iter(cells))]
        whole, theirs = next((each for each in among if cells <= each[1]), (read, cells))
        path, other = read.file.path, whole.file.path
        is_beside = path.rpartition("/")[0] == other.rpartition("/")[0]
        is_marked = is_marked_copy(path, other)
        is_few = len(read.table.rows) < _FEWEST_COPIED and not is_marked
        is_copy = is_beside if is_few else is_named_as_copy(path, other)
        is_told = is_few and read.digest != whole.digest
        if path == other or is_told or not (is_marked or _was_measured(read, is_few)):
            is_copy = False
        elif is_copy:
            detail = f"all {len(read.table.rows)} rows stand in {other} too; dropped"
            detail += "" if is_beside else ", though its folder is another"
            severity: Severity = "repaired" if is_beside else "doubted"
            read.table.problems.append(Problem("identical_row", severity, detail))
            read.table.copied += len(read.table.rows)
            read.table.rows = Packed()
        elif cells == theirs and not is_few:
            detail = f"all {len(read.table.rows)} rows stand in {other} too: kept, since the names "
            detail += "say something else"
            read.table.problems.append(Problem("identical_row", "doubted", detail))
        for own in () if is_copy else cells:
            by_row[own].append((read, cells))


def _is_told_first(read: TableRead) -> tuple[int, bool, str]:
    """Return by what tables are sorted: the longest first, a file before its copies."""
    path = read.file.path
    return -len(read.table.rows), has_mark_of_copy(path), path


def _was_measured(read: TableRead, is_few: bool) -> bool:
    """Return whether no other table has the numbers of one by chance."""
    rows = [row.values for row in read.table.rows]
    if is_few:
        return any(is_precise(rows[0].get(name)) for name in read.measured)
    has_usual = not {*MEASUREMENTS}.isdisjoint(read.measured)
    return has_usual and any(are_readings({r.get(name) for r in rows}) for name in read.measured)


def _measured_in(earlier: SameRows, read: TableRead, row: SummaryRow) -> bool:
    """Return whether one row of an earlier table has the energy and other numbers of a row."""
    at = earlier.place(row.values, read.columns)
    theirs = earlier.rows[at].values if at is not None else {}
    # A time may stand in ms in one and in s in the other.
    written = {_written(value) for value in theirs.values() if _is_long(value)}
    shared: dict[str, float | int | str | None] = {
        n: v for n, v in row.values.items()
        if v is not None and (theirs.get(n) == v or (_is_long(v) and _written(v) in written))
    }  # fmt: skip
    has_energy = shared.get("energy_j") is not None
    return has_energy and _is_telling(read, SummaryRow(row.line, row.system, shared))


def _cells(read: TableRead, row: SummaryRow) -> Hashable:
    """Return the cells of a row of which no path says any."""
    cells = row.values.items()
    own = frozenset((n, v) for n, v in cells if v is not None and n not in read.of_path)
    return own, row.workload


def _is_telling(read: TableRead, row: SummaryRow) -> bool:
    """Return whether no two runs have the cells of a row by chance."""
    measured = {row.values.get(name) for name in read.measured}
    numbers = {abs(each) for each in measured if isinstance(each, int | float)}
    *others, _ = sorted(d for d in map(digits_of, numbers) if d >= _FEWEST_DIGITS) or [0]
    is_known = len(others) + 1 >= _FEWEST_NUMBERS and sum(others) >= _FEWEST_DIGITS_OF_OTHERS
    return is_known and any(row.values.get(name) is not None for name in MEASUREMENTS)


def _are_sisters(read: TableRead, other: TableRead) -> bool:
    """Return whether the paths of two tables differ in something: they are of other runs."""
    own, others = (next(iter(each.table.rows)).values for each in (read, other))
    return any(own.get(name) != others.get(name) for name in read.of_path & other.of_path)


def _numbers(values: Mapping[str, Any], columns: Iterable[Column]) -> set[float]:
    """Return the fractions of many digits of a run's costs, rates and the like."""
    names = {*MEASUREMENTS, *(column.name for column in columns if column.better is not None)}
    own = (value for name, value in values.items() if name in names and _is_long(value))
    return {float(f"{value:.12g}") for value in own}


def _is_long(value: object) -> bool:
    return isinstance(value, float) and digits_of(value) >= _LEAST_DIGITS


def digits_of(value: float) -> int:
    """Return how many digits a number has between zeros."""
    return len(_written(value))


def _written(value: Any) -> str:
    return f"{value:.12g}".partition("e")[0].replace(".", "").strip("-0")


def _agree(values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether both have the same under each name, as far as both have anything."""
    shared = ((values.get(name), other) for name, other in others.items())
    return all(_are_one(own, other) for own, other in shared if None not in (own, other))


def _are_one(own: Any, other: Any) -> bool:
    """Return whether two cells are one value: a program may write the last digits in two ways."""
    if not (isinstance(own, float) and isinstance(other, float)):
        return bool(own == other)
    return own == other or (isclose(own, other, rel_tol=_SAME_NUMBER) and _is_long(own))
