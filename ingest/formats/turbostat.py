"""Output of turbostat: power, busy share, frequency and C-states by processor and package."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.interval_means import take_means
from ingest.records import Intervals, ProblemList, ReadContext, Reading

_SEPARATORS: Final = ("\t", ",")
_KNOWN: Final = frozenset({"Avg_MHz", "Busy%", "Bzy_MHz", "PkgWatt", "Pkg_J", "TSC_MHz"})
_ONE_SHOT: Final = re.compile(r"\s*(\d+\.\d+) sec\s*")
_FACT: Final = re.compile(r"(turbostat version|CPUID\(\w+\)):?\s+(\S.*\S)")
_ALL: Final = "-"
_WHEN: Final = "Time_Of_Day_Seconds"
# Where a row is from; `usec` is how long it took to collect it.
_PLACES: Final = frozenset(
    {"Package", "Die", "Node", "Core", "CPU", "APIC", "X2APIC", "L3", "usec", _WHEN}
)
# turbostat's own, if it is not told another.
_USUAL_S: Final = 5.0
_NAMES: Final = {
    "Avg_MHz": "average_mhz",
    "Busy%": "busy_pct",
    "Bzy_MHz": "busy_mhz",
    "TSC_MHz": "tsc_mhz",
    "IPC": "ipc",
    "IRQ": "irqs",
    "NMI": "nmis",
    "SMI": "smis",
    "CoreTmp": "core_temperature_c",
    "PkgTmp": "package_temperature_c",
    "PkgWatt": "package_power_w",
    "CorWatt": "cores_power_w",
    "GFXWatt": "gpu_power_w",
    "RAMWatt": "dram_power_w",
    "PKG_%": "package_limited_pct",
    "RAM_%": "dram_limited_pct",
    "UncMHz": "uncore_mhz",
}
_ENERGIES: Final = {
    "Pkg_J": "package_power_w",
    "Cor_J": "cores_power_w",
    "GFX_J": "gpu_power_w",
    "RAM_J": "dram_power_w",
}
# `C6` counts requests of Linux, `C6%` is the share of time that it requested; `CPU%c6` and
# `Pkg%pc6` are what the hardware did.
_REQUESTS: Final = re.compile(r"(POLL|C\d+[A-Za-z]*)(%?)[+-]?")
_RESIDENCY: Final = re.compile(r"(?:CPU%(c\d+e?)|Mod%(c\d+)|Pkg?%(pc\d+)|(CPU%LPI|SYS%LPI))")


@dataclass(slots=True)
class _Interval:
    """The rows of one output, by column name; the summary first, if there is one."""

    rows: list[dict[str, float]] = field(default_factory=list)
    length_s: float | None = None

    def has(self, row: Mapping[str, float]) -> bool:
        """Return whether a row of the same processor is there."""
        return any(each.get("CPU") == row.get("CPU") for each in self.rows)


_ENDS_WITH_NUMBER: Final = re.compile(r"[\s,;]\d+(\.\d+)?\s*$")


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether one of the lines is turbostat's heading."""
    lines = head.decode("utf-8", "replace").splitlines()
    at = next((n for n, line in enumerate(lines) if _heading(line) is not None), None)
    # A text about turbostat may have its headings too.
    return at is not None and any(_ENDS_WITH_NUMBER.search(line) for line in lines[at + 1 :])


def _heading(line: str) -> list[str] | None:
    separator = _separator(line)
    names = [cell.strip() for cell in line.split(separator)]
    return names if len(_KNOWN & set(names)) >= min(2, len(names) - 1) >= 1 else None


def _separator(line: str) -> str | None:
    return next((mark for mark in _SEPARATORS if mark in line), None)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the rows of all intervals, and what they say of the whole time.

    An interval begins with a summary row, or with a processor that comes again. Its length is what
    `Time_Of_Day_Seconds` or a line `10.003 sec` says, else the setting `turbostat.interval_s`,
    else turbostat's own 5 s, which is said.

    Returns:
        `energy_j` of the packages over all intervals, means over time (frequency: over busy time),
        `interval_s`, and `intervals`: a row each processor and interval, and one for the machine.

    Raises:
        FormatError: No heading, or no row.
    """
    problems = ProblemList()
    facts: dict[str, str] = {}
    intervals = list(_intervals(iterate_lines(blocks), problems, facts))
    if not intervals:
        raise FormatError(f"no row under a heading of turbostat ({context.name})")
    start_s = _set_lengths(intervals, context, problems)
    rows = _table(intervals, start_s)
    reading = Reading(intervals=rows, interval_s=float(sum(_length(i) for i in intervals)))
    take_means(rows, reading)
    reading.facts = facts
    reading.problems = problems.all()
    return reading


def _length(interval: _Interval) -> float:
    assert interval.length_s is not None, "BUG: an interval without a length"
    return interval.length_s


def _intervals(
    lines: Iterable[str], problems: ProblemList, facts: dict[str, str]
) -> Iterator[_Interval]:
    """Yield the intervals; what stands above the first of turbostat and processor goes to facts."""
    names: list[str] = []
    separator: str | None = None
    length_s: float | None = None
    current = _Interval()
    for number, line in enumerate(lines, 1):
        if found := _ONE_SHOT.fullmatch(line):
            length_s = float(found[1])
        elif (heading := _heading(line)) is not None:
            names, separator = heading, _separator(line)
        elif not names:
            if fact := _FACT.match(line):
                facts.setdefault(fact[1], fact[2])
        elif line.strip():
            row = _row(line, names, separator, number, problems)
            if row is None:
                continue
            if current.rows and (math.isnan(row.get("CPU", math.nan)) or current.has(row)):
                yield current
                current = _Interval()
            current.length_s = length_s
            current.rows.append(row)
    if current.rows:
        yield current


def _row(
    line: str, names: Sequence[str], separator: str | None, number: int, problems: ProblemList
) -> dict[str, float] | None:
    """Return the cells of a row by column; NaN for `-`; None for a line that is no row."""
    cells = [cell.strip() for cell in line.split(separator)]
    if len(cells) > len(names):
        detail = f"{len(cells)} fields, expected at most {len(names)}; row dropped"
        problems.add("field_count", "refused", detail, number)
        return None
    row = {}
    for name, cell in zip(names, cells, strict=False):
        if not name or not cell:
            continue
        try:
            row[name] = math.nan if cell == _ALL else float(int(cell, 16) if "0x" in cell else cell)
        except (ValueError, OverflowError):
            detail = f"{name} cannot be {cell[:40]!r}; row dropped"
            problems.add("not_a_number", "refused", detail, number)
            return None
        if math.isinf(row[name]):
            return None
    return row or None


def _set_lengths(
    intervals: Sequence[_Interval], context: ReadContext, problems: ProblemList
) -> float | None:
    """Set the lengths of intervals; gives when the first began, Unix seconds, if the rows say."""
    ends = [max((row.get(_WHEN, math.nan) for row in i.rows), default=math.nan) for i in intervals]
    told = np.diff(ends)
    usual_s = float(np.median(told)) if told.size and (told > 0).all() else None
    given_s = usual_s or context.turbostat_s
    if given_s is None and any(each.length_s is None for each in intervals):
        detail = f"it does not say how long its intervals are; taken as {_USUAL_S:g} s"
        problems.add("assumed_interval", "doubted", detail)
    for place, interval in enumerate(intervals):
        if usual_s is not None and place > 0:
            interval.length_s = float(told[place - 1])
        elif interval.length_s is None or interval.length_s <= 0:
            interval.length_s = given_s or _USUAL_S
    if math.isnan(ends[0]):
        return None
    return float(ends[0]) - _length(intervals[0])


def _table(intervals: Sequence[_Interval], start_s: float | None) -> Intervals:
    rows = [row for interval in intervals for row in interval.rows]
    lengths = np.array([_length(interval) for interval in intervals])
    counts = [len(interval.rows) for interval in intervals]
    dt_s = np.repeat(lengths, counts)
    core = [_whole(row.get("CPU")) for row in rows]
    # A machine with one package has no such column.
    one = [0.0 if at >= 0 else None for at in core]
    package = [_whole(row.get("Package", at)) for row, at in zip(rows, one, strict=True)]
    columns: dict[str, np.ndarray] = {}
    headings = dict.fromkeys(name for row in rows for name in row if name not in _PLACES)
    for heading in headings:
        values = np.array([row.get(heading, math.nan) for row in rows])
        if heading in _ENERGIES:
            columns.setdefault(_ENERGIES[heading], values / dt_s)
        else:
            columns[quantity_of(heading)] = values
    return Intervals(
        np.repeat(np.cumsum(lengths), counts),
        dt_s,
        np.array(core, np.int32),
        np.array(package, np.int32),
        [""] * len(rows),
        columns,
        start_s,
    )


def _whole(value: float | None) -> int:
    is_number = value is not None and not math.isnan(value) and 0 <= value < 2**31
    return int(value) if is_number and value is not None else -1


def quantity_of(heading: str) -> str:
    """Return the name of a column with its unit; others are in small letters."""
    if heading in _NAMES:
        return _NAMES[heading]
    if match := _RESIDENCY.fullmatch(heading):
        state = next(filter(None, match.groups())).lower()
        return re.sub(r"[^a-z0-9]+", "_", state) + "_residency_pct"
    if match := _REQUESTS.fullmatch(heading):
        return f"{match[1].lower()}_{'requested_pct' if match[2] else 'entries'}"
    return re.sub(r"[^a-z0-9]+", "_", heading.lower().replace("%", "_pct_")).strip("_")
