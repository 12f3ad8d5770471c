"""CSV exports of HOBOware: the readings of an Onset power meter, by the meter's own clock."""

import codecs
import csv
import io
import math
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from data.errors import FormatError
from ingest.formats.hoboware_clock import Clock, MeterTime, parse_time
from ingest.formats.hoboware_headings import Headings, find_headings
from ingest.problem_list import ProblemList
from ingest.records import MeterEvent, MeterReadings, ReadContext

_MOST_BYTES: Final = 1 << 28
_HEADINGS_WITHIN: Final = 8
_DELIMITERS: Final = (",", ";", "\t")
_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_QUANTITIES: Final = ("power_w", "voltage_v", "current_a", "energy_j")


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Tell HOBOware by a heading with a date and an electrical quantity in its unit."""
    return _find_table(_decoded(head)) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> MeterReadings:
    """Read the readings, in the order of the file.

    Times stay local: what the header says of UTC is given beside them, since it is the only place
    that says it. Rows without a value (the meter's events) are no readings and no problem.

    Args:
        blocks: The file's bytes, cut anywhere.
        context: Names the file in errors; may say the order of day and month.

    Raises:
        FormatError: No heading, no active power in watts, or no reading at all.
    """
    table = _find_table(_decoded(_joined(blocks, context.name)))
    if table is None:
        raise FormatError(f"no heading with a date and a unit of power ({context.name})")
    headings, rows = table
    if "power_w" not in headings.columns:
        raise FormatError(f"no column of active power in W or kW ({context.name})")
    return _Rows(headings).read(rows, context)


def _joined(blocks: Iterable[bytes], name: str) -> bytes:
    data = bytearray()
    for block in blocks:
        data += block
        if len(data) > _MOST_BYTES:
            raise FormatError(f"too large for a meter's export: over {_MOST_BYTES} bytes ({name})")
    return bytes(data)


def _decoded(data: bytes) -> str:
    """Decode by the byte-order mark, else as UTF-8, else as the code page of western Windows."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A head may be cut in the middle of a character.
        is_cut = error.reason == "unexpected end of data"
        return data.decode("utf-8" if is_cut else "cp1252", "replace")


def _find_table(text: str) -> tuple[Headings, "_Numbered"] | None:
    """Find the heading in the first lines; gives it with the rows below it."""
    for delimiter in _DELIMITERS:
        rows = _Numbered(text, delimiter)
        for row in rows:
            if rows.line > _HEADINGS_WITHIN:
                break
            if (headings := find_headings(row)) is not None:
                return headings, rows
    return None


class _Numbered:
    """Rows of a delimited text, with the line that each ends on."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        self.has_decimal_commas = delimiter != ","
        self.is_last_whole = text.endswith(("\n", "\r"))

    @property
    def line(self) -> int:
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        try:
            return next(self._reader)
        except csv.Error:
            return []


class _Rows:
    """The rows of one export on their way to arrays."""

    def __init__(self, headings: Headings) -> None:
        self._headings = headings
        self._columns = headings.columns
        self._problems = ProblemList()
        self._times: list[MeterTime] = []
        self._lines: list[int] = []
        self._values: dict[str, list[float]] = {name: [] for name in self._columns}
        self._marks: list[tuple[str, MeterTime, int]] = []

    def read(self, rows: _Numbered, context: ReadContext) -> MeterReadings:
        headings = self._headings
        for name in headings.several:
            detail = f"several columns of {name}; the first is taken"
            self._problems.add("several_columns", "doubted", detail, rows.line)
        for row in rows:
            if row:
                self._take(row, rows)
        clock = Clock(self._times, self._lines, context.date_order, self._problems)
        if not clock.kept.size:
            raise FormatError(f"not one good reading ({context.name})")
        series = {
            name: np.array(self._values[name])[clock.kept]
            for name in _QUANTITIES
            if name in self._columns
        }
        return MeterReadings(
            local_s=clock.local_s,
            power_w=series.pop("power_w"),
            utc_offset_s=headings.utc_offset_s,
            serial=headings.serial,
            events=[MeterEvent(name, clock.read(at), line) for name, at, line in self._marks],
            problems=self._problems.all(),
            **series,
        )

    def _take(self, row: list[str], rows: _Numbered) -> None:
        headings, line = self._headings, rows.line
        if len(row) < headings.width:
            detail = f"{len(row)} fields, expected {headings.width}; line dropped"
            self._problems.add("field_count", "refused", detail, line)
            return
        text = headings.time_text(row)
        at = parse_time(text)
        if at is None:
            detail = f"{text[:40]!r} is no date and time; line dropped"
            self._problems.add("bad_time", "refused", detail, line)
            return
        self._marks += [(name, at, line) for name in headings.events_in(row)]
        if not row[self._columns["power_w"].index].strip():
            return
        values = {
            name: _number(row[column.index], rows.has_decimal_commas) * column.factor
            for name, column in self._columns.items()
        }
        if wrong := [name for name, value in values.items() if math.isinf(value)]:
            cell = row[self._columns[wrong[0]].index]
            detail = f"{wrong[0]} {cell[:40]!r} is not a number; line dropped"
            self._problems.add("not_a_number", "refused", detail, line)
        elif values["power_w"] < 0:
            detail = f"{values['power_w']:g} W; line dropped"
            self._problems.add("negative_power", "refused", detail, line)
        else:
            self._times.append(at)
            self._lines.append(line)
            for name, value in values.items():
                self._values[name].append(value)


def _number(cell: str, has_decimal_commas: bool) -> float:
    """The number in a cell; NaN if it is empty, infinite if it holds no finite number."""
    try:
        value = float(cell.replace(",", ".") if has_decimal_commas else cell)
    except ValueError:
        return math.inf if cell.strip() else math.nan
    return value if math.isfinite(value) else math.inf
