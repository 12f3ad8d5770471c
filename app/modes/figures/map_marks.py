"""Marks of the map of winners: axes over indices of values, hatching."""

from typing import Any, Final

import numpy as np

from app.kit.encodings import axis_title

# Size of the map's drawing area in a window of 1440 x 900; hatching and labels are fitted to it.
WIDTH_PX: Final = 600.0
HEIGHT_PX: Final = 290.0
CHARACTER_PX: Final = 6.2
_APART_PX: Final = 9.0
_LINES_MAX: Final = 40


def index_axis(count: int, title: str) -> dict[str, Any]:
    """Build a numeric axis over the indices of `count` values; the browser adds the labels."""
    return {
        "type": "linear",
        "title": axis_title(title),
        "range": [-0.5, count - 0.5],
        "tickfont": {"size": 10},
        "showgrid": False,
        "zeroline": False,
        "automargin": False,
    }


def hatching(
    column: np.ndarray, row: np.ndarray, columns: int, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw diagonals across cells, with the same slope and distance for any shape of cell.

    Args:
        column: Column of each hatched cell, shape (k,).
        row: Row of each hatched cell, shape (k,).
        columns: Number of columns of the map; a cell is 1 wide and 1 high around its indices.
        rows: Number of rows of the map.

    Returns:
        x and y of one line with gaps (NaN) between the diagonals, float32; all within their cells.
    """
    width_px, height_px = WIDTH_PX / max(columns, 1), HEIGHT_PX / max(rows, 1)
    run = height_px / width_px
    lines = int(np.clip(round((width_px + height_px) / _APART_PX), 1, _LINES_MAX))
    start = np.linspace(-run, 1, lines + 2)[1:-1]
    ends_x = np.stack((np.maximum(start, 0), np.minimum(start + run, 1)), axis=1)
    ends_y = (ends_x - start[:, None]) / run
    gap = np.full((len(column), lines, 1), np.nan)
    x = column[:, None, None] + 0.96 * (ends_x - 0.5)[None]
    y = row[:, None, None] + 0.92 * (ends_y - 0.5)[None]
    return _with_gaps(x, gap), _with_gaps(y, gap)


def _with_gaps(ends: np.ndarray, gap: np.ndarray) -> np.ndarray:
    return np.concatenate([ends, gap], axis=2).ravel().astype(np.float32)
