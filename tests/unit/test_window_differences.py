"""Differences of two runs by windows, against a table worked by hand."""

import math

import numpy as np
import pytest

from data.analysis.window_differences import Stretch, in_noise, local, stretches, window_means

_NAN = math.nan


def test_means_of_windows_are_weighted_and_leave_out_what_was_not_measured() -> None:
    edges = np.array([0.0, 1, 2, 3, 4, 5, 6])
    values = np.array([10.0, 20, _NAN, 40, _NAN, _NAN])
    windows = np.array([0.0, 2, 4, 6])
    # (10 + 20) / 2, 40 alone, nothing; with 3 and 1 interrupts (10 * 3 + 20) / 4.
    assert window_means(values, None, edges, windows) == pytest.approx([15, 40, _NAN], nan_ok=True)
    weights = np.array([3, 1, 0, 2, 0, 0])
    assert window_means(values, weights, edges, windows) == pytest.approx(
        [12.5, 40, _NAN], nan_ok=True
    )


def test_a_burst_in_units_of_the_noise() -> None:
    # Differences 1 3 1 3 13 3 1 3 1: steps 2 2 2 10 10 2 2 2, whose median is 2.
    reference = np.array([50.0, 50, 50, 50, 50, 50, 50, 50, 50])
    other = np.array([51.0, 53, 51, 53, 63, 53, 51, 53, 51])
    noise = 2 / 0.6744897501960817 / math.sqrt(2)
    units = in_noise(reference, other)
    assert units is not None
    assert units == pytest.approx(np.array([1, 3, 1, 3, 13, 3, 1, 3, 1]) / noise)
    (burst,) = stretches(units, 4)
    assert (burst.first, burst.end, burst.at) == (4, 5, 4)
    assert burst.peak == pytest.approx(13 / noise)
    assert in_noise(other, reference) == pytest.approx(-units)


def test_the_noise_of_normal_differences_is_their_standard_deviation() -> None:
    random = np.random.default_rng(5)
    units = in_noise(np.zeros(4000), random.normal(0, 7, 4000))
    assert units is not None
    assert np.std(units) == pytest.approx(1, abs=0.06)


def test_steps_that_are_mostly_zero_take_their_root_mean_square() -> None:
    # Steps 0 0 0 4 -4 0 0: the mean square is 32 / 7.
    other = np.array([0.0, 0, 0, 0, 4, 0, 0, 0])
    units = in_noise(np.zeros(8), other)
    assert units is not None
    assert units[4] == pytest.approx(4 / math.sqrt(32 / 7 / 2))


def test_without_noise_or_windows_nothing_is_said() -> None:
    assert in_noise(np.full(8, 0.1), np.full(8, 0.3)) is None
    assert in_noise(np.arange(7.0), np.zeros(7)) is None


def test_stretches_end_where_the_direction_changes_or_nothing_was_measured() -> None:
    units = np.array([5.0, 6, -7, _NAN, -5, 1, 4])
    assert stretches(units, 4) == [
        Stretch(0, 2, 1, 6.0),
        Stretch(2, 3, 2, -7.0),
        Stretch(4, 5, 4, -5.0),
        Stretch(6, 7, 6, 4.0),
    ]


def test_a_difference_of_the_whole_runs_is_told_from_that_of_a_window() -> None:
    assert local(np.array([1.0, -2, 9, _NAN]), 4)[0] is None
    median, rest = local(np.array([10.0, 11, 30, _NAN, 10, 11]), 4)
    assert median == 11
    assert stretches(rest, 4) == [Stretch(2, 3, 2, 19.0)]
