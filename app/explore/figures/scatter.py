"""Energy against the workload's performance: one point per run or per configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.axes import metric_axis
from app.explore.figures.marks import (
    MARKS,
    Marks,
    frontier_traces,
    missed_words,
    odd_trace,
    winner_traces,
)
from app.explore.figures.proof import (
    attained_traces,
    band_traces,
    legend_of_proof,
    maybe_traces,
    set_traces,
)
from app.explore.fronts import Band
from app.explore.roles import NEUTRAL, Encoding, trace_groups
from app.explore.state import ExploreState
from app.kit.columns import floats, is_constant, values_of
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    GOVERNOR_HUE,
    NUMBER_SCALE,
    OKABE_ITO,
    base_layout,
    color_bar,
    itr_sizes_px,
    scatter_trace,
)
from app.kit.figure_text import bold, finishing
from app.kit.words import axis_words, knob_words, subject, synthetic_note
from data.catalogue import Catalogue
from data.knobs import Knob

BAR_COLOR: Final = "rgba(128,128,128,0.55)"
# Share of its point at which a bar to 0 or below ends on a logarithmic axis.
_LOG_END: Final = np.float32(1e-4)


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the figure besides the points.

    Attributes:
        catalogue: Columns of the lake.
        encoding: The knobs that points encode.
        marks: Frontiers and best points of all points.
        total: Number of runs in the lake.
        bands: How sure the frontiers are.
        attained: Answer of `attained_lines`.
        every: The points of all panels, by which sizes are scaled and the legend is made; None for
            a picture without panels.
    """

    catalogue: Catalogue
    encoding: Encoding
    marks: Marks
    total: int = 0
    bands: Sequence[Band] = ()
    attained: Sequence[tuple[Any, float, np.ndarray]] = ()
    every: pl.DataFrame | None = None


@finishing
def build_scatter(
    points: pl.DataFrame, drawn: np.ndarray, state: ExploreState, scene: Scene
) -> dict:
    """Build the scatter as a figure dictionary with typed arrays.

    Args:
        points: Answer of `points_query` with columns `x`, `y`, `performance`, `limited`,
            `energy_j`, `edp_js`; at least one row; in that query's order; `performance` as a cost:
            negative where more is better, NULL without a direction; and of `standings_of` the
            columns `standing` and `best`.
        drawn: Indices of the points to draw, sorted; frontier and winners use all.
        state: With `performance` already resolved to a column.
    """
    encoding, marks = scene.encoding, scene.marks
    shown = points if len(drawn) == len(points) else points[drawn]
    every = shown if scene.every is None else scene.every
    largest = _largest(every, encoding)
    frontiers = []
    if state.frontier:
        is_less_better = scene.catalogue.metric(state.x).better == "less"
        frontiers = frontier_traces(points, marks, encoding, is_less_better)
    proof = [*band_traces(scene.bands, encoding), *attained_traces(scene.attained, encoding)]
    proof += [
        *set_traces(shown, _sizes_px(shown, encoding, largest), encoding),
        *maybe_traces(shown),
    ]
    # Discs of sets lie behind the points, strokes on them.
    behind = [trace for trace in proof if trace["meta"]["kind"] != "maybe"]
    traces = [
        *behind,
        *_point_traces(shown, state, encoding, largest),
        *proof[len(behind) :],
        *frontiers,
    ]
    traces += winner_traces(points, marks, encoding)
    odd = odd_trace(points)
    traces += [*odd, *_legend_traces(every, encoding, bool(frontiers))]
    for words, look in legend_of_proof(proof, state.limit is not None):
        traces.append({**_entry(3, words, "circle", 0, NEUTRAL), **look})
    traces += [_entry(3, "! odd run", "circle", 0, NEUTRAL)] if odd else []
    titles = scatter_words(points, len(points) - len(drawn), state, scene)
    return {"data": traces, "layout": _layout(points, shown, state, scene, titles)}


def _largest(points: pl.DataFrame, encoding: Encoding) -> float:
    """Return the value that has the largest point; 1 without one."""
    most = None if encoding.size is None else points[encoding.size.column].max()
    return float(most or 1.0)  # type: ignore[arg-type]


def _sizes_px(rows: pl.DataFrame, encoding: Encoding, largest: float) -> np.ndarray:
    """Return the diameters of points, shape (rows,)."""
    if encoding.size is None:
        return np.full(len(rows), ADAPTIVE_SIZE_PX, np.float32)
    return itr_sizes_px(_wide(rows, encoding.size.column), largest)


def _point_traces(
    shown: pl.DataFrame, state: ExploreState, encoding: Encoding, largest: float
) -> list[dict]:
    return [
        _point_trace(shown, range(start, stop), state, encoding, largest)
        for start, stop in trace_groups(shown, encoding)
    ]


def _point_trace(
    shown: pl.DataFrame, of: range, state: ExploreState, encoding: Encoding, largest: float
) -> dict:
    rows = shown[of.start : of.stop]
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
        "line": {"width": 2 if hollow else 0.9},
        **({"coloraxis": "coloraxis"} if is_scaled else {}),
    }
    return scatter_trace(
        "points",
        _floats(rows, "x"),
        _floats(rows, "y"),
        type="scattergl",
        name=name,
        meta={"kind": "points", "rows": {"first": of.start, "end": of.stop}},
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
    style = {"type": "data", "thickness": 1, "width": 0, "color": BAR_COLOR}
    bars: dict[str, Any] = {}
    for axis, is_log in (("x", state.x_log), ("y", state.y_log)):
        up = np.nan_to_num(_floats(rows, f"{axis}_sd"))
        bars[f"error_{axis}"] = {**style, "array": up}
        if is_log:
            # Plotly draws no bar whose end has no logarithm; this one leaves the axis.
            down = np.minimum(up, _floats(rows, axis) * (1 - _LOG_END))
            bars[f"error_{axis}"] |= {"symmetric": False, "arrayminus": down}
    return bars


def _legend_traces(shown: pl.DataFrame, encoding: Encoding, has_frontier: bool) -> list[dict]:
    """Build the legend's entries: symbols, colours, three sizes, marks of winners, frontier."""
    entries = []
    symbols = encoding.symbols
    if encoding.symbol is not None:
        there = values_of(shown[encoding.symbol.column])
        for value, label, mark, hue in zip(
            symbols.values, symbols.labels, symbols.symbols, encoding.symbol_hues, strict=True
        ):
            if value in there:
                entries.append(_entry(0, label, mark, 9, hue))
    entries += _colour_entries(shown, encoding)
    entries += _size_entries(shown, encoding.size)
    entries += [
        _entry(3, words, mark, 11, "#808080", 2)
        for _, column, mark, words in MARKS
        if shown[column].count()
    ]
    if has_frontier:
        line = _entry(3, "Pareto frontier", "circle-open", 9, "#808080")
        entries.append(
            {**line, "mode": "lines+markers", "line": {"width": 1.4, "color": "#808080"}}
        )
    return entries


def _colour_entries(shown: pl.DataFrame, encoding: Encoding) -> list[dict]:
    colour, hues = encoding.colour, encoding.hues
    if colour is None:
        return []
    if hues is not None and colour is not encoding.symbol:
        named = list(zip(hues.labels, hues.hues, strict=True))
        shown_hues = named if hues.has_legend else [named[0], named[-1]]
        return [_entry(1, label, "circle", 9, hue) for label, hue in shown_hues]
    if encoding.is_scaled and shown[colour.column].null_count():
        words = f"{colour.menu_title} {colour.facet.null_word}"
        return [_entry(1, words, "circle", 9, GOVERNOR_HUE)]
    return []


def _roles(encoding: Encoding) -> list[dict[str, Any]]:
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
    known = np.unique(shown[size.column].drop_nulls().cast(pl.Float64).to_numpy())
    if known.size:
        three = np.unique(known[[0, known.size // 2, -1]])
        for value, pixels in zip(three, itr_sizes_px(three, known[-1]), strict=True):
            entries.append(_entry(2, size.words(float(value)), "circle", float(pixels), "#808080"))
    if shown[size.column].null_count():
        unset = shown.filter(pl.col(size.column).is_null())["system"].unique().to_list()
        words = knob_words(size, None, unset) or f"{size.menu_title} {size.facet.null_word}"
        entries.append(_entry(2, words, "circle-open", ADAPTIVE_SIZE_PX, "#808080"))
    return entries


def _entry(row: int, name: str, symbol: str, size: float, hue: str, line_width: float = 1) -> dict:
    line = {"width": line_width, "color": hue}
    marker = {"symbol": symbol, "size": size, "color": hue, "line": line}
    own: dict[str, Any] = {
        "meta": {"kind": "legend", "row": row},
        "name": name,
        "marker": marker,
        "showlegend": True,
    }
    return scatter_trace("legend", [None], [None], **own)


def _layout(
    points: pl.DataFrame,
    shown: pl.DataFrame,
    state: ExploreState,
    scene: Scene,
    titles: tuple[str, str],
) -> dict:
    metric, encoding = scene.catalogue.metric, scene.encoding
    scaled = encoding.colour if encoding.is_scaled else None
    known = shown[scaled.column].drop_nulls() if scaled else pl.Series([], dtype=pl.Float64)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)  # type: ignore[arg-type]
    return {
        **base_layout(*titles),
        "margin": {"l": 62, "r": 8, "t": 46, "b": 46},
        **{f"{letter}axis": _axis(letter, points, shown, state, scene) for letter in ("x", "y")},
        "dragmode": "select",
        "coloraxis": {
            "colorscale": [list(stop) for stop in NUMBER_SCALE],
            "cmin": low,
            "cmax": high if high > low else low + 0.1,
            "showscale": bool(len(known)),
            "colorbar": color_bar(_scale_title(scaled)),
        },
        "showlegend": False,
        "meta": {
            "kind": "scatter",
            "fields": {"x": state.x, "y": state.y},
            "limited": state.limited,
            "limit": state.limit,
            "is_least": metric(state.limited).better == "more",
            "bar": BAR_COLOR,
            "means": state.replicates == "means",
            "colour": scaled.column if scaled else None,
            "units": {c: metric(c).unit for c in (state.x, state.y, state.limited)},
            "titles": {c: metric(c).title for c in (state.x, state.y)},
            "roles": _roles(encoding),
        },
    }


def _axis(
    letter: str, points: pl.DataFrame, shown: pl.DataFrame, state: ExploreState, scene: Scene
) -> dict:
    metric, is_log = getattr(state, letter), getattr(state, f"{letter}_log")
    best = [i for rows in scene.marks.best.values() for _, i in rows]
    needed = points[letter].gather(best).to_list()
    needed += [state.limit] if state.limit is not None and metric == state.limited else []
    values, deviations = shown[letter], shown[f"{letter}_sd"]
    return metric_axis(scene.catalogue.metric(metric), is_log, values, deviations, needed)


def _scale_title(knob: Knob | None) -> str:
    if knob is None:
        return ""
    unit = knob.unit or knob.facet.unit
    return f"{knob.menu_title}, {unit}" if unit else knob.menu_title


def scatter_words(
    points: pl.DataFrame, left_out: int, state: ExploreState, scene: Scene
) -> tuple[str, str]:
    """Return title and subtitle.

    Args:
        left_out: Number of points that are not drawn.
    """
    means = state.replicates == "means"
    kind = "configuration means, bars \N{PLUS-MINUS SIGN}1 sd where n > 1" if means else "each run"
    kind = kind if not means or (points["n"] > 1).any() else "configurations, one run each"
    parts = [kind, f"{int(points['n'].sum()):,} of {scene.total:,} runs"]
    if left_out:
        parts.append(f"{left_out:,} more points not drawn; filter to see them")
    if missed := missed_words(points, scene.marks):
        parts.append(missed)
    shown = (state.colour, state.size, state.symbol, state.split)
    mixed = [
        knob.noun
        for knob in scene.catalogue.knobs.values()
        if knob.is_given
        and knob.name not in (*shown, "dataset", "workload")
        and not is_constant(points[knob.column])
    ]
    if mixed:
        parts.append(f"several values of {' and '.join(mixed)} in one picture")
    if note := synthetic_note(points):
        parts.append(bold(note))
    title = f"{axis_words(state.x, state.y, scene.catalogue)}, {subject(points)}"
    return title, " · ".join(parts)


def _wide(rows: pl.DataFrame, column: str) -> np.ndarray:
    return floats(rows[column])


def _floats(rows: pl.DataFrame, column: str) -> np.ndarray:
    return _wide(rows, column).astype(np.float32)
