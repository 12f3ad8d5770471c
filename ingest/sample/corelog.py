"""The columns of one core's per-interrupt log, agreeing to the count with what the model said."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.sample.parameters import MACHINE

Counts = NDArray[np.int64]

NIC_COLUMNS = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
CUMULATIVE = ("instructions", "cycles", "ref_cycles", "llc_misses")
SLEEP = ("c0", "c1", "c1e", "c3", "c6", "c7")
TICKS_US = MACHINE.tsc_khz / 1000
_SAMPLE_TICKS = MACHINE.tsc_khz
_ENERGY_WRAP = 1 << 32
_OUTSIDE = 12
_OUTSIDE_PACE = 0.05
_ENERGY_PACE = 0.8
_UNTHROTTLED_US = 0.7


@dataclass(frozen=True, slots=True)
class PackageEnergy:
    """One package's energy counter as a function of time; its cores read it when they sample.

    Attributes:
        start_tsc, end_tsc: The window, in which it advances by `units`.
        first_unit: The counter at the window's start.
        swing, turns, phase: Its pace varies by this share, so many times in the window.
    """

    start_tsc: int
    end_tsc: int
    units: float
    first_unit: int
    swing: float
    turns: int
    phase: float

    def read(self, tsc: Counts) -> Counts:
        """The 32-bit counter at some ticks, energy units."""
        share = (tsc - self.start_tsc) / (self.end_tsc - self.start_tsc)
        inside = _waved(np.clip(share, 0, 1), self.swing, self.turns, self.phase)
        beyond = (share - np.clip(share, 0, 1)) * _ENERGY_PACE
        units = np.floor(self.units * (inside + beyond)).astype(np.int64)
        return (self.first_unit + units) % _ENERGY_WRAP


@dataclass(frozen=True, slots=True)
class CoreShare:
    """What one core did in the window.

    Attributes:
        first_tsc, last_tsc: Its first and last interrupt in the window.
        counts: Totals by column: `interrupts`, the NIC columns, the counters, the sleep states.
        delays_us: Least time between interrupts, and the share of the gaps that keep it.
        trip_ticks: Ticks of a round trip (closed loop): sending and receiving alternate in it.
    """

    core: int
    first_tsc: int
    last_tsc: int
    counts: Mapping[str, int]
    delays_us: tuple[float, ...]
    delay_share: tuple[float, ...]
    trip_ticks: float | None


def core_columns(
    share: CoreShare,
    energy: PackageEnergy,
    cumulative_sleep: bool,
    rng: np.random.Generator,
) -> dict[str, Counts]:
    """Make one core's log: lines before, in and after the window.

    Between the first and the last line in the window, which both carry counters, the counters
    advance by exactly `share.counts`; the lines in the window number `counts["interrupts"]` and
    their descriptors and bytes add up to the counts. Samples lie at least 1 ms apart.

    Args:
        cumulative_sleep: Sleep states as running totals (Linux) or per sample (library OS).

    Returns:
        Columns by name, int64, all of one length: `tsc`, NIC_COLUMNS, CUMULATIVE, SLEEP, `joules`;
        counters are 0 on lines that are no sample.
    """
    inside = _interrupt_ticks(share, rng)
    before, after = _outside_ticks(share, rng)
    tsc = np.concatenate([before, inside, after])
    columns = {"tsc": tsc} | {name: np.zeros(len(tsc), dtype=np.int64) for name in NIC_COLUMNS}
    window = slice(len(before), len(before) + len(inside))
    for name, values in _packets(share, inside, rng).items():
        columns[name][window] = values
    sampled = np.concatenate(
        [np.arange(len(before)), len(before) + _sample_lines(inside), _after_lines(tsc, after)]
    )
    at = tsc[sampled]
    columns["joules"] = _scatter(energy.read(at), sampled, len(tsc))
    place = (at - share.first_tsc) / (share.last_tsc - share.first_tsc)
    for name in (*CUMULATIVE, *SLEEP):
        total = share.counts.get(name, 0)
        advanced = _advance(total, place, rng)
        if name in CUMULATIVE or cumulative_sleep:
            advanced = advanced + (total and int(rng.integers(10**9, 10**11)))
        else:
            advanced = np.diff(advanced, prepend=advanced[:1])
            advanced[: len(before) + 1] = 0
        columns[name] = _scatter(advanced, sampled, len(tsc))
    return columns


def _waved(x: NDArray[np.float64], swing: float, turns: int, phase: float) -> NDArray[np.float64]:
    """Bend a ramp from (0, 0) to (1, 1): rising for a swing under 1, the ends kept."""
    turn = 2 * np.pi * turns
    return x + swing * (np.sin(turn * x + phase) - np.sin(phase)) / turn


def _advance(total: int, place: NDArray[np.float64], rng: np.random.Generator) -> Counts:
    """Advance a counter by a total over place 0 to 1, slowly outside."""
    inside = np.clip(place, 0, 1)
    bent = _waved(inside, 0.3, int(rng.integers(2, 9)), float(rng.uniform(0, 6)))
    beyond = (place - inside) * _OUTSIDE_PACE
    return np.rint(total * (bent + beyond)).astype(np.int64)


def _interrupt_ticks(share: CoreShare, rng: np.random.Generator) -> Counts:
    """Place the window's interrupts: the first and last as given, gaps no shorter than the delay.

    Fewer than wanted where that many do not fit.
    """
    window = share.last_tsc - share.first_tsc
    delays = np.maximum(share.delays_us, _UNTHROTTLED_US)
    wanted = max(share.counts["interrupts"] - 1, 1)
    least = np.ceil(delays * TICKS_US) + 1
    if len(least) == 1:
        gaps = np.full(min(wanted, int(window // least[0])), least[0])
    else:
        gaps = rng.choice(least, size=wanted, p=share.delay_share)
        while gaps.sum() > window:
            gaps[np.flatnonzero(gaps == least.max())[: len(gaps) // 100 + 1]] = least.min()
    spare = rng.standard_exponential(len(gaps))
    gaps = gaps + spare * ((window - gaps.sum()) / spare.sum())
    ticks = share.first_tsc + np.floor(np.cumsum(gaps)).astype(np.int64)
    ticks[-1] = share.last_tsc
    return np.concatenate([[share.first_tsc], ticks])


def _outside_ticks(share: CoreShare, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Place a few lone interrupts before and after the window, more than 1 ms apart."""
    gaps = rng.integers(int(1.1 * _SAMPLE_TICKS), 3 * _SAMPLE_TICKS, (2, _OUTSIDE))
    before = share.first_tsc - np.cumsum(gaps[0])[::-1]
    return before, share.last_tsc + np.cumsum(gaps[1])


def _sample_lines(ticks: Counts) -> Counts:
    """Choose the lines that carry counters: the first, the next 1 ms later and so on, the last."""
    lines = [0]
    last = len(ticks) - 1
    while (line := int(np.searchsorted(ticks, ticks[lines[-1]] + _SAMPLE_TICKS))) < last:
        lines.append(line)
    while len(lines) > 1 and ticks[last] - ticks[lines[-1]] < _SAMPLE_TICKS:
        lines.pop()
    return np.array([*lines, last])


def _after_lines(tsc: Counts, after: Counts) -> Counts:
    return np.arange(len(tsc) - len(after), len(tsc))


def _packets(share: CoreShare, ticks: Counts, rng: np.random.Generator) -> dict[str, Counts]:
    """Deal descriptors and bytes out to the interrupts, in proportion to the time they cover."""
    gaps = np.diff(ticks, prepend=ticks[0] - TICKS_US)
    sent: NDArray[np.bool_] | None = None
    if share.trip_ticks is not None:
        sent = (ticks - share.first_tsc) / share.trip_ticks % 1 < 0.5
    out: dict[str, Counts] = {}
    for way in ("rx", "tx"):
        weights = gaps * rng.uniform(0.2, 1.8, len(gaps))
        if sent is not None:
            weights = weights * (np.where(sent == (way == "tx"), 1.0, 0.02))
        out[f"{way}_desc"] = _deal(share.counts[f"{way}_desc"], weights)
        size = out[f"{way}_desc"] * rng.uniform(0.9, 1.1, len(gaps))
        out[f"{way}_bytes"] = _deal(share.counts[f"{way}_bytes"], size)
    return out


def _deal(total: int, weights: NDArray[np.float64]) -> Counts:
    """Split a whole number by weights into whole numbers that add up to it."""
    ends = np.cumsum(weights)
    if ends[-1] == 0:
        return np.zeros(len(weights), dtype=np.int64)
    ends = np.floor(total * (ends / ends[-1]) + 1e-9).astype(np.int64)
    return np.diff(ends, prepend=0)


def _scatter(values: Counts, lines: Counts, n: int) -> Counts:
    out = np.zeros(n, dtype=np.int64)
    out[lines] = values
    return out
