"""What is written over a figure and beside it, as calls: annotations, lines, legend, colour bars.

Places on the whole figure become places on the panel that is nearest, with a distance in points:
panels move apart where their labels need room.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.kit.paper.axes import Axis
from app.kit.paper.calls import Call, Name, Panel
from app.kit.paper.drawer import DASHES, Drawer
from app.kit.paper.figure import colour, is_bold, number, part, plain
from app.kit.paper.fit import LINE_EMS, spread_notes, wrapped

_ABOVE: Final = 2.9
_MOST: Final = 400
# Room between two headings beside each other.
_BETWEEN_EMS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Frame:
    """The panels by the names of their axes, and the length of the figure's sides in pixels."""

    panels: dict[tuple[str, str], Panel]
    width_px: float
    height_px: float

    def nearest(self, x: str, y: str, at: tuple[float, float]) -> tuple[Panel, tuple[str, str]]:
        """Return the panel with axes of some names, empty for any, that is nearest to a place."""

        def distance(key: tuple[str, str]) -> float:
            panel = self.panels[key]
            assert panel.x
            sides = zip((panel.x, panel.y), at, strict=True)
            return sum(max(low - p, p - high, 0.0) for (low, high), p in sides)

        fitting = [k for k in self.panels if (not x or k[0] == x) and (not y or k[1] == y)]
        key = min(fitting or self.panels, key=distance)
        return self.panels[key], key


@dataclass(frozen=True, slots=True)
class _Place:
    """A place along one side of a panel: in values or as a share, and a distance in points."""

    value: float
    is_share: bool
    away_pt: float = 0.0


def _reference(spec: dict[str, Any], letter: str, axes: dict[str, Axis]) -> tuple[str, bool]:
    """Return the axis of a note, empty for the whole figure, and whether it is a share of it."""
    name, _, of = str(spec.get(f"{letter}ref") or letter).partition(" ")
    return (name, of == "domain") if name in axes else ("", True)


def notes(drawer: Drawer, frame: Frame) -> list[Call]:
    """Return the calls of lines, rectangles and texts; no text of a panel covers another."""
    calls = [*_shapes(drawer, frame), *_annotations(drawer, frame)]
    texts: list[Call] = []
    for panel in frame.panels.values():
        own = [call for call in calls if call.method == "annotate" and call.target == panel.name]
        axes = [drawer.axes[name] for name in panel.axes]
        texts += spread_notes(own, panel, axes) if panel.inner_pt[0] else own
    return [*(call for call in calls if call.method != "annotate"), *texts]


def _rooms(drawer: Drawer, frame: Frame) -> dict[int, float]:
    """Return of each heading the room that it has to the next one at its height, points."""
    lines: dict[tuple[int, str], list[tuple[float, int, str]]] = {}
    for at, spec in enumerate(_list_of(drawer.layout, "annotations")):
        panel, places = _placed(drawer, frame, spec, "x", "y")
        if _is_heading(drawer, spec, places):
            (x, y), side = places, _anchors(spec, places)[0]
            start = panel.left_pt + x.value * panel.inner_pt[0] + x.away_pt
            height = number(spec.get("yshift"), 0) + 1000 * panel.y[1] + y.away_pt
            lines.setdefault((round(height), side), []).append((start, at, side))
    rooms: dict[int, float] = {}
    end = max(panel.left_pt + panel.inner_pt[0] for panel in frame.panels.values())
    for line in lines.values():
        starts = sorted({start for start, _, _ in line})
        for start, at, side in line:
            i = starts.index(start)
            # Half of a text in the middle is at either side of its place.
            is_middle = 1 + (side == "center")
            before = start - starts[i - 1] if i else is_middle * start
            behind = starts[i + 1] - start if starts[i + 1 :] else is_middle * (end - start)
            room = {"left": behind, "right": before}.get(side, min(before, behind))
            rooms[at] = room - _BETWEEN_EMS * drawer.font_pt
    return rooms


def _is_heading(drawer: Drawer, spec: dict[str, Any], places: Sequence[_Place]) -> bool:
    """Return whether a note of one line stands above its panel."""
    x, y = places
    up = {"top": 1.0, "center": 0.5}.get(_anchors(spec, places)[1], 0.0)
    low = y.away_pt + drawer.pt * number(spec.get("yshift"), 0) - up * LINE_EMS * drawer.font_pt
    return x.is_share and y.is_share and y.value >= 1 and low >= -0.3 * drawer.font_pt


def _annotations(drawer: Drawer, frame: Frame) -> Iterator[Call]:
    """Yield the calls of the annotations; those above a panel are wrapped to its room."""
    rooms = _rooms(drawer, frame)
    for at, spec in enumerate(_list_of(drawer.layout, "annotations")):
        text = plain(spec.get("text") or "")
        if spec.get("visible") is False or not text.strip():
            continue
        drawer.count_texts(1)
        font, k = part(spec, "font"), drawer.pt
        panel, places = _placed(drawer, frame, spec, "x", "y")
        align = _anchors(spec, places)
        shift = [number(spec.get(f"{c}shift"), 0, -900, 900) * k for c in "xy"]
        look: dict[str, Any] = {
            "xycoords": tuple("axes fraction" if p.is_share else "data" for p in places),
            "xytext": tuple(round(p.away_pt + s, 2) for p, s in zip(places, shift, strict=True)),
            "textcoords": "offset points", "ha": align[0], "va": align[1],
            "fontsize": drawer.size(font.get("size")), "color": colour(font.get("color")),
            "annotation_clip": False, "zorder": _ABOVE + 0.05,
        }  # fmt: skip
        if is_bold(spec.get("text"), font):
            look["fontweight"] = "bold"
        if _is_heading(drawer, spec, places):
            look["in_layout"] = False
            if panel.inner_pt[0]:
                room, size = max(rooms[at], panel.inner_pt[0] / 2), look["fontsize"]
                text = wrapped(text, room, size, "fontweight" in look)
            # Further lines go up, not into the panel.
            share = {"bottom": 0.0, "center": 0.5}.get(align[1], 1.0)
            up = share * text.count("\n") * LINE_EMS * look["fontsize"]
            look["xytext"] = look["xytext"][0], round(look["xytext"][1] + up, 2)
        elif all(p.is_share for p in places) and align[1] == "top":
            look["in_layout"] = False
        if spec.get("textangle") not in (None, "auto", 0):
            look["rotation"] = -number(spec["textangle"], 0, -360, 360)
        if spec.get("showarrow") is True:
            tip = [number(spec.get(f"a{c}"), d, -400, 400) * k for c, d in (("x", -10), ("y", -30))]
            look["xytext"] = round(tip[0], 2), round(-tip[1], 2)
            look["arrowprops"] = {"arrowstyle": "-|>", "linewidth": drawer.width(1.5)}
        if spec.get("bgcolor"):
            pad = {"boxstyle": "square,pad=0.15", "linewidth": 0}
            look["bbox"] = {**pad, "facecolor": colour(spec["bgcolor"], 1, "#ffffff")}
        xy = tuple(round(p.value, 6) if p.is_share else p.value for p in places)
        yield Call(panel.name, "annotate", (text, xy), look, layer=_ABOVE + 0.05)


def _list_of(layout: dict[str, Any], name: str) -> list[dict[str, Any]]:
    given = layout.get(name)
    return (
        [one for one in given[:_MOST] if isinstance(one, dict)] if isinstance(given, list) else []
    )


def _placed(
    drawer: Drawer, frame: Frame, spec: dict[str, Any], kx: str, ky: str
) -> tuple[Panel, tuple[_Place, _Place]]:
    names = [_reference(spec, letter, drawer.axes) for letter in "xy"]
    rough = []
    for (name, is_share), key in zip(names, (kx, ky), strict=True):
        if not name:
            rough.append(number(spec.get(key), 0.5, -9, 9))
        else:
            low, high = drawer.axes[name].domain
            share = number(spec.get(key), 0.5, 0, 1) if is_share else 0.5
            rough.append(low + share * (high - low))
    panel, _ = frame.nearest(names[0][0], names[1][0], (rough[0], rough[1]))
    assert panel.x
    placed = []
    sides = (panel.x, panel.y), (frame.width_px, frame.height_px)
    for (name, is_share), key, ends, length, p in zip(names, (kx, ky), *sides, rough, strict=True):
        if name and not is_share:
            placed.append(_Place(drawer.axes[name].position(spec.get(key)), False))
        elif name:
            placed.append(_Place(number(spec.get(key), 0.5, -9, 9), True))
        else:
            held = min(max(p, ends[0]), ends[1])
            away = (p - held) * length * drawer.pt
            placed.append(_Place((held - ends[0]) / (ends[1] - ends[0]), True, away))
    return panel, (placed[0], placed[1])


def _anchors(spec: dict[str, Any], places: Sequence[_Place]) -> tuple[str, str]:
    across, down = spec.get("xanchor"), spec.get("yanchor")
    p = places[0].value if places[0].is_share else 0.5
    auto_x = "left" if p < 1 / 3 else "right" if p > 2 / 3 else "center"
    p = places[1].value if places[1].is_share else 0.5
    auto_y = "bottom" if p < 1 / 3 else "top" if p > 2 / 3 else "center"
    is_arrow = spec.get("showarrow") is True
    return (
        across if across in ("left", "right", "center") else "center" if is_arrow else auto_x,
        {"top": "top", "bottom": "bottom", "middle": "center"}.get(
            str(down), "center" if is_arrow else auto_y
        ),
    )


def _shapes(drawer: Drawer, frame: Frame) -> Iterator[Call]:
    """Yield the calls of lines and rectangles; one across the figure is drawn in each panel."""
    for spec in _list_of(drawer.layout, "shapes"):
        names = [_reference(spec, letter, drawer.axes) for letter in "xy"]
        if spec.get("visible") is False or spec.get("type") not in ("line", "rect"):
            continue
        layer = 1.9 if spec.get("layer") == "below" else _ABOVE
        for key, panel in frame.panels.items():
            if all(not n or n == k for (n, _), k in zip(names, key, strict=True)):
                call = _shape(drawer, spec, names, panel, layer)
                if call:
                    yield call
                    yield from _label(drawer, spec, names, panel)


def _sides(
    drawer: Drawer, spec: dict[str, Any], names: Sequence[tuple[str, bool]], panel: Panel
) -> list[tuple[list[float], bool]] | None:
    """Return both ends along x and along y, and whether they are shares of the panel.

    None where the shape lies beside the panel.
    """
    lines: list[tuple[list[float], bool]] = []
    assert panel.x
    for letter, (name, is_share), ends in zip("xy", names, (panel.x, panel.y), strict=True):
        keys = f"{letter}0", f"{letter}1"
        if name and not is_share:
            # Unlike annotations, shapes have values on a log axis, no logarithms.
            axis, given = drawer.axes[name], np.array([spec.get(key) for key in keys], object)
            lines.append((axis.positions(given).tolist(), False))
            continue
        at = [number(spec.get(key), 0, -9, 9) for key in keys]
        if not name:
            if max(at) < ends[0] or min(at) > ends[1]:
                return None
            at = [(min(max(p, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0]) for p in at]
        lines.append((at, True))
    return lines


def _shape(
    drawer: Drawer, spec: dict[str, Any], names: Sequence[tuple[str, bool]], panel: Panel,
    layer: float,
) -> Call | None:  # fmt: skip
    both = _sides(drawer, spec, names, panel)
    if both is None:
        return None
    (x, x_share), (y, y_share) = both
    line, opacity = part(spec, "line"), number(spec.get("opacity"), 1, 0, 1)
    ink = colour(line.get("color"), opacity, "#444444")
    wide = drawer.width(line.get("width"))
    coordinates = {
        (False, False): None,
        (True, True): Name(f"{panel.name}.transAxes"),
        (False, True): Name(f"{panel.name}.get_xaxis_transform()"),
        (True, False): Name(f"{panel.name}.get_yaxis_transform()"),
    }[x_share, y_share]
    look: dict[str, Any] = {"zorder": layer}
    look |= {"transform": coordinates} if coordinates else {}
    if spec.get("type") == "line":
        dash = DASHES.get(str(line.get("dash") or "solid"), "solid")
        look |= {"color": ink, "linewidth": wide, "linestyle": dash}
        look |= {"scalex": False, "scaley": False}
        return Call(panel.name, "plot", (x, y), look, layer=layer)
    face = colour(spec.get("fillcolor"), opacity, "transparent")
    look |= {"facecolor": face, "edgecolor": ink if line.get("width") != 0 else "none"}
    look["linewidth"] = wide
    corners = [x[0], x[1], x[1], x[0]], [y[0], y[0], y[1], y[1]]
    return Call(panel.name, "fill", corners, look, layer=layer)


def _label(
    drawer: Drawer, spec: dict[str, Any], names: Sequence[tuple[str, bool]], panel: Panel
) -> Iterator[Call]:
    label = part(spec, "label")
    text, both = plain(label.get("text") or ""), _sides(drawer, spec, names, panel)
    if not text or not both:
        return
    drawer.count_texts(1)
    (x, x_share), (y, y_share) = both
    is_end = label.get("textposition") in ("end", "top right", "bottom right", "top center", "top")
    at = (x[-1], y[-1]) if is_end else (sum(x) / 2, sum(y) / 2)
    font, up = part(label, "font"), str(label.get("yanchor") or "bottom")
    across = str(label.get("xanchor") or ("right" if x[0] != x[-1] and is_end else "center"))
    gap = 2.0 * drawer.pt
    look: dict[str, Any] = {
        "xycoords": tuple("axes fraction" if s else "data" for s in (x_share, y_share)),
        "xytext": ({"left": gap, "right": -gap}.get(across, 0.0), gap if up == "bottom" else -gap),
        "textcoords": "offset points", "fontsize": drawer.size(font.get("size")),
        "ha": across if across in ("left", "right", "center") else "center",
        "va": up if up in ("top", "bottom") else "center",
        "color": colour(font.get("color")), "annotation_clip": False, "zorder": _ABOVE + 0.05,
        "in_layout": False,
    }  # fmt: skip
    yield Call(panel.name, "annotate", (text, at), look, layer=_ABOVE + 0.05)
