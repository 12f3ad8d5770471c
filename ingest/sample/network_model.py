"""The network runs' model: settings to expected values, and one noisy replicate of them.

docs/sample.md writes the equations out. Time and power of work by the clock are the energy model
of `data.models`, waiting for a core is its M/D/1/B queue.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from data.models.queues import md1b
from ingest.sample import parameters as p
from ingest.sample.parameters import CORES, OPEN_LOOP, PACKAGES, System, Work, Workload

Reals = NDArray[np.float64]

_QUANTILES: Final = (5, 10, 50, 75, 90, 95, 99)
# A closed loop's latencies as shares of the mean round trip.
_TRIP_SHARE: Final = dict(zip(_QUANTILES, (0.93, 0.95, 0.99, 1.02, 1.05, 1.08, 1.2), strict=True))
_TAIL: Final = {90: 0.3, 95: 0.6, 99: 1.0}
_INTERRUPTS_A_TRIP: Final = 2.0
_ROUNDS: Final = 8
_PACKET_BYTES: Final = 1448
_FRAME_BYTES: Final = 66


@dataclass(frozen=True, slots=True)
class Settings:
    """Knobs of n runs, each of shape (n,).

    Attributes:
        itr_us: Interrupt delay; NaN is the driver's adaptive policy.
        dvfs_ghz: Clock; NaN is the governor's choice.
        rapl_w: Power limit of a package.
        load: Requests a second (open loop) or bytes a message (NetPIPE); NaN for node.js.
    """

    itr_us: Reals
    dvfs_ghz: Reals
    rapl_w: Reals
    load: Reals


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model expects of n runs, each of shape (n,), without noise.

    Attributes:
        clock_ghz: After governor and power limit.
        utilisation: Share of the time that a measured core works, 0 to 1.
        requests_hz, interrupts_hz: Over all measured cores.
        power_w: Of the measured packages.
        latency_us: By column name of `runs`.
    """

    clock_ghz: Reals
    utilisation: Reals
    requests_hz: Reals
    interrupts_hz: Reals
    power_w: Reals
    latency_us: dict[str, Reals]


def measured_cores(workload: Workload) -> list[int]:
    """List the cores whose logs a run of a workload has."""
    return list(range(CORES)) if workload in OPEN_LOOP else [1]


def expect(workload: Workload, system: System, settings: Settings) -> Outcome:
    """Return what runs with these settings would measure."""
    work = p.WORK[system][workload]
    outcome_at = _open_outcome if workload in OPEN_LOOP else _closed_outcome
    packages = PACKAGES if workload in OPEN_LOOP else 1
    is_governed = np.isnan(settings.dvfs_ghz)
    clock = np.where(is_governed, p.FASTEST_GHZ, settings.dvfs_ghz)
    outcome = outcome_at(work, settings, clock)
    if is_governed.any():
        share = np.minimum(p.GOVERNOR_GAIN * outcome.utilisation**p.GOVERNOR_POWER, 1.0)
        chosen = p.SLOWEST_GHZ + (p.FASTEST_GHZ - p.SLOWEST_GHZ) * share
        clock = np.where(is_governed, chosen, clock)
        outcome = outcome_at(work, settings, clock)
    limit_w, static_w = settings.rapl_w * packages, p.PACKAGE.static_w * packages
    for _ in range(_ROUNDS):
        is_over = outcome.power_w > 1.001 * limit_w
        if not is_over.any():
            break
        room = np.clip((limit_w - static_w) / (outcome.power_w - static_w), 0.0, 1.0)
        clock = np.where(is_over, clock * room ** (1 / (2 + work.core.beta)), clock)
        outcome = outcome_at(work, settings, clock)
    return outcome


def _delay_us(settings: Settings) -> Reals:
    mean_us = float(np.dot(p.ADAPTIVE_US, p.ADAPTIVE_SHARE))
    return np.where(np.isnan(settings.itr_us), mean_us, settings.itr_us)


def _open_outcome(work: Work, settings: Settings, clock: Reals) -> Outcome:
    """Queue the given load at each core; what finds the ring full is lost."""
    delay = _delay_us(settings)
    arrivals = settings.load / CORES * 1e-6
    interrupts = 1 / (delay + 1 / (work.events * arrivals))
    work_us = work.request_us + interrupts / arrivals * work.interrupt_us
    service = work_us * work.core.curve(clock / p.FASTEST_GHZ).latency_us
    load = arrivals * service
    loads, waits, losses = _queue_table()
    wait, lost = (
        np.interp(load, loads, values) * by for values, by in ((waits, service), (losses, 1))
    )
    latency: dict[str, Reals] = {}
    for percent in _QUANTILES:
        # An exponential tail: P(wait > t) = load exp(-t load / mean wait); its end is a full ring.
        beyond = np.log(np.maximum(load / (1 - percent / 100), 1.0))
        queued = np.minimum(wait / load * beyond, p.RING * service)
        # The wait for an interrupt is uniform over the delay, and independent of the queue's.
        waited = np.hypot(queued, percent / 100 * delay)
        latency[f"latency_p{percent}_us"] = work.fixed_us + service + waited
    latency["latency_mean_us"] = work.fixed_us + service + wait + delay / 2
    latency["latency_min_us"] = work.fixed_us + 0.8 * service
    busy = np.minimum(load * (1 - lost), 1.0)
    return Outcome(
        clock_ghz=clock,
        utilisation=busy,
        requests_hz=arrivals * (1 - lost) * CORES * 1e6,
        interrupts_hz=interrupts * CORES * 1e6,
        power_w=_power_w(work, busy, clock, CORES, PACKAGES),
        latency_us=latency,
    )


@cache
def _queue_table() -> tuple[Reals, Reals, Reals]:
    """Return loads, and the mean wait (in service times) and the loss of M/D/1/B at each."""
    loads = np.concatenate([np.linspace(0.002, 1.2, 300), np.linspace(1.25, 6.0, 60)])
    queues = [md1b(load, p.RING) for load in loads]
    losses = np.array([queue.full for queue in queues])
    sojourn = np.array([queue.mean_packets for queue in queues]) / (loads * (1 - losses))
    return loads, np.maximum(sojourn - 1, 0.0), losses


def _closed_outcome(work: Work, settings: Settings, clock: Reals) -> Outcome:
    """Add up a round trip: the wire, its work, its interrupts, and its waits for them."""
    delay, size = _delay_us(settings), np.nan_to_num(settings.load)
    stretch = work.core.curve(clock / p.FASTEST_GHZ).latency_us
    alone = work.fixed_us + 2 * size / work.wire_bytes_us + work.request_us * stretch
    gap = alone / (work.events + size / work.event_bytes)
    wait = _INTERRUPTS_A_TRIP * 2 * np.logaddexp(0, (delay - work.slack_us) / 2)
    trip = alone + wait
    for _ in range(_ROUNDS):
        interrupts = np.maximum(trip / (delay + gap), _INTERRUPTS_A_TRIP)
        interrupts_us = interrupts * work.interrupt_us * stretch
        busy_us = (work.request_us + size * work.byte_us) * stretch + interrupts_us
        least_us = np.maximum(1.02 * _INTERRUPTS_A_TRIP * delay, busy_us)
        trip = np.maximum(alone + wait + interrupts_us, least_us)
    busy = busy_us / trip
    latency = {f"latency_p{percent}_us": trip * share for percent, share in _TRIP_SHARE.items()}
    return Outcome(
        clock_ghz=clock,
        utilisation=busy,
        requests_hz=1e6 / trip,
        interrupts_hz=interrupts / trip * 1e6,
        power_w=_power_w(work, busy, clock, 1, 1),
        latency_us=latency | {"latency_mean_us": trip},
    )


def _power_w(work: Work, busy: Reals, clock: Reals, cores: int, packages: int) -> Reals:
    share = clock / p.FASTEST_GHZ
    core_w = busy * work.core.work_w(share) + (1 - busy) * work.core.sleep_w
    unused = packages * CORES / PACKAGES - cores
    return packages * p.PACKAGE.work_w(share) + cores * core_w + unused * p.UNUSED_CORE_W


def measure(
    workload: Workload, system: System, settings: Settings, amount: float, rng: np.random.Generator
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    """Measure one noisy replicate of each run.

    Args:
        amount: Seconds that an open loop runs; requests or round trips that a closed loop makes.
        rng: Source of the noise; the same state gives the same replicates.

    Returns:
        Measurements by column name of `runs`, each of shape (n,); counts are whole numbers.
    """
    outcome, n = expect(workload, system, settings), len(settings.itr_us)

    def noise(deviation: float) -> Reals:
        return np.exp(deviation * rng.standard_normal(n))

    is_open = workload in OPEN_LOOP
    slower = np.ones(n) if is_open else noise(p.TIME_NOISE)
    rate_hz = outcome.requests_hz * noise(0.0005) if is_open else outcome.requests_hz / slower
    duration = np.full(n, amount) if is_open else amount / rate_hz
    requests = rate_hz * duration
    out: dict[str, Reals] = {}
    if workload != "netpipe":
        # The latencies have a common factor, the tail one more; the quantiles stay in order.
        common, tail = slower * noise(p.LATENCY_NOISE), noise(p.TAIL_NOISE)
        out = {name: values * common for name, values in outcome.latency_us.items()}
        least = out.get("latency_min_us", np.zeros(n))
        for percent in _QUANTILES:
            name = f"latency_p{percent}_us"
            least = out[name] = np.maximum(out[name] * tail ** _TAIL.get(percent, 0.0), least)
        out["throughput_qps"] = rate_hz
    energy_j = outcome.power_w * duration * noise(p.ENERGY_NOISE)
    counts = {
        "requests": requests,
        "interrupts": outcome.interrupts_hz * duration * noise(p.INTERRUPT_NOISE),
    }
    for name, values in _counts(workload, system, settings, outcome, requests, duration).items():
        counts[name] = values * noise(p.COUNTER_NOISE)
    whole = {name: np.rint(values).astype(np.int64) for name, values in counts.items()}
    measured = {"duration_s": duration, "energy_j": energy_j, "power_w": energy_j / duration}
    return {**out, **measured, **whole}


def _counts(
    workload: Workload,
    system: System,
    settings: Settings,
    outcome: Outcome,
    requests: Reals,
    duration: Reals,
) -> dict[str, Reals]:
    """Count what hardware counters, NIC and sleep states would, over all measured cores."""
    work, cores = p.WORK[system][workload], len(measured_cores(workload))
    size = np.nan_to_num(settings.load) if workload == "netpipe" else np.zeros_like(duration)
    packets = np.ceil(size / _PACKET_BYTES)
    framed = size + packets * _FRAME_BYTES
    more = (size / 70, packets, framed, packets / 2, framed)
    names = ("llc_misses", "rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
    busy_s = outcome.utilisation * duration * cores
    sleeps = outcome.interrupts_hz * duration * (1 - outcome.utilisation)
    # The longer the rest between two interrupts of a core, the deeper its state.
    rest_us = (1 - outcome.utilisation) * cores / outcome.interrupts_hz * 1e6
    deep = rest_us / (rest_us + 400.0)
    is_linux = system != "ebbrt_tuned"
    return {
        "cycles": busy_s * outcome.clock_ghz * 1e9,
        "instructions": busy_s * outcome.clock_ghz * 1e9 * work.ipc,
        "ref_cycles": busy_s * p.TSC_KHZ * 1e3,
        **{
            name: requests * (each + beyond)
            for name, each, beyond in zip(names, work.traffic, more, strict=True)
        },
        "c1": is_linux * sleeps * (1 - deep) ** 2,
        "c1e": is_linux * sleeps * deep * (1 - deep),
        "c3": is_linux * sleeps * deep * 0.05,
        "c6": 0 * sleeps,
        "c7": sleeps * (deep * 0.12 if is_linux else 0.05),
    }
