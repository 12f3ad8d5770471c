"""One figure of the figures of a split's panels: one title, one legend, one scale of colours.

Axes are shared, or of each panel's own. The browser may put the panels into fewer columns
(assets/_kit/panels.js), so `meta.panels` says which axes and notes are a panel's.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.kit.encodings import base_layout, bold, finished
from app.kit.panels import Split

# Columns by number of panels; from nine on four.
_COLUMNS: Final = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4}
# Panels of several pictures, one above the other, stand in one line up to this many.
_MOST_IN_A_LINE: Final = 6
# Room between panels, shares of the picture: beside and above one, with shared or own axes.
_BESIDE: Final = {True: 0.025, False: 0.07}
_ABOVE: Final = {True: 0.09, False: 0.17}
# Width of a character of a tick, share of the picture.
_CHARACTER: Final = 0.011
_AXIS: Final = re.compile(r"([xy])axis(\d*)")
_TITLE_PX: Final = 12
# How much smaller the points of panels are, by kind of trace.
_SMALLER: Final = {"points": 0.6, "set": 0.6, "frontier": 0.6, "winner": 0.75}
# What a figure's `meta` says of its own picture, which becomes that of its panel.
_OWN: Final = ("map", "labels")


def columns_of(count: int, is_stacked: bool = False) -> int:
    """Return the number of columns of some panels; stacked pictures are the lines themselves."""
    if is_stacked and count <= _MOST_IN_A_LINE:
        return count
    return _COLUMNS.get(count, 4)


@dataclass(frozen=True, slots=True)
class _Panel:
    """A figure at its place among the panels.

    Attributes:
        ids: The new name of each of its axes: `x`, `y2` become `x3`, `y6`.
        box: Start and length along x and y, shares of the picture.
        first_row: Its first row of the page's columns; `rows` are its number.
        is_left, is_last: Whether no panel is left of it, and none below.
        titled: Along which of x and y it has a title, which is that of all panels.
    """

    number: int
    figure: Mapping[str, Any]
    ids: Mapping[str, str]
    box: Mapping[str, tuple[float, float]]
    first_row: int
    rows: int
    is_left: bool
    is_last: bool
    titled: str

    @property
    def layout(self) -> Mapping[str, Any]:
        """The layout of its figure."""
        return self.figure["layout"]

    def axes(self, is_shared: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield its axes; inner ones have no titles, and no ticks if shared."""
        for old, new in self.ids.items():
            axis, (start, length) = self.layout[_key(old)], self.box[old[0]]
            low, high = axis.get("domain", (0.0, 1.0))
            is_outer = self.is_left if old[0] == "y" else self.is_last
            yield (
                _key(new),
                {
                    **axis,
                    "domain": [start + low * length, start + high * length],
                    "anchor": self.ids[axis.get("anchor", "y" if old[0] == "x" else "x")],
                    **({} if old[0] in self.titled else {"title": {"text": ""}}),
                    **({} if is_outer or not is_shared else {"showticklabels": False}),
                    **({"matches": old} if is_shared and self.number else {}),
                },
            )

    def trace(self, trace: dict[str, Any]) -> dict[str, Any]:
        """Return a trace on its axes; its rows come after those of the panels before."""
        meta = trace["meta"]
        if meta["kind"] in _SMALLER and "size" in trace.get("marker", {}):
            size = np.asarray(trace["marker"]["size"]) * _SMALLER[meta["kind"]]
            own = size.astype(np.float32) if size.ndim else float(size)
            trace = {**trace, "marker": {**trace["marker"], "size": own}}
        if isinstance(meta.get("rows"), dict):  # A range, counted from the first of its panel.
            first, end = (meta["rows"][key] + self.first_row for key in ("first", "end"))
            meta = {**meta, "rows": {**meta["rows"], "first": first, "end": end}}
        if self.number and "showscale" in trace:
            trace = {**trace, "showscale": False}
        axes = {key: self.ids[trace.get(key, key[0])] for key in ("xaxis", "yaxis")}
        return {**trace, "meta": meta, **axes}

    def notes(self, title: str) -> list[dict[str, Any]]:
        """Return the notes of its figure, and its title, which a click makes the page."""
        own = [self._note(note) for note in self.layout.get("annotations", [])]
        (left, _), (low, height) = self.box["x"], self.box["y"]
        heading = {
            "text": bold(title), "name": f"panel {self.number}", "showarrow": False,
            "captureevents": True, "xref": "paper", "yref": "paper", "x": left,
            "y": low + height, "xanchor": "left", "yanchor": "bottom", "borderpad": 1,
            "font": {"size": _TITLE_PX}, "yshift": _TITLE_PX + 2 if own else 0,
            "hovertext": f"click: only {title}",
        }  # fmt: skip
        return [*own, finished(heading)]

    def _note(self, note: Mapping[str, Any]) -> dict[str, Any]:
        places: dict[str, Any] = {}
        for letter, (start, length) in self.box.items():
            ref = note[f"{letter}ref"]
            places |= {letter: start + note[letter] * length} if ref == "paper" else {
                f"{letter}ref": self.ids[ref]
            }  # fmt: skip
        return {**note, **places}


def join_panels(
    figures: Sequence[dict[str, Any]],
    split: Split,
    title: str,
    subtitle: str,
    is_shared: bool,
    is_stacked: bool = False,
) -> dict[str, Any]:
    """Join the figures of a split into one.

    Args:
        figures: One of each panel, finished; their points traces say which rows of the panel they
            have. At least one.
        is_shared: Whether panels have the same ranges and zoom together.
        is_stacked: Whether each figure is several pictures, one above the other.

    Returns:
        A finished figure. `meta.panels` has of each panel the filter, its axes, notes and box, its
        rows of the page's columns, and what its figure says of its map; `meta.grid` their columns
        and lines.
    """
    columns = columns_of(len(figures), is_stacked)
    panels = _placed(figures, columns, is_shared)
    first = figures[0]["layout"]
    layout: dict[str, Any] = {key: value for key, value in first.items() if not _AXIS.match(key)}
    layout |= finished(base_layout(title, subtitle))
    layout["margin"] = {**first["margin"], "t": first["margin"]["t"] + 1.5 * _TITLE_PX}
    for panel in panels:
        layout |= panel.axes(is_shared)
    if is_shared:
        _share_ranges(layout, [panel.ids for panel in panels])
    layout |= _colours([figure["layout"] for figure in figures])
    notes = [panel.notes(name) for panel, name in zip(panels, split.titles, strict=True)]
    layout["annotations"] = [note for own in notes for note in own]
    grid = {"columns": columns, "lines": math.ceil(len(figures) / columns), "isShared": is_shared}
    of_page = {key: value for key, value in first["meta"].items() if key not in _OWN}
    layout["meta"] = of_page | {"panels": _about(panels, notes, split), "grid": grid}
    if "axes" in of_page:
        axes: dict[str, list[str]] = {}
        for panel in panels:
            for metric, own in panel.layout["meta"]["axes"].items():
                axes.setdefault(metric, []).extend(panel.ids[axis] for axis in own)
        layout["meta"]["axes"] = axes
    return {"data": _traces(panels), "layout": layout}


def _placed(figures: Sequence[dict[str, Any]], columns: int, is_shared: bool) -> list[_Panel]:
    """Return the figures as panels, line by line."""
    beside = _BESIDE[is_shared]
    if not is_shared:
        # Labels of maps may be long.
        metas = [figure["layout"]["meta"] for figure in figures]
        labels = [label for meta in metas if "labels" in meta for label in meta["labels"]["y"]]
        beside = max(beside, _CHARACTER * (max(map(len, labels), default=0) + 2))
    above, lines = _ABOVE[is_shared], math.ceil(len(figures) / columns)
    # Below the middle of the last line; beside each line, of many the middle one.
    middle = (columns * (lines - 1) + len(figures) - 1) // 2
    titled_lines = range(lines) if lines < 3 else [(lines - 1) // 2]
    width = (1 - beside * (columns - 1)) / columns
    height = (1 - above * (lines - 1)) / lines
    panels: list[_Panel] = []
    row = 0
    for number, figure in enumerate(figures):
        line, column = divmod(number, columns)
        low = max(0.0, 1 - line * (height + above) - height)
        box = {"x": (column * (width + beside), width), "y": (low, height)}
        ranges = (trace["meta"].get("rows") for trace in figure["data"])
        rows = max((own["end"] for own in ranges if isinstance(own, dict)), default=0)
        ids, is_last = _renumbered(figure["layout"], number), number + columns >= len(figures)
        titled = "x" * (number == middle) + "y" * (not column and line in titled_lines)
        panels.append(_Panel(number, figure, ids, box, row, rows, not column, is_last, titled))
        row += rows
    return panels


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


def _colours(layouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the scale of colours that holds those of all panels; empty without one."""
    scales = [layout["coloraxis"] for layout in layouts if "coloraxis" in layout]
    if not scales:
        return {}
    ends = {"cmin": min(s["cmin"] for s in scales), "cmax": max(s["cmax"] for s in scales)}
    return {"coloraxis": scales[0] | ends
            | {"showscale": any(s.get("showscale", True) for s in scales)}}  # fmt: skip


def _traces(panels: Sequence[_Panel]) -> list[dict[str, Any]]:
    """Return the traces of all panels; each entry of the legend once."""
    listed: set[str] = set()
    data = []
    for panel in panels:
        for trace in panel.figure["data"]:
            is_repeated = trace.get("showlegend", False) and trace["name"] in listed
            is_entry = trace["meta"]["kind"] == "legend"
            if is_entry and trace["name"] in listed:
                continue
            if is_entry or trace.get("showlegend", False):
                listed.add(trace["name"])
            moved = trace if is_entry else panel.trace(trace)
            data.append({**moved, "showlegend": False} if is_repeated else moved)
    return data


def _about(
    panels: Sequence[_Panel], notes: Sequence[Sequence[dict[str, Any]]], split: Split
) -> list[dict[str, Any]]:
    """Return of each panel what the browser needs to know."""
    about, note = [], 0
    for panel, own, link in zip(panels, notes, split.links(), strict=True):
        meta = panel.layout["meta"]
        about.append({
            **{key: meta[key] for key in _OWN if key in meta},
            "x": panel.ids["x"], "y": panel.ids["y"],
            "axes": [_key(axis) for axis in panel.ids.values()],
            "notes": [note, note + len(own)],
            "box": panel.box,
            "rows": {"first": panel.first_row, "end": panel.first_row + panel.rows},
            **link,
        })  # fmt: skip
        note += len(own)
    return about
