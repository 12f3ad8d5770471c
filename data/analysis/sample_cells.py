"""Counter samples shared out over bins: what was counted between two of them came evenly."""

import numpy as np

from data.analysis.time_cells import Cells


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
        Cells named as `steps`. A core that measured nothing in these rows is NaN throughout; a bin
        without a sample around it has 0.
    """
    names = list(steps)
    order = np.argsort(place.astype(np.int16), kind="stable")
    starts = np.searchsorted(place[order], np.arange(cores + 1))
    table = np.stack([steps[name][order] for name in names]) if names else np.empty((0, 0))
    found = np.full((len(names), len(edges) - 1, cores), np.nan)
    for core in range(cores):
        of_core = slice(starts[core], starts[core + 1])
        part = order[of_core]
        found[:, :, core] = _share_core(t_ns[part], dt_ns[part], table[:, of_core], edges)
    return Cells(edges, dict(zip(names, found, strict=True)))


def _share_core(
    t_ns: np.ndarray, dt_ns: np.ndarray, steps: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    """Shape (quantities, bins)."""
    is_step = ~np.isnan(dt_ns)
    t_ns, dt_ns, steps = t_ns[is_step], dt_ns[is_step], steps[:, is_step]
    nothing = np.full((len(steps), len(edges) - 1), np.nan)
    if not len(t_ns):
        return nothing
    points = np.append(t_ns[0] - dt_ns[0], t_ns).astype(np.float64)
    total = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(np.nan_to_num(steps), axis=1)], 1)
    behind = np.clip(np.searchsorted(points, edges, side="left"), 1, len(points) - 1)
    span = np.maximum(points[behind] - points[behind - 1], 1)
    share = np.clip((edges - points[behind - 1]) / span, 0, 1)
    at = total[:, behind - 1] + (total[:, behind] - total[:, behind - 1]) * share
    is_measured = ~np.isnan(steps).all(axis=1)
    return np.where(is_measured[:, None], np.diff(at, axis=1), nothing)
