"""Drift, blocks and the order of runs."""

import numpy as np
import pytest

from data.analysis.drift import block_effects, blocks_in_time, drift, run_order


def sweep(
    rng: np.random.Generator, change: float, settings: int = 30, blocks: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y, place in time and setting of runs in random order within each block; noise of 1 %."""
    setting = np.concatenate([rng.permutation(settings) for _ in range(blocks)])
    time = np.arange(len(setting), dtype=float)
    means = rng.normal(0, 0.3, settings)
    y = means[setting] + change * time / time.max() + rng.normal(0, 0.01, len(setting))
    return y, time, setting


def test_the_slope_is_the_change_from_the_first_run_to_the_last() -> None:
    setting = np.tile(np.arange(10), 3)
    time = np.arange(30, dtype=float)
    y = setting * 0.1 + 0.05 * time / 29
    found = drift(y + np.random.default_rng(1).normal(0, 1e-6, 30), time, setting)
    assert found is not None
    assert found.change == pytest.approx(0.05, abs=1e-4)
    assert found.is_shown
    assert (found.runs, found.settings) == (30, 10)


def test_without_drift_it_is_found_as_often_as_asked() -> None:
    rng = np.random.default_rng(2)
    found = [drift(*sweep(rng, 0.0)) for _ in range(1_000)]
    share = np.mean([each is not None and each.p <= 0.05 for each in found])
    assert 0.03 <= share <= 0.07


def test_a_drift_of_one_percent_is_found() -> None:
    rng = np.random.default_rng(3)
    found = [drift(*sweep(rng, 0.01)) for _ in range(200)]
    assert np.mean([each is not None and each.p <= 0.05 for each in found]) >= 0.7


def test_few_repeated_settings_are_not_tested() -> None:
    y, time, setting = sweep(np.random.default_rng(4), 0.1, settings=9)
    assert drift(y, time, setting) is None
    assert block_effects(y, (time // 9).astype(int), setting) is None
    y, time, setting = sweep(np.random.default_rng(4), 0.1)
    assert drift(y, np.zeros(len(y)), setting) is None
    assert drift(y[:0], time[:0], setting[:0]) is None


def test_blocks_that_differ_are_found_and_their_effects_told() -> None:
    rng = np.random.default_rng(5)
    y, time, setting = sweep(rng, 0.0)
    block = (time // 30).astype(int)
    found = block_effects(y + np.array([0.0, 0.03, 0.0])[block], block, setting)
    assert found is not None
    assert found.is_shown
    assert found.effects == pytest.approx([-0.01, 0.02, -0.01], abs=0.006)
    assert found.residual_variance == pytest.approx(1e-4, rel=0.5)
    same = block_effects(y, block, setting)
    assert same is not None
    assert not same.is_shown
    assert block_effects(y, np.zeros(len(y), int), setting) is None


def test_the_block_test_errs_as_often_as_asked() -> None:
    rng, hits = np.random.default_rng(6), 0
    for _ in range(400):
        y, time, setting = sweep(rng, 0.0)
        found = block_effects(y, (time // 30).astype(int), setting)
        assert found is not None
        hits += found.p <= 0.05
    assert 0.02 <= hits / 400 <= 0.08


def test_long_gaps_part_blocks() -> None:
    start_s = np.array([0.0, 10, 20, 500, 510, 31, 1200])
    assert blocks_in_time(start_s).tolist() == [0, 0, 0, 1, 1, 0, 2]
    assert blocks_in_time(np.array([5.0])).tolist() == [0]


def test_an_order_that_follows_a_knob_or_repeats_settings_is_not_random() -> None:
    codes = np.array([(a, b) for a in range(6) for b in range(5)])
    ordered = run_order(np.arange(30.0), codes, np.arange(30))
    assert ordered is not None
    assert ordered.rank_correlation[0] > 0.9
    assert not ordered.is_random
    again = np.repeat(np.arange(30), 3)
    shuffled = np.random.default_rng(7).permutation(30)
    together = run_order(np.arange(90.0), codes[shuffled][again], again)
    assert together is not None
    assert together.runs_between == 1
    assert not together.is_random
    order = np.random.default_rng(8).permutation(90)
    found = run_order(np.arange(90.0), codes[again][order], again[order])
    assert found is not None
    assert found.is_random


def test_equal_stamps_leave_the_order_unknown() -> None:
    assert run_order(np.array([1.0, 1.0]), np.zeros((2, 1), int), np.array([0, 1])) is None
