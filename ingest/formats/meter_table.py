"""Any table with times and powers that the settings declare as a power meter (`[[meters]]`)."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from data.errors import FormatError
from ingest.formats.hoboware_clock import Clock, MeterTime, parse_time
from ingest.formats.hoboware_numbers import find_decimal_mark, parse_number
from ingest.formats.problem_list import ProblemList
from ingest.formats.table import Cell, parse_table
from ingest.records import MeterDeclaration, MeterReadings, ReadContext

_SERIES: Final = ("power_w", "voltage_v", "current_a", "energy_j")
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

    Args:
        blocks: The file's bytes, in blocks with arbitrary boundaries.
        context: Says what the columns are.

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
    rows.take(table.rows)
    return rows.readings(context)


def _places(
    headings: Sequence[str], declaration: MeterDeclaration, name: str
) -> dict[str, tuple[int, float]]:
    """Return the place and scale of each target."""
    found = {}
    for heading, said in declaration.columns.items():
        if said.is_dropped or said.to is None:
            continue
        if heading not in headings:
            known = ", ".join(headings)[:200]
            raise FormatError(f"no column {heading!r}; it has {known} ({name})")
        found[said.to] = headings.index(heading), said.scale
    return found


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
        self._series = [name for name in _SERIES if name in places]
        self._times: list[MeterTime] = []
        self._lines: list[int] = []
        self._values: dict[str, list[float]] = {name: [] for name in self._series}
        self._kinds: set[str] = set()
        self._mark = "."

    def take(self, rows: Sequence[tuple[int, Sequence[Cell]]]) -> None:
        power = self._places["power_w"][0]
        texts = (cells[power] for _, cells in rows)
        self._mark = find_decimal_mark((t for t in texts if isinstance(t, str)), ";")
        for line, cells in rows:
            self._take_row(line, cells)

    def _take_row(self, line: int, cells: Sequence[Cell]) -> None:
        power = cells[self._places["power_w"][0]]
        if power is None or (isinstance(power, str) and not power.strip()):
            return
        when = " ".join(
            str(cells[self._places[name][0]]).strip()
            for name in ("date", "time")
            if name in self._places
        )
        at = self._time(when)
        if at is None:
            detail = f"{when[:40]!r} is not a date and time; line dropped"
            self._problems.add("bad_time", "refused", detail, line)
            return
        values = {name: self._number(name, cells) for name in self._series}
        if wrong := [name for name, value in values.items() if math.isinf(value)]:
            cell = str(cells[self._places[wrong[0]][0]])
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

    def _number(self, name: str, cells: Sequence[Cell]) -> float:
        place, scale = self._places[name]
        cell = cells[place]
        value = (
            float(cell) if isinstance(cell, int | float) else parse_number(cell or "", self._mark)
        )
        return value * scale

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
        if not self._times:
            raise FormatError(f"no good reading ({context.name})")
        clock = Clock(self._times, self._lines, order, self._problems)
        if not clock.kept.size:
            raise FormatError(f"no good reading ({context.name})")
        series = {name: np.array(self._values[name])[clock.kept] for name in self._series}
        return MeterReadings(
            local_s=clock.local_s,
            power_w=series.pop("power_w"),
            utc_offset_s=0.0 if "utc" in self._kinds else self._offset_s(clock.local_s[0]),
            problems=self._problems.all(),
            **series,
        )

    def _offset_s(self, local_s: float) -> float | None:
        """Return how far the declared zone is ahead of UTC at a local time; None without a zone."""
        if self._zone is None:
            return None
        local = (_EPOCH + timedelta(seconds=float(local_s))).replace(tzinfo=ZoneInfo(self._zone))
        offset = local.utcoffset()
        return None if offset is None else offset.total_seconds()


def _fields(moment: datetime) -> MeterTime:
    """Return year, month, day and seconds of the day."""
    seconds = 3600 * moment.hour + 60 * moment.minute + moment.second + moment.microsecond / 1e6
    return moment.year, moment.month, moment.day, seconds
