"""One power meter on the clock of the runs, and what it says of one run. Pure: no files."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from data.schema import POWER
from ingest.meters.energy import LEAST_READINGS, PowerSeries, integrate_power, make_series
from ingest.records import MeterReadings, Problem, UtcWindow
from ingest.settings.power import PowerSettings

UNSURE: Final = "clock_unsure"


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter's readings on the clock of the runs.

    Attributes:
        path: Its file.
        places: What its name says of where it stands: `device`, `system`.
        flags: What every run must say that has its energy from it.
    """

    path: str
    readings: MeterReadings
    series: PowerSeries
    settings: PowerSettings
    places: dict[str, str]
    flags: tuple[str, ...] = ()

    def readings_in(self, window: UtcWindow) -> int:
        """How many readings lie in a window."""
        ends = np.searchsorted(self.series.t_s, [window.start_s, window.end_s])
        return int(ends[1] - ends[0])


@dataclass(frozen=True, slots=True)
class RunPower:
    """What a meter says of one window.

    Attributes:
        measurements: By column of `runs`; energy and power are None where too much is missing.
        table: Rows of `power`; None where no reading lies in the window.
    """

    measurements: dict[str, float | int | None]
    flags: list[str]
    problems: list[Problem]
    table: pa.Table | None


def utc_series(
    readings: MeterReadings, settings: PowerSettings, offset_s: float, error_s: float = 0.0
) -> PowerSeries | None:
    """Readings in UTC; None if nothing says how far the meter's local time is ahead of it.

    Args:
        offset_s: Seconds to add, for a clock that is off.
        error_s: Standard uncertainty of `offset_s`.
    """
    ahead_s = readings.utc_offset_s
    if ahead_s is None and settings.utc_offset_h is not None:
        ahead_s = settings.utc_offset_h * 3600.0
    if ahead_s is None:
        return None
    return make_series(readings.local_s - ahead_s + offset_s, readings.power_w, error_s)


def join_run(run_id: str, window: UtcWindow, duration_s: float | None, meter: Meter) -> RunPower:
    """Give a run its power, its energy, and the readings of its time.

    Power is the mean over the window without its ramp, `power.ramp_s`; energy is that power over
    `duration_s`, which is the integral itself where the window is as long. So energy belongs to
    the same time as the run's rates and counts.

    Args:
        duration_s: How long the run measured; None: as long as the window.
    """
    settings = meter.settings
    table = _rows(run_id, window, meter)
    start_s = window.start_s + settings.ramp_s
    if start_s >= window.end_s:
        return _without_energy(0, table, f"its {window.length_s:.6g} s are all ramp")
    got = integrate_power(
        meter.series, start_s, window.end_s, settings.accuracy_pct, window.slack_s
    )
    length_s = window.end_s - start_s
    flags = list(meter.flags)
    problems = []
    if got.gap_s > 0:
        flags.append("power_gap")
        detail = f"{got.gap_s:.6g} of {length_s:.6g} s have no readings in {meter.path}"
        if got.gap_s > settings.most_gap_pct / 100 * length_s:
            return _without_energy(got.readings, table, detail, flags)
        problems = [Problem("power_gap", "doubted", f"{detail}; bridged")]
    if got.readings < LEAST_READINGS:
        detail = f"{got.readings} readings in {length_s:.6g} s of {meter.path}"
        return _without_energy(got.readings, table, detail, flags)
    scale = (duration_s or window.length_s) / length_s
    measurements: dict[str, float | int | None] = {
        "energy_j": got.energy_j * scale,
        "power_w": got.power_w,
        "energy_uncertainty_j": got.uncertainty_j * scale,
        "power_readings": got.readings,
    }
    return RunPower(measurements, flags, problems, table)


def _without_energy(
    readings: int, table: pa.Table | None, why: str, flags: list[str] | None = None
) -> RunPower:
    measurements: dict[str, float | int | None] = {
        "energy_j": None,
        "power_w": None,
        "energy_uncertainty_j": None,
        "power_readings": readings,
    }
    problem = Problem("no_power", "doubted", f"{why}; its energy is NULL")
    return RunPower(measurements, [*(flags or []), "no_power"], [problem], table)


def no_power(why: str) -> RunPower:
    """What is said of a run that no meter has readings of."""
    return _without_energy(0, None, why)


def _rows(run_id: str, window: UtcWindow, meter: Meter) -> pa.Table | None:
    """Readings in a window, ramp included, at seconds since its start; None if there are none."""
    t_s = meter.series.t_s
    low = int(np.searchsorted(t_s, window.start_s, side="left"))
    high = int(np.searchsorted(t_s, window.end_s, side="right"))
    if low == high:
        return None
    readings, cut = meter.readings, slice(low, high)
    n = high - low
    columns = {
        "run_id": pa.array([run_id] * n, POWER.field("run_id").type),
        "t_s": pa.array(t_s[cut] - window.start_s),
        "voltage_v": _column(readings.voltage_v, cut, n),
        "current_a": _column(readings.current_a, cut, n),
        "power_w": pa.array(readings.power_w[cut]),
        "energy_j": _column(readings.energy_j, cut, n),
    }
    return pa.table([columns[name] for name in POWER.names], schema=POWER)


def _column(values: np.ndarray | None, cut: slice, n: int) -> pa.Array:
    """Values as logged, NULL where a cell is empty or the meter has no such column."""
    return pa.nulls(n, pa.float64()) if values is None else pa.array(values[cut], from_pandas=True)
