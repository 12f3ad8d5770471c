"""Energy against the workload's performance: one point per run or per configuration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.explore.figures.frame import (
    attained_traces,
    band_traces,
    legend_entry,
    legend_of_proof,
    legend_roles,
    legend_traces,
    maybe_traces,
    metric_axis,
    set_traces,
)
from app.explore.figures.marks import (
    Marks,
    frontier_traces,
    missed_words,
    odd_trace,
    winner_traces,
)
from app.explore.fronts import Band
from app.explore.roles import NEUTRAL, Encoding, trace_groups
from app.explore.state import ExploreState
from app.kit.encodings import (
    ADAPTIVE_SIZE_PX,
    GOVERNOR_HUE,
    NUMBER_SCALE,
    OKABE_ITO,
    base_layout,
    bold,
    color_bar,
    finishing,
    itr_sizes_px,
    left_px,
    scatter_trace,
)
from app.kit.words import axis_words, subject, synthetic_note
from data.analysis.coded_rows import Part
from data.catalogue import Catalogue
from data.knobs import Knob
from data.selection import Value
from data.units import counted

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
        varying: Columns with several values in the study.
        total: Number of runs in the lake.
        bands: How sure the frontiers are.
        attained: Answer of `attained_lines`.
        every: The points of all panels, by which sizes are scaled and the legend is made; None for
            a picture without panels.
        is_unstated: Whether all rows are means of an unstated number of runs.
    """

    catalogue: Catalogue
    encoding: Encoding
    marks: Marks
    varying: Collection[str]
    total: int = 0
    bands: Sequence[Band] = ()
    attained: Sequence[tuple[Any, float, np.ndarray]] = ()
    every: Part | None = None
    is_unstated: bool = False


@finishing
def build_scatter(points: Part, drawn: np.ndarray, state: ExploreState, scene: Scene) -> dict:
    """Build the scatter as a figure dictionary with typed arrays.

    Args:
        points: Answer of `points_query` with columns `x`, `y`, `performance`, `limited`,
            `energy_j`, `edp_js`; at least one row; in that query's order; `performance` as a cost:
            negative where more is better, NaN without a direction; and the columns of
            `standings_of` and `odd`.
        drawn: Indices of the points to draw, sorted; frontier and winners use all.
        state: With `performance` already resolved to a column.
    """
    encoding, marks = scene.encoding, scene.marks
    shown = points if len(drawn) == len(points) else points.taken(drawn)
    every = shown if scene.every is None else scene.every
    sizes = every.values(encoding.size.column) if encoding.size else []
    largest = float(max((size for size in sizes if size is not None), default=0.0) or 1.0)
    frontiers = []
    if state.frontier:
        is_less_better = scene.catalogue.metric(state.x).better == "less"
        frontiers = frontier_traces(points, marks, encoding, is_less_better)
    sizes_px = np.full(len(shown), ADAPTIVE_SIZE_PX, np.float32)
    if encoding.size is not None:
        sizes_px = itr_sizes_px(shown.floats(encoding.size.column), largest)
    proof = [*band_traces(scene.bands, encoding), *attained_traces(scene.attained, encoding)]
    proof += [
        *set_traces(shown, sizes_px, encoding),
        *maybe_traces(shown),
    ]
    # Discs of sets lie behind the points, strokes on them.
    behind = [trace for trace in proof if trace["meta"]["kind"] != "maybe"]
    traces = [
        *behind,
        *(
            _point_trace(shown, np.arange(start, stop), state, encoding, sizes_px)
            for start, stop in trace_groups(shown, encoding)
        ),
        *proof[len(behind) :],
        *frontiers,
    ]
    traces += winner_traces(points, marks, encoding)
    odd = odd_trace(points)
    traces += [*odd, *legend_traces(every, encoding, marks.is_contest, bool(frontiers))]
    for words, look in legend_of_proof(proof, state.limit is not None):
        traces.append({**legend_entry(3, words, "circle", 0, NEUTRAL), **look})
    traces += [legend_entry(3, "! odd run", "circle", 0, NEUTRAL)] if odd else []
    titles = "", ""  # Of a panel nothing would show them.
    if scene.every is None:
        titles = scatter_words(points, len(points) - len(drawn), state, scene)
    return {"data": traces, "layout": _layout(points, shown, state, scene, titles)}


def _point_trace(
    shown: Part, of: np.ndarray, state: ExploreState, encoding: Encoding, sizes_px: np.ndarray
) -> dict:
    rows = shown.taken(of)
    symbol, hue, name = _style(encoding, rows)
    colour, size = encoding.colour, encoding.size
    is_scaled = encoding.is_scaled and colour is not None and _first(rows, colour) is not None
    color: Any = hue
    if colour is not None and is_scaled:
        color = rows.floats(colour.column).astype(np.float32)
    hollow = size is not None and _first(rows, size) is None
    sizes: Any = ADAPTIVE_SIZE_PX
    if size is not None and not hollow:
        sizes = sizes_px[of]
    marker = {
        "symbol": f"{symbol}-open-dot" if hollow else symbol,
        "size": sizes,
        "color": color,
        "line": {"width": 2 if hollow else 0.9},
        **({"coloraxis": "coloraxis"} if is_scaled else {}),
    }
    return scatter_trace(
        "points",
        rows.floats("x").astype(np.float32),
        rows.floats("y").astype(np.float32),
        type="scattergl",
        name=name,
        meta={"kind": "points", "rows": {"first": int(of[0]), "end": int(of[-1]) + 1}},
        marker=marker,
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.12}},
        hoverinfo="none",
        **_error_bars(rows, state),
    )


def _first(rows: Part, knob: Knob) -> Value | None:
    column = rows.table.codes[knob.column]
    value: Value | None = column.values[column.codes[rows.at][0]]
    return value


def _style(encoding: Encoding, rows: Part) -> tuple[str, str, str]:
    """Return symbol, hue and name of a trace; NULL on a scale has a hue outside the scale."""
    symbol, hue, name = "circle", OKABE_ITO[0], "all"
    if encoding.symbol is not None:
        index = encoding.symbols.values.index(_first(rows, encoding.symbol))
        symbol, hue = encoding.symbols.symbols[index], encoding.symbol_hues[index]
        name = encoding.symbols.labels[index]
    if encoding.is_scaled:
        hue = GOVERNOR_HUE
    elif encoding.hues is not None and encoding.colour is not None:
        hue = encoding.hues.hues[encoding.hues.values.index(_first(rows, encoding.colour))]
    return symbol, hue, name


def _error_bars(rows: Part, state: ExploreState) -> dict:
    if state.replicates != "means" or not (rows.numbers("n") > 1).any():
        return {}
    style = {"type": "data", "thickness": 1, "width": 0, "color": BAR_COLOR}
    bars: dict[str, Any] = {}
    for axis, is_log in (("x", state.x_log), ("y", state.y_log)):
        up = np.nan_to_num(rows.floats(f"{axis}_sd").astype(np.float32))
        bars[f"error_{axis}"] = {**style, "array": up}
        if is_log:
            # Plotly draws no bar whose end has no logarithm; this one leaves the axis.
            down = np.minimum(up, rows.floats(axis).astype(np.float32) * (1 - _LOG_END))
            bars[f"error_{axis}"] |= {"symmetric": False, "arrayminus": down}
    return bars


def _layout(
    points: Part,
    shown: Part,
    state: ExploreState,
    scene: Scene,
    titles: tuple[str, str],
) -> dict:
    encoding, metric = scene.encoding, scene.catalogue.metric
    named = {name: metric(name) for name in (state.x, state.y, state.limited)}
    scaled = encoding.colour if encoding.is_scaled else None
    known = [v for v in shown.values(scaled.column) if v is not None] if scaled else []
    title, unit = (scaled.menu_title, scaled.unit or scaled.facet.unit) if scaled else ("", "")
    low, high = (float(min(known)), float(max(known))) if known else (0.0, 1.0)
    x, y = (_axis(letter, points, shown, state, scene) for letter in ("x", "y"))
    left = left_px(y["range"][0], y["range"][1], state.y_log)
    return {
        **base_layout(*titles),
        "margin": {"l": left, "r": 8, "t": 46, "b": 46},
        "xaxis": x,
        "yaxis": y,
        "dragmode": "select",
        "coloraxis": {
            "colorscale": [list(stop) for stop in NUMBER_SCALE],
            "cmin": low,
            "cmax": high if high > low else low + 0.1,
            "showscale": bool(known),
            "colorbar": color_bar(f"{title}, {unit}" if unit else title),
        },
        "showlegend": False,
        "meta": {
            "kind": "scatter",
            "fields": {"x": state.x, "y": state.y},
            "limited": state.limited,
            "limit": state.limit,
            "is_least": named[state.limited].better == "more",
            "bar": BAR_COLOR,
            "means": state.replicates == "means",
            "unstated": scene.is_unstated,
            "colour": scaled.column if scaled else None,
            "units": {name: measure.unit for name, measure in named.items()},
            "titles": {
                name: named[name].title_in(*points.values("dataset")) for name in (state.x, state.y)
            },
            "roles": legend_roles(encoding),
        },
    }


def _axis(letter: str, points: Part, shown: Part, state: ExploreState, scene: Scene) -> dict:
    metric, is_log = getattr(state, letter), getattr(state, f"{letter}_log")
    best = [i for rows in scene.marks.best.values() for _, i in rows]
    needed = points.floats(letter)[best].tolist()
    needed += [state.limit] if state.limit is not None and metric == state.limited else []
    values, deviations = shown.floats(letter), shown.floats(f"{letter}_sd")
    return metric_axis(scene.catalogue.metric(metric), is_log, values, deviations, needed)


def scatter_words(
    points: Part, left_out: int, state: ExploreState, scene: Scene
) -> tuple[str, str]:
    """Return title and subtitle.

    Args:
        left_out: Number of points that are not drawn.
    """
    means = state.replicates == "means"
    bars = "arithmetic configuration means, bars \N{PLUS-MINUS SIGN}1 sd where n > 1"
    kind = bars if means else "each run"
    n = points.numbers("n")
    single = "row" if scene.is_unstated else "run"
    kind = kind if not means or (n > 1).any() else f"configurations, one {single} each"
    parts = [kind, f"{int(n.sum()):,} of {counted(scene.total, 'run')}"]
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
        and knob.column in scene.varying
        and points.varying([knob.column])
    ]
    if mixed:
        parts.append(f"several values of {' and '.join(mixed)} in one picture")
    if note := synthetic_note(points):
        parts.append(bold(note))
    title = f"{axis_words(state.x, state.y, scene.catalogue)}, {subject(points)}"
    return title, " · ".join(parts)
