"""The published study: its numbers, what holds of its statements, and what does not."""

from typing import Any

import numpy as np
import pytest

from data.models import SCHEMES
from data.models.scheme import Answer, Kind, SimulatedAnswer
from data.models.schemes.normal import cliff_kpps
from data.models.simulation.bursts import default_frame_sizes, frame_time_us, link_kpps

SERVICE_557_US = 5.25 + 557 / 748
LOADS = [2.0, 60.0, 250.0]
LOW, MODERATE, HIGH = range(3)


def solved(name: str, kind: Kind, rates: list[float], **given: Any) -> Answer:
    found: Answer = SCHEMES[name].solve(kind, rates, **given)
    return found


@pytest.fixture(scope="module")
def simulated() -> dict[str, SimulatedAnswer]:
    """Schemes at a low, a moderate and a high load, times exponential."""
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "disable_enable": ("disable_enable", {}),
        "polling": ("pure_polling", {}),
        "polling 2": ("pure_polling", {"quota": 2}),
        "polling 4": ("pure_polling", {"quota": 4}),
        "polling 4, often": ("pure_polling", {"quota": 4, "poll_period_us": 10}),
        "polling 4, rarely": ("pure_polling", {"quota": 4, "poll_period_us": 40}),
        "napi": ("napi", {}),
        "delay 500": ("time_coalescing", {"delay_us": 500}),
        "delay 0": ("time_coalescing", {"delay_us": 0}),
        "normal": ("normal", {}),
    }
    return {
        word: SCHEMES[name].solve("simulated", LOADS, replications=5, most_events=3e6, **given)
        for word, (name, given) in cases.items()
    }


@pytest.mark.parametrize(("service_us", "published"), [(5.34, 187.27), (SERVICE_557_US, 166.8)])
def test_the_greatest_throughput(service_us: float, published: float) -> None:
    most = solved("ideal", "exact", [1e5], service_us=service_us).throughput_kpps[0]
    assert most == pytest.approx(published, abs=10 ** -(2 if published > 187 else 1))
    assert solved("disable_enable", "exact", [1e5], service_us=service_us).throughput_kpps[
        0
    ] == pytest.approx(most)


def test_the_cliff_of_normal_interruption() -> None:
    assert cliff_kpps(5.34, 3.73) == pytest.approx(127.05, abs=0.005)
    assert round(cliff_kpps(SERVICE_557_US, 3.73)) == 116
    # Of eight packets an interrupt: rho_IP = 1 there too.
    at = cliff_kpps(5.34, 3.73, 8)
    found = solved("count_coalescing", "paper", [at, at * 1.01])
    assert at * 1e-3 * 5.34 / (1 - found.interrupt_share[0]) == pytest.approx(1)


def test_at_the_cliff_nothing_is_left_and_beyond_it_all_gets_worse() -> None:
    rates = [cliff_kpps(5.34, 3.73) * f for f in (1.0, 1.2, 1.6, 2.4)]
    for kind in ("paper", "exact"):
        found = solved("normal", kind, rates)
        assert found.cpu_left[0] < 2e-3
        assert (np.diff(found.throughput_kpps) < 0).all()
        assert (np.diff(found.latency_mean_us) > 0).all()
        assert found.latency_mean_us[-1] > 10_000


def test_disable_enable_is_best_of_the_schemes_with_a_formula() -> None:
    rates = [60.0, 100.0, 160.0, 250.0]
    best = solved("disable_enable", "exact", rates)
    for name in ("normal", "pure_polling", "count_coalescing", "time_coalescing"):
        other = solved(name, "paper", rates)
        assert (best.throughput_kpps >= other.throughput_kpps * (1 - 1e-9)).all(), name
        assert (best.latency_mean_us < other.latency_mean_us).all(), name
        if name != "normal":
            assert best.cpu_left[0] < other.cpu_left[0], name
    assert best.cpu_left[0] > solved("normal", "exact", rates).cpu_left[0]


def test_at_very_low_load_disable_enable_is_slower_than_normal() -> None:
    one, other = (solved(n, "exact", [0.01]) for n in ("disable_enable", "normal"))
    assert one.latency_mean_us[0] == pytest.approx(9.57, abs=0.005)
    assert other.latency_mean_us[0] == pytest.approx(9.07, abs=0.005)


def test_napi_beats_pure_polling_at_low_load(simulated: dict[str, SimulatedAnswer]) -> None:
    napi, polling = simulated["napi"], simulated["polling"]
    assert napi.cpu_left[LOW] > polling.cpu_left[LOW] + 0.05
    assert napi.latency_mean_us[LOW] < polling.latency_mean_us[LOW] - 5


def test_pure_polling_leaves_more_than_napi_at_moderate_load(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    assert simulated["polling"].cpu_left[MODERATE] > simulated["napi"].cpu_left[MODERATE] + 0.05


def test_at_high_load_both_polls_are_alike_and_leave_most(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    napi, polling = simulated["napi"], simulated["polling"]
    assert napi.throughput_kpps[HIGH] == pytest.approx(polling.throughput_kpps[HIGH], rel=1e-3)
    assert napi.latency_mean_us[HIGH] == pytest.approx(polling.latency_mean_us[HIGH], rel=1e-3)
    assert polling.cpu_left[HIGH] > 0.15
    for name in ("normal", "disable_enable", "count_coalescing"):
        assert solved(name, "exact", LOADS).cpu_left[HIGH] < 1e-6


def test_a_small_quota_leaves_most_and_serves_less(simulated: dict[str, SimulatedAnswer]) -> None:
    by_quota = [simulated[w] for w in ("polling 2", "polling", "polling 4")]
    assert (np.diff([one.cpu_left[HIGH] for one in by_quota]) < 0).all()
    assert (np.diff([one.throughput_kpps[HIGH] for one in by_quota]) > 0).all()


def test_short_periods_cost_and_long_ones_delay(simulated: dict[str, SimulatedAnswer]) -> None:
    often, usual, rarely = (
        simulated[w] for w in ("polling 4, often", "polling 4", "polling 4, rarely")
    )
    assert often.cpu_left[MODERATE] < usual.cpu_left[MODERATE] < rarely.cpu_left[MODERATE]
    assert solved("pure_polling", "paper", LOADS, quota=4, poll_period_us=10).throughput_kpps[
        HIGH
    ] == pytest.approx(1e3 * (1 - 0.159) / 5.34)
    assert often.latency_mean_us[MODERATE] < usual.latency_mean_us[MODERATE]
    assert usual.latency_mean_us[MODERATE] < rarely.latency_mean_us[MODERATE]


def test_a_count_delays_without_bound_and_a_delay_does_not(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    for kind in ("paper", "exact"):
        slow = solved("count_coalescing", kind, [0.01, 0.1, 1]).latency_mean_us
        # (count - 1) / 2 arrivals on average
        assert slow[:2] * np.array([1e-5, 1e-4]) == pytest.approx(3.5, rel=0.02)
    assert simulated["delay 500"].latency_mean_us[LOW] < 500 + 9.07


# ---- what does not hold, and by how much


def test_the_formula_of_normal_latency_is_too_low() -> None:
    """The exact mean exceeds the formula's by up to the factor 1 + lam/r."""
    rates = [20.0, 100.0, 120.0]
    formula, exact = (solved("normal", kind, rates).latency_mean_us for kind in ("paper", "exact"))
    assert formula == pytest.approx([10.21, 31.21, 110.53], abs=0.005)
    assert exact == pytest.approx([10.70, 41.46, 158.34], abs=0.005)
    assert (exact / formula < 1 + np.array(rates) * 3.73e-3).all()


def test_the_collapse_needs_dropped_packets_that_interrupt() -> None:
    rates = [150.0, 250.0, 400.0]
    assert solved("normal", "exact", rates).throughput_kpps == pytest.approx(
        [120.08, 96.90, 75.15], abs=0.01
    )
    quiet = SCHEMES["normal"].solve("exact", rates, drops_interrupt=False)
    assert quiet.throughput_kpps == pytest.approx([126.32, 123.77, 121.16], abs=0.01)


def test_a_large_quota_leaves_a_little_with_exponential_times(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    """Constant times leave 0 at Q = 4; with exponential ones and one flag, ticks are lost."""
    assert solved("pure_polling", "paper", LOADS, quota=4).cpu_left[HIGH] == pytest.approx(0)
    found = simulated["polling 4"]
    assert found.cpu_left[HIGH] == pytest.approx(0.05, abs=0.015)
    assert found.throughput_kpps[HIGH] == pytest.approx(162.5, abs=2)


def test_the_formulas_wait_for_a_tick_is_twice_the_mean() -> None:
    upper, mean = (
        SCHEMES["pure_polling"].solve("paper", [1.0], wait=w).latency_mean_us[0]
        for w in ("upper", "mean")
    )
    assert upper - mean == pytest.approx(10, rel=0.01)


def test_the_formula_of_a_delay_has_no_delay_at_low_load(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    assert solved("time_coalescing", "paper", [2.0], delay_us=50).latency_mean_us[
        0
    ] == pytest.approx(9.17, abs=0.01)
    assert simulated["delay 500"].latency_mean_us[LOW] > 350


def test_napi_leaves_less_than_disable_enable_at_moderate_load(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    """The study ranks disable-enable last but for normal interruption; NAPI's ticks cost more."""
    napi = simulated["napi"].cpu_left[MODERATE]
    assert napi == pytest.approx(0.5354, abs=0.003)
    assert solved("disable_enable", "exact", LOADS).cpu_left[MODERATE] == pytest.approx(
        0.5436, abs=0.003
    )


def test_a_delay_of_zero_is_normal_interruption_digit_by_digit(
    simulated: dict[str, SimulatedAnswer],
) -> None:
    one, other = simulated["delay 0"], simulated["normal"]
    assert (one.latency_mean_us == other.latency_mean_us).all()
    assert (one.throughput_kpps == other.throughput_kpps).all()


def test_frames_have_the_published_mean() -> None:
    sizes = np.array(default_frame_sizes())
    assert sizes[:, 1].sum() == pytest.approx(1)
    assert sizes[:, 0] @ sizes[:, 1] == pytest.approx(557)
    shares = dict(default_frame_sizes())
    even = 0.05 / 1455
    assert shares[64.0] - even == pytest.approx(0.4754, abs=5e-5)
    assert shares[1518.0] - even == pytest.approx(0.2246, abs=5e-5)
    assert frame_time_us(sizes) == pytest.approx(577 * 0.008)


def test_the_greatest_throughput_under_bursts() -> None:
    """Figure 10: with frames of 557 bytes on average a packet takes 5.99 us."""
    found = SCHEMES["ideal"].solve(
        "simulated", [link_kpps()], traffic="bursty", most_events=1e6, replications=4
    )
    assert found.throughput_kpps[0] == pytest.approx(167, abs=2)
    assert found.cpu_left[0] < 0.02
