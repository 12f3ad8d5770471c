"""Fits on synthetic runs with known parameters, and on the published memcached table."""

import dataclasses
from functools import cache

import numpy as np
import polars as pl
import pytest

from data.errors import DataError
from data.models.fits.busy_time import fit_alpha
from data.models.fits.cells import FitRuns, resampling
from data.models.fits.host import fit_detection, fit_host
from data.models.fits.power import PowerProblem, fit_power
from tests.fixtures.real import real_data

ALPHA, BETA, SLEEP_W, STATIC_W, DYNAMIC_W = -0.4, 0.5, 40.0, 15.0, 180.0
INTERRUPT_US, REQUEST_US, CORES = 3.0, 9.0, 16
GHZ = np.array([1.3, 1.5, 1.7, 1.9, 2.1, 2.3, 2.5, 2.7, 2.9])
ITR_US = np.array([10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 300.0, 400.0])


def synthetic(seed: int, loads: tuple[float, ...] = (2e5,), replicates: int = 2) -> FitRuns:
    """Runs of known parameters, 2 % noise, 5 % of them outliers by a factor of up to 2."""
    draw = np.random.default_rng(seed)
    load, itr, ghz, _ = (
        part.reshape(-1)
        for part in np.meshgrid(loads, ITR_US, GHZ, np.arange(replicates), indexing="ij")
    )

    def noise() -> np.ndarray:
        outlier = draw.random(len(load)) < 0.05
        return np.exp(
            draw.normal(0, 0.02, len(load)) + outlier * draw.uniform(-0.7, 0.7, len(load))
        )

    seconds, share = np.full(len(load), 20.0), ghz / 2.9
    interrupts_us = 1 / (1.024 * itr + np.exp(-1.7 * load / CORES * 1e-6 * 1.024 * itr))
    core_us = seconds * 1e6 * CORES
    requests = load * seconds
    work_us = INTERRUPT_US * interrupts_us * core_us + REQUEST_US * requests
    busy_s = work_us * 1e-6 / share ** (1 + ALPHA)
    busy_share = busy_s / seconds / CORES
    power = SLEEP_W + busy_share * (STATIC_W + DYNAMIC_W * share ** (2 + BETA))
    return FitRuns(
        itr, ghz, load, seconds, busy_s * noise(), requests, 4e4 * requests * noise(),
        power * seconds * noise(), interrupts_us * core_us, requests * 1.2,
        np.full(len(load), np.nan), CORES,
    )  # fmt: skip


def test_alpha_is_found_and_its_interval_covers() -> None:
    fits = [fit_alpha(synthetic(seed, replicates=4)).alpha for seed in range(100)]
    assert max(abs(one.value - ALPHA) for one in fits) < 0.02
    covered = np.mean([one.low <= ALPHA <= one.high for one in fits])
    assert 0.90 <= covered <= 0.99


def test_alpha_per_instruction_and_busy_time_by_delay() -> None:
    found = fit_alpha(synthetic(1))
    assert found.alpha_per_instruction.value == pytest.approx(ALPHA, abs=0.02)
    assert not found.alpha_per_instruction.note
    runs = synthetic(1)
    polling = dataclasses.replace(runs, instructions=runs.instructions * runs.dvfs_ghz)
    assert fit_alpha(polling).alpha_per_instruction.note.startswith("differs from alpha")
    interrupts_a_request = 1 / (1.024 * 400) / (2e5 / CORES * 1e-6)
    assert found.itr_us[-1] == 400
    assert found.busy_us[-1] == pytest.approx(
        REQUEST_US + INTERRUPT_US * interrupts_a_request, rel=0.03
    )
    assert np.median(np.abs(found.predicted_us / found.measured_us - 1)) < 0.03


def test_the_powers_are_found_over_several_loads() -> None:
    found = fit_power(synthetic(3, loads=(1e5, 3e5, 6e5)))
    for name, value, near in (
        ("beta", BETA, 0.25), ("sleep_w", SLEEP_W, 2), ("dynamic_w", DYNAMIC_W, 20),
    ):  # fmt: skip
        one = found.estimates[name]
        assert one.is_identified
        assert one.value == pytest.approx(value, abs=near), name
        assert one.low <= value <= one.high, name
    assert found.condition < 1000
    assert found.estimates["static_w"].is_identified
    assert found.estimates["static_w"].low <= STATIC_W <= found.estimates["static_w"].high
    assert np.median(np.abs(found.predicted_w / found.measured_w - 1)) < 0.02
    assert set(found.left_out_error) == {1e5, 3e5, 6e5}
    assert max(found.left_out_error.values()) < 0.06


@pytest.mark.parametrize("fixes_static", [False, True])
def test_resamples_are_fitted_as_scipy_fits_them(fixes_static: bool) -> None:
    draw = np.random.default_rng(11)
    share, busy = draw.uniform(0.4, 1, 90), draw.uniform(0.05, 0.9, 90)
    power = (20 + busy * (15 + 60 * share**2.5)) * draw.normal(1, 0.03, 90)
    power[::15] *= 1.5
    problem = PowerProblem(power, busy, share, fixes_static)
    start = problem.fit(np.ones(90))
    weights = resampling(90, 12)
    found = problem.fit_all(weights, start)
    for one, values in zip(weights, found, strict=True):
        again = (np.repeat(power, one), np.repeat(busy, one), np.repeat(share, one))
        slow = PowerProblem(*again, fixes_static).fit(np.ones(90), start)
        assert values == pytest.approx(slow, rel=1e-3, abs=1e-3)


def test_with_one_load_the_static_power_is_not_identified() -> None:
    found = fit_power(synthetic(3))
    static = found.estimates["static_w"]
    assert not static.is_identified
    assert static.note.startswith("not identified: 1 load, busy share within a factor of ")
    assert np.isnan([static.low, static.high]).all()
    assert found.left_out_error == {}


def test_a_power_at_its_bound_has_a_profile_interval() -> None:
    runs = synthetic(5, loads=(1e5, 3e5, 6e5))
    share = runs.dvfs_ghz / 2.9
    without = runs.busy_share * DYNAMIC_W * share**3
    low = FitRuns(
        **{name: getattr(runs, name) for name in FitRuns.__slots__ if name != "energy_j"},
        energy_j=(10 + without - 0.3 * runs.busy_share * share) * runs.duration_s,
    )
    static = fit_power(low).estimates["static_w"]
    assert (static.value, static.low) == (pytest.approx(0, abs=1e-3), pytest.approx(0, abs=1e-3))
    assert 0 < static.high < 5
    assert static.note == "held by its bound"


def test_the_costs_of_a_host_are_found() -> None:
    runs = synthetic(2, loads=(1e5, 3e5))
    found = fit_host(runs.where(runs.dvfs_ghz == 2.9))
    for one, value in ((found.interrupt_us, INTERRUPT_US), (found.request_us, REQUEST_US)):
        assert one.value == pytest.approx(value, rel=0.06)
        assert one.low <= value <= one.high
    # At one load and one delay both costs are one.
    with pytest.raises(DataError, match="at least 4 at 2 ITR values"):
        fit_host(runs.where((runs.dvfs_ghz == 2.9) & (runs.itr_us == 10)))


def test_the_events_that_may_interrupt_are_found() -> None:
    runs = synthetic(2, loads=(2e4,))
    queue_us = runs.duration_s * 1e6 * CORES
    rates, delays = 1.7 * runs.rx_desc / queue_us, 1.024 * runs.itr_us
    expected = rates / (rates * delays + np.exp(-rates * delays)) * queue_us
    exact = FitRuns(
        **{name: getattr(runs, name) for name in FitRuns.__slots__ if name != "interrupts"},
        interrupts=expected,
    )
    found = fit_detection(exact)
    assert found.events_per_packet.value == pytest.approx(1.7, rel=1e-3)
    assert found.median_error < 1e-3


def test_runs_without_what_a_fit_needs_are_refused_in_words() -> None:
    runs = synthetic(1)
    governor = FitRuns(
        **{name: getattr(runs, name) for name in FitRuns.__slots__ if name != "dvfs_ghz"},
        dvfs_ghz=np.full(len(runs), np.nan),
    )
    for fit, said in (
        (fit_alpha, "alpha: no run has busy time"), (fit_power, "power: 0 configurations"),
        (fit_host, "host: 0 configurations"), (fit_detection, "detection: no run has"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            fit(governor)
    with pytest.raises(DataError, match="alpha: no ITR has two frequencies"):
        fit_alpha(runs.where(runs.dvfs_ghz == 2.9))
    with pytest.raises(DataError, match="several shapes"):
        FitRuns(
            **{name: getattr(runs, name) for name in FitRuns.__slots__ if name != "itr_us"},
            itr_us=np.ones(3),
        )


# ---- the published memcached table


@cache
def published() -> pl.DataFrame:
    table = pl.read_csv(
        real_data() / "summaries" / "mcd_combined.csv", separator=" ", infer_schema_length=None
    )
    code = pl.col("dvfs").str.strip_prefix("0x").str.to_integer(base=16)
    ghz = pl.when(pl.col("dvfs").str.to_lowercase() != "0xffff").then(code / 2560)
    return table.with_columns(ghz=ghz).filter(pl.col("measure_QPS") > 0)


def memcached(system: str, load: float | None = None) -> FitRuns:
    rows = published().filter(pl.col("sys") == system)
    rows = rows.filter((pl.col("target_QPS") == load) if load else (pl.col("target_QPS") > 0))

    def column(name: str) -> np.ndarray:
        return rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    return FitRuns(
        itr_us=column("itr"),
        dvfs_ghz=column("ghz"),
        load_qps=column("target_QPS"),
        duration_s=column("time"),
        busy_s=column("ref_cycles") / 2.899999e9,
        requests=column("measure_QPS") * column("time"),
        instructions=column("instructions"),
        energy_j=column("joules"),
        interrupts=column("num_interrupts"),
        rapl_w=column("rapl"),
        rx_desc=column("rx_desc"),
        cores=16,
    )


@pytest.mark.real
@pytest.mark.parametrize("load", [200_000, 400_000, 600_000])
@pytest.mark.parametrize(
    ("system", "low", "high"), [("ebbrt_tuned", -0.78, -0.68), ("linux_tuned", -0.40, -0.17)]
)
def test_alpha_of_the_published_runs(system: str, low: float, high: float, load: float) -> None:
    found = fit_alpha(memcached(system, load)).alpha
    assert low <= found.value <= high
    assert found.low < found.value < found.high


@pytest.mark.real
@pytest.mark.parametrize("load", [200_000, 400_000, 600_000])
@pytest.mark.parametrize("system", ["ebbrt_tuned", "linux_tuned"])
def test_interrupts_of_the_published_runs(system: str, load: float) -> None:
    found = fit_detection(memcached(system, load))
    assert found.median_error < 0.02
    assert 1 < found.events_per_packet.value < 2
    assert (found.keys[:, 1] >= 10).all()


@pytest.mark.real
def test_static_power_of_the_published_runs() -> None:
    for system in ("ebbrt_tuned", "linux_tuned"):
        one = fit_power(memcached(system, 200_000)).estimates["static_w"]
        assert not one.is_identified
        assert "not identified" in one.note
        pooled = fit_power(memcached(system))
        assert pooled.bounds == ("static_w",)
        assert pooled.estimates["static_w"].note == "held by its bound"
        # The law of one load predicts another to some percent only.
        assert 0.01 < max(pooled.left_out_error.values()) < 0.15


@pytest.mark.real
def test_the_measured_host() -> None:
    runs = memcached("linux_tuned", 400_000)
    found = fit_host(runs.where(np.isclose(runs.dvfs_ghz, 2.9)))
    assert found.interrupt_us.low < found.interrupt_us.value < found.interrupt_us.high
    assert 2 < found.interrupt_us.value < 6
    assert 11 < found.request_us.value < 15
    assert found.condition < 10
