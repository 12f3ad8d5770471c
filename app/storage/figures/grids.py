"""Heatmaps of request size by IO depth: a panel per mode or device, one common scale."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import readable_on
from app.kit.encodings import bold, color_bar, finishing, scatter_trace
from app.kit.words import common_prefix
from app.storage.figures.base import CACHED, QUIET, Scene, marks, measured_words, plain
from app.storage.figures.layouts import index_axis, layout, panel, panel_axes, panel_note
from app.storage.state import View
from data.catalogue import SHIPPED
from data.units import MINUS, format_bytes, format_digits, format_quantity

if TYPE_CHECKING:
    from app.storage.rows import Cells

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
_GAP: Final = 0.085
# Cells have texts if these fit side by side in the narrowest window.
_CHAR_PX: Final = 6.9
_PAD_PX: Final = 3.0
_ROOM_PX: Final = {2: 240.0, 3: 360.0, 6: 660.0}
MOST_PANELS: Final = 8
# The least number that two decimals show.
_LEAST_DECIMAL: Final = 0.005
# Numbers below have a decimal in narrow cells.
_WITH_DECIMAL: Final = 9.95
# Marks of cells, with what they mean; and their symbol, size, and place in the cell.
_MARKS: Final = {
    "is_best": "\N{WHITE CIRCLE} most at its size",
    "is_saturated": "\N{BLACK DOWN-POINTING SMALL TRIANGLE} IO rate within 5 % of its most, ours",
}
_SHAPES: Final = {
    "is_best": ("circle-open", 22, 0.0, 0.0), "is_saturated": ("triangle-down", 6, 0.0, 0.38),
}  # fmt: skip
_VEIL: Final = "rgba(127,127,127,0.78)"
_VEILED_TEXT: Final = "rgba(255,255,255,0.4)"


def hue_at(scale: Scale, share: float) -> str:
    """Return the colour at a position of a scale (0 to 1), interpolated as in plotly.js."""
    stops = [stop for stop, _ in scale]
    channels = [
        np.interp(share, stops, [int(hue[i : i + 2], 16) for _, hue in scale]) for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)


@finishing
def build_grids(cells: "Cells", view: View, scene: Scene, subtitle: str) -> dict[str, Any]:
    """Build the panels as one figure; a cross marks a cell without measurement.

    Args:
        cells: At least one.
    """
    rows = cells.rows
    there = rows[view.by].to_list()
    panels = [each for each in scene.order(view.by) if each in there]
    left_out = len(panels) - MOST_PANELS
    panels = panels[:MOST_PANELS]
    rows = rows.filter(pl.col(view.by).is_in(panels, nulls_equal=True))
    sizes = rows["request_bytes"].unique().sort().to_list()
    depths = rows["io_depth"].unique().sort().to_list()
    unit = SHIPPED.metric(view.y).unit
    top = float(rows["value"].abs().max())  # type: ignore[arg-type]
    scale, prefix = (1.0, "") if unit == "W" else common_prefix(top)
    shown = prefix + unit.removeprefix("1") if prefix else unit
    rows = rows.with_columns(
        scaled=pl.col("value") / scale,
        x=pl.col("io_depth").replace_strict(depths, range(len(depths)), return_dtype=pl.Int64),
        y=pl.col("request_bytes").replace_strict(sizes, range(len(sizes)), return_dtype=pl.Int64),
    )
    color_axis = _color_axis(rows["scaled"].to_numpy(), bool(cells.accesses), shown)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for number, each in enumerate(panels):
        own = rows.filter(pl.col(view.by).eq_missing(each))
        z = np.full((len(sizes), len(depths)), np.nan)
        z[own["y"].to_numpy(), own["x"].to_numpy()] = own["scaled"].to_numpy()
        room_px = _ROOM_PX[view.span] * (1 - _GAP * (len(panels) - 1))
        texts = _texts(own, room_px / len(panels) / len(depths), color_axis)
        items = _cells(own, cells, view, scene, texts)
        traces = [*_panel(z, _depth_marks(own, color_axis)), items]
        data += [trace | panel(number) for trace in traces]
        x = index_axis([f"{d:g}" for d in depths], SHIPPED.metric("io_depth").title, 12)
        title = "" if number else SHIPPED.metric("request_bytes").title
        y = index_axis([format_bytes(s) for s in sizes], title, 14)
        y |= {"showticklabels": True} | ({"matches": "y"} if number else {})
        axes |= panel_axes(number, len(panels), _GAP, x, y)
    if left_out > 0:
        subtitle += f" · {left_out} more: filter on them"
    if any(trace["meta"]["kind"] in _MARKS for trace in data):
        subtitle += f" · {' · '.join(_MARKS.values())}"
    return {
        "data": data,
        "layout": layout(
            view,
            subtitle,
            scene,
            f"{view.title}, {shown}" if shown else view.title,
            **axes,
            annotations=[
                panel_note(i, bold(scene.name(view.by, each))) for i, each in enumerate(panels)
            ],
            coloraxis=color_axis,
            margin={"l": 62, "r": 10, "t": 62, "b": 38},
            hoverdistance=90,
        ),
    }


def _panel(z: np.ndarray, marked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Build the colours of a panel, crosses, marks, and the veil that dims cells not selected."""
    empty_y, empty_x = np.nonzero(np.isnan(z))
    cross = {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": QUIET}}
    veil = {"colorscale": [[0, _VEIL], [1, _VEIL]], "zmin": 0, "zmax": 1, "showscale": False}
    return [
        _heatmap("colors", [plain(row) for row in z], coloraxis="coloraxis", xgap=1, ygap=1),
        marks("missing", empty_x.tolist(), empty_y.tolist(), cross, []),
        *marked,
        _heatmap("veil", [[None] * z.shape[1] for _ in z], **veil),
    ]


def _heatmap(kind: str, z: list, **more: Any) -> dict[str, Any]:
    return {"type": "heatmap", "z": z, "hoverinfo": "skip", "meta": {"kind": kind}, **more}


def _depth_marks(own: pl.DataFrame, color_axis: dict[str, Any]) -> list[dict[str, Any]]:
    """Mark the best depth of each size, and the depth from which the IO rate is saturated."""
    traces = []
    for kind, (symbol, size, dx, dy) in _SHAPES.items():
        there = own.filter(kind) if kind in own.columns else own.clear()
        if not len(there):
            continue
        hues = [readable_on(hue) for hue in _hues(there, color_axis)]
        marker = {
            "symbol": symbol,
            "size": size,
            "color": hues,
            "line": {"width": 1.6, "color": hues},
        }
        x, y = ([v + d for v in there[n]] for n, d in (("x", dx), ("y", dy)))
        traces.append(marks(kind, x, y, marker, []))
    return traces


def _cells(
    own: pl.DataFrame, cells: "Cells", view: View, scene: Scene, texts: dict[str, Any]
) -> dict[str, Any]:
    """Build the items of one panel: a click selects by the knobs with one value in a cell."""
    each = own[view.by][0]
    single = {**cells.common, view.by: each}
    knobs = single | ({"rw": list(cells.accesses)} if cells.accesses else {})
    hover_of = _difference_words if cells.accesses else (lambda *cell: (measured_words(*cell),))
    name = scene.name(view.by, each)
    meta = {
        "kind": "cells",
        "rows": own["rows"].to_list(),
        "knobs": [*single, "request_bytes", "io_depth"],
        "words": [
            [
                f"{name} · {format_bytes(cell['request_bytes'])} · depth {cell['io_depth']:g}",
                *hover_of(cell, view.y, scene),
                *[said for kind, said in _MARKS.items() if cell.get(kind)],
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


def _texts(own: pl.DataFrame, cell_px: float, color_axis: dict[str, Any]) -> dict[str, Any]:
    """Build the numbers in the cells, black or white by contrast; empty if they do not fit.

    In narrow cells they have one decimal at most, or none.
    """
    values = own["scaled"].to_list()

    def one_decimal(value: float) -> str:
        return _rounded(value, 1 if abs(value) < _WITH_DECIMAL else 0)

    fitting = (
        texts
        for texts in ([write(v) for v in values] for write in (_short, one_decimal, _rounded))
        if max(map(len, texts)) * _CHAR_PX + _PAD_PX <= cell_px
    )
    texts = next(fitting, None)
    if texts is None:
        return {}
    hues = [readable_on(hue) for hue in _hues(own, color_axis)]
    return {
        "text": texts,
        "textposition": "middle center",
        "textfont": {"size": 12, "color": hues},
    }


def _short(value: float) -> str:
    """Return a number of at most five characters or so, for a cell; its hover has three digits."""
    size = abs(value)
    small = f"{size:.2f}" if size >= _LEAST_DECIMAL else f"{size:.0e}".replace("e-0", "e-")
    text = format_digits(size) if size >= 1 or not size else small
    return f"{MINUS if value < 0 else ''}{text}"


def _rounded(value: float, decimals: int = 0) -> str:
    text = f"{abs(value):.{decimals}f}"
    if value and not float(text):
        return "\N{ALMOST EQUAL TO}0"
    return f"{MINUS if value < 0 else ''}{text}"


def _hues(own: pl.DataFrame, color_axis: dict[str, Any]) -> list[str]:
    low, high = color_axis["cmin"], color_axis["cmax"]
    shares = [(value - low) / (high - low) for value in own["scaled"]]
    return [hue_at(color_axis["colorscale"], share) for share in shares]


def _difference_words(cell: dict[str, Any], column: str, scene: Scene) -> tuple[str, ...]:
    names = ("value", "spread", f"{column}_written", f"{column}_n_written", column, f"{column}_n")
    unit = SHIPPED.metric(column).unit
    return _written_and_read(unit, scene.spread_words, *(cell[name] for name in names))


@lru_cache(maxsize=CACHED)
def _written_and_read(
    unit: str, spread_words: str, value: float, spread: float,
    written: float, n_written: int, read: float, n_read: int,
) -> tuple[str, ...]:  # fmt: skip
    signed = f"{'+' if value >= 0 else ''}{format_quantity(value, unit)}"
    if np.isfinite(spread):
        signed += f" ± {format_quantity(spread, unit)} ({spread_words})"
    return (
        f"write {MINUS} read: {signed}",
        f"write: {format_quantity(written, unit)}, n = {n_written}",
        f"read: {format_quantity(read, unit)}, n = {n_read}",
    )


def _color_axis(values: np.ndarray, is_around_0: bool, unit: str) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    if is_around_0:
        most = max(abs(low), abs(high)) or 1.0
        low, high = -most, most
    title = {"text": unit, "side": "top", "font": {"size": 12}}
    return {
        "colorscale": DIVERGING if is_around_0 else VIRIDIS,
        "cmin": low,
        "cmax": high if high > low else low + 1,
        "colorbar": {**color_bar(""), "title": title, "thickness": 8},
    }
