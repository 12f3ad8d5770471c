"""The lines of metrics over a knob as traces: lines, level lines, bands, cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.kit.competitors import Competitors, axis_labels, value_words
from app.kit.encodings import OKABE_ITO, scatter_trace
from app.kit.words import n_words
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.selection import Value
from data.units import format_quantity

BOLD_PX: Final = 3.2
PLAIN_PX: Final = 2.0
FAINT_PX: Final = 1.3
# Opacity of the levels, of the least and of the most value: lower values are darker.
DARK, LIGHT = 0.95, 0.3
# Values on the card of a point whose runs are no replicates.
_RUNS_NAMED: Final = 6
_BAND: Final = 0.16
_BAND_OF_LEVELS: Final = 0.06


@dataclass(frozen=True, slots=True)
class LinesScene:
    """Input of the figure besides the cells.

    Attributes:
        x, style: Knobs along x and of the lines' style.
        levels: The style's values in all panels, in order; empty without a style.
        competitors: The lines' values with hues; None for one line.
        metrics: One row of axes each.
        panel: Values that all cells share, of several that the filters leave, by column.
        end_words: Words of the least and the most end of the style.
        fast_end: Which of them is drawn bold; the other is dotted.
        band: What a point's interval is, in words.
        limited: Metric to which the limit applies.
        labels: System to its label.
        is_unstated: Whether all rows are means of an unstated number of runs.
    """

    catalogue: Catalogue
    x: Knob
    style: Knob | None
    levels: Sequence[Value | None]
    competitors: Competitors | None
    metrics: tuple[Metric, ...]
    panel: Mapping[str, Value | None]
    end_words: Mapping[str, str]
    fast_end: str
    x_log: bool
    y_log: bool
    has_bands: bool
    band: str
    limited: str
    labels: Mapping[str, str]
    is_unstated: bool = False

    @property
    def by(self) -> Knob | None:
        """The knob of the lines."""
        return self.competitors.knob if self.competitors else None

    @property
    def is_course(self) -> bool:
        """Whether x has an order that a line may follow; names have points and error bars."""
        return self.x.facet.is_number or self.style is not None

    @property
    def knobs(self) -> list[Knob]:
        """The knobs of a cell."""
        return [knob for knob in (self.x, self.by, self.style) if knob is not None]


def line_traces(
    cells: pl.DataFrame,
    runs: pl.DataFrame,
    axes: dict[str, str],
    scene: LinesScene,
    xs: Sequence[Value | None],
    cards: Mapping[tuple, list[str]],
) -> list[dict]:
    """Build the bands, lines and level lines of one metric in one panel; bands lie behind.

    Where the runs of a point are no replicates, its line has a gap, and each of them a marker.
    """
    bands: list[dict] = []
    drawn: list[dict] = []
    keys = [*([scene.by.column] if scene.by else []), "end"]
    keys += [scene.style.column] if scene.style and not cells["end"].count() else []
    for line in cells.partition_by(keys, maintain_order=True) if len(cells) else []:
        hue, symbol, look, opacity = _look(line, cells, scene)
        own_runs = runs.join(line.select(keys).unique(), on=keys, how="semi", nulls_equal=True)
        is_known = pl.col(scene.x.column).is_not_null() if scene.x.facet.is_number else pl.lit(True)
        # A policy has no number along x: its mean is a level line.
        policies = pl.concat([line.filter(~pl.col("is_unlike")), own_runs]).filter(~is_known)
        drawn += [_level(each, axes, scene, xs, hue, cards) for each in policies.iter_slices(1)]
        known = line.filter(is_known)
        known = known.with_columns(value=pl.when(~pl.col("is_unlike")).then("value"))
        errors: dict[str, Any] = {}
        if scene.has_bands and not scene.is_course:
            gaps = {
                "array": floats(known["high"] - known["value"]),
                "arrayminus": floats(known["value"] - known["low"]),
            }
            errors = {"error_y": {**gaps, "symmetric": False, "thickness": 1.2, "width": 3}}
        elif scene.has_bands and len(known):
            shade = _BAND if known["end"].count() or scene.style is None else _BAND_OF_LEVELS
            bands += _band(known, _places(known, scene), hue, shade, axes)
        color = _shade(hue, opacity)
        size = 9 if not scene.is_course else 5 if look["width"] > FAINT_PX else 4
        marker: dict[str, Any] = {"marker": {"size": size, "color": color, "symbol": symbol}}
        course: dict[str, Any] = {"mode": "lines+markers", "line": {"color": color, **look}}
        for rows, own in (
            (known, marker | errors | (course if scene.is_course else {})),
            (own_runs.filter(is_known), marker),
        ):
            if rows["value"].count():
                drawn.append(_points(rows, scene, cards, {**own, **axes}))
    return [*bands, *drawn]


def _points(
    rows: pl.DataFrame,
    scene: LinesScene,
    cards: Mapping[tuple, list[str]],
    look: Mapping[str, Any],
) -> dict:
    """Build the markers of some points, with a line where the look has one."""
    return scatter_trace(
        "line",
        _places(rows, scene),
        floats(rows["value"]),
        hoverinfo="none",
        unselected={"marker": {"opacity": 0.15}},
        meta={"kind": "line", "fades": 0.25} | _meta(rows, scene, cards),
        **{"mode": "markers", **look},
    )


def _places(rows: pl.DataFrame, scene: LinesScene) -> Any:
    if scene.x.facet.is_number:
        return floats(rows[scene.x.column])
    return axis_labels(scene.x, rows[scene.x.column], scene.labels)


def _look(
    line: pl.DataFrame, cells: pl.DataFrame, scene: LinesScene
) -> tuple[str, str, dict[str, Any], float]:
    """Return hue, symbol, line style and opacity of a line."""
    hue, symbol = OKABE_ITO[0], "circle"
    if scene.competitors is not None:
        index = scene.competitors.values.index(line[scene.competitors.knob.column][0])
        hue, symbol = scene.competitors.hues[index], scene.competitors.symbols[index]
    end = line["end"][0]
    if end is not None:
        fast = end == scene.fast_end
        return hue, symbol, {"width": BOLD_PX, "dash": "solid"} if fast else DOTTED, 1.0
    if scene.style is None or cells["end"].count():
        return hue, symbol, {"width": PLAIN_PX, "dash": "solid"}, 1.0
    share = scene.levels.index(line[scene.style.column][0]) / max(1, len(scene.levels) - 1)
    return hue, symbol, {"width": FAINT_PX, "dash": "solid"}, DARK + share * (LIGHT - DARK)


DOTTED: Final = {"width": PLAIN_PX, "dash": "dot"}


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
        line={"color": hue, "width": FAINT_PX, "dash": "dash"},
        marker={"size": 4, "color": hue},
        meta={"kind": "level", "fades": 0.25} | _meta(both, scene, cards),
        **axes,
    )


def cards_of(cells: pl.DataFrame, scene: LinesScene) -> dict[tuple, list[str]]:
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
            *(
                _value(own, scene.catalogue)
                for own in rows.partition_by("metric", maintain_order=True)
            ),
            n_words(counts.to_list(), scene.is_unstated)
            + (f", in brackets the {scene.band}" if rows["low"].count() else ""),
            "click: select its runs",
        ]
    return cards


def _value(rows: pl.DataFrame, catalogue: Catalogue) -> str:
    """Return `Energy: 1.32 kJ [1.30 kJ, 1.34 kJ]`; of runs that are no replicates each value."""
    row = rows.row(0, named=True)
    metric = catalogue.metric(row["metric"])
    values = [format_quantity(value, metric.unit) for value in rows["value"]]
    text = ", ".join(values[:_RUNS_NAMED]) + (" ..." if len(values) > _RUNS_NAMED else "")
    if row["low"] is not None:
        ends = (format_quantity(row[end], metric.unit) for end in ("low", "high"))
        text += f" [{', '.join(ends)}]"
    return f"{metric.title_in(*metric.doubted_in)}: {text}"


def _meta(
    rows: pl.DataFrame, scene: LinesScene, cards: Mapping[tuple, list[str]]
) -> dict[str, Any]:
    """Return by which knobs the browser finds the rows of each point, and the points' cards."""
    columns = [knob.column for knob in scene.knobs]
    panel_values = list(scene.panel.values())
    return {
        "cells": {
            "knobs": [*columns, *scene.panel],
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
