"""One line of `perf stat -x,` or `perf stat -j`: a count, and where and when it was taken."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ingest.formats.json_cells import parsed

_UNCOUNTED: Final = ("<not counted>", "<not supported>")
_NUMBER: Final = re.compile(r"\s*-?\d{1,60}(?:[.,]\d+)?\s*")
# A processor, core, die, cache, cluster, socket or node; or a thread, such as `fio-1234`.
_PLACE: Final = re.compile(r"(?:CPU|S|N|node)\d+(?:-[A-Z]+\d+)*|\S.*-\d+", re.IGNORECASE)
_EVENT: Final = re.compile(r"[A-Za-z][\w.\-]*(?:/[^/]*/\w*)?(?::\w+)?")
# Keys of JSON that say where a count was taken.
_PLACES_IN_JSON: Final = ("cpu", "core", "die", "socket", "node", "thread", "cache", "cluster")


@dataclass(frozen=True, slots=True)
class CountLine:
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


def parse_line(text: str, separator: str) -> CountLine | None:
    fields = _join_events(text.split(separator), separator)
    for start, (time, counter) in _prefixes(fields):
        rest = fields[start:]
        if len(rest) < 5 or not (is_number(rest[0]) or rest[0].strip() in _UNCOUNTED):
            continue
        if not _EVENT.fullmatch(rest[2]) or is_number(rest[1]):
            continue
        after = rest[4:] if rest[3].strip().endswith("%") else rest[3:]
        if len(after) < 2 or not (is_number(after[0]) and is_number(after[1])):
            continue
        metric = _number(after[2]) if len(after) > 2 and is_number(after[2]) else None
        return CountLine(
            time,
            counter,
            _number(rest[0]) if is_number(rest[0]) else None,
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
    has_time = len(fields) > 1 and is_number(fields[0]) and "." in fields[0]
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


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _number(text: str) -> float:
    return float(text.strip().replace(",", "."))


def parse_json(text: str) -> CountLine | None:
    """Parse a line of `perf stat -j`; None for others, such as a metric alone."""
    fields = parsed(text)
    if not isinstance(fields, dict) or not isinstance(fields.get("event"), str):
        return None
    value, running_ns, percent = (
        _json_text(fields, key) for key in ("counter-value", "event-runtime", "pcnt-running")
    )
    is_told = is_number(value) or value in _UNCOUNTED
    if not (is_told and is_number(running_ns) and is_number(percent)):
        return None
    key, at = next(((k, str(fields[k])) for k in _PLACES_IN_JSON if k in fields), ("", ""))
    time, metric = _json_text(fields, "interval"), _json_text(fields, "metric-value")
    return CountLine(
        _number(time) if is_number(time) else None,
        # As `-x,` writes it.
        f"CPU{at}" if key == "cpu" and at.isdecimal() else at,
        _number(value) if is_number(value) else None,
        _json_text(fields, "unit"),
        fields["event"].strip(),
        _number(running_ns),
        _number(percent),
        _number(metric) if is_number(metric) else None,
        _json_text(fields, "metric-unit"),
    )


def _json_text(found: dict[str, Any], key: str) -> str:
    value = found.get(key, "")
    return "" if value is None else str(value).strip()
