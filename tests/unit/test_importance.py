"""Shares of knobs, pairs and noise: against classical analysis of variance, and as published."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from data.analysis.importance import Importance, importance
from data.analysis.noise import Estimates, Prior, estimates_of, fit_prior, settings_of
from tests.fixtures.real import real_data

_EXPECTED: Final = Path(__file__).resolve().parents[2].parent / "shared/expected/decisions.json"
_KNOBS: Final = ("itr", "dvfs", "rapl")
_GIVEN: Final = {"mcd": "target_QPS", "netpipe": "msg"}


def grid(*levels: int) -> np.ndarray:
    """Every combination of levels, shape (settings, knobs)."""
    return np.stack(np.meshgrid(*map(np.arange, levels), indexing="ij"), -1).reshape(
        -1, len(levels)
    )


def settings(mean: np.ndarray, sd: float = 0.01, n: int = 3) -> tuple[Estimates, np.ndarray]:
    count = len(mean)
    variance, runs = np.full(count, sd**2 / n), np.full(count, n)
    own = Estimates(runs, mean, variance, np.full(count, 6.0), Prior(4.0, sd))
    return own, np.full(count, sd**2)


def total(found: Importance) -> float:
    return float(found.mains.sum() + sum(found.pairs.values()) + found.rest + found.noise)


def test_a_full_grid_has_the_shares_of_classical_analysis_of_variance() -> None:
    codes, rng = grid(4, 3, 2), np.random.default_rng(1)
    mean = rng.normal(0, 1, len(codes))
    own, raw = settings(mean, sd=0.3)
    found = importance(codes, own, raw, seed=1, draws=0)
    error, count = 0.09 / 3, len(codes)
    whole = ((mean - mean.mean()) ** 2).sum() - (count - 1) * error + count * 0.09
    cube = mean.reshape(4, 3, 2) - mean.mean()
    for k, level in enumerate((4, 3, 2)):
        others = tuple(axis for axis in range(3) if axis != k)
        squares = (cube.mean(axis=others) ** 2).sum() * count / level
        expected = (squares - (level - 1) * error) / whole
        assert found.mains[k] == pytest.approx(max(expected, 0), abs=1e-9)
    for (k, m), share in found.pairs.items():
        (other,) = {0, 1, 2} - {k, m}
        cells = cube.mean(axis=other)
        cells = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True)
        df = (cube.shape[k] - 1) * (cube.shape[m] - 1)
        squares = (cells**2).sum() * cube.shape[other]
        assert share == pytest.approx(max(squares - df * error, 0) / whole, abs=1e-9)
    assert total(found) == pytest.approx(1)
    assert not found.is_overlapping


def test_shares_do_not_depend_on_the_order_of_settings() -> None:
    codes, rng = grid(5, 4), np.random.default_rng(2)
    own, raw = settings(rng.normal(0, 1, len(codes)))
    order = rng.permutation(len(codes))
    here = importance(codes, own, raw, seed=3, draws=20)
    there = importance(codes[order], own.at(order), raw, seed=3, draws=20)
    assert here.mains.tolist() == there.mains.tolist()
    assert here.low.tolist() == there.low.tolist()
    assert here.pairs == there.pairs


def test_a_knob_without_effect_has_next_to_no_share() -> None:
    codes, rng = grid(6, 5, 3), np.random.default_rng(4)
    truth = 0.1 * codes[:, 0] + 0.05 * codes[:, 1]
    shares = []
    for _ in range(20):
        own, raw = settings(truth + rng.normal(0, 0.01 / np.sqrt(3), len(codes)))
        shares.append(importance(codes, own, raw, seed=1, draws=0).mains[2])
    assert max(shares) <= 0.01


def test_intervals_hold_the_true_share_on_a_grid_with_holes() -> None:
    rng, hits = np.random.default_rng(5), 0
    whole = grid(6, 5, 4)
    codes = whole[rng.random(len(whole)) < 0.6]
    truth = 0.05 * codes[:, 0] + 0.02 * codes[:, 1] + 0.01 * codes[:, 2]
    own, _ = settings(truth, sd=1e-9)
    noise = np.full(len(codes), 0.02**2)
    true_share = importance(codes, own, noise * 0, seed=1, draws=0).mains[0]
    between = truth.var() * len(codes)
    true_share *= between / (between + noise.sum())
    for i in range(60):
        n = rng.integers(2, 4, len(codes))
        means = truth + rng.normal(0, 0.02, len(codes)) / np.sqrt(n)
        estimates = Estimates(n, means, noise / n, n + 3.0, Prior(4.0, 0.02))
        found = importance(codes, estimates, noise, seed=i)
        hits += bool(found.low[0] <= true_share <= found.high[0])
    assert hits >= 0.85 * 60


def test_knobs_that_were_set_together_are_named() -> None:
    both = np.repeat(np.arange(5), 2)
    codes = np.column_stack([both, both, np.tile([0, 1], 5)])
    own, raw = settings(np.random.default_rng(6).normal(0, 1, 10))
    assert importance(codes, own, raw, seed=1, draws=0).aliased == ((0, 1),)


def test_a_knob_with_one_level_has_no_share() -> None:
    codes = np.column_stack([np.arange(4), np.zeros(4, int)])
    own, raw = settings(np.arange(4) * 1.0)
    found = importance(codes, own, raw, seed=1, draws=0)
    assert found.mains[1] == 0
    assert found.pairs == {}
    assert np.isnan(found.local).all()  # under 40 settings


def test_the_knob_that_must_be_right_among_the_best() -> None:
    codes = grid(10, 10)
    # The first knob alone decides the best tenth; the second has as much effect elsewhere.
    own, raw = settings(np.where(codes[:, 0] == 0, -1.0, 0.0) + 0.01 * codes[:, 1])
    found = importance(codes, own, raw, seed=1, draws=0)
    assert found.local.tolist() == [1.0, 0.0]
    is_allowed = codes[:, 0] > 0
    limited = importance(codes, own, raw, seed=1, draws=0, is_allowed=is_allowed)
    assert limited.local[1] == 1.0


def test_many_knobs_are_averaged_over_random_orders() -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, (200, 13))
    own, raw = settings(codes[:, 0] * 1.0 + codes[:, 1] * 0.5)
    found = importance(codes, own, raw, seed=1, draws=0)
    assert found.mains[0] == pytest.approx(0.8, abs=0.06)  # the codes are not quite balanced
    assert found.mains[2:].max() < 0.01


def expected() -> list[dict[str, Any]]:
    return json.loads(_EXPECTED.read_text("utf-8"))["importance"] if _EXPECTED.is_file() else []


@pytest.mark.thin(8)
@pytest.mark.real
@pytest.mark.parametrize("wanted", expected(), ids=lambda g: g["group"])
def test_published_importances(wanted: dict[str, Any]) -> None:
    table, system, *rest = wanted["group"].split()
    runs = pl.read_csv(
        real_data() / "summaries" / f"{table}_combined.csv", separator=" ", infer_schema_length=None
    ).unique(maintain_order=True)
    runs = runs.filter(pl.col("sys") == system).with_columns(pl.col("dvfs").str.to_lowercase())
    if table in _GIVEN:
        runs = runs.filter(pl.col(_GIVEN[table]) == int(rest.pop(0)))
    values = runs[rest[0]].cast(pl.Float64).to_numpy()
    numbers = runs.select(pl.struct(_KNOBS).rank("dense")).to_series().to_numpy() - 1
    first = np.unique(numbers, return_index=True)[1]
    codes = runs.select(pl.col(_KNOBS).rank("dense")).to_numpy()[first].astype(int) - 1
    moments = settings_of(values, numbers.astype(int))
    own = estimates_of(moments, fit_prior(moments))
    found = importance(codes, own, moments.variance, seed=1)
    assert (len(own.n), len(values)) == (wanted["settings"], wanted["runs"])
    assert found.grid_share == pytest.approx(wanted["grid_share"], abs=1e-4)
    for k, name in enumerate(_KNOBS):
        share, low, high = wanted["mains"][name]
        assert found.mains[k] == pytest.approx(share, abs=2e-6)
        assert (found.low[k], found.high[k]) == pytest.approx((low, high), abs=0.02)
        assert found.local[k] == pytest.approx(wanted["local"][name], abs=2e-6)
    for pair, share in wanted["pairs"].items():
        k, m = (_KNOBS.index(name) for name in pair.split(" x "))
        assert found.pairs.get((k, m), 0.0) == pytest.approx(share, abs=2e-6)
    assert (found.rest, found.noise) == pytest.approx((wanted["rest"], wanted["noise"]), abs=2e-6)
    assert total(found) == pytest.approx(1)
