"""Output of `perf stat -x,`: counts of a command, also in intervals, by place, or repeated."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.problem_list import ProblemList
from ingest.records import ReadContext, Reading

_STARTED: Final = "# started on"
_SEPARATORS: Final = (",", ";", "\t", "|")
_UNCOUNTED: Final = ("<not counted>", "<not supported>")
_NUMBER: Final = re.compile(r"\s*-?\d{1,60}(?:[.,]\d+)?\s*")
# A processor, core, die, cache, cluster, socket or node; or a thread, as `fio-1234`.
_PLACE: Final = re.compile(r"(?:CPU|S|N|node)\d+(?:-[A-Z]+\d+)*|\S.*-\d+", re.IGNORECASE)
_EVENT: Final = re.compile(r"[A-Za-z][\w.\-]*(?:/[^/]*/\w*)?(?::\w+)?")
_IN_UNIT: Final = re.compile(r"(?:cpu|cpu_core|cpu_atom)/([\w.\-]+)/:?")
# An event and letters that say where or how it is counted; with others after it, a tracepoint.
_MODIFIED: Final = re.compile(r"([^:]+):([ukhIGHpPSDWeb]+)")
_PLACES: Final = frozenset("ukhGH")
# Below this share of the time an event had no counter of its own and its count is an estimate.
_WHOLE_PCT: Final = 99.0
_PACKAGE_ENERGY: Final = "power/energy-pkg/"
# Names of events by the column that they count, the best first.
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
_UNITS: Final = {"energy_j": "joules"}


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: what it counted, where and when. A value of None was not counted."""

    time_s: float | None
    place: str
    value: float | None
    unit: str
    event: str
    running_ns: float
    running_pct: float
    metric: float | None
    metric_unit: str


@dataclass(slots=True)
class _Event:
    """What all lines of one event say together."""

    line: int
    unit: str
    total: float = 0.0
    counted: int = 0
    uncounted: int = 0
    running_pct: float = 100.0


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Tell perf by its first line, `# started on ...`, or by a first line of counts."""
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:20] if line.strip()]
    if not lines:
        return False
    if lines[0].startswith(_STARTED):
        return True
    first = next((line for line in lines if not line.startswith("#")), "")
    return any(_parse(first, separator) is not None for separator in _SEPARATORS)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the events that are columns of a run, summed over intervals and places.

    Args:
        blocks: The file's bytes, cut anywhere.
        context: Names the file in errors.

    Returns:
        Counts and `energy_j` of the packages, those that were counted; how long they were counted
        for, if a line tells.

    Raises:
        FormatError: No line of counts.
    """
    problems = ProblemList()
    numbered = _last_measurement(blocks, problems)
    if not numbered:
        raise FormatError(f"no line of counts as perf stat -x, writes them ({context.name})")
    reading = Reading(interval_s=_interval_s([line for _, line in numbered]))
    package_ns = sum(line.running_ns for _, line in numbered if line.event == _PACKAGE_ENERGY)
    reading.package_time_s = package_ns / 1e9 or None
    events = _by_event(numbered)
    for column, names in _COLUMNS.items():
        name = next((each for each in names if each in events), None)
        if name is not None:
            _take(column, name, events[name], reading, problems)
    for name, event in events.items():
        if (part := _MODIFIED.fullmatch(name)) and part[1] not in events:
            detail = f"{name} counts a part of what ran only; not used"
            problems.add("partial_event", "doubted", detail, event.line)
    reading.problems = problems.all()
    return reading


def _last_measurement(blocks: Iterable[bytes], problems: ProblemList) -> list[tuple[int, _Line]]:
    """Lines of the last measurement; one that was appended to (`--append`) is no part of it."""
    taken: list[tuple[int, _Line]] = []
    for number, line in _lines(blocks, problems):
        if line is not None:
            taken.append((number, line))
        elif taken:
            detail = f"{len(taken)} lines of another measurement than the last one; not used"
            problems.add("several_measurements", "refused", detail, taken[0][0])
            taken.clear()
    return taken


def _lines(blocks: Iterable[bytes], problems: ProblemList) -> Iterator[tuple[int, _Line | None]]:
    """Lines of counts; None where perf was started."""
    separator: str | None = None
    for number, text in enumerate(iterate_lines(blocks), 1):
        if text.startswith(_STARTED):
            yield number, None
        if not text.strip() or text.startswith("#"):
            continue
        if separator is None:
            separator = next((s for s in _SEPARATORS if _parse(text, s) is not None), None)
        line = _parse(text, separator) if separator is not None else None
        if line is not None:
            yield number, line
        elif not _is_metric_alone(text, separator):
            problems.add("bad_line", "refused", f"no line of counts: {text[:80]!r}", number)


def _is_metric_alone(text: str, separator: str | None) -> bool:
    """A further metric of the line above stands in a line that counts nothing."""
    fields = text.split(separator) if separator else []
    return len(fields) > 4 and sum(not each.strip() for each in fields) >= 3


def _parse(text: str, separator: str) -> _Line | None:
    fields = _join_events(text.split(separator), separator)
    for start, (time, place) in _prefixes(fields):
        rest = fields[start:]
        if len(rest) < 5 or not (_is_number(rest[0]) or rest[0].strip() in _UNCOUNTED):
            continue
        if not _EVENT.fullmatch(rest[2]) or _is_number(rest[1]):
            continue
        after = rest[4:] if rest[3].strip().endswith("%") else rest[3:]
        if len(after) < 2 or not (_is_number(after[0]) and _is_number(after[1])):
            continue
        metric = _number(after[2]) if len(after) > 2 and _is_number(after[2]) else None
        return _Line(
            time,
            place,
            _number(rest[0]) if _is_number(rest[0]) else None,
            rest[1].strip(),
            rest[2].strip(),
            _number(after[0]),
            _number(after[1]),
            metric,
            after[3].strip() if len(after) > 3 else "",
        )
    return None


def _prefixes(fields: Sequence[str]) -> Iterator[tuple[int, tuple[float | None, str]]]:
    """What may stand before the value: a time, a place, how many it stands for."""
    yield 0, (None, "")
    has_time = len(fields) > 1 and _is_number(fields[0]) and "." in fields[0]
    time = _number(fields[0]) if has_time else None
    if has_time:
        yield 1, (time, "")
    start = 1 if has_time else 0
    if len(fields) > start + 2 and _PLACE.fullmatch(fields[start].strip()):
        place = fields[start].strip()
        yield start + 1, (time, place)
        yield start + 2, (time, place)


def _join_events(fields: list[str], separator: str) -> list[str]:
    """Put together again what the separator inside of `cpu/event=0x3c,umask=0x0/` parted."""
    joined: list[str] = []
    for each in fields:
        is_open = bool(joined) and joined[-1].count("/") == 1 and "=" in joined[-1]
        if is_open:
            joined[-1] += separator + each
        else:
            joined.append(each)
    return joined


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _number(text: str) -> float:
    return float(text.strip().replace(",", "."))


def _name_of(event: str) -> str:
    """An event's name in small letters, with `:u` or the like where it is a part of what ran."""
    bare = _IN_UNIT.sub(r"\1:", event).removesuffix(":")
    found = _MODIFIED.fullmatch(bare)
    if found is None:
        return bare.lower()
    places = _PLACES & set(found[2])
    name = found[1].lower()
    if not places or {"u", "k"} <= places:
        return name
    return f"{name}:{''.join(sorted(places))}"


def _by_event(numbered: Iterable[tuple[int, _Line]]) -> dict[str, _Event]:
    """Sum lines by event; user's and kernel's parts together are the whole."""
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


def _take(column: str, name: str, event: _Event, reading: Reading, problems: ProblemList) -> None:
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
        detail = f"{name} was counted in {event.running_pct:g} % of the time, the rest is estimated"
        problems.add("multiplexed", "doubted", detail, event.line)
    is_real = column == "energy_j"
    reading.measurements[column] = event.total if is_real else round(event.total)


def _interval_s(lines: Sequence[_Line]) -> float | None:
    """How long perf counted: the last time, its own clock, or CPU time over CPUs in use."""
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
