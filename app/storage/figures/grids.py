"""Heatmaps of request size by IO depth: one panel per completion mode, one common scale."""

from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import readable_on
from app.kit.encodings import color_bar, scatter_trace
from app.kit.figure_text import bold, finishing
from app.kit.words import common_prefix
from app.storage.figures.base import CACHED, QUIET, Scene, marks, measured_words, plain
from app.storage.figures.layouts import index_axis, layout, panel, panel_axes, panel_note
from app.storage.state import View
from data.catalogue import SHIPPED
from data.units import MINUS, format_bytes, format_digits, format_quantity

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


# The differences are around 0.
_SCALES: Final[dict[str, tuple[Scale, bool]]] = {
    "efficiency": (VIRIDIS, False), "difference": (DIVERGING, True),
}  # fmt: skip


def hue_at(scale: Scale, share: float) -> str:
    """Return the colour at a position of a scale (0 to 1), interpolated as in plotly.js."""
    stops = [stop for stop, _ in scale]
    channels = [
        np.interp(share, stops, [int(hue[i : i + 2], 16) for _, hue in scale]) for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)


@finishing
def build_grids(
    cells: pl.DataFrame, view: View, scene: Scene, subtitle: str, common: dict[str, Any]
) -> dict[str, Any]:
    """Build the panels as one figure; a cross marks a cell without measurement.

    Args:
        cells: At least one: answer of `pooled_means` with `value`, or of `write_minus_read`.
        common: Knobs that all cells share: a value, or the list of values that each cell mixes.
    """
    modes = [mode for mode in scene.modes.values if mode in cells["mode"].to_list()]
    sizes = cells["request_bytes"].unique().sort().to_list()
    depths = cells["io_depth"].unique().sort().to_list()
    unit = SHIPPED.metric(view.y).unit
    top = float(cells["value"].abs().max())  # type: ignore[arg-type]
    scale, prefix = (1.0, "") if unit == "W" else common_prefix(top)
    shown = prefix + unit.removeprefix("1") if prefix else unit
    cells = cells.with_columns(
        scaled=pl.col("value") / scale,
        x=pl.col("io_depth").replace_strict(depths, range(len(depths)), return_dtype=pl.Int64),
        y=pl.col("request_bytes").replace_strict(sizes, range(len(sizes)), return_dtype=pl.Int64),
    )
    color_axis = _color_axis(cells["scaled"].to_numpy(), *_SCALES[view.kind], shown)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for number, mode in enumerate(modes):
        own = cells.filter(pl.col("mode").eq_missing(mode))
        z = np.full((len(sizes), len(depths)), np.nan)
        z[own["y"].to_numpy(), own["x"].to_numpy()] = own["scaled"].to_numpy()
        texts = _texts(own, len(modes) * len(depths), color_axis)
        items = _cells(own, view, scene, common | {"mode": mode}, texts)
        traces = [*_panel(z), items]
        data += [trace | panel(number) for trace in traces]
        x = index_axis([f"{d:g}" for d in depths], SHIPPED.metric("io_depth").title, 12)
        title = "" if number else SHIPPED.metric("request_bytes").title
        y = index_axis([format_bytes(s) for s in sizes], title, 14)
        y |= {"matches": "y"} if number else {}
        axes |= panel_axes(number, len(modes), _GAP, x, y)
    return {
        "data": data,
        "layout": layout(
            view,
            subtitle,
            scene,
            f"{view.title}, {shown}" if shown else view.title,
            **axes,
            annotations=[panel_note(i, bold(scene.label(m))) for i, m in enumerate(modes)],
            coloraxis=color_axis,
            margin={"l": 62, "r": 10, "t": 62, "b": 38},
            hoverdistance=90,
        ),
    }


def _panel(z: np.ndarray) -> list[dict[str, Any]]:
    """Build the colours of one mode, crosses, and the veil that dims cells not selected."""
    empty_y, empty_x = np.nonzero(np.isnan(z))
    cross = {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": QUIET}}
    veil = {"colorscale": [[0, _VEIL], [1, _VEIL]], "zmin": 0, "zmax": 1, "showscale": False}
    return [
        _heatmap("colors", [plain(row) for row in z], coloraxis="coloraxis", xgap=1, ygap=1),
        marks("missing", empty_x.tolist(), empty_y.tolist(), cross, []),
        _heatmap("veil", [[None] * z.shape[1] for _ in z], **veil),
    ]


def _heatmap(kind: str, z: list, **more: Any) -> dict[str, Any]:
    return {"type": "heatmap", "z": z, "hoverinfo": "skip", "meta": {"kind": kind}, **more}


def _cells(
    own: pl.DataFrame, view: View, scene: Scene, knobs: dict[str, Any], texts: dict[str, Any]
) -> dict[str, Any]:
    """Build the items of one mode: a click selects by the knobs with one value in a cell."""
    single = [name for name, value in knobs.items() if not isinstance(value, list)]
    words = _difference_words if view.kind == "difference" else _mean_words
    meta = {
        "kind": "cells",
        "rows": own["rows"].to_list(),
        "knobs": [*single, "request_bytes", "io_depth"],
        "words": [
            [
                f"{scene.label(cell['mode'])} · {format_bytes(cell['request_bytes'])} · "
                f"depth {cell['io_depth']:g}",
                *words(cell, view.y, scene),
                "click: select this cell",
            ]
            for cell in own.iter_rows(named=True)
        ],
        "box": {"x": "io_depth", "y": "request_bytes", "knobs": knobs},
    }
    look: dict[str, Any] = {
        "marker": {"size": 2, "opacity": 0},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}, "textfont": {"color": _VEILED_TEXT}},
        "hoverinfo": "none",
        "meta": meta,
    }
    mode = "markers+text" if texts else "markers"
    return scatter_trace("cells", own["x"].to_list(), own["y"].to_list(), mode, **look, **texts)


def _texts(own: pl.DataFrame, columns: int, color_axis: dict[str, Any]) -> dict[str, Any]:
    """Build the numbers in the cells, black or white by contrast; empty if they do not fit."""
    low, high = color_axis["cmin"], color_axis["cmax"]
    values = own["scaled"].to_list()
    texts = [f"{MINUS if value < 0 else ''}{format_digits(abs(value))}" for value in values]
    if columns * (max(map(len, texts)) * _CHAR_PX + _PAD_PX) > _ROOM_PX:
        return {}
    shares = [(value - low) / (high - low) for value in values]
    hues = [readable_on(hue_at(color_axis["colorscale"], share)) for share in shares]
    size = 10 if columns <= _LARGE_MAX_COLUMNS else 9
    return {
        "text": texts,
        "textposition": "middle center",
        "textfont": {"size": size, "color": hues},
    }


def _mean_words(cell: dict[str, Any], column: str, scene: Scene) -> tuple[str, ...]:
    return (measured_words(cell, column, scene),)


def _difference_words(cell: dict[str, Any], column: str, scene: Scene) -> tuple[str, ...]:
    names = ("value", "spread", f"{column}_written", f"{column}_n_written", column, f"{column}_n")
    unit = SHIPPED.metric(column).unit
    return _written_and_read(unit, scene.spread_words, *(cell[name] for name in names))


@lru_cache(maxsize=CACHED)
def _written_and_read(
    unit: str, spread_words: str, value: float, spread: float,
    written: float, n_written: int, read: float, n_read: int,
) -> tuple[str, ...]:  # fmt: skip
    signed = f"{MINUS if value < 0 else '+'}{format_quantity(abs(value), unit)}"
    if np.isfinite(spread):
        signed += f" ± {format_quantity(spread, unit)} ({spread_words})"
    return (
        f"write {MINUS} read: {signed}",
        f"write: {format_quantity(written, unit)}, n = {n_written}",
        f"read: {format_quantity(read, unit)}, n = {n_read}",
    )


def _color_axis(values: np.ndarray, scale: Scale, is_around_0: bool, unit: str) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    if is_around_0:
        most = max(abs(low), abs(high)) or 1.0
        low, high = -most, most
    title = {"text": unit, "side": "top", "font": {"size": 10}}
    return {
        "colorscale": scale,
        "cmin": low,
        "cmax": high if high > low else low + 1,
        "colorbar": {**color_bar(""), "title": title, "thickness": 8},
    }
