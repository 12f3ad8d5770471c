"""Metrics of a run's per-interrupt log, and its distributions over the whole window.

`ingest add` counts while it reads a log, `ingest derive` from the files of a run in an older lake;
both give their counts to `log_metrics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from data.analysis.log_bins import LIMIT_SHARE, slot_starts, slots_near
from data.schema import DISTRIBUTIONS, HISTOGRAM_QUANTITIES, LOG_METRICS

# Rows of the counts by size: those of `histograms`, and descriptors.
SIZES: Final = (*HISTOGRAM_QUANTITIES, "rx_desc", "tx_desc")
# Further quantity of `distributions`: power in POWER_NS, in slots of half a watt.
POWER: Final = "power_w"
# Further ones that say when: sums of columns of `overview` over all cores, in SERIES_BINS equal
# parts of the window. Bytes are received and sent ones, energy is in whole microjoules.
SERIES: Final = {
    "interrupts_over_time": ("interrupts",),
    "bytes_over_time": ("rx_bytes", "tx_bytes"),
    "energy_over_time": ("energy_uj",),
}
SERIES_BINS: Final = 64
BURST_NS: Final = {"dispersion_1ms": 1_000_000, "dispersion_100ms": 100_000_000}
POWER_NS: Final = 10_000_000
# The fewest windows whose variance says something.
_LEAST_WINDOWS: Final = 10
_MOST_WINDOWS: Final = 1 << 22


class BurstCounts:
    """Counts interrupts of a run in windows of one length; a last window that is cut is left out.

    Args:
        length_ns: Of the run.
    """

    def __init__(self, width_ns: int, length_ns: int) -> None:
        self._width_ns = width_ns
        self._windows = length_ns // width_ns
        self._at = self._open = self._total = self._squares = 0

    def add(self, t_ns: np.ndarray) -> None:
        """Count further interrupts, int64, rising, none before those so far."""
        if not len(t_ns):
            return
        first, last = (int(t) // self._width_ns for t in (t_ns[0], t_ns[-1]))
        if last - first < len(t_ns):
            windows = np.arange(first, last + 1)
            begins = np.searchsorted(t_ns, windows[1:] * self._width_ns)
        else:  # Few interrupts in a long time.
            windows, begins = np.unique(t_ns // self._width_ns, return_index=True)
            begins = begins[1:]
        counts = np.diff(begins, prepend=0, append=len(t_ns))
        if first == self._at:
            counts[0] += self._open
        else:
            self._close(np.array([self._at]), np.array([self._open]))
        self._close(windows[:-1], counts[:-1])
        self._at, self._open = last, int(counts[-1])

    def _close(self, windows: np.ndarray, counts: np.ndarray) -> None:
        whole = counts[windows < self._windows]
        self._total += int(whole.sum())
        self._squares += int((whole * whole).sum())

    def dispersion(self) -> float | None:
        """Return variance over mean of the counts, once all are added; None for few windows."""
        self._close(np.array([self._at]), np.array([self._open]))
        self._open = 0
        if self._windows < _LEAST_WINDOWS or not self._total:
            return None
        mean = self._total / self._windows
        return self._squares / self._windows / mean - mean


class PowerWindows:
    """Power of a run in windows of POWER_NS, from the energy steps of one core a package.

    The energy between two samples is divided by time, as in `overview`.

    Args:
        length_ns: Of the run. One over 11 hours has no windows: they would take too much memory.
    """

    def __init__(self, length_ns: int) -> None:
        windows = length_ns // POWER_NS
        self._edges = np.arange(windows + 1 if windows <= _MOST_WINDOWS else 0) * POWER_NS
        self._energy_uj: dict[int, np.ndarray] = {}
        self._last: dict[int, tuple[int, float]] = {}

    def add(
        self, core: np.ndarray, t_ns: np.ndarray, dt_ns: np.ndarray, energy_uj: np.ndarray
    ) -> None:
        """Add further steps, shape (n,) each, in time order; each ended at `t_ns`."""
        for core_number in np.unique(core).tolist():
            own = core == core_number
            begin_ns, begin_uj = self._last.get(core_number, (int((t_ns - dt_ns)[own][0]), 0.0))
            times = np.concatenate([[begin_ns], t_ns[own]])
            energy = begin_uj + np.concatenate([[0.0], np.cumsum(energy_uj[own])])
            totals = self._energy_uj.setdefault(core_number, np.full(len(self._edges), np.nan))
            passed = slice(*np.searchsorted(self._edges, [times[0], times[-1] + 1]))
            totals[passed] = np.interp(self._edges[passed], times, energy)
            self._last[core_number] = int(times[-1]), float(energy[-1])

    def power_w(self) -> np.ndarray:
        """Return the power of all packages in the windows that all samples cover, float64."""
        if not self._energy_uj:
            return np.empty(0)
        steps = np.sum([np.diff(totals) for totals in self._energy_uj.values()], axis=0)
        power: np.ndarray = steps[np.isfinite(steps)] * 1e3 / POWER_NS
        return power


@dataclass(frozen=True, slots=True)
class LogCounts:
    """What a run's log was counted to.

    Attributes:
        sizes: Counts by slot of `log_bins`, all cores, int64, shape (5, SLOTS), rows as `SIZES`.
        dispersion: Index of dispersion, by metric.
        power_w: From `PowerWindows`.
        series: By a name of SERIES, int64, shape (SERIES_BINS,).
    """

    sizes: np.ndarray
    dispersion: Mapping[str, float | None]
    power_w: np.ndarray
    series: Mapping[str, np.ndarray]


def over_time(bins: np.ndarray) -> np.ndarray:
    """Sum a run's bins, shape (cores, n), to its series; a bin wider than a part is spread."""
    count = bins.shape[1]
    until = np.concatenate([[0.0], np.cumsum(bins.sum(axis=0, dtype=np.float64))])
    edges = np.arange(SERIES_BINS + 1) * (count / SERIES_BINS)
    whole: np.ndarray = np.diff(np.rint(np.interp(edges, np.arange(count + 1), until)))
    return whole.astype(np.int64)


def log_metrics(row: Mapping[str, Any], counts: LogCounts) -> dict[str, float | None]:
    """Compute `LOG_METRICS` of a run; None for what its log does not tell.

    Args:
        row: Its row of `runs`, with `cores`.
    """
    sizes = dict(zip(SIZES, counts.sizes, strict=True))
    values: dict[str, float | None] = dict(counts.dispersion)
    for percent in (1, 50, 90, 99):
        gap_ns = slot_quantile(sizes["gap_ns"], percent / 100)
        values[f"gap_p{percent}_us"] = None if gap_ns is None else gap_ns / 1e3
    for way in ("rx", "tx"):
        for unit in ("bytes", "desc"):
            for percent in (50, 99):
                name = f"interrupt_{way}_p{percent}_{unit}"
                values[name] = slot_quantile(sizes[f"{way}_{unit}"], percent / 100)
    if itr_us := row.get("itr_us"):
        values["gap_at_limit_share"] = share_near(sizes["gap_ns"], itr_us * 1e3)
    power_w = _whole_power(row, counts)
    if len(power_w) >= _LEAST_WINDOWS:
        values |= dict(
            zip(("power_p5_w", "power_p95_w"), np.quantile(power_w, [0.05, 0.95]), strict=True)
        )
    values |= _over_cores(row)
    return {
        name: None if values.get(name) is None else float(values[name] or 0) for name in LOG_METRICS
    }


def distribution_rows(row: Mapping[str, Any], counts: LogCounts) -> pa.Table:
    """Return the rows of `distributions` of a run."""
    half_watts = np.bincount(np.floor(_whole_power(row, counts) * 2).astype(np.int64))
    series = dict(counts.series)
    if not _is_metered(row):
        series["energy_over_time"] = series["energy_over_time"][:0]
    bin_ns = row["duration_s"] * 1e9 / SERIES_BINS
    tables = []
    for name, of_slot in (
        *zip(SIZES, counts.sizes, strict=True), (POWER, half_watts), *series.items(),
    ):  # fmt: skip
        # A series also has the parts of the window without any.
        slots = np.arange(len(of_slot)) if name in SERIES else np.flatnonzero(of_slot)
        low, high = (slot_values(name, slots + after) for after in (0, 1))
        if name in SERIES:
            low, high = low * bin_ns, high * bin_ns
        texts = [[text] * len(slots) for text in (row["run_id"], name)]
        columns = [*texts, slots.astype(np.int32), low, high, of_slot[slots]]
        tables.append(pa.table(columns, schema=DISTRIBUTIONS))
    return pa.concat_tables(tables)


def slot_values(quantity: str, slots: np.ndarray) -> np.ndarray:
    """Return the least value of each slot of a quantity: ns, bytes, descriptors or W, float64.

    Those of a series are numbered.
    """
    if quantity == POWER:
        return slots / 2
    if quantity in SERIES:
        return slots.astype(np.float64)
    return slot_starts(slots).astype(np.float64)


def slot_quantile(counts: np.ndarray, share: float) -> float | None:
    """Return the value at a rank, the middle of its slot: off by 6 % at most, exact below 16.

    Args:
        counts: By slot of `log_bins`, shape (SLOTS,).
    """
    total = int(counts.sum())
    if not total:
        return None
    rank = max(int(np.ceil(share * total)), 1)
    slot = int(np.searchsorted(np.cumsum(counts), rank))
    low, beyond = slot_starts([slot, slot + 1]).tolist()
    return (low + beyond - 1) / 2


def share_near(counts: np.ndarray, value: float) -> float | None:
    """Return the share of the counts in slots within LIMIT_SHARE of a value; None for no counts."""
    total = counts.sum()
    near = slice(*slots_near(value, LIMIT_SHARE))
    return float(counts[near].sum() / total) if total else None


def _whole_power(row: Mapping[str, Any], counts: LogCounts) -> np.ndarray:
    """Return the power of the windows if all packages of the run are in it, else none.

    A counter that runs backwards, as a meter's glitch, gives a window below 0: left out.
    """
    return counts.power_w[counts.power_w >= 0] if _is_metered(row) else np.empty(0)


def _is_metered(row: Mapping[str, Any]) -> bool:
    packages: dict[Any, bool] = {}
    for core in row.get("cores") or ():
        measured = packages.get(core["package"], False)
        packages[core["package"]] = measured or core.get("energy_j") is not None
    is_whole = bool(packages) and all(packages.values())
    return is_whole and "missing_core" not in (row["flags"] or ())


def _over_cores(row: Mapping[str, Any]) -> dict[str, float | None]:
    cores = row.get("cores") or ()
    values: dict[str, float | None] = {}
    interrupts = [core["interrupts"] for core in cores if core.get("interrupts") is not None]
    if len(interrupts) > 1 and any(interrupts):
        values["core_imbalance"] = max(interrupts) * len(interrupts) / sum(interrupts)
    awake = [core["ref_cycles"] / core["tsc_hz"] for core in cores if core.get("ref_cycles")]
    if awake and len(awake) == len(cores) and row.get("duration_s"):
        values["busy_share"] = sum(awake) / len(cores) / row["duration_s"]
    return values
