"""One core's per-interrupt log: columns that add up to the model's counts, and their text."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.sample.parameters import TSC_KHZ

Counts = NDArray[np.int64]
Reals = NDArray[np.float64]

NIC_COLUMNS: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")
CUMULATIVE: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
SLEEP: Final = ("c0", "c1", "c1e", "c3", "c6", "c7")
TICKS_US: Final = TSC_KHZ / 1000
_SAMPLE_TICKS: Final = TSC_KHZ
_OUTSIDE_LINES: Final = 12
_OUTSIDE_PACE: Final = 0.05
_UNTHROTTLED_US: Final = 0.7
_BLOCK_LINES: Final = 200_000

Variant = Literal["linux", "linux_17", "ebbrt", "devicelog"]
_SHORT: Final = (*NIC_COLUMNS, *CUMULATIVE, "c3", "c6", "c7", "joules", "tsc")
_COLUMNS: Final[dict[Variant, tuple[str, ...]]] = {
    "linux": (*NIC_COLUMNS, *CUMULATIVE, *SLEEP[1:], "joules", "tsc"),
    "linux_17": (*NIC_COLUMNS, *CUMULATIVE, *SLEEP, "joules", "tsc"),
    "ebbrt": _SHORT,
    "devicelog": _SHORT,
}
_EBBRT_HEADER: Final = (
    "i rx_desc rx_bytes tx_desc tx_bytes instructions cycles ref_cycles llc_miss"
    " c3 c6 c7 joules timestamp\n"
)
_DEVICELOG_HEADER: Final = (
    "i rxdesc rxbytes txdesc txbytes ins cyc refcyc llcm C3 C6 C7 JOULE TSC\n"
)


@dataclass(frozen=True, slots=True)
class PackageEnergy:
    """One package's energy counter; its cores read it when they sample.

    Attributes:
        start_tsc, end_tsc: The window, in which it advances by `units`.
        first_unit: The counter at the window's start.
        turns, phase: Waves of its pace in the window.
    """

    start_tsc: int
    end_tsc: int
    units: float
    first_unit: int
    turns: int
    phase: float

    def read(self, tsc: Counts) -> Counts:
        """Return the 32-bit counter at some ticks, energy units."""
        share = (tsc - self.start_tsc) / (self.end_tsc - self.start_tsc)
        units = np.floor(self.units * _waved(share, 0.2, self.turns, self.phase, 0.8))
        return (self.first_unit + units.astype(np.int64)) % 2**32


@dataclass(frozen=True, slots=True)
class CoreShare:
    """What one core did in the window.

    Attributes:
        first_tsc, last_tsc: Its first and last interrupt in the window.
        counts: Totals by column: `interrupts`, the NIC columns, the counters, the sleep states.
        delays_us, delay_share: Least times between interrupts, and the share of each.
        trip_ticks: Ticks of a round trip (closed loop): sending and receiving alternate in it.
    """

    first_tsc: int
    last_tsc: int
    counts: Mapping[str, int]
    delays_us: tuple[float, ...]
    delay_share: tuple[float, ...]
    trip_ticks: float | None


def core_columns(
    share: CoreShare, energy: PackageEnergy, is_linux: bool, rng: np.random.Generator
) -> dict[str, Counts]:
    """Make one core's log: lines before, in and after the window.

    Between the first and the last line in the window, which both carry counters, the counters
    advance by exactly `share.counts`; the lines in the window number `counts["interrupts"]` and
    their descriptors and bytes add up to the counts. Samples lie at least 1 ms apart.

    Args:
        is_linux: Sleep states are running totals; those of the library OS are per sample.

    Returns:
        Columns by name, int64, all of one length: `tsc`, NIC_COLUMNS, CUMULATIVE, SLEEP, `joules`;
        counters are 0 on lines that are no sample.
    """
    inside = _interrupt_ticks(share, rng)
    # A few lone interrupts before and after the window, more than 1 ms apart.
    gaps = rng.integers(int(1.1 * _SAMPLE_TICKS), 3 * _SAMPLE_TICKS, (2, _OUTSIDE_LINES))
    before = share.first_tsc - np.cumsum(gaps[0])[::-1]
    after = share.last_tsc + np.cumsum(gaps[1])
    tsc = np.concatenate([before, inside, after])
    sampled = np.concatenate(
        [
            np.arange(_OUTSIDE_LINES),
            _OUTSIDE_LINES + _sample_lines(inside),
            np.arange(len(tsc) - _OUTSIDE_LINES, len(tsc)),
        ]
    )

    def on_lines(values: Counts, lines: Counts | slice) -> Counts:
        column = np.zeros(len(tsc), dtype=np.int64)
        column[lines] = values
        return column

    window = slice(_OUTSIDE_LINES, _OUTSIDE_LINES + len(inside))
    columns = {
        name: on_lines(values, window) for name, values in _packets(share, inside, rng).items()
    }
    at = tsc[sampled]
    progress = (at - share.first_tsc) / (share.last_tsc - share.first_tsc)
    for name in (*CUMULATIVE, *SLEEP):
        total = share.counts.get(name, 0)
        turns, phase = int(rng.integers(2, 9)), float(rng.uniform(0, 6))
        values = np.rint(total * _waved(progress, 0.3, turns, phase, _OUTSIDE_PACE))
        advanced = values.astype(np.int64)
        if name in CUMULATIVE or is_linux:
            advanced = advanced + (total and int(rng.integers(10**9, 10**11)))
        else:
            advanced = np.diff(advanced, prepend=advanced[:1])
            advanced[: _OUTSIDE_LINES + 1] = 0
        columns[name] = on_lines(advanced, sampled)
    return columns | {"tsc": tsc, "joules": on_lines(energy.read(at), sampled)}


def _waved(x: Reals, swing: float, turns: int, phase: float, outside_pace: float) -> Reals:
    """Bend a ramp from (0, 0) to (1, 1), which rises and keeps its ends; a line outside."""
    inside, turn = np.clip(x, 0, 1), 2 * np.pi * turns
    bent = inside + swing * (np.sin(turn * inside + phase) - np.sin(phase)) / turn
    return bent + (x - inside) * outside_pace


def _interrupt_ticks(share: CoreShare, rng: np.random.Generator) -> Counts:
    """Place the window's interrupts: the first and last as given, gaps no shorter than the delay.

    Fewer than wanted where that many do not fit.
    """
    window = share.last_tsc - share.first_tsc
    wanted = max(share.counts["interrupts"] - 1, 1)
    least = np.ceil(np.maximum(share.delays_us, _UNTHROTTLED_US) * TICKS_US) + 1
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


def _sample_lines(ticks: Counts) -> Counts:
    """Choose the lines that carry counters: the first, the next 1 ms later and so on, the last."""
    lines = [0]
    last = len(ticks) - 1
    while (line := int(np.searchsorted(ticks, ticks[lines[-1]] + _SAMPLE_TICKS))) < last:
        lines.append(line)
    while len(lines) > 1 and ticks[last] - ticks[lines[-1]] < _SAMPLE_TICKS:
        lines.pop()
    return np.array([*lines, last])


def _packets(share: CoreShare, ticks: Counts, rng: np.random.Generator) -> dict[str, Counts]:
    """Deal descriptors and bytes out to the interrupts, in proportion to the time they cover."""
    gaps = np.diff(ticks, prepend=ticks[0] - TICKS_US)
    columns: dict[str, Counts] = {}
    for way in ("rx", "tx"):
        weights = gaps * rng.uniform(0.2, 1.8, len(gaps))
        if share.trip_ticks is not None:
            is_sending = (ticks - share.first_tsc) / share.trip_ticks % 1 < 0.5
            weights = weights * np.where(is_sending == (way == "tx"), 1.0, 0.02)
        columns[f"{way}_desc"] = _deal(share.counts[f"{way}_desc"], weights)
        size = columns[f"{way}_desc"] * rng.uniform(0.9, 1.1, len(gaps))
        columns[f"{way}_bytes"] = _deal(share.counts[f"{way}_bytes"], size)
    return columns


def _deal(total: int, weights: Reals) -> Counts:
    """Split a whole number by weights into whole numbers that add up to it."""
    ends = np.cumsum(weights)
    if ends[-1] == 0:
        return np.zeros(len(weights), dtype=np.int64)
    ends = np.floor(total * (ends / ends[-1]) + 1e-9).astype(np.int64)
    return np.diff(ends, prepend=0)


def write_log(
    path: Path,
    variant: Variant,
    columns: dict[str, Counts],
    first_line: int = 0,
    printed_s: float = 0.0,
) -> None:
    """Write a log in a variant that a real system wrote.

    Args:
        variant: 16 or 17 columns without a header as Linux has them for memcached and node.js, 14
            with one (library OS), or 14 under kernel prefixes and two headings, the first entry
            without counts (`dmesg_devicelog`).
        first_line: Number of the first line.
        printed_s: Kernel time at which the driver printed a `dmesg_devicelog`, seconds.
    """
    entries = len(columns["tsc"])
    heading = _EBBRT_HEADER if variant == "ebbrt" else ""
    frame = pl.DataFrame({"i": np.arange(first_line, first_line + entries)})
    if variant == "devicelog":
        stamps = _kernel_prefixes(printed_s + 1.07e-6 * np.arange(entries + 2))
        heading = f"{stamps[0]} Core=1 itr_cnt={entries}\n{stamps[1]} {_DEVICELOG_HEADER}"
        frame = frame.insert_column(0, stamps[2:].alias("prefix"))
        without = {
            name: np.concatenate([[0], columns[name][1:]])
            for name in _SHORT
            if name not in ("joules", "tsc")
        }
        columns = columns | without
    frame = frame.with_columns(pl.Series(name, columns[name]) for name in _COLUMNS[variant])
    with path.open("wb") as file:
        file.write(heading.encode())
        for block in frame.iter_slices(_BLOCK_LINES):
            block.write_csv(file, include_header=False, separator=" ", quote_style="never")


def _kernel_prefixes(stamps_s: np.ndarray) -> pl.Series:
    """Format kernel times as `[ 2283.800345]`."""
    micros = np.rint(stamps_s * 1e6).astype(np.int64)
    frame = pl.DataFrame({"s": micros // 1_000_000, "us": micros % 1_000_000})
    seconds = pl.col("s").cast(pl.String).str.pad_start(5)
    fraction = pl.col("us").cast(pl.String).str.zfill(6)
    return frame.select(prefix=pl.format("[{}.{}]", seconds, fraction))["prefix"]
