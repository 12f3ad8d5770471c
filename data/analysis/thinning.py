"""Deterministic choice of fewer points to draw, without losing required ones."""

import numpy as np

_GOLDEN = 0.6180339887498949


def thin(count: int, limit: int, keep: np.ndarray) -> np.ndarray:
    """Choose which of `count` points to draw.

    Points in `keep` (frontier members, best settings) always stay. A low-discrepancy sequence over
    their order picks the others, so that each group keeps its share and equal input gives equal
    points.

    Args:
        count: Number of points.
        limit: Maximum number of points to draw; `keep` may exceed it.
        keep: Indices that must stay, any order, shape (k,).

    Returns:
        Sorted indices, shape (m,), m <= max(limit, k).
    """
    if count <= limit:
        return np.arange(count)
    rank = (np.arange(count) * _GOLDEN) % 1.0
    rank[keep] = -1.0
    size = max(limit, np.unique(keep).size)
    return np.sort(np.argpartition(rank, size - 1)[:size])
