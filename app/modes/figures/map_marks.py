"""Marks of the map of winners: axes over indices of values, hatching, space for a legend."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from app.kit.encodings import axis_title, legend_row

# Size of the map's drawing area in a window of 1440 x 900; hatching and labels are fitted to it.
WIDTH_PX: Final = 600.0
HEIGHT_PX: Final = 290.0
CHARACTER_PX: Final = 6.2
_LEGEND_ROW_PX: Final = 18.0
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


def legend_height_px(labels: Sequence[str], width_px: float) -> float:
    """Return the height of a horizontal legend, whose columns are as wide as its widest entry."""
    widths_px = [len(label) * CHARACTER_PX + 46 for label in labels]
    if sum(widths_px) <= width_px:
        return _LEGEND_ROW_PX
    entries_per_row = max(1, int(width_px // max(widths_px)))
    return _LEGEND_ROW_PX * -(-len(labels) // entries_per_row)


def legend_below() -> dict[str, Any]:
    """Place a legend along the lower edge of the figure."""
    return legend_row(0.005, "bottom")


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
