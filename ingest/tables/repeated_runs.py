"""Runs that two files have: rows of tables beside rows of others, and beside the runs of logs.

They are one run if a number of many digits of which less or more is better is the same in both, if
both have the same under each name that they share, if what the row had set stands in the log's
path, and if no other row fits. All rows of a table are in the other one; two runs at least are in
both. Where paths of logs do not say what was set, it is doubted. What a person declared is read as
declared: only tables whose columns were guessed are joined.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from data.declared import Column
from data.schema import MEASUREMENTS
from ingest.discover.found_files import Ignored
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import read_source
from ingest.files.packed import Packed
from ingest.records import Problem, Reading
from ingest.tables.table_reads import TableRead

# Numbers of fewer digits may be the same by chance.
_LEAST_DIGITS: Final = 4
_FEWEST: Final = 2
# Logs are read here and, if they are no rows', as runs again.
_MOST_LOGS: Final = 500
_MOST_BYTES: Final = 1 << 16
# Longer tables are no summaries of other files.
_MOST_ROWS: Final = 5_000


@dataclass(slots=True)
class _Rows:
    """The rows of a table that may be those of other files.

    Attributes:
        by_number: Rows by each number of many digits in them.
        said: What was set in each row, and not in all of them.
    """

    read: TableRead
    values: list[dict[str, Any]]
    by_number: dict[float, list[int]]
    said: list[list[Any]]

    @classmethod
    def of(cls, read: TableRead) -> "_Rows":
        values = [row.values for row in read.table.rows]
        by_number: dict[float, list[int]] = defaultdict(list)
        for at, own in enumerate(values):
            for number in _numbers(own, _columns(read)):
                by_number[number].append(at)
        of_all = {name: {str(own.get(name)) for own in values} for name in read.knobs}
        varied = [name for name, each in of_all.items() if len(each) > 1]
        return cls(read, values, by_number, [[own.get(n) for n in varied] for own in values])

    def place(self, values: Mapping[str, Any], columns: Iterable[Column]) -> int | None:
        """Return the only row that has a number of others, and the same under the same names."""
        numbers = _numbers(values, columns)
        found = {at for number in numbers for at in self.by_number.get(number, ())}
        found = {at for at in found if _agree(self.values[at], values)}
        return found.pop() if len(found) == 1 else None

    def fill(self, at: int, values: Mapping[str, Any], columns: Iterable[Column]) -> None:
        """Give a row what another one has besides; numbers that it has stay under its names."""
        own = self.values[at]
        numbers = {*filter(_is_long, own.values())}
        new = {n: v for n, v in values.items() if own.get(n) is None and v not in numbers}
        there = {column.name for column in self.read.table.columns}
        own.update(new)
        more = (c for c in columns if c.name in new.keys() - there and new[c.name] is not None)
        self.read.declare([*self.read.table.columns, *more])

    def close(self) -> None:
        """Write the rows back."""
        rows = [*self.read.table.rows]
        for row, values in zip(rows, self.values, strict=True):
            row.values.update(values)
        self.read.table.rows = Packed(rows)


def join_repeated(reads: Sequence[TableRead]) -> tuple[list[TableRead], list[Ignored]]:
    """Return the tables without those all of whose rows are in another one, and what became of
    these.
    """
    sizes = {id(read): len(read.table.rows) for read in reads}
    gone: dict[int, Ignored] = {}
    guessed = [read for read in reads if read.is_guessed]
    if len(guessed) < _FEWEST or sum(sizes.values()) > _MOST_ROWS:
        return [*reads], []
    for read in sorted(guessed, key=lambda each: -sizes[id(each)]):
        if sizes[id(read)] < _FEWEST or id(read) in gone:
            continue
        rows = _Rows.of(read)
        of_others: list[tuple[TableRead, list[int]]] = []
        for other in guessed:
            is_free = other is not read and id(other) not in gone
            is_free = is_free and 0 < sizes[id(other)] <= sizes[id(read)]
            if is_free and not _are_sisters(read, other):
                found = [
                    rows.place(_compared(other, row.values), _columns(other))
                    for row in other.table.rows
                ]
                known = [at for at in found if at is not None]
                if len(known) == len({*known}) == len(found):
                    of_others.append((other, known))
        often = Counter(at for _, places in of_others for at in places)
        own = [each for each in of_others if all(often[at] == 1 for at in each[1])]
        for other, places in own if sum(len(each[1]) for each in own) >= _FEWEST else ():
            for at, row in zip(places, other.table.rows, strict=True):
                rows.fill(at, row.values, other.table.columns)
            read.joined.append(other)
            reason = f"runs of {read.file.name}, whose numbers it has"
            gone[id(other)] = Ignored(other.file.path, reason, True)
            detail = f"{other.file.name} has the same numbers for {len(places)} of its runs"
            read.table.problems.append(Problem("joined_table", "repaired", detail))
        rows.close()
    return [read for read in reads if id(read) not in gone], [*gone.values()]


def join_logs(
    reads: Sequence[TableRead], works: Sequence[RunWork]
) -> tuple[set[str], list[Ignored]]:
    """Give rows what their logs measured besides.

    Args:
        reads: The tables of a dataset; their rows are changed.
        works: Planned runs of the dataset.

    Returns:
        Ids of the planned runs that are rows, and why these files are no runs.
    """
    logs = [work for work in works if len(work.files) == 1 and not work.files[0].part]
    logs = [w for w in logs if w.files[0].format.role == "output" and w.size <= _MOST_BYTES]
    sized = [read for read in reads if _FEWEST <= len(read.table.rows) <= _MOST_ROWS]
    tables = [read for read in sized if read.is_guessed]
    joined: dict[str, Ignored] = {}
    if not tables or not _FEWEST <= len(logs) <= _MOST_LOGS:
        return set(), []
    contents = [read_source(work.files[0]).content for work in logs]
    for read in tables:
        rows = _Rows.of(read)
        of_logs: dict[int, list[tuple[RunWork, Reading]]] = defaultdict(list)
        for work, reading in zip(logs, contents, strict=True):
            if isinstance(reading, Reading) and work.run_id not in joined:
                at = rows.place(reading.measurements | reading.knobs, reading.columns)
                if at is not None:
                    of_logs[at].append((work, reading))
        own = {at: each[0] for at, each in of_logs.items() if len(each) == 1}
        own = own if len(own) >= _FEWEST else {}
        doubted = [at for at, (work, _) in own.items() if not _states(work, rows.said[at])]
        lines = [row.line for row in read.table.rows]
        for at, (work, reading) in own.items():
            if at not in doubted:
                rows.fill(at, reading.measurements, reading.columns)
                reason = f"the run of line {lines[at]} of {read.file.name}, whose numbers it has"
                joined[work.run_id] = Ignored(work.files[0].path, reason, True)
        if doubted:
            name = own[doubted[0]][0].files[0].name
            detail = f"{len(doubted)} logs, such as {name}, may be the same runs: equal numbers"
            read.table.problems.append(Problem("maybe_repeated", "doubted", detail))
        rows.close()
    return set(joined), list(joined.values())


def _are_sisters(read: TableRead, other: TableRead) -> bool:
    """Return whether the paths of two tables differ in something: they are of other runs."""
    own, others = (dict(next(iter(each.table.rows)).values) for each in (read, other))
    return any(own.get(name) != others.get(name) for name in read.of_path & other.of_path)


def _is_long(value: object) -> bool:
    """Return whether a value is a fraction of many digits."""
    return isinstance(value, float) and len(f"{value:.12g}".strip("-0.")) > _LEAST_DIGITS


def _numbers(values: Mapping[str, Any], columns: Iterable[Column]) -> set[float]:
    """Return the fractions of many digits of a run's costs, rates and the like."""
    names = {*MEASUREMENTS, *(column.name for column in columns if column.better is not None)}
    return {value for name, value in values.items() if name in names and _is_long(value)}


def _columns(read: TableRead) -> list[Column]:
    return [*read.file.settings.columns.values(), *read.table.columns]


def _compared(read: TableRead, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was set and measured of a row."""
    names = {*read.knobs, *read.measured}
    return {name: value for name, value in values.items() if name in names}


def _agree(values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether both have the same under each name, as far as both have anything."""
    shared = ((values.get(name), other) for name, other in others.items())
    return all(own == other for own, other in shared if own is not None and other is not None)


def _states(work: RunWork, settings: Iterable[Any]) -> bool:
    """Return whether the path of a log has one of some settings as a part of its own."""
    for value in settings:
        text = re.escape(f"{value:g}" if isinstance(value, float) else str(value))
        border = r"[\d.]" if isinstance(value, int | float) else r"[^_./\s-]"
        form = rf"(?<!{border}){text}(?!{border})"
        if value is not None and re.search(form, work.files[0].path):
            return True
    return False
