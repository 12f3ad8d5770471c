"""The stated model of the sample: settings in, what a run would measure out. Pure and vectorised.

Time of work = A N / D^(1 + alpha); power of work = static + B D^(2 + beta); interrupts come no
closer than the interrupt delay; energy = power over busy time + resting power over quiet time.
README.md writes the equations out. Times are microseconds, D is GHz, work is kilocycles.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.sample.parameters import (
    MACHINE,
    OPEN_LOOP,
    PARAMETERS,
    ClosedWork,
    OpenWork,
    Sleep,
    System,
    Workload,
)

Reals = NDArray[np.float64]

# Per quantile: its share of the 99th percentile's unloaded tail and of its queueing.
_OPEN_TAIL = {"p5": -0.09, "p10": -0.06, "p50": 0.0, "p90": 0.42, "p95": 0.62, "p99": 1.0}
_OPEN_QUEUE = {"p5": 0.0, "p10": 0.0, "p50": 0.04, "p90": 0.17, "p95": 0.35, "p99": 1.0}
_CLOSED_TAIL = {"p50": 0.99, "p75": 1.01, "p90": 1.04, "p99": 1.15}
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Settings:
    """Knobs of n runs, each of shape (n,).

    Attributes:
        itr_us: Interrupt delay; NaN is the driver's adaptive policy.
        dvfs_ghz: Frequency; NaN is the governor's choice.
        rapl_w: Power limit of a package.
        load: Requests a second offered (open loop) or bytes a message (NetPIPE); NaN for node.js.
    """

    itr_us: Reals
    dvfs_ghz: Reals
    rapl_w: Reals
    load: Reals


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model expects of n runs, each of shape (n,) and without noise.

    Attributes:
        clock_ghz: Frequency while working, after governor and power limit.
        utilisation: Share of the time that a measured core works, 0 to 1.
        requests_hz: Requests (or round trips) finished a second, over all measured cores.
        interrupts_hz: Interrupts a second, over all measured cores.
        rest_us: Mean quiet time between two interrupts of a core.
        power_w: Power of the measured packages.
        latency_us: By column name of `runs`.
    """

    clock_ghz: Reals
    utilisation: Reals
    requests_hz: Reals
    interrupts_hz: Reals
    rest_us: Reals
    power_w: Reals
    latency_us: dict[str, Reals]


def measured_cores(workload: Workload) -> list[int]:
    """List the cores whose logs a run of a workload has."""
    return list(range(MACHINE.cores)) if workload in OPEN_LOOP else [1]


def expect(workload: Workload, system: System, settings: Settings) -> Outcome:
    """Say what runs with these settings would measure."""
    clock = _free_clock(workload, system, settings)
    power = np.zeros_like(clock)
    for _ in range(4):
        if workload in OPEN_LOOP:
            outcome = _open_outcome(PARAMETERS[system].open[workload], settings, clock)
        else:
            outcome = _closed_outcome(PARAMETERS[system].closed[workload], settings, clock)
        power = outcome.power_w
        limit = settings.rapl_w * _packages(workload)
        static = MACHINE.static_w * _packages(workload)
        room = np.clip((limit - static) / np.maximum(power - static, 1e-9), 0.0, 1.0)
        if np.all(room >= 0.999):
            break
        clock = clock * room ** (1 / (2 + MACHINE.beta))
    return outcome


def _packages(workload: Workload) -> int:
    return MACHINE.packages if workload in OPEN_LOOP else 1


def _free_clock(workload: Workload, system: System, settings: Settings) -> Reals:
    """Set the clock that a run would have without a power limit: as set, or the governor's."""
    chosen = np.isnan(settings.dvfs_ghz)
    fastest = np.where(chosen, MACHINE.dvfs_max_ghz, settings.dvfs_ghz)
    if not chosen.any():
        return fastest
    if workload in OPEN_LOOP:
        at_fastest = _open_outcome(PARAMETERS[system].open[workload], settings, fastest)
    else:
        at_fastest = _closed_outcome(PARAMETERS[system].closed[workload], settings, fastest)
    share = MACHINE.governor_gain * at_fastest.utilisation**MACHINE.governor_power
    span = MACHINE.dvfs_max_ghz - MACHINE.dvfs_min_ghz
    return np.where(chosen, MACHINE.dvfs_min_ghz + span * np.minimum(share, 1.0), fastest)


def _delay_us(settings: Settings) -> Reals:
    return np.where(np.isnan(settings.itr_us), MACHINE.adaptive_mean_us, settings.itr_us)


def _open_outcome(work: OpenWork, settings: Settings, clock: Reals) -> Outcome:
    """Run the open loop: utilisation, the load that fits, latency by quantile, power."""
    speed = clock ** (1 + work.alpha)
    arrivals = settings.load / MACHINE.cores * 1e-6
    delay = _delay_us(settings)
    interrupts = 1 / (delay + 1 / (work.events * arrivals))
    served_k = work.request_k + interrupts / arrivals * work.interrupt_k
    busy = arrivals * (served_k + work.wake_k) / (speed + arrivals * work.wake_k)
    fits = busy < 1
    done = np.where(
        fits, arrivals, np.maximum(speed - interrupts * work.interrupt_k, 0) / work.request_k
    )
    busy = np.minimum(busy, 1.0)
    rest = (1 - busy) / interrupts
    return Outcome(
        clock_ghz=clock,
        utilisation=busy,
        requests_hz=np.minimum(done, arrivals) * MACHINE.cores * 1e6,
        interrupts_hz=interrupts * MACHINE.cores * 1e6,
        rest_us=rest,
        power_w=_power_w(work.sleep, busy, rest, clock, MACHINE.cores, MACHINE.packages),
        latency_us=_open_latency(work, busy, speed, delay),
    )


def _open_latency(work: OpenWork, busy: Reals, speed: Reals, delay: Reals) -> dict[str, Reals]:
    """Combine a request's path, its tail and queueing, and its wait for an interrupt.

    The wait is uniform over the interrupt delay. Tail and wait are independent, so their excess
    over the path adds in quadrature. Queueing approaches `queue_limit_us`, as measured values do.
    """
    load = np.minimum(busy, 0.995)
    queue = work.queue_k * load**4 / (1 - load) ** 2 / speed
    queue = queue * work.queue_limit_us / (queue + work.queue_limit_us)
    path = work.network_us + work.path_k / speed
    latency: dict[str, Reals] = {}
    for name, share in _OPEN_TAIL.items():
        wait = int(name[1:]) / 100 * work.delay_factor * delay
        tail = max(share, 0.0) * work.tail_k / speed + _OPEN_QUEUE[name] * queue
        latency[f"latency_{name}_us"] = path * (1 + min(share, 0.0)) + np.hypot(tail, wait)
    spread = latency["latency_p90_us"] - latency["latency_p50_us"]
    latency["latency_mean_us"] = latency["latency_p50_us"] + 0.12 * spread
    latency["latency_min_us"] = 0.8 * path
    return latency


def _closed_outcome(work: ClosedWork, settings: Settings, clock: Reals) -> Outcome:
    """Run the closed loop: the round trip that its own interrupts, work and waits add up to."""
    speed = clock ** (1 + work.alpha)
    delay = _delay_us(settings)
    size = np.nan_to_num(settings.load)
    bytes_k = np.minimum(size * work.path_byte_k, work.path_limit_k)
    alone = work.fixed_us + 2 * size / work.wire_bytes_us + (work.path_k + bytes_k) / speed
    work_k = work.work_k + work.work_8k_k * (size / 8192) ** 0.72
    gap = alone / (work.events + size / work.event_bytes)
    slack = np.maximum(work.slack_us, 0) + work.slack_share * alone
    wait = work.interrupts_min * np.logaddexp(0, (delay - slack) / 2) * 2
    trip = alone + wait
    for _ in range(_ROUNDS):
        interrupts = np.maximum(trip / (delay + gap), work.interrupts_min)
        busy_us = (work_k + interrupts * work.interrupt_k) / speed
        trip = alone + wait + interrupts * work.interrupt_k / speed
        trip = np.maximum(np.maximum(trip, 1.02 * work.interrupts_min * delay), busy_us)
    busy = busy_us / trip
    rest = (trip - busy_us) / interrupts
    return Outcome(
        clock_ghz=clock,
        utilisation=busy,
        requests_hz=1e6 / trip,
        interrupts_hz=interrupts / trip * 1e6,
        rest_us=rest,
        power_w=_power_w(work.sleep, busy, rest, clock, 1, 1),
        latency_us={f"latency_{n}_us": trip * f for n, f in _CLOSED_TAIL.items()}
        | {"latency_mean_us": trip},
    )


def _power_w(
    sleep: Sleep, busy: Reals, rest_us: Reals, clock: Reals, cores: int, packages: int
) -> Reals:
    """Add up the power of the measured packages: static, working, resting, and unused cores."""
    rest = sleep.deep_w + (sleep.shallow_w - sleep.deep_w) * sleep.depth_us / (
        sleep.depth_us + rest_us
    )
    active = cores * (busy * MACHINE.busy_w + (1 - busy) * rest)
    unused = (packages * MACHINE.cores_per_package - cores) * MACHINE.deep_w
    return packages * MACHINE.static_w + (active + unused) * clock ** (2 + MACHINE.beta)
