"""The simulator: it agrees with the exact solutions, repeats itself, and says when it is slow."""

from typing import Any

import numpy as np
import pytest

from data.errors import DataError
from data.models import SCHEMES
from data.models.scheme import SimulatedAnswer
from data.models.schemes.itr_throttle import interrupts_per_s, packets_per_interrupt
from data.models.simulation.adaptation import by_size_us
from data.models.simulation.bursts import check_frame_sizes, frame_time_us
from data.models.simulation.replications import truncation
from data.models.simulation.traffic import sending_us
from tests.unit.test_models_exact import VARIANTS

RATES = np.geomspace(1, 300, 18)
COMPARED = (
    "throughput_kpps", "cpu_left", "interrupt_share", "protocol_share", "latency_mean_us",
    "loss_share",
)  # fmt: skip
# Rare losses that ten replications do not see have an interval of no width.
ABSOLUTE = 1e-6


def simulate(name: str, rates: Any, **given: Any) -> SimulatedAnswer:
    found: SimulatedAnswer = SCHEMES[name].solve("simulated", rates, **given)
    return found


@pytest.mark.slow
def test_it_agrees_with_the_exact_solutions() -> None:
    inside, missed, slow = 0, [], []
    for seed, (name, given) in enumerate(VARIANTS):
        exact = SCHEMES[name].solve("exact", RATES, **given)
        found = simulate(name, RATES, seed=seed, most_events=4e6, **given)
        slow += [f"{name} {given} at {rate:.4g} Kpps" for rate in RATES[found.is_slow]]
        for field in COMPARED:
            off = np.abs(getattr(found, field) - getattr(exact, field))
            half = getattr(found, f"{field}_half_width")
            is_inside = off <= half + ABSOLUTE * getattr(exact, field) + 1e-9
            inside += is_inside.sum()
            missed += [
                f"{name} {given} {field} at {RATES[i]:.4g} Kpps: {off[i] / half[i]:.2f} half widths"
                for i in np.flatnonzero(~is_inside)
            ]
    share = inside / (inside + len(missed))
    print(f"{share:.1%} of {inside + len(missed)} comparisons inside; slow: {slow}")
    print("\n".join(missed))
    assert share >= 0.92


def test_the_same_seed_gives_the_same_digits_on_any_threads() -> None:
    one = simulate("napi", [20, 100, 250], seed=7, most_events=1e6)
    other = simulate("napi", [20, 100, 250], seed=7, most_events=1e6, threads=3)
    alone = simulate("napi", [100], seed=7, most_events=1e6)
    for field in (*COMPARED, "latency_p99_us", "latency_mean_us_half_width", "events"):
        assert (getattr(one, field) == getattr(other, field)).all(), field
        assert getattr(alone, field)[0] == getattr(one, field)[1], field
    other_seed = simulate("napi", [100], seed=8, most_events=1e6)
    assert other_seed.latency_mean_us[0] != alone.latency_mean_us[0]


def test_percentiles_are_those_of_mm1() -> None:
    # In M/M/1 latency is exponential with the mean 1/(mu - lam).
    found = simulate("ideal", [100], precision=0.01)
    mean = 1 / (1 / 5.34 - 0.1)
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
        value = getattr(found, f"latency_{name}_us")[0]
        half = getattr(found, f"latency_{name}_us_half_width")[0]
        assert abs(value + mean * np.log(1 - share)) < 2 * half + 0.01 * value, name


def test_near_saturation_it_says_that_it_is_slow() -> None:
    found = simulate("ideal", [100, 187.2], precision=0.001, most_events=2e6)
    assert found.is_slow.tolist() == [True, True]
    assert set(found.stopped) == {"events"}
    assert found.latency_mean_us_half_width[1] > 100
    assert simulate("ideal", [100], precision=0.1, most_events=2e6).stopped == ("precision",)
    assert simulate("ideal", [187.2], precision=1e-6, time_limit_s=0.05).stopped == ("time",)


def test_above_saturation_it_starts_full() -> None:
    # B/(lam - X) = 65,536/0.0127 us: an empty ring would take a million packets to fill.
    found = simulate("ideal", [200], ring=65_536, most_events=4e7, replications=3)
    exact = SCHEMES["ideal"].solve("exact", [200], ring=65_536)
    assert found.latency_mean_us[0] == pytest.approx(exact.latency_mean_us[0], rel=0.01)
    assert not found.is_slow[0]


def mean_wait_us(rate: float, delay_us: float) -> float:
    """Return the mean wait for the interrupt at low load; no packet waits longer than the delay."""
    return rate * delay_us**2 / 2 / packets_per_interrupt(rate, delay_us)


def test_the_throttle_has_its_formula_at_low_load() -> None:
    # With work that takes no time, at most one interrupt in 50 us.
    given = {"delay_us": 50.0, "service_us": 1e-3, "interrupt_us": 0, "register_us": 0}
    found = simulate("itr_throttle", [2, 20, 200], precision=0.01, **given)
    for i, rate in enumerate((0.002, 0.02, 0.2)):
        assert found.interrupts_per_s[i] == pytest.approx(interrupts_per_s(rate, 50), rel=0.02)
        assert found.latency_mean_us[i] == pytest.approx(mean_wait_us(rate, 50), rel=0.02)
    assert (found.latency_p999_us < 50.5).all()


def test_the_low_load_formula_of_the_throttle_bounds_every_load() -> None:
    """The answer on the longest delay within a limit is on the safe side."""
    rates = [10.0, 60.0, 150.0]
    without = SCHEMES["disable_enable"].solve("exact", rates, setup="parts")
    for delay_us in (20.0, 100.0, 400.0):
        found = simulate("itr_throttle", rates, delay_us=delay_us, precision=0.03)
        per_s = np.array([interrupts_per_s(rate * 1e-3, delay_us) for rate in rates])
        waits = np.array([mean_wait_us(rate * 1e-3, delay_us) for rate in rates])
        assert (found.interrupts_per_s <= per_s * 1.01).all()
        latency = found.latency_mean_us - found.latency_mean_us_half_width
        assert (latency <= without.latency_mean_us + waits).all()
        left = 1 - np.array(rates) * 5.34e-3 - per_s * 4.23e-6
        assert (found.cpu_left + found.cpu_left_half_width >= left).all()


def test_timers_and_counts_do_what_they_say() -> None:
    quick = {"service_us": 1e-3, "interrupt_us": 0, "most_events": 2e6}
    rate = 0.04
    # From the first packet: T + 1/lam between interrupts; always: T, if any packet came.
    first = simulate("time_coalescing", [40], delay_us=50, **quick)
    assert first.interrupts_per_s[0] == pytest.approx(1e6 / (50 + 1 / rate), rel=0.01)
    free = simulate("time_coalescing", [40], delay_us=50, timer="free", **quick)
    assert free.interrupts_per_s[0] == pytest.approx(2e4 * (1 - np.exp(-rate * 50)), rel=0.01)
    # Two packets or 50 us after the first: the mean of min(Exp, 50) after it.
    both = simulate("rx_usecs_frames", [40], delay_us=50, count=2, **quick)
    wait = (1 - np.exp(-rate * 50)) / rate
    assert both.interrupts_per_s[0] == pytest.approx(1e6 / (1 / rate + wait), rel=0.01)
    counted = simulate("rx_usecs_frames", [40], delay_us=0, count=4, **quick)
    assert counted.interrupts_per_s[0] == pytest.approx(1e4, rel=0.01)


def test_the_hybrid_changes_sides() -> None:
    low, high = 60.0, 160.0
    found = simulate("hybrid", [low, high], most_events=4e6)
    below = simulate("disable_enable", [low], most_events=4e6)
    above = simulate("pure_polling", [high], most_events=4e6)
    assert found.latency_mean_us[0] == below.latency_mean_us[0]
    assert found.throughput_kpps[1] == pytest.approx(above.throughput_kpps[0], rel=0.01)
    assert found.interrupts_per_s[1] < 10


def test_feedback_follows_the_driver() -> None:
    # 64 bytes in latency class: (40 x 64 + 2720) / 2 / 512 = 5.16, so 6 steps of 2 us.
    assert by_size_us(64.0, True) == 12
    assert by_size_us(1500.0, False) == 118
    assert by_size_us(9000.0, False) == 126
    adaptive = simulate("ixgbe_adaptive", [50], most_events=1e6)
    fixed = simulate("itr_throttle", [50], delay_us=12, most_events=1e6)
    assert adaptive.interrupts_per_s[0] == pytest.approx(fixed.interrupts_per_s[0], rel=0.02)
    dim = simulate("dim", [1, 60], most_events=1e6)
    # At low load the longest delay is as good as any: DIM moves; it never passes its table.
    assert (dim.latency_p999_us < 256 + 100).all()
    assert dim.interrupts_per_s[1] < simulate("disable_enable", [60]).interrupts_per_s[0] / 2


@pytest.mark.parametrize("reading", ["true_load", "nominal", "fitting_only"])
def test_bursty_traffic_has_the_load_that_its_reading_says(reading: str) -> None:
    load = 0.2
    rate = load / (577 * 0.008) * 1e3
    found = simulate("ideal", [rate], traffic="bursty", reading=reading, most_events=6e6)
    offered = found.offered_kpps[0] / rate
    if reading == "true_load":
        assert offered == pytest.approx(1, abs=0.1)
    else:
        assert offered > 1.3
    # Protocol work: 5.25 us and the copy at 748 MB/s.
    work_us = found.protocol_share[0] / found.throughput_kpps[0] * 1e3
    longest = 5.25 + 557 / 748
    if reading == "fitting_only":
        assert 5.34 < work_us < 5.7
    else:
        assert work_us == pytest.approx(longest, rel=0.02)


def test_a_shared_link_spreads_the_frames() -> None:
    given = {"traffic": "bursty", "most_events": 2e6, "service_us": 2.0}
    apart, shared = (simulate("ideal", [120], link=link, **given) for link in ("open", "shared"))
    assert shared.latency_mean_us[0] < apart.latency_mean_us[0]


def test_frame_sizes_can_be_replaced_and_loads_have_an_end() -> None:
    small = simulate("ideal", [50], traffic="bursty", frame_sizes=[(64, 1.0)], most_events=1e6)
    assert small.protocol_share[0] / small.throughput_kpps[0] * 1e3 == pytest.approx(
        5.25 + 64 / 748, rel=0.01
    )
    # One frame of 84 byte times a frame time: renewals each 84 of them while ON lasts.
    sizes = check_frame_sizes([(64.0, 1.0)])
    starts = 1 + sum((64 / max(64, 84 * k)) ** 1.3 for k in range(1, 400_000))
    assert sending_us(((64.0, 1.0),)) == pytest.approx(starts * frame_time_us(sizes), rel=0.02)
    with pytest.raises(DataError, match=r"reaches 216\.6 Kpps"):
        simulate("ideal", [300], traffic="bursty")
    with pytest.raises(DataError, match="frame_sizes holds 0 bytes"):
        simulate("ideal", [50], traffic="bursty", frame_sizes=[(0, 1.0)])


@pytest.mark.parametrize(
    ("given", "said"),
    [({"seed": -1}, "seed is -1"), ({"replications": 1}, "replications is 1"),
     ({"precision": 0}, "precision is 0"), ({"threads": 0}, "threads is 0")],
)  # fmt: skip
def test_bad_effort_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        simulate("ideal", [50], **given)


def test_mser_drops_the_transient() -> None:
    level = np.random.default_rng(1).normal(10, 1, 400)
    rising = np.concatenate([np.linspace(0, 10, 60), level])
    assert 45 <= truncation(rising) <= 75
    assert truncation(level) < 40
