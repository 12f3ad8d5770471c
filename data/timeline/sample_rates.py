"""Counter samples divided over bins, and the rates between them: minimum and maximum by core."""

import numpy as np

from data.schema import EXTREMES
from data.timeline.time_cells import COVERED_NS, Cells, bin_of, covered_ns

_HOW = dict(zip(EXTREMES, (np.fmin, np.fmax), strict=True))


def rate_extremes(
    core_index: np.ndarray,
    t_ns: np.ndarray,
    dt_ns: np.ndarray,
    steps: dict[str, np.ndarray],
    rates: tuple[str, ...],
    cores: int,
    edges: np.ndarray,
) -> dict[str, np.ndarray]:
    """Find the extremes of rates in any equal bins, as in `overview` but not rounded.

    A rate counts in all bins from that of the previous sample to that of its own.

    Args:
        core_index: Index of each sample's core, 0 to below `cores`, shape (n,).
        t_ns: Never falling, shape (n,).
        dt_ns: Time since the core's previous sample; NaN for its first.
        steps: Counts since then, float64, shape (n,) each; NaN if not measured.
        rates: Some of RATES.
        edges: First nanosecond of each bin, from `equal_edges`, and the window's end.

    Returns:
        `min_` and `max_` of each rate, float64, shape (bins, cores); NaN without a rate.
    """
    measured = np.flatnonzero(dt_ns > 0)
    measured = measured[np.argsort(core_index[measured].astype(np.int16), kind="stable")]
    bins = len(edges) - 1
    lines = {f"{end}_{name}": np.full((cores, bins), np.nan) for name in rates for end in EXTREMES}
    if len(measured) and rates:
        dt = dt_ns[measured]
        table = np.stack([_rate(name, steps, measured, dt) for name in rates])
        cells, low, high = _samples_by_cell(core_index[measured], t_ns[measured], dt, cores, edges)
        for end, how in _HOW.items():
            extremes = _range_extremes(table, low, high, how)
            for name, values in zip(rates, extremes, strict=True):
                lines[f"{end}_{name}"].ravel()[cells] = values
    return {name: values.T for name, values in lines.items()}


def _rate(
    name: str, steps: dict[str, np.ndarray], measured: np.ndarray, dt: np.ndarray
) -> np.ndarray:
    if name == "power_w":
        return steps["energy_uj"][measured] * 1e3 / dt
    if name != "ipc":
        return steps[name.removesuffix("_per_s")][measured] * 1e9 / dt
    cycles = steps["cycles"][measured]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cycles > 0, steps["instructions"][measured] / cycles, np.nan)


def _samples_by_cell(
    core_index: np.ndarray, t_ns: np.ndarray, dt: np.ndarray, cores: int, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the samples, sorted by core and time, whose rate counts in each cell.

    Returns:
        Numbers of the cells with any, by core and bin; their first sample; the index after their
        last sample.
    """
    # One extra column before and one after the bins, for intervals that exceed the window.
    columns = len(edges) + 1
    first, last = (np.searchsorted(edges, ends, side="right") for ends in (t_ns - dt, t_ns))
    is_at_end = t_ns == edges[-1]
    last[is_at_end] = bin_of(edges[-1:], edges)[0] + 1
    row = core_index.astype(np.int64) * columns
    asked = (np.arange(cores)[:, None] * columns + np.arange(1, columns - 1)).ravel()
    low = np.searchsorted(row + last, asked, side="left")
    high = np.searchsorted(row + first, asked, side="right")
    cells = np.flatnonzero(high > low)
    return cells, low[cells], high[cells]


def _range_extremes(
    table: np.ndarray, low: np.ndarray, high: np.ndarray, how: np.ufunc
) -> np.ndarray:
    """Return extremes over ranges of a table's columns, each `low` to `high`, exclusive, not empty.

    Each range is covered by two ranges whose length is a power of two, built by doubling.
    """
    ranges = np.empty((len(table), len(low)))
    octave = np.frexp(high - low)[1] - 1
    for power in range(int(octave.max(initial=-1)) + 1):
        at = np.flatnonzero(octave == power)
        first = table.take(low[at], axis=1)
        ranges[:, at] = how(first, table.take(high[at] - (1 << power), axis=1), out=first)
        table = how(table[:, : -(1 << power)], table[:, 1 << power :])
    return ranges


def share_samples(
    core_index: np.ndarray,
    t_ns: np.ndarray,
    dt_ns: np.ndarray,
    steps: dict[str, np.ndarray],
    cores: int,
    edges: np.ndarray,
) -> Cells:
    """Divide samples over bins.

    Args:
        core_index: Index of each sample's core, 0 to below `cores`, shape (n,).
        t_ns: Never falling, shape (n,).
        dt_ns: Time since the core's previous sample; NaN for its first, which only starts the
            count.
        steps: Counts since the previous sample, float64; NaN if a core does not measure it.
        edges: First nanosecond of each bin, and the window's end.

    Returns:
        Cells named as `steps`, and COVERED_NS. A core that measured nothing in these rows is NaN
        in all bins; a bin outside all sample intervals has 0 and COVERED_NS 0.
    """
    names = list(steps)
    shares = np.full((len(names), len(edges) - 1, cores), np.nan)
    measured = np.flatnonzero(~np.isnan(dt_ns))
    measured = measured[np.argsort(core_index[measured].astype(np.int16), kind="stable")]
    present, firsts = np.unique(core_index[measured], return_index=True)
    spans = np.full((cores, 2), np.nan)
    if len(measured) and names:
        lasts = measured[np.append(firsts[1:], len(measured)) - 1]
        spans[present, 0] = (t_ns - dt_ns)[measured[firsts]]
        spans[present, 1] = t_ns[lasts]
        table = np.stack([steps[name][measured] for name in names])
        missing = np.isnan(table)
        is_measured = ~np.logical_and.reduceat(missing, firsts, axis=1)
        table[missing] = 0
        counted = _counted_at(t_ns[measured], dt_ns[measured], table, firsts, edges)
        in_bins = np.diff(counted, axis=2)
        in_bins[~is_measured] = np.nan
        shares[:, :, present] = in_bins.transpose(0, 2, 1)
    values = dict(zip(names, shares, strict=True))
    return Cells(edges, values | {COVERED_NS: covered_ns(edges, spans)})


def _counted_at(
    t_ns: np.ndarray, dt_ns: np.ndarray, steps: np.ndarray, firsts: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    """Interpolate each core's cumulative counters at some times, linearly between samples.

    Args:
        steps: Shape (quantities, n), sorted by core, then time.
        firsts: Index of each core's first sample.

    Returns:
        Float64, shape (quantities, cores, edges); only differences within a core are meaningful.
    """
    points = np.insert(t_ns.astype(np.float64), firsts, t_ns[firsts] - dt_ns[firsts])
    total = np.zeros((len(steps), steps.shape[1] + 1))
    np.cumsum(steps, axis=1, out=total[:, 1:])
    order = np.arange(len(firsts))
    begins = firsts + order
    ends = np.append(begins[1:], len(points))
    behind = np.stack(
        [
            np.clip(begin + np.searchsorted(points[begin:end], edges), begin + 1, end - 1)
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]
    )
    before = points[behind - 1]
    share = np.clip((edges - before) / np.maximum(points[behind] - before, 1), 0, 1)
    # Each core has one point more than steps: the start of its first step.
    at = behind - order[:, None]
    counted: np.ndarray = total[:, at - 1]
    counted += (total[:, at] - counted) * share
    return counted
