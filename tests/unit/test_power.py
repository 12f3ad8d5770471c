"""Energy of a window of power readings: hand-worked cases, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import DataError
from ingest.meters.energy import PowerSeries, integrate_power, make_series

SECONDS = st.floats(0.0, 100.0, allow_nan=False)


def series(t_s: list[float], power_w: list[float]) -> PowerSeries:
    return make_series(np.array(t_s, float), np.array(power_w, float))


def steady(n: int = 11, power_w: float = 30.0) -> PowerSeries:
    return series(list(range(n)), [power_w] * n)


def test_hand_worked_with_edges_between_readings() -> None:
    # 0 s 10 W, 1 s 20 W, 2 s 40 W, 3 s 40 W over [0.5, 2.5]:
    # 0.5..1: (15 + 20) / 2 * 0.5 = 8.75; 1..2: 30; 2..2.5: 20; together 58.75 J, 29.375 W.
    got = integrate_power(series([0, 1, 2, 3], [10, 20, 40, 40]), 0.5, 2.5)
    assert got.energy_j == pytest.approx(58.75)
    assert got.power_w == pytest.approx(29.375)
    assert (got.readings, got.gap_s) == (2, 0.0)


def test_a_gap_is_bridged_and_counted() -> None:
    # Readings at 0 1 2 6 7 8 s; nothing between 2 and 6 s, power from 20 to 40 W:
    # 0..2: 40; 2..6: (20 + 40) / 2 * 4 = 120; 6..8: 80.
    readings = series([0, 1, 2, 6, 7, 8], [20, 20, 20, 40, 40, 40])
    got = integrate_power(readings, 0.0, 8.0)
    assert got.energy_j == pytest.approx(240.0)
    assert (got.readings, got.gap_s) == (6, 4.0)
    # d: 4 s in which power was anything between 20 and 40 W, 80 / sqrt(12). b: readings locate the
    # step of 20 W to a second, 20 / sqrt(12).
    assert got.uncertainty_j == pytest.approx(np.hypot(80, 20) / np.sqrt(12))
    assert integrate_power(readings, 3.0, 7.0).gap_s == pytest.approx(3.0)
    assert integrate_power(readings, 6.0, 8.0).gap_s == 0.0


def test_one_reading_missing_is_a_gap_and_a_late_one_is_none() -> None:
    assert integrate_power(series([0, 1, 2, 4, 5], [30] * 5), 0, 5).gap_s == 2.0
    assert integrate_power(series([0, 1, 2.4, 3, 4], [30] * 5), 0, 4).gap_s == 0.0


def test_beyond_the_readings_power_stays_and_the_time_is_a_gap() -> None:
    got = integrate_power(steady(11), -4.0, 12.0)
    assert got.energy_j == pytest.approx(30 * 16)
    assert got.gap_s == pytest.approx(3.5 + 1.5)
    outside = integrate_power(steady(11), 20.0, 30.0)
    assert (outside.readings, outside.gap_s) == (0, 10.0)


def test_uncertainty_hand_worked() -> None:
    # a: neighbours differ by 2 W, s^2 = 4 / 2 = 2; weights 0.5 1 1 1 0.5 s, sum of squares 3.5.
    # b: power at the end is as at the start, so nothing.
    # c: 0.5 % of 124 J, / sqrt(3).
    readings = series([0, 1, 2, 3, 4], [30, 32, 30, 32, 30])
    got = integrate_power(readings, 0, 4, accuracy_pct=0.5, slack_s=0.4)
    assert got.energy_j == pytest.approx(124.0)
    assert got.uncertainty_j == pytest.approx(np.sqrt(2 * 3.5 + (0.62**2) / 3))
    # From 30 to 40 W, half a second off is 5 J; an interval of 1 s is sqrt(100 / 12) J.
    rising = series([0, 1, 2], [30, 30, 40])
    got = integrate_power(rising, 0, 2, slack_s=0.5)
    assert got.uncertainty_j == pytest.approx(np.sqrt(100 / 4 * (0.25 + 1 + 0.25) + 25 + 100 / 12))


@pytest.mark.parametrize(
    ("t_s", "power_w"),
    [([], []), ([0, 1], [1]), ([0, 0], [1, 1]), ([1, 0], [1, 1]), ([0, np.nan], [1, 1])],
)
def test_readings_that_cannot_be_are_refused(t_s: list[float], power_w: list[float]) -> None:
    with pytest.raises(DataError):
        series(t_s, power_w)


@pytest.mark.parametrize("window", [(3.0, 3.0), (4.0, 3.0), (0.0, np.nan)])
def test_an_empty_window_is_refused(window: tuple[float, float]) -> None:
    with pytest.raises(DataError):
        integrate_power(steady(), *window)


@given(st.floats(1, 500), SECONDS, st.floats(0.5, 60))
def test_constant_power_gives_power_times_time(
    power_w: float, start_s: float, length_s: float
) -> None:
    got = integrate_power(steady(200, power_w), start_s, start_s + length_s)
    assert got.energy_j == pytest.approx(power_w * length_s)
    assert got.power_w == pytest.approx(power_w)
    assert got.uncertainty_j == pytest.approx(0.0, abs=1e-6)


@st.composite
def any_series(draw: st.DrawFn) -> PowerSeries:
    steps = draw(st.lists(st.floats(0.1, 20), min_size=0, max_size=30))
    t_s = np.concatenate([[draw(SECONDS)], np.array(steps)]).cumsum()
    power_w = draw(st.lists(st.floats(0, 500), min_size=len(t_s), max_size=len(t_s)))
    return make_series(t_s, np.array(power_w))


@given(any_series(), st.lists(SECONDS, min_size=3, max_size=3, unique=True))
def test_parts_of_a_window_add_up(readings: PowerSeries, ends: list[float]) -> None:
    start_s, cut_s, end_s = sorted(ends)
    if min(cut_s - start_s, end_s - cut_s) < 1e-6:
        return
    whole = integrate_power(readings, start_s, end_s)
    parts = [
        integrate_power(readings, start_s, cut_s),
        integrate_power(readings, cut_s, end_s),
    ]
    assert whole.energy_j == pytest.approx(sum(part.energy_j for part in parts), abs=1e-6)
    assert whole.gap_s == pytest.approx(sum(part.gap_s for part in parts), abs=1e-6)


@given(any_series(), SECONDS, st.floats(0.01, 200), st.floats(-1e5, 1e5))
def test_mean_power_lies_between_the_extremes_and_clocks_do_not_matter(
    readings: PowerSeries, start_s: float, length_s: float, shift_s: float
) -> None:
    got = integrate_power(readings, start_s, start_s + length_s)
    assert readings.power_w.min() - 1e-6 <= got.power_w <= readings.power_w.max() + 1e-6
    moved = make_series(readings.t_s + shift_s, readings.power_w)
    again = integrate_power(moved, start_s + shift_s, start_s + shift_s + length_s)
    assert again.energy_j == pytest.approx(got.energy_j, rel=1e-4, abs=1e-3)


@given(any_series(), SECONDS, st.floats(0.01, 200))
def test_a_meter_of_one_kind_is_as_sure_as_its_accuracy(
    readings: PowerSeries, start_s: float, length_s: float
) -> None:
    bare = integrate_power(readings, start_s, start_s + length_s)
    rated = integrate_power(readings, start_s, start_s + length_s, accuracy_pct=0.5)
    expected = np.hypot(bare.uncertainty_j, 0.005 * bare.energy_j / np.sqrt(3))
    assert rated.uncertainty_j == pytest.approx(expected, abs=1e-9)
