"""Frontiers and the marks of the best points, of each system among like runs within the limit.

Like runs have the same given knobs (dataset, workload, load, sizes) and machine.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.roles import Encoding
from app.explore.state import ExploreState
from app.kit.columns import floats
from app.kit.encodings import OKABE_ITO, scatter_trace
from app.kit.words import load_words
from data.analysis.pareto import frontier, pareto_mask
from data.analysis.winners import find_winners
from data.knobs import KNOBS, choice_columns
from data.metrics import metric

# Name, column, symbol and legend of each mark of a winner.
MARKS: Final = (
    ("performance", "performance", "cross-thin-open", "+ best performance"),
    ("energy", "energy_j", "x-thin-open", "x lowest energy"),
    ("edp", "edp_js", "circle-open", "o best energy-delay product"),
)
_NAMED_MAX: Final = 3
# From this number of points on, WebGL draws a frontier.
_MANY: Final = 400


@dataclass(frozen=True, slots=True)
class LikeGroups:
    """Points that compete: one system (and symbol) at the same given knobs and machine.

    Attributes:
        group: Number of each point's group, shape (n,); ordered by symbol.
        symbol: Index of each group's symbol, shape (k,).
        within: Whether each point meets the limit, shape (n,).
    """

    group: np.ndarray
    symbol: np.ndarray
    within: np.ndarray

    def members(self) -> list[np.ndarray]:
        """Return the points of each group within the limit."""
        order = np.flatnonzero(self.within)
        order = order[np.argsort(self.group[order], kind="stable")]
        return np.split(order, np.searchsorted(self.group[order], np.arange(1, len(self.symbol))))

    def missed(self) -> np.ndarray:
        """Return the first point of each group without a point within the limit."""
        first = np.unique(self.group, return_index=True)[1]
        return first[np.bincount(self.group, self.within) == 0]


def like_groups(points: pl.DataFrame, state: ExploreState, encoding: Encoding) -> LikeGroups:
    """Group the points whose best ones are marked together.

    Args:
        points: With the columns of `choice_columns` and `limited`, the mean of the limited metric.
    """
    symbols = np.zeros(len(points), np.int64)
    if encoding.symbol is not None:
        places = {value: place for place, value in enumerate(encoding.symbols.values)}
        column = points[encoding.symbol.column]
        symbols = np.array([places[value] for value in column.to_list()], np.int64)
    group = symbols
    for name in choice_columns():
        codes = _codes(points[name])
        group = np.unique(group * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    first = np.unique(group, return_index=True)[1]
    return LikeGroups(group, symbols[first], _within(points, state))


def _codes(column: pl.Series) -> np.ndarray:
    if column.n_unique() == 1:
        return np.zeros(len(column), np.int64)
    if column.dtype == pl.String:
        column = column.cast(pl.Categorical)
    values = column.to_physical() if column.dtype == pl.Categorical else column
    return np.unique(values.to_numpy(), return_inverse=True)[1]


def _within(points: pl.DataFrame, state: ExploreState) -> np.ndarray:
    if state.limit is None:
        return np.ones(len(points), dtype=bool)
    limited = floats(points["limited"])
    is_least = metric(state.limited).better == "more"
    return limited >= state.limit if is_least else limited <= state.limit


def styles_of(encoding: Encoding) -> list[tuple[str, str, Any]]:
    """Return symbol, hue and value of each symbol of a figure."""
    if encoding.symbol is None:
        return [("circle", OKABE_ITO[0], "all")]
    symbols = encoding.symbols
    return list(zip(symbols.symbols, encoding.symbol_hues, symbols.values, strict=True))


def directions_of(state: ExploreState) -> tuple[float, float] | None:
    """Return 1 for an axis of which less is better, else -1; None where neither is."""
    better = [metric(name).better for name in (state.x, state.y)]
    if None in better:
        return None
    return 1.0 if better[0] == "less" else -1.0, 1.0 if better[1] == "less" else -1.0


def frontier_traces(
    points: pl.DataFrame, state: ExploreState, encoding: Encoding, like: LikeGroups
) -> list[dict]:
    """Build one trace a symbol; it has a line for each group, with gaps between them."""
    signs = directions_of(state)
    if not state.frontier or signs is None:
        return []
    x, y = floats(points["x"]), floats(points["y"])
    styles = styles_of(encoding)
    lines: dict[int, list[np.ndarray]] = {}
    for symbol, mine in zip(like.symbol, like.members(), strict=True):
        if len(mine):
            mask = pareto_mask(signs[0] * x[mine], signs[1] * y[mine])
            gap = [np.full((1, 2), np.nan)] if symbol in lines else []
            line = np.column_stack(frontier(x[mine], y[mine], mask))
            lines.setdefault(int(symbol), []).extend([*gap, line])
    # Steps stay on measured values: if less is better, the line drops after each member.
    shape = "hv" if signs[0] > 0 else "vh"
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


def winner_indices(points: pl.DataFrame, like: LikeGroups) -> dict[str, list[tuple[int, int]]]:
    """Return for each mark the symbol and the index of each group's best point within the limit."""
    rows = np.flatnonzero(like.within)
    values = [floats(points[column])[rows] for _, column, _, _ in MARKS]
    winners = find_winners(like.group[rows], *values)
    return {
        kind: [
            (int(like.symbol[number]), int(rows[index]))
            for number, best in winners.items()
            if (index := getattr(best, kind)) is not None
        ]
        for kind, _, _, _ in MARKS
    }


def winner_traces(points: pl.DataFrame, encoding: Encoding, like: LikeGroups) -> list[dict]:
    """Build one trace a mark."""
    styles, best = styles_of(encoding), winner_indices(points, like)
    return [
        _winner_trace(kind, mark, points[[i for _, i in best[kind]]],
                      [styles[symbol][1] for symbol, _ in best[kind]])
        for kind, _, mark, _ in MARKS
    ]  # fmt: skip


def _winner_trace(kind: str, symbol: str, rows: pl.DataFrame, hues: list[str]) -> dict:
    size = 21 if kind == "edp" else 19
    return scatter_trace(
        "winner",
        floats(rows["x"]),
        floats(rows["y"]),
        name=kind,
        meta={"kind": "winner", "winner": kind},
        marker={"symbol": symbol, "size": size, "color": hues, "line": {"width": 3, "color": hues}},
        unselected={"marker": {"opacity": 1}},
    )


def odd_trace(points: pl.DataFrame) -> list[dict]:
    """Build the trace with a sign at each point with odd runs; none without such a point."""
    rows = points.filter(pl.col("odd").is_not_null()) if "odd" in points.columns else points[:0]
    if not len(rows):
        return []
    return [
        scatter_trace(
            "odd",
            floats(rows["x"]),
            floats(rows["y"]),
            "text",
            name="odd runs",
            text="!",
            textposition="top right",
            textfont={"size": 14, "weight": 700},
        )
    ]


def missed_words(points: pl.DataFrame, like: LikeGroups) -> str:
    """Return which systems have no point within the limit, and at which load; empty for none."""
    rows = points[like.missed().tolist()].sort("load_qps", "message_bytes", "system")
    if not len(rows):
        return ""
    many = points.select("load_qps", "message_bytes").n_unique() > 1
    names = [_missed_name(row, many) for row in rows.iter_rows(named=True)]
    named = list(dict.fromkeys(names))
    more = len(named) - _NAMED_MAX
    listed = ", ".join(named[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"limit missed by {listed}"


def _missed_name(row: dict, many: bool) -> str:
    name = row["system_label"] or row["system"] or KNOBS["system"].label(None)
    load = load_words(row["load_qps"], row["message_bytes"]) if many else ""
    return f"{name} {load}".rstrip()


def must_draw(points: pl.DataFrame, state: ExploreState, encoding: Encoding) -> np.ndarray:
    """Return the indices that thinning must keep: each group's frontier and best points."""
    like = like_groups(points, state, encoding)
    kept = [[i for rows in winner_indices(points, like).values() for _, i in rows]]
    if (signs := directions_of(state)) is not None:
        x, y = floats(points["x"]), floats(points["y"])
        kept += [
            mine[pareto_mask(signs[0] * x[mine], signs[1] * y[mine])] for mine in like.members()
        ]
    return np.concatenate(kept).astype(np.int64)
