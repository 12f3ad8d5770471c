"""Logs of any program with lines `name = number unit` or `name: number unit`: one run a file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import decode_text, whole_text
from ingest.formats.trace_headings import read_heading
from ingest.records import ReadContext, Reading
from ingest.settings.column_names import clean_name

_ENDINGS: Final = re.compile(
    r".*\.(?:log|txt|out|res|results?|stdout|stderr|time|report|rpt|stats?|summary)", re.IGNORECASE
)
_KEY: Final = r"\s*([A-Za-z][\w .%/()-]{1,58}?)\s*[:=]\s+"
_NUMBER: Final = re.compile(
    _KEY + r"([-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-zµ%/°][A-Za-z/%]{0,11})?\s*\.?"
)
_WORD: Final = re.compile(_KEY + r"([A-Za-z][\w.+/-]*(?: [\w.+/-]+){0,2})\s*")
# Names of the time that a run took; a time of a part of it has further words.
_TIME: Final = re.compile(
    r"(?:(?:total|elapsed|execution|wall|wall.?clock|real|run|running) ?)*"
    r"(?:time|elapsed|duration|runtime)(?: taken)?",
    re.IGNORECASE,
)
_TARGETS: Final = {"energy": "energy_j", "power": "power_w"}
# A log measures one of these at least.
_MEASURED: Final = re.compile(
    r"elapsed|\btime\b|duration|runtime|energy|joule|power|watt|throughput|latency|/s\b|per.?sec",
    re.IGNORECASE,
)
_LEAST: Final = 3
# Its results are in its last lines, of which they are this share at least.
_LAST_LINES: Final = 40
_LEAST_SHARE: Final = 0.25
# Names that differ in a number only are of steps, not of the run.
_MOST_NUMBERED: Final = 3
_DIGITS: Final = re.compile(r"\d+")


def sniff(name: str, head: bytes) -> bool:
    """Return whether a text ends with such lines, of which one is a measurement.

    The ending of the name decides too: files of settings have such lines as well.
    """
    if not _ENDINGS.fullmatch(name):
        return False
    lines = [line for line in decode_text(head).splitlines() if line.strip()][-_LAST_LINES:]
    found = [match for line in lines if (match := _NUMBER.fullmatch(line)) is not None]
    return (
        len(found) >= _LEAST
        and len(found) >= _LEAST_SHARE * len(lines)
        and any(_MEASURED.search(f"{match[1]} {match[3] or ''}") for match in found)
    )


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read numbers as metrics and texts as labels; of several lines of a name the last counts.

    Returns:
        Time, energy and power of the run, where a name says no more than that, and columns of the
        file's own names with their units.

    Raises:
        FormatError: No such line.
    """
    pairs = {key: (value, unit) for key, value, unit in _pairs(whole_text(blocks, context.name))}
    kernels = Counter(_DIGITS.sub("#", key) for key in pairs)
    reading = Reading()
    columns: dict[str, Column] = {}
    for key, (text, unit) in pairs.items():
        if kernels[_DIGITS.sub("#", key)] > _MOST_NUMBERED:
            continue
        heading = read_heading(f"{key} ({unit})" if unit else key)
        target = "duration_s" if _TIME.fullmatch(key) else _TARGETS.get(heading.quantity, "")
        if unit is None:
            name = clean_name(key, "text", columns)
            columns[name] = Column(name, "label", "text", key, key)
            reading.knobs[name] = text
        elif target and heading.domain in ("", "total") and target not in reading.measurements:
            reading.measurements[target] = float(text) * heading.scale
        else:
            name = clean_name(key, "real", columns)
            columns[name] = Column(name, "metric", "real", key, key, unit)
            reading.measurements[name] = float(text)
    if not reading.measurements:
        raise FormatError(f"no line with a name and a number ({context.name})")
    reading.columns = tuple(columns.values())
    return reading


def _pairs(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, value and unit of each line; the unit is None of a text."""
    for line in text.splitlines():
        if found := _NUMBER.fullmatch(line):
            yield found[1].strip(), found[2].replace(",", ""), found[3] or ""
        elif found := _WORD.fullmatch(line):
            yield found[1].strip(), found[2].strip(), None
