"""Samples that stand below one another as lines `name: value`, a record each.

- Records that begin with one name (`ipmitool dcmi power reading` in a loop).
- Records below, or above, a line with the time (`powermetrics`, `date; sensors` in a loop).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, pairwise
from typing import Final

import numpy as np

from ingest.formats.trace_headings import read_heading, words_of
from ingest.formats.trace_times import unix_seconds
from ingest.settings.column_names import WORDS
from ingest.settings.headings import unit_of

LEAST_ROWS: Final = 3
LEAST_NAMES: Final = 2
# Lines with times are looked for in so many.
_MOST_LINES: Final = 2000
# Records have a name in this share at least.
_SHARE: Final = 0.7
# A line of a record.
_FIELD: Final = re.compile(r"\s*([A-Za-z][^:=]{1,50}?)\s*[:=]\s+(\S.*)")
# A number at the beginning of a value, and its unit; what follows is in brackets.
_VALUE: Final = re.compile(
    r"[+]?(-?(?:\d+(?:\.\d*)?|\.\d+))\s*([A-Za-z%°µμ/]{0,7})\.?(?:\s*[(\[].*|\s+N/A)?"
)
_DAY: Final = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK: Final = r"\d\d?:\d\d:\d\d(?:[.,]\d+)?(?: [AP]M)?(?: [A-Z]{2,5}(?![A-Za-z]))?"
_ZONE: Final = r"(?: ?(?:Z|[+-]\d\d:?\d\d))?"
# A date with a time of day, a number of s since 1970, or a time of day.
_TIME: Final = re.compile(
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T_ ]+{_CLOCK}{_ZONE}"
    rf"|\d\d?[-/.]\d\d?[-/.]\d{{4}},? {_CLOCK}{_ZONE}"
    rf"|{_DAY}?{_MONTH} +\d\d?,? (?:\d{{4}} )?{_CLOCK}(?: \d{{4}})?{_ZONE}"
    rf"|{_DAY}?\d\d? {_MONTH} (?:\d{{4}},? )?{_CLOCK}(?: \d{{4}})?{_ZONE}"
    rf"|(?<![\d.])1\d{{9}}(?:\d{{3}})?(?:\.\d+)?(?![\d.])|{_CLOCK}"
)
_ELAPSED: Final = re.compile(r"\(?(\d+(?:\.\d+)?)\s*(ms|s|us) elapsed\)?")
_ASIDE: Final = re.compile(rf"{_ELAPSED.pattern}|\(\d+ \w+ ago\)")
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_MOST_WORDS: Final = 4
_LONGEST: Final = 120
# What a run took, and what it did; samples have no such.
_OF_RUNS: Final = WORDS["of_runs"]
_SET: Final = WORDS["set"] | WORDS["given"]


@dataclass(slots=True)
class Records:
    """Records of a text.

    Attributes:
        names: Of their cells.
        rows: Maps the lines to numbers of lines, and cells.
        are_samples: Whether a line with the time leads each, and they are of no runs.
    """

    names: list[str]
    rows: Callable[[Iterable[tuple[int, str]]], Iterator[tuple[int, list[str]]]]
    are_samples: bool = False


@dataclass(slots=True)
class _Record:
    """The lines of a sample: the text of its time, the seconds that it says to take, its cells."""

    line: int
    time: str
    elapsed_s: float
    cells: dict[str, str] = field(default_factory=dict)


def find_records(
    head: Sequence[tuple[int, str]], rest: Iterator[tuple[int, str]]
) -> tuple[Records | None, Iterator[tuple[int, str]]]:
    """Return the records that begin in some lines, None for other lines; and the lines below."""
    names = _names(head)
    times = [each for _, line in head if (each := _time_in(line)) is not None]
    if any(not (names and label) for _, _, label in times):
        more = [*islice(rest, _MOST_LINES)]
        label = _label_of([*head, *more])
        led = None if label is None else _led_names(_led([*head, *more], label))
        rest = chain(more, rest)
        if label is not None and led:
            rows = partial(_led_rows, label=label, names=led)
            return Records(["time", *led], rows, are_samples=True), rest
        # They lead records of runs.
        names = names if label is None else None
    return (Records(names, partial(_rows, names=names)) if names else None), rest


def _names(head: Sequence[tuple[int, str]]) -> list[str] | None:
    """Return the names of records that begin with one name; None for other lines."""
    found = [_FIELD.match(line) for _, line in head if line.strip()]
    fields = [each[1].strip() for each in found if each is not None]
    if len(fields) < 2 * LEAST_ROWS or len(fields) < 0.8 * len(found):
        return None
    names = list(
        dict.fromkeys(fields[: fields.index(fields[0], 1)] if fields[0] in fields[1:] else ())
    )
    return names if len(names) >= LEAST_NAMES and fields.count(fields[0]) >= LEAST_ROWS else None


def _rows(
    lines: Iterable[tuple[int, str]], names: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    record: dict[str, str] = {}
    for number, line in lines:
        field = _FIELD.match(line)
        if field is None:
            continue
        name = field[1].strip()
        if name == names[0] and record:
            yield number - 1, [record.get(each, "") for each in names]
            record = {}
        value = field[2].strip().rstrip(".")
        time = _time_in(value)
        record[name] = time[0] if time and not time[2] else value
    # The last one may be cut.
    if len(record) == len(names):
        yield number, [record[each] for each in names]


def _time_in(line: str) -> tuple[str, float, str] | None:
    """Return the time that is all that a line says, the seconds that it says to take, and the
    words before the time; None for other lines.
    """
    found = _TIME.search(line) if len(line) < _LONGEST else None
    if found is None:
        return None
    took = _ELAPSED.search(line)
    bare = _ASIDE.sub(" ", line[: found.start()] + " " + line[found.end() :])
    words = re.findall(r"[A-Za-z]+", bare)
    if len(words) > _MOST_WORDS or re.search(r"\d", bare):
        return None
    return found[0], float(took[1]) * _SECONDS[took[2]] if took else 0.0, " ".join(words).lower()


def _label_of(lines: Iterable[tuple[int, str]]) -> str | None:
    """Return the words beside the times that lead records; None if nothing leads several."""
    labels = Counter(each[2] for _, line in lines if (each := _time_in(line)) is not None)
    label, count = labels.most_common(1)[0]
    return label if count >= LEAST_ROWS else None


def _led(lines: Iterable[tuple[int, str]], label: str) -> Iterator[_Record]:
    """Yield the records below lines with a time; those above the first have no time.

    A line of one word names the part of the machine that the next lines are of.
    """
    record, part = _Record(0, "", 0.0), ""
    for number, line in lines:
        time = _time_in(line)
        if time is not None and time[2] == label:
            yield record
            record, part = _Record(number, *time[:2]), ""
        elif (field := _FIELD.match(line)) is not None:
            value = _VALUE.fullmatch(field[2].strip())
            name = f"{part} {field[1].strip()}".strip()
            record.cells[name] = f"{value[1]} {value[2]}".strip() if value else field[2].strip()
        elif line.strip() and ":" not in line and len(line.split()) == 1:
            part = line.strip()
    yield record


def _led_names(records: Iterator[_Record]) -> list[str]:
    """Return the names of the numbers of samples, and of texts that stay; empty for what is none:
    records of runs say what was set, what the run took, or an energy or a mean power of their own.
    """
    # Those above the first time, and below the last, are not whole.
    whole = [*records][1:-1]
    if len(whole) < LEAST_ROWS - 1:
        return []
    counts = Counter(name for each in whole for name in each.cells)
    names = [name for name, count in counts.items() if count >= _SHARE * len(whole)]
    columns = {name: [c for each in whole if (c := each.cells.get(name))] for name in names}
    are_powers = []
    for name, cells in columns.items():
        numbers = [_number(cell) for cell in cells]
        words, varies = {*words_of(name)}, len({*cells}) > 1
        if None in numbers:
            if varies and words & _SET:
                return []
            continue
        unit = next(filter(None, (cell.partition(" ")[2] for cell in cells)), "")
        known = unit_of(unit, in_brackets=True) if unit else None
        steps = [b - a for a, b in pairwise(filter(None, numbers))]
        falls = any(step < 0 for step in steps)
        quantity = read_heading(name, unit).quantity
        is_time = known is not None and known.quantity == "time"
        if varies and (words & (_SET | _OF_RUNS) or (is_time and falls)):
            return []
        if quantity == "power" or (quantity == "energy" and not falls):
            are_powers.append(quantity == "energy" or not words & WORDS["means"])
    is_number = [name for name in names if all(_number(c) is not None for c in columns[name])]
    kept = [n for n in names if n in is_number or len({*columns[n]}) == 1]
    return kept if any(are_powers) else []


def _number(cell: str) -> float | None:
    found = _VALUE.fullmatch(cell)
    return float(found[1]) if found else None


def _led_rows(
    lines: Iterable[tuple[int, str]], label: str, names: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of records below lines with a time, which is that of the sample.

    Where these lines say how long a sample took, which dates of whole seconds do not, the times are
    the sum of that, unless the date is later.
    """
    end_s = np.nan
    for record in _led(lines, label):
        if not record.time:
            continue
        time = record.time
        if record.elapsed_s and not np.isnan(date_s := unix_seconds(time)):
            end_s = date_s if np.isnan(end_s) else max(end_s + record.elapsed_s, date_s)
            time = f"{end_s:.6f}"
        if record.cells:
            yield record.line, [time, *(record.cells.get(name, "") for name in names)]
