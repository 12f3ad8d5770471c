"""A figure of a page as a plan for paper: which panels, what is drawn in each, in which sizes.

Traces become calls in the order in which they cover each other: Plotly draws cells below bars and
bars below points, and what WebGL draws below all of them.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from app.kit.paper.axes import Axis, is_turned, read_axes, ticks_of
from app.kit.paper.bars import bars, cells, grid
from app.kit.paper.calls import Call, Panel, Plan
from app.kit.paper.drawer import Drawer, errors, places
from app.kit.paper.figure import MOST_TRACES, FigureError, number, part, plain
from app.kit.paper.fit import wrapped
from app.kit.paper.keys import colour_bars, legend
from app.kit.paper.notes import Frame, notes
from app.kit.paper.options import MM_PT, Options
from app.kit.paper.points import scatter
from app.kit.paper.room import measure

_FAMILIES: Final = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}
_GRID: Final = "#e4e7eb"
# A panel with fewer characters across has no labels that one at its left has.
_NARROW_EMS: Final = 10
# Height of a panel.
_LEAST_EMS: Final = 5.0
_LINE: Final = "#6b737d"
_LAYERS: Final = {"scattergl": 2.0, "heatmap": 2.2, "bar": 2.4, "scatter": 2.6}


def plan_of(figure: Any, size_px: tuple[float, float], options: Options) -> Plan:
    """Make the plan of a figure: once without its data, to measure the panels, and then whole.

    Args:
        figure: Plotly's `{data, layout}`.
        size_px: Width and height on the page.

    Raises:
        FigureError: It draws nothing, or something of it cannot be read.
    """
    rough = _planned(figure, size_px, options, ())
    measure(rough)
    plan = _planned(figure, size_px, options, rough.panels)
    plan.first_pt = rough.size_pt[1]
    return plan


def _planned(
    figure: Any, size_px: tuple[float, float], options: Options, measured: Sequence[Panel]
) -> Plan:
    data, layout = figure.get("data"), part(figure, "layout")
    if not isinstance(data, list) or not all(isinstance(trace, dict) for trace in data):
        raise FigureError("data is no list of traces")
    if len(data) > MOST_TRACES:
        raise FigureError(f"{len(data):,} traces, at most {MOST_TRACES}")
    traces = [{**trace, "_index": at} for at, trace in enumerate(data) if _is_shown(trace)]
    if not traces:
        raise FigureError("nothing is drawn in this picture")
    axes = read_axes(layout, traces)
    plan, drawer, frame = _begin(layout, axes, size_px, options)
    keys = [_axes_of(trace) for trace in traces]
    drawn = [trace for trace, key in zip(traces, keys, strict=True) if not _is_key(trace)]
    for trace in drawn or traces:
        x, y = _axes_of(trace)
        look_at(trace, axes[x], axes[y])
    lengths = {n: size for p in measured for n, size in zip(p.axes, p.inner_pt, strict=True)}
    for axis in axes.values():
        axis.settle()
        axis.length_pt = lengths.get(axis.name) or _length_pt(drawer, axis)
    for trace in drawn or traces:
        key = _axes_of(trace)
        if key not in frame.panels:
            name = f"ax{len(frame.panels) + 1}"
            panel = Panel(name, axes[key[0]].domain, axes[key[1]].domain, key)
            for known in measured[len(frame.panels) : len(frame.panels) + 1]:
                panel.left_pt, panel.inner_pt, panel.rect = (
                    known.left_pt,
                    known.inner_pt,
                    known.rect,
                )
            frame.panels[key] = panel
            plan.panels.append(panel)
        if trace.get("type") == "bar":
            name = frame.panels[key].name
            at = places(trace, axes[key[0]], axes[key[1]])[trace.get("orientation") == "h"]
            drawer.groups.setdefault(name, []).append(trace["_index"])
            drawer.bar_places.setdefault(name, []).append(at[np.isfinite(at)])
    calls: list[Call] = []
    for trace in drawn if measured else ():
        panel = frame.panels[_axes_of(trace)]
        calls += trace_calls(drawer, trace["_index"], trace, panel.name)
    calls += notes(drawer, frame)
    for key, panel in frame.panels.items():
        plan.calls += _axes_calls(drawer, frame, key, panel)
    plan.calls += sorted(calls, key=lambda call: call.layer)
    for panel, of_bar in colour_bars(drawer, frame, drawn):
        plan.panels.append(panel)
        plan.calls += of_bar
    plan.legend = legend(drawer, traces)
    plan.legend_title = plain(part(layout, "legend", "title").get("text") or "")
    if options.has_title:
        plan.title = plain(part(layout, "title").get("text") or "")
    return plan


def _is_shown(trace: dict[str, Any]) -> bool:
    return trace.get("visible") not in (False, "legendonly")


def _is_key(trace: dict[str, Any]) -> bool:
    """Return whether a trace only explains a sign in the legend: it has no point."""
    x = trace.get("x")
    return trace.get("type") != "heatmap" and isinstance(x, list) and all(v is None for v in x)


def _axes_of(trace: dict[str, Any]) -> tuple[str, str]:
    return str(trace.get("xaxis") or "x"), str(trace.get("yaxis") or "y")


def _begin(
    layout: dict[str, Any], axes: dict[str, Axis], size_px: tuple[float, float], options: Options
) -> tuple[Plan, Drawer, Frame]:
    wide, high = size_px
    pt = options.font_pt / number(part(layout, "font").get("size"), 12, 6, 40)
    size = options.width_mm * MM_PT, options.height_mm * MM_PT if options.height_mm else None
    plan = Plan(_settings(options), size, min(3.0, max(0.15, high / wide)))
    drawer = Drawer(plan, axes, layout, pt, options.line_pt, options.font_pt)
    margin = part(layout, "margin")
    inner = [
        max(50.0, side - sum(number(margin.get(key), 40, 0, side / 2) for key in keys))
        for side, keys in ((wide, "lr"), (high, "tb"))
    ]
    return plan, drawer, Frame({}, *inner)


def _settings(options: Options) -> dict[str, Any]:
    thin = round(max(0.3, 0.6 * options.line_pt), 2)
    return {
        "font.family": _FAMILIES[options.family], "font.size": options.font_pt,
        "axes.titlesize": options.font_pt, "axes.labelsize": options.font_pt,
        "xtick.labelsize": options.font_pt, "ytick.labelsize": options.font_pt,
        "legend.fontsize": options.font_pt, "legend.title_fontsize": options.font_pt,
        "legend.frameon": False, "lines.linewidth": options.line_pt, "axes.linewidth": thin,
        "xtick.major.width": thin, "ytick.major.width": thin, "xtick.major.size": 2.5,
        "ytick.major.size": 2.5, "xtick.minor.size": 0, "ytick.minor.size": 0,
        "axes.edgecolor": _LINE, "xtick.color": _LINE, "ytick.color": _LINE,
        "xtick.labelcolor": "black", "ytick.labelcolor": "black",
        "axes.grid": True, "grid.color": _GRID, "grid.linewidth": thin, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "axes.facecolor": "none",
        "axes.xmargin": 0, "axes.ymargin": 0, "hatch.linewidth": thin,
        "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "wattlas",
        "pdf.fonttype": 42, "axes.unicode_minus": True,
    }  # fmt: skip


def _axes_calls(drawer: Drawer, frame: Frame, key: tuple[str, str], panel: Panel) -> list[Call]:
    """Return the calls for ranges, ticks and titles of a panel."""
    calls: list[Call] = []
    name = panel.name
    for axis in (drawer.axes[key[0]], drawer.axes[key[1]]):
        letter, spec = axis.name[0], axis.spec
        assert axis.ends
        if axis.kind == "log":
            calls += [Call(name, f"set_{letter}scale", ("log",))]
            calls += [Call(name, f"{letter}axis.minorticks_off")]
        calls.append(Call(name, f"set_{letter}lim", tuple(_short(end) for end in axis.ends)))
        length = axis.length_pt
        ticks = ticks_of(axis, length, drawer.font_pt)
        if axis.spec.get("visible") is False:
            calls.append(Call(name, f"{letter}axis.set_visible", (False,)))
            side = "bottom" if axis.is_x else "left"
            calls.append(Call(name, f"spines.{side}.set_visible", (False,)))
            continue
        is_labelled = (
            _has_labels(drawer, frame, key, axis)
            and spec.get("showticklabels") is not False
            and (axis.is_x or not _is_repeated(drawer, frame, key))
        )
        labels = ticks.labels if is_labelled else [""] * len(ticks.at)
        angle = -number(spec.get("tickangle"), 0, -180, 180)
        if not angle and is_turned(axis, labels, length, drawer.font_pt):
            angle = 90.0
        turn = {"rotation": angle} if angle and is_labelled else {}
        calls.append(Call(name, f"set_{letter}ticks", (ticks.at, labels), turn))
        if axis.kind == "category" and not axis.is_x:
            least = sum(label.count("\n") + 1 for label in ticks.labels)
            panel.least_pt = max(panel.least_pt, 1.25 * drawer.font_pt * least)
        far = number(spec.get("ticklabelstandoff"), 0, -100, 100)
        far += number(spec.get("ticklen"), 5, 0, 100) - 5 if spec.get("ticks") == "outside" else 0
        if far:
            away = far * drawer.pt + 3.5
            calls.append(Call(name, "tick_params", (), {"axis": letter, "pad": round(away, 2)}))
        is_far = spec.get("side") in ("right", "top")
        if is_far:
            side = str(spec["side"])
            calls.append(Call(name, f"{letter}axis.set_ticks_position", (side,)))
            calls.append(Call(name, f"{letter}axis.set_label_position", (side,)))
        title = part(spec, "title").get("text") or ""
        if title and _has_labels(drawer, frame, key, axis):
            words = wrapped(plain(title), _title_pt(drawer, axis), drawer.font_pt)
            calls.append(Call(name, f"set_{letter}label", (words,)))
        if spec.get("showgrid") is False or axis.kind == "category":
            calls.append(Call(name, "grid", (False,), {"axis": letter}))
    panel.least_pt = max(panel.least_pt, _LEAST_EMS * drawer.font_pt)
    return calls


def _title_pt(drawer: Drawer, axis: Axis) -> float:
    """Return the room of an axis' title: along x the whole line where it is the only one there."""
    others = [one for one in drawer.axes.values()
              if one.is_x and one is not axis and part(one.spec, "title").get("text")]  # fmt: skip
    if not axis.is_x or others:
        return axis.length_pt
    middle = sum(axis.domain) / 2
    return max(axis.length_pt, 1.6 * min(middle, 1 - middle) * drawer.plan.size_pt[0])


def _has_labels(drawer: Drawer, frame: Frame, key: tuple[str, str], axis: Axis) -> bool:
    """Return whether a panel is the one that the labels of an axis stand at."""
    anchor = str(axis.spec.get("anchor") or ("y" if axis.is_x else "x"))
    sharing = [k for k in frame.panels if k[0 if axis.is_x else 1] == axis.name]
    wanted = (axis.name, anchor) if axis.is_x else (anchor, axis.name)
    if wanted in sharing:
        return key == wanted
    far = axis.spec.get("side") in ("right", "top")
    ends = [(drawer.axes[k[1 if axis.is_x else 0]].domain, k) for k in sharing]
    return key == (max(ends) if far else min(ends))[1]


def _is_repeated(drawer: Drawer, frame: Frame, key: tuple[str, str]) -> bool:
    """Return whether a narrow panel has the y axis of one at its left, which has the labels."""
    x, y = (drawer.axes[name] for name in key)
    if x.length_pt >= _NARROW_EMS * drawer.font_pt:
        return False
    others = ((drawer.axes[a], drawer.axes[b]) for a, b in frame.panels)
    return any(
        at.domain[1] <= x.domain[0] and other.domain == y.domain and other.ends == y.ends
        and other.categories == y.categories
        for at, other in others
    )  # fmt: skip


def _length_pt(drawer: Drawer, axis: Axis) -> float:
    wide, high = drawer.plan.size_pt
    whole = 0.82 * wide if axis.is_x else 0.8 * (high or wide * drawer.plan.share)
    return max(1.0, whole * (axis.domain[1] - axis.domain[0]))


def _short(value: float) -> float:
    digits = 9 - math.floor(math.log10(abs(value))) if value else 0
    return round(value, min(300, max(0, digits)))


def trace_calls(drawer: Drawer, index: int, trace: dict[str, Any], panel: str) -> Iterator[Call]:
    """Yield the calls of a trace; a hidden one has none."""
    kind = trace.get("type") or "scatter"
    layer = _LAYERS.get(kind)
    if layer is None:
        raise FigureError(f"a trace of type {str(kind)[:20]!r}, expected {', '.join(_LAYERS)}")
    x, y = (drawer.axes[str(trace.get(f"{c}axis") or c)] for c in "xy")
    title = plain(trace.get("name") or part(trace, "meta").get("kind") or f"trace {index + 1}")
    draw = {"heatmap": cells, "bar": bars}.get(kind, scatter)
    for number_, call in enumerate(draw(drawer, trace, x, y, panel, title.replace("\n", " "))):
        order = round(layer + index / 3000 + number_ / 300_000, 6)
        options = {**call.options, "zorder": order}
        yield Call(call.target, call.method, call.args, options, call.result, order)


def look_at(trace: dict[str, Any], x: Axis, y: Axis) -> None:
    """Note what a trace needs of the ranges of its axes, and the names of its categories."""
    if trace.get("type") == "heatmap":
        grid(trace, x, y)
        return
    at = places(trace, x, y)
    for axis, other, values in ((x, "x", at[0]), (y, "y", at[1])):
        axis.seen.append(values)
        error = part(trace, f"error_{other}")
        if error.get("array") is not None and error.get("visible") is not False:
            up, down = errors(error, len(values))
            axis.seen += [values + up, values - down]
    if trace.get("type") == "bar":
        along = x if trace.get("orientation") == "h" else y
        along.seen.append(np.zeros(1))
