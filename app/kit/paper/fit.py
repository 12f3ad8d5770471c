"""Texts that fit on paper: estimated widths, wrapped lines, notes that do not touch.

Widths are estimates of the fonts' averages; what needs exact room is measured in `room.py`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.kit.paper.axes import Axis
from app.kit.paper.calls import Call, Panel

_EMS: Final = {False: 0.56, True: 0.65}
LINE_EMS: Final = 1.2
_MOST_TURNS: Final = 40
# Of a panel by notes that hang from its top.
_MOST_COVERED: Final = 0.4
Box = tuple[float, float, float, float]


def width_pt(text: str, font_pt: float, is_bold: bool = False) -> float:
    """Return about how wide a text is: its longest line."""
    return _EMS[is_bold] * font_pt * max(map(len, text.split("\n")))


def wrapped(text: str, room_pt: float, font_pt: float, is_bold: bool = False) -> str:
    """Break the lines of a text that are longer than the room; a longer word stays whole."""
    most = room_pt / (_EMS[is_bold] * font_pt)
    lines: list[str] = []
    for line in text.split("\n"):
        own = ""
        for word in re.split(r"\s+", line.strip()):
            if own and len(own) + 1 + len(word) > most:
                lines, own = [*lines, own], word
            else:
                own = f"{own} {word}".strip()
        lines.append(own)
    return "\n".join(lines)


def spread_notes(notes: Sequence[Call], panel: Panel, axes: Sequence[Axis]) -> list[Call]:
    """Move notes of a panel up until none covers another; turned ones and arrows stay.

    A note of a line that would leave the panel stands on the other side of the line.
    """
    placed: list[Box] = []
    moved = _above(notes, panel)
    boxes = {at: _box(note, panel, axes) for at, note in enumerate(moved)}
    for at in sorted(boxes, key=lambda i: (boxes[i][2], i)):
        note, box = moved[at], boxes[at]
        if _is_fixed(note):
            continue
        if note.options.get("in_layout") is False and "data" in note.options["xycoords"][:1]:
            note = _inside(note, box, panel)
            box = _box(note, panel, axes)
        up = 0.0
        for _ in range(_MOST_TURNS):
            here = box[0], box[1], box[2] + up, box[3] + up
            under = [one for one in placed if _is_over(one, here)]
            if not under:
                break
            up += max(one[3] for one in under) - here[2]
        placed.append((box[0], box[1], box[2] + up, box[3] + up))
        across, down = note.options["xytext"]
        shift = {"xytext": (across, round(down + up, 2))} if up else {}
        moved[at] = replace(note, options={**note.options, **shift})
    return moved


def _is_fixed(note: Call) -> bool:
    return "rotation" in note.options or "arrowprops" in note.options


def _above(notes: Sequence[Call], panel: Panel) -> list[Call]:
    """Wrap notes that hang from the top of a panel; put them above it if they cover much of it."""
    hanging = [
        at for at, note in enumerate(notes)
        if note.options["xycoords"] == ("axes fraction",) * 2 and not _is_fixed(note)
        and note.args[1][1] >= 0.5 and note.options["va"] == "top"
        and note.options["xytext"][1] <= 0
    ]  # fmt: skip
    (wide, high), moved = panel.inner_pt, list(notes)
    covered = 0.0
    for at in hanging:
        (text, position), size = notes[at].args, notes[at].options["fontsize"]
        text = wrapped(text, wide, size)
        covered += LINE_EMS * size * (text.count("\n") + 1)
        moved[at] = replace(notes[at], args=(text, position))
    if covered < _MOST_COVERED * high:
        return moved
    hanging.sort(key=lambda at: (notes[at].args[1][1], notes[at].options["xytext"][1]))
    for number, at in enumerate(hanging):
        text, (x, _) = moved[at].args
        across = moved[at].options["xytext"][0]
        # Below headings; `spread_notes` stacks them.
        above = {"xytext": (across, round(number / 100 - 0.5, 2)), "va": "bottom"}
        look = {**moved[at].options, **above, "in_layout": False}
        moved[at] = replace(moved[at], args=(text, (x, 1.0)), options=look)
    return moved


def _is_over(a: Box, b: Box) -> bool:
    slack = 0.5
    return (
        a[0] < b[1] - slack and b[0] < a[1] - slack and a[2] < b[3] - slack and b[2] < a[3] - slack
    )


def _box(note: Call, panel: Panel, axes: Sequence[Axis]) -> Box:
    """Return left, right, bottom and top of a note, points from the corner of its panel."""
    text, places = str(note.args[0]), note.args[1]
    look = note.options
    lines = text.count("\n") + 1
    wide = width_pt(text, look["fontsize"], look.get("fontweight") == "bold")
    high = LINE_EMS * look["fontsize"] * lines
    ends = []
    for at, system, axis, length, shift, anchor, size in zip(
        places, look["xycoords"], axes, panel.inner_pt, look["xytext"], (look["ha"], look["va"]),
        (wide, high), strict=True,
    ):  # fmt: skip
        share = at if system == "axes fraction" else axis.share(at)
        start = share * length + shift
        start -= {"right": size, "top": size, "center": size / 2}.get(anchor, 0.0)
        ends += [start, start + size]
    return ends[0], ends[1], ends[2], ends[3]


def _inside(note: Call, box: Box, panel: Panel) -> Call:
    """Return a note at the side of its line that has room; where neither has, in more lines."""
    (left, right), wide = box[:2], panel.inner_pt[0]
    look = note.options
    if look["ha"] not in ("left", "right") or (left >= 0 and right <= wide):
        return note
    at, own = (left, wide - left) if look["ha"] == "left" else (right, right)
    text = wrapped(note.args[0], own, look["fontsize"])
    if width_pt(text, look["fontsize"]) <= own:
        return replace(note, args=(text, note.args[1]))
    side = "left" if at < wide / 2 else "right"
    text = wrapped(note.args[0], max(at, wide - at), look["fontsize"])
    across = abs(look["xytext"][0]) * (1 if side == "left" else -1)
    turned = {**look, "ha": side, "xytext": (across, look["xytext"][1])}
    return replace(note, args=(text, note.args[1]), options=turned)
