"""Bars and cells as calls."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from app.kit.paper.axes import Axis
from app.kit.paper.calls import Call, Name
from app.kit.paper.drawer import Drawer, dimmed, ends_of, places, seen_hues, stops_of
from app.kit.paper.figure import FigureError, array, colour, is_clear, number, part, spread
from app.kit.paper.points import error_bars, words_at


def bars(
    drawer: Drawer, trace: dict[str, Any], x: Axis, y: Axis, panel: str, title: str
) -> Iterator[Call]:
    at_x, at_y = places(trace, x, y)
    is_lying = trace.get("orientation") == "h"
    at, length = (at_y, at_x) if is_lying else (at_x, at_y)
    rows = np.isfinite(at.astype(float)) & np.isfinite(length.astype(float))
    if not rows.any():
        return
    opacity = number(trace.get("opacity"), 1.0, 0, 1)
    wide, offset = widths(drawer, trace, panel, at[rows].astype(float))
    at, length = at[rows].astype(float) + offset, length[rows].astype(float)
    base = bases(drawer, trace, panel, at, length, rows)
    marker = part(trace, "marker")
    shares = opacity * dimmed(trace, len(rows), number(marker.get("opacity"), 1.0, 0, 1))
    hues = seen_hues(np.flatnonzero(rows), drawer.marker_hues(marker, len(rows), "#636efa"), shares)
    columns: dict[str, Any] = {"at": at, "length": length, "base": base}
    columns |= {"width": wide} if len(set(wide.tolist())) > 1 else {}
    columns |= {"colour": np.array(hues, object)} if len(set(hues)) > 1 else {}
    named = drawer.plan.add(title, columns)
    border = part(marker, "line")
    edge = number(border.get("width"), 0, 0, 20)
    look: dict[str, Any] = {
        "color": named.get("colour", hues[0]),
        "height" if is_lying else "width": named.get("width", float(wide[0])),
        "left" if is_lying else "bottom": named["base"],
        "linewidth": drawer.width(edge),
    }
    if edge:
        look["edgecolor"] = colour(border.get("color"), 1, "#444444")
    if part(marker, "pattern").get("shape") in ("/", "x", "\\"):
        look |= {"hatch": 3 * part(marker, "pattern")["shape"], "edgecolor": "#ffffff"}
    method = "barh" if is_lying else "bar"
    yield Call(panel, method, (named["at"], named["length"]), look)
    end = base + length
    middle = (end, at) if is_lying else (at, end)
    full_x, full_y = (np.full(len(rows), np.nan) for _ in range(2))
    full_x[rows], full_y[rows] = middle
    yield from error_bars(drawer, trace, full_x, full_y, panel, title, opacity)
    if trace.get("textposition") in ("outside", "auto", "inside"):
        place = "middle right" if is_lying else "top center"
        words = {**trace, "textposition": place, "marker": {"size": 0}}
        yield from words_at(drawer, words, x, y, full_x, full_y, panel, title)


def widths(
    drawer: Drawer, trace: dict[str, Any], panel: str, at: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the widths of bars, and how far those of a group are from their place."""
    if trace.get("width") is not None:
        return spread(trace["width"], len(at), 0.8)[: len(at)].astype(float), 0.0
    steps = np.diff(np.unique(np.concatenate([at, *drawer.bar_places[panel]])))
    step = float(steps.min()) if steps.size else 1.0
    whole = step * (1 - number(drawer.layout.get("bargap"), 0.2, 0, 0.99))
    group, index = drawer.groups.get(panel, []), int(trace["_index"])
    if drawer.layout.get("barmode", "group") != "group" or len(group) < 2:
        return np.full(len(at), whole), 0.0
    one = whole / len(group)
    return np.full(len(at), one), one * (group.index(index) - (len(group) - 1) / 2)


def bases(drawer: Drawer, trace: dict[str, Any], panel: str, at: np.ndarray, length: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return where bars begin: at their base, or on those below in a stack."""
    base = np.nan_to_num(spread(trace.get("base"), len(rows), 0.0)[rows].astype(float))
    if drawer.layout.get("barmode") not in ("stack", "relative"):
        return base
    for i, (place, value) in enumerate(zip(at.tolist(), length.tolist(), strict=True)):
        key = panel, place, value < 0
        base[i] = drawer.stacked.get(key, base[i])
        drawer.stacked[key] = base[i] + value
    return base


def grid(trace: dict[str, Any], x: Axis, y: Axis) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the centres of columns and of rows, and the values, shape (rows, columns)."""
    z = array(trace.get("z") or [])
    if z.ndim != 2 or z.dtype.kind != "f":
        raise FigureError("cells that are no table of numbers")
    centres = []
    for letter, axis, count in (("x", x, z.shape[1]), ("y", y, z.shape[0])):
        if trace.get(letter) is not None:
            at = axis.positions(array(trace[letter]).ravel()).astype(float)
            at = (at[1:] + at[:-1]) / 2 if len(at) == count + 1 else at[:count]
        else:
            at = number(trace.get(f"{letter}0"), 0) + np.arange(count) * number(
                trace.get(f"d{letter}"), 1
            )
        if len(at) != count:
            raise FigureError("cells with too few places")
        centres.append(at)
        if count:
            half = abs(at[1] - at[0]) / 2 if count > 1 else 0.5
            axis.seen += [at - half, at + half]
    return centres[0], centres[1], z


def cells(
    drawer: Drawer, trace: dict[str, Any], x: Axis, y: Axis, panel: str, title: str
) -> Iterator[Call]:
    columns, rows, z = grid(trace, x, y)
    shared = trace.get("coloraxis")
    spec = part(drawer.layout, str(shared)) if shared else trace
    stops = spec.get("colorscale", "Viridis")
    if isinstance(stops, list) and all(is_clear(colour(hue)) for _, hue in stops_of(stops)):
        return
    if not np.isfinite(z).any():
        return
    low, high = ends_of(spec, z, "z" if not shared else "c")
    at_x, at_y = (axes.ravel() for axes in np.meshgrid(columns, rows))
    named = drawer.plan.add(title, {"x": at_x, "y": at_y, "z": z.ravel()})
    gap = max(number(trace.get(f"{c}gap"), 0, 0, 10) for c in "xy")
    look: dict[str, Any] = {
        "cmap": drawer.map_of(stops), "vmin": low, "vmax": high,
        "edgecolors": "white" if gap else "face",
        "linewidth": round(gap * drawer.pt, 2) if gap else 0.1,
    }  # fmt: skip
    yield Call("", "mesh", (Name(panel), named["x"], named["y"], named["z"]), look)
    if trace.get("texttemplate") == "%{text}" and trace.get("text") is not None:
        labels = array(trace["text"]).ravel()
        if len(labels) == z.size:
            hues = drawer.hues(z.ravel(), {**spec, "cmin": low, "cmax": high})
            rgb = [bytes.fromhex(hue[1:7]) for hue in hues]
            is_light = [0.299 * r + 0.587 * g + 0.114 * b > 128 for r, g, b in rgb]
            ink = ["#000000" if light else "#ffffff" for light in is_light]
            font = {**part(trace, "textfont"), "color": ink}
            made = {"text": labels.tolist(), "textfont": font}
            yield from words_at(drawer, made, x, y, at_x, at_y, panel, title)
