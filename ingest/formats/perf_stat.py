"""Output of `perf stat -x,`: event counts, also by interval or place, or of repeated runs."""

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
# A processor, core, die, cache, cluster, socket or node; or a thread, such as `fio-1234`.
_PLACE: Final = re.compile(r"(?:CPU|S|N|node)\d+(?:-[A-Z]+\d+)*|\S.*-\d+", re.IGNORECASE)
_EVENT: Final = re.compile(r"[A-Za-z][\w.\-]*(?:/[^/]*/\w*)?(?::\w+)?")
_IN_UNIT: Final = re.compile(r"(?:cpu|cpu_core|cpu_atom)/([\w.\-]+)/:?")
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
_UNITS: Final = {"energy_j": "joules"}


@dataclass(frozen=True, slots=True)
class _Line:
    """One parsed line of counts. A value of None was not counted."""

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
    return any(_parse(first, separator) is not None for separator in _SEPARATORS)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the events that are columns of `runs`, summed over intervals and places.

    Args:
        blocks: The file's bytes, in blocks with arbitrary boundaries.
        context: The file's name, for errors.

    Returns:
        The counted events and the packages' `energy_j`; `interval_s` if a line states the time.

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
    for name, event in events.items():
        if (part := _MODIFIED.fullmatch(name)) and part[1] not in events:
            detail = f"{name} counts only a part of the code that ran; not used"
            problems.add("partial_event", "doubted", detail, event.line)
    reading.problems = problems.all()
    return reading


def _last_measurement(blocks: Iterable[bytes], problems: ProblemList) -> list[tuple[int, _Line]]:
    """Return the lines of the last measurement, without those before an `--append`."""
    taken: list[tuple[int, _Line]] = []
    for number, line in _lines(blocks, problems):
        if line is not None:
            taken.append((number, line))
        elif taken:
            detail = f"{len(taken)} lines of an earlier measurement; not used"
            problems.add("several_measurements", "refused", detail, taken[0][0])
            taken.clear()
    return taken


def _lines(blocks: Iterable[bytes], problems: ProblemList) -> Iterator[tuple[int, _Line | None]]:
    """Yield lines of counts, and None at each start of perf."""
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
            problems.add("bad_line", "refused", f"not a line of counts: {text[:80]!r}", number)


def _is_metric_alone(text: str, separator: str | None) -> bool:
    """Return whether a line holds no count but a further metric of the line above."""
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
    """Yield the possible prefixes before the value: a time, a place, a number of units."""
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
    """Rejoin events such as `cpu/event=0x3c,umask=0x0/` that contain the separator."""
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
    """Return an event's name in lower case, with a suffix such as `:u` for a part of the code."""
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
    is_real = column == "energy_j"
    reading.measurements[column] = event.total if is_real else round(event.total)


def _interval_s(lines: Sequence[_Line]) -> float | None:
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
