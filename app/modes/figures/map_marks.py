"""What a map of cells is marked with: labels along its axes as room allows, hatching of cells."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

# The map's drawing area in the frame of 1440 x 900, to which hatching and labels are fitted.
WIDTH_PX: Final = 600.0
HEIGHT_PX: Final = 290.0
_CHARACTER_PX: Final = 6.2
_LINE_PX: Final = 11.5
_LEGEND_ROW_PX: Final = 18.0
_APART_PX: Final = 9.0
_LINES_MAX: Final = 40


def index_axis(labels: Sequence[str], title: str, at: list[int]) -> dict[str, Any]:
    """A numeric axis over the indices of values.

    Args:
        at: The indices that are labelled.
    """
    return {
        "type": "linear",
        "title": {"text": title, "standoff": 6, "font": {"size": 12}},
        "range": [-0.5, len(labels) - 0.5],
        "tickvals": at,
        "ticktext": [labels[i] for i in at],
        "tickfont": {"size": 10},
        "showgrid": False,
        "zeroline": False,
        "automargin": False,
    }


def labels_along_x(labels: Sequence[str]) -> list[int]:
    """Indices of the labels that have room side by side."""
    return _shown([len(label) * _CHARACTER_PX + 6 for label in labels], WIDTH_PX)


def labels_along_y(labels: Sequence[str]) -> list[int]:
    """Indices of the labels that have room one above the other."""
    return _shown([_LINE_PX] * len(labels), HEIGHT_PX)


def _shown(sizes_px: Sequence[float], room_px: float) -> list[int]:
    """Every k-th, k the least of 1, 2, 5, 10, ... that fits, and the last, often NULL's word."""
    count = len(sizes_px)
    each = room_px / max(count, 1)

    if not count:
        return []
    for step in (digit * 10**zeros for zeros in range(len(str(count))) for digit in (1, 2, 5)):
        found = [*range(0, count - 1, step)]
        while found and _overlap(sizes_px, each, found[-1], count - 1):
            found.pop()
        found.append(count - 1)
        if not any(_overlap(sizes_px, each, i, j) for i, j in pairwise(found)):
            return found
    return [count - 1]


def _overlap(sizes_px: Sequence[float], each_px: float, i: int, j: int) -> bool:
    return (j - i) * each_px < (sizes_px[i] + sizes_px[j]) / 2


def legend_height_px(labels: Sequence[str], width_px: float) -> float:
    """How high a horizontal legend becomes: its entries stand in columns as wide as the widest."""
    widths_px = [len(label) * _CHARACTER_PX + 46 for label in labels]
    if sum(widths_px) <= width_px:
        return _LEGEND_ROW_PX
    a_row = max(1, int(width_px // max(widths_px)))
    return _LEGEND_ROW_PX * -(-len(labels) // a_row)


def hatching(
    column: np.ndarray, row: np.ndarray, columns: int, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Diagonals across cells, at the same slope and distance whatever the cells' shape.

    Args:
        column: Of each cell that is hatched, shape (k,).
        row: Likewise.
        columns: Of the map; a cell is 1 wide and 1 high around its indices.
        rows: Likewise.

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
    return _one_line(x, gap), _one_line(y, gap)


def _one_line(ends: np.ndarray, gap: np.ndarray) -> np.ndarray:
    return np.concatenate([ends, gap], axis=2).ravel().astype(np.float32)
