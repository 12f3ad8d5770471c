"""Independent replications: warm-up, intervals, when to stop.

Every replication draws from three streams of its own (arrivals, protocol work, interrupts), keyed
by seed, arrival rate and its number. Schemes at the same rate and seed share these streams, so that
their differences are sharper than the schemes are; they are then not independent.
"""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np

from data.analysis.spreads import mean_spreads
from data.errors import DataError
from data.models.simulation.adaptation import FIRST_PROFILE, MOST_US, set_profile
from data.models.simulation.bursts import check_frame_sizes
from data.models.simulation.kernel import (
    BATCH,
    BINS_PER_OCTAVE,
    LATENCY_BINS,
    LEAST_EXPONENT,
    begin,
    run,
)
from data.models.simulation.machine import (
    BURSTY,
    DIM,
    IXGBE,
    JOINT,
    TOTALS,
    Machine,
    new_state,
    reset_totals,
)
from data.models.simulation.traffic import (
    check_load,
    mean_off_us,
    new_sources,
)

# Packets of the first warm-up; doubled until MSER-5 truncates it in its first half.
_WARM_UP: Final = 2_000
_MOST_DOUBLINGS: Final = 7
_WARM_UPS_LONG: Final = 5
_SAME_MEAN: Final = 0.01
# Random numbers of each stream that are drawn ahead.
_DRAWS: Final = 4_096
# Events between two looks at the clock.
_EVENTS_A_STEP: Final = 2e6
_PERCENTILES: Final = {"latency_p50_us": 0.5, "latency_p99_us": 0.99, "latency_p999_us": 0.999}


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to simulate; see `Scheme.solve`.

    Raises:
        DataError: A value is out of range.
    """

    seed: int
    replications: int
    precision: float
    most_events: float
    time_limit_s: float | None
    threads: int

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("replications", 2), ("threads", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise DataError(f"{name} is {value!r}; it must be a whole number from {least}")
        for name in ("precision", "most_events", "time_limit_s"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise DataError(f"{name} is {value!r}; it must be above 0")


@dataclass(frozen=True, slots=True)
class Simulated:
    """Measurements of each replication, by name, shape (rates, replications).

    Rates are in packets per microsecond. For `is_slow`, `stopped` and `events` see
    `SimulatedAnswer`.
    """

    samples: dict[str, np.ndarray]
    is_slow: np.ndarray
    stopped: tuple[str, ...]
    events: np.ndarray

    def mean(self, name: str) -> np.ndarray:
        """Return the means over replications, shape (rates,)."""
        return np.asarray(self.samples[name].mean(axis=1))

    def half_width(self, name: str) -> np.ndarray:
        """Return half of each mean's 95 % interval, shape (rates,)."""
        values = self.samples[name]
        n = np.full(len(values), values.shape[1])
        return mean_spreads(n, values.std(axis=1, ddof=1), is_interval=True)


def simulate(
    machine: Machine,
    rates: np.ndarray,
    effort: Effort,
    frame_sizes: Sequence[tuple[float, float]] | None = None,
) -> Simulated:
    """Simulate a machine at some arrival rates, packets per microsecond.

    Raises:
        DataError: Bursty traffic cannot reach a rate, or a frame size is refused.
    """
    sizes = check_frame_sizes(frame_sizes)
    if machine.traffic == BURSTY:
        check_load(machine, rates, sizes)
    limit = effort.time_limit_s
    deadline = math.inf if limit is None else time.monotonic() + limit

    def at_rate(rate: float) -> tuple[list[dict[str, float]], bool, str, float]:
        return _simulate_rate(machine, rate, effort, sizes, deadline)

    if effort.threads == 1:
        answers = [at_rate(rate) for rate in rates.tolist()]
    else:
        with ThreadPoolExecutor(effort.threads) as pool:
            answers = list(pool.map(at_rate, rates.tolist()))
    names = answers[0][0][0]
    return Simulated(
        {name: np.array([[rep[name] for rep in reps] for reps, *_ in answers]) for name in names},
        np.array([is_slow for _, is_slow, _, _ in answers]),
        tuple(stopped for _, _, stopped, _ in answers),
        np.array([events for *_, events in answers]),
    )


class _Replication:
    """One run of a machine that can go on."""

    def __init__(self, machine: Machine, rate: float, key: tuple[int, int], sizes: np.ndarray):
        seed, number = key
        bits = int(np.float64(rate).view(np.uint64))
        self.state = new_state(machine, rate)
        if machine.traffic == BURSTY:
            self.state["mean_off"] = mean_off_us(rate, machine.reading, sizes)
        if machine.adapts == DIM:
            set_profile(self.state[0], FIRST_PROFILE)
        elif machine.adapts == IXGBE:
            self.state["delay_us"], self.state["is_latency"] = MOST_US, 1
        self._arrivals = np.zeros(machine.ring)
        self._copies = np.zeros(machine.ring)
        self._traffic = (new_sources(), sizes[:, 0].copy(), np.cumsum(sizes[:, 1]))
        self._streams = [
            np.random.Generator(
                np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(bits, number, purpose)))
            )
            for purpose in range(3)
        ]
        self._draws = np.stack([one.standard_exponential(_DRAWS) for one in self._streams])
        self.counts = np.zeros(LATENCY_BINS, np.int64)
        self._machine = machine

    def begin(self, apart_us: float) -> None:
        """Begin with an empty ring, or with a full one whose packets came so far apart."""
        begin(self.state, apart_us, self._arrivals, self._copies, self._traffic, self._draws)

    def go_on(self, packets: float, most_events: float, series: np.ndarray) -> None:
        """Serve so many packets more, or stop after so many events."""
        state = self.state
        served, events = state["served"][0] + packets, state["events"][0] + most_events
        while state["served"][0] < served and state["events"][0] < events:
            self._refill()
            run(
                state, served, events, self._arrivals, self._copies, self.counts, series,
                self._traffic, self._draws,
            )  # fmt: skip

    def _refill(self) -> None:
        """Draw anew in place of what was used, where less than half of a stream is left."""
        for number, (stream, draws) in enumerate(zip(self._streams, self._draws, strict=True)):
            used = int(self.state[f"drawn_{number}"][0])
            if used > _DRAWS // 2:
                left = _DRAWS - used
                draws[:left] = draws[used:].copy()
                stream.standard_exponential(out=draws[left:])
                self.state[f"drawn_{number}"] = 0

    def reset(self) -> None:
        # What the adaptive delays compare with is counted from the reset on.
        for sample, total in (("sample_packets", "served"), ("sample_bytes", "served_bytes")):
            self.state[sample] -= self.state[total]
        reset_totals(self.state)
        self.counts[:] = 0

    def measured(self) -> dict[str, float]:
        s = {name: float(self.state[name][0]) for name in ("now", "since", *TOTALS)}
        time_us = s["now"] - s["since"]
        urgent, work = s["urgent_time"], s["work_time"]
        if self._machine.setup == JOINT:
            # Of the first service, this part is the packet's own.
            own = self._machine.service_us / (
                self._machine.service_us + self._machine.register_us + self._machine.interrupt_us
            )
            urgent, work = urgent + (1 - own) * s["first_time"], work + own * s["first_time"]
        return {
            "throughput_kpps": s["served"] / time_us,
            "cpu_left": 1 - (s["urgent_time"] + s["work_time"] + s["first_time"]) / time_us,
            "interrupt_share": urgent / time_us,
            "protocol_share": work / time_us,
            "latency_mean_us": s["latency_sum"] / s["served"],
            "loss_share": s["lost"] / max(s["arrived"], 1.0),
            "interrupts_per_s": s["raised"] / time_us,
            "offered_kpps": s["arrived"] / time_us,
            **percentiles(self.counts),
        }


def percentiles(counts: np.ndarray) -> dict[str, float]:
    """Return p50, p99 and p99.9 of latencies counted in bins; within a bin they are even."""
    cumulated = np.cumsum(counts)
    quantiles = {}
    for name, share in _PERCENTILES.items():
        wanted = share * cumulated[-1]
        cell = int(np.searchsorted(cumulated, wanted))
        octave, part = divmod(cell, BINS_PER_OCTAVE)
        before = cumulated[cell] - counts[cell]
        within = (wanted - before) / counts[cell] if counts[cell] else 0.0
        low = 2.0 ** (LEAST_EXPONENT + octave)
        quantiles[name] = float(low * (1 + (part + within) / BINS_PER_OCTAVE))
    return quantiles


def truncation(series: np.ndarray) -> int:
    """Return how many batches MSER-5 drops at the beginning of a series of batch means.

    It is the number that makes the standard error of the mean of what is left smallest.

    Args:
        series: Batch means, shape (n,), n at least 10.

    Source: White, Simulation 69(6), 1997; White, Cobb, Spratt, Winter Simulation Conference 2000.
    """
    n = len(series)
    left = n - np.arange(n)
    sums = np.cumsum(series[::-1])[::-1]
    squares = np.cumsum((series**2)[::-1])[::-1]
    errors = (squares / left - (sums / left) ** 2) / left
    return int(np.argmin(errors[: n - 5]))


def _simulate_rate(
    machine: Machine, rate: float, effort: Effort, sizes: np.ndarray, deadline: float
) -> tuple[list[dict[str, float]], bool, str, float]:
    """Simulate one rate: measurements of each replication, is it slow, why it ended, its events."""
    apart_us = _full_ring_us(machine, rate, effort.seed, sizes)
    runs = [
        _Replication(machine, rate, (effort.seed, number), sizes)
        for number in range(effort.replications)
    ]
    most_each = effort.most_events / effort.replications
    for replication in runs:
        replication.begin(apart_us)
    warm_up, is_settled = _warm_up(runs, most_each / 2)
    for replication in runs:
        replication.reset()
    packets, stopped = float(_WARM_UPS_LONG * warm_up), ""
    while not stopped:
        for replication in runs:
            _serve(replication, packets, most_each, deadline)
        measured = [replication.measured() for replication in runs]
        latencies = np.array([values["latency_mean_us"] for values in measured])
        n, sd = np.array([len(latencies)]), np.array([latencies.std(ddof=1)])
        if mean_spreads(n, sd, is_interval=True)[0] / latencies.mean() <= effort.precision:
            stopped = "precision"
        elif time.monotonic() > deadline:
            stopped = "time"
        elif any(replication.state["events"][0] >= most_each for replication in runs):
            stopped = "events"
        packets = runs[0].state["served"][0]
    is_slow = stopped != "precision" or not is_settled
    events = float(sum(replication.state["events"][0] for replication in runs))
    return measured, is_slow, stopped, events


def _full_ring_us(machine: Machine, rate: float, seed: int, sizes: np.ndarray) -> float:
    """Return the time between packets of a ring that stays full; 0 if it half empties."""
    pilot = _Replication(machine, rate, (seed, 0), sizes)
    pilot.begin(machine.service_us)
    packets = max(_WARM_UP, 10 * machine.ring)
    pilot.go_on(packets, math.inf, np.zeros(0))
    pilot.reset()
    pilot.go_on(packets, math.inf, np.zeros(0))
    state = pilot.state[0]
    time_us = float(state["now"] - state["since"])
    return time_us / packets if state["packet_time"] / time_us > machine.ring / 2 else 0.0


def _warm_up(runs: list[_Replication], most_events: float) -> tuple[int, bool]:
    """Run until MSER-5 finds the end of the warm-up in the first half of what was run.

    A truncation that does not change the mean is of noise, such as that of a ring that stays full.
    """
    packets, done = _WARM_UP, 0
    series = np.zeros((len(runs), (_WARM_UP << _MOST_DOUBLINGS) // BATCH))
    while True:
        for replication, own in zip(runs, series, strict=True):
            replication.go_on(
                packets - done, max(most_events - replication.state["events"][0], 1.0), own
            )
        done = int(min(replication.state["served"][0] for replication in runs))
        lengths = series[:, : done // BATCH].mean(axis=0) / BATCH
        if len(lengths) < 20 or done < packets:
            return max(done, 1), False
        dropped = truncation(lengths)
        change = abs(lengths[dropped:].mean() / lengths.mean() - 1)
        if dropped <= len(lengths) // 2 or change < _SAME_MEAN:
            return packets, True
        if packets == _WARM_UP << _MOST_DOUBLINGS:
            return packets, False
        packets *= 2


def _serve(replication: _Replication, packets: float, most_events: float, deadline: float) -> None:
    nothing = np.zeros(0)
    goal = replication.state["served"][0] + packets
    while replication.state["served"][0] < goal and replication.state["events"][0] < most_events:
        left = most_events - replication.state["events"][0]
        replication.go_on(goal - replication.state["served"][0], min(_EVENTS_A_STEP, left), nothing)
        if time.monotonic() > deadline and replication.state["served"][0] > 0:
            return
