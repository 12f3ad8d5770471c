"""What stands around the points of a figure: axes, the legend, and what the runs prove of them."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.marks import MARKS, symbols_of
from app.explore.fronts import Band
from app.explore.roles import NEUTRAL, Encoding
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    GOVERNOR_HUE,
    itr_sizes_px,
    metric_ticks,
    scatter_trace,
)
from app.kit.words import knob_words
from data.analysis.coded_rows import Part
from data.knobs import Knob
from data.metrics import Metric

# Quartile distances from the nearer quartile at which a value is far out (Tukey, 1977).
_FAR: Final = 3.0
# An axis leaves them out if that makes it so many times shorter.
_SHORTER: Final = 2.0
# Of lines, whose slopes are what they show.
_MUCH_SHORTER: Final = 10.0
# The most that is left out, a share of the points: of fewer than 20 none.
_FEW: Final = 0.05
# Colours of the theme, which the browser puts in: of texts, of points that miss the limit.
_TEXT: Final = "page"
_MISSED: Final = "missed"
# How much larger a disc is than its point: large discs cost most of the time of drawing.
_DISC_PX: Final = 7
_SET_OPACITY: Final = 0.3
_SHADE: Final = 0.14
_DASHES: Final = {0.25: "dot", 0.5: "dash", 0.75: "longdash"}
_CROWDED_DECADES: Final = 4.0
_MOST_DECADES: Final = 8
_WHOLE: Final = {"marker": {"opacity": 1}}


def legend_traces(
    shown: Part, encoding: Encoding, has_marks: bool, has_frontier: bool
) -> list[dict]:
    """Build the legend's entries: symbols, colours, three sizes, marks of winners, frontier."""
    entries = []
    symbols = encoding.symbols
    if encoding.symbol is not None:
        there = shown.values(encoding.symbol.column)
        for value, label, mark, hue in zip(
            symbols.values, symbols.labels, symbols.symbols, encoding.symbol_hues, strict=True
        ):
            if value in there:
                entries.append(legend_entry(0, label, mark, 9, hue))
    entries += _colour_entries(shown, encoding)
    entries += _size_entries(shown, encoding.size)
    entries += [
        legend_entry(3, words, mark, 11, NEUTRAL, 2)
        for _, column, mark, words in MARKS
        if has_marks and not np.isnan(shown.floats(column)).all()
    ]
    if has_frontier:
        line = legend_entry(3, "Pareto frontier", "circle-open", 9, NEUTRAL)
        entries.append({**line, "mode": "lines+markers", "line": {"width": 1.4, "color": NEUTRAL}})
    return entries


def _colour_entries(shown: Part, encoding: Encoding) -> list[dict]:
    colour, hues = encoding.colour, encoding.hues
    if colour is None:
        return []
    if hues is not None and colour is not encoding.symbol:
        return [legend_entry(1, label, "circle", 9, hue) for label, hue, *_ in hues.legend]
    if encoding.is_scaled and None in shown.values(colour.column):
        words = f"{colour.menu_title} {colour.facet.null_word}"
        return [legend_entry(1, words, "circle", 9, GOVERNOR_HUE)]
    return []


def legend_roles(encoding: Encoding) -> list[dict[str, Any]]:
    """Return the lines of the legend whose title is a menu: of which knob, and what sets it."""
    roles = (
        ("sym", "symbol", encoding.symbol), ("col", "colour", encoding.colour),
        ("size", "size", encoding.size),
    )  # fmt: skip
    return [
        {"row": row, "control": f"explore-{key}", "word": word,
         "title": "none" if knob is None else knob.menu_title}
        for row, (key, word, knob) in enumerate(roles)
    ]  # fmt: skip


def _size_entries(shown: Part, size: Knob | None) -> list[dict]:
    if size is None:
        return []
    entries = []
    column = shown.codes(size.column)
    sizes = [column.values[code] for code in column.there.tolist()]
    known = np.array(sorted(value for value in sizes if value is not None), np.float64)
    if known.size:
        three = np.unique(known[[0, known.size // 2, -1]])
        for value, pixels in zip(three, itr_sizes_px(three, known[-1]), strict=True):
            entries.append(
                legend_entry(2, size.words(float(value)), "circle", float(pixels), NEUTRAL)
            )
    if None in sizes:
        unset = shown.taken(np.flatnonzero(column.is_null)).values("system")
        words = knob_words(size, None, unset) or f"{size.menu_title} {size.facet.null_word}"
        entries.append(legend_entry(2, words, "circle-open-dot", ADAPTIVE_SIZE_PX, NEUTRAL))
    return entries


def legend_entry(
    row: int, name: str, symbol: str, size: float, hue: str, line_width: float = 1
) -> dict:
    line = {"width": line_width, "color": hue}
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": {"kind": "legend", "row": row},
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "showlegend": True,
        "name": name,
        "marker": {"symbol": symbol, "size": size, "color": hue, "line": line},
    }


def metric_axis(
    measure: Metric, log: bool, values: np.ndarray, deviations: np.ndarray, needed: Sequence[float]
) -> dict[str, Any]:
    """Return an axis for a metric.

    Args:
        values: Means of the points, in the metric's unit, shape (points,).
        deviations: Their standard deviations; NaN where n is 1.
        needed: Values that the axis shows, if points lie around them: best points, the limit.
    """
    top, ends = float(np.abs(values).max()), _range(values, deviations, log, needed)
    # Each digit of few decades would have a label, one on another.
    decades = ends[1] - ends[0] if log else 0.0
    is_crowded = 1 <= decades <= _CROWDED_DECADES
    # Of more decades the starts alone have labels; so many ticks leave room when zoomed in too.
    few = {"nticks": min(math.ceil(decades), _MOST_DECADES)} if decades > _CROWDED_DECADES else {}
    return {
        "type": "log" if log else "linear",
        "automargin": False,
        "zeroline": False,
        "separatethousands": True,
        **({"dtick": "D2"} if is_crowded else few),
        **metric_ticks(measure, top, log),
        "range": ends,
    }


def _range(
    values: np.ndarray, deviations: np.ndarray, log: bool, needed: Sequence[float]
) -> list[float]:
    """Return the ends of an axis, with a margin of at least a typical error bar."""
    bar = float(pl.Series(deviations, nan_to_null=True).median() or 0.0)  # type: ignore[arg-type]
    log = log and float(values.min()) > 0
    if log:
        values, bar = np.log10(values), 0.0
        needed = [math.log10(value) for value in needed if value > 0]
    low, high = _ends(values, needed)
    margin = max(0.06 * (high - low) or 0.06 * abs(high), 1.2 * bar) or 1.0
    return [low - margin, high + margin]


def line_range(values: np.ndarray) -> tuple[list[float], int] | None:
    """Return the ends of a linear axis that leaves out a few values, and their number.

    Args:
        values: Of the lines' points, shape (n,), finite.

    Returns:
        None where no value is so far out that the others would be flat, or where many are.
    """
    low, high = _ends(values, (), _MUCH_SHORTER) if len(values) else (0.0, 0.0)
    beyond = int(((values < low) | (values > high)).sum())
    margin = 0.06 * (high - low)
    return ([low - margin, high + margin], beyond) if beyond else None


def _ends(
    values: np.ndarray, needed: Sequence[float], shorter: float = _SHORTER
) -> tuple[float, float]:
    """Return the least and the greatest value, without a few far out where that is much shorter."""
    whole = float(values.min()), float(values.max())
    first, third = np.quantile(values, (0.25, 0.75))
    if max(first - whole[0], whole[1] - third) <= _FAR * (third - first):
        return whole
    ordered = np.sort(values)
    distance = np.maximum(first - ordered, ordered - third)
    furthest = np.argsort(-distance, kind="stable")[: int(_FEW * len(ordered))]
    far = furthest[distance[furthest] > _FAR * (third - first)]
    near = np.delete(ordered, far)
    shown = [value for value in needed if whole[0] <= value <= whole[1]]
    ends = min([float(near[0]), *shown]), max([float(near[-1]), *shown])
    is_shorter = 0 < shorter * (ends[1] - ends[0]) <= whole[1] - whole[0]
    return ends if is_shorter else whole


def set_traces(points: Part, sizes_px: np.ndarray, encoding: Encoding) -> list[dict]:
    """Build a disc behind each member of a best set that has two runs, in the hue of its symbol.

    Args:
        points: With the column `best`.
        sizes_px: Diameters of the points; a disc is a little larger.
    """
    traces = []
    is_member = ~points.differing({"best": "set"})["best"]
    symbols, x, y = symbols_of(points, encoding), points.floats("x"), points.floats("y")
    for style, (_, hue, _) in enumerate(encoding.styles):
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


def maybe_traces(points: Part) -> list[dict]:
    """Build a stroke through each point that may or may not meet the limit; none without one.

    Args:
        points: With the column `standing`.
    """
    is_maybe = ~points.differing({"standing": "maybe"})["standing"]
    if not is_maybe.any():
        return []
    x, y = (points.floats(axis)[is_maybe] for axis in "xy")
    marker = {"symbol": "line-ne-open", "size": 5, "color": _TEXT,
              "line": {"width": 1, "color": _TEXT}, "opacity": 0.5}  # fmt: skip
    return [scatter_trace("maybe", x, y, type="scattergl", marker=marker, unselected=_WHOLE)]


def band_traces(bands: Sequence[Band], encoding: Encoding) -> list[dict]:
    """Build for each symbol the shade between possible and sure frontiers, and its two edges."""
    traces = []
    for _, hue, value in encoding.styles:
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
        for _, hue, value in encoding.styles
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
