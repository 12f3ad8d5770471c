"""Frontiers and the marks of the best points, of each system among like runs within the limit.

Like runs have the same given knobs (dataset, workload, load, sizes) and machine.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.explore.opening_rule import is_energy_of_item
from app.explore.roles import Encoding
from app.explore.state import ExploreState
from app.kit.encodings import scatter_trace
from app.kit.words import load_words
from data.analysis.coded_rows import Part, distinct
from data.analysis.pareto import least_of_groups, pareto_mask
from data.catalogue import Catalogue

# Name, column, symbol and legend of each mark of a winner.
MARKS: Final = (
    ("performance", "performance", "cross-thin-open", "+ best performance"),
    ("energy", "energy_j", "x-thin-open", "x lowest energy"),
    ("edp", "edp_js", "circle-open", "o best energy-delay product"),
)
_NAMED_MAX: Final = 3
_MARKED_MAX: Final = 30
_ALONE_MAX: Final = 3
# Index of the style of a group with several symbols: the last one.
EVERY: Final = -1
# From this number of points on, WebGL draws a frontier.
_MANY: Final = 400


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands out among the points that compete: one system (and symbol) at like given knobs.

    Where a point is alone by its symbol only, the symbols compete with each other, as they do in
    the table of best settings.

    Attributes:
        symbol: Index of each group's style, shape (k,); groups are ordered by it.
        fronts: Of each group the points that no other beats within the limit; none without axes
            that have a better end.
        best: For each mark the symbol and the point of each group's best within the limit; groups
            of one point have none where there are many groups, or several and only such: marks
            would cover all points.
        missed: The first point of each group without a point within the limit.
        is_contest: Whether settings compete; without it there are no fronts and no best.
    """

    symbol: np.ndarray
    fronts: tuple[np.ndarray, ...]
    best: dict[str, list[tuple[int, int]]]
    missed: np.ndarray
    is_contest: bool

    def needed(self) -> np.ndarray:
        """Return the points that thinning must keep."""
        best = np.array([i for rows in self.best.values() for _, i in rows], np.int64)
        return np.concatenate([best, *self.fronts])


def find_marks(
    points: Part,
    state: ExploreState,
    encoding: Encoding,
    catalogue: Catalogue,
    varying: Collection[str],
    is_contest: bool = True,
) -> Marks:
    """Find frontiers and best points.

    Args:
        points: With `choice_columns`; `limited`, the mean of the limited metric; and the columns
            of MARKS, less of each being better.
        varying: Columns with several values in the study.
        is_contest: Whether settings compete; runs of one setting have no frontier and no best.
    """
    symbols = symbols_of(points, encoding)
    _, group = points.numbered(name for name in catalogue.choice_columns if name in varying)
    apart = distinct(symbols * (group.max(initial=0) + 1) + group)[1]
    together, alone = (np.bincount(numbers)[numbers] for numbers in (group, apart))
    if ((alone == 1) & (together > 1)).any():
        # A point that is alone by its symbol would be the best of it, as the worst of all too.
        symbols = np.full(len(points), EVERY)
    else:
        group = apart
    first, group = distinct(group)
    symbol = symbols[first]
    within = _within(points, state, catalogue)
    rows = np.flatnonzero(within & is_contest)
    sizes = np.bincount(group)
    if len(symbol) > _MARKED_MAX or (len(symbol) > _ALONE_MAX and sizes.max() == 1):
        rows = rows[(sizes > 1)[group[rows]]]
    rows = rows[np.argsort(group[rows], kind="stable")]
    own = group[rows]
    groups = np.split(rows, np.searchsorted(own, np.arange(1, len(symbol))))
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    missed = first[np.bincount(group, within) == 0]
    fronts = _fronts(points, groups, directions_of(state, catalogue))
    best: dict[str, list[tuple[int, int]]] = {}
    # Beside the energy of an item the lowest is of items, not of runs that are equally long.
    is_of_items = is_energy_of_item(catalogue.metric(state.y))
    for kind, column, _, _ in MARKS:
        if is_of_items and kind == "edp":
            best[kind] = []
            continue
        values = points.floats("y" if is_of_items and kind == "energy" else column)[rows]
        least = least_of_groups(own, values)
        there = np.isin(own[starts], own[least])
        # Of several that are all equal none stands out.
        is_less = values[least] < np.fmax.reduceat(values, starts)[there]
        is_alone = np.add.reduceat(~np.isnan(values), starts, dtype=np.int64)[there] == 1
        least = rows[least[is_less | is_alone]]
        best[kind] = [(int(symbol[group[row]]), int(row)) for row in least]
    return Marks(symbol, fronts, best, missed, is_contest)


def _fronts(
    points: Part, groups: Sequence[np.ndarray], signs: tuple[float, float] | None
) -> tuple[np.ndarray, ...]:
    if signs is None:
        return ()
    x, y = (sign * points.floats(axis) for sign, axis in zip(signs, "xy", strict=True))
    return tuple(rows[pareto_mask(x[rows], y[rows])] for rows in groups)


def symbols_of(points: Part, encoding: Encoding) -> np.ndarray:
    """Return the index of each point's style among those of its encoding, shape (points,)."""
    if encoding.symbol is None or len(encoding.symbols) == 1:
        return np.zeros(len(points), np.int64)
    column = points.codes(encoding.symbol.column)
    places = {value: place for place, value in enumerate(encoding.symbols.values)}
    return np.array([places.get(value, EVERY) for value in column.values], np.int64)[column.codes]


def _within(points: Part, state: ExploreState, catalogue: Catalogue) -> np.ndarray:
    if state.limit is None:
        return np.ones(len(points), dtype=bool)
    limited = points.floats("limited")
    is_least = catalogue.metric(state.limited).better == "more"
    return limited >= state.limit if is_least else limited <= state.limit


def directions_of(state: ExploreState, catalogue: Catalogue) -> tuple[float, float] | None:
    """Return 1 for an axis of which less is better, else -1; None where neither is."""
    better = [catalogue.metric(name).better for name in (state.x, state.y)]
    if None in better:
        return None
    return 1.0 if better[0] == "less" else -1.0, 1.0 if better[1] == "less" else -1.0


def frontier_traces(
    points: Part, marks: Marks, encoding: Encoding, is_less_better: bool
) -> list[dict]:
    """Build one trace a symbol; it has a line for each group, with gaps between them.

    Args:
        is_less_better: Of the metric along x.
    """
    x, y = points.floats("x"), points.floats("y")
    styles = encoding.styles
    lines: dict[int, list[np.ndarray]] = {}
    for symbol, front in zip(marks.symbol, marks.fronts, strict=False):
        if len(front):
            gap = [np.full((1, 2), np.nan)] if symbol in lines else []
            line = np.column_stack((x[front], y[front]))[np.lexsort((y[front], x[front]))]
            line = line[np.append(True, (line[1:] != line[:-1]).any(axis=1))]
            lines.setdefault(int(symbol), []).extend([*gap, line])
    # Steps stay on measured values: if less is better, the line drops after each member.
    shape = "hv" if is_less_better else "vh"
    return [_frontier_trace(styles[s], np.concatenate(lines[s]), shape) for s in sorted(lines)]


def _frontier_trace(style: tuple, line: np.ndarray, shape: str) -> dict:
    symbol, hue, value = style
    return scatter_trace(
        "frontier",
        line[:, 0],
        line[:, 1],
        "lines+markers",
        type="scattergl" if len(line) > _MANY else "scatter",
        name=f"frontier of {value}",
        meta={"kind": "frontier", "system": value},
        line={"color": hue, "width": 1.4, "shape": shape},
        marker={"symbol": f"{symbol}-open", "size": 13, "color": hue, "line": {"width": 1.2}},
        unselected={"marker": {"opacity": 1}},
    )


def winner_traces(points: Part, marks: Marks, encoding: Encoding) -> list[dict]:
    """Build one trace a mark."""
    styles, x, y = encoding.styles, points.floats("x"), points.floats("y")
    return [
        _winner_trace(kind, mark, x[[i for _, i in marks.best[kind]]],
                      y[[i for _, i in marks.best[kind]]],
                      [styles[symbol][1] for symbol, _ in marks.best[kind]])
        for kind, _, mark, _ in MARKS
    ]  # fmt: skip


def _winner_trace(kind: str, symbol: str, x: np.ndarray, y: np.ndarray, hues: list[str]) -> dict:
    size = 21 if kind == "edp" else 19
    return scatter_trace(
        "winner",
        x,
        y,
        name=kind,
        meta={"kind": "winner", "winner": kind},
        marker={"symbol": symbol, "size": size, "color": hues, "line": {"width": 3, "color": hues}},
        unselected={"marker": {"opacity": 1}},
    )


def odd_trace(points: Part) -> list[dict]:
    """Build the trace with a sign at each point with odd runs; none without such a point."""
    is_odd = ~points.codes("odd").is_null
    if not is_odd.any():
        return []
    return [
        scatter_trace(
            "odd",
            points.floats("x")[is_odd],
            points.floats("y")[is_odd],
            "text",
            name="odd runs",
            text="!",
            textposition="top right",
            textfont={"size": 14, "weight": 700},
        )
    ]


def missed_words(points: Part, marks: Marks) -> str:
    """Return which systems have no point within the limit, and at which load; empty for none."""
    if not len(marks.missed):
        return ""
    columns = ("load_qps", "message_bytes", "system", "system_label")
    rows = list(zip(*points.listed(columns, marks.missed).values(), strict=True))
    rows.sort(key=lambda row: [(value is not None, value) for value in row[:3]])
    many = len(points.numbered(columns[:2])[0]) > 1
    named = list(dict.fromkeys(_missed_name(row, many) for row in rows))
    more = len(named) - _NAMED_MAX
    listed = ", ".join(named[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"limit missed by {listed}"


def _missed_name(row: tuple[Any, ...], many: bool) -> str:
    load_qps, message_bytes, system, label = row
    name = label or system or "no system"
    load = load_words(load_qps, message_bytes) if many else ""
    return f"{name} {load}".rstrip()
