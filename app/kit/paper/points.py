"""Points, lines, areas, error bars and texts as calls."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from app.kit.paper.axes import Axis
from app.kit.paper.calls import Call, Column, Name
from app.kit.paper.drawer import (
    DASHES,
    MARKERS,
    THIN,
    Drawer,
    dimmed,
    errors,
    first_colour,
    indices,
    places,
    seen_hues,
)
from app.kit.paper.figure import INK, colour, is_bold, is_clear, number, part, plain, spread
from app.kit.paper.fit import width_pt

_STEPS: Final = {"hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid", "vhv": "steps-mid"}
_COLOURS: Final = ("c", "facecolors", "edgecolors")
_PLACES: Final = {"left": "right", "right": "left", "center": "center"}
# Texts in cells that would be smaller, beside the others, are left out: they cannot be read.
_LEAST_SHARE: Final = 0.6
# Of more texts the others stay where they are.
_MOST_APART: Final = 200


def scatter(
    drawer: Drawer, trace: dict[str, Any], x: Axis, y: Axis, panel: str, title: str
) -> Iterator[Call]:
    at_x, at_y = places(trace, x, y)
    if not np.isfinite(at_x.astype(float) * at_y.astype(float)).any():
        return
    default = "lines+markers" if len(at_x) < 20 else "lines"
    mode = str(trace.get("mode") or default)
    opacity = number(trace.get("opacity"), 1.0, 0, 1)
    clip = {} if trace.get("cliponaxis") is not False else {"clip_on": False}
    line = part(trace, "line")
    has_line = "lines" in mode and number(line.get("width"), 2) > 0
    # The line around closed areas is drawn with them: half the values.
    is_around = has_line and trace.get("fill") == "toself" and _is_closed(at_x, at_y)
    edge = line if is_around else {}
    yield from _area(drawer, trace, at_x, at_y, panel, title, opacity, edge)
    if has_line and not is_around:
        held = np.isfinite(at_x.astype(float)) & np.isfinite(at_y.astype(float))
        rows = held if trace.get("connectgaps") is True else np.ones(len(at_x), bool)
        named = drawer.plan.add(title, {"x": at_x[rows], "y": at_y[rows]})
        hue = colour(line.get("color"), opacity, first_colour(trace))
        look: dict[str, Any] = {"color": hue, "linewidth": drawer.width(line.get("width"))}
        look["linestyle"] = DASHES.get(str(line.get("dash") or "solid"), "solid")
        if line.get("shape") in _STEPS:
            look["drawstyle"] = _STEPS[line["shape"]]
        if not is_clear(hue):
            yield Call(panel, "plot", (named["x"], named["y"]), {**look, **clip})
    yield from error_bars(drawer, trace, at_x, at_y, panel, title, opacity)
    if "markers" in mode:
        yield from points(drawer, trace, x, y, (at_x, at_y), panel, title, opacity, clip)
    if "text" in mode:
        yield from words_at(drawer, trace, x, y, at_x, at_y, panel, title)


def _area(
    drawer: Drawer, trace: dict[str, Any], x: np.ndarray, y: np.ndarray, panel: str, title: str,
    opacity: float, edge: dict[str, Any],
) -> Iterator[Call]:  # fmt: skip
    kind, key = trace.get("fill"), (panel, "area")
    last, drawer.before[key] = drawer.before.get(key), (x, y)
    if kind in (None, "none"):
        return
    steps = part(trace, "line").get("shape") == "hv"
    if kind in ("tonexty", "tonextx", "tonext") and last is not None:
        upper, lower = (_stepped(*one) if steps else one for one in ((x, y), last))
        x, y = (np.concatenate([a, b[::-1]]) for a, b in zip(upper, lower, strict=True))
    elif kind in ("tozeroy", "tozerox"):
        x, y = _stepped(x, y) if steps else (x, y)
        ends = (x[[-1, 0]], np.zeros(2)) if kind == "tozeroy" else (np.zeros(2), y[[-1, 0]])
        x, y = np.concatenate([x, ends[0]]), np.concatenate([y, ends[1]])
    hue = colour(trace.get("fillcolor"), opacity, colour(first_colour(trace), 0.5))
    pattern = part(trace, "fillpattern")
    look: dict[str, Any] = {"facecolor": hue, "linewidth": 0}
    if pattern.get("shape"):
        ink = colour(pattern.get("fgcolor"), 1, "#9aa1a9")
        look |= {"hatch": "////", "edgecolor": ink}
    elif is_clear(hue) and not edge:
        return
    if edge:
        ink = colour(edge.get("color"), opacity, first_colour(trace))
        dash = DASHES.get(str(edge.get("dash") or "solid"), "solid")
        look |= {"edgecolor": ink, "linewidth": drawer.width(edge.get("width")), "linestyle": dash}
    named = drawer.plan.add(f"{title}, area", {"x": x, "y": y})
    yield Call("", "fill", (Name(panel), named["x"], named["y"]), look)


def _is_closed(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether each area ends where it began."""
    held = np.isfinite(x.astype(float) + y.astype(float))
    ends = np.diff(np.concatenate([[False], held, [False]]).astype(int))
    first, last = np.flatnonzero(ends == 1), np.flatnonzero(ends == -1) - 1
    return bool((x[first] == x[last]).all() and (y[first] == y[last]).all())


def error_bars(
    drawer: Drawer, trace: dict[str, Any], x: np.ndarray, y: np.ndarray, panel: str, title: str,
    opacity: float,
) -> Iterator[Call]:  # fmt: skip
    for letter in "xy":
        error = part(trace, f"error_{letter}")
        if error.get("array") is None or error.get("visible") is False:
            continue
        up, down = errors(error, len(x))
        rows = np.isfinite(x.astype(float)) & np.isfinite(y.astype(float)) & np.isfinite(up)
        rows &= np.isfinite(down) & ((up > 0) | (down > 0))
        if not rows.any():
            continue
        columns = {"x": x[rows], "y": y[rows], "below": down[rows], "above": up[rows]}
        named = drawer.plan.add(f"{title}, intervals along {letter}", columns)
        options = {
            f"{letter}err": [named["below"], named["above"]], "fmt": "none",
            "ecolor": colour(error.get("color"), opacity, first_colour(trace)),
            "elinewidth": drawer.width(error.get("thickness"), 2),
            "capsize": round(number(error.get("width"), 3, 0, 10) * drawer.pt / 2, 2),
        }  # fmt: skip
        yield Call(panel, "errorbar", (named["x"], named["y"]), options)


def points(
    drawer: Drawer, trace: dict[str, Any], x: Axis, y: Axis, at: tuple[np.ndarray, np.ndarray],
    panel: str, title: str, opacity: float, clip: dict[str, Any],
) -> Iterator[Call]:  # fmt: skip
    marker, count = part(trace, "marker"), len(at[0])
    border = part(marker, "line")
    sizes = spread(marker.get("size"), count, 6.0)
    shares = opacity * dimmed(trace, count, number(marker.get("opacity"), 1.0, 0, 1))
    hues = drawer.marker_hues(marker, count, first_colour(trace))
    edge = drawer.marker_hues(border, count, "#444444") if "color" in border else None
    widths = spread(border.get("width"), count, 0.0)
    symbols = spread(marker.get("symbol"), count, "circle")
    inside = np.isfinite(at[0].astype(float)) & np.isfinite(at[1].astype(float))
    inside &= x.contains(at[0]) & y.contains(at[1])
    for symbol in dict.fromkeys(map(str, symbols)):
        rows = np.flatnonzero(inside & (symbols == symbol))
        if not rows.size:
            continue
        base = symbol.removesuffix("-dot").removesuffix("-open").removesuffix("-dot")
        shape, factor = MARKERS.get(base, ("o", 1.0))
        is_open, is_thin = "-open" in symbol, base in THIN
        drawn = seen_hues(rows, hues, shares)
        outline = drawn if is_open or edge is None else seen_hues(rows, edge, shares)
        wide = float(np.nanmedian(widths[rows].astype(float))) or (1.0 if is_open else 0.0)
        areas = np.round((factor * drawer.pt * _sizes(sizes[rows])) ** 2, 3)
        columns: dict[str, Any] = {"x": at[0][rows], "y": at[1][rows]}
        look: dict[str, Any] = {"marker": shape, "linewidths": drawer.width(wide)}
        stroke = outline if is_thin or is_open else drawn
        for key, values in (("area", areas), ("colour", np.array(stroke, object))):
            if len(set(values.tolist())) > 1:
                columns[key] = values
        is_filled = not (is_open or is_thin)
        if is_filled and wide and edge is not None and len(set(outline)) > 1:
            columns["edge"] = np.array(outline, object)
        named = drawer.plan.add(title, columns)
        hue = named.get("colour", stroke[0])
        look["s"] = named.get("area", float(areas[0]))
        if is_open and not is_thin:
            look |= {"facecolors": "none", "edgecolors": hue}
        elif is_thin:
            look["c"] = hue
        else:
            look["c"] = hue
            look["edgecolors"] = named.get("edge", outline[0]) if wide and edge else "none"
        if isinstance(look["s"], Column):
            painted = {key: look.pop(key) for key in _COLOURS if key in look}
            args = (Name(panel), named["x"], named["y"], look.pop("s"), painted)
            yield Call("", "points", args, {**look, **clip})
        else:
            yield Call(panel, "scatter", (named["x"], named["y"]), {**look, **clip})


def words_at(
    drawer: Drawer, trace: dict[str, Any], x: Axis, y: Axis, at_x: np.ndarray, at_y: np.ndarray,
    panel: str, title: str,
) -> Iterator[Call]:  # fmt: skip
    font, count = part(trace, "textfont"), len(at_x)
    texts = spread(trace.get("text"), count, "")
    hues = spread(font.get("color"), count, INK)
    places = spread(trace.get("textposition"), count, "middle center")
    dim = part(trace, "unselected", "textfont").get("color")
    if isinstance(trace.get("selectedpoints"), list) and dim:
        hues = np.array(hues, object)
        out = np.ones(count, bool)
        out[indices(trace, count)] = False
        hues[out] = dim
    inside = x.contains(at_x) & y.contains(at_y)
    inside &= np.array([bool(t) and t == t and str(t) != "None" for t in texts.tolist()], bool)
    radius = number(part(trace, "marker").get("size"), 6, 0, 60) / 2
    for position in dict.fromkeys(map(str, places)):
        rows = np.flatnonzero(inside & (places == position))
        if not rows.size:
            continue
        drawer.count_texts(len(rows))
        labels = np.array([plain(texts[row]) for row in rows], object)
        size, is_inside = drawer.size(font.get("size")), position == "middle center"
        has_marks = "markers" in trace.get("mode", "text") and part(trace, "marker").get("opacity")
        if is_inside and has_marks in (False, 0):
            size = fitting(x, at_x[rows], labels, size)
            if size < _LEAST_SHARE * drawer.font_pt:
                continue
        down, _, across = position.partition(" ")
        gap = drawer.pt * (radius + 2)
        look: dict[str, Any] = {
            "ha": _PLACES.get(across, "center"),
            "va": {"top": "bottom", "bottom": "top"}.get(down, "center"),
            "fontsize": size,
        }
        if is_bold("", font):
            look["fontweight"] = "bold"
        colours = np.array([colour(hues[row]) for row in rows], object)
        ups = (
            np.zeros(len(rows)) if is_inside else _apart(x, y, at_x[rows], at_y[rows], labels, size)
        )
        for up in np.unique(ups):
            own = ups == up
            columns = {"x": at_x[rows][own], "y": at_y[rows][own], "text": labels[own]}
            named = drawer.plan.add(f"{title}, texts", {**columns, "colour": colours[own]})
            offset = (
                {"left": -gap, "right": gap}.get(across, 0.0),
                {"top": gap, "bottom": -gap}.get(down, 0.0) + up,
            )
            moved = {"xytext": tuple(round(o, 2) for o in offset), "textcoords": "offset points"}
            args = (Name(panel), named["x"], named["y"], named["text"], named["colour"])
            yield Call("", "write", args, {**look, **(moved if any(offset) else {})})


def _apart(
    x: Axis, y: Axis, at_x: np.ndarray, at_y: np.ndarray, labels: np.ndarray, font_pt: float
) -> np.ndarray:
    """Return how far up each text is moved, points, so that none covers one below it."""
    ups, tops = np.zeros(len(labels)), list[tuple[float, float, float]]()
    left = [x.place_pt(at) for at in at_x.tolist()]
    low = [y.place_pt(at) for at in at_y.tolist()]
    for at in np.argsort(low, kind="stable").tolist()[:_MOST_APART]:
        right = left[at] + width_pt(labels[at].strip(), font_pt)
        above = [top for a, b, top in tops if a < right and left[at] < b]
        up = max([0.0, *(top - low[at] for top in above)])
        # Labels that are far from their points name others.
        ups[at] = round(up, 1) if up <= 2.5 * font_pt else 0.0
        tops.append((left[at], right, low[at] + ups[at] + 1.1 * font_pt))
    return ups


def fitting(axis: Axis, at: np.ndarray, labels: np.ndarray, most: float) -> float:
    """Return the size of texts in cells, so that they are no wider than their cell."""
    steps = np.diff(np.unique(at.astype(float)))
    longest = max(len(line) for text in labels for line in text.split("\n"))
    if not steps.size or not longest:
        return most
    room = abs(axis.place_pt(at[0] + steps.min()) - axis.place_pt(at[0]))
    return round(min(most, room / (0.78 * longest)), 2)


def _sizes(values: np.ndarray) -> np.ndarray:
    return np.clip(np.nan_to_num(values.astype(float)), 0, 60)


def _stepped(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
