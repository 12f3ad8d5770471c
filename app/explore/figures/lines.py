"""Metrics over a knob, stacked over one x axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.figures.axes import line_range
from app.kit.columns import floats
from app.kit.competitors import Competitors, axis_label, ordered_values, value_words
from app.kit.encodings import OKABE_ITO, axis_title, base_layout, scatter_trace
from app.kit.figure_text import bold, finishing
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.selection import Value
from data.units import format_quantity

_BOLD_PX: Final = 3.2
_PLAIN_PX: Final = 2.0
_FAINT_PX: Final = 1.3
# Opacity of the levels, of the least and of the most value: lower values are darker.
_DARK, _LIGHT = 0.95, 0.3
_BAND: Final = 0.16
_BAND_OF_LEVELS: Final = 0.06
_GREY: Final = "#808080"
# Between two metrics: room for the title of the lower one.
_GAP: Final = 0.07


@dataclass(frozen=True, slots=True)
class LinesScene:
    """Input of the figure besides the cells.

    Attributes:
        x, style: Knobs along x and of the lines' style.
        levels: The style's values in all panels, in order; empty without a style.
        competitors: The lines' values with hues; None for one line.
        metrics: One row of axes each.
        place: Values that all cells share, of several that the filters leave, by column.
        end_words: Words of the least and the most end of the style.
        fast_end: Which of them is drawn bold; the other is dotted.
        band: What a point's interval is, in words.
        limited: Metric to which the limit applies.
        labels: System to its label.
    """

    catalogue: Catalogue
    x: Knob
    style: Knob | None
    levels: Sequence[Value | None]
    competitors: Competitors | None
    metrics: tuple[Metric, ...]
    place: Mapping[str, Value | None]
    end_words: Mapping[str, str]
    fast_end: str
    x_log: bool
    y_log: bool
    has_bands: bool
    band: str
    limited: str
    labels: Mapping[str, str]

    @property
    def by(self) -> Knob | None:
        """The knob of the lines."""
        return self.competitors.knob if self.competitors else None

    @property
    def knobs(self) -> list[Knob]:
        """The knobs of a cell."""
        return [knob for knob in (self.x, self.by, self.style) if knob is not None]


@finishing
def build_lines(
    cells: pl.DataFrame, scene: LinesScene, title: str, subtitle: str
) -> dict[str, Any]:
    """Build the lines as a figure dictionary.

    Args:
        cells: See `Lines`.
    """
    at_zero = cells.filter(pl.col(scene.x.column) <= 0) if scene.x.facet.is_number else cells[:0]
    if scene.x_log and len(at_zero):
        subtitle += " · 0 is not on the logarithmic axis"
    xs = ordered_values(scene.x, cells[scene.x.column].unique().to_list())
    cards = _cards(cells, scene)
    traces: list[dict] = []
    for row, metric in enumerate(scene.metrics):
        traces += _traces(cells.filter(metric=metric.name), _axes(row), scene, xs, cards)
    traces += _legend(cells, scene)
    return {"data": traces, "layout": _layout(cells, scene, title, subtitle, xs)}


def _axes(row: int) -> dict[str, str]:
    """Return the axes of a metric: one x axis, and a y axis each."""
    return {"xaxis": "x", "yaxis": f"y{row + 1 if row else ''}"}


def _traces(
    cells: pl.DataFrame,
    axes: dict[str, str],
    scene: LinesScene,
    xs: Sequence[Value | None],
    cards: Mapping[tuple, list[str]],
) -> list[dict]:
    """Build the bands, lines and level lines of one metric in one panel; bands lie behind."""
    bands: list[dict] = []
    drawn: list[dict] = []
    keys = [*([scene.by.column] if scene.by else []), "end"]
    keys += [scene.style.column] if scene.style and not cells["end"].count() else []
    for line in cells.partition_by(keys, maintain_order=True) if len(cells) else []:
        hue, look, opacity = _look(line, cells, scene)
        known = line.filter(pl.col(scene.x.column).is_not_null())
        if scene.x.facet.is_number and len(known) < len(line):
            # A policy has no number along x: its mean is a level line.
            policy = line.filter(pl.col(scene.x.column).is_null())
            drawn.append(_level(policy, axes, scene, xs, hue, cards))
        known = known if scene.x.facet.is_number else line
        if not len(known):
            continue
        x = _places(known, scene)
        if scene.has_bands:
            shade = _BAND if known["end"].count() or scene.style is None else _BAND_OF_LEVELS
            bands += _band(known, x, hue, shade, axes)
        drawn.append(
            scatter_trace(
                "line",
                x,
                floats(known["value"]),
                "lines+markers",
                hoverinfo="none",
                line={"color": _shade(hue, opacity), **look},
                marker={"size": 5 if look["width"] > _FAINT_PX else 4,
                        "color": _shade(hue, opacity),
                        "symbol": _symbol(line, scene)},
                unselected={"marker": {"opacity": 0.15}},
                meta={"kind": "line", "fades": 0.25}
                | _meta(known, scene, cards),
                **axes,
            )
        )  # fmt: skip
    return [*bands, *drawn]


def _places(rows: pl.DataFrame, scene: LinesScene) -> Any:
    if scene.x.facet.is_number:
        return floats(rows[scene.x.column])
    return [axis_label(scene.x, value, scene.labels) for value in rows[scene.x.column]]


def _look(
    line: pl.DataFrame, cells: pl.DataFrame, scene: LinesScene
) -> tuple[str, dict[str, Any], float]:
    """Return hue, line style and opacity of a line."""
    hue = OKABE_ITO[0]
    if scene.competitors is not None:
        place = scene.competitors.values.index(line[scene.competitors.knob.column][0])
        hue = scene.competitors.hues[place]
    end = line["end"][0]
    if end is not None:
        fast = end == scene.fast_end
        return hue, {"width": _BOLD_PX, "dash": "solid"} if fast else _DOTTED, 1.0
    if scene.style is None or cells["end"].count():
        return hue, {"width": _PLAIN_PX, "dash": "solid"}, 1.0
    share = scene.levels.index(line[scene.style.column][0]) / max(1, len(scene.levels) - 1)
    return hue, {"width": _FAINT_PX, "dash": "solid"}, _DARK + share * (_LIGHT - _DARK)


_DOTTED: Final = {"width": _PLAIN_PX, "dash": "dot"}


def _symbol(line: pl.DataFrame, scene: LinesScene) -> str:
    if scene.competitors is None:
        return "circle"
    place = scene.competitors.values.index(line[scene.competitors.knob.column][0])
    return scene.competitors.symbols[place]


def _level(
    rows: pl.DataFrame,
    axes: dict[str, str],
    scene: LinesScene,
    xs: Sequence[Value | None],
    hue: str,
    cards: Mapping[tuple, list[str]],
) -> dict:
    """Build the level line of a point without a number along x."""
    numbers = [float(x) for x in xs if x is not None and (x > 0 or not scene.x_log)]  # type: ignore[operator]
    ends = [min(numbers), max(numbers)] if numbers else [0.0, 1.0]
    both = pl.concat([rows[:1], rows[:1]])
    return scatter_trace(
        "level",
        np.array(ends),
        floats(both["value"]),
        "lines+markers",
        hoverinfo="none",
        line={"color": hue, "width": _FAINT_PX, "dash": "dash"},
        marker={"size": 4, "color": hue},
        meta={"kind": "level", "fades": 0.25} | _meta(both, scene, cards),
        **axes,
    )


def _cards(cells: pl.DataFrame, scene: LinesScene) -> dict[tuple, list[str]]:
    """Return the lines of the card of each cell, by its knobs' values and its end."""
    keys = [*(knob.column for knob in scene.knobs), "end"]
    cards: dict[tuple, list[str]] = {}
    for key, rows in cells.group_by(keys, maintain_order=True):
        pairs = zip(scene.knobs, key, strict=False)
        named = (value_words(knob, value, scene.labels) for knob, value in pairs)
        counts = rows["n"].unique().sort()
        cards[key] = [
            " · ".join(filter(None, named)),
            scene.end_words.get(key[-1] or "", ""),
            *(_value(row, scene.catalogue) for row in rows.iter_rows(named=True)),
            f"n = {' and '.join(f'{n:,}' for n in counts)}"
            + (f", in brackets the {scene.band}" if rows["low"].count() else ""),
            "click: select its runs",
        ]
    return cards


def _value(row: Mapping[str, Any], catalogue: Catalogue) -> str:
    """Return `Energy: 1.32 kJ [1.30 kJ, 1.34 kJ]`."""
    metric = catalogue.metric(row["metric"])
    text = format_quantity(row["value"], metric.unit)
    if row["low"] is not None:
        ends = (format_quantity(row[end], metric.unit) for end in ("low", "high"))
        text += f" [{', '.join(ends)}]"
    return f"{metric.title}: {text}"


def _meta(
    rows: pl.DataFrame, scene: LinesScene, cards: Mapping[tuple, list[str]]
) -> dict[str, Any]:
    """Return by which knobs the browser finds the rows of each point, and the points' cards."""
    columns = [knob.column for knob in scene.knobs]
    panel_values = list(scene.place.values())
    return {
        "cells": {
            "knobs": [*columns, *scene.place],
            "at": [[*row, *panel_values] for row in rows.select(columns).rows()],
        },
        "words": [cards[row] for row in rows.select(*columns, "end").rows()],
    }


def _band(rows: pl.DataFrame, x: Any, hue: str, opacity: float, axes: dict[str, str]) -> list[dict]:
    """Build the shade of a line's intervals: a polygon for each stretch of points that have one."""
    low, high = floats(rows["low"]), floats(rows["high"])
    has = ~np.isnan(low)
    stretches = np.split(np.arange(len(has)), np.flatnonzero(np.diff(has)) + 1)
    path_x: list[Any] = []
    path_y: list[float | None] = []
    for stretch in stretches:
        if has[stretch[0]] and len(stretch) > 1:
            around = [*stretch, *stretch[::-1]]
            path_x += [*(x[i] for i in around), None]
            path_y += [*high[stretch].tolist(), *low[stretch[::-1]].tolist(), None]
    if not path_x:
        return []
    return [
        scatter_trace(
            "interval",
            path_x[:-1],
            path_y[:-1],
            "lines",
            line={"width": 0},
            fill="toself",
            fillcolor=_shade(hue, opacity),
            **axes,
        )
    ]


def _shade(hue: str, opacity: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return hue if opacity == 1 else f"rgba({red},{green},{blue},{opacity:.3g})"


def _legend(cells: pl.DataFrame, scene: LinesScene) -> list[dict]:
    entries = []
    competitors, style = scene.competitors, scene.style
    if competitors is not None:
        named = list(zip(competitors.labels, competitors.hues, competitors.symbols, strict=True))
        shown = named if competitors.has_legend else [named[0], named[-1]]
        entries = [
            _entry(0, label, {"color": hue, "width": _PLAIN_PX}, symbol)
            for label, hue, symbol in shown
        ]
    if style is not None and cells["end"].count():
        slow = "most" if scene.fast_end == "least" else "least"
        bold = {"color": _GREY, "width": _BOLD_PX}
        entries.append(_entry(1, scene.end_words[scene.fast_end], bold))
        entries.append(_entry(1, scene.end_words[slow], {"color": _GREY, **_DOTTED}))
    elif style is not None:
        for at, value in ((_DARK, scene.levels[0]), (_LIGHT, scene.levels[-1])):
            look = {"color": f"rgba(128,128,128,{at})", "width": _FAINT_PX}
            entries.append(_entry(1, value_words(style, value, scene.labels), look))
    if scene.x.facet.is_number and cells[scene.x.column].null_count():
        look = {"color": _GREY, "width": _FAINT_PX, "dash": "dash"}
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
            text = bold(f"{metric.title}, {metric.unit}" if metric.unit else metric.title)
            layout["annotations"].append(_label(text, 0, top, xanchor="left"))
        if fitted := _fitted(own, scene):
            text = f"\N{BLACK UP-POINTING SMALL TRIANGLE} {fitted[1]} beyond"
            layout["annotations"].append(_label(text, 1, top, xanchor="right"))
    return layout


def _fitted(cells: pl.DataFrame, scene: LinesScene) -> tuple[list[float], int] | None:
    """Return the range of a metric's axis if some values are far out, and how many these are."""
    return None if scene.y_log else line_range(floats(cells["value"].drop_nulls()))


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
        named = [axis_label(scene.x, value, scene.labels) for value in xs]
        return look | {"type": "category", "categoryorder": "array", "categoryarray": named}
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
    top = max(map(abs, fitted[0])) if fitted else cells["value"].abs().max() or 0
    is_prefixed = metric.unit != "us" and not scene.y_log and top >= 1000  # type: ignore[operator]
    return {
        "title": axis_title("" if is_many else metric.axis_title),
        "type": "log" if scene.y_log else "linear",
        "zeroline": False,
        "exponentformat": "SI",
        "nticks": 5 if is_many else 8,
        "anchor": axes["xaxis"],
        **({"tickformat": "~s"} if is_prefixed else {}),
        **({"range": fitted[0]} if fitted else {}),
    }
