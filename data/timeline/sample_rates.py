"""Rates between consecutive counter samples: the least and the greatest of each bin and core."""

import numpy as np

from data.schema import EXTREMES
from data.timeline.time_cells import bin_of

_HOW = dict(zip(EXTREMES, (np.fmin, np.fmax), strict=True))


def rate_extremes(
    place: np.ndarray,
    t_ns: np.ndarray,
    dt_ns: np.ndarray,
    steps: dict[str, np.ndarray],
    rates: tuple[str, ...],
    cores: int,
    edges: np.ndarray,
) -> dict[str, np.ndarray]:
    """Find the extremes of rates, as `overview` has them, but of any equal bins and not rounded.

    A rate stands in all bins from that of the sample before to that of its own.

    Args:
        place: Of the sample's core, 0 to below `cores`, shape (n,).
        t_ns: Never falling, shape (n,).
        dt_ns: Since the core's sample before; NaN for its first.
        steps: What was counted since then, float64, shape (n,) each; NaN where not measured.
        rates: Which of RATES.
        edges: First nanosecond of each bin, as `equal_edges` gives them, and the window's end.

    Returns:
        `min_` and `max_` of each rate, float64, shape (bins, cores); NaN where no rate stands.
    """
    kept = np.flatnonzero(dt_ns > 0)
    kept = kept[np.argsort(place[kept].astype(np.int16), kind="stable")]
    bins = len(edges) - 1
    found = {f"{end}_{name}": np.full((cores, bins), np.nan) for name in rates for end in EXTREMES}
    if len(kept) and rates:
        dt = dt_ns[kept]
        table = np.stack([_rate(name, steps, kept, dt) for name in rates])
        cells, low, high = _reach(place[kept], t_ns[kept], dt, cores, edges)
        for end, how in _HOW.items():
            extremes = _ranged(table, low, high, how)
            for name, values in zip(rates, extremes, strict=True):
                found[f"{end}_{name}"].ravel()[cells] = values
    return {name: values.T for name, values in found.items()}


def _rate(name: str, steps: dict[str, np.ndarray], kept: np.ndarray, dt: np.ndarray) -> np.ndarray:
    if name == "power_w":
        return steps["energy_uj"][kept] * 1e3 / dt
    if name != "ipc":
        return steps[name.removesuffix("_per_s")][kept] * 1e9 / dt
    cycles = steps["cycles"][kept]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cycles > 0, steps["instructions"][kept] / cycles, np.nan)


def _reach(
    place: np.ndarray, t_ns: np.ndarray, dt: np.ndarray, cores: int, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which samples, sorted by core and time, have a rate in which cells.

    Returns:
        Cells that have any, numbered by core and bin; the first of their samples, and the one
        behind their last.
    """
    # A column before the bins and one behind them for what begins before or ends behind.
    columns = len(edges) + 1
    first, last = (np.searchsorted(edges, ends, side="right") for ends in (t_ns - dt, t_ns))
    is_at_end = t_ns == edges[-1]
    last[is_at_end] = bin_of(edges[-1:], edges)[0] + 1
    row = place.astype(np.int64) * columns
    asked = (np.arange(cores)[:, None] * columns + np.arange(1, columns - 1)).ravel()
    low = np.searchsorted(row + last, asked, side="left")
    high = np.searchsorted(row + first, asked, side="right")
    cells = np.flatnonzero(high > low)
    return cells, low[cells], high[cells]


def _ranged(table: np.ndarray, low: np.ndarray, high: np.ndarray, how: np.ufunc) -> np.ndarray:
    """Extremes of ranges of a table's columns, each from `low` to before `high`; none is empty.

    A range is what two of a power of two's length cover; these are made by doubling.
    """
    found = np.empty((len(table), len(low)))
    octave = np.frexp(high - low)[1] - 1
    for power in range(int(octave.max(initial=-1)) + 1):
        at = np.flatnonzero(octave == power)
        first = table.take(low[at], axis=1)
        found[:, at] = how(first, table.take(high[at] - (1 << power), axis=1), out=first)
        table = how(table[:, : -(1 << power)], table[:, 1 << power :])
    return found
