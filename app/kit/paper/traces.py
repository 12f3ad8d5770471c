"""Traces as calls, in the order in which they cover each other.

Plotly draws cells below bars and bars below points, and what WebGL draws below all of them.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from app.kit.paper.axes import Axis
from app.kit.paper.bars import bars, cells, grid
from app.kit.paper.calls import Call
from app.kit.paper.drawer import Drawer, errors, places
from app.kit.paper.figure import FigureError, part, plain
from app.kit.paper.points import scatter

_LAYERS: Final = {"scattergl": 2.0, "heatmap": 2.2, "bar": 2.4, "scatter": 2.6}


def trace_calls(drawer: Drawer, index: int, trace: dict[str, Any], panel: str) -> Iterator[Call]:
    """Yield the calls of a trace; a hidden one has none."""
    kind = trace.get("type") or "scatter"
    layer = _LAYERS.get(kind)
    if layer is None:
        raise FigureError(f"a trace of type {str(kind)[:20]!r}, expected {', '.join(_LAYERS)}")
    x, y = (drawer.axes[str(trace.get(f"{c}axis") or c)] for c in "xy")
    title = plain(trace.get("name") or part(trace, "meta").get("kind") or f"trace {index + 1}")
    draw = {"heatmap": cells, "bar": bars}.get(kind, scatter)
    for number_, call in enumerate(draw(drawer, trace, x, y, panel, title.replace("\n", " "))):
        order = round(layer + index / 3000 + number_ / 300_000, 6)
        options = {**call.options, "zorder": order}
        yield Call(call.target, call.method, call.args, options, call.result, order)


def look_at(trace: dict[str, Any], x: Axis, y: Axis) -> None:
    """Note what a trace needs of the ranges of its axes, and the names of its categories."""
    if trace.get("type") == "heatmap":
        grid(trace, x, y)
        return
    at = places(trace, x, y)
    for axis, other, values in ((x, "x", at[0]), (y, "y", at[1])):
        axis.seen.append(values)
        error = part(trace, f"error_{other}")
        if error.get("array") is not None and error.get("visible") is not False:
            up, down = errors(error, len(values))
            axis.seen += [values + up, values - down]
    if trace.get("type") == "bar":
        along = x if trace.get("orientation") == "h" else y
        along.seen.append(np.zeros(1))
