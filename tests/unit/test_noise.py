"""The noise of replicates: rounding floor, moderated variance, odd runs."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data.analysis.noise import (
    Prior,
    Settings,
    estimates_of,
    fit_prior,
    group_medians,
    log_scale,
    moderated,
    odd_runs,
    priors,
    resolution,
    settings_of,
)
from data.errors import DataError
from tests.fixtures.real import real_data

_EXPECTED = Path(__file__).resolve().parents[2].parent / "shared" / "expected" / "decisions.json"
_GROUPS = {"mcd": "target_QPS", "netpipe": "msg", "node": None}


def test_values_without_a_logarithm_are_refused() -> None:
    assert log_scale(np.array([1.0, math.e])).tolist() == [0, 1]
    with pytest.raises(DataError, match="a value is 0"):
        log_scale(np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([12.5, 3.0], 0.1),
        ([1056.5, 152.0], 0.1),
        ([2000.0, 1000.0], 1000),
        ([0.137, 0.14], 1e-3),
        ([math.pi], 1e-5),  # to six digits
        ([1.5e-8], 0),
        ([], 0),
    ],
)
def test_resolution_is_the_largest_power_of_ten(values: list[float], step: float) -> None:
    assert resolution(np.array(values)) == step


def test_equal_values_have_the_variance_that_rounding_hides() -> None:
    found = settings_of(np.array([2.0, 2.0, 3.0]), np.array([0, 0, 1]))
    assert found.n.tolist() == [2, 1]
    assert found.variance[0] == pytest.approx((1 / 2) ** 2 / 12)  # step 1 at 2
    assert math.isnan(found.variance[1])


def test_equal_values_of_many_digits_are_one_observation() -> None:
    """Copies of a row: to four digits and more only a copy has just the same value."""
    values = np.array([13.1574, 13.1574, 85.2201, 85.2201, 40.01, 40.02])
    found = settings_of(values, np.array([0, 0, 1, 1, 2, 2]))
    assert found.is_equal.tolist() == [True, True, False]
    estimates = estimates_of(found, Prior(0.0, 0.0))
    assert estimates.n.tolist() == [1, 1, 2]
    assert estimates.is_judged.tolist() == [False, False, True]
    lent = estimates_of(found, Prior(4.0, 0.01))
    assert lent.n.tolist() == [2, 2, 2], "the noise of others is known"
    rounded = settings_of(np.array([2.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    assert estimates_of(rounded, Prior(0.0, 0.0)).n.tolist() == [2, 2], "rounding may hide noise"


def test_where_most_settings_have_equal_values_there_is_no_prior() -> None:
    base = np.array([13.1574, 14.2201, 15.9307, 16.4401, 17.2209])
    copies = settings_of(np.repeat(base, 2), np.repeat(np.arange(5), 2))
    assert fit_prior(copies) == Prior(0, 0)
    noisy = np.repeat(base, 2) * np.array([1, 1, 1, 1, 1, 1.01, 1, 1.02, 1, 1.01])
    some = settings_of(noisy, np.repeat(np.arange(5), 2))
    assert fit_prior(some).d0 > 0, "two of five are equal"


def test_too_few_variances_give_no_prior() -> None:
    n, s2 = np.array([3, 3, 1]), np.array([1.0, 2.0, math.nan])
    assert fit_prior(Settings(n, np.zeros(3), s2, np.zeros(3))) == Prior(0, 0)


def test_variances_that_scatter_less_than_chance_have_the_greatest_d0() -> None:
    found = fit_prior(Settings(np.full(5, 3), np.zeros(5), np.full(5, 4.0), np.zeros(5)))
    # digamma(1) = -0.5772, digamma(2) = 0.4228: ln s0^2 = ln 4 + 0.5772 + 0.4228 - ln 2 = ln 2 + 1
    assert found.d0 == 4
    assert found.s0**2 == pytest.approx(2 * math.e)


def test_moderated_variance_lies_between_the_prior_and_the_sample() -> None:
    settings = Settings(
        np.array([3, 1]), np.zeros(2), np.array([4.0, math.nan]), np.array([0.0, 0.0])
    )
    variance, freedom = moderated(settings, Prior(2.0, 1.0))
    assert variance.tolist() == [(2 * 1 + 2 * 4) / 4, 1]
    assert freedom.tolist() == [4, 2]
    assert np.isnan(moderated(settings, Prior(0.0, 0.0))[0]).tolist() == [False, True]


def test_medians_of_groups_do_not_depend_on_the_order() -> None:
    values, group = np.array([3.0, 9.0, 1.0, 2.0, 4.0]), np.array([0, 1, 0, 0, 0])
    assert group_medians(values, group).tolist() == [2.5, 9]


def test_an_odd_run_is_ten_percent_and_eight_deviations_off() -> None:
    values, setting = np.array([1056.5, 152.5, 152.7, 100.0, 111.0]), np.array([0, 0, 0, 1, 1])
    assert odd_runs(values, setting, np.zeros(5)).tolist() == [True, False, False, False, False]
    assert not odd_runs(values, setting, np.full(5, 0.25)).any()  # 8 s0 = 2 > ln(1056.5 / 152.7)
    assert not odd_runs(np.array([100, 100, 109.9]), np.zeros(3, int), np.zeros(3)).any()
    assert odd_runs(np.array([]), np.array([], int), np.array([])).tolist() == []


def test_without_a_prior_runs_that_all_differ_have_no_odd_one() -> None:
    """Ten joules apart the median distance is 10 %, and 8 deviations over a factor of 3."""
    spread, none = np.array([80.0, 90.0, 100.0, 110.0, 130.0]), np.zeros(5)
    assert not odd_runs(spread, np.zeros(5, int), none).any()
    assert odd_runs(spread, np.zeros(5, int), np.full(5, 0.005)).tolist() == [
        True, True, False, False, True,
    ]  # fmt: skip
    # Unlike runs: none is the usual one.
    assert not odd_runs(np.array([14.0, 170.0, 42000.0]), np.zeros(3, int), np.zeros(3)).any()


def test_a_choice_with_few_settings_takes_the_prior_of_its_family() -> None:
    rng = np.random.default_rng(1)
    setting = np.repeat(np.arange(16), 3)
    choice, family = np.repeat([0, 1, 1, 1], 12), np.zeros(48, int)
    values = np.exp(rng.normal(0, np.repeat([0.5, 0.01, 0.01, 0.01], 12)))
    few, many = priors(values, setting, choice, family)
    assert few == priors(values, setting, np.zeros(48, int), family)[0]
    assert many == priors(values[12:], setting[12:] - 4, np.zeros(36, int), family[12:])[0]


def _expected() -> list[dict]:
    return json.loads(_EXPECTED.read_text("utf-8"))["choices"] if _EXPECTED.is_file() else []


@pytest.mark.real
@pytest.mark.parametrize("expected", _expected(), ids=lambda c: c["choice"])
def test_prior_of_the_published_choices(expected: dict) -> None:
    table, system, *rest = expected["choice"].split()
    rows = pl.read_csv(
        real_data() / "summaries" / f"{table}_combined.csv", separator=" ", infer_schema_length=None
    )
    rows = rows.filter(pl.col("sys") == system)
    if (column := _GROUPS[table]) is not None:
        rows = rows.filter(pl.col(column) == int(rest[0]))
    rows = rows.unique().filter(pl.col(expected["metric"]) > 0)
    setting = rows.select(pl.struct("itr", "dvfs", "rapl").rank("dense")).to_series().to_numpy() - 1
    found = settings_of(rows[expected["metric"]].to_numpy(), setting.astype(int))
    assert (len(found.n), int((found.n > 1).sum())) == (
        expected["settings"],
        expected["settings_n2"],
    )
    prior = fit_prior(found)
    assert prior.d0 == pytest.approx(expected["d0"], abs=2e-9)
    assert prior.s0 == pytest.approx(expected["s0"], abs=2e-9)
