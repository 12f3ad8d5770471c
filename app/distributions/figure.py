"""The map: one column a level, one row a bin, colour the share; lines of quantiles over it."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.distributions.answer import MOST_LEVELS, RANKS, Answer
from app.kit.columns import encode_columns
from app.kit.competitors import axis_labels, words_of
from app.kit.encodings import (
    NUMBER_SCALE,
    axis_title,
    base_layout,
    color_bar,
    finishing,
    message_figure,
    scatter_trace,
)
from app.kit.joined import join_panels
from app.kit.panels import Split
from data.analysis.coded_rows import Part
from data.distributions import Level

# A click opens these many runs of a cell: as many as Timeline shows.
MOST_OPENED: Final = 6
NO_RUN: Final = 0xFFFF
# Shares below are in the colour of the least.
_LEAST_SHARE: Final = 1e-4
_SHARES: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
# What is in view first: all but this share of the values of each end of each column.
_BEYOND: Final = 5e-4
# Dark lines with a light rim stand out from all colours of the scale and from both papers.
_LINE, _RIM = "#16191d", "rgba(255,255,255,0.85)"
_SYMBOLS: Final = {
    "p10": "triangle-down", "p50": "circle", "p90": "triangle-up", "p99": "diamond",
}  # fmt: skip
_ROOM: Final = 0.06
# Share of the columns' width beside them, for the names of quantiles: of one panel, of several.
_NAMES_ROOM: Final = (0.09, 0.18)
# Names of quantiles closer than this share of the axis are one text.
_NEAR: Final = 0.035


def draw_map(answer: Answer) -> dict[str, Any]:
    """Return the map, {figure, columns}; its rows are the levels of all panels."""
    if answer.trouble:
        return {"figure": message_figure(answer.trouble), "columns": None}
    split = None
    if answer.split is not None:
        rows = answer.drawn
        if answer.split.column != "workload":
            # Titles do not list the workloads that each panel pools.
            rows = rows.with_columns(workload=pl.lit(""))
        split = Split.of(Part.of(rows), answer.split)
    values = answer.values[:MOST_LEVELS]
    panels = split.values if split else (None,)
    levels = [
        [answer.levels.get((panel, value) if split else (value,)) for value in values]
        for panel in panels
    ]
    shown = sorted({row for own in levels for level in own if level
                    for row in _most(answer, level).ravel() if row >= 0})  # fmt: skip
    scene = _Scene(answer, values, levels, shown)
    names = split.titles if split else [""]
    figures = [scene.panel(own, name) for own, name in zip(levels, names, strict=True)]
    figure = figures[0]
    if split and len(figures) > 1:
        title, subtitle = scene.words(split.words())
        figure = join_panels(figures, split, title, subtitle, is_shared=True)
    rows = answer.drawn.select(answer.by).clear()
    keys = [(panel, value) if split else (value,) for panel in panels for value in values]
    rows = type(rows)(keys, rows.schema, orient="row")
    return {"figure": figure, "columns": encode_columns(Part.of(rows), answer.by, {})}


def _most(answer: Answer, level: Level) -> np.ndarray:
    """Return the runs of a level with most of their values in each slot; -1 for none.

    Returns:
        Indices of runs, shape (slots, MOST_OPENED).
    """
    shares = answer.counted.shares_of(level.rows)
    order = np.argsort(-shares, axis=0, kind="stable")[:MOST_OPENED]
    most = np.where(np.take_along_axis(shares, order, axis=0) > 0, level.rows[order], -1)
    return np.pad(most, ((0, MOST_OPENED - len(most)), (0, 0)), constant_values=-1).T


class _Scene:
    """What the panels share.

    Args:
        values: Of the knob along x.
        levels: By panel and value; None where no run is.
        opened: Indices of the runs that a click may open, rising.
    """

    def __init__(
        self,
        answer: Answer,
        values: Sequence[Any],
        levels: Sequence[Sequence[Level | None]],
        opened: Sequence[int],
    ) -> None:
        self._answer, self._values, self._opened = answer, values, np.array(opened)
        self._names_room = _NAMES_ROOM[len(levels) > 1] * len(values)
        distributions = answer.counted
        shares = np.stack([level.shares for own in levels for level in own if level])
        self._most_share = max(float(shares.max()), 10 * _LEAST_SHARE)
        # Rows of the map: the slots, and what lies between slots that some run has.
        ends = np.unique([distributions.low, distributions.high])
        self._edges = np.log2(1 + ends)
        self._row = np.searchsorted(ends, distributions.low)
        seen = self._row[distributions.slots_at(shares, [_BEYOND, 1 - _BEYOND])]
        self._range = self._view(self._edges[seen[:, 0].min()], self._edges[seen[:, 1].max() + 1])

    @staticmethod
    def _view(low: float, high: float) -> list[float]:
        room = max(high - low, 0.5) * _ROOM
        return [float(low - room), float(high + room)]

    def words(self, more: str = "") -> tuple[str, str]:
        """Return the title and the subtitle of the map."""
        answer = self._answer
        title = f"{answer.quantity.title} by {answer.knob.noun}"
        parts = [f"{len(answer.counted.run_ids):,} runs, each counts the same", answer.pooled()]
        if len(answer.values) > MOST_LEVELS:
            parts.append(f"the first {MOST_LEVELS} of {len(answer.values):,} levels")
        return title, " · ".join(filter(None, [*parts, more]))

    @finishing
    def panel(self, levels: Sequence[Level | None], name: str) -> dict[str, Any]:
        """Draw the columns of one panel."""
        answer, count = self._answer, len(levels)
        none = np.zeros(len(answer.counted.low))
        shares = np.stack([level.shares if level else none for level in levels], axis=1)
        z = np.full((len(self._edges) - 1, count), np.nan)
        with np.errstate(divide="ignore"):
            z[self._row] = np.where(shares > 0, np.log10(shares), np.nan)
        most = np.full((count, len(z), MOST_OPENED), NO_RUN, np.uint16)
        for at, level in enumerate(levels):
            if level:
                own = _most(answer, level)
                most[at, self._row] = np.where(own < 0, NO_RUN, np.searchsorted(self._opened, own))
        cells = {
            "type": "heatmap",
            "x": np.arange(count), "y": self._edges, "z": z, "coloraxis": "coloraxis",
            "hoverinfo": "none", "xgap": 1,
            "meta": {
                "kind": "cells", "panel": name, "most": most.ravel(),
                "runs": [len(level.rows) if level else 0 for level in levels],
            },
        }  # fmt: skip
        title, subtitle = self.words()
        return {
            "data": [cells, *self._lines(levels, shares)],
            "layout": base_layout(title, subtitle) | self._axes() | {"meta": self._meta()},
        }

    def _lines(self, levels: Sequence[Level | None], shares: np.ndarray) -> list[dict[str, Any]]:
        """Draw the quantiles of each level; lines join levels that are numbers."""
        answer = self._answer
        slots = answer.counted.slots_at(shares.T, list(RANKS.values()))
        rows = self._row[slots]
        heights = (self._edges[rows] + self._edges[rows + 1]) / 2
        values = answer.counted.middle[slots]
        there = np.array([at for at, level in enumerate(levels) if level])
        joined = [at for at in there if isinstance(self._values[at], (int, float))]
        traces = []
        for at, name in enumerate(RANKS):
            y = heights[:, at]
            dash = "solid" if name == "p50" else "dot"
            for color, width in ((_RIM, 4.0), (_LINE, 1.5)):
                line = {"color": color, "width": width, "dash": dash if color == _LINE else "solid"}
                traces.append(scatter_trace("line", joined, y[joined], "lines", line=line))
            marker = {"symbol": _SYMBOLS[name], "size": 7, "color": _LINE,
                      "line": {"color": _RIM, "width": 1.5}}  # fmt: skip
            meta = {
                "kind": "quantile", "rows": {"first": 0, "end": len(levels)},
                "words": [[f"{name}: {answer.quantity.words(value)}"] for value in values[:, at]],
                "slots": rows[:, at].astype(np.int32),
            }  # fmt: skip
            x = np.arange(len(levels))
            y = np.where(np.isin(x, there), y, np.nan)
            traces.append(scatter_trace("quantile", x, y, marker=marker, meta=meta,
                                        hoverinfo="none", cliponaxis=False))  # fmt: skip
        names: dict[float, list[str]] = {}
        for at, name in enumerate(RANKS):
            height = float(heights[there[-1], at])
            near = [one for one in names if height - one < _NEAR * np.ptp(self._range)]
            names.setdefault(near[-1] if near else height, []).append(name)
        words = [f" {', '.join(own)}" for own in names.values()]
        beside = [float(there[-1]) + 0.5] * len(names)
        return [*traces, scatter_trace("names", beside, list(names), "text", text=words,
                                       textposition="middle right", textfont={"size": 12},
                                       cliponaxis=False)]  # fmt: skip

    def _axes(self) -> dict[str, Any]:
        answer, count = self._answer, len(self._values)
        labels = axis_labels(answer.knob, self._values, answer.labels)
        ticks = _ticks(answer, self._edges, self._range)
        unit = f", {answer.quantity.unit}" if answer.quantity.unit else ""
        low, high = np.log10([_LEAST_SHARE, self._most_share])
        shown = [share for share in _SHARES if share <= self._most_share]
        grid = {"showgrid": False, "zeroline": False, "tickfont": {"size": 12}}
        return {
            "xaxis": {**grid, "range": [-0.5, count - 0.5 + self._names_room],
                      "tickvals": list(range(count)), "ticktext": labels,
                      "title": axis_title(answer.knob.axis_title)},
            "yaxis": {**grid, "range": self._range, "tickvals": [at for at, _ in ticks],
                      "ticktext": [text for _, text in ticks], "ticks": "outside",
                      "title": axis_title(answer.quantity.title if unit == ", us" else
                                          f"{answer.quantity.title}{unit}")},
            "coloraxis": {"colorscale": NUMBER_SCALE, "cmin": low, "cmax": high,
                          "colorbar": {**color_bar("share of a run's values in a bin, %"),
                                       "tickvals": np.log10(shown).tolist(),
                                       "ticktext": [f"{100 * share:g}" for share in shown]}},
            "margin": {"l": 66, "r": 8, "t": 46, "b": 44},
            "dragmode": "zoom",
        }  # fmt: skip

    def _meta(self) -> dict[str, Any]:
        answer, distributions = self._answer, self._answer.counted
        quantity_words = answer.quantity.words
        bins = [""] * (len(self._edges) - 1)
        for row, low, high in zip(self._row, distributions.low, distributions.high, strict=True):
            is_one = high - low == 1 and answer.state.quantity != "power_w"
            bins[row] = (
                quantity_words(low)
                if is_one
                else f"{quantity_words(low)} to {quantity_words(high)}"
            )
        return {
            "kind": "distribution",
            "levels": words_of(answer.knob, self._values, answer.labels),
            "bins": bins,
            "opens": [distributions.run_ids[row] for row in self._opened],
            "mostOpened": MOST_OPENED,
        }


def _ticks(answer: Answer, edges: np.ndarray, seen: Sequence[float]) -> list[tuple[float, str]]:
    """Return the ticks of the axis of values: 0, then decades, of a short axis more in each."""
    scale, low, high = answer.quantity.scale, edges[0], edges[-1]
    doublings = seen[1] - seen[0]
    steps: Sequence[int] = (1,) if doublings > 8 else (1, 2, 5) if doublings > 3 else range(1, 10)
    values = [step * 10.0**power for power in range(-3, 13) for step in steps]
    places = [(float(np.log2(1 + value / scale)), value) for value in values]
    first = [(0.0, "0")] if low <= 0 else []
    whole = [
        (at, answer.quantity.words(value / scale, 1)) for at, value in places
        if max(low, 0.9) <= at <= high and (value >= 1 or scale != 1)
    ]  # fmt: skip
    return first + whole
