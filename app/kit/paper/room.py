"""Draws a plan with matplotlib, and gives each panel its room: labels are measured.

Panels keep the proportions that they have on the page. Between them and around them is as much room
as the labels need, no more.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from app.kit.paper import drawing
from app.kit.paper.calls import Call, Column, Name, Plan
from app.kit.paper.fit import wrapped

_PAD_PT: Final = 3.0
_BAR_PT: Final = 7.0
# Of a page of two columns: what is higher leaves no room for a caption.
_MOST_HEIGHT_PT: Final = 620.0
# Height over width of the flattest and of the highest figure.
_LEAST_SHARE, _MOST_SHARE = 0.5, 1.7
_MOST_LABEL: Final = 0.35
# Sizes of the legend's text over those of the others.
_LEGEND_SHARES: Final = (1.0, 0.85, 0.75)
_POINTS: Final = 72.0
Ends = tuple[float, float]
_NEAR: Final = 1e-3


def draw(plan: Plan) -> Figure:
    """Draw a plan: sets the places of its panels, its height and the columns of its legend."""
    mpl.rcdefaults()
    cast(Any, mpl.rcParams).update(plan.settings)
    wide, high = plan.size_pt
    height = high or plan.first_pt or wide * plan.share
    figure = Figure(figsize=(wide / _POINTS, height / _POINTS), dpi=_POINTS)
    FigureCanvasAgg(figure)
    made: dict[str, Any] = {"fig": figure}
    for panel in plan.panels:
        made[panel.name] = figure.add_axes(panel.rect)
    for call in plan.calls:
        run(call, plan, made)
    top, bottom = _title(figure, plan, wide), _legend(figure, plan, made, wide, high)
    # What is near its measured places is right after one turn.
    for _ in range(1 if plan.first_pt else 2):
        height = _settle(plan, made, (wide, height), (top, bottom), high is None)
        figure.set_size_inches(wide / _POINTS, height / _POINTS)
        for panel in plan.panels:
            made[panel.name].set_position(panel.rect)
        if figure.texts:
            figure.texts[0].set_y(1 - _PAD_PT / height)
    plan.size_pt = wide, height
    return figure


def measure(plan: Plan) -> None:
    """Draw a plan without its data, and note in its panels how large they come out."""
    draw(plan)
    wide, high = plan.size_pt
    assert high
    for panel in plan.panels:
        left, _, across, up = panel.rect
        panel.left_pt, panel.inner_pt = left * wide, (across * wide, up * high)


def run(call: Call, plan: Plan, made: dict[str, Any]) -> Any:
    """Make one call; what it returns is kept under its name."""
    target: Any = made.get(call.target)
    if call.target:
        for name in call.method.split("."):
            target = target[name] if name in ("bottom", "left") else getattr(target, name)
    else:
        target = Line2D if call.method == "Line2D" else getattr(drawing, call.method)
    args = [_value(arg, plan, made) for arg in call.args]
    answer = target(*args, **{key: _value(one, plan, made) for key, one in call.options.items()})
    if call.result:
        made[call.result] = answer
    return answer


def _value(value: Any, plan: Plan, made: dict[str, Any]) -> Any:
    if isinstance(value, Column):
        column = plan.column(value)
        return column.tolist() if column.dtype.kind == "O" else column
    if isinstance(value, Name):
        name, _, attribute = value.text.partition(".")
        if not attribute:
            return made[name]
        found = getattr(made[name], attribute.removesuffix("()"))
        return found() if attribute.endswith("()") else found
    if isinstance(value, dict):
        return {key: _value(one, plan, made) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one, plan, made) for one in value]
    return value


def _title(figure: Figure, plan: Plan, wide: float) -> float:
    """Write the title; return the room that it takes, points."""
    if not plan.title:
        return 0.0
    font = plan.settings["font.size"]
    lines = plan.title.split("\n")
    most = int(wide / (0.56 * font))
    plan.title = "\n".join(line if len(line) <= most else f"{line[: most - 1]}…" for line in lines)
    figure.text(_PAD_PT / wide, 1.0, plan.title, va="top")
    return _size(figure.texts[0])[1] + 2 * _PAD_PT


def _legend(
    figure: Figure, plan: Plan, made: dict[str, Any], wide: float, high: float | None
) -> float:
    """Write the legend; return the room that it takes, points.

    It has as many columns as fit, and smaller text where it would take over a third of the height.
    """
    if not plan.legend:
        return 0.0
    font = plan.settings["font.size"]
    for at, call in enumerate(plan.legend):
        label = wrapped(call.options["label"], wide - 2 * _PAD_PT - 3 * font, font)
        plan.legend[at] = replace(call, options={**call.options, "label": label})
    handles = [run(call, plan, made) for call in plan.legend]
    best: tuple[float, int, float] | None = None
    for share in _LEGEND_SHARES:
        plan.legend_pt = round(share * font, 2)
        for columns in range(min(8, len(handles)), 0, -1):
            legend = figure.legend(handles=handles, ncols=columns, **legend_look(plan))
            across, down = _size(legend)
            legend.remove()
            if across <= wide - 2 * _PAD_PT or columns == 1:
                best = min(best or (down, columns, plan.legend_pt), (down, columns, plan.legend_pt))
                break
        if best and best[0] <= (high or wide * plan.share) / 3:
            break
    assert best
    down, plan.legend_columns, plan.legend_pt = best
    figure.legend(handles=handles, ncols=plan.legend_columns, **legend_look(plan))
    return down + _PAD_PT


def legend_look(plan: Plan) -> dict[str, Any]:
    """Return the options of the legend, without its columns."""
    look: dict[str, Any] = {
        "loc": "lower left", "bbox_to_anchor": (0, 0), "borderaxespad": 0.2, "borderpad": 0.2,
        "handlelength": 1.6, "columnspacing": 1.0, "handletextpad": 0.4, "labelspacing": 0.25,
        "fontsize": plan.legend_pt or plan.settings["font.size"],
    }  # fmt: skip
    if plan.legend_title:
        look |= {"title": plan.legend_title, "alignment": "left"}
    return look


def _size(artist: Artist) -> tuple[float, float]:
    box = artist.get_window_extent()
    return float(box.width), float(box.height)


def _settle(
    plan: Plan, made: dict[str, Any], size: tuple[float, float],
    taken: tuple[float, float], is_free: bool,
) -> float:  # fmt: skip
    """Set the place of each panel from the measured labels; return the figure's height, points."""
    needs = {panel.name: _needs(made[panel.name]) for panel in plan.panels}
    panels = [panel for panel in plan.panels if panel.x]
    bars = [panel for panel in plan.panels if not panel.x]
    right = max((_BAR_PT + needs[bar.name][1] + 3 * _PAD_PT for bar in bars), default=0.0)
    wide, high = size
    place_x = _along(
        [(p.x or (0, 1), needs[p.name][0], needs[p.name][1]) for p in panels],
        (_PAD_PT, wide - _PAD_PT - right),
    )[0]
    of_y = [(p.y, needs[p.name][2], needs[p.name][3]) for p in panels]
    of_y += [(bar.y, 0.0, 0.0) for bar in bars]
    ends = taken[1] + _PAD_PT, high - _PAD_PT - taken[0]
    place_y, share, gaps = _along(of_y, ends)
    if is_free:
        least = max((p.least_pt / (p.y[1] - p.y[0]) for p in panels), default=0.0)
        in_page_pt = wide * min(_MOST_SHARE, max(_LEAST_SHARE, plan.share))
        whole = max(0.72 * in_page_pt, least * share)
        high = min(_MOST_HEIGHT_PT, whole + gaps + 2 * _PAD_PT + sum(taken))
        place_y = _along(of_y, (taken[1] + _PAD_PT, high - _PAD_PT - taken[0]))[0]
    for panel in panels:
        assert panel.x
        panel.rect = _rect([place_x(p) for p in panel.x], [place_y(p) for p in panel.y], wide, high)
    left = wide - _PAD_PT - max((needs[bar.name][1] for bar in bars), default=0.0) - _BAR_PT
    for bar in bars:
        panel_y = [place_y(p) for p in bar.y]
        bar.rect = _rect([left, left + _BAR_PT], panel_y, wide, high)
    return high


def _rect(
    x: Sequence[float], y: Sequence[float], wide: float, high: float
) -> tuple[float, float, float, float]:
    sides = x[0] / wide, y[0] / high, (x[1] - x[0]) / wide, (y[1] - y[0]) / high
    left, bottom, across, up = (round(side, 5) for side in sides)
    return left, bottom, max(across, 0.01), max(up, 0.01)


def _needs(axes: Any) -> tuple[float, float, float, float]:
    """Return the room that labels take at the left, right, bottom and top of a panel, points."""
    inner, outer = axes.get_window_extent(), axes.get_tightbbox(for_layout_only=True)
    if outer is None:
        return 0.0, 0.0, 0.0, 0.0
    # Headings may reach over the next panel, so they need room above alone.
    tops = [text.get_window_extent().y1 for text in axes.texts if not text.get_in_layout()]
    above = max([outer.y1, *tops]) - inner.y1
    sides = inner.x0 - outer.x0, outer.x1 - inner.x1, inner.y0 - outer.y0, above
    # What is longer is cut at the edge, so that the panels keep most of the figure.
    most = _MOST_LABEL * axes.figure.get_window_extent().width
    left, right, bottom, top = (max(0.0, float(side)) for side in sides)
    return min(most, left), min(most, right), bottom, top


def _along(
    spans: Sequence[tuple[Ends, float, float]], ends: Ends
) -> tuple[Callable[[float], float], float, float]:
    """Lay out panels along one side.

    Args:
        spans: Of each panel its ends, 0 to 1, and what its labels need before and behind it.
        ends: Where the first label begins and the last one ends, points.

    Returns:
        A function from a place, 0 to 1, to points; the share that panels take; the gaps, points.
    """
    blocks = _blocks([span for span, _, _ in spans])
    before = [max([b for (low, _), b, _ in spans if abs(low - block[0]) < _NEAR], default=0.0)
              for block in blocks]  # fmt: skip
    behind = [max([a for (_, high), _, a in spans if abs(high - block[1]) < _NEAR], default=0.0)
              for block in blocks]  # fmt: skip
    inner = [behind[i] + before[i + 1] + 2 * _PAD_PT for i in range(len(blocks) - 1)]
    gaps = before[0] + behind[-1] + sum(inner)
    share = sum(high - low for low, high in blocks)
    scale = max(0.15 * (ends[1] - ends[0]), ends[1] - ends[0] - gaps) / share
    starts, at = [], ends[0] + before[0]
    for i, (low, high) in enumerate(blocks):
        starts.append(at)
        at += (high - low) * scale + (inner[i] if i < len(inner) else 0.0)

    def place(p: float) -> float:
        for i, (low, high) in enumerate(blocks):
            if p <= high + _NEAR or i == len(blocks) - 1:
                return starts[i] + (p - low) * scale
        return starts[-1]

    return place, share, gaps


def _blocks(spans: Sequence[Ends]) -> list[Ends]:
    """Return the smallest spans, those that overlap as one, in order."""
    # Ends that differ by rounding are the same.
    spans = sorted({(round(low, 4), round(high, 4)) for low, high in spans})
    small = [
        one for one in spans
        if not any(o != one and o[0] >= one[0] - _NEAR and o[1] <= one[1] + _NEAR for o in spans)
    ]  # fmt: skip
    merged: list[Ends] = []
    for low, high in small or [(0.0, 1.0)]:
        if merged and low < merged[-1][1] - _NEAR:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged
