"""Exports of one power meter put together, and the meter that gives a run its power."""

from dataclasses import replace

import numpy as np
import pytest

from ingest.meters.energy import make_series
from ingest.meters.exports import MeterExports, is_same_meter, joined_exports, power_of
from ingest.meters.join import Meter
from ingest.records import MeterReadings, UtcWindow
from ingest.settings.power import PowerSettings

SETTINGS = PowerSettings(accuracy_pct=0.0)
# 1970-01-01 00:00:10 to 00:00:20.
WINDOW = UtcWindow(10.0, 20.0)


def meter(
    times_s: list[float], watts: list[float], path: str = "/raw/a.csv", serial: str = "7"
) -> Meter:
    t_s, power_w = np.array(times_s, float), np.array(watts, float)
    readings = MeterReadings(t_s, power_w, serial=serial)
    return Meter(path, readings, make_series(t_s, power_w), SETTINGS, {})


def steady(first: int, last: int, watts: float, path: str, serial: str = "7") -> Meter:
    """A reading a second."""
    times = [float(at) for at in range(first, last + 1)]
    return meter(times, [watts] * len(times), path, serial)


def test_a_run_that_spans_two_exports_has_the_readings_of_both() -> None:
    """30 W until 14 s, 40 W from 15 s: 4 * 30 + 35 + 5 * 40 = 355 J over the 10 s."""
    first, second = steady(0, 14, 30.0, "/raw/a.csv"), steady(15, 40, 40.0, "/raw/b.csv")
    power = power_of("r", WINDOW, None, [first, second])
    assert power.measurements["energy_j"] == pytest.approx(355.0)
    assert power.measurements["power_readings"] == 11
    assert (power.flags, power.problems) == ([], [])
    assert power.table is not None
    assert power.table["t_s"].to_pylist() == list(range(11))
    assert power.table["power_w"].to_pylist() == [30.0] * 5 + [40.0] * 6
    assert power_of("r", WINDOW, None, [second, first]).measurements == power.measurements


def test_seconds_between_two_exports_are_a_gap() -> None:
    """A readout took from 14 to 17 s: 4 * 30 + 3 * 35 + 3 * 40 = 345 J, 3 s of it bridged."""
    exports = [steady(0, 14, 30.0, "/raw/a.csv"), steady(17, 40, 40.0, "/raw/b.csv")]
    exports = [replace(each, settings=PowerSettings(most_gap_pct=50.0)) for each in exports]
    power = power_of("r", WINDOW, None, exports)
    assert power.measurements["energy_j"] == pytest.approx(345.0)
    assert power.flags == ["power_gap"]
    assert "3 of 10 s" in power.problems[0].detail
    assert "/raw/a.csv and /raw/b.csv" in power.problems[0].detail


def test_readings_that_two_exports_share_count_once() -> None:
    """The meter was read out and went on: the second file begins where the first one does."""
    first, second = steady(0, 14, 30.0, "/raw/a.csv"), steady(0, 40, 30.0, "/raw/b.csv")
    power = power_of("r", WINDOW, None, [first, second])
    assert power.measurements["power_readings"] == 11
    assert power.measurements["energy_j"] == pytest.approx(300.0)
    assert power.flags == []
    # By clocks set apart by 0.3 s they are the same readings still.
    late = meter((second.series.t_s + 0.3).tolist(), [30.0] * 41, "/raw/b.csv")
    assert power_of("r", WINDOW, None, [first, late]).measurements["power_readings"] == 10


def test_other_columns_come_along() -> None:
    first, second = steady(0, 14, 30.0, "/raw/a.csv"), steady(15, 40, 40.0, "/raw/b.csv")
    second = replace(second, readings=replace(second.readings, voltage_v=np.full(26, 120.0)))
    table = power_of("r", WINDOW, None, [first, second]).table
    assert table is not None
    assert table["voltage_v"].to_pylist() == [None] * 5 + [120.0] * 6
    assert table["current_a"].null_count == 11


def test_two_meters_stay_two() -> None:
    """Of equal meters the first one is used, and the run is flagged."""
    one, other = steady(0, 40, 30.0, "/raw/a.csv", "7"), steady(0, 40, 50.0, "/raw/b.csv", "8")
    power = power_of("r", WINDOW, None, [one, other])
    assert power.measurements["power_w"] == pytest.approx(30.0)
    assert power.flags == ["several_meters"]
    (problem,) = power.problems
    assert problem.detail.startswith("/raw/b.csv also cover its window")
    assert len(joined_exports([one, other], WINDOW)) == 2


def test_which_files_are_exports_of_one_meter() -> None:
    early, late = steady(0, 14, 1.0, "/raw/a.csv", ""), steady(15, 40, 1.0, "/raw/b.csv", "")
    assert is_same_meter(early, late)
    assert not is_same_meter(early, steady(14, 40, 1.0, "/raw/b.csv", ""))
    assert not is_same_meter(early, steady(15, 40, 1.0, "/raw/c/b.csv", ""))
    assert not is_same_meter(early, steady(15, 40, 1.0, "/raw/b.csv", "7"))
    named = replace(late, places={"device": "disk"})
    assert not is_same_meter(early, named)


def test_the_other_exports_of_a_meters_time() -> None:
    """In the order in which the meters were given; those of other times do not matter."""
    first, second = steady(0, 20, 1.0, "/raw/a.csv"), steady(10, 30, 1.0, "/raw/b/b.csv")
    third, later = steady(15, 40, 1.0, "/raw/c.csv"), steady(50, 60, 1.0, "/raw/d.csv")
    stranger = steady(0, 60, 1.0, "/raw/e.csv", "8")
    exports = MeterExports([first, stranger, second, third, later])
    assert exports.others(second) == ([first], [third])
    assert exports.others(later) == ([], [])
    assert exports.others(stranger) == ([], [])


def test_a_run_without_readings_says_of_when_they_are() -> None:
    power = power_of("r", WINDOW, None, [steady(86400 + 5, 86400 + 9, 30.0, "/raw/a.csv")])
    assert (power.flags, power.measurements["energy_j"]) == (["no_power"], None)
    assert power.problems[0].detail == (
        "no reading in its window, 1970-01-01 00:00:10 to 00:00:20 UTC; meters cover "
        "1970-01-02 00:00:05 to 00:00:09 UTC in /raw/a.csv; its energy is NULL"
    )
    many = [steady(90 + n, 91 + n, 30.0, f"/raw/{n}.csv", str(n)) for n in range(5)]
    assert "in /raw/2.csv and 2 more" in power_of("r", WINDOW, None, many).problems[0].detail
