"""Heatmaps of request size by IO depth, one panel a completion mode, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.kit.competitors import readable_on
from app.storage.figures.base import PAGE_INK, QUIET, Scene, axis, layout, selectable
from app.storage.figures.scales import Scale, hue_at
from app.storage.views import View
from data.metrics import metric
from data.selection import Value
from data.units import MINUS, format_bytes, format_digits

_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_GAP: Final = 0.025
# Texts stand in cells where they fit side by side in the narrowest window.
_CHAR_PX: Final = 5.2
_PAD_PX: Final = 3.0
_ROOM_PX: Final = 360.0
_LARGE_MAX_COLUMNS: Final = 9
_VEIL: Final = "rgba(127,127,127,0.78)"
_VEILED_TEXT: Final = "rgba(255,255,255,0.4)"


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured cell.

    Attributes:
        rows: Configurations behind it.
        words: Lines of its hover.
    """

    mode: str | None
    request_bytes: int
    io_depth: int
    value: float
    rows: tuple[int, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Colors:
    """The scale of a picture of cells.

    Attributes:
        around: The value in the middle of the scale; None for a scale from least to most.
    """

    scale: Scale
    around: float | None = None


def build_grids(
    cells: Sequence[Cell], view: View, scene: Scene, subtitle: str, colors: Colors, knobs: list[str]
) -> dict[str, Any]:
    """Build the panels as one figure. A cross was not measured.

    Args:
        cells: At least one.
        knobs: What a click on a cell selects by, of its configurations' knobs.
    """
    modes = [mode for mode in scene.modes.values if any(cell.mode == mode for cell in cells)]
    sizes = sorted({cell.request_bytes for cell in cells})
    depths = sorted({cell.io_depth for cell in cells})
    unit = metric(view.y).unit
    scale, prefix = _common_prefix([abs(cell.value) for cell in cells], unit)
    shown = prefix + unit.removeprefix("1") if prefix else unit
    color_axis = _color_axis(cells, scale, colors, shown)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for number, mode in enumerate(modes):
        mine = [cell for cell in cells if cell.mode == mode]
        data += _panel(mine, number, sizes, depths, scale, knobs, len(modes), color_axis)
        axes |= _axes(number, len(modes), sizes, depths)
        notes.append(_heading(number, scene, mode))
    title = f"{view.title}, {shown}" if shown else view.title
    return {
        "data": data,
        "layout": layout(
            title,
            subtitle,
            scene,
            view.name,
            **axes,
            annotations=notes,
            coloraxis=color_axis,
            margin={"l": 62, "r": 10, "t": 62, "b": 38},
            hoverdistance=90,
        ),
    }


def _common_prefix(values: list[float], unit: str) -> tuple[float, str]:
    if unit == "W":
        return 1.0, ""
    top = max(values)
    return next(((s, p) for s, p in _PREFIXES if top >= s), (1.0, ""))


def _panel(
    cells: Sequence[Cell],
    number: int,
    sizes: list[int],
    depths: list[int],
    scale: float,
    knobs: list[str],
    panels: int,
    color_axis: dict[str, Any],
) -> list[dict[str, Any]]:
    shape = (len(sizes), len(depths))
    at = [(sizes.index(cell.request_bytes), depths.index(cell.io_depth)) for cell in cells]
    z = np.full(shape, np.nan)
    for place, cell in zip(at, cells, strict=True):
        z[place] = cell.value / scale
    missing = np.argwhere(np.isnan(z))
    where = {"xaxis": _axis_name("x", number), "yaxis": _axis_name("y", number)}
    columns = panels * len(depths)
    size = 10 if columns <= _LARGE_MAX_COLUMNS else 9
    longest = max(len(_text(float(v))) for v in z[~np.isnan(z)])
    has_text = columns * (longest * _CHAR_PX + _PAD_PX) <= _ROOM_PX
    return [
        {
            "type": "heatmap",
            "z": [[None if np.isnan(v) else float(v) for v in line] for line in z],
            "coloraxis": "coloraxis",
            "xgap": 1,
            "ygap": 1,
            "hoverinfo": "skip",
            "meta": {"kind": "colors"},
            **where,
        },
        _marks(missing[:, 1], missing[:, 0], {"kind": "missing"}, where, QUIET),
        {
            "type": "heatmap",
            "z": [[None] * shape[1] for _ in range(shape[0])],
            "zmin": 0,
            "zmax": 1,
            "colorscale": [[0, _VEIL], [1, _VEIL]],
            "showscale": False,
            "hoverinfo": "skip",
            "meta": {"kind": "veil"},
            **where,
        },
        _catcher(cells, at, knobs, where),
        *([_texts(cells, at, scale, size, color_axis, where)] if has_text else []),
    ]


def _text(value: float) -> str:
    return f"{MINUS if value < 0 else ''}{format_digits(abs(value))}"


def _texts(
    cells: Sequence[Cell],
    at: list[tuple[int, int]],
    scale: float,
    size: int,
    color_axis: dict[str, Any],
    where: dict,
) -> dict[str, Any]:
    """The numbers in the cells, each black or white, whichever stands out more there."""
    low, high = color_axis["cmin"], color_axis["cmax"]
    shares = [(cell.value / scale - low) / (high - low) for cell in cells]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [column for _, column in at],
        "y": [row for row, _ in at],
        "text": [_text(cell.value / scale) for cell in cells],
        "textfont": {
            "size": size,
            "color": [readable_on(hue_at(color_axis["colorscale"], share)) for share in shares],
        },
        "unselected": {"textfont": {"color": _VEILED_TEXT}},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"kind": "texts", "rows": [list(cell.rows) for cell in cells]},
        **where,
    }


def _marks(x: np.ndarray, y: np.ndarray, meta: dict, where: dict, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x.tolist(),
        "y": y.tolist(),
        "marker": {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": color}},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": meta,
        **where,
    }


def _catcher(
    cells: Sequence[Cell], at: list[tuple[int, int]], knobs: list[str], where: dict
) -> dict[str, Any]:
    """Points in the midst of the cells that box and pointer can catch; they are not seen."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [column for _, column in at],
        "y": [row for row, _ in at],
        "marker": {"size": 2, "opacity": 0},
        **selectable("cells"),
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "meta": {
            "kind": "cells",
            "rows": [list(cell.rows) for cell in cells],
            "knobs": knobs,
            "words": [[*cell.words, "click: select this cell"] for cell in cells],
        },
        **where,
    }


def _axes(number: int, panels: int, sizes: list[int], depths: list[int]) -> dict[str, Any]:
    width = (1 - _GAP * (panels - 1)) / panels
    left = number * (width + _GAP)
    x = _indexed([f"{d:g}" for d in depths], metric("io_depth").title)
    y = _indexed(
        [format_bytes(s) for s in sizes], "" if number else metric("request_bytes").title, 14
    )
    x |= {"domain": [left, left + width], "anchor": _axis_name("y", number)}
    y |= {"anchor": _axis_name("x", number), "showticklabels": number == 0}
    if number:
        y["matches"] = "y"
    tail = "" if number == 0 else str(number + 1)
    return {f"xaxis{tail}": x, f"yaxis{tail}": y}


def _indexed(labels: list[str], title: str, most: int = 12) -> dict[str, Any]:
    step = -(-len(labels) // most)
    at = list(range(0, len(labels), step))
    return axis(
        title,
        tickvals=at,
        ticktext=[labels[i] for i in at],
        range=[-0.5, len(labels) - 0.5],
        showgrid=False,
    )


def _heading(number: int, scene: Scene, mode: Value | None) -> dict[str, Any]:
    return {
        "text": f"<b>{scene.label(mode)}</b>",
        "xref": f"{_axis_name('x', number)} domain",
        "yref": "paper",
        "x": 0.5,
        "y": 1,
        "yshift": 14,
        "showarrow": False,
        "font": {"size": 11, "color": PAGE_INK},
    }


def _color_axis(cells: Sequence[Cell], scale: float, colors: Colors, unit: str) -> dict[str, Any]:
    values = np.array([cell.value for cell in cells]) / scale
    low, high = float(values.min()), float(values.max())
    if colors.around is not None:
        most = max(abs(low - colors.around), abs(high - colors.around)) or 1.0
        low, high = colors.around - most, colors.around + most
    return {
        "colorscale": colors.scale,
        "cmin": low,
        "cmax": high if high > low else low + 1,
        "colorbar": {
            "title": {"text": unit, "side": "top", "font": {"size": 10}},
            "thickness": 8,
            "len": 1,
            "outlinewidth": 0,
            "tickfont": {"size": 10},
        },
    }


def _axis_name(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"
