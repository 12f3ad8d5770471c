"""Summary tables after they were read: columns, loads, and what became of the rows."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from data.declared import Column
from data.schema import MEASUREMENTS
from ingest.discover.found_files import RawFile
from ingest.discover.names import KEY_KNOBS, strip_compression, workload_of
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import sources_digest
from ingest.files.packed import Packed
from ingest.formats.trace_times import unix_of_number, unix_seconds
from ingest.records import Problem, SummaryRow, SummaryTable, UtcWindow
from ingest.settings.dataset import UNKNOWN
from ingest.settings.headings import is_measurement
from ingest.settings.units import unit_of
from ingest.tables.core_rows import sum_over_cores

# A load that was set has so many digits; one that was measured is that near to it.
_LOAD_DIGITS: Final = 2
_LOAD_TOLERANCE: Final = 0.01
# A name that SQL reserves, such as `end`, has its kind behind it in the lake.
_START: Final = re.compile(
    r"(?:.*_)?(?:start|begin|started|starting|begun|beginn|anfang|debut|inicio)(?:_?(?:time|at|ts|date|unix).*|ing_?time.*|_real|_whole|_text)?"
)
_END: Final = re.compile(
    r"(?:.*_)?(?:end|stop|ended|ending|finish|finished|completed|ende|fin)(?:_?(?:time|at|ts|date|unix).*|_real|_whole|_text)?"
)


@dataclass(slots=True)
class RowCounts:
    """What became of the rows of tables.

    Attributes:
        read: All of them.
        refused: Left out, each with a problem.
        dropped: Left out, because another row says the same, or nothing was measured.
        summed: Added to another row: a run has a row for each of its cores.
    """

    read: int = 0
    refused: int = 0
    dropped: int = 0
    summed: int = 0

    @property
    def runs(self) -> int:
        """Rows that are runs."""
        return self.read - self.refused - self.dropped - self.summed

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(
            self.read + other.read,
            self.refused + other.refused,
            self.dropped + other.dropped,
            self.summed + other.summed,
        )


class RowTrace(NamedTuple):
    """The traces of a row, as a run that was read but is none by itself.

    Attributes:
        window: The time of the row; None for all of the trace.
    """

    work: RunWork
    window: UtcWindow | None

    @property
    def digest(self) -> str:
        """Digest of its sources and of its time; part of the names of big files."""
        digest = sources_digest(self.work.reads, (), self.work.files[0].settings)
        return hashlib.sha256(f"{digest} {self.window}".encode()).hexdigest()[:12]


@dataclass
class TableRead:
    """A summary table after it was read.

    Attributes:
        joined: Tables whose values its rows took.
        traces: Those of its rows, by their places.
    """

    file: RawFile
    digest: str
    table: SummaryTable
    joined: list["TableRead"] = field(default_factory=list)
    traces: dict[int, RowTrace] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns that the settings declare, and those of its own."""
        return *self.file.settings.columns.values(), *self.table.columns

    @cached_property
    def kept(self) -> frozenset[str]:
        """Columns of `runs` that a row of the table may fill."""
        return frozenset((*MEASUREMENTS, *(column.name for column in self.columns)))

    @cached_property
    def knobs(self) -> tuple[str, ...]:
        """Columns that are part of a row's key."""
        return (*KEY_KNOBS, *(column.name for column in self.columns if column.role == "knob"))

    @cached_property
    def metrics(self) -> frozenset[str]:
        """Columns that a measurement may fill."""
        own = (column.name for column in self.columns if column.role == "metric")
        return frozenset((*MEASUREMENTS, *own))

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """Columns with a measurement in a row, in order of name."""
        rows = self.table.rows
        found = {n for row in rows for n, value in row.values.items() if value is not None}
        return tuple(sorted(found & self.metrics))

    @cached_property
    def energies(self) -> tuple[str, ...]:
        """Columns of the table's own that are energies, of whatever part or series."""
        units = {column.name: unit_of(column.unit) for column in self.table.columns}
        return tuple(name for name, unit in units.items() if unit and unit.quantity == "energy")

    def declare(self, columns: Sequence[Column]) -> None:
        """Set the table's own columns, and forget what the ones before said."""
        self.table.columns = [*columns]
        for name in ("kept", "knobs", "metrics", "measured", "energies"):
            self.__dict__.pop(name, None)

    def fill(self, given: Mapping[int, SummaryRow], columns: Iterable[Column]) -> set[str]:
        """Give rows what other files have of them besides, and declare the columns of that.

        Args:
            given: By the place of a row values, flags and perhaps the workload.

        Returns:
            Names of the columns that got values.
        """
        rows, names = Packed[SummaryRow](), set[str]()
        for at, row in enumerate(self.table.rows):
            if more := given.get(at):
                own = row.values
                new = {n: v for n, v in more.values.items() if v is not None and own.get(n) is None}
                names |= new.keys()
                own |= new
                row.flags = [*dict.fromkeys((*row.flags, *more.flags))]
                row.workload = more.workload or row.workload
            rows.append(row)
        self.table.rows = rows
        there = {column.name for column in self.table.columns}
        added = {c.name: c for c in columns if c.name in names - there}
        self.declare([*self.table.columns, *added.values()])
        return names

    @cached_property
    def is_guessed(self) -> bool:
        """Whether nobody declared its columns."""
        return any(problem.kind == "guessed_columns" for problem in self.table.problems)

    @cached_property
    def of_path(self) -> frozenset[str]:
        """Columns that its path gives, the same for all rows."""
        declared = self.file.settings.tables_of(strip_compression(self.file.path))
        return frozenset(name for table in declared for name in table.constants)

    def is_empty(self, row: SummaryRow) -> bool:
        """Return whether nothing was measured of a row, as of a plan that was not run yet."""
        return all(row.values.get(name) is None for name in self.metrics)

    @cached_property
    def is_plan(self) -> bool:
        """Whether it has columns for measurements, and no row has one, nor its begin and end."""
        rows, own = self.table.rows, {column.name: column.title for column in self.table.columns}
        if not rows or not all(map(self.is_empty, rows)):
            return False
        if any(window_of(row.values) for row in rows):
            return False
        known = {n for row in rows for n, value in row.values.items() if value is not None}
        unset = {*rows[0].values} - known
        return any(name in self.metrics or is_measurement(own.get(name, "")) for name in unset)

    @cached_property
    def workload(self) -> str:
        """The workload of rows that say none: the settings', else one that the path names."""
        said = self.table.workload
        parts = self.file.path.split("/")[-2:]
        return workload_of(parts, self.file.settings) if said == UNKNOWN else said


def read_tables(
    file: RawFile, digest: str, table: SummaryTable, problems: Sequence[Problem]
) -> list[TableRead]:
    """Return each table of a file: loads told from measured rates, rows of cores summed to runs.

    Args:
        problems: Those of reading the file; the first table has them.
    """
    return [
        TableRead(file, digest, sum_over_cores(_with_loads(each), file.settings))
        for each in (replace(table, problems=[*problems]), *table.others)
    ]


def _with_loads(table: SummaryTable) -> SummaryTable:
    """Tell the loads that were set from the rates that were measured, if one column has both.

    A column of loads with fractions was measured. It becomes the throughput; the load is the
    nearest value of two digits, or unknown if that is over 1 % off.
    """
    rates = (row.values.get("load_qps") for row in table.rows)
    fraction = next((r for r in rates if isinstance(r, float) and not r.is_integer()), None)
    if fraction is None or any("throughput_qps" in row.values for row in table.rows):
        return table
    rows: Packed[SummaryRow] = Packed()
    for row in table.rows:
        rate = row.values.get("load_qps")
        if isinstance(rate, float):
            load = float(f"{rate:.{_LOAD_DIGITS - 1}e}")
            is_near = abs(rate - load) <= _LOAD_TOLERANCE * load
            row.values |= {"load_qps": load if is_near else None, "throughput_qps": rate}
        rows.append(row)
    detail = (
        f"loads with fractions, such as {fraction}, were "
        "measured: kept as throughput_qps; load_qps is the nearest value of two digits"
    )
    problem = Problem("measured_load", "repaired", detail)
    return replace(table, rows=rows, problems=[*table.problems, problem])


def window_of(values: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return begin and end that a row states, as Unix times, s; None if it does not state both.

    Args:
        values: By the names of its columns in the lake.
    """
    start = next((_unix(v) for n, v in values.items() if _START.fullmatch(n)), np.nan)
    end = next((_unix(v) for n, v in values.items() if _END.fullmatch(n)), np.nan)
    duration_s = values.get("duration_s")
    if np.isnan(end) and isinstance(duration_s, float | int):
        end = start + duration_s
    return (start, end) if start < end else None


def _unix(value: object) -> float:
    if isinstance(value, str):
        return unix_seconds(value)
    return unix_of_number(float(value)) if isinstance(value, float | int) else np.nan
