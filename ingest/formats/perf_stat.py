"""Output of `perf stat -x,` or `-j`: event counts, also by interval or place, or repeated."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.perf_stat_line import CountLine, parse_json, parse_line
from ingest.records import Intervals, ProblemList, ReadContext, Reading
from ingest.settings.column_names import clean_name

_STARTED: Final = "# started on"
_SEPARATORS: Final = (",", ";", "\t", "|")
_IN_UNIT: Final = re.compile(r"(?:cpu|cpu_core|cpu_atom)/([\w.\-]+)/:?")
_CPU: Final = re.compile(r"CPU(\d{1,9})(?!\d)", re.IGNORECASE)
_SOCKET: Final = re.compile(r"S(\d{1,9})(?:-|$)")
# An event with letters for where or how it is counted; with other letters, a tracepoint.
_MODIFIED: Final = re.compile(r"([^:]+):([ukhIGHpPSDWeb]+)")
_PLACES: Final = frozenset("ukhGH")
# Below this share of the time an event shared its counter, so its count is an estimate.
_WHOLE_PCT: Final = 99.0
_PACKAGE_ENERGY: Final = "power/energy-pkg/"
# Event names by column, the best first.
_COLUMNS: Final = {
    "instructions": ("instructions", "inst_retired.any"),
    "cycles": ("cycles", "cpu-cycles", "cpu_clk_unhalted.thread"),
    "ref_cycles": ("ref-cycles", "cpu_clk_unhalted.ref_tsc"),
    "llc_misses": ("longest_lat_cache.miss", "llc-misses", "cache-misses"),
    "context_switches": ("context-switches", "cs"),
    "loads": ("mem_inst_retired.all_loads", "mem_uops_retired.all_loads", "l1-dcache-loads"),
    "stores": ("mem_inst_retired.all_stores", "mem_uops_retired.all_stores", "l1-dcache-stores"),
    "energy_j": (_PACKAGE_ENERGY,),
}
_MEMORY_ENERGY: Final = "power/energy-ram/"
_MEMORY: Final = Column(
    "dram_energy", "metric", "real", "Energy, DRAM", "Energy, DRAM", "J", better="less"
)
_UNITS: Final = {"energy_j": "joules", _MEMORY.name: "joules"}


@dataclass(slots=True)
class _Event:
    """The sum over all lines of one event."""

    line: int
    unit: str
    total: float = 0.0
    counted: int = 0
    uncounted: int = 0
    running_pct: float = 100.0


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the first line is `# started on ...`, or the first data line is a count."""
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:20] if line.strip()]
    if not lines:
        return False
    if lines[0].startswith(_STARTED):
        return True
    first = next((line for line in lines if not line.startswith("#")), "")
    return parse_json(first) is not None or any(
        parse_line(first, separator) is not None for separator in _SEPARATORS
    )


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the events that are columns of `runs`, summed over intervals and places.

    Returns:
        The counted events and the packages' `energy_j`; `interval_s` if a line states the time;
        with `-I` the events of each interval.

    Raises:
        FormatError: No line of counts.
    """
    problems = ProblemList()
    numbered = _last_measurement(blocks, problems)
    if not numbered:
        raise FormatError(f"no line of counts of `perf stat -x,` ({context.name})")
    reading = Reading(interval_s=_interval_s([line for _, line in numbered]))
    package_ns = sum(line.running_ns for _, line in numbered if line.event == _PACKAGE_ENERGY)
    reading.package_time_s = package_ns / 1e9 or None
    events = _by_event(numbered)
    for column, names in _COLUMNS.items():
        name = next((each for each in names if each in events), None)
        if name is not None:
            _add_column(column, name, events[name], reading, problems)
    if (memory := events.get(_MEMORY_ENERGY)) is not None:
        _add_column(_MEMORY.name, _MEMORY_ENERGY, memory, reading, problems)
        reading.columns = (_MEMORY,) if _MEMORY.name in reading.measurements else ()
    for name, event in events.items():
        if (part := _MODIFIED.fullmatch(name)) and part[1] not in events:
            detail = f"{name} counts only a part of the code that ran; not used"
            problems.add("partial_event", "doubted", detail, event.line)
    reading.intervals = _intervals([line for _, line in numbered])
    reading.problems = problems.all()
    return reading


def _intervals(lines: Sequence[CountLine]) -> Intervals | None:
    """Return the counts of each interval and processor; None without `-I`."""
    rows: dict[tuple[float, str], dict[str, float]] = {}
    for line in lines:
        if line.time_s is not None and line.value is not None and line.time_s > 0:
            row = rows.setdefault((line.time_s, line.place), {})
            event = _name_of(line.event)
            known = next((column for column, events in _COLUMNS.items() if event in events), None)
            # Other events have their own name, with its unit.
            name = known or clean_name(" ".join(filter(None, (event, line.unit))), "whole")
            row[name] = row.get(name, 0.0) + line.value
    if not rows:
        return None
    ordered = sorted(rows)
    ends = sorted({end_s for end_s, _ in ordered})
    length_s = dict(zip(ends, np.diff(ends, prepend=0.0).tolist(), strict=True))
    names = dict.fromkeys(name for row in rows.values() for name in row)
    processors = [processor for _, processor in ordered]
    return Intervals(
        np.array([end_s for end_s, _ in ordered]),
        np.array([length_s[end_s] for end_s, _ in ordered]),
        np.array([_number_in(_CPU, processor) for processor in processors], np.int32),
        np.array([_number_in(_SOCKET, processor) for processor in processors], np.int32),
        ["" if _CPU.fullmatch(name) else name for name in processors],
        {name: np.array([rows[key].get(name, np.nan) for key in ordered]) for name in names},
    )


def _number_in(pattern: re.Pattern[str], place: str) -> int:
    found = pattern.match(place)
    return int(found[1]) if found else -1


def _last_measurement(
    blocks: Iterable[bytes], problems: ProblemList
) -> list[tuple[int, CountLine]]:
    """Return the lines of the last measurement, without those before an `--append`."""
    taken: list[tuple[int, CountLine]] = []
    for number, line in _lines(blocks, problems):
        if line is not None:
            taken.append((number, line))
        elif taken:
            detail = f"{len(taken)} lines of an earlier measurement; not used"
            problems.add("several_measurements", "refused", detail, taken[0][0])
            taken.clear()
    return taken


def _lines(
    blocks: Iterable[bytes], problems: ProblemList
) -> Iterator[tuple[int, CountLine | None]]:
    """Yield lines of counts, and None at each start of perf."""
    separator: str | None = None
    for number, text in enumerate(iterate_lines(blocks), 1):
        if text.startswith(_STARTED):
            yield number, None
        if not text.strip() or text.startswith("#"):
            continue
        if text.lstrip().startswith("{"):
            line = parse_json(text)
            if line is not None:
                yield number, line
            elif '"metric-value"' not in text:
                problems.add("bad_line", "refused", f"not a line of counts: {text[:80]!r}", number)
            continue
        if separator is None:
            separator = next((s for s in _SEPARATORS if parse_line(text, s) is not None), None)
        line = parse_line(text, separator) if separator is not None else None
        if line is not None:
            yield number, line
            continue
        # A line with no count holds a further metric of the line above.
        fields = text.split(separator) if separator else []
        if len(fields) <= 4 or sum(not each.strip() for each in fields) < 3:
            problems.add("bad_line", "refused", f"not a line of counts: {text[:80]!r}", number)


def _name_of(event: str) -> str:
    """Return an event's name in lower case, with a suffix such as `:u` for a part of the code."""
    bare = _IN_UNIT.sub(r"\1:", event).removesuffix(":")
    match = _MODIFIED.fullmatch(bare)
    if match is None:
        return bare.lower()
    places = _PLACES & set(match[2])
    name = match[1].lower()
    if not places or {"u", "k"} <= places:
        return name
    return f"{name}:{''.join(sorted(places))}"


def _by_event(numbered: Iterable[tuple[int, CountLine]]) -> dict[str, _Event]:
    """Sum lines by event; the sum of user and kernel counts is the whole event."""
    events: dict[str, _Event] = {}
    for number, line in numbered:
        name = _name_of(line.event)
        event = events.setdefault(name, _Event(number, line.unit))
        if line.value is None:
            event.uncounted += 1
        else:
            event.total += line.value
            event.counted += 1
            event.running_pct = min(event.running_pct, line.running_pct)
    for name in [name.removesuffix(":u") for name in events if name.endswith(":u")]:
        user, kernel = events[f"{name}:u"], events.get(f"{name}:k")
        if name not in events and kernel is not None:
            events[name] = _Event(
                user.line,
                user.unit,
                user.total + kernel.total,
                min(user.counted, kernel.counted),
                max(user.uncounted, kernel.uncounted),
                min(user.running_pct, kernel.running_pct),
            )
    return events


def _add_column(
    column: str, name: str, event: _Event, reading: Reading, problems: ProblemList
) -> None:
    if not event.counted:
        return
    expected = _UNITS.get(column, "")
    if expected and event.unit.lower() != expected:
        detail = f"{name} is in {event.unit!r}, not in {expected}; left unset"
        problems.add("odd_unit", "doubted", detail, event.line)
        return
    if event.uncounted:
        detail = f"{name} was not counted in {event.uncounted} lines; left unset"
        problems.add("partly_counted", "doubted", detail, event.line)
        return
    if event.running_pct < _WHOLE_PCT:
        reading.flags.append("multiplexed")
        detail = f"{name} was counted in {event.running_pct:g} % of the time; the rest is estimated"
        problems.add("multiplexed", "doubted", detail, event.line)
    is_real = column in _UNITS
    reading.measurements[column] = event.total if is_real else round(event.total)


def _interval_s(lines: Sequence[CountLine]) -> float | None:
    """Return how long perf counted: by last time, own clock, or CPU time over CPUs in use."""
    times = [line.time_s for line in lines if line.time_s is not None]
    if times:
        return max(times)
    for line in lines:
        if line.event == "duration_time" and line.value:
            return line.value / 1e9
    clocks = [line for line in lines if line.event in ("cpu-clock", "task-clock")]
    for line in clocks:
        is_used = line.metric_unit == "CPUs utilized" and line.metric is not None
        if is_used and line.value and line.unit == "msec" and line.metric and line.metric >= 0.1:
            return line.value / 1e3 / line.metric
    return None
