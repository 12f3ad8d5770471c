"""The estimate of a meter's clock from steps of power, and when nothing tells it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from ingest.meters.clock import estimate_offset
from ingest.meters.energy import PowerSeries, make_series
from ingest.records import UtcWindow

IDLE_W = 34.0
START_S = 1_646_000_000.0


def sweep(
    lengths_s: list[float], pauses_s: list[float], watts: list[float], ends_s: float = 60.0
) -> tuple[PowerSeries, list[UtcWindow]]:
    """Runs one after the other, read at 1 Hz by a meter whose clock is right."""
    t_s = START_S + ends_s
    windows = []
    for length_s, pause_s in zip(lengths_s, pauses_s, strict=True):
        windows.append(UtcWindow(t_s, t_s + length_s))
        t_s += length_s + pause_s
    times = np.arange(START_S, windows[-1].end_s + ends_s) + 0.3
    power_w = np.full(len(times), IDLE_W)
    for window, level_w in zip(windows, watts, strict=True):
        power_w[(times >= window.start_s) & (times <= window.end_s)] = level_w
    return make_series(times, power_w), windows


def noisy(series: PowerSeries, offset_s: float, seed: int, noise_w: float = 0.5) -> PowerSeries:
    """The same through a meter with noise, whose clock the offset has to be added to."""
    noise = np.random.default_rng(seed).normal(0, noise_w, len(series.t_s))
    return make_series(series.t_s - offset_s, series.power_w + noise)


@examples(max_examples=12)
@given(st.integers(0, 10_000), st.floats(-250, 250))
def test_uneven_runs_tell_the_offset(seed: int, offset_s: float) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    series, windows = sweep(
        rng.uniform(10, 20, n).tolist(),
        rng.uniform(3, 9, n).tolist(),
        rng.uniform(39, 70, n).tolist(),
    )
    fit = estimate_offset(noisy(series, offset_s, seed), windows)
    assert fit is not None
    assert fit.windows == n
    assert fit.offset_s == pytest.approx(offset_s, abs=0.6)
    assert fit.explained > 0.9


def test_order_of_the_windows_does_not_matter() -> None:
    series, windows = sweep([10, 12, 15, 11], [4, 7, 5, 6], [40, 60, 45, 52])
    moved = noisy(series, 17, 1)
    assert estimate_offset(moved, windows[::-1]) == estimate_offset(moved, windows)


def test_equal_runs_between_two_ends_tell_the_offset() -> None:
    """One place further, a run would lie in the idle end: that tells the one from the other."""
    series, windows = sweep([15] * 50, [5] * 50, [50] * 50)
    fit = estimate_offset(noisy(series, 37, 3), windows)
    assert fit is not None
    assert fit.offset_s == pytest.approx(37, abs=0.6)


def test_runs_that_power_does_not_show_explain_little() -> None:
    series, windows = sweep([10, 12, 15, 11], [4, 7, 5, 6], [IDLE_W] * 4)
    fit = estimate_offset(noisy(series, 20, 5), windows)
    assert fit is not None
    assert fit.explained < 0.5


def test_an_offset_beyond_the_search_explains_little() -> None:
    series, windows = sweep([30, 42, 35, 31], [14, 17, 25, 16], [44, 60, 45, 52])
    fit = estimate_offset(noisy(series, 45, 7), windows, search_s=20)
    assert fit is not None
    assert abs(fit.offset_s) <= 22
    assert fit.explained < 0.8


def test_too_few_runs_or_no_change_of_power_give_nothing() -> None:
    series, windows = sweep([10, 12], [4, 7], [40, 60])
    assert estimate_offset(series, windows) is None
    assert estimate_offset(series, []) is None
    flat, three = sweep([10, 12, 9], [4, 7, 5], [IDLE_W] * 3)
    assert estimate_offset(flat, three) is None


def test_overlapping_windows_count_as_one() -> None:
    series, windows = sweep([10, 12, 15, 11], [4, 7, 5, 6], [40, 60, 45, 52])
    doubled = [*windows, *(UtcWindow(w.start_s + 1, w.end_s - 1) for w in windows)]
    fit, plain = (estimate_offset(noisy(series, -8, 2), given) for given in (doubled, windows))
    assert fit == plain


def test_a_gap_in_the_readings_does_not_spoil_the_fit() -> None:
    rng = np.random.default_rng(4)
    series, windows = sweep(
        rng.uniform(10, 20, 12).tolist(),
        rng.uniform(3, 9, 12).tolist(),
        rng.uniform(39, 70, 12).tolist(),
    )
    moved = noisy(series, 33, 4)
    kept = np.r_[0:100, 140 : len(moved.t_s)]
    fit = estimate_offset(make_series(moved.t_s[kept], moved.power_w[kept]), windows)
    assert fit is not None
    assert fit.offset_s == pytest.approx(33, abs=0.6)
