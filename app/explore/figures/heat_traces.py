"""The traces of Explore's heatmap: its cells, and what lies on them."""

from typing import Any, Final

import numpy as np

from app.kit.encodings import color_bar, scatter_trace
from data.metrics import Metric
from data.units import format_digits

TEXT_MAX_CELLS: Final = 110


def means_trace(
    z: np.ndarray, x: list[str], y: list[str], grid: dict[str, Any], measure: Metric, unit: str
) -> dict[str, Any]:
    """Return the cells in colours; with their values where these are few.

    Args:
        z: Means of the cells in `unit`, shape (y, x); NaN for none.
        grid: `mean`, `sd` and `n` of the cells.
    """
    trace = {
        "type": "heatmap",
        "name": measure.title,
        "meta": {"kind": "cells"} | {name: grid[name].ravel() for name in ("mean", "sd", "n")},
        "x": x,
        "y": y,
        "z": z,
        "xgap": 1,
        "ygap": 1,
        "colorscale": "Viridis",
        "hoverinfo": "none",
        "colorbar": color_bar(measure.title_with(unit)) | {"thickness": 8},
    }
    if z.size <= TEXT_MAX_CELLS:
        trace["text"] = [["" if np.isnan(v) else format_digits(float(v)) for v in r] for r in z]
        trace["texttemplate"] = "%{text}"
        trace["textfont"] = {"size": 12}
    return trace


def missing_trace(x: list[str], y: list[str]) -> dict[str, Any]:
    """Return marks of the cells that were not measured."""
    marker = {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": "#8c8c8c"}}
    whole = {"marker": {"opacity": 1}}
    return scatter_trace("missing", x, y, name="not measured", marker=marker, unselected=whole)


def veil_trace(z: np.ndarray, x: list[str], y: list[str]) -> dict[str, Any]:
    """Return the veil over the cells that a selection leaves out; none are at first."""
    return {
        "type": "heatmap",
        "meta": {"kind": "veil"},
        "x": x,
        "y": y,
        "z": [[None] * z.shape[1] for _ in range(z.shape[0])],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "rgba(127,127,127,0.78)"], [1, "rgba(127,127,127,0.78)"]],
        "showscale": False,
        "hoverinfo": "skip",
    }


def catcher_trace(z: np.ndarray, x: list[str], y: list[str]) -> dict[str, Any]:
    """Return points without a look in the cells, which boxes and lassos select."""
    rows, columns = np.nonzero(~np.isnan(z))
    xs, ys = [x[j] for j in columns.tolist()], [y[i] for i in rows.tolist()]
    hidden = {"marker": {"opacity": 0}}
    return scatter_trace("catcher", xs, ys, marker={"size": 1, "opacity": 0}, unselected=hidden)


def unlike_trace(n: np.ndarray, at: np.ndarray, x: list[str], y: list[str]) -> list[dict[str, Any]]:
    """Return a trace that counts the runs of the cells without a mean; none where all have one."""
    xs, ys = [x[j] for _, j in at], [y[i] for i, _ in at]
    counts = [f"{n[i, j]:.0f} runs" for i, j in at]
    return [scatter_trace("unlike", xs, ys, "text", text=counts)] if len(at) else []
