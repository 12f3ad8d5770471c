"""The legend of the scatter: its entries, and the menus that its titles are."""

from typing import Any

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
    scatter_trace,
)
from app.kit.words import knob_words
from data.knobs import Knob


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
