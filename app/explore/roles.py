"""The knobs of the scatter's colour, size and symbol, and the resulting traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from app.explore.state import ExploreState
from app.kit.competitors import Competitors, competitors_of
from app.kit.encodings import OKABE_ITO
from app.kit.panels import NONE
from data.analysis.coded_rows import Part
from data.catalogue import Catalogue
from data.knobs import Knob
from data.selection import Value

NEUTRAL: Final = "#808080"
# So many whole numbers at most have a hue each.
_MOST_APART: Final = 3


@dataclass(frozen=True)
class Encoding:
    """The knobs of one figure; None for a role without a knob.

    Attributes:
        symbols: Symbols, hues and names of the values of `symbol`.
        hues: The same for the values of `colour`; None if these are numbers of a scale.
    """

    colour: Knob | None
    size: Knob | None
    symbol: Knob | None
    symbols: Competitors
    hues: Competitors | None

    @cached_property
    def symbol_hues(self) -> tuple[str, ...]:
        """Hues of the symbols' frontiers, marks and legend; grey if hues encode another knob."""
        is_other = self.hues is not None and self.colour is not self.symbol
        return (NEUTRAL,) * len(self.symbols) if is_other else self.symbols.hues

    @cached_property
    def is_scaled(self) -> bool:
        """Whether colours are a scale for numbers."""
        return self.colour is not None and self.hues is None

    @cached_property
    def styles(self) -> list[tuple[str, str, Any]]:
        """Symbol, hue and value of each symbol of a figure, and of all symbols as the last."""
        if self.symbol is None:
            return [("circle", OKABE_ITO[0], "all")]
        symbols = self.symbols
        styles = zip(symbols.symbols, self.symbol_hues, symbols.values, strict=True)
        return [*styles, ("circle", NEUTRAL, "all")]


def encoding_of(
    points: Part, state: ExploreState, systems: Sequence[str], catalogue: Catalogue
) -> Encoding:
    """Make the encoding of some points.

    Args:
        systems: All systems of the lake, so that each keeps its symbol under any filter.
    """
    colour, size, symbol = (
        None if name == NONE else catalogue.knobs[name]
        for name in (state.colour, state.size, state.symbol)
    )
    labels = labels_of(points)
    by_symbol = symbol or catalogue.knobs["system"]
    values = points.values(by_symbol.column) if symbol else []
    hues = None
    if colour is not None:
        column, shades = points.codes(colour.column), points.values(colour.column)
        # Names have a hue each, and so have a few whole numbers, and one number beside none.
        if _is_few(colour, shades) or colour.is_name:
            counts = dict(zip(column.values, np.bincount(column.codes).tolist(), strict=False))
            ordered = sorted(
                shades, key=lambda v: (-counts[v], v is not None, "" if v is None else v)
            )
            hues = competitors_of(colour, shades, systems, labels, ordered)
    return Encoding(colour, size, symbol, competitors_of(by_symbol, values, systems, labels), hues)


def _is_few(knob: Knob, values: Sequence[Value | None]) -> bool:
    """Return whether a scale would show values that nobody set between those that were: 0.5."""
    known = [float(value) for value in values if value is not None and knob.facet.is_number]
    is_whole = knob.is_declared and all(value.is_integer() for value in known)
    return (None in values and len(values) == 2) or (is_whole and len(known) <= _MOST_APART)


def labels_of(points: Part) -> dict[str, str]:
    """Return system to label, in the order of the systems."""
    first, _ = points.numbered(["system"])
    pairs = zip(*points.listed(("system", "system_label"), first).values(), strict=True)
    return dict(sorted(pairs, key=lambda pair: pair[0] or ""))


def _told(encoding: Encoding) -> list[tuple[Knob, bool]]:
    """Return the knobs that tell traces apart: by each value, or by whether there is a number."""
    told = (
        (encoding.symbol, True), (encoding.colour, encoding.hues is not None),
        (encoding.size, False),
    )  # fmt: skip
    return [(knob, is_each) for knob, is_each in told if knob is not None]


def in_trace_order(points: Part, encoding: Encoding) -> Part:
    """Sort points by trace; for the usual knobs the query already sorts them."""
    roles = (encoding.colour, encoding.size, encoding.symbol)
    is_sorted = [knob and knob.name for knob in roles] == ["dvfs", "itr", "system"]
    if is_sorted or not any(roles) or not len(points):
        return points
    columns = ((points.codes(knob.column), is_each) for knob, is_each in _told(encoding))
    keys = [column.ranks() if is_each else column.is_null for column, is_each in columns]
    return points.taken(np.lexsort(keys[::-1]))


def trace_groups(points: Part, encoding: Encoding) -> list[tuple[int, int]]:
    """Return the row ranges of the traces: one symbol, one hue or scale, with a size or without.

    Args:
        points: Sorted by `in_trace_order`.
    """
    is_first = np.zeros(len(points), bool)
    is_first[:1] = True
    for knob, is_each in _told(encoding):
        column = points.codes(knob.column)
        codes = column.codes if is_each else column.is_null
        is_first[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(is_first)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(points)], strict=True))
