"""Choose fewer points to draw: the same ones each time, and all that must stay."""

import numpy as np

_GOLDEN = 0.6180339887498949


def thin(count: int, limit: int, keep: np.ndarray) -> np.ndarray:
    """Choose which of `count` points to draw.

    Those in `keep` (frontier members, best settings) always stay; the others are picked by a
    low-discrepancy sequence over their order, so that each group keeps its share and two calls
    give the same points.

    Args:
        count: How many points there are.
        limit: How many may be drawn; `keep` may exceed it.
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
