"""HdrHistogram's percentile output: `Value Percentile TotalCount 1/(1-Percentile)`.

wrk2 prints such a list within its own output; memtier_benchmark, Cassandra's tools and others
write it as a file of its own. The list does not state its unit.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from data.errors import FormatError
from ingest.files.text_lines import whole_text
from ingest.records import ProblemList, ReadContext, Reading
from ingest.settings.number_texts import PERCENTILES, to_us

HEADING: Final = re.compile(
    r"^\s*\"?Value\"?[\s,]+\"?Percentile\"?[\s,]+\"?TotalCount\"?[\s,]+\"?1/\(1-Percentile\)\"?\s*$",
    re.MULTILINE,
)
_NUMBER: Final = r"(\d{1,30}(?:\.\d{1,30})?)"
_ROW: Final = re.compile(
    rf"^\s*{_NUMBER}[\s,]+{_NUMBER}[\s,]+(\d{{1,18}})(?:[\s,]+\S+)?[\s,]*$", re.MULTILINE
)
_FOOT: Final = re.compile(
    rf"^\s*#\[Mean\s*=\s*{_NUMBER},.*\n"
    rf"\s*#\[Max\s*=\s*{_NUMBER},\s*Total ?[cC]ount\s*=\s*{_NUMBER}\]",
    re.MULTILINE,
)
# Of wrk2 and memtier_benchmark.
_USUAL_UNIT: Final = "ms"
_FARTHEST: Final = 1.2
# Half of the last digit of a percentile.
_SAME: Final = 5e-7


class Spectrum(NamedTuple):
    """A percentile list, values in its own unit.

    Attributes:
        stated: Percentiles that a row is of, by column of `runs`.
        between: Others, with the values of the rows before and after them and how far between
            the two they lie, 0 to 1.
        total: How many values there are.
    """

    stated: dict[str, float]
    between: dict[str, tuple[float, float, float]]
    total: int
    mean: float | None
    maximum: float | None


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the first line with words is the heading of such a list."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff").lstrip()
    return HEADING.match(text.split("\n", 1)[0].rstrip("\r")) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the percentiles that have columns, mean and maximum.

    Where no row is of a percentile, its value is interpolated linearly between the rows before and
    after it, and said; it is left unset where these are more than `_FARTHEST` times apart.

    Args:
        context: The unit of the values, from the setting `latency.hdr_unit`.

    Raises:
        FormatError: No row of such a list.
    """
    text = whole_text(blocks, context.name)
    heading = HEADING.search(text)
    spectrum = read_spectrum(text[heading.end() :]) if heading else None
    if spectrum is None:
        raise FormatError(f"no list of percentiles ({context.name})")
    reading, problems = Reading(), ProblemList()
    unit = context.hdr_unit or _USUAL_UNIT
    if context.hdr_unit is None:
        detail = f"it does not state its unit; taken as {unit} (the setting latency.hdr_unit says)"
        problems.add("assumed_unit", "doubted", detail)
    take_spectrum(spectrum, unit, reading)
    reading.measurements["requests"] = spectrum.total
    interpolated = []
    for column, (low, high, share) in spectrum.between.items():
        if high <= low * _FARTHEST:
            reading.measurements[column] = to_us(low + (high - low) * share, unit)
        if high > low:
            interpolated.append(f"{column} ({low:g} to {high:g} {unit})")
    if interpolated:
        detail = (
            f"the list has no row of {', '.join(interpolated)}; interpolated, or left unset if far"
        )
        problems.add("percentile_between_rows", "doubted", detail)
    reading.problems = problems.all()
    return reading


def read_spectrum(text: str) -> Spectrum | None:
    """Read the rows below a heading, up to the first other line; None if there is none."""
    foot = _FOOT.search(text)
    body = text[: foot.start()] if foot else text
    rows = [(float(v), float(p), int(n)) for v, p, n in _ROW.findall(body)]
    rows = [row for row in rows if row[1] <= 1]
    if not rows or rows[-1][2] <= 0:
        return None
    stated: dict[str, float] = {}
    between: dict[str, tuple[float, float, float]] = {}
    for percent, column in PERCENTILES.items():
        share = round(percent / 100, 3)
        same = [value for value, percentile, _ in rows if abs(percentile - share) < _SAME]
        if same:
            stated[column] = same[0]
            continue
        below = [(percentile, value) for value, percentile, _ in rows if percentile < share]
        above = [(percentile, value) for value, percentile, _ in rows if percentile > share]
        if below and above:
            (before, low), (after, high) = below[-1], above[0]
            between[column] = low, high, (share - before) / (after - before)
    total = round(float(foot[3])) if foot else rows[-1][2]
    mean, maximum = (float(foot[1]), float(foot[2])) if foot else (None, rows[-1][0])
    return Spectrum(stated, between, total, mean, maximum)


def take_spectrum(spectrum: Spectrum, unit: str, reading: Reading) -> None:
    """Take over what a list states to the digit.

    Args:
        unit: Of the list, one of `US`.
    """
    measured = reading.measurements
    measured |= {column: to_us(value, unit) for column, value in spectrum.stated.items()}
    if spectrum.mean is not None:
        measured["latency_mean_us"] = to_us(spectrum.mean, unit)
    if spectrum.maximum is not None:
        measured["latency_max_us"] = to_us(spectrum.maximum, unit)
