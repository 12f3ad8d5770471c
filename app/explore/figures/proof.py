"""What the runs prove, drawn into the scatter: best sets, standings, bands of frontiers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.marks import styles_of, symbols_of
from app.explore.fronts import Band
from app.explore.roles import NEUTRAL, Encoding
from app.kit.columns import floats
from app.kit.encodings import scatter_trace

# Colours of the theme, which the browser puts in: of texts, of points that miss the limit.
_TEXT: Final = "page"
_MISSED: Final = "missed"
# How much larger a disc is than its point: large discs cost most of the time of drawing.
_DISC_PX: Final = 7
_SET_OPACITY: Final = 0.3
_SHADE: Final = 0.14
_DASHES: Final = {0.25: "dot", 0.5: "dash", 0.75: "longdash"}
_WHOLE: Final = {"marker": {"opacity": 1}}


def set_traces(points: pl.DataFrame, sizes_px: np.ndarray, encoding: Encoding) -> list[dict]:
    """Build a disc behind each member of a best set that has two runs, in the hue of its symbol.

    Args:
        points: With the column `best`.
        sizes_px: Diameters of the points; a disc is a little larger.
    """
    traces = []
    # NULL becomes NaN.
    is_member = floats(points["best"] == "set") == 1
    symbols, x, y = symbols_of(points, encoding), floats(points["x"]), floats(points["y"])
    for style, (_, hue, _) in enumerate(styles_of(encoding)):
        rows = np.flatnonzero(is_member & (symbols == style))
        if len(rows):
            sizes = sizes_px[rows] + _DISC_PX
            marker = {"symbol": "circle", "size": sizes, "color": hue, "opacity": _SET_OPACITY,
                      "line": {"width": 0}}  # fmt: skip
            faint = {"marker": {"opacity": _SET_OPACITY}}
            traces.append(
                scatter_trace("set", x[rows], y[rows], type="scattergl",
                              marker=marker, selected=faint, unselected=faint)
            )  # fmt: skip
    return traces


def maybe_traces(points: pl.DataFrame) -> list[dict]:
    """Build a stroke through each point that may or may not meet the limit; none without one.

    Args:
        points: With the column `standing`.
    """
    is_maybe = points["standing"] == "maybe"
    if points["standing"].null_count() == len(points) or not is_maybe.any():
        return []
    x, y = (floats(points[axis].filter(is_maybe)) for axis in "xy")
    marker = {"symbol": "line-ne-open", "size": 5, "color": _TEXT,
              "line": {"width": 1, "color": _TEXT}, "opacity": 0.5}  # fmt: skip
    return [scatter_trace("maybe", x, y, type="scattergl", marker=marker, unselected=_WHOLE)]


def band_traces(bands: Sequence[Band], encoding: Encoding) -> list[dict]:
    """Build for each symbol the shade between possible and sure frontiers, and its two edges."""
    traces = []
    for _, hue, value in styles_of(encoding):
        own = [band for band in bands if encoding.symbol is None or band.symbol == value]
        if not own:
            continue
        around = [np.concatenate([band.possible, band.sure[::-1]]) for band in own]
        shade = _line("band", around, hue, width=0)
        traces += [
            {**shade, "fill": "toself", "fillcolor": _faint(hue, _SHADE)},
            _line("band", [band.possible for band in own], hue, dash="dot"),
            _line("band", [band.sure for band in own], hue),
        ]
    return traces


def attained_traces(
    lines: Sequence[tuple[Any, float, np.ndarray]], encoding: Encoding
) -> list[dict]:
    """Build for each symbol and chance the lines that one sweep attains."""
    return [
        _line("attained", own, hue, dash=dash)
        for _, hue, value in styles_of(encoding)
        for level, dash in _DASHES.items()
        if (own := [line for symbol, at, line in lines
                    if at == level and (encoding.symbol is None or symbol == value)])
    ]  # fmt: skip


def legend_of_proof(traces: Sequence[dict], has_limit: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return the legend's words for what these traces show, each with its sign."""
    kinds = {trace["meta"]["kind"] for trace in traces}
    disc = {"symbol": "circle", "size": 17, "color": _faint(NEUTRAL, 0.35), "line": {"width": 0}}
    stroke = {"symbol": "line-ne-open", "size": 11, "color": NEUTRAL, "line": {"width": 2}}
    entries: list[tuple[str, dict[str, Any]]] = []
    if "set" in kinds:
        entries.append(("best set", {"marker": disc}))
    if has_limit:
        inside = {"symbol": "circle", "size": 9, "color": NEUTRAL}
        grey = {"symbol": "circle", "size": 9, "color": _MISSED}
        entries += [("within the limit", {"marker": inside}), ("outside it", {"marker": grey})]
    if "maybe" in kinds:
        entries.append(("maybe within it", {"marker": stroke}))
    if "band" in kinds:
        entries += [("sure frontier", _key("solid")), ("possible frontier", _key("dot"))]
    if "attained" in kinds:
        entries += [
            (f"{100 * at:.0f} % of sweeps attain", _key(dash)) for at, dash in _DASHES.items()
        ]
    return entries


def _key(dash: str) -> dict[str, Any]:
    return {"mode": "lines", "line": {"width": 1.4, "color": NEUTRAL, "dash": dash}}


def _line(
    kind: str, parts: Sequence[np.ndarray], hue: str, width: float = 1.2, dash: str = "solid"
) -> dict:
    gap = np.full((1, 2), np.nan)
    path = np.concatenate([piece for part in parts for piece in (part, gap)])[:-1]
    look = {"color": hue, "width": width, "dash": dash}
    return scatter_trace(kind, path[:, 0], path[:, 1], "lines", line=look)


def _faint(hue: str, opacity: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
