"""The results of the readers: values, windows and problems, without files or tables.

A list of problems is bounded, so that a file of bad lines cannot fill the lake.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

import numpy as np

from data.declared import Column
from data.errors import FormatError
from ingest.declarations import LogDeclaration, MeterDeclaration, TableDeclaration

Severity = Literal["refused", "repaired", "doubted"]

LONGEST_WINDOW_S: Final = 365 * 86_400
# Largest step of a counter from one line of a log to the next, and largest number of bytes.
LARGEST_STEP: Final = 1 << 48
MOST_NAMED_LINES: Final = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of an input that was refused, repaired or doubted.

    Attributes:
        kind: Stable snake_case name, such as `field_count` or `no_window`.
        detail: What was found, with the value, and what was done.
        line: Line number from 1; None for the whole file.
        count: Number of occurrences; `line` is the first one.
    """

    kind: str
    severity: Severity
    detail: str
    line: int | None = None
    count: int = 1


class RefusedError(FormatError):
    """A file has no usable content, for a known reason.

    Attributes:
        problems: All problems of the file; at least one is refused.
    """

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.detail for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader may need besides the bytes of a file.

    Attributes:
        name: The file's base name, for messages and for values that only the name has.
        tsc_hz: Ticks of the time-stamp counter per second, from the dataset's settings.
        date_order: Order of a power meter's dates, `mdy`, `dmy` or `ymd`; None if not declared.
        part: Which run to read of a file with several runs; None for a file with one run.
        tables: Declarations of tables at the file's path; an earlier one overrides a later one.
        logs: Declarations of text logs at the file's path.
        meter: Declaration of a power meter's table; None if not declared.
        turbostat_s: Seconds between two outputs of turbostat; None if not declared.
        hdr_unit: Unit of HdrHistogram's lists, `ns`, `us`, `ms` or `s`; None if not declared.
    """

    name: str
    tsc_hz: float
    date_order: str | None = None
    part: str | None = None
    tables: tuple[TableDeclaration, ...] = ()
    logs: tuple[LogDeclaration, ...] = ()
    meter: MeterDeclaration | None = None
    hdr_unit: str | None = None
    turbostat_s: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Start and end of the workload in TSC ticks, both inclusive."""

    start_tsc: int
    end_tsc: int


def window_fault(start_tsc: int, end_tsc: int, tsc_hz: float) -> str:
    """Return why two rising time stamps are refused as a window; empty text if they are not.

    Later code relies on the limits: a time in nanoseconds within a year and the number of one of
    256 logs fit together in 63 bits.
    """
    if end_tsc >= 1 << 63:
        return f"the time stamp {end_tsc} is over 63 bits; window not used"
    length_s = (end_tsc - start_tsc) / tsc_hz
    if length_s > LONGEST_WINDOW_S:
        days = length_s / 86_400
        return f"{start_tsc} to {end_tsc} ticks are {days:.4g} days, over a year; window not used"
    return ""


@dataclass(frozen=True, slots=True)
class UtcWindow:
    """The time of a measurement, by the clock of the machine that measured.

    Attributes:
        start_s, end_s: Unix seconds, UTC.
        slack_s: Greatest error of either, seconds.
        is_local: Whether the file states no offset from UTC: its times are of some local clock.
    """

    start_s: float
    end_s: float
    slack_s: float = 0.0
    is_local: bool = False

    @property
    def length_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s


@dataclass(slots=True)
class Intervals:
    """The measurements of a tool in intervals of time, one element for each row of its output.

    Attributes:
        end_s: End of the interval, seconds since the tool began, shape (n,), non-decreasing.
        dt_s: Length of the interval in seconds, shape (n,), above 0.
        core: Logical processor, int32, shape (n,); -1 for more than one.
        package: Package of the processor or processors, shape (n,); -1 if unknown.
        place: The tool's name for what it measured; empty for the whole machine.
        values: By quantity with its unit, float64, shape (n,); NaN where a row has no value.
            Quantities of `COUNTED` are counts of the interval; others are values over all of it.
        start_unix_s: When the tool began; None if unknown.
        is_local: As of `UtcWindow`.
    """

    end_s: np.ndarray
    dt_s: np.ndarray
    core: np.ndarray
    package: np.ndarray
    place: list[str]
    values: dict[str, np.ndarray]
    start_unix_s: float | None = None
    is_local: bool = False


@dataclass(slots=True)
class Reading:
    """The content of one small file of a run.

    Attributes:
        measurements: By column name of `runs`, in that column's unit.
        knobs: The knobs that the file holds, by column name of `runs`.
        hints: Knobs by the file's own names; they count only if nothing else gives the knob.
        columns: Columns of the tool that `runs` does not have by itself. Their values are in
            `measurements` and `knobs`.
        intervals: Measurements by interval of time, if the file has them.
        utc_window: Time of the measurements; None if unknown.
        interval_s: Duration of its counts, if it may differ from the run's; else None.
        package_time_s: Duration of the counters of packages, summed over the packages, if known.
        ramp_s: Duration of the workload before `utc_window`, which was not measured.
        polling: `hipri` and `io_poll_delay`, if the file has them: how requests completed.
        facts: What else was set, by the tool's own names: options and versions, in which replicates
            should agree; no measurements, times, names or paths.
        part: Of which part of the machine the energy is, as `part_in` says; empty if unknown.
    """

    measurements: dict[str, float | int] = field(default_factory=dict)
    knobs: dict[str, float | int | str] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    window: Window | None = None
    flags: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    intervals: Intervals | None = None
    utc_window: UtcWindow | None = None
    interval_s: float | None = None
    package_time_s: float | None = None
    ramp_s: float = 0.0
    polling: dict[str, bool | int] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    part: str = ""


@dataclass(slots=True)
class InterruptCounts:
    """One copy of /proc/interrupts: totals since boot.

    Attributes:
        cpus: The processors of its heading, in order.
        queues: Counts of each NVMe IO queue, one for each processor; without one, of AHCI's lines.
        taken_unix_s: Time of the copy; None if unknown.
    """

    cpus: tuple[str, ...]
    queues: Mapping[str, tuple[int, ...]]
    taken_unix_s: float | None = None
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """Loads and stores of one function in a profile; None if the profile does not have them."""

    function: str
    module: str
    source_file: str | None
    loads: int | None
    stores: int | None


@dataclass(slots=True)
class FunctionCounts:
    """The functions of a profile, each once."""

    functions: list[FunctionCount]
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MeterEvent:
    """An event in a power meter's log, such as `Stopped`.

    Attributes:
        local_s: Its time, as `MeterReadings.local_s`.
    """

    name: str
    local_s: float
    line: int


@dataclass(slots=True)
class MeterReadings:
    """The readings of one file of a power meter, by the meter's clock, without their runs.

    Attributes:
        local_s: Times of the readings by the meter's clock, in seconds from 1970-01-01 00:00 of its
            local time, shape (n,), strictly increasing.
        power_w: Active power, shape (n,).
        voltage_v, current_a, energy_j: As logged, shape (n,), NaN where a cell is empty; None
            if the meter has no such column.
        utc_offset_s: Local time minus UTC, from the header; None if the header has no offset.
        serial: Serial number of the logger; empty if the headings have none.
    """

    local_s: np.ndarray
    power_w: np.ndarray
    voltage_v: np.ndarray | None = None
    current_a: np.ndarray | None = None
    energy_j: np.ndarray | None = None
    utc_offset_s: float | None = None
    serial: str = ""
    events: list[MeterEvent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class SummaryRow:
    """One row of a table of runs; values by column name of `runs`, in the column's unit.

    Attributes:
        workload: Workload of this row; None for the workload of the table.
    """

    line: int
    system: str
    values: dict[str, float | int | str | None]
    flags: list[str] = field(default_factory=list)
    workload: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return SummaryRow, (self.line, self.system, self.values, self.flags, self.workload)


class SummaryRows(Protocol):
    """Rows of a table: a list, or one that takes little memory and gives copies."""

    def append(self, row: SummaryRow, /) -> None:
        """Add a row."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SummaryRow]: ...
    def __getitem__(self, at: int, /) -> SummaryRow: ...


@dataclass(slots=True)
class SummaryTable:
    """One table of runs: its good rows in file order, and the problems of the others.

    Attributes:
        workload: Workload of rows that have none.
        columns: The undeclared columns.
        is_numbered: Whether the order of rows of one configuration numbers the replicates, since
            no column does.
        has_cores: Whether `core` in the rows says of which core of a run a row is.
        refused: Number of rows that are not in `rows`, each with a problem.
        summed: Number of rows that are not in `rows`, because they were added to others.
        copied: Number of rows that are not in `rows`, because another table has them.
        place: Where a document has it, if the document has several tables.
        others: The other tables of a document.
    """

    workload: str
    rows: SummaryRows
    problems: list[Problem] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    is_numbered: bool = False
    has_cores: bool = False
    refused: int = 0
    summed: int = 0
    copied: int = 0
    place: str = ""
    others: list["SummaryTable"] = field(default_factory=list)


# The content of a small file; each format returns one of these types.
Content = Reading | InterruptCounts | FunctionCounts | MeterReadings | SummaryTable


class ProblemList:
    """Problems of one file: the first of each kind by line, the rest of a kind as one count.

    Args:
        most_named: How many problems of a kind are listed by line.
    """

    def __init__(self, most_named: int = MOST_NAMED_LINES) -> None:
        self._most_named = most_named
        self._named: list[Problem] = []
        self._beyond: dict[str, Problem] = {}
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, severity: Severity, detail: str, line: int | None = None) -> None:
        """Add a problem."""
        self._counts[kind] += 1
        more = self._counts[kind] - self._most_named
        if more <= 0:
            self._named.append(Problem(kind, severity, detail, line))
            return
        first = self._beyond.get(kind, Problem(kind, severity, f"{detail}; others like it", line))
        self._beyond[kind] = replace(first, count=more)

    def all(self) -> list[Problem]:
        """Return all problems, sorted by line."""
        return sorted([*self._named, *self._beyond.values()], key=lambda found: found.line or 0)
