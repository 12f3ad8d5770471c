"""What explains a figure beside its panels, as calls: the legend, colour bars."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from app.kit.paper.axes import Axis, ticks_of
from app.kit.paper.calls import Call, Name, Panel
from app.kit.paper.drawer import DASHES, MARKERS, THIN, Drawer, ends_of
from app.kit.paper.figure import array, colour, number, part, plain, spread
from app.kit.paper.fit import wrapped
from app.kit.paper.notes import Frame

_MOST_ENTRIES: Final = 60


def legend(drawer: Drawer, traces: Sequence[dict[str, Any]]) -> list[Call]:
    """Return the calls that make the entries of the legend: those with `showlegend`, else all."""
    listed = [trace for trace in traces if trace.get("showlegend") is True]
    if not listed:
        # Its legend is elsewhere on the page: the traces have their names.
        named = [trace for trace in traces if trace.get("showlegend") is not False]
        listed = list({t["name"]: t for t in reversed(named) if t.get("name")}.values())[::-1]
        listed = listed if len(listed) > 1 else []
    return [
        Call("", "Line2D", ([], []), {
            "label": plain(trace.get("name") or "").replace("\n", " "), **_sign(drawer, trace),
        })
        for trace in listed[:_MOST_ENTRIES]
    ]  # fmt: skip


def _sign(drawer: Drawer, trace: dict[str, Any]) -> dict[str, Any]:
    marker, line = part(trace, "marker"), part(trace, "line")
    is_bar = trace.get("type") == "bar"
    mode = "markers" if is_bar else str(trace.get("mode") or "lines+markers")
    first = {key: _first(marker.get(key)) for key in ("color", "size", "symbol")}
    hue = colour(first["color"] or line.get("color") or trace.get("fillcolor"))
    look: dict[str, Any] = {"color": colour(line.get("color"), 1, hue), "linestyle": "none"}
    if "lines" in mode and number(line.get("width"), 2) > 0:
        look["linestyle"] = DASHES.get(str(line.get("dash") or "solid"), "solid")
        look["linewidth"] = drawer.width(line.get("width"))
    size = number(first["size"], 8 if is_bar else 6, 0, 17)
    if "markers" in mode and size:
        symbol = str(first["symbol"] or ("square" if is_bar else "circle"))
        base = symbol.removesuffix("-dot").removesuffix("-open")
        shape, factor = MARKERS.get(base, ("o", 1.0))
        border = part(marker, "line")
        edge = colour(_first(border.get("color")), 1, hue) if base not in THIN else hue
        wide = number(_first(border.get("width")), 0, 0, 20)
        is_open = "-open" in symbol
        look |= {
            "marker": shape, "markersize": round(factor * size * drawer.pt, 2),
            "markerfacecolor": "none" if is_open else hue,
            "markeredgecolor": hue if is_open else edge,
            "markeredgewidth": drawer.width(wide or (1.0 if is_open or base in THIN else 0.0)),
        }  # fmt: skip
    elif trace.get("fill") not in (None, "none") and look["linestyle"] == "none":
        look |= {"marker": "s", "markersize": round(8 * drawer.pt, 2)}
    return look


def _first(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        found = spread(value, 1, None)
        return found[0].item() if hasattr(found[0], "item") else found[0]
    return value


def colour_bars(
    drawer: Drawer, frame: Frame, traces: Sequence[dict[str, Any]]
) -> Iterator[tuple[Panel, list[Call]]]:
    """Yield each colour bar as a panel at the right, and its calls."""
    done: set[str] = set()
    for trace in traces:
        is_heatmap = trace.get("type") == "heatmap"
        spec = trace if is_heatmap else part(trace, "marker")
        shared = spec.get("coloraxis")
        of = part(drawer.layout, str(shared)) if shared else spec
        default = is_heatmap or bool(shared)
        if trace.get("visible") in (False, "legendonly") or str(shared) in done:
            continue
        if not (of.get("showscale", default) is True and of.get("colorscale") is not None):
            continue
        if shared:
            done.add(str(shared))
        given = spec.get("z" if is_heatmap else "color")
        values = array(given).ravel() if isinstance(given, (list, dict)) else np.zeros(0)
        numbers = values if values.dtype.kind == "f" else np.zeros(0)
        low, high = ends_of(of, numbers, "z" if is_heatmap and not shared else "c")
        bar, number_ = part(of, "colorbar"), len(done) + 1
        name = f"bar{number_}"
        while name in done:
            name += "b"
        done.add(name)
        panel = Panel(name, None, _bar_ends(bar, frame, trace))
        yield panel, _bar_calls(drawer, of, bar, panel, (low, high))


def _bar_ends(bar: dict[str, Any], frame: Frame, trace: dict[str, Any]) -> tuple[float, float]:
    length = number(bar.get("len"), 1.0, 0)
    if bar.get("lenmode") == "pixels":
        length /= max(1.0, frame.height_px)
    at = number(bar.get("y"), 0.5, -1, 2)
    low = {"top": at - length, "bottom": at}.get(str(bar.get("yanchor")), at - length / 2)
    ends = max(0.0, low), min(1.0, low + length)
    if length < 0.9:
        # Beside its own panel.
        key = str(trace.get("xaxis") or "x"), str(trace.get("yaxis") or "y")
        own = frame.panels.get(key)
        if own and own.y[0] < sum(ends) / 2 < own.y[1]:
            return own.y
    return ends if ends[1] - ends[0] > 0.02 else (0.0, 1.0)


def _bar_calls(
    drawer: Drawer, of: dict[str, Any], bar: dict[str, Any], panel: Panel, ends: tuple[float, float]
) -> list[Call]:
    spec: dict[str, Any] = {**bar, "type": "linear"}
    axis = Axis("y", spec, ends=ends)
    wide, high = drawer.plan.size_pt
    # The panels together are about so high.
    length = (panel.y[1] - panel.y[0]) * 0.8 * (high or wide * drawer.plan.share)
    ticks = ticks_of(axis, length, drawer.font_pt)
    name = panel.name
    calls = [
        Call("", "bar_of", (Name(name), drawer.map_of(of.get("colorscale")), *ends)),
        Call(name, "set_xticks", ([],)),
        Call(name, "grid", (False,)),
        Call(name, "yaxis.set_ticks_position", ("right",)),
        Call(name, "yaxis.set_label_position", ("right",)),
        Call(name, "set_yticks", (ticks.at, ticks.labels)),
    ]
    title = part(bar, "title").get("text") or (
        bar.get("title") if isinstance(bar.get("title"), str) else ""
    )
    if title:
        calls.append(Call(name, "set_ylabel", (wrapped(plain(title), length, drawer.font_pt),)))
    return calls
