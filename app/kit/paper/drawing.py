"""Functions with which figures are drawn; a figure's script holds a copy of them.

Only matplotlib and NumPy are needed, so that the script runs wherever matplotlib is.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, to_rgba_array


def fill(ax: Axes, x: np.ndarray, y: np.ndarray, **style: Any) -> None:
    """Fill areas: a value that is missing ends one."""
    cuts = np.flatnonzero(np.isnan(x) | np.isnan(y))
    parts = zip([0, *(cuts + 1)], [*cuts, len(x)], strict=True)
    corners = [np.column_stack([x[a:b], y[a:b]]) for a, b in parts if b - a > 2]
    if corners:
        ax.add_collection(PolyCollection(corners, **style), autolim=False)


def write(ax: Axes, x: np.ndarray, y: np.ndarray, text: list, colour: list, **style: Any) -> None:
    """Write a text at each point, in its colour."""
    for at_x, at_y, words, hue in zip(x, y, text, colour, strict=True):
        ax.annotate(words, (at_x, at_y), color=hue, **style)


def points(
    ax: Axes, x: np.ndarray, y: np.ndarray, area: np.ndarray, colours: dict, **style: Any
) -> None:
    """Draw points, those of one size at once, the largest first: none hides smaller ones."""
    sizes = np.unique(area)[::-1]
    for size in sizes if len(sizes) < 60 else [None]:
        rows = np.flatnonzero(area == size) if size is not None else np.arange(len(x))
        hues: dict[str, Any] = {
            key: [c[row] for row in rows] if isinstance(c, list) else c
            for key, c in colours.items()
        }
        ax.scatter(x[rows], y[rows], s=area[rows] if size is None else size, **hues, **style)


def edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges of cells, half way between their centres."""
    if len(centres) < 2:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    half = np.diff(centres) / 2
    ends = centres[:1] - half[:1], centres[-1:] + half[-1:]
    return np.concatenate([ends[0], centres[:-1] + half, ends[1]])


def mesh(ax: Axes, x: np.ndarray, y: np.ndarray, z: np.ndarray, **style: Any) -> None:
    """Draw cells; they are listed row by row, by their centres. A missing one is not drawn."""
    wide = int(np.argmax(y != y[0])) or len(y)
    cells = np.ma.masked_invalid(z.reshape(-1, wide))
    ax.pcolormesh(edges(x[:wide]), edges(y[::wide]), cells, **style)


def scale(stops: list) -> ListedColormap:
    """Return a scale of colours from its stops: pairs of a share and a colour."""
    at, colours = [share for share, _ in stops], to_rgba_array([hue for _, hue in stops])
    steps = np.linspace(0, 1, 256)
    return ListedColormap(np.column_stack([np.interp(steps, at, c) for c in colours.T]))


def bar_of(ax: Axes, colours: ListedColormap, low: float, high: float) -> None:
    """Draw a scale of colours from the bottom to the top."""
    levels = np.linspace(low, high, 65)
    middle = (levels[1:] + levels[:-1])[:, None] / 2
    ax.pcolormesh([0, 1], levels, middle, cmap=colours, vmin=low, vmax=high)
