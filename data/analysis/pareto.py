"""Points that stand out: the Pareto frontier, and the least of each group."""

import numpy as np

from data.errors import DataError


def pareto_mask(energy_j: np.ndarray, latency_us: np.ndarray) -> np.ndarray:
    """Mark the runs that no other run beats in both metrics; less is better in each.

    A run is beaten if another one is at least as good in both and better in one. Any two metrics
    work; negate a metric of which more is better.

    Args:
        energy_j: First metric of each run, shape (n,), finite.
        latency_us: Second metric of each run, shape (n,), finite.

    Returns:
        Boolean mask, shape (n,). Equal points are all kept. Empty input, empty mask.

    Raises:
        DataError: Shapes differ, or a value is not finite.

    Source: Kung, Luccio, Preparata, JACM 22(4), 1975.
    """
    first, second = (np.asarray(values, dtype=float) for values in (energy_j, latency_us))
    for values in (first, second):
        if values.ndim != 1:
            raise DataError(f"a metric has shape {values.shape}, expected (n,)")
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(f"a metric is not finite: {values[where]} at index {where}")
    if first.shape != second.shape:
        raise DataError(f"metrics differ in shape: {first.shape} and {second.shape}")
    mask = np.zeros(first.size, dtype=bool)
    if not first.size:
        return mask
    # One good run beats most others in both metrics: few need a sort.
    shares = [(values - values.min()) / (np.ptp(values) or 1.0) for values in (first, second)]
    good = int(np.argmin(shares[0] + shares[1]))
    near = np.flatnonzero((first <= first[good]) | (second <= second[good]))
    first, second = first[near], second[near]
    order = np.argsort(first)
    x, y = first[order], second[order]
    starts_group = np.concatenate(([True], x[1:] > x[:-1]))
    group = np.cumsum(starts_group) - 1
    lowest_of_group = np.minimum.reduceat(y, np.flatnonzero(starts_group))
    best_before = np.concatenate(([np.inf], np.minimum.accumulate(lowest_of_group)[:-1]))
    kept = (y == lowest_of_group[group]) & (y < best_before[group])
    mask[near[order]] = kept
    return mask


def frontier(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frontier's points sorted by x, equal points once, for a step line.

    Args:
        x: First metric, shape (n,).
        y: Second metric, shape (n,).
        mask: Members, boolean, shape (n,).

    Returns:
        x and y of the points, shape (k,) each.
    """
    members = np.unique(np.column_stack((x[mask], y[mask])), axis=0)
    return members[:, 0], members[:, 1]


def least_of_groups(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the index of each group's least value; of equal values the first wins.

    Args:
        group: Group number of each point, integers, shape (n,).
        values: Values of which less is better, shape (n,); NaN where not measured.

    Returns:
        Indices in the order of the groups; groups without a measured value have none.
    """
    rows = np.flatnonzero(~np.isnan(values))
    if not len(rows):
        return rows
    keys = group[rows]
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        rows, keys = rows[order], keys[order]
    starts, measured = np.flatnonzero(np.diff(keys, prepend=-1)), values[rows]
    least = np.minimum.reduceat(measured, starts)
    least = np.flatnonzero(measured == np.repeat(least, np.diff(starts, append=len(rows))))
    return rows[least[np.flatnonzero(np.diff(keys[least], prepend=-1))]]
