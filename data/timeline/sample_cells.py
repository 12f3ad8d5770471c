"""Counter samples shared out over bins: what was counted between two of them came evenly."""

import numpy as np

from data.timeline.time_cells import COVERED_NS, Cells, covered_ns


def share_samples(
    place: np.ndarray,
    t_ns: np.ndarray,
    dt_ns: np.ndarray,
    steps: dict[str, np.ndarray],
    cores: int,
    edges: np.ndarray,
) -> Cells:
    """Share samples out over bins.

    Args:
        place: Of the sample's core, 0 to below `cores`, shape (n,).
        t_ns: Never falling, shape (n,).
        dt_ns: Since the core's sample before; NaN for its first, which only starts the count.
        steps: What was counted since then, float64; NaN where a core does not measure it.
        edges: First nanosecond of each bin, and the window's end.

    Returns:
        Cells named as `steps`, and COVERED_NS. A core that measured nothing in these rows is NaN
        throughout; a bin without a sample around it has 0 and is not covered.
    """
    names = list(steps)
    found = np.full((len(names), len(edges) - 1, cores), np.nan)
    kept = np.flatnonzero(~np.isnan(dt_ns))
    kept = kept[np.argsort(place[kept].astype(np.int16), kind="stable")]
    present, firsts = np.unique(place[kept], return_index=True)
    spans = np.full((cores, 2), np.nan)
    if len(kept) and names:
        lasts = kept[np.append(firsts[1:], len(kept)) - 1]
        spans[present, 0] = (t_ns - dt_ns)[kept[firsts]]
        spans[present, 1] = t_ns[lasts]
        table = np.stack([steps[name][kept] for name in names])
        missing = np.isnan(table)
        is_measured = ~np.logical_and.reduceat(missing, firsts, axis=1)
        table[missing] = 0
        counted = _counted_at(t_ns[kept], dt_ns[kept], table, firsts, edges)
        in_bins = np.diff(counted, axis=2)
        in_bins[~is_measured] = np.nan
        found[:, :, present] = in_bins.transpose(0, 2, 1)
    values = dict(zip(names, found, strict=True))
    return Cells(edges, values | {COVERED_NS: covered_ns(edges, spans)})


def _counted_at(
    t_ns: np.ndarray, dt_ns: np.ndarray, steps: np.ndarray, firsts: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    """What each core's counters had come to at some times, on straight lines between samples.

    Args:
        steps: Shape (quantities, n), samples of each core together and in time order.
        firsts: Where each core's samples begin.

    Returns:
        Float64, shape (quantities, cores, edges); only differences within a core mean something.
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
    # Each core has a point more than steps: where its first step began.
    at = behind - order[:, None]
    counted: np.ndarray = total[:, at - 1]
    counted += (total[:, at] - counted) * share
    return counted
