"""What settings declare of tables, meters and text logs, as values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec import field as struct_field

from data.declared import Role


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
        doubt: Why its unit is doubted; empty where it is not.
        instead: The unit that it may be in where it is doubted; empty if nothing says one.
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
    doubt: str = ""
    instead: str = ""
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
            Empty where `of` says all.
        of: Headings of means by those of their deviations.
    """

    n: Annotated[int, Meta(gt=0)] | Annotated[str, Meta(min_length=1)]
    mean: str = ""
    sd: str = ""
    of: dict[str, str] = {}

    def __post_init__(self) -> None:
        if self.sd and self.mean == self.sd:
            raise ValueError(f"mean cannot be {self.sd!r} as sd is")
        if self.mean and not self.sd:
            raise ValueError("mean says nothing without sd")

    def mean_of(self, heading: str) -> str | None:
        """Return the heading of the means that belong to these deviations; None for others."""
        if heading in self.of or not self.sd:
            return self.of.get(heading)
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
        parts: The heading of the names of parts of runs, and those of what was measured of each.
        split: By heading the pattern of its texts, whose groups are further columns.
        unpivot: Pattern of the part of headings by which columns of one kind differ, as its first
            group: a row is as many runs. It numbers replicates, or has the name of a new column;
            the rest of such a heading is that of their column.
        skip: By heading, the text of a cell by which a row is known to be no run; a pattern
            between slashes.
        whole: By heading, the text of the row that is the run where a table has such a row: the
            others are its parts, as the end points of a load test are.
        totals: By a new heading, the pattern of those whose numbers are added under it.
        products: By a new heading, those whose numbers are multiplied under it.
        differences: By a new heading, that of a counter as a run began and that as it ended.
        last_of: A heading: of the rows with one text in it, which grow, only the last is a run.
        guessed: What a proposal took its columns for; empty if a person declared them.
        corrected: By heading, or part of paths, for what a person takes it instead: words.
        confirmed: Whether a person takes all else that was guessed as right.
        is_shipped: Whether the declaration comes with wattlas.
        names: Those of all columns, of a table without headings.
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
    whole: Mapping[str, str] = field(default_factory=dict)
    last_of: str = ""
    totals: Mapping[str, str] = field(default_factory=dict)
    products: Mapping[str, Sequence[str]] = field(default_factory=dict)
    differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guessed: str = ""
    corrected: Mapping[str, str] = field(default_factory=dict)
    confirmed: bool = False
    is_shipped: bool = False
    pivot: tuple[str, str] | None = None
    parts: tuple[str, ...] = ()
    split: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()

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
        begin: What begins a block that is a run; None if an output is one run.
        output: What begins an output, of which a text may have several; None for the first mark.
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
    output: re.Pattern[str] | None
    totals: frozenset[str]
    histogram: LogHistogram | None
    workload: str | None
    columns: Mapping[str, TableColumn]
    kinds: Mapping[str, str]

    def fits(self, path: str) -> bool:
        """Return whether the path of a log fits."""
        return self.path is None or self.path.match(path) is not None
