"""The map of winners: each cell its winner's colour, the lead, a tie, too few, or alone."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import TIE_GREY, Competitors, readable_on
from app.kit.encodings import base_layout
from app.modes.figures.map_marks import (
    WIDTH_PX,
    hatching,
    index_axis,
    labels_along_x,
    labels_along_y,
    legend_height_px,
)
from data.analysis.ties import ALONE, TIE, TOO_FEW, WIN, Comparison
from data.units import format_change, format_quantity

# Texts are drawn where they have room; a larger map tells by colour and hover.
TEXT_MAX_COLUMNS: Final = 20
TEXT_MAX_ROWS: Final = 24
_WIDE_TEXT_COLUMNS: Final = 12
_NAMED_MAX_COLUMNS: Final = 8
_NAMED_MAX_ROWS: Final = 9
_HATCH_GREY: Final = "#8C8C8C"
_CLEAR: Final = "rgba(0,0,0,0)"
# What the browser replaces by the text colour of its theme.
PAGE_INK: Final = "page"


@dataclass(frozen=True, slots=True)
class MapScene:
    """What the map needs beside the judged cells.

    Attributes:
        columns: Labels along x, in order; a cell's column is its index.
        rows: Labels along y.
        x_title: Axis title with unit.
        unit: Unit of the prize.
        is_percent: Whether texts are the lead in percent rather than absolute.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    x_title: str
    y_title: str
    title: str
    subtitle: str
    unit: str
    is_percent: bool
    competitors: Competitors


def build_winner_map(comparison: Comparison, placed: pl.DataFrame, scene: MapScene) -> dict:
    """Build the map as a figure dictionary.

    Traces in order: the winners' and ties' colours; the hatching of cells with too few replicates;
    marks of cells measured by one competitor alone; texts; a veil that the browser draws over what
    is not selected; a clear layer over all measured cells that the pointer meets; the legend.

    Args:
        comparison: With at least one cell.
        placed: One row a cell, in the order of `comparison.cells`: `column`, `row`, `who` (index
            of the best competitor in `scene.competitors`).
    """
    outcome = comparison.cells["outcome"].to_numpy()
    cells = {name: placed[name].to_numpy() for name in ("column", "row", "who")}
    colored = np.where(outcome == WIN, cells["who"], len(scene.competitors)).astype(float)
    colored[(outcome == TOO_FEW) | (outcome == ALONE)] = np.nan
    legend = _legend(outcome, scene)
    nothing = np.full((len(scene.rows), len(scene.columns)), np.nan)
    return {
        "data": [
            _colors(_grid(colored, cells, scene), scene),
            _hatching(cells, outcome == TOO_FEW, scene),
            _alone(cells, outcome == ALONE, scene),
            _texts(comparison, cells, outcome, scene),
            _layer("veil", nothing, "rgba(127,127,127,0.72)"),
            _layer("catcher", _grid(np.ones(len(outcome)), cells, scene), _CLEAR),
            *legend,
        ],
        "layout": _layout(scene, [entry["name"] for entry in legend]),
    }


def has_room(scene: MapScene) -> bool:
    """Whether cells are large enough for texts; else the browser writes them after a zoom."""
    return len(scene.columns) <= TEXT_MAX_COLUMNS and len(scene.rows) <= TEXT_MAX_ROWS


def _grid(values: np.ndarray, cells: dict[str, np.ndarray], scene: MapScene) -> np.ndarray:
    grid = np.full((len(scene.rows), len(scene.columns)), np.nan, dtype=np.float32)
    grid[cells["row"], cells["column"]] = values
    return grid


def _colors(z: np.ndarray, scene: MapScene) -> dict:
    hues = [*scene.competitors.hues, TIE_GREY]
    edges = np.linspace(0, 1, len(hues) + 1)
    steps = [
        [float(edge), hue]
        for i, hue in enumerate(hues)
        for edge in (edges[i], edges[i + 1])
    ]  # fmt: skip
    many = not scene.competitors.has_legend
    return {
        "type": "heatmap",
        "meta": {"kind": "winners"},
        "z": z,
        "zmin": -0.5,
        "zmax": len(hues) - 0.5,
        **_gaps(z),
        "colorscale": steps,
        "hoverinfo": "skip",
        "showscale": many,
        **({"colorbar": _colorbar(scene.competitors)} if many else {}),
    }


def _gaps(z: np.ndarray) -> dict[str, int]:
    """A hair between cells, where they are wide enough to spare it."""
    return {"xgap": int(z.shape[1] <= 80), "ygap": int(z.shape[0] <= 60)}


def _colorbar(competitors: Competitors) -> dict:
    at = np.unique(np.linspace(0, len(competitors) - 1, 9).round().astype(int))
    return {
        "title": {"text": competitors.knob.axis_title, "side": "right", "font": {"size": 11}},
        "tickvals": [*at.tolist(), len(competitors)],
        "ticktext": [*(competitors.labels[i] for i in at), "tie"],
        "thickness": 10,
        "len": 1,
        "outlinewidth": 0,
        "tickfont": {"size": 10},
    }


def _hatching(cells: dict[str, np.ndarray], where: np.ndarray, scene: MapScene) -> dict:
    x, y = hatching(
        cells["column"][where], cells["row"][where], len(scene.columns), len(scene.rows)
    )
    return {
        "type": "scatter",
        "mode": "lines",
        "meta": {"kind": "hatching"},
        "x": x,
        "y": y,
        "line": {"width": 1, "color": _HATCH_GREY},
        "connectgaps": False,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _alone(cells: dict[str, np.ndarray], where: np.ndarray, scene: MapScene) -> dict:
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": {"kind": "alone"},
        "x": cells["column"][where],
        "y": cells["row"][where],
        "marker": {
            "symbol": "circle-open",
            "size": 7 if len(scene.columns) <= 40 else 3,
            "line": {"width": 1.5},
            "color": [scene.competitors.hues[i] for i in cells["who"][where]],
        },
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _texts(
    comparison: Comparison, cells: dict[str, np.ndarray], outcome: np.ndarray, scene: MapScene
) -> dict:
    shown = np.flatnonzero(outcome != ALONE) if has_room(scene) else np.zeros(0, dtype=int)
    size = 11 if len(scene.columns) <= _WIDE_TEXT_COLUMNS and len(scene.rows) <= 18 else 9
    hues = scene.competitors.hues
    return {
        "type": "scatter",
        "mode": "text",
        "meta": {"kind": "texts"},
        "x": cells["column"][shown],
        "y": cells["row"][shown],
        "text": [_text(comparison, int(i), int(cells["who"][i]), scene) for i in shown],
        "textfont": {
            "size": size,
            "color": [_ink(str(outcome[i]), hues[cells["who"][i]]) for i in shown],
        },
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _text(comparison: Comparison, index: int, who: int, scene: MapScene) -> str:
    cell = comparison.cells.row(index, named=True)
    if cell["outcome"] == TIE:
        return TIE
    if cell["outcome"] == TOO_FEW:
        ns = comparison.contenders["n"].gather([cell["winner"], cell["runner_up"]])
        return f"n = {min(ns)}"
    named = len(scene.columns) <= _NAMED_MAX_COLUMNS and len(scene.rows) <= _NAMED_MAX_ROWS
    name = f"<b>{scene.competitors.labels[who]}</b><br>" if named else ""
    words = margin_words(cell, scene.unit, scene.is_percent)
    if scene.is_percent and len(scene.columns) > _WIDE_TEXT_COLUMNS:
        words = format_change(cell["margin_share"], digits=2).replace(" ", "")
    return name + words


def margin_words(cell: dict, unit: str, is_percent: bool) -> str:
    """The winner's lead: `-12.3 %` of the runner-up's value, or `2.17 kJ`."""
    if is_percent:
        return format_change(cell["margin_share"])
    return format_quantity(cell["margin"], unit)


def _ink(outcome: str, hue: str) -> str:
    """Text colour; `page` stands for the theme's own, on cells without fill."""
    if outcome == TOO_FEW:
        return PAGE_INK
    return readable_on(TIE_GREY if outcome == TIE else hue)


def _layer(kind: str, z: np.ndarray, color: str) -> dict:
    return {
        "type": "heatmap",
        "meta": {"kind": kind},
        "z": z.astype(np.float32),
        "zmin": 0,
        "zmax": 1,
        **_gaps(z),
        "colorscale": [[0, color], [1, color]],
        "showscale": False,
        "hoverongaps": False,
        "hoverinfo": "skip" if kind == "veil" else "none",
    }


def _legend(outcome: np.ndarray, scene: MapScene) -> list[dict]:
    entries = []
    if scene.competitors.has_legend:
        pairs = zip(scene.competitors.labels, scene.competitors.hues, strict=True)
        entries = [_entry(label, "square", hue) for label, hue in pairs]
        if (outcome == TIE).any():
            entries.append(_entry(TIE, "square", TIE_GREY))
    if (outcome == TOO_FEW).any():
        entries.append(_entry("too few replicates to tell", "hash-open", _HATCH_GREY))
    if (outcome == ALONE).any():
        entries.append(_entry("measured by one alone", "circle-open", _HATCH_GREY))
    return entries


def _entry(name: str, symbol: str, hue: str) -> dict:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "meta": {"kind": "legend"},
        "x": [None],
        "y": [None],
        "marker": {"symbol": symbol, "size": 12, "color": hue, "line": {"width": 1, "color": hue}},
        "hoverinfo": "skip",
        "showlegend": True,
    }


def _layout(scene: MapScene, named: list[str]) -> dict[str, Any]:
    longest = max(map(len, scene.rows), default=1)
    top = 46 + 15 * scene.subtitle.count("<br>")
    bottom = 56 + legend_height_px(named, WIDTH_PX + 80)
    return {
        **base_layout(scene.title, scene.subtitle),
        "margin": {"l": min(46 + 6 * longest, 170), "r": 8, "t": top, "b": bottom},
        "xaxis": index_axis(scene.columns, scene.x_title, labels_along_x(scene.columns)),
        "yaxis": index_axis(scene.rows, scene.y_title, labels_along_y(scene.rows)),
        "dragmode": "zoom",
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "xref": "container",
            "yref": "container",
            "y": 0.005,
            "yanchor": "bottom",
            "font": {"size": 11},
            "itemclick": False,
            "itemdoubleclick": False,
            "bgcolor": _CLEAR,
        },
        # A zoom belongs to its axes.
        "uirevision": f"{scene.x_title} {len(scene.columns)} {scene.y_title} {len(scene.rows)}",
        "meta": {"kind": "map", **_for_zooms(scene)},
    }


def _for_zooms(scene: MapScene) -> dict[str, Any]:
    """What the browser needs to label and write into a part of the map: all labels, and inks.

    `inks` are the text colours on the competitors' hues and, last, on a tie.
    """
    return {
        "x": list(scene.columns),
        "y": list(scene.rows),
        "has_texts": has_room(scene),
        "most": [TEXT_MAX_COLUMNS, TEXT_MAX_ROWS],
        "inks": [readable_on(hue) for hue in (*scene.competitors.hues, TIE_GREY)],
    }
