"""One noisy replicate of what the model expects: measurements by column of `runs`, and counts."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ingest.sample.model import Outcome, Reals, Settings, expect, measured_cores
from ingest.sample.parameters import (
    MACHINE,
    NOISE,
    OPEN_LOOP,
    PARAMETERS,
    System,
    Traffic,
    Workload,
)

_PACKET_BYTES = 1448
_FRAME_BYTES = 66


def measure(
    workload: Workload,
    system: System,
    settings: Settings,
    amount: float,
    rng: np.random.Generator,
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    """Measure one noisy replicate of each run.

    Args:
        amount: Seconds that an open loop runs; requests or round trips that a closed loop makes.
        rng: Source of the noise; the same state gives the same replicates.
    Returns:
        Measurements by column name of `runs`, each of shape (n,); counts are whole numbers.
    """
    outcome = expect(workload, system, settings)
    noise = _Noise(rng, len(settings.itr_us))
    out: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {}
    if workload in OPEN_LOOP:
        duration = np.full_like(outcome.power_w, amount)
        requests = outcome.requests_hz * duration * noise(0.0005)
        out |= _noisy_quantiles(outcome.latency_us, noise)
        out["throughput_qps"] = requests / duration
    else:
        slower = noise(NOISE.time)
        duration = amount / outcome.requests_hz * slower
        requests = np.full_like(duration, amount)
        if workload == "nodejs":
            out |= _noisy_quantiles({k: v * slower for k, v in outcome.latency_us.items()}, noise)
            out["throughput_qps"] = requests / duration
    out["duration_s"] = duration
    out["energy_j"] = outcome.power_w * duration * noise(NOISE.energy)
    out["power_w"] = out["energy_j"] / duration
    out["requests"] = np.rint(requests).astype(np.int64)
    counts = _counts(workload, system, settings, outcome, requests, duration)
    interrupts = counts.pop("interrupts")
    out["interrupts"] = np.rint(interrupts * noise(0.002)).astype(np.int64)
    out |= {k: np.rint(v * noise(NOISE.counters)).astype(np.int64) for k, v in counts.items()}
    return out


class _Noise:
    """Draw lognormal factors of one shape."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self._rng, self._n = rng, n

    def __call__(self, deviation: float) -> Reals:
        return np.exp(deviation * self._rng.standard_normal(self._n))


def _noisy_quantiles(latency_us: Mapping[str, Reals], noise: _Noise) -> dict[str, Reals]:
    """Give latencies one common factor and the tail one more, and keep the quantiles in order."""
    common, tail = noise(NOISE.latency), noise(NOISE.tail)
    raised = {"latency_p90_us": 0.3, "latency_p95_us": 0.6, "latency_p99_us": 1.0}
    out = {k: v * common * tail ** raised.get(k, 0.0) for k, v in latency_us.items()}
    floor = np.zeros_like(common)
    for name in ("min", "p5", "p10", "p50", "p75", "p90", "p95", "p99"):
        column = f"latency_{name}_us"
        if column in out:
            floor = out[column] = np.maximum(out[column], floor)
    return out


def _traffic(workload: Workload, system: System) -> Traffic:
    known = PARAMETERS[system]
    return known.open[workload].traffic if workload in OPEN_LOOP else known.closed[workload].traffic


def _counts(
    workload: Workload,
    system: System,
    settings: Settings,
    outcome: Outcome,
    requests: Reals,
    duration: Reals,
) -> dict[str, Reals]:
    """Count what the hardware counters and the NIC would, over all measured cores."""
    traffic = _traffic(workload, system)
    busy_s = outcome.utilisation * duration * len(measured_cores(workload))
    size = np.nan_to_num(settings.load) if workload == "netpipe" else np.zeros_like(duration)
    packets = np.ceil(size / _PACKET_BYTES)
    counts = {
        "interrupts": outcome.interrupts_hz * duration,
        "cycles": busy_s * outcome.clock_ghz * 1e9,
        "instructions": busy_s * outcome.clock_ghz * 1e9 * traffic.ipc,
        "ref_cycles": busy_s * MACHINE.tsc_khz * 1e3,
        "llc_misses": requests * (traffic.llc_misses + size / 70),
        "rx_desc": requests * (traffic.rx_desc + packets),
        "rx_bytes": requests * (traffic.rx_bytes + size + packets * _FRAME_BYTES),
        "tx_desc": requests * (traffic.tx_desc + packets / 2),
        "tx_bytes": requests * (traffic.tx_bytes + size + packets * _FRAME_BYTES),
    }
    return counts | _sleep_counts(workload, system, outcome, duration)


def _sleep_counts(
    workload: Workload, system: System, outcome: Outcome, duration: Reals
) -> dict[str, Reals]:
    """Count entries into each sleep state: the longer the rest, the deeper the state."""
    known = PARAMETERS[system]
    work = known.open.get(workload) or known.closed[workload]
    sleeps = outcome.interrupts_hz * duration * (1 - outcome.utilisation)
    deep = outcome.rest_us / (outcome.rest_us + 400.0)
    none = np.zeros_like(sleeps)
    if not work.sleep.states:
        return {"c1": none, "c1e": none, "c3": none, "c6": none, "c7": sleeps * 0.05}
    return {
        "c1": sleeps * (1 - deep) ** 2,
        "c1e": sleeps * deep * (1 - deep),
        "c3": sleeps * deep * 0.05,
        "c6": none,
        "c7": sleeps * deep * 0.12,
    }
