"""VTune's table of functions with their loads and stores, as its CSV reports hold it."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import decode_text, whole_text
from ingest.records import FunctionCount, FunctionCounts, ProblemList, ReadContext

_DELIMITERS: Final = (",", "\t", ";", "|", "^")
_HEADING_WITHIN: Final = 10
_UNKNOWN: Final = frozenset({"", "[unknown]", "[unknown source file]", "n/a"})
_EVENT: Final = r"(?:hardware event count(?: by hardware event type)?:)?mem_(?:inst|uops)_retired\."
_COLUMNS: Final = {
    "function": re.compile(r"function(?: / call stack)?"),
    "full_function": re.compile(r"function \(full\)"),
    "module": re.compile(r"module"),
    "module_path": re.compile(r"module path"),
    "source_file": re.compile(r"source file"),
    "source_path": re.compile(r"source (?:file )?path|source file \(full\)"),
    "address": re.compile(r"start address|function start address|address"),
    "loads": re.compile(rf"loads|{_EVENT}all_loads(?:_ps)?"),
    "stores": re.compile(rf"stores|{_EVENT}all_stores(?:_ps)?"),
}
# Older versions report events in thousands or millions and say so in the heading.
_SCALE: Final = re.compile(r"\s*\(([kmb])\)$")
_SCALES: Final = {"k": 1e3, "m": 1e6, "b": 1e9}
_COUNT: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e\+?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Heading:
    """The parsed line of headings.

    Attributes:
        scales: Factors of the quantities that are in thousands or millions.
    """

    line: int
    delimiter: str
    width: int
    places: Mapping[str, int]
    scales: Mapping[str, float]


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text has headings for a function and for loads or stores."""
    text = decode_text(head)
    return "function" in text.lower() and _find_heading(text) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> FunctionCounts:
    """Read each function once; one name at several addresses is several functions.

    Raises:
        FormatError: No headings of such a table, or no usable row.
    """
    text = whole_text(blocks, context.name)
    heading = _find_heading(text)
    if heading is None:
        raise FormatError(f"no headings with a function and its loads or stores ({context.name})")
    problems = ProblemList()
    by_function: dict[tuple[str, str, str], FunctionCount] = {}
    for line, row in _rows(text, heading, problems):
        counts = _counts(row, heading, line, problems)
        if counts is None:
            continue
        function = _cell(row, heading, "function") or _cell(row, heading, "full_function")
        module = _cell(row, heading, "module") or _cell(row, heading, "module_path")
        module = module.rsplit("/", 1)[-1].strip("[]")
        source = _cell(row, heading, "source_path") or _cell(row, heading, "source_file")
        key = function, module, _cell(row, heading, "address")
        more = FunctionCount(function or "[Unknown]", module, source or None, *counts)
        by_function[key] = _sum(by_function[key], more) if key in by_function else more
    if not by_function:
        raise FormatError(f"no usable row of a function ({context.name})")
    return FunctionCounts(list(by_function.values()), problems.all())


def _find_heading(text: str) -> _Heading | None:
    for number, line in enumerate(text.split("\n", _HEADING_WITHIN)[:_HEADING_WITHIN], 1):
        for delimiter in _DELIMITERS:
            cells = _cells(line.rstrip("\r"), delimiter)
            places, scales = _places(cells)
            has_name = "function" in places or "full_function" in places
            if has_name and ("loads" in places or "stores" in places):
                return _Heading(number, delimiter, len(cells), places, scales)
    return None


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _places(cells: Sequence[str]) -> tuple[dict[str, int], dict[str, float]]:
    """Return the first column of each quantity, and the factors of those with a scale."""
    places: dict[str, int] = {}
    scales: dict[str, float] = {}
    for index, cell in enumerate(cells):
        bare = cell.strip().lower().removesuffix(":self")
        scale = _SCALE.search(bare)
        bare = _SCALE.sub("", bare).removesuffix(":self")
        for quantity, pattern in _COLUMNS.items():
            if pattern.fullmatch(bare) and quantity not in places:
                places[quantity] = index
                if scale is not None:
                    scales[quantity] = _SCALES[scale[1]]
    return places, scales


def _rows(
    text: str, heading: _Heading, problems: ProblemList
) -> Iterator[tuple[int, Sequence[str]]]:
    lines = text.split("\n")[heading.line :]
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=heading.delimiter)
    while True:
        line = heading.line + reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add("field_count", "refused", f"not a row of cells: {error}; not used", line)
            continue
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != heading.width:
            detail = f"{len(row)} cells, {heading.width} headings; not used"
            problems.add("field_count", "refused", detail, line)
            continue
        yield line, row


def _cell(row: Sequence[str], heading: _Heading, quantity: str) -> str:
    place = heading.places.get(quantity)
    text = row[place].strip() if place is not None else ""
    return "" if text.lower() in _UNKNOWN else text


def _counts(
    row: Sequence[str], heading: _Heading, line: int, problems: ProblemList
) -> tuple[int | None, int | None] | None:
    """Return loads and stores of a row, None for an empty cell; None alone for an invalid count."""
    counts: list[int | None] = []
    for quantity in ("loads", "stores"):
        text = _cell(row, heading, quantity)
        count = _count(text, heading.scales.get(quantity, 1.0)) if text else None
        if text and count is None:
            detail = f"{quantity} {text!r} is not a count; not used"
            problems.add("not_a_number", "refused", detail, line)
            return None
        counts.append(count)
    return counts[0], counts[1]


def _count(text: str, scale: float) -> int | None:
    """Parse a count, with or without thousands separators or exponent; None if it is not one."""
    if not _COUNT.fullmatch(text):
        return None
    value = float(text.replace(",", "")) * scale
    return round(value) if math.isfinite(value) else None


def _sum(first: FunctionCount, more: FunctionCount) -> FunctionCount:
    return FunctionCount(
        first.function,
        first.module,
        first.source_file or more.source_file,
        _plus(first.loads, more.loads),
        _plus(first.stores, more.stores),
    )


def _plus(one: int | None, more: int | None) -> int | None:
    return more if one is None else one + (more or 0)
