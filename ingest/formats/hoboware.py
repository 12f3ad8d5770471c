"""CSV exports of HOBOware: readings of an Onset power meter, on the meter's own clock."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import joined
from ingest.formats.hoboware_clock import MeterTime, parse_time
from ingest.formats.hoboware_headings import Headings, find_headings
from ingest.formats.meter_rows import MeterRows, find_decimal_mark
from ingest.records import MeterEvent, MeterReadings, ProblemList, ReadContext

_MOST_BYTES: Final = 1 << 28
_HEADINGS_WITHIN: Final = 8
# The first rows, which decide the decimal mark.
_DECIMAL_MARK_ROWS: Final = 1000
_DELIMITERS: Final = (",", ";", "\t")
_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the text has a heading with a date and an electrical quantity in its unit."""
    return _find_table(_decoded(head)) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> MeterReadings:
    """Read the readings, in the order of the file.

    Times stay local; the UTC offset of the header is returned too, since only the header has it.
    Rows without a value (the meter's events) are neither readings nor problems.

    Raises:
        FormatError: No heading, no active power in watts, or no reading at all.
    """
    table = _find_table(_decoded(joined(blocks, context.name, _MOST_BYTES)))
    if table is None:
        raise FormatError(f"no heading with a date and a unit of power ({context.name})")
    headings, rows = table
    if "power_w" not in headings.columns:
        named = f": {headings.unknown[0]!r} is not an English heading" if headings.unknown else ""
        raise FormatError(
            f"no column of active power in W or kW{named}; declare its columns in [[meters]] "
            f"({context.name})"
        )
    return _Rows(headings).read(rows, context)


def _decoded(data: bytes) -> str:
    """Decode by the byte-order mark, else as UTF-8, else as Windows code page 1252."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # The first bytes of a file may end inside a character.
        is_cut = error.reason == "unexpected end of data"
        return data.decode("utf-8" if is_cut else "cp1252", "replace")


def _find_table(text: str) -> tuple[Headings, "_Numbered"] | None:
    """Find the heading in the first lines; return it with the rows below."""
    for delimiter in _DELIMITERS:
        rows = _Numbered(text, delimiter)
        for row in rows:
            if rows.line > _HEADINGS_WITHIN:
                break
            if (headings := find_headings(row)) is not None:
                return headings, rows
    return None


class _Numbered:
    """The rows of a delimited text, with the number of each row's last line."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        self.delimiter = delimiter

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
    """Converts the rows of one export to arrays."""

    def __init__(self, headings: Headings) -> None:
        self._headings = headings
        self._columns = headings.columns
        self._problems = ProblemList()
        places = {name: (column.index, column.factor) for name, column in self._columns.items()}
        self._rows = MeterRows(places, self._problems)
        self._marks: list[tuple[str, MeterTime, int]] = []

    def read(self, rows: _Numbered, context: ReadContext) -> MeterReadings:
        headings = self._headings
        for name in headings.several:
            detail = f"several columns of {name}; the first is used"
            self._problems.add("several_columns", "doubted", detail, rows.line)
        numbered = ((row, rows.line) for row in rows if row)
        first = list(islice(numbered, _DECIMAL_MARK_ROWS))
        places = [column.index for column in self._columns.values()]
        cells = (row[index] for row, _ in first for index in places if index < len(row))
        self._rows.decimal_mark = find_decimal_mark(cells, rows.delimiter)
        for row, line in chain(first, numbered):
            self._add_row(row, line)
        clock, series = self._rows.series(context.date_order, context.name)
        return MeterReadings(
            local_s=clock.local_s,
            power_w=series.pop("power_w"),
            utc_offset_s=headings.utc_offset_s,
            serial=headings.serial,
            events=[MeterEvent(name, clock.read(at), line) for name, at, line in self._marks],
            problems=self._problems.all(),
            **series,
        )

    def _add_row(self, row: Sequence[str], line: int) -> None:
        headings = self._headings
        if len(row) < headings.width:
            detail = f"{len(row)} fields, expected {headings.width}; line dropped"
            self._problems.add("field_count", "refused", detail, line)
            return
        text = " ".join(row[index].strip() for index in headings.when)
        at = parse_time(text)
        if at is None:
            self._rows.refuse_time(text, line)
            return
        self._marks += [(name, at, line) for name in headings.events_in(row)]
        if self._rows.has_power(row):
            self._rows.add(row, at, line)
