"""Energy against the workload's performance: one point per run or per configuration."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.roles import Encoding, encoding_of, trace_groups
from app.explore.state import ExploreState
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    DVFS_SCALE,
    GOVERNOR_HUE,
    OKABE_ITO,
    axis_title,
    base_layout,
    color_bar,
    itr_sizes_px,
    legend_row,
    scatter_trace,
)
from app.kit.typed_arrays import floats
from app.kit.words import axis_words, subject, synthetic_note
from data.analysis.pareto import frontier, pareto_mask
from data.analysis.winners import find_winners
from data.knobs import KNOBS, Knob
from data.metrics import metric

# Name, column, symbol and legend of each mark of a winner.
_MARKS: Final = (
    ("performance", "performance", "cross-thin-open", "+ best performance"),
    ("energy", "energy_j", "x-thin-open", "x lowest energy"),
    ("edp", "edp_js", "circle-open", "o best energy-delay product"),
)
_LEGENDS: Final = ("legend", "legend2", "legend3")
_LEGEND_NAME_CHARS: Final = 26


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the figure besides the points.

    Attributes:
        systems: All systems of the lake, so that each keeps its symbol under any filter.
        performance: Column of the workload's performance metric.
        total: Number of runs in the lake.
        matching: Number of runs that match the filters.
        left_out: Number of points that are not drawn because a figure may not hold them all.
    """

    systems: tuple[str, ...]
    performance: str
    total: int = 0
    matching: int = 0
    left_out: int = 0


def build_scatter(
    points: pl.DataFrame, drawn: np.ndarray, state: ExploreState, scene: Scene
) -> dict:
    """Build the scatter as a figure dictionary with typed arrays.

    Args:
        points: Answer of `points_query` with columns `x`, `y`, `performance`, `energy_j`,
            `edp_js`; at least one row; in that query's order.
        drawn: Indices of the points to draw, sorted; frontier and winners use all.
        state: With `performance` already resolved to a column.
    """
    shown = points[drawn]
    encoding = encoding_of(points, state, scene.systems)
    frontiers = _frontier_traces(points, state, encoding)
    traces = [*_point_traces(shown, state, encoding), *frontiers]
    traces += _winner_traces(points, encoding)
    traces += _legend_traces(shown, encoding, bool(frontiers))
    _close_legend_rows(traces)
    return {"data": traces, "layout": _layout(points, shown, state, scene, encoding)}


def _point_traces(shown: pl.DataFrame, state: ExploreState, encoding: Encoding) -> list[dict]:
    largest = 1.0
    if encoding.size is not None:
        largest = float(shown[encoding.size.column].max() or 1.0)  # type: ignore[arg-type]
    return [
        _point_trace(shown[start:stop], state, encoding, largest)
        for start, stop in trace_groups(shown, encoding)
    ]


def _point_trace(
    rows: pl.DataFrame, state: ExploreState, encoding: Encoding, largest: float
) -> dict:
    symbol, hue, name = _style(encoding, rows)
    colour, size = encoding.colour, encoding.size
    is_scaled = encoding.is_scaled and colour is not None and rows[colour.column][0] is not None
    color: Any = _floats(rows, colour.column) if colour is not None and is_scaled else hue
    hollow = size is not None and rows[size.column][0] is None
    sizes: Any = ADAPTIVE_SIZE_PX
    if size is not None and not hollow:
        sizes = itr_sizes_px(_wide(rows, size.column), largest)
    marker = {
        "symbol": f"{symbol}-open" if hollow else symbol,
        "size": sizes,
        "color": color,
        "line": {"width": 2 if hollow else 0.6},
        **({"coloraxis": "coloraxis"} if is_scaled else {}),
    }
    return scatter_trace(
        "points",
        _floats(rows, "x"),
        _floats(rows, "y"),
        type="scattergl",
        name=name,
        marker=marker,
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.12}},
        hoverinfo="none",
        **_error_bars(rows, state),
    )


def _style(encoding: Encoding, rows: pl.DataFrame) -> tuple[str, str, str]:
    """Return symbol, hue and name of a trace; NULL on a scale has a hue outside the scale."""
    symbol, hue, name = "circle", OKABE_ITO[0], "all"
    if encoding.symbol is not None:
        place = encoding.symbols.values.index(rows[encoding.symbol.column][0])
        symbol, hue = encoding.symbols.symbols[place], encoding.symbol_hues[place]
        name = encoding.symbols.labels[place]
    if encoding.is_scaled:
        hue = GOVERNOR_HUE
    elif encoding.hues is not None and encoding.colour is not None:
        hue = encoding.hues.hues[encoding.hues.values.index(rows[encoding.colour.column][0])]
    return symbol, hue, name


def _error_bars(rows: pl.DataFrame, state: ExploreState) -> dict:
    if state.replicates != "means" or not (rows["n"] > 1).any():
        return {}
    style = {"type": "data", "thickness": 1, "width": 0, "color": "rgba(128,128,128,0.55)"}
    return {
        f"error_{axis}": {**style, "array": np.nan_to_num(_floats(rows, f"{axis}_sd"))}
        for axis in ("x", "y")
    }


def _by_symbol(points: pl.DataFrame, encoding: Encoding) -> tuple[np.ndarray, list[tuple]]:
    """Group points by symbol; return the group of each point, and symbol, hue, name of each."""
    symbols = encoding.symbols
    if encoding.symbol is None:
        return np.zeros(len(points), np.int64), [("circle", OKABE_ITO[0], "all")]
    places = {value: place for place, value in enumerate(symbols.values)}
    values = points[encoding.symbol.column].to_list()
    group = np.array([places[value] for value in values], np.int64)
    return group, list(zip(symbols.symbols, encoding.symbol_hues, symbols.values, strict=True))


def _frontier_traces(points: pl.DataFrame, state: ExploreState, encoding: Encoding) -> list[dict]:
    directions = [metric(name).better for name in (state.x, state.y)]
    if not state.frontier or None in directions:
        return []
    x, y = _wide(points, "x"), _wide(points, "y")
    signs = [1.0 if better == "less" else -1.0 for better in directions]
    group, styles = _by_symbol(points, encoding)
    traces = []
    for number, style in enumerate(styles):
        mine = group == number
        if not mine.any():
            continue
        mask = pareto_mask(signs[0] * x[mine], signs[1] * y[mine])
        line_x, line_y = frontier(x[mine], y[mine], mask)
        traces.append(_frontier_trace(style, line_x, line_y, directions))
    return traces


def _frontier_trace(style: tuple, x: np.ndarray, y: np.ndarray, directions: list) -> dict:
    symbol, hue, value = style
    # Steps stay on measured values: if less is better, the line drops after each member.
    shape = "hv" if directions[0] == "less" else "vh"
    return scatter_trace(
        "frontier",
        x,
        y,
        "lines+markers",
        type="scattergl" if len(x) > 400 else "scatter",
        name=f"frontier of {value}",
        meta={"kind": "frontier", "system": value},
        line={"color": hue, "width": 1.4, "shape": shape},
        marker={"symbol": f"{symbol}-open", "size": 13, "color": hue, "line": {"width": 1.2}},
        unselected={"marker": {"opacity": 1}},
    )


def _winner_traces(points: pl.DataFrame, encoding: Encoding) -> list[dict]:
    group, styles = _by_symbol(points, encoding)
    winners = find_winners(group, *(_wide(points, column) for _, column, _, _ in _MARKS))
    traces = []
    for kind, _, symbol, _ in _MARKS:
        rows = [(styles[g][1], getattr(w, kind)) for g, w in winners.items()]
        found = [(hue, index) for hue, index in rows if index is not None]
        indices = [index for _, index in found]
        traces.append(_winner_trace(kind, symbol, points[indices], [hue for hue, _ in found]))
    return traces


def _winner_trace(kind: str, symbol: str, rows: pl.DataFrame, hues: list[str]) -> dict:
    size = 21 if kind == "edp" else 19
    return scatter_trace(
        "winner",
        _wide(rows, "x"),
        _wide(rows, "y"),
        name=kind,
        meta={"kind": "winner", "winner": kind},
        marker={"symbol": symbol, "size": size, "color": hues, "line": {"width": 3, "color": hues}},
        unselected={"marker": {"opacity": 1}},
    )


def _legend_traces(shown: pl.DataFrame, encoding: Encoding, has_frontier: bool) -> list[dict]:
    """Build the legend's entries: symbols, colours, three sizes, marks of winners, frontier."""
    entries = []
    symbols = encoding.symbols
    if encoding.symbol is not None:
        there = set(shown[encoding.symbol.column])
        for value, label, mark, hue in zip(
            symbols.values, symbols.labels, symbols.symbols, encoding.symbol_hues, strict=True
        ):
            if value in there:
                entries.append(_entry(0, _short(label), mark, 9, hue))
    entries += _colour_entries(shown, encoding)
    entries += _size_entries(shown, encoding.size)
    entries += [
        _entry(2, words, mark, 11, "#808080", 2)
        for _, column, mark, words in _MARKS
        if shown[column].count()
    ]
    if has_frontier:
        line = _entry(0, "Pareto frontier", "circle-open", 9, "#808080")
        entries.append(
            {**line, "mode": "lines+markers", "line": {"width": 1.4, "color": "#808080"}}
        )
    return entries


def _close_legend_rows(traces: list[dict]) -> None:
    """Move the legend's rows up if a row above is empty."""
    used = sorted({trace["legend"] for trace in traces if "legend" in trace})
    for trace in traces:
        if "legend" in trace:
            trace["legend"] = _LEGENDS[used.index(trace["legend"])]


def _colour_entries(shown: pl.DataFrame, encoding: Encoding) -> list[dict]:
    colour, hues = encoding.colour, encoding.hues
    if colour is None:
        return []
    if hues is not None and colour is not encoding.symbol:
        named = list(zip(hues.labels, hues.hues, strict=True))
        shown_hues = named if hues.has_legend else [named[0], named[-1]]
        return [_entry(0, _short(label), "circle", 9, hue) for label, hue in shown_hues]
    if encoding.is_scaled and shown[colour.column].null_count():
        words = f"{colour.menu_title} {colour.facet.null_word}"
        return [_entry(0, words, "circle", 9, GOVERNOR_HUE)]
    return []


def _size_entries(shown: pl.DataFrame, size: Knob | None) -> list[dict]:
    if size is None:
        return []
    entries = []
    known = np.unique(shown[size.column].drop_nulls().cast(pl.Float64).to_numpy())
    if known.size:
        three = np.unique(known[[0, known.size // 2, -1]])
        for value, pixels in zip(three, itr_sizes_px(three, known[-1]), strict=True):
            entries.append(_entry(1, size.words(float(value)), "circle", float(pixels), "#808080"))
    if shown[size.column].null_count():
        words = f"{size.menu_title} {size.facet.null_word}"
        entries.append(_entry(1, words, "circle-open", ADAPTIVE_SIZE_PX, "#808080"))
    return entries


def _short(name: str) -> str:
    """Shorten a name for the legend; the hover has the whole name."""
    most = _LEGEND_NAME_CHARS
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _entry(row: int, name: str, symbol: str, size: float, hue: str, line_width: float = 1) -> dict:
    line = {"width": line_width, "color": hue}
    marker = {"symbol": symbol, "size": size, "color": hue, "line": line}
    own: dict[str, Any] = {
        "legend": _LEGENDS[row],
        "name": name,
        "marker": marker,
        "showlegend": True,
    }
    return scatter_trace("legend", [None], [None], **own)


def _layout(
    points: pl.DataFrame, shown: pl.DataFrame, state: ExploreState, scene: Scene, encoding: Encoding
) -> dict:
    scaled = encoding.colour if encoding.is_scaled else None
    known = shown[scaled.column].drop_nulls() if scaled else pl.Series([], dtype=pl.Float64)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)  # type: ignore[arg-type]
    return {
        **base_layout(
            f"{axis_words(state.x, state.y)}, {subject(points)}", _subtitle(points, state, scene)
        ),
        "margin": {"l": 62, "r": 8, "t": 46, "b": 110},
        "xaxis": _axis(state.x, state.x_log, shown["x"], shown["x_sd"]),
        "yaxis": _axis(state.y, state.y_log, shown["y"], shown["y_sd"]),
        "dragmode": "select",
        "coloraxis": {
            "colorscale": DVFS_SCALE,
            "cmin": low,
            "cmax": high if high > low else low + 0.1,
            "showscale": bool(len(known)),
            "colorbar": color_bar(_scale_title(scaled)),
        },
        **{name: _legend(row) for row, name in enumerate(_LEGENDS)},
        "meta": {
            "kind": "scatter",
            "x": state.x,
            "y": state.y,
            "performance": scene.performance,
            "means": state.replicates == "means",
            "colour": scaled.column if scaled else None,
            "units": {c: metric(c).unit for c in (state.x, state.y, scene.performance)},
            "titles": {c: metric(c).title for c in (state.x, state.y)},
        },
    }


def _scale_title(knob: Knob | None) -> str:
    if knob is None:
        return ""
    unit = knob.unit or knob.facet.unit
    return f"{knob.menu_title}, {unit}" if unit else knob.menu_title


def _legend(row: int) -> dict:
    fixed = {"itemsizing": "trace", "itemclick": False, "itemdoubleclick": False}
    return legend_row((65 - 19 * row) / 540, "top") | fixed


def _axis(name: str, log: bool, values: pl.Series, deviations: pl.Series) -> dict:
    measure = metric(name)
    # Write thousands of joules with k; microseconds and smaller values as they are.
    prefixed = measure.unit != "us" and not log and (values.abs().max() or 0) >= 1000  # type: ignore[operator]
    return {
        "title": axis_title(measure.axis_title),
        "type": "log" if log else "linear",
        "automargin": False,
        "zeroline": False,
        "exponentformat": "SI",
        "separatethousands": True,
        **({"tickformat": "~s"} if prefixed else {}),
        "range": _range(values, deviations, log),
    }


def _range(values: pl.Series, deviations: pl.Series, log: bool) -> list[float]:
    """Return the range of an axis: the points, with a margin of at least a typical error bar."""
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    bar = float(deviations.cast(pl.Float64).median() or 0.0)  # type: ignore[arg-type]
    if log and low > 0:
        low, high, bar = math.log10(low), math.log10(high), 0.0
    margin = max(0.06 * (high - low) or 0.06 * abs(high), 1.2 * bar) or 1.0
    return [low - margin, high + margin]


def _subtitle(points: pl.DataFrame, state: ExploreState, scene: Scene) -> str:
    means = state.replicates == "means"
    kind = "configuration means, bars \N{PLUS-MINUS SIGN}1 sd where n > 1" if means else "each run"
    kind = kind if not means or (points["n"] > 1).any() else "configurations, one run each"
    parts = [kind, f"{int(points['n'].sum()):,} of {scene.total:,} runs"]
    if scene.left_out:
        parts.append(f"{scene.left_out:,} more points not drawn; filter to see them")
    shown = (state.colour, state.size, state.symbol)
    mixed = [
        knob.noun
        for knob in KNOBS.values()
        if knob.is_given
        and knob.name not in (*shown, "dataset", "workload")
        and points[knob.column].n_unique() > 1
    ]
    if mixed:
        parts.append(f"several values of {' and '.join(mixed)} in one picture")
    if note := synthetic_note(points):
        parts.append(f"<b>{note}</b>")
    return " · ".join(parts)


def _wide(rows: pl.DataFrame, column: str) -> np.ndarray:
    return floats(rows[column])


def _floats(rows: pl.DataFrame, column: str) -> np.ndarray:
    return _wide(rows, column).astype(np.float32)
