"""The results of the readers: values, windows and problems, without files or tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal, Protocol

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct
from msgspec import field as struct_field

from data.declared import Column, Role
from data.errors import FormatError

Severity = Literal["refused", "repaired", "doubted"]

LONGEST_WINDOW_S: Final = 365 * 86_400
# Largest step of a counter from one line of a log to the next, and largest number of bytes.
LARGEST_STEP: Final = 1 << 48


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


class TableColumn(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    rename={"is_dropped": "drop", "is_given": "given"},
):
    """The declaration of a column of a table.

    Attributes:
        to: Column of the lake; None for the column's own, cleaned name.
        scale: Factor of its numbers.
        values: Values by code in the table.
        is_dropped: Whether the column is ignored.
        name, unit, role, better, is_given: Of a column of its own; no name means the heading, no
            role that numbers are metrics and texts labels.
        wraps_at: Value at which its counter wraps to 0; None if it does not.
        scale_by: By the heading of another column: the factor for each text in it.
    """

    to: str | None = None
    scale: float = 1.0
    scale_by: dict[str, dict[str, float]] = struct_field(default_factory=dict)
    values: dict[str, str | float] = struct_field(default_factory=dict)
    is_dropped: bool = False
    name: str = ""
    unit: str = ""
    role: Role | None = None
    better: Literal["less", "more"] | None = None
    is_given: bool = False
    wraps_at: Annotated[float, Meta(gt=0)] | None = None

    def __post_init__(self) -> None:
        if self.scale == 0:
            raise ValueError("scale cannot be 0")


class Aggregate(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The names of columns of a table whose rows are means of several runs.

    Attributes:
        n: The number of runs of each row, or the column that holds it.
        mean: What the names of columns of means have; may be empty.
        sd: What those of sample standard deviations have there; their ending if `mean` is empty.
    """

    n: Annotated[int, Meta(gt=0)] | Annotated[str, Meta(min_length=1)]
    mean: str = ""
    sd: Annotated[str, Meta(min_length=1)]

    def __post_init__(self) -> None:
        if self.mean == self.sd:
            raise ValueError(f"mean cannot be {self.sd!r} as sd is")

    def mean_of(self, heading: str) -> str | None:
        """Return the heading of the means that belong to these deviations; None for others."""
        if self.mean:
            return heading.replace(self.sd, self.mean, 1) if self.sd in heading else None
        return heading.removesuffix(self.sd) if heading.endswith(self.sd) else None


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """The declaration of a table.

    Attributes:
        path: Pattern of the end of the table's path; None for any path.
        header: Pattern of its headings that are not empty, joined by blanks; None for any headings.
        workload, system: Those of rows without a column for them; None if not declared.
        constants: Values that all rows have, by column.
        columns: Declarations by heading.
        kinds: `text`, `whole`, `real` or `core`, by column of the lake that a table may have.
        aggregate: Set if the rows are means of several runs.
        has_factors: Whether undeclared texts, and whole numbers of few values, are knobs.
        refusal: Why its rows are no runs; empty if they are.
        replicates: A list of numbers in each row of a JSON document; each of them is a run.
        pivot: Headings of the names and of the values of measurements, of which each row has one.
        split: By heading the pattern of its texts, whose groups are further columns.
        unpivot: Pattern of the part of headings by which columns of one kind differ, as its first
            group: a row is as many runs. It numbers replicates, or has the name of a new column;
            the rest of such a heading is that of their column.
        skip: By heading, the text of a cell by which a row is known to be no run; a pattern
            between slashes.
        totals: By a new heading, the pattern of those whose numbers are added under it.
        products: By a new heading, those whose numbers are multiplied under it.
        last_of: A heading: of the rows with one text in it, which grow, only the last is a run.
        guessed: What a proposal took its columns for; empty if a person declared them.
        is_shipped: Whether the declaration comes with wattlas.
    """

    path: re.Pattern[str] | None = None
    header: re.Pattern[str] | None = None
    workload: str | None = None
    system: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, TableColumn] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    aggregate: Aggregate | None = None
    has_factors: bool = False
    refusal: str = ""
    replicates: str = ""
    unpivot: str = ""
    skip: Mapping[str, str] = field(default_factory=dict)
    last_of: str = ""
    totals: Mapping[str, str] = field(default_factory=dict)
    products: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guessed: str = ""
    is_shipped: bool = False
    pivot: tuple[str, str] | None = None
    split: Mapping[str, str] = field(default_factory=dict)

    def fits(self, path: str) -> bool:
        """Return whether the path of a table fits."""
        return self.path is None or self.path.match(path) is not None

    def at(self, path: str) -> "TableDeclaration":
        """Return the declaration with the values that the path states."""
        match = self.path.match(path) if self.path is not None else None
        stated = {n: text for n, text in (match.groupdict() if match else {}).items() if text}
        return replace(self, constants={**stated, **self.constants}) if stated else self

    def fits_header(self, headings: Sequence[str]) -> bool:
        """Return whether the headings of a table fit; a column of row numbers has none."""
        return self.header is None or bool(self.header.fullmatch(" ".join(filter(None, headings))))


@dataclass(frozen=True, slots=True)
class MeterDeclaration:
    """The declaration of a power meter's table.

    Attributes:
        regex: Pattern of the end of the table's path.
        columns: Declarations by heading: time, date, or a field of `MeterReadings`.
        time_zone: Time zone of times without an offset, such as `Europe/Berlin`; None if not
            declared.
    """

    regex: re.Pattern[str]
    columns: Mapping[str, TableColumn]
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class LogHistogram:
    """Rows of a histogram of latencies in a text log.

    Attributes:
        rows: Its groups are `value` and `counts`: numbers apart by blanks, which are added.
        overflow: Its first group has the numbers of values beyond the last row.
        to_us: Microseconds a unit of the values.
    """

    rows: re.Pattern[str]
    overflow: re.Pattern[str]
    to_us: float


@dataclass(frozen=True, slots=True)
class LogDeclaration:
    """The declaration of a text log.

    Attributes:
        name: Its format's name in messages.
        path: Pattern of the end of its path; None if its marks decide.
        marks: Texts that it contains.
        finds: Expressions whose named groups are values.
        begin: What begins a block that is a run; None if the file is one run.
        totals: Groups whose matches are added.
        histogram: Rows of latencies; None for none.
        workload: Workload of its runs if no name gives one.
        columns: Declarations by group.
        kinds: As in `TableDeclaration`.
    """

    name: str
    path: re.Pattern[str] | None
    marks: tuple[str, ...]
    finds: tuple[re.Pattern[str], ...]
    begin: re.Pattern[str] | None
    totals: frozenset[str]
    histogram: LogHistogram | None
    workload: str | None
    columns: Mapping[str, TableColumn]
    kinds: Mapping[str, str]

    def fits(self, path: str) -> bool:
        """Return whether the path of a log fits."""
        return self.path is None or self.path.match(path) is not None


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
    """

    start_s: float
    end_s: float
    slack_s: float = 0.0

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
class PowerJoin:
    """The power meters' data of one run.

    Attributes:
        measurements: As `Reading.measurements`. None means unknown, also if other files have it.
        problems: Problems by path.
        table: Rows of `power`; None if there are none.
    """

    measurements: dict[str, float | int | None] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    table: pa.Table | None = None


@dataclass(slots=True)
class LogFacts:
    """Facts about a whole per-interrupt log, besides its rows.

    Attributes:
        sleep_states_cumulative: Whether `c1..c7` are running totals (Linux). Else they are values
            per sample (library OS): ingest adds them, and takes no differences.
        core: The core that the log names; None if it names none.
        entries: Number of log entries, including bad ones.
        span_tsc: Time stamps of the first and last good line.
    """

    sleep_states_cumulative: bool
    core: int | None
    entries: int
    span_tsc: tuple[int, int]
    flags: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class LogReader(Protocol):
    """A reader of a per-interrupt log, block by block."""

    @property
    def sample_names(self) -> tuple[str, ...] | None:
        """Names of the rows of `take`'s samples; None until enough of the log was read."""

    @property
    def core(self) -> int | None:
        """The core that the beginning of the log names, once `sample_names` is known."""

    @property
    def sleep_states_cumulative(self) -> bool:
        """As in `LogFacts`, from the blocks read so far; True may become False."""

    def feed(self, block: bytes) -> None:
        """Read the next block, of any length; FormatError if the file is no such log."""

    def room(self, size: int) -> memoryview | None:
        """Return a buffer for the next `size` bytes; None if the caller must use `feed`."""

    def fed(self, count: int) -> None:
        """Read `count` bytes that the caller wrote into the buffer of `room`; as `feed`."""

    def finish(self) -> None:
        """Read the incomplete last line; FormatError if the log has no usable line."""

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that later lines cannot change, each row once.

        Returns:
            Interrupts (`tsc rx_desc rx_bytes tx_desc tx_bytes`), int64, shape (5, n), one for each
            good line, with non-decreasing time stamps. And samples, int64, shape
            (len(sample_names), m), one for each line that has counters; they are cumulative, and
            `joules` is the raw 32-bit energy counter. Both are valid until the next `feed`.
        """

    def facts(self) -> LogFacts:
        """Return the facts about the whole log; call it after `finish`."""


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
    place: str = ""
    others: list["SummaryTable"] = field(default_factory=list)


# The content of a small file; each format returns one of these types.
Content = Reading | InterruptCounts | FunctionCounts | MeterReadings | SummaryTable
