"""Small multiples: pictures of parts of the runs, side by side as one picture.

Each part is drawn by the view as if it were the page. This module cuts the rows into parts and
joins the figures: one title, one legend, one scale of colours, axes shared or of each panel's own.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import ordered_values, value_words
from app.kit.encodings import base_layout
from app.kit.figure_text import bold, finished
from app.kit.words import WORKLOAD_TITLES
from data.knobs import Knob
from data.selection import Selection, Value

# More panels are too small to read; those of the first values are drawn.
MOST_PANELS: Final = 12
# Columns by number of panels; from nine on four.
_COLUMNS: Final = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4}
# Room between panels, shares of the picture: beside and above one, with shared or own axes.
_BESIDE: Final = {True: 0.025, False: 0.07}
_ABOVE: Final = {True: 0.09, False: 0.17}
_AXIS: Final = re.compile(r"([xy])axis(\d*)")
_TITLE_PX: Final = 12
# Values without a panel that the subtitle names.
_NAMED: Final = 3
# How much smaller the points of panels are, by kind of trace.
_SMALLER: Final = {"points": 0.6, "set": 0.6, "frontier": 0.6, "winner": 0.75}


@dataclass(frozen=True, slots=True)
class Split:
    """A knob and those of its values that have a panel.

    Attributes:
        values: In order, at most MOST_PANELS.
        left_out: Further values, which have no panel.
        labels: System to its label.
        workloads: Those of each panel's rows.
    """

    knob: Knob
    values: tuple[Value | None, ...]
    left_out: tuple[Value | None, ...]
    labels: Mapping[str, str]
    workloads: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, rows: pl.DataFrame, knob: Knob) -> "Split":
        """Split rows with the knob's column, `system`, `system_label` and `workload`."""
        values = ordered_values(knob, rows[knob.column].unique().to_list())
        labels = dict(rows.select("system", "system_label").unique().iter_rows())
        shown = tuple(values[:MOST_PANELS])
        there = rows.select(knob.column, "workload").unique().sort("workload")
        pairs = [(value, str(name)) for value, name in there.iter_rows()]
        workloads = tuple(tuple(name for own, name in pairs if own == value) for value in shown)
        return cls(knob, shown, tuple(values[MOST_PANELS:]), labels, workloads)

    def only(self, is_there: Sequence[bool]) -> "Split":
        """Return the split without the values of which nothing can be drawn."""
        kept = [i for i, is_one in enumerate(is_there) if is_one]
        values = tuple(self.values[i] for i in kept)
        names = tuple(self.workloads[i] for i in kept)
        return replace(self, values=values, workloads=names)

    @property
    def titles(self) -> list[str]:
        """The title of each panel: `400k QPS`, `NetPIPE, 64 B` of several workloads."""
        words = [value_words(self.knob, value, self.labels) for value in self.values]
        if len({name for names in self.workloads for name in names}) < 2:
            return words
        named = [[WORKLOAD_TITLES.get(name, name) for name in names] for names in self.workloads]
        return [
            title if value is None else f"{title}, {text}"
            for title, text, value in zip(map(" and ".join, named), words, self.values, strict=True)
        ]

    def parts(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """Return the rows of each panel, in the order that they have."""
        column = pl.col(self.knob.column)
        kind = rows.schema[self.knob.column]
        return [rows.filter(column.eq_missing(pl.lit(v, kind))) for v in self.values]

    def narrow(self, selection: Selection, value: Value | None) -> Selection:
        """Return the filters of one panel."""
        return selection.with_values(self.knob.facet, [self._chosen(value)])

    def _chosen(self, value: Value | None) -> Value:
        return self.knob.facet.null_word if value is None else value

    def words(self) -> str:
        """Return which values have no panel; empty if all have one."""
        if not self.left_out:
            return ""
        named = [value_words(self.knob, value, self.labels) for value in self.left_out]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"{', '.join(named[:_NAMED])}{more} not drawn; filter to see them"

    def links(self) -> list[dict[str, Any]]:
        """Return of each panel the filter that makes it the page."""
        facet = self.knob.facet.name
        return [{"facet": facet, "value": self._chosen(value)} for value in self.values]


def join_panels(
    figures: Sequence[dict[str, Any]], split: Split, title: str, subtitle: str, is_shared: bool
) -> dict[str, Any]:
    """Join the figures of a split into one.

    Args:
        figures: One of each panel, finished; their points traces say which rows of the panel they
            have. At least one.
        is_shared: Whether panels have the same ranges and zoom together.

    Returns:
        A finished figure. `meta.panels` has of each panel the filter, its axes and its rows of the
        page's columns.
    """
    columns = _COLUMNS.get(len(figures), 4)
    lines = math.ceil(len(figures) / columns)
    beside, above = _BESIDE[is_shared], _ABOVE[is_shared]
    width = (1 - beside * (columns - 1)) / columns
    height = (1 - above * (lines - 1)) / lines
    first = figures[0]["layout"]
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {key: value for key, value in first.items() if not _AXIS.match(key)}
    layout |= finished(base_layout(title, subtitle))
    layout["margin"] = {**first["margin"], "t": first["margin"]["t"] + 1.5 * _TITLE_PX}
    layout["annotations"], panels, legend, row = [], [], set(), 0
    axes_of: dict[str, list[str]] = {}
    for number, (figure, name) in enumerate(zip(figures, split.titles, strict=True)):
        own = figure["layout"]
        left = number % columns * (width + beside)
        low = max(0.0, 1 - number // columns * (height + above) - height)
        box = {"x": (left, width), "y": (low, height)}
        place = {"is_left": not number % columns, "is_last": number + columns >= len(figures)}
        ids = _renumbered(own, number)
        layout |= _placed(own, ids, box, is_shared and bool(number), is_shared, **place)
        for trace in figure["data"]:
            if trace["meta"]["kind"] == "legend":
                if trace["name"] not in legend:
                    legend.add(trace["name"])
                    data.append(trace)
                continue
            data.append(_moved(trace, ids, row))
        layout["annotations"] += [_noted(one, ids, box) for one in own.get("annotations", [])]
        lifted_px = _TITLE_PX + 2 if own.get("annotations") else 0
        layout["annotations"].append(_title(number, name, left, low + height, lifted_px))
        for metric, axes in own["meta"].get("axes", {}).items():
            axes_of.setdefault(metric, []).extend(ids[axis] for axis in axes)
        rows = max((t["meta"]["rows"]["end"] for t in figure["data"] if "rows" in t["meta"]),
                   default=0)  # fmt: skip
        panels.append({"x": ids["x"], "y": ids["y"], "rows": {"first": row, "end": row + rows}})
        row += rows
    if is_shared:
        _share_ranges(layout, [_renumbered(f["layout"], i) for i, f in enumerate(figures)])
    colours = [f["layout"]["coloraxis"] for f in figures if "coloraxis" in f["layout"]]
    if colours:
        layout["coloraxis"] = colours[0] | {
            "cmin": min(one["cmin"] for one in colours), "cmax": max(o["cmax"] for o in colours),
            "showscale": any(one.get("showscale", True) for one in colours),
        }  # fmt: skip
    links = [panel | link for panel, link in zip(panels, split.links(), strict=True)]
    layout["meta"] = {**first["meta"], "panels": links, "rows_of_panels": lines}
    layout["meta"] |= {"axes": axes_of} if axes_of else {}
    return {"data": data, "layout": layout}


def _renumbered(layout: Mapping[str, Any], panel: int) -> dict[str, str]:
    """Return the new name of each axis of a figure: `x`, `y2` become `x3`, `y6` in its panel."""
    ids: dict[str, str] = {}
    for letter in "xy":
        own = sorted(int(m[2] or 1) for m in map(_AXIS.fullmatch, layout) if m and m[1] == letter)
        for axis in own:
            number = panel * len(own) + axis
            ids[_axis_id(letter, axis)] = _axis_id(letter, number)
    return ids


def _axis_id(letter: str, number: int) -> str:
    return f"{letter}{number if number > 1 else ''}"


def _key(axis: str) -> str:
    return f"{axis[0]}axis{axis[1:]}"


def _placed(
    own: Mapping[str, Any],
    ids: Mapping[str, str],
    box: Mapping[str, tuple[float, float]],
    follows: bool,
    is_shared: bool,
    is_left: bool,
    is_last: bool,
) -> dict[str, Any]:
    """Return the axes of a panel in its box; inner ones have no titles, and no ticks if shared."""
    axes = {}
    for old, new in ids.items():
        axis, (start, length) = own[_key(old)], box[old[0]]
        low, high = axis.get("domain", (0.0, 1.0))
        is_outer = is_left if old[0] == "y" else is_last
        axes[_key(new)] = {
            **axis,
            "domain": [start + low * length, start + high * length],
            "anchor": ids[axis.get("anchor", "y" if old[0] == "x" else "x")],
            **({} if is_outer else {"title": {"text": ""}}),
            **({} if is_outer or not is_shared else {"showticklabels": False}),
            **({"matches": old} if follows else {}),
        }
    return axes


def _share_ranges(layout: dict[str, Any], panels: Iterable[Mapping[str, str]]) -> None:
    """Give the axes of all panels the range that holds each; without ranges Plotly finds it."""
    together: dict[str, list[str]] = {}
    for ids in panels:
        for old, new in ids.items():
            together.setdefault(old, []).append(_key(new))
    for keys in together.values():
        ranges = [layout[key]["range"] for key in keys if "range" in layout[key]]
        if len(ranges) == len(keys):
            whole = [min(r[0] for r in ranges), max(r[1] for r in ranges)]
            for key in keys:
                layout[key] = {**layout[key], "range": list(whole)}


def _moved(trace: dict[str, Any], ids: Mapping[str, str], row: int) -> dict[str, Any]:
    """Return a trace on its panel's axes; its rows come after those of the panels before."""
    meta = trace["meta"]
    if meta["kind"] in _SMALLER and "size" in trace.get("marker", {}):
        size = np.asarray(trace["marker"]["size"]) * _SMALLER[meta["kind"]]
        own = size.astype(np.float32) if size.ndim else float(size)
        trace = {**trace, "marker": {**trace["marker"], "size": own}}
    if "rows" in meta:
        first, end = (meta["rows"][key] + row for key in ("first", "end"))
        meta = {**meta, "rows": {**meta["rows"], "first": first, "end": end}}
    axes = {key: ids[trace.get(key, key[0])] for key in ("xaxis", "yaxis")}
    return {**trace, "meta": meta, **axes}


def _noted(
    note: dict[str, Any], ids: Mapping[str, str], box: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    """Return a note of a panel's figure in its box."""
    places: dict[str, Any] = {}
    for letter, (start, length) in box.items():
        ref = note[f"{letter}ref"]
        places |= {letter: start + note[letter] * length} if ref == "paper" else {
            f"{letter}ref": ids[ref]
        }  # fmt: skip
    return {**note, **places}


def _title(number: int, name: str, left: float, top: float, lifted_px: float) -> dict[str, Any]:
    """Return the title of a panel, which a click makes the page."""
    return finished({
        "text": bold(name), "name": f"panel {number}", "showarrow": False, "captureevents": True,
        "xref": "paper", "yref": "paper", "x": left, "y": top, "xanchor": "left",
        "yanchor": "bottom", "borderpad": 1, "font": {"size": _TITLE_PX}, "yshift": lifted_px,
        "hovertext": f"click: only {name}",
    })  # fmt: skip
