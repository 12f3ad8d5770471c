"""Any table with times and powers that the settings declare as a power meter (`[[meters]]`)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from data.errors import FormatError
from ingest.declarations import MeterDeclaration
from ingest.formats.hoboware_clock import MeterTime, parse_time
from ingest.formats.json_cells import Cell
from ingest.formats.meter_rows import MeterRows, find_decimal_mark
from ingest.formats.table_files import parse_table
from ingest.formats.table_rows import Table
from ingest.records import MeterReadings, ProblemList, ReadContext

_UNIX: Final = re.compile(r"\s*[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_S: Final = 1e11


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return False: only the settings say that a table is a meter's."""
    return False


def read(blocks: Iterable[bytes], context: ReadContext) -> MeterReadings:
    """Read the readings, in the order of the file.

    Times are numbers (Unix seconds, times the column's scale) or texts: ISO 8601, or dates and
    times as HOBOware writes them. Texts without an offset are local times: of the declared zone at
    the first reading, else of `power.utc_offset_h`.

    Raises:
        FormatError: Nobody declared it, a declared column is missing, or there is no good reading.
    """
    declaration = context.meter
    if declaration is None:
        raise FormatError(f"no [[meters]] entry fits it ({context.name})")
    problems = ProblemList()
    table = parse_table(blocks, context.name, problems)
    places = _places(table.headings, declaration, context.name)
    rows = _Rows(places, declaration, problems)
    rows.take(table)
    return rows.readings(context)


def _places(
    headings: Sequence[str], declaration: MeterDeclaration, name: str
) -> dict[str, tuple[int, float]]:
    """Return the place and scale of each target."""
    places = {}
    for heading, column in declaration.columns.items():
        if column.is_dropped or column.to is None:
            continue
        if heading not in headings:
            known = ", ".join(headings)[:200]
            raise FormatError(f"no column {heading!r}; it has {known} ({name})")
        places[column.to] = headings.index(heading), column.scale
    return places


class _Rows:
    """Converts the rows of one table to arrays."""

    def __init__(
        self,
        places: Mapping[str, tuple[int, float]],
        declaration: MeterDeclaration,
        problems: ProblemList,
    ) -> None:
        self._places = places
        self._zone = declaration.time_zone
        self._problems = problems
        self._rows = MeterRows(places, problems)
        self._kinds: set[str] = set()

    def take(self, table: Table) -> None:
        power = self._places["power_w"][0]
        texts = table.column(power)
        mark = find_decimal_mark((t for t in texts if isinstance(t, str)), ";")
        self._rows.decimal_mark = mark
        for line, cells in table.rows:
            if self._rows.has_power(cells):
                self._take_row(line, cells)

    def _take_row(self, line: int, cells: Sequence[Cell]) -> None:
        when = " ".join(
            str(cells[self._places[name][0]]).strip()
            for name in ("date", "time")
            if name in self._places
        )
        at = self._time(when)
        if at is None:
            self._rows.refuse_time(when, line)
        else:
            self._rows.add(cells, at, line)

    def _time(self, text: str) -> MeterTime | None:
        if _UNIX.fullmatch(text) and "date" not in self._places:
            seconds = float(text) * self._places["time"][1]
            if not abs(seconds) < _LATEST_S:
                return None
            self._kinds.add("utc")
            return _fields(_EPOCH + timedelta(seconds=seconds))
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            written = parse_time(text)
            self._kinds |= {"written"} if written is not None else set()
            return written
        if moment.tzinfo is not None:
            self._kinds.add("utc")
            return _fields(moment.astimezone(UTC))
        self._kinds.add("local")
        return _fields(moment)

    def readings(self, context: ReadContext) -> MeterReadings:
        if len(self._kinds - {"utc"}) and "utc" in self._kinds:
            raise FormatError(f"some times have an offset from UTC, others not ({context.name})")
        order = context.date_order if "written" in self._kinds else "ymd"
        clock, series = self._rows.series(order, context.name)
        offset_s = 0.0 if "utc" in self._kinds else None
        if offset_s is None and self._zone is not None:
            # How far the declared zone is ahead of UTC at the first time.
            first = _EPOCH + timedelta(seconds=float(clock.local_s[0]))
            offset = first.replace(tzinfo=ZoneInfo(self._zone)).utcoffset()
            offset_s = None if offset is None else offset.total_seconds()
        return MeterReadings(
            local_s=clock.local_s,
            power_w=series.pop("power_w"),
            utc_offset_s=offset_s,
            problems=self._problems.all(),
            serial="",
            events=[],
            **series,
        )


def _fields(moment: datetime) -> MeterTime:
    """Return year, month, day and seconds of the day."""
    seconds = 3600 * moment.hour + 60 * moment.minute + moment.second + moment.microsecond / 1e6
    return moment.year, moment.month, moment.day, seconds
