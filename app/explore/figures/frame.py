"""What stands around the points of a figure: axes that fit most of them, and the legend."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.marks import (
    MARKS,
)
from app.explore.roles import NEUTRAL, Encoding
from app.kit.columns import floats, values_of
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    GOVERNOR_HUE,
    itr_sizes_px,
    metric_ticks,
    scatter_trace,
)
from app.kit.words import knob_words
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


def legend_traces(shown: pl.DataFrame, encoding: Encoding, has_frontier: bool) -> list[dict]:
    """Build the legend's entries: symbols, colours, three sizes, marks of winners, frontier."""
    entries = []
    symbols = encoding.symbols
    if encoding.symbol is not None:
        there = values_of(shown[encoding.symbol.column])
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
        if shown[column].count()
    ]
    if has_frontier:
        line = legend_entry(3, "Pareto frontier", "circle-open", 9, NEUTRAL)
        entries.append({**line, "mode": "lines+markers", "line": {"width": 1.4, "color": NEUTRAL}})
    return entries


def _colour_entries(shown: pl.DataFrame, encoding: Encoding) -> list[dict]:
    colour, hues = encoding.colour, encoding.hues
    if colour is None:
        return []
    if hues is not None and colour is not encoding.symbol:
        return [legend_entry(1, label, "circle", 9, hue) for label, hue, *_ in hues.legend]
    if encoding.is_scaled and shown[colour.column].null_count():
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


def _size_entries(shown: pl.DataFrame, size: Knob | None) -> list[dict]:
    if size is None:
        return []
    entries = []
    known = np.unique(floats(shown[size.column]))
    known = known[~np.isnan(known)]
    if known.size:
        three = np.unique(known[[0, known.size // 2, -1]])
        for value, pixels in zip(three, itr_sizes_px(three, known[-1]), strict=True):
            entries.append(
                legend_entry(2, size.words(float(value)), "circle", float(pixels), NEUTRAL)
            )
    if shown[size.column].null_count():
        is_unset = np.isnan(floats(shown[size.column]))
        unset = values_of(shown["system"][np.flatnonzero(is_unset)])
        words = knob_words(size, None, unset) or f"{size.menu_title} {size.facet.null_word}"
        entries.append(legend_entry(2, words, "circle-open-dot", ADAPTIVE_SIZE_PX, NEUTRAL))
    return entries


def legend_entry(
    row: int, name: str, symbol: str, size: float, hue: str, line_width: float = 1
) -> dict:
    line = {"width": line_width, "color": hue}
    marker = {"symbol": symbol, "size": size, "color": hue, "line": line}
    own: dict[str, Any] = {
        "meta": {"kind": "legend", "row": row},
        "name": name,
        "marker": marker,
        "showlegend": True,
    }
    return scatter_trace("legend", [None], [None], **own)


def metric_axis(
    measure: Metric, log: bool, values: pl.Series, deviations: pl.Series, needed: Sequence[float]
) -> dict[str, Any]:
    """Return an axis for a metric.

    Args:
        values: Means of the points, in the metric's unit, shape (points,).
        deviations: Their standard deviations; NULL where n is 1.
        needed: Values that the axis shows, if points lie around them: best points, the limit.
    """
    numbers = floats(values)
    top = float(np.abs(numbers).max())
    return {
        "type": "log" if log else "linear",
        "automargin": False,
        "zeroline": False,
        "separatethousands": True,
        **metric_ticks(measure, top, log),
        "range": _range(numbers, deviations, log, needed),
    }


def _range(
    values: np.ndarray, deviations: pl.Series, log: bool, needed: Sequence[float]
) -> list[float]:
    """Return the ends of an axis, with a margin of at least a typical error bar."""
    bar = float(deviations.cast(pl.Float64).median() or 0.0)  # type: ignore[arg-type]
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
    ordered = np.sort(values)
    whole = float(ordered[0]), float(ordered[-1])
    first, third = np.quantile(ordered, (0.25, 0.75))
    distance = np.maximum(first - ordered, ordered - third)
    furthest = np.argsort(-distance, kind="stable")[: int(_FEW * len(ordered))]
    far = furthest[distance[furthest] > _FAR * (third - first)]
    near = np.delete(ordered, far)
    shown = [value for value in needed if whole[0] <= value <= whole[1]]
    ends = min([float(near[0]), *shown]), max([float(near[-1]), *shown])
    is_shorter = 0 < shorter * (ends[1] - ends[0]) <= whole[1] - whole[0]
    return ends if is_shorter else whole
