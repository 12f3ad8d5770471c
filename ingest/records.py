"""What the readers hand to the assembler: values, windows and problems, without files or tables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa

from data.declared import Column
from data.errors import FormatError

Severity = Literal["refused", "repaired", "doubted"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing about an input that was refused, repaired or doubted.

    Attributes:
        kind: Stable snake_case name, such as `field_count` or `no_window`.
        detail: What was found, with the value, and what was done about it.
        line: Line number from 1, or None for the whole file.
        count: How many times it happened; `line` is then the first.
    """

    kind: str
    severity: Severity
    detail: str
    line: int | None = None
    count: int = 1


class RefusedError(FormatError):
    """A file of which nothing can be used, for a reason that has a name.

    Attributes:
        problems: All that is wrong with it, one at least refused.
    """

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.detail for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class TableColumn:
    """What a column of a table is.

    Attributes:
        to: Column of the lake; None for its own, cleaned name.
        scale: What its numbers are multiplied by.
        values: Codes in the table to what they mean.
        is_dropped: Whether it is left out.
    """

    to: str | None = None
    scale: float = 1.0
    values: Mapping[str, str | float] = field(default_factory=dict)
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """How a table whose rows are means of several runs calls its columns.

    Attributes:
        n: The number of runs of every row, or the column that has it.
        mean: What the names of columns of means end in; may be empty.
        sd: What those of their sample standard deviations end in.
    """

    n: int | str
    mean: str
    sd: str


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """What a table is of, and its columns.

    Attributes:
        path: Fits the end of its path; None for any.
        header: Fits its headings, joined by blanks; None for any.
        workload, system: Of rows without a column that says it; None: nothing says it.
        constants: Columns that all its rows have.
        kinds: By column of the lake that a table may have, `text`, `whole` or `real`.
        aggregate: Set where its rows are means of several runs.
        is_shipped: Whether it comes with wattlas.
    """

    path: re.Pattern[str] | None = None
    header: re.Pattern[str] | None = None
    workload: str | None = None
    system: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, TableColumn] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    aggregate: Aggregate | None = None
    is_shipped: bool = False

    def fits(self, path: str) -> bool:
        """Whether it is of a table at a path, whatever its headings are."""
        return self.path is None or self.path.match(path) is not None

    def fits_header(self, headings: Sequence[str]) -> bool:
        """Whether it is of a table with these headings, wherever that is."""
        return self.header is None or self.header.fullmatch(" ".join(headings)) is not None


@dataclass(frozen=True, slots=True)
class MeterDeclaration:
    """A table that is a power meter's.

    Attributes:
        regex: Fits the end of its path.
        columns: What its columns are: time, date, or a field of `MeterReadings`.
        time_zone: Of times without an offset, such as `Europe/Berlin`; None if not said.
    """

    regex: re.Pattern[str]
    columns: Mapping[str, TableColumn]
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader may need to know beyond the bytes.

    Attributes:
        name: The file's base name, for messages and for what only the name tells.
        tsc_hz: Time-stamp counter ticks a second, from the dataset's settings.
        date_order: Order of `mdy`, `dmy` or `ymd` in a power meter's dates; None if not said.
        part: Which of the runs that the file holds is wanted; None where it holds one.
        tables: What tables at its path are by their headings; the first that says a thing holds.
        meter: What the columns of a power meter's table are; None where nobody declared it.
        turbostat_s: Seconds between two outputs of turbostat; None if not said.
        hdr_unit: Unit of HdrHistogram's lists, `ns`, `us`, `ms` or `s`; None if not said.
    """

    name: str
    tsc_hz: float
    date_order: str | None = None
    part: str | None = None
    tables: tuple[TableDeclaration, ...] = ()
    meter: MeterDeclaration | None = None
    hdr_unit: str | None = None
    turbostat_s: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The workload's own start and end in TSC ticks; both ends belong to the run."""

    start_tsc: int
    end_tsc: int


@dataclass(frozen=True, slots=True)
class UtcWindow:
    """When something was measured, by the clock of the machine that measured it.

    Attributes:
        start_s, end_s: Unix seconds, UTC.
        slack_s: How far off either of them may be.
    """

    start_s: float
    end_s: float
    slack_s: float = 0.0

    @property
    def length_s(self) -> float:
        """How long it lasts."""
        return self.end_s - self.start_s


@dataclass(slots=True)
class Intervals:
    """What a tool measured in each interval of time, one element a row of it.

    Attributes:
        end_s: End of the interval, seconds since the tool began, shape (n,), never falling.
        dt_s: Length of the interval, shape (n,), above 0.
        core: Logical processor, int32, shape (n,); -1 for more than one.
        package: Of that processor, or of all that it is about; -1 where nothing says it.
        place: What it is about in the tool's words; empty for the whole machine.
        values: By quantity with its unit, float64, shape (n,); NaN where a row lacks it. Those of
            `COUNTED` are counts of the interval, others hold for all of it.
        start_unix_s: When the tool began; None if it does not say.
    """

    end_s: np.ndarray
    dt_s: np.ndarray
    core: np.ndarray
    package: np.ndarray
    place: list[str]
    values: dict[str, np.ndarray]
    start_unix_s: float | None = None


@dataclass(slots=True)
class Reading:
    """What one small file of a run says.

    Attributes:
        measurements: By column name of `runs`, in that column's unit.
        knobs: What the file itself says of the knobs, by column name of `runs`.
        hints: Knobs that it calls by names of its own, for where nothing else says them.
        columns: Columns that the tool measures or sets and `runs` does not have by itself; their
            values are among `measurements` and `knobs`.
        intervals: What it measured in each interval of time, if it says so.
        utc_window: When what it measured took place; None where it does not say.
        interval_s: How long its counts were taken for, if that need not be the run's time.
        package_time_s: How long counters of packages ran, added over the packages, if it says so.
        ramp_s: How long the same went on before `utc_window`, unmeasured.
        polling: `hipri` and `io_poll_delay`, as far as it says how requests completed.
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
    hints: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class InterruptCounts:
    """One look at /proc/interrupts: totals since boot.

    Attributes:
        cpus: Those that its heading names, in its order.
        queues: NVMe IO queues, each with its count on each of these.
        taken_unix_s: When, if the file says so.
    """

    cpus: tuple[str, ...]
    queues: Mapping[str, tuple[int, ...]]
    taken_unix_s: float | None = None
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """What one function loaded and stored while a profiler looked; None where it does not say."""

    function: str
    module: str
    source_file: str | None
    loads: int | None
    stores: int | None


@dataclass(slots=True)
class FunctionCounts:
    """A profiler's table of functions, each once."""

    functions: list[FunctionCount]
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MeterEvent:
    """Something that a power meter noted beside its readings, such as `Stopped`.

    Attributes:
        local_s: As `MeterReadings.local_s`.
    """

    name: str
    local_s: float
    line: int


@dataclass(slots=True)
class MeterReadings:
    """One file of a power meter, as read: its own clock, not yet joined to any run.

    Attributes:
        local_s: Times of the readings by the meter's clock, in seconds from 1970-01-01 00:00 of its
            local time, shape (n,), strictly increasing.
        power_w: Active power, shape (n,).
        voltage_v, current_a, energy_j: As logged, shape (n,), NaN where a cell is empty; None
            where the meter has no such column.
        utc_offset_s: What the header says that local time is ahead of UTC; None if it says nothing.
        serial: Of the logger; empty if the headings name none.
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
class PowerJoin:
    """What power meters say of one run.

    Attributes:
        measurements: As `Reading.measurements`; None: not known, whatever other files say.
        problems: By path.
        table: Rows of `power`; None where there are none.
    """

    measurements: dict[str, float | int | None] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    table: pa.Table | None = None


@dataclass(slots=True)
class LogFacts:
    """What a per-interrupt log says beside its rows, known once it is read.

    Attributes:
        sleep_states_cumulative: Whether `c1..c7` are running totals (Linux) or values per sample
            (library OS), which are added, not differenced.
        core: The core that the log itself names, if it does.
        entries: How many log entries the file held, bad ones included.
        span_tsc: Time stamps of its first and last good line.
    """

    sleep_states_cumulative: bool
    core: int | None
    entries: int
    span_tsc: tuple[int, int]
    flags: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class LogReader(Protocol):
    """A per-interrupt log on its way through memory, block by block."""

    @property
    def sample_names(self) -> tuple[str, ...] | None:
        """Names of the rows of `take`'s samples; None until enough of the log was fed."""

    @property
    def core(self) -> int | None:
        """The core that the log's beginning names, once `sample_names` is known."""

    @property
    def sleep_states_cumulative(self) -> bool:
        """As `LogFacts` has it, as far as can be told by now; True may become False."""

    def feed(self, block: bytes) -> None:
        """Read a further block, cut anywhere; FormatError if it cannot be such a log."""

    def room(self, size: int) -> memoryview | None:
        """Where to put so many further bytes instead of feeding them; None if `feed` is wanted."""

    def fed(self, count: int) -> None:
        """Read so many bytes that were put into the room; as `feed`."""

    def finish(self) -> None:
        """Read what waits for its end; FormatError if nothing could be used."""

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Hand out the rows that no later line can take back, each once.

        Returns:
            Interrupts (`tsc rx_desc rx_bytes tx_desc tx_bytes`), int64, shape (5, n), one for each
            good line, whose time stamps never fall; and samples, int64, shape
            (len(sample_names), m), one for each line that has counters: cumulative, `joules` the
            raw 32-bit energy counter. They stay as they are until the next `feed`.
        """

    def facts(self) -> LogFacts:
        """What the whole log says; after `finish`."""


@dataclass(slots=True)
class SummaryRow:
    """One row of a per-run summary table; values by column name of `runs`, in its unit.

    Attributes:
        workload: Of this row; None for that of its table.
    """

    line: int
    system: str
    values: dict[str, float | int | str | None]
    flags: list[str] = field(default_factory=list)
    workload: str | None = None


@dataclass(slots=True)
class SummaryTable:
    """One per-run summary table: its good rows in file order, and what was wrong with the rest.

    Attributes:
        workload: Of rows that name none themselves.
        columns: Those that nobody declared.
        is_numbered: Whether rows of one configuration are replicates in their order, for want of a
            column that says it.
    """

    workload: str
    rows: list[SummaryRow]
    problems: list[Problem] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    is_numbered: bool = False


# What small files say, each format one of these.
Content = Reading | InterruptCounts | FunctionCounts | MeterReadings | SummaryTable
