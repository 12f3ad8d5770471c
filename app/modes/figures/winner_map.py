"""The map of winners: each cell in its winner's hue, or marked as tie, too few or alone.

The browser writes the texts of the cells and the labels of the axes, because both depend on the
part of the map in view (assets/modes/view_map.js).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import DIFFER_HUE, TIE_GREY, Competitors, readable_on
from app.kit.encodings import base_layout, color_bar, scatter_trace
from app.kit.figure_text import BREAK, finishing
from app.modes.figures.map_marks import (
    HEIGHT_PX,
    WIDTH_PX,
    hatching,
    index_axis,
)
from data.analysis.ties import ALONE, DIFFER, TIE, TOO_FEW, WIN

# Maximum columns and rows in view for which cells have texts.
TEXTS_MAX: Final = (20, 24)
_HATCH_GREY: Final = "#8C8C8C"
_CLEAR: Final = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class MapScene:
    """Input of the map besides the compared cells.

    Attributes:
        columns: Labels along x, in order; a cell's column is its index.
        rows: Labels along y.
        x_title: Axis title with unit.
        has_winners: Whether the metric has a better direction.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    x_title: str
    y_title: str
    title: str
    subtitle: str
    competitors: Competitors
    has_winners: bool = True


@finishing
def build_winner_map(cells: pl.DataFrame, scene: MapScene) -> dict:
    """Build the map as a figure dictionary.

    Traces in order: the hues of winners and ties; the hatching of cells with too few replicates;
    marks of cells measured by one competitor alone; texts; a layer with which the browser dims
    what is not selected; a clear layer over all measured cells for hover and click; the legend.

    Args:
        cells: At least one row: `column`, `row`, `outcome`, `competitor` (index of the best one in
            `scene.competitors`).
    """
    outcome = cells["outcome"].to_numpy()
    column, row, best = (cells[name].to_numpy() for name in ("column", "row", "competitor"))
    codes = np.where(outcome == WIN, best, len(scene.competitors)).astype(float)
    codes[outcome == DIFFER] = len(scene.competitors) + 1
    codes[(outcome == TOO_FEW) | (outcome == ALONE)] = np.nan
    grid = np.full((len(scene.rows), len(scene.columns)), np.nan, dtype=np.float32)
    colored, measured = grid.copy(), grid.copy()
    colored[row, column] = codes
    measured[row, column] = 1
    few, alone = outcome == TOO_FEW, outcome == ALONE
    legend = _legend(outcome, scene)
    return {
        "data": [
            _colors(colored, scene),
            _hatching(column[few], row[few], scene),
            _alone(column[alone], row[alone], best[alone], scene),
            scatter_trace("texts", [], [], "text"),
            _layer("dimmed", grid, "rgba(127,127,127,0.72)", "skip"),
            _layer("pointer", measured, _CLEAR, "none"),
            *legend,
        ],
        "layout": _layout(scene),
    }


def _colors(z: np.ndarray, scene: MapScene) -> dict:
    hues = [*scene.competitors.hues, TIE_GREY, *([] if scene.has_winners else [DIFFER_HUE])]
    edges = np.linspace(0, 1, len(hues) + 1)
    steps = [[float(edges[i + k]), hue] for i, hue in enumerate(hues) for k in (0, 1)]
    many = not scene.competitors.has_legend and scene.has_winners
    return {
        **_heatmap("winners", z, (-0.5, len(hues) - 0.5), steps),
        "hoverinfo": "skip",
        "showscale": many,
        **({"colorbar": _colorbar(scene.competitors)} if many else {}),
    }


def _layer(kind: str, z: np.ndarray, color: str, hover: str) -> dict:
    return {
        **_heatmap(kind, z, (0, 1), [[0, color], [1, color]]),
        "showscale": False,
        "hoverongaps": False,
        "hoverinfo": hover,
    }


def _heatmap(kind: str, z: np.ndarray, limits: tuple[float, float], scale: list) -> dict:
    return {
        "type": "heatmap",
        "meta": {"kind": kind},
        "z": z,
        "zmin": limits[0],
        "zmax": limits[1],
        # A gap of one pixel between cells that are wide enough for it.
        "xgap": int(z.shape[1] <= 80),
        "ygap": int(z.shape[0] <= 60),
        "colorscale": scale,
    }


def _colorbar(competitors: Competitors) -> dict:
    at = np.unique(np.linspace(0, len(competitors) - 1, 9).round().astype(int))
    return color_bar(competitors.knob.axis_title) | {
        "tickvals": [*at.tolist(), len(competitors)],
        "ticktext": [*(competitors.labels[i] for i in at), "tie"],
    }


def _hatching(column: np.ndarray, row: np.ndarray, scene: MapScene) -> dict:
    x, y = hatching(column, row, len(scene.columns), len(scene.rows))
    line = {"width": 1, "color": _HATCH_GREY}
    return scatter_trace("hatching", x, y, "lines", line=line, connectgaps=False)


def _alone(column: np.ndarray, row: np.ndarray, best: np.ndarray, scene: MapScene) -> dict:
    marker = {
        "symbol": "circle-open",
        "size": 7 if len(scene.columns) <= 40 else 3,
        "line": {"width": 1.5},
        "color": [scene.competitors.hues[i] for i in best],
    }
    return scatter_trace("alone", column, row, marker=marker)


def _legend(outcome: np.ndarray, scene: MapScene) -> list[dict]:
    entries = []
    if scene.competitors.has_legend and scene.has_winners:
        pairs = zip(scene.competitors.labels, scene.competitors.hues, strict=True)
        entries = [_entry(label, "square", hue) for label, hue in pairs]
    if (outcome == TIE).any() and (entries or not scene.has_winners):
        entries.append(_entry(TIE, "square", TIE_GREY))
    if (outcome == DIFFER).any():
        entries.append(_entry("differ: the highest and its distance", "square", DIFFER_HUE))
    if (outcome == TOO_FEW).any():
        entries.append(_entry("too few replicates to decide", "hash-open", _HATCH_GREY))
    if (outcome == ALONE).any():
        entries.append(_entry("measured by one alone", "circle-open", _HATCH_GREY))
    return entries


def _entry(name: str, symbol: str, hue: str) -> dict:
    marker = {"symbol": symbol, "size": 12, "color": hue, "line": {"width": 1, "color": hue}}
    return scatter_trace("legend", [None], [None], name=name, marker=marker, showlegend=True)


def _layout(scene: MapScene) -> dict[str, Any]:
    longest = max(map(len, scene.rows), default=1)
    top = 46 + 15 * scene.subtitle.count(BREAK)
    return {
        **base_layout(scene.title, scene.subtitle),
        "margin": {"l": min(46 + 6 * longest, 170), "r": 8, "t": top, "b": 50},
        "xaxis": index_axis(len(scene.columns), scene.x_title),
        "yaxis": index_axis(len(scene.rows), scene.y_title),
        "dragmode": "zoom",
        "showlegend": False,
        # A zoom is kept only while the axes stay the same.
        "uirevision": f"{scene.x_title} {len(scene.columns)} {scene.y_title} {len(scene.rows)}",
        "meta": {
            "kind": "map",
            "x": list(scene.columns),
            "y": list(scene.rows),
            "whole_px": {"x": WIDTH_PX, "y": HEIGHT_PX},
            "texts_max": list(TEXTS_MAX),
            # Text colours on the hues of the competitors, on a tie and, last, on a difference.
            "text_colors": [
                readable_on(hue) for hue in (*scene.competitors.hues, TIE_GREY, DIFFER_HUE)
            ],
        },
    }
