"""Counter samples divided over bins; counts are spread evenly between two samples."""

import numpy as np

from data.timeline.time_cells import COVERED_NS, Cells, covered_ns


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
