"""One metric over DVFS x ITR for one system."""

from typing import Final

import numpy as np
import polars as pl

from app.kit.encodings import base_layout
from app.kit.words import dvfs_word, itr_word
from data.metrics import metric
from data.selection import ADAPTIVE, GOVERNOR
from data.units import format_digits

TEXT_MAX_CELLS: Final = 110
_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def build_heatmap(cells: pl.DataFrame, column: str, title: str, subtitle: str) -> dict:
    """Build the heatmap as a figure dictionary.

    Traces in order: the means; a cross in each cell that was not measured; a veil that the browser
    draws over what is not selected; invisible points that box and lasso can catch.

    Args:
        cells: Columns `dvfs_ghz`, `itr_us`, `mean`, `sd`, `n`; at least one row.
    """
    grid = _grid(cells)
    scale, prefix = _common_prefix(grid["mean"], metric(column).unit)
    z = grid["mean"] / scale
    x = [_tick(value, ADAPTIVE) for value in grid["itr"]]
    y = [_tick(value, GOVERNOR) for value in grid["dvfs"]]
    missing = np.argwhere(np.isnan(z))
    return {
        "data": [
            _means_trace(z, x, y, grid, scale, column, prefix),
            _missing_trace([x[j] for _, j in missing], [y[i] for i, _ in missing]),
            _veil_trace(z, x, y),
            _catcher_trace(z, x, y),
        ],
        "layout": _layout(title, subtitle, grid, column),
    }


def _grid(cells: pl.DataFrame) -> dict:
    """Return the cells as matrices: rows are DVFS values, columns ITR values, NULLs last."""
    dvfs = sorted(set(cells["dvfs_ghz"]), key=lambda v: (v is None, v))
    itr = sorted(set(cells["itr_us"]), key=lambda v: (v is None, v))
    shape = (len(dvfs), len(itr))
    grid = {name: np.full(shape, np.nan) for name in ("mean", "sd", "n")}
    for row in cells.iter_rows(named=True):
        at = dvfs.index(row["dvfs_ghz"]), itr.index(row["itr_us"])
        for name in ("mean", "sd", "n"):
            grid[name][at] = np.nan if row[name] is None else row[name]
    return {**grid, "dvfs": dvfs, "itr": itr}


def _common_prefix(values: np.ndarray, unit: str) -> tuple[float, str]:
    if unit in ("us", "GHz", "%"):
        return 1.0, ""
    top = float(np.nanmax(np.abs(values)))
    return next(((s, p) for s, p in _PREFIXES if top >= s), (1.0, ""))


def _means_trace(z, x, y, grid, scale, column, prefix) -> dict:  # type: ignore[no-untyped-def]
    measure = metric(column)
    unit = f", {prefix}{measure.unit}" if prefix + measure.unit else ""
    trace = {
        "type": "heatmap",
        "name": measure.title,
        "meta": {"kind": "cells", "scale": scale},
        "x": x,
        "y": y,
        "z": z,
        "customdata": np.stack((np.nan_to_num(grid["sd"], nan=-1), grid["n"]), axis=-1),
        "xgap": 1,
        "ygap": 1,
        "colorscale": "Viridis",
        "hoverinfo": "none",
        "colorbar": {
            "title": {"text": f"{measure.title}{unit}", "side": "right", "font": {"size": 11}},
            "thickness": 10,
            "len": 1,
            "outlinewidth": 0,
            "tickfont": {"size": 10},
        },
    }
    if z.size <= TEXT_MAX_CELLS:
        trace["text"] = [["" if np.isnan(v) else format_digits(float(v)) for v in r] for r in z]
        trace["texttemplate"] = "%{text}"
        trace["textfont"] = {"size": 10}
    return trace


def _missing_trace(x: list[str], y: list[str]) -> dict:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "not measured",
        "meta": {"kind": "missing"},
        "x": x,
        "y": y,
        "marker": {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": "#8c8c8c"}},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _veil_trace(z: np.ndarray, x: list[str], y: list[str]) -> dict:
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


def _catcher_trace(z: np.ndarray, x: list[str], y: list[str]) -> dict:
    at = np.argwhere(~np.isnan(z))
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": {"kind": "catcher"},
        "x": [x[j] for _, j in at],
        "y": [y[i] for i, _ in at],
        "marker": {"size": 1, "opacity": 0},
        "unselected": {"marker": {"opacity": 0}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _layout(title: str, subtitle: str, grid: dict, column: str) -> dict:
    axis = {"type": "category", "showgrid": False, "zeroline": False, "tickfont": {"size": 10}}
    return {
        **base_layout(title, subtitle),
        "margin": {"l": 62, "r": 8, "t": 46, "b": 44},
        "xaxis": {
            **axis,
            "title": {"text": "Interrupt delay (ITR), us", "standoff": 6, "font": {"size": 12}},
        },
        "yaxis": {**axis, "title": {"text": "DVFS, GHz", "standoff": 6, "font": {"size": 12}}},
        "dragmode": "select",
        "meta": {
            "kind": "heatmap",
            "column": column,
            "title": metric(column).title,
            "unit": metric(column).unit,
            "dvfs": grid["dvfs"],
            "itr": grid["itr"],
            "dvfs_words": [dvfs_word(v) for v in grid["dvfs"]],
            "missing": np.argwhere(np.isnan(grid["mean"])).tolist(),
            "itr_words": [itr_word(v) for v in grid["itr"]],
        },
    }


def _tick(value: float | None, null_word: str) -> str:
    """Return a category label; the axis title has the unit."""
    return null_word if value is None else f"{value:g}"
