"""Metrics over a knob, stacked over one x axis."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from app.explore.figures.frame import line_range
from app.explore.figures.line_traces import (
    BOLD_PX,
    DARK,
    DOTTED,
    FAINT_PX,
    LIGHT,
    PLAIN_PX,
    LinesScene,
    cards_of,
    line_traces,
)
from app.kit.columns import floats
from app.kit.competitors import axis_labels, ordered_values, value_words
from app.kit.encodings import (
    axis_title,
    base_layout,
    bold,
    finishing,
    fitting_unit,
    metric_ticks,
    scatter_trace,
)
from data.metrics import Metric
from data.selection import Value

_GREY: Final = "#808080"
# Between two metrics: room for the title of the lower one.
_GAP: Final = 0.07


@finishing
def build_lines(
    cells: pl.DataFrame, runs: pl.DataFrame, scene: LinesScene, title: str, subtitle: str
) -> dict[str, Any]:
    """Build the lines as a figure dictionary.

    Args:
        cells, runs: See `Lines`.
    """
    at_zero = cells.filter(pl.col(scene.x.column) <= 0) if scene.x.facet.is_number else cells[:0]
    if scene.x_log and len(at_zero):
        subtitle += " · 0 is not on the logarithmic axis"
    xs = ordered_values(scene.x, cells[scene.x.column].unique().to_list())
    drawn = pl.concat([cells.filter(~pl.col("is_unlike")), runs])
    cards = cards_of(drawn, scene)
    traces: list[dict] = []
    for row, metric in enumerate(scene.metrics):
        own, own_runs = (each.filter(metric=metric.name) for each in (cells, runs))
        traces += line_traces(own, own_runs, _axes(row), scene, xs, cards)
    traces += _legend(cells, scene)
    return {"data": traces, "layout": _layout(drawn, scene, title, subtitle, xs)}


def _axes(row: int) -> dict[str, str]:
    """Return the axes of a metric: one x axis, and a y axis each."""
    return {"xaxis": "x", "yaxis": f"y{row + 1 if row else ''}"}


def _legend(cells: pl.DataFrame, scene: LinesScene) -> list[dict]:
    entries = []
    competitors, style = scene.competitors, scene.style
    if competitors is not None:
        entries = [
            _entry(0, label, {"color": hue, "width": PLAIN_PX if scene.is_course else 0}, symbol)
            for label, hue, symbol, _ in competitors.legend
        ]
    if style is not None and cells["end"].count():
        slow = "most" if scene.fast_end == "least" else "least"
        bold = {"color": _GREY, "width": BOLD_PX}
        entries.append(_entry(1, scene.end_words[scene.fast_end], bold))
        entries.append(_entry(1, scene.end_words[slow], {"color": _GREY, **DOTTED}))
    elif style is not None:
        for at, value in ((DARK, scene.levels[0]), (LIGHT, scene.levels[-1])):
            look = {"color": f"rgba(128,128,128,{at})", "width": FAINT_PX}
            entries.append(_entry(1, value_words(style, value, scene.labels), look))
    if scene.x.facet.is_number and cells[scene.x.column].null_count():
        look = {"color": _GREY, "width": FAINT_PX, "dash": "dash"}
        entries.append(_entry(1, value_words(scene.x, None, scene.labels), look))
    return entries


def _entry(row: int, name: str, line: dict[str, Any], symbol: str = "") -> dict:
    marker = {"marker": {"symbol": symbol, "size": 7, "color": line["color"]}} if symbol else {}
    return scatter_trace(
        "legend", [None], [None], "lines+markers" if symbol else "lines",
        meta={"kind": "legend", "row": row}, name=name, line=line, showlegend=True, **marker,
    )  # fmt: skip


def _layout(
    cells: pl.DataFrame,
    scene: LinesScene,
    title: str,
    subtitle: str,
    xs: Sequence[Value | None],
) -> dict[str, Any]:
    rows = len(scene.metrics)
    layout: dict[str, Any] = {
        **base_layout(title, subtitle),
        "margin": {"l": 68, "r": 10, "t": 46 if rows == 1 else 62, "b": 44},
        "showlegend": False,
        "dragmode": "select",
        "meta": {
            "kind": "lines",
            # The axes of each metric, on which the browser draws a limit.
            "axes": {m.name: [_axes(row)["yaxis"]] for row, m in enumerate(scene.metrics)},
            "limited": scene.limited,
            "unit": scene.catalogue.metric(scene.limited).unit,
        },
        "annotations": [],
        "xaxis": _x_axis(scene, xs) | {"anchor": _axes(rows - 1)["yaxis"]},
    }
    height = (1 - _GAP * (rows - 1)) / rows
    for row, metric in enumerate(scene.metrics):
        axes = _axes(row)
        top = 1 - row * (height + _GAP)
        own = cells.filter(metric=metric.name)
        layout[f"yaxis{axes['yaxis'][1:]}"] = _y_axis(metric, own, scene, axes) | {
            "domain": [max(0.0, top - height), top]
        }
        if rows > 1:
            unit = fitting_unit(metric.unit, _top(own, scene))[1]
            text = bold(", ".join(filter(None, [metric.title, unit])))
            layout["annotations"].append(_label(text, 0, top, xanchor="left"))
        if fitted := _fitted(own, scene):
            text = f"\N{BLACK UP-POINTING SMALL TRIANGLE} {fitted[1]} beyond"
            layout["annotations"].append(_label(text, 1, top, xanchor="right"))
    return layout


def _fitted(cells: pl.DataFrame, scene: LinesScene) -> tuple[list[float], int] | None:
    """Return the range of a metric's axis if some values are far out, and how many these are."""
    return None if scene.y_log else line_range(floats(cells["value"].drop_nulls()))


def _top(cells: pl.DataFrame, scene: LinesScene) -> float:
    """Return the largest size on a metric's axis."""
    fitted = _fitted(cells, scene)
    return max(map(abs, fitted[0])) if fitted else float(cells["value"].abs().max() or 0)  # type: ignore[arg-type]


def _label(text: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    """Return a text whose lower edge is at a place of the figure."""
    return {
        "text": text, "showarrow": False, "xref": "paper", "yref": "paper", "x": x, "y": y,
        "yanchor": "bottom", "borderpad": 0, "font": {"size": 12}, **more,
    }  # fmt: skip


def _x_axis(scene: LinesScene, xs: Sequence[Value | None]) -> dict[str, Any]:
    """Return the x axis of a panel; its crosshair crosses all metrics."""
    look = {
        "title": axis_title(scene.x.axis_title), "zeroline": False, "showspikes": True,
        "spikemode": "across", "spikesnap": "cursor", "spikethickness": 1, "spikedash": "dot",
        "spikecolor": _GREY,
    }  # fmt: skip
    if not scene.x.facet.is_number:
        named = axis_labels(scene.x, xs, scene.labels)
        # Long names are turned: the axis makes room for them.
        return look | {
            "type": "category", "categoryorder": "array", "categoryarray": named,
            "automargin": "bottom+right",
        }  # fmt: skip
    known = [value for value in xs if value is not None and (value > 0 or not scene.x_log)]  # type: ignore[operator]
    ticks: dict[str, Any] = {}
    if scene.x_log or scene.x.label(known[0] if known else None) != f"{(known or [0])[0]:g}":
        shown = known[:: -(-len(known) // 9)] if known else []
        ticks = {"tickvals": shown, "ticktext": [scene.x.label(value) for value in shown]}
    return look | {"type": "log" if scene.x_log else "linear", **ticks}


def _y_axis(
    metric: Metric, cells: pl.DataFrame, scene: LinesScene, axes: dict[str, str]
) -> dict[str, Any]:
    is_many = len(scene.metrics) > 1
    fitted = _fitted(cells, scene)
    return {
        "type": "log" if scene.y_log else "linear",
        "zeroline": False,
        "nticks": 5 if is_many else 8,
        "anchor": axes["xaxis"],
        **metric_ticks(metric, _top(cells, scene), scene.y_log),
        **({"title": axis_title("")} if is_many else {}),
        **({"range": fitted[0]} if fitted else {}),
    }
