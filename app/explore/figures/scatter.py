"""Energy against the workload's performance: one point a run or a configuration's mean."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.state import ExploreState
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    DVFS_SCALE,
    GOVERNOR_HUE,
    base_layout,
    itr_sizes_px,
    system_order,
    system_style,
)
from app.kit.words import axis_words, subject, synthetic_note
from data.analysis.pareto import frontier, pareto_mask
from data.analysis.winners import find_winners
from data.metrics import metric

WINNER_MARKS: Final = (
    ("performance", "cross-thin-open", "+ best performance"),
    ("energy", "x-thin-open", "x lowest energy"),
    ("edp", "circle-open", "o best energy-delay product"),
)
_LEGENDS: Final = ("legend", "legend2", "legend3")
_LEGEND_NAME_CHARS: Final = 26


@dataclass(frozen=True, slots=True)
class Scene:
    """What the figure needs beside the points.

    Attributes:
        systems: All systems of the lake, so that each keeps its symbol whatever is filtered.
        performance: Column that is the workload's performance metric.
        total: Runs in the lake.
        matching: Runs that the filters leave.
        left_out: Rows not drawn because there are more than a figure may hold.
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
    frontiers = _frontier_traces(points, state, scene)
    traces = [*_point_traces(shown, state, scene), *frontiers, *_winner_traces(points, scene)]
    traces += _legend_traces(shown, scene, bool(frontiers))
    return {"data": traces, "layout": _layout(points, shown, state, scene)}


def trace_groups(points: pl.DataFrame) -> list[tuple[int, int]]:
    """Return the row ranges of the traces: same system, governor or not, adaptive or not.

    The rows are in the order of `points_query`.
    """
    keys = points.select(
        pl.struct("system", g=pl.col("dvfs_ghz").is_null(), a=pl.col("itr_us").is_null()).rle_id()
    ).to_series()
    starts = np.flatnonzero(np.diff(keys.to_numpy(), prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(points)], strict=True))


def _point_traces(shown: pl.DataFrame, state: ExploreState, scene: Scene) -> list[dict]:
    longest_us = float(shown["itr_us"].max() or 1.0)  # type: ignore[arg-type]
    return [
        _point_trace(shown[start:stop], state, scene, longest_us)
        for start, stop in trace_groups(shown)
    ]


def _point_trace(rows: pl.DataFrame, state: ExploreState, scene: Scene, longest_us: float) -> dict:
    system = rows["system"][0]
    governed, adaptive = rows["dvfs_ghz"][0] is None, rows["itr_us"][0] is None
    symbol, _ = system_style(system, scene.systems)
    color: Any = GOVERNOR_HUE if governed else _floats(rows, "dvfs_ghz")
    return {
        "type": "scattergl",
        "mode": "markers",
        "name": rows["system_label"][0] or system,
        "meta": {"kind": "points"},
        "x": _floats(rows, "x"),
        "y": _floats(rows, "y"),
        "marker": {
            "symbol": f"{symbol}-open" if adaptive else symbol,
            "size": ADAPTIVE_SIZE_PX
            if adaptive
            else itr_sizes_px(_wide(rows, "itr_us"), longest_us),
            "color": color,
            "line": {"width": 2 if adaptive else 0.6},
            **({} if governed else {"coloraxis": "coloraxis"}),
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0.12}},
        "hoverinfo": "none",
        "showlegend": False,
        **_error_bars(rows, state),
    }


def _error_bars(rows: pl.DataFrame, state: ExploreState) -> dict:
    if state.replicates != "means" or not (rows["n"] > 1).any():
        return {}
    style = {"type": "data", "thickness": 1, "width": 0, "color": "rgba(128,128,128,0.55)"}
    return {
        f"error_{axis}": {**style, "array": np.nan_to_num(_floats(rows, f"{axis}_sd"))}
        for axis in ("x", "y")
    }


def _frontier_traces(points: pl.DataFrame, state: ExploreState, scene: Scene) -> list[dict]:
    directions = [metric(name).better for name in (state.x, state.y)]
    if not state.frontier or None in directions:
        return []
    x, y = _wide(points, "x"), _wide(points, "y")
    signs = [1.0 if better == "less" else -1.0 for better in directions]
    systems = points["system"].to_numpy()
    traces = []
    for system in system_order(points["system"].unique()):
        mine = systems == system
        mask = pareto_mask(signs[0] * x[mine], signs[1] * y[mine])
        line_x, line_y = frontier(x[mine], y[mine], mask)
        traces.append(_frontier_trace(system, line_x, line_y, directions, scene))
    return traces


def _frontier_trace(
    system: str, x: np.ndarray, y: np.ndarray, directions: list, scene: Scene
) -> dict:
    symbol, hue = system_style(system, scene.systems)
    return {
        "type": "scattergl" if len(x) > 400 else "scatter",
        "mode": "lines+markers",
        "name": f"frontier of {system}",
        "meta": {"kind": "frontier", "system": system},
        "x": x,
        "y": y,
        # Steps stay on reached values: where less is better, the line drops after each member.
        "line": {"color": hue, "width": 1.4, "shape": "hv" if directions[0] == "less" else "vh"},
        "marker": {"symbol": f"{symbol}-open", "size": 13, "color": hue, "line": {"width": 1.2}},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _winner_traces(points: pl.DataFrame, scene: Scene) -> list[dict]:
    systems = system_order(points["system"].unique())
    group = points["system"].cast(pl.Enum(systems)).to_physical().to_numpy()
    winners = find_winners(
        group, *(_wide(points, c) for c in ("performance", "energy_j", "edp_js"))
    )
    traces = []
    for kind, symbol, _ in WINNER_MARKS:
        rows = [(systems[g], getattr(w, kind)) for g, w in winners.items()]
        found = [(system, index) for system, index in rows if index is not None]
        indices = [index for _, index in found]
        hues = [system_style(system, scene.systems)[1] for system, _ in found]
        traces.append(_winner_trace(kind, symbol, points[indices], hues))
    return traces


def _winner_trace(kind: str, symbol: str, rows: pl.DataFrame, hues: list[str]) -> dict:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "meta": {"kind": "winner", "winner": kind},
        "x": _wide(rows, "x"),
        "y": _wide(rows, "y"),
        "marker": {
            "symbol": symbol,
            "size": 21 if kind == "edp" else 19,
            "color": hues,
            "line": {"width": 3, "color": hues},
        },
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _legend_traces(shown: pl.DataFrame, scene: Scene, has_frontier: bool) -> list[dict]:
    """Return the legend's entries: systems, governor, three sizes, adaptive, the marks."""
    labels = dict(shown.select("system", "system_label").unique().iter_rows())
    entries = []
    for system in system_order(labels):
        symbol, hue = system_style(system, scene.systems)
        entries.append(_entry(0, _short(labels[system] or system), symbol, 9, hue))
    if shown["dvfs_ghz"].null_count():
        entries.append(_entry(0, "DVFS governor", "circle", 9, GOVERNOR_HUE))
    itr_us = np.unique(shown["itr_us"].drop_nulls().to_numpy())
    if itr_us.size:
        three = np.unique(itr_us[[0, itr_us.size // 2, -1]])
        for value, size in zip(three, itr_sizes_px(three, itr_us[-1]), strict=True):
            entries.append(_entry(1, f"ITR {value:g} us", "circle", float(size), "#808080"))
    if shown["itr_us"].null_count():
        entries.append(_entry(1, "ITR adaptive", "circle-open", ADAPTIVE_SIZE_PX, "#808080"))
    entries += [_entry(2, words, symbol, 11, "#808080", 2) for _, symbol, words in WINNER_MARKS]
    if has_frontier:
        line = _entry(0, "Pareto frontier", "circle-open", 9, "#808080")
        entries.append(
            {**line, "mode": "lines+markers", "line": {"width": 1.4, "color": "#808080"}}
        )
    return entries


def _short(name: str) -> str:
    """Shorten a name for the legend; the hover has the whole name."""
    most = _LEGEND_NAME_CHARS
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _entry(row: int, name: str, symbol: str, size: float, hue: str, line_width: float = 1) -> dict:
    return {
        "legend": _LEGENDS[row],
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "meta": {"kind": "legend"},
        "x": [None],
        "y": [None],
        "marker": {
            "symbol": symbol,
            "size": size,
            "color": hue,
            "line": {"width": line_width, "color": hue},
        },
        "hoverinfo": "skip",
        "showlegend": True,
    }


def _layout(points: pl.DataFrame, shown: pl.DataFrame, state: ExploreState, scene: Scene) -> dict:
    ghz = shown["dvfs_ghz"].drop_nulls()
    low, high = (float(ghz.min()), float(ghz.max())) if len(ghz) else (0.0, 1.0)  # type: ignore[arg-type]
    return {
        **base_layout(
            f"{axis_words(state.x, state.y)}, {subject(points)}", _subtitle(points, state, scene)
        ),
        "margin": {"l": 62, "r": 8, "t": 46, "b": 110},
        "xaxis": _axis(state.x, state.x_log, shown["x"]),
        "yaxis": _axis(state.y, state.y_log, shown["y"]),
        "dragmode": "select",
        "coloraxis": {
            "colorscale": DVFS_SCALE,
            "cmin": low,
            "cmax": high if high > low else low + 0.1,
            "showscale": bool(len(ghz)),
            "colorbar": {
                "title": {"text": "DVFS, GHz", "side": "right", "font": {"size": 11}},
                "thickness": 10,
                "len": 1,
                "outlinewidth": 0,
                "tickfont": {"size": 10},
            },
        },
        **{name: _legend(row) for row, name in enumerate(_LEGENDS)},
        "meta": {
            "kind": "scatter",
            "x": state.x,
            "y": state.y,
            "performance": scene.performance,
            "means": state.replicates == "means",
            "units": {c: metric(c).unit for c in (state.x, state.y, scene.performance)},
            "titles": {c: metric(c).title for c in (state.x, state.y)},
        },
    }


def _legend(row: int) -> dict:
    """Return one line of the legend: systems, interrupt delays, or marks."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "xref": "container",
        "yref": "container",
        "y": (65 - 19 * row) / 540,
        "yanchor": "top",
        "font": {"size": 11},
        "itemsizing": "trace",
        "itemclick": False,
        "itemdoubleclick": False,
        "bgcolor": "rgba(0,0,0,0)",
    }


def _axis(name: str, log: bool, values: pl.Series) -> dict:
    measure = metric(name)
    # Write thousands of joules with k; microseconds and smaller values as they are.
    prefixed = measure.unit != "us" and not log and (values.abs().max() or 0) >= 1000  # type: ignore[operator]
    return {
        "title": {"text": measure.axis_title, "standoff": 6, "font": {"size": 12}},
        "type": "log" if log else "linear",
        "automargin": False,
        "zeroline": False,
        "exponentformat": "SI",
        "separatethousands": True,
        **({"tickformat": "~s"} if prefixed else {}),
        "range": _range(values, log),
    }


def _range(values: pl.Series, log: bool) -> list[float]:
    """Return the range of an axis: the points with a margin; error bars may reach out of it."""
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    if log and low > 0:
        low, high = math.log10(low), math.log10(high)
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return [low - margin, high + margin]


def _subtitle(points: pl.DataFrame, state: ExploreState, scene: Scene) -> str:
    means = state.replicates == "means"
    kind = "configuration means, bars \N{PLUS-MINUS SIGN}1 sd where n > 1" if means else "each run"
    parts = [kind, f"{int(points['n'].sum()):,} of {scene.total:,} runs"]
    if scene.left_out:
        parts.append(f"{scene.left_out:,} more points not drawn; filter to see them")
    if points.select("load_qps", "message_bytes").n_unique() > 1:
        parts.append("several loads in one picture")
    if note := synthetic_note(points):
        parts.append(f"<b>{note}</b>")
    return " · ".join(parts)


def _wide(rows: pl.DataFrame, column: str) -> np.ndarray:
    return rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _floats(rows: pl.DataFrame, column: str) -> np.ndarray:
    return _wide(rows, column).astype(np.float32)
