"""The map of winners: each cell in its winner's hue, or marked as what the runs leave open.

The hue is pale where the lead is small or undecided: a layer of the page's colour lies over it. The
browser writes the texts of the cells and the labels of the axes, because both depend on the part of
the map in view (assets/modes/view_map.js).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import DIFFER_HUE, TIE_GREY, Competitors
from app.kit.encodings import BREAK, axis_title, base_layout, color_bar, finishing, scatter_trace
from data.analysis.rules import (
    ALONE,
    DIFFER,
    EQUIVALENT,
    OVER,
    TIE,
    TOO_FEW,
    UNDECIDED,
    UNLIKE,
    WIN,
)
from data.selection import Value

# Size of the map's drawing area in a window of 1440 x 900; hatching and labels are fitted to it.
WIDTH_PX: Final = 600.0
HEIGHT_PX: Final = 290.0
_APART_PX: Final = 9.0
_LINES_MAX: Final = 40
# Maximum columns and rows in view for which cells have texts.
TEXTS_MAX: Final = (20, 24)
_CHARACTER_PX: Final = 6.6
_HATCH_GREY: Final = "#8C8C8C"
_HATCH_LINE: Final = {"width": 1, "color": _HATCH_GREY}
_CLEAR: Final = "rgba(0,0,0,0)"
# How much of a cell's hue the page's colour hides: of the least lead, and of an undecided cell.
_VEIL_MOST: Final = 0.72
_VEIL_UNDECIDED: Final = 0.84


@dataclass(frozen=True, slots=True)
class MapScene:
    """Input of the map besides the compared cells.

    Attributes:
        columns: Labels along x, in order; a cell's column is its index.
        rows: Labels along y.
        x_title: Axis title with unit.
        knobs: Columns of both axes, with `xs` and `ys`, their values.
        has_winners: Whether the metric has a better direction.
        panel: The value of the panel that all cells share, by column; empty for one map.
        share: Number of panels side by side and one above the other.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    x_title: str
    y_title: str
    title: str
    subtitle: str
    competitors: Competitors
    knobs: tuple[str, str]
    xs: Sequence[Value | None]
    ys: Sequence[Value | None]
    has_winners: bool = True
    panel: Mapping[str, Value | None] = field(default_factory=dict)
    share: tuple[int, int] = (1, 1)

    @property
    def size_px(self) -> tuple[float, float]:
        """Width and height of the drawing area, to which hatching and labels are fitted."""
        return WIDTH_PX / self.share[0], HEIGHT_PX / self.share[1]


@finishing
def build_winner_map(
    cells: pl.DataFrame, scene: MapScene, every: pl.DataFrame | None = None
) -> dict:
    """Build the map as a figure dictionary.

    Traces in order: the hues of winners, and of cells that nobody wins; the page's colour over pale
    ones; the hatching of cells with too few replicates; marks of cells that are not compared;
    texts; a veil with which the browser dims what is not selected; a clear layer over all measured
    cells for hover and click; the legend.

    Args:
        cells: At least one row: `column`, `row`, `outcome`, `competitor` (index of the best one in
            `scene.competitors`), `strength` (of its lead, 0 to 1).
        every: The cells of all panels, which the legend counts.
    """
    outcome = cells["outcome"].to_numpy()
    column, row, best = (cells[name].to_numpy() for name in ("column", "row", "competitor"))
    none = len(scene.competitors)
    codes = np.full(len(cells), np.nan)
    for names, code in (
        ((WIN, UNDECIDED, *((TOO_FEW,) if scene.has_winners else ())), best),
        ((TIE, EQUIVALENT), none),
        ((DIFFER,), none + 1),
    ):
        codes = np.where(np.isin(outcome, names), code, codes)
    veil = np.full(len(cells), np.nan)
    veil = np.where(outcome == WIN, _VEIL_MOST * (1 - cells["strength"].to_numpy()), veil)
    veil = np.where(np.isin(outcome, (UNDECIDED, TOO_FEW)), _VEIL_UNDECIDED, veil)
    listed = cells if every is None else every
    grid = np.full((len(scene.rows), len(scene.columns)), np.nan, dtype=np.float32)
    colored, veiled, measured = grid.copy(), grid.copy(), grid.copy()
    colored[row, column], veiled[row, column], measured[row, column] = codes, veil, 1
    few, marked = outcome == TOO_FEW, np.isin(outcome, [*_MARKS])
    lines = hatching(column[few], row[few], len(scene.columns), len(scene.rows), scene.size_px)
    return {
        "data": [
            _colors(colored, scene),
            _layer("pale", veiled, _CLEAR, "skip"),
            scatter_trace("hatching", *lines, "lines", line=_HATCH_LINE, connectgaps=False),
            _marks(column[marked], row[marked], best[marked], outcome[marked], scene),
            scatter_trace("texts", [], [], "text"),
            _layer("veil", grid, "rgba(127,127,127,0.6)", "skip"),
            _layer("cells", measured, _CLEAR, "none"),
            *_legend(listed["outcome"].to_numpy(), listed["competitor"].to_numpy(), scene),
        ],
        "layout": _layout(scene, np.argwhere(np.isnan(measured)).tolist()),
    }


def _colors(z: np.ndarray, scene: MapScene) -> dict:
    hues = [*scene.competitors.hues, TIE_GREY, *([] if scene.has_winners else [DIFFER_HUE])]
    edges = np.linspace(0, 1, len(hues) + 1)
    steps = [[float(edges[i + k]), hue] for i, hue in enumerate(hues) for k in (0, 1)]
    many = not scene.competitors.has_legend and scene.has_winners
    count = len(scene.competitors)
    at = np.unique(np.linspace(0, count - 1, 9).round().astype(int))
    bar = color_bar(scene.competitors.knob.axis_title) | {
        "tickvals": [*at.tolist(), count],
        "ticktext": [*(scene.competitors.labels[i] for i in at), "no winner"],
    }
    return {
        **_heatmap("winners", z, (-0.5, len(hues) - 0.5), steps),
        "hoverinfo": "skip",
        "showscale": many,
        **({"colorbar": bar} if many else {}),
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


def hatching(
    column: np.ndarray,
    row: np.ndarray,
    columns: int,
    rows: int,
    size_px: tuple[float, float] = (WIDTH_PX, HEIGHT_PX),
) -> tuple[np.ndarray, np.ndarray]:
    """Draw diagonals across cells, with the same slope and distance for any shape of cell.

    Args:
        column: Column of each hatched cell, shape (k,).
        row: Row of each hatched cell, shape (k,).
        columns: Number of columns of the map; a cell is 1 wide and 1 high around its indices.
        rows: Number of rows of the map.
        size_px: Its width and height.

    Returns:
        x and y of one line with gaps (NaN) between the diagonals, float32; all within their cells.
    """
    width_px, height_px = size_px[0] / max(columns, 1), size_px[1] / max(rows, 1)
    run = height_px / width_px
    lines = int(np.clip(round((width_px + height_px) / _APART_PX), 1, _LINES_MAX))
    start = np.linspace(-run, 1, lines + 2)[1:-1]
    ends_x = np.stack((np.maximum(start, 0), np.minimum(start + run, 1)), axis=1)
    ends_y = (ends_x - start[:, None]) / run
    gap = np.full((len(column), lines, 1), np.nan)
    x = column[:, None, None] + 0.96 * (ends_x - 0.5)[None]
    y = row[:, None, None] + 0.92 * (ends_y - 0.5)[None]
    return _with_gaps(x, gap), _with_gaps(y, gap)


def _with_gaps(ends: np.ndarray, gap: np.ndarray) -> np.ndarray:
    return np.concatenate([ends, gap], axis=2).ravel().astype(np.float32)


def _marks(
    column: np.ndarray, row: np.ndarray, best: np.ndarray, outcome: np.ndarray, scene: MapScene
) -> dict:
    """Mark cells of which nothing is judged; those with one competitor by a ring in its hue."""
    is_alone = outcome == ALONE
    hues = np.array(scene.competitors.hues)[best]
    marker = {
        "symbol": [_MARKS[name] for name in outcome],
        "size": 7 if len(scene.columns) <= 40 else 3,
        "line": {"width": 1.5},
        "color": np.where(is_alone, hues, _HATCH_GREY).tolist(),
    }
    return scatter_trace("marks", column, row, marker=marker)


# Outcome of a cell that is not judged to its mark.
_MARKS: Final = {ALONE: "circle-open", OVER: "x-thin-open", UNLIKE: "diamond-open"}
# Outcome to what the legend says of it, its symbol and colour.
_SAID: Final[Mapping[str, tuple[str, str, str]]] = {
    EQUIVALENT: ("equivalent", "square", TIE_GREY),
    UNDECIDED: ("undecided, + runs", "square-open", _HATCH_GREY),
    TIE: ("tie", "square", TIE_GREY),
    DIFFER: ("differ: the highest and its distance", "square", DIFFER_HUE),
    TOO_FEW: ("unproven: leads with too few runs", "hash-open", _HATCH_GREY),
    ALONE: ("one alone", _MARKS[ALONE], _HATCH_GREY),
    OVER: ("none meets the limit", _MARKS[OVER], _HATCH_GREY),
    UNLIKE: ("runs are no replicates", _MARKS[UNLIKE], _HATCH_GREY),
}
# Without a better direction nothing leads.
_TOO_FEW: Final = ("too few runs to be compared", "hash-open", _HATCH_GREY)


def _legend(outcome: np.ndarray, best: np.ndarray, scene: MapScene) -> list[dict]:
    """Return the entries of the legend, each with its number of cells."""
    competitors, entries = scene.competitors, []
    has_winners = scene.has_winners
    if competitors.has_legend and has_winners:
        wins = np.bincount(best[outcome == WIN], minlength=len(competitors))
        entries = [
            _entry(f"{label}: {wins[[*those]].sum():,} won", "square", hue)
            for label, hue, _, those in competitors.legend
        ]
        entries.append(_entry("fuller: larger lead", "square", _HATCH_GREY))
    said = _SAID if has_winners else {**_SAID, TOO_FEW: _TOO_FEW}
    for name, (words, symbol, hue) in said.items():
        if count := int((outcome == name).sum()):
            entries.append(_entry(f"{words}: {count:,}", symbol, hue))
    return entries


def _entry(name: str, symbol: str, hue: str) -> dict:
    marker = {"symbol": symbol, "size": 12, "color": hue, "line": {"width": 1, "color": hue}}
    return scatter_trace("legend", [None], [None], name=name, marker=marker, showlegend=True)


def _index_axis(count: int, title: str) -> dict[str, Any]:
    """Build a numeric axis over the indices of `count` values; the browser adds the labels."""
    return {
        "type": "linear",
        "title": axis_title(title),
        "range": [-0.5, count - 0.5],
        "tickfont": {"size": 12},
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
        "automargin": False,
    }


def _layout(scene: MapScene, missing: list[list[int]]) -> dict[str, Any]:
    longest = max(map(len, scene.rows), default=1)
    top = 46 + 15 * scene.subtitle.count(BREAK)
    # The last label of x is centred on its column, which is narrow on a phone.
    width_px, height_px = scene.size_px
    right = max(8, round(_CHARACTER_PX * len(scene.columns[-1]) / 2) - 4)
    return {
        **base_layout(scene.title, scene.subtitle),
        "margin": {"l": min(46 + 6 * longest, 170), "r": right, "t": top, "b": 50},
        "xaxis": _index_axis(len(scene.columns), scene.x_title),
        "yaxis": _index_axis(len(scene.rows), scene.y_title),
        "dragmode": "zoom",
        "showlegend": False,
        # A zoom is kept only while the axes stay the same.
        "uirevision": f"{scene.x_title} {len(scene.columns)} {scene.y_title} {len(scene.rows)}",
        "meta": {
            "kind": "map",
            "map": {
                "knobs": list(scene.knobs),
                "xs": list(scene.xs),
                "ys": list(scene.ys),
                "missing": missing,
                "place": dict(scene.panel),
            },
            "labels": {"x": list(scene.columns), "y": list(scene.rows)},
            "whole_px": {"x": width_px, "y": height_px},
            "texts_max": list(TEXTS_MAX),
            # The hues of the competitors, of a cell that nobody wins and, last, of a difference.
            "hues": [*scene.competitors.hues, TIE_GREY, DIFFER_HUE],
            "veils": [_VEIL_MOST, _VEIL_UNDECIDED],
        },
    }
