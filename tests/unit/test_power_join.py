"""Readings joined to runs: offsets, summer time, ramps, gaps; and idle stretches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from data.schema import POWER
from ingest.formats import hoboware
from ingest.meters.energy import make_series
from ingest.meters.idle_stretches import idle_stretches
from ingest.meters.join import Meter, RunPower, join_run, utc_series
from ingest.records import MeterReadings, ReadContext, UtcWindow
from ingest.settings.power import PowerSettings

# 2022-03-01 15:00 UTC, which is 10:00 by a clock of GMT-05:00.
START_S = 1_646_146_800.0
EXACT = PowerSettings(accuracy_pct=0.0)


def exported(times: list[str], power_w: list[float], offset: str = "GMT-05:00") -> MeterReadings:
    rows = "".join(f"{t},120.0,{w}\n" for t, w in zip(times, power_w, strict=True))
    text = f'"Date Time, {offset}","RMS Voltage, V","Active Power, W"\n{rows}'
    return hoboware.read([text.encode()], ReadContext("meter.csv", 1e9))


def meter(readings: MeterReadings, settings: PowerSettings = EXACT, offset_s: float = 0.0) -> Meter:
    series = utc_series(readings, replace(settings, clock_offset_s=offset_s))
    assert series is not None
    return Meter("meter.csv", readings, series, settings, {})


def join(of: Meter, start_s: float, end_s: float, duration_s: float | None = None) -> RunPower:
    return join_run("r", UtcWindow(START_S + start_s, START_S + end_s), duration_s, of)


def seconds(count: int, skipped: tuple[int, ...] = ()) -> list[str]:
    return [f"2022-03-01 10:00:{n:02d}" for n in range(count) if n not in skipped]


def test_a_run_is_found_through_the_utc_offset() -> None:
    # 30 W until 10:00:04, 50 W from 10:00:05 to :14, then 30 W; the run is 15:00:05 to :14 UTC.
    powers = [30.0] * 5 + [50.0] * 10 + [30.0] * 5
    got = join(meter(exported(seconds(20), powers)), 5, 14)
    assert got.measurements == {
        "energy_j": pytest.approx(450.0),
        "power_w": pytest.approx(50.0),
        "energy_uncertainty_j": 0.0,
        "power_readings": 10,
    }
    assert (got.flags, got.problems) == ([], [])
    assert got.table is not None
    assert got.table.schema.equals(POWER)
    assert got.table["t_s"].to_pylist() == list(range(10))
    assert got.table["voltage_v"].to_pylist() == [120.0] * 10
    assert got.table["current_a"].null_count == 10


def test_a_clock_that_is_off_is_put_right_by_the_stated_offset() -> None:
    # The meter is 3 s slow, so its 10:00:02 is 10:00:05.
    powers = [30.0] * 2 + [50.0] * 10 + [30.0] * 8
    readings = exported(seconds(20), powers)
    assert join(meter(readings, offset_s=3.0), 5, 14).measurements["energy_j"] == pytest.approx(450)
    # Without it: 10:00:05 to :11 50 W, down to 30 W by :12, then 30 W: 300 + 40 + 60.
    assert join(meter(readings), 5, 14).measurements["energy_j"] == pytest.approx(400)


@pytest.mark.parametrize(
    ("times", "note"),
    [
        (["01:59:57", "01:59:58", "01:59:59", "02:00:00", "02:00:01"], None),
        (["01:59:57", "01:59:58", "01:59:59", "01:00:00", "01:00:01"], "clock_set_back"),
    ],
)
def test_a_run_through_the_end_of_summer_time(times: list[str], note: str | None) -> None:
    """On 2022-11-06 at 06:00 UTC clocks of GMT-04:00 went back; the meter's may have or not.

    10 20 30 40 50 W at 05:59:57 to 06:00:01 UTC: 4 s, 15 + 25 + 35 + 45 = 120 J.
    """
    readings = exported([f"2022-11-06 {t}" for t in times], [10, 20, 30, 40, 50], "GMT-04:00")
    assert [p.kind for p in readings.problems] == ([note] if note else [])
    six_utc_s = 1_667_714_400.0
    window = UtcWindow(six_utc_s - 3, six_utc_s + 1)
    got = join_run("r", window, None, meter(readings))
    assert got.measurements["energy_j"] == pytest.approx(120)
    assert got.measurements["power_readings"] == 5


def test_a_run_through_the_beginning_of_summer_time() -> None:
    """On 2022-03-13 at 07:00 UTC clocks of GMT-05:00 went forward, this one with them."""
    times = ["01:59:57", "01:59:58", "01:59:59", "03:00:00", "03:00:01"]
    readings = exported([f"2022-03-13 {t}" for t in times], [10, 20, 30, 40, 50])
    seven_utc_s = 1_647_154_800.0
    got = join_run("r", UtcWindow(seven_utc_s - 3, seven_utc_s + 1), None, meter(readings))
    assert got.measurements["energy_j"] == pytest.approx(120)


def test_the_ramp_is_cut_off_and_energy_is_for_the_runs_own_time() -> None:
    powers = [30.0] * 5 + [40.0] * 4 + [50.0] * 11
    readings = exported(seconds(20), powers)
    got = join(meter(readings, replace(EXACT, ramp_s=4.0)), 5, 15, duration_s=10.0)
    # Mean power from 9 s on is 50 W; 10 s of it.
    assert got.measurements["power_w"] == pytest.approx(50.0)
    assert got.measurements["energy_j"] == pytest.approx(500.0)
    assert got.measurements["power_readings"] == 7
    assert got.table is not None
    assert got.table.num_rows == 11
    all_ramp = join(meter(readings, replace(EXACT, ramp_s=10.0)), 5, 15)
    assert all_ramp.measurements["energy_j"] is None
    assert [(p.kind, p.severity) for p in all_ramp.problems] == [("no_power", "doubted")]


def test_a_small_gap_is_bridged_and_a_large_one_takes_the_energy() -> None:
    small = exported(seconds(30, skipped=(10,)), [40.0] * 29)
    got = join(meter(small), 0, 29)
    assert got.measurements["energy_j"] == pytest.approx(40 * 29)
    assert got.measurements["power_readings"] == 29
    assert got.flags == ["power_gap"]
    assert [(p.kind, p.severity) for p in got.problems] == [("power_gap", "doubted")]
    assert "2 of 29 s" in got.problems[0].detail
    large = meter(exported(seconds(30, skipped=tuple(range(10, 14))), [40.0] * 26))
    lost = join(large, 0, 29)
    assert lost.measurements["energy_j"] is None
    assert lost.measurements["power_w"] is None
    assert lost.measurements["power_readings"] == 26
    assert lost.flags == ["power_gap", "no_power"]
    assert lost.table is not None
    assert join(large, 15, 29).flags == []


def test_too_few_readings_give_no_energy() -> None:
    readings = exported(seconds(20), [40.0] * 20)
    assert join(meter(readings), 5.2, 6.1).measurements["energy_j"] is None
    assert join(meter(readings), 5.2, 7.1).measurements["energy_j"] == pytest.approx(76)
    beyond = join(meter(readings), 100, 120)
    assert beyond.table is None
    assert beyond.flags == ["power_gap", "no_power"]


def test_the_settings_offset_is_for_headings_that_say_none() -> None:
    silent = exported(seconds(20), [40.0] * 20, "local time")
    assert utc_series(silent, EXACT) is None
    told = utc_series(silent, replace(EXACT, utc_offset_h=-5.0))
    assert told is not None
    assert told.t_s[0] == START_S
    said = utc_series(exported(seconds(20), [40.0] * 20), replace(EXACT, utc_offset_h=3.0))
    assert said is not None
    assert said.t_s[0] == START_S


@given(st.floats(1, 400), st.floats(0, 20), st.floats(3, 25), st.floats(0.5, 3))
def test_constant_power_is_power_times_the_runs_time(
    power_w: float, start_s: float, length_s: float, longer: float
) -> None:
    readings = MeterReadings(START_S + np.arange(60.0), np.full(60, power_w), utc_offset_s=0.0)
    got = join(meter(readings), start_s, start_s + length_s, duration_s=longer * length_s)
    assert got.measurements["power_w"] == pytest.approx(power_w)
    assert got.measurements["energy_j"] == pytest.approx(power_w * longer * length_s)


def window(start_s: float, end_s: float) -> UtcWindow:
    return UtcWindow(start_s, end_s)


def test_idle_stretches_lie_between_runs_and_are_cut_to_their_level() -> None:
    power_w = np.full(500, 34.0) + np.tile([0.1, -0.1], 250)
    power_w[98:201] = 60.0  # The run's programs begin 2 s before the window.
    power_w[300:380] = 70.0
    series = make_series(np.arange(500.0), power_w)
    windows = [window(300, 379), window(100, 200)]
    found = idle_stretches(series, windows, 60.0)
    assert [(w.start_s, w.end_s) for w in found] == [(0, 97), (201, 299), (380, 499)]
    assert idle_stretches(series, windows, 98.0) == [found[1], found[2]]
    assert idle_stretches(series, windows, 0.0) == []


def test_readings_without_runs_are_one_stretch_and_gaps_part_it() -> None:
    t_s = np.r_[0:200.0, 250:400.0]
    series = make_series(t_s, np.full(350, 29.0))
    found = idle_stretches(series, [], 60.0)
    assert [(w.start_s, w.end_s) for w in found] == [(0, 199), (250, 399)]


def test_breaks_between_runs_are_too_short_to_be_idle() -> None:
    series = make_series(np.arange(200.0), np.full(200, 34.0))
    runs = [window(0, 90), window(100, 199)]
    assert idle_stretches(series, runs, 20.0) == []
    assert [w.length_s for w in idle_stretches(series, runs, 8.0)] == [10.0]


def test_a_stretch_that_never_keeps_a_level_is_not_idle() -> None:
    power_w = np.tile([34.0, 34.0, 34.0, 90.0], 50)
    assert idle_stretches(make_series(np.arange(200.0), power_w), [], 20.0) == []
