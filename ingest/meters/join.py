"""One power meter on the clock of the runs, and the power of one run. Pure: no files."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from data.schema import POWER
from ingest.meters.energy import LEAST_READINGS, PowerSeries, integrate_power, make_series
from ingest.records import MeterReadings, Problem, UtcWindow
from ingest.settings.power import PowerSettings


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter's readings on the clock of the runs.

    Attributes:
        path: The meter's file.
        places: Device and system that its name states: `device`, `system`.
    """

    path: str
    readings: MeterReadings
    series: PowerSeries
    settings: PowerSettings
    places: dict[str, str]

    def readings_in(self, window: UtcWindow) -> int:
        """Return the number of readings in a window."""
        ends = np.searchsorted(self.series.t_s, [window.start_s, window.end_s])
        return int(ends[1] - ends[0])


@dataclass(frozen=True, slots=True)
class RunPower:
    """Power and energy of one window.

    Attributes:
        measurements: By column of `runs`; energy and power are None if too much is missing.
        table: Rows of `power`; None if no reading lies in the window.
    """

    measurements: dict[str, float | int | None]
    flags: list[str]
    problems: list[Problem]
    table: pa.Table | None


def utc_series(readings: MeterReadings, settings: PowerSettings) -> PowerSeries | None:
    """Convert readings to the clock of the runs, by the declared offset of the meter's clock.

    Returns:
        None if the UTC offset of the meter's local time is unknown.
    """
    ahead_s = readings.utc_offset_s
    if ahead_s is None and settings.utc_offset_h is not None:
        ahead_s = settings.utc_offset_h * 3600.0
    if ahead_s is None:
        return None
    local_s = readings.local_s - ahead_s + settings.clock_offset_s
    return make_series(local_s, readings.power_w)


def join_run(run_id: str, window: UtcWindow, duration_s: float | None, meter: Meter) -> RunPower:
    """Compute a run's power and energy, and collect the readings of its window.

    Power is the mean over the window without its ramp, `power.ramp_s`. Energy is that power times
    `duration_s`, so it covers the same time as the run's rates and counts; if the window without
    ramp is as long, it is the integral itself.

    Args:
        duration_s: How long the run measured; None: the window's length.
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
    flags = []
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
    """Return the result for a run without usable readings."""
    return _without_energy(0, None, why)


def _rows(run_id: str, window: UtcWindow, meter: Meter) -> pa.Table | None:
    """Return the readings of a window, ramp included, by seconds since its start; None if none."""
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
    """Return logged values, NULL where a cell is empty or the meter has no such column."""
    return pa.nulls(n, pa.float64()) if values is None else pa.array(values[cut], from_pandas=True)
