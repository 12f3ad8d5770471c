"""Several exports of one power meter joined, and the choice of a run's meter. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ingest.discover.plan import RunWork
from ingest.meters.energy import PowerSeries
from ingest.meters.join import Meter, RunPower, join_run, no_power
from ingest.records import MeterReadings, Problem, UtcWindow

# Readings beyond a window's ends that its integral may need, in usual intervals.
_MARGIN_INTERVALS: Final = 4
_MOST_NAMED: Final = 3
_SERIES: Final = ("local_s", "power_w", "voltage_v", "current_a", "energy_j")


@dataclass(slots=True)
class PowerJoin:
    """The power meters' data of one run.

    Attributes:
        measurements: As `Reading.measurements`. None means unknown, also if other files have it.
        problems: Problems by path.
        table: Rows of `power`; None if there are none.
    """

    measurements: dict[str, float | int | None] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    table: pa.Table | None = None


@dataclass(frozen=True, slots=True)
class RunMeters:
    """The meters of an ingest on the clock of the runs; can be sent to other processes.

    Attributes:
        meters: Usable meters by dataset and path.
    """

    meters: Mapping[tuple[str, str], Meter]

    def join(
        self, work: RunWork, window: UtcWindow | None, duration_s: float | None
    ) -> PowerJoin | None:
        """Compute a run's power from its meters.

        Args:
            window: When the run took place; None if unknown.
            duration_s: How long it measured.

        Returns:
            None for a run without a meter in its scope.
        """
        meters = list(self._of(work))
        unusable = [m.path for m in work.meters if (m.dataset, m.path) not in self.meters]
        if not meters and not unusable:
            return None
        if not meters:
            power = no_power(f"{', '.join(unusable)} cannot be used")
        elif window is None:
            power = no_power("the time of the run is unknown")
        else:
            power = power_of(work.run_id, window, duration_s, meters)
        first = work.files[0].path
        return PowerJoin(power.measurements, power.flags, {first: power.problems}, power.table)

    def _of(self, work: RunWork) -> Iterator[Meter]:
        """Yield the meters in a run's scope whose names do not contradict its device and system."""
        known = {"device": work.key.knob("device"), "system": work.key.system}
        for file in work.meters:
            meter = self.meters.get((file.dataset, file.path))
            if meter is not None and all(
                known[name] in (None, place) for name, place in meter.places.items()
            ):
                yield meter


def power_of(
    run_id: str, window: UtcWindow, duration_s: float | None, meters: Sequence[Meter]
) -> RunPower:
    """Compute a run's power from the meter with the most readings in its window.

    Args:
        duration_s: How long the run measured; None: the window's length.
        meters: At least one meter that may have readings of the run; of equals the first is used.
    """
    near = [meter for meter in meters if meter.readings_in(window)]
    if not near:
        named = meters[:_MOST_NAMED]
        spans = ", ".join(f"{_window_text(span_of(m))} in {m.path}" for m in named)
        spans += f" and {more} more" if (more := len(meters) - _MOST_NAMED) > 0 else ""
        return no_power(f"no reading in its window, {_window_text(window)}; meters cover {spans}")
    joined = joined_exports(near, window)
    best = max(joined, key=lambda meter: meter.readings_in(window))
    power = join_run(run_id, window, duration_s, best)
    if others := [meter.path for meter in joined if meter is not best]:
        power.flags.append("several_meters")
        detail = f"{', '.join(others)} also cover its window; {best.path} is used"
        power.problems.append(Problem("several_meters", "doubted", detail))
    return power


def joined_exports(meters: Sequence[Meter], window: UtcWindow) -> list[Meter]:
    """Return the meters with readings in a window; exports of one meter are joined."""
    groups: list[list[Meter]] = []
    for meter in meters:
        group = next((g for g in groups if all(is_same_meter(meter, one) for one in g)), None)
        if group is None:
            groups.append([meter])
        else:
            group.append(meter)
    return [_joined(group, window) for group in groups]


class MeterExports:
    """The meters of a dataset, indexed to find other exports of a meter."""

    def __init__(self, meters: Iterable[Meter]) -> None:
        """Index the meters by what all exports of one meter share.

        Args:
            meters: In order of precedence: idle time that two exports hold belongs to the first.
        """
        self._alike: dict[tuple[str, ...], list[Meter]] = defaultdict(list)
        for meter in meters:
            self._alike[_meter_key(meter)].append(meter)
        self._spans = {
            mark: np.array([(span.start_s, span.end_s) for span in map(span_of, alike)])
            for mark, alike in self._alike.items()
        }

    def others(self, meter: Meter) -> tuple[list[Meter], list[Meter]]:
        """Return other exports of a meter that overlap it: those before it and those after it."""
        mark, own = _meter_key(meter), span_of(meter)
        alike, spans = self._alike[mark], self._spans[mark]
        shared = np.flatnonzero((spans[:, 0] <= own.end_s) & (spans[:, 1] >= own.start_s))
        near = [alike[place] for place in shared.tolist()]
        at = next(place for place, each in enumerate(near) if each is meter)
        before, after = (
            [each for each in part if is_same_meter(meter, each)]
            for part in (near[:at], near[at + 1 :])
        )
        return before, after


def _meter_key(meter: Meter) -> tuple[str, ...]:
    """Return a key that all exports of one meter share."""
    places = [f"{name}={place}" for name, place in sorted(meter.places.items())]
    serial = meter.readings.serial
    return (*places, serial or str(Path(meter.path).parent), "serial" if serial else "folder")


def is_same_meter(meter: Meter, other: Meter) -> bool:
    """Return whether two files are exports of one meter, by serial number.

    Without serial numbers they are if they are in one folder and do not overlap in time.
    """
    if meter.places != other.places:
        return False
    if meter.readings.serial or other.readings.serial:
        return meter.readings.serial == other.readings.serial
    first, second = span_of(meter), span_of(other)
    is_apart = first.end_s < second.start_s or second.end_s < first.start_s
    return is_apart and Path(meter.path).parent == Path(other.path).parent


def _joined(exports: Sequence[Meter], window: UtcWindow) -> Meter:
    """Join exports of one meter within a window; the one with the most readings takes precedence.

    Another export's reading within half an interval of an existing one is a duplicate.
    """
    best = max(exports, key=lambda part: part.readings_in(window))
    if len(exports) == 1:
        return best
    joined = _cut(best, window)
    for part in exports:
        if part is not best:
            joined = _with_more(joined, _cut(part, window))
    return joined


def _cut(meter: Meter, window: UtcWindow) -> Meter:
    margin_s = _MARGIN_INTERVALS * meter.series.interval_s
    low = int(np.searchsorted(meter.series.t_s, window.start_s - margin_s))
    high = int(np.searchsorted(meter.series.t_s, window.end_s + margin_s))
    return _subset(meter, np.arange(low, high))


def _with_more(meter: Meter, more: Meter) -> Meter:
    """Add the readings of another export at times without readings."""
    own_s, interval_s = meter.series.t_s, meter.series.interval_s
    after = np.searchsorted(own_s, more.series.t_s)
    padded = np.concatenate([[-np.inf], own_s, [np.inf]])
    distance_s = np.minimum(more.series.t_s - padded[after], padded[after + 1] - more.series.t_s)
    new = _subset(more, np.flatnonzero(distance_s > interval_s / 2))
    t_s = np.concatenate([own_s, new.series.t_s])
    order = np.argsort(t_s)
    power_w = np.concatenate([meter.series.power_w, new.series.power_w])
    return replace(
        meter,
        path=f"{meter.path} and {more.path}",
        readings=_put_together(meter.readings, new.readings, order),
        series=PowerSeries(t_s[order], power_w[order], interval_s),
    )


def _put_together(readings: MeterReadings, more: MeterReadings, order: np.ndarray) -> MeterReadings:
    values = {}
    for name in _SERIES:
        parts = [getattr(each, name) for each in (readings, more)]
        if any(part is not None for part in parts):
            n = len(readings.power_w), len(more.power_w)
            filled = [np.full(k, np.nan) if p is None else p for k, p in zip(n, parts, strict=True)]
            values[name] = np.concatenate(filled)[order]
    return replace(readings, **values)


def _subset(meter: Meter, places: np.ndarray) -> Meter:
    """Return a meter with a subset of its readings."""
    readings, series = meter.readings, meter.series
    values = {name: getattr(readings, name) for name in _SERIES}
    picked = {name: value[places] for name, value in values.items() if value is not None}
    return replace(
        meter,
        readings=replace(readings, **picked),
        series=replace(series, t_s=series.t_s[places], power_w=series.power_w[places]),
    )


def span_of(meter: Meter) -> UtcWindow:
    """Return the window from a meter's first reading to its last."""
    return UtcWindow(float(meter.series.t_s[0]), float(meter.series.t_s[-1]))


def _window_text(window: UtcWindow) -> str:
    """Format a window for a message: `2022-03-13 05:30:00 to 05:40:00 UTC`, to the second."""
    start, end = (datetime.fromtimestamp(at, UTC) for at in (window.start_s, window.end_s))
    until = f"{end:%H:%M:%S}" if start.date() == end.date() else f"{end:%Y-%m-%d %H:%M:%S}"
    return f"{start:%Y-%m-%d %H:%M:%S} to {until} UTC"
