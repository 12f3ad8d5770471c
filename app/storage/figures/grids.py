"""Heatmaps of request size by IO depth: one panel per completion mode, one common scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.kit.competitors import readable_on
from app.kit.encodings import color_bar, scatter_trace
from app.kit.figure_text import bold, finishing
from app.kit.words import common_prefix
from app.storage.figures.base import QUIET, Scene, cell_points, marks, plain
from app.storage.figures.layouts import index_axis, layout, panel, panel_axes, panel_note
from app.storage.views import View
from data.metrics import metric
from data.units import MINUS, format_bytes, format_digits

Scale = tuple[tuple[float, str], ...]

VIRIDIS: Final = tuple(
    (i / 9, f"#{hue}") for i, hue in enumerate((
        "440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b",
        "fde725",
    ))
)  # fmt: skip
# ColorBrewer's RdBu reversed, so that red is more; the scale RdBu of plotly.js is different.
DIVERGING: Final = tuple(
    (i / 10, f"#{hue}") for i, hue in enumerate((
        "053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d",
        "b2182b", "67001f",
    ))
)  # fmt: skip
_GAP: Final = 0.025
# Cells have texts if these fit side by side in the narrowest window.
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
        rows: Row numbers of its configurations.
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
    """The colour scale of a figure of cells.

    Attributes:
        around: Value in the middle of the scale; None for a scale from minimum to maximum.
    """

    scale: Scale
    around: float | None = None


def hue_at(scale: Scale, share: float) -> str:
    """Return the colour at a position of a scale (0 to 1), interpolated as in plotly.js."""
    stops = [stop for stop, _ in scale]
    channels = [
        np.interp(share, stops, [int(hue[i : i + 2], 16) for _, hue in scale]) for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)


@finishing
def build_grids(
    cells: Sequence[Cell],
    view: View,
    scene: Scene,
    subtitle: str,
    colors: Colors,
    common: dict[str, Any],
) -> dict[str, Any]:
    """Build the panels as one figure; a cross marks a cell without measurement.

    Args:
        cells: At least one.
        common: Knobs that all cells share: a value, or the list of values that each cell mixes.
    """
    modes = [mode for mode in scene.modes.values if any(cell.mode == mode for cell in cells)]
    sizes = sorted({cell.request_bytes for cell in cells})
    depths = sorted({cell.io_depth for cell in cells})
    unit = metric(view.y).unit
    top = max(abs(cell.value) for cell in cells)
    scale, prefix = (1.0, "") if unit == "W" else common_prefix(top)
    shown = prefix + unit.removeprefix("1") if prefix else unit
    color_axis = _color_axis(cells, scale, colors, shown)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for number, mode in enumerate(modes):
        mine = [cell for cell in cells if cell.mode == mode]
        traces = _panel(mine, sizes, depths, scale, common | {"mode": mode}, len(modes), color_axis)
        data += [trace | panel(number) for trace in traces]
        axes |= _axes(number, len(modes), sizes, depths)
    title = f"{view.title}, {shown}" if shown else view.title
    return {
        "data": data,
        "layout": layout(
            title,
            subtitle,
            scene,
            view.name,
            **axes,
            annotations=[panel_note(i, bold(scene.label(m))) for i, m in enumerate(modes)],
            coloraxis=color_axis,
            margin={"l": 62, "r": 10, "t": 62, "b": 38},
            hoverdistance=90,
        ),
    }


def _panel(
    cells: Sequence[Cell],
    sizes: list[int],
    depths: list[int],
    scale: float,
    knobs: dict[str, Any],
    panels: int,
    color_axis: dict[str, Any],
) -> list[dict[str, Any]]:
    """Build the traces of one mode; the veil dims cells that are not selected."""
    x = [depths.index(cell.io_depth) for cell in cells]
    y = [sizes.index(cell.request_bytes) for cell in cells]
    z = np.full((len(sizes), len(depths)), np.nan)
    z[y, x] = [cell.value / scale for cell in cells]
    empty_y, empty_x = np.nonzero(np.isnan(z))
    cross = {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": QUIET}}
    veil = {"colorscale": [[0, _VEIL], [1, _VEIL]], "zmin": 0, "zmax": 1, "showscale": False}
    return [
        _heatmap("colors", [plain(row) for row in z], coloraxis="coloraxis", xgap=1, ygap=1),
        marks("missing", empty_x.tolist(), empty_y.tolist(), cross, []),
        _heatmap("veil", [[None] * len(depths) for _ in sizes], **veil),
        _targets(cells, x, y, knobs),
        *_texts(cells, x, y, scale, panels * len(depths), color_axis),
    ]


def _heatmap(kind: str, z: list, **more: Any) -> dict[str, Any]:
    return {"type": "heatmap", "z": z, "hoverinfo": "skip", "meta": {"kind": kind}, **more}


def _text(value: float) -> str:
    return f"{MINUS if value < 0 else ''}{format_digits(abs(value))}"


def _texts(
    cells: Sequence[Cell],
    x: list[int],
    y: list[int],
    scale: float,
    columns: int,
    color_axis: dict[str, Any],
) -> list[dict[str, Any]]:
    """Build the numbers in the cells, black or white by contrast; no trace if they do not fit."""
    low, high = color_axis["cmin"], color_axis["cmax"]
    shares = [(cell.value / scale - low) / (high - low) for cell in cells]
    texts = [_text(cell.value / scale) for cell in cells]
    if columns * (max(map(len, texts)) * _CHAR_PX + _PAD_PX) > _ROOM_PX:
        return []
    hues = [readable_on(hue_at(color_axis["colorscale"], share)) for share in shares]
    own: dict[str, Any] = {
        "text": texts,
        "textfont": {"size": 10 if columns <= _LARGE_MAX_COLUMNS else 9, "color": hues},
        "unselected": {"textfont": {"color": _VEILED_TEXT}},
        "meta": {"kind": "texts", "rows": [list(cell.rows) for cell in cells]},
    }
    return [scatter_trace("texts", x, y, "text", **own)]


def _targets(
    cells: Sequence[Cell], x: list[int], y: list[int], knobs: dict[str, Any]
) -> dict[str, Any]:
    """Build the points that select: a click selects by the knobs with one value in a cell."""
    single = [name for name, value in knobs.items() if not isinstance(value, list)]
    meta = {
        "rows": [list(cell.rows) for cell in cells],
        "knobs": [*single, "request_bytes", "io_depth"],
        "words": [[*cell.words, "click: select this cell"] for cell in cells],
        "box": {"x": "io_depth", "y": "request_bytes", "knobs": knobs},
    }
    return cell_points(x, y, meta)


def _axes(number: int, panels: int, sizes: list[int], depths: list[int]) -> dict[str, Any]:
    x = index_axis([f"{d:g}" for d in depths], metric("io_depth").title, 12)
    title = "" if number else metric("request_bytes").title
    y = index_axis([format_bytes(s) for s in sizes], title, 14)
    return panel_axes(number, panels, _GAP, x, y | ({"matches": "y"} if number else {}))


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
        "colorbar": color_bar("")
        | {"title": {"text": unit, "side": "top", "font": {"size": 10}}, "thickness": 8},
    }
