"""A metric of every device: by IO depth, or against another metric; reading and writing."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from app.kit.columns import floats
from app.kit.figure_text import BREAK, finishing, styled
from app.storage.figures.base import (
    GLYPHS,
    MOST_DEVICES,
    TEXT_COLOR,
    Scene,
    error_bars,
    points,
    words_of,
)
from app.storage.figures.layouts import (
    access_note,
    axis,
    index_axis,
    layout,
    panel,
    panel_axes,
    tick_format,
    unmeasured,
)
from app.storage.state import DEPTH
from app.storage.view import View
from data.catalogue import SHIPPED
from data.units import format_bytes

_GAP: Final = 0.05
# Latencies of a disk and of Optane differ by three decades.
_LOG: Final = ("latency_mean_us",)


@finishing
def build_device_lines(
    rows: pl.DataFrame,
    view: View,
    accesses: Sequence[str | None],
    scene: Scene,
    part: str = "",
) -> dict[str, Any]:
    """Build a line of each device: by depth in a panel of each access, else all in one panel.

    Args:
        rows: Configurations of one request size and one mode.
        accesses: The reading access, then the writing one, whose lines are dashed with open
            markers; or one access.
        part: Which of the filtered configurations these are, as text.
    """
    by_depth = view.x == DEPTH
    columns = [view.y] if by_depth else [view.x, view.y]
    if not len(rows):
        return unmeasured(view, columns, scene.place_words)
    there = rows["device"].to_list()
    devices = [device for device in scene.devices if device in there][:MOST_DEVICES]
    panels = [[access] for access in accesses] if by_depth else [list(accesses)]
    depths = rows[DEPTH].unique().sort().to_list()
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes = [_key(devices, scene, view)]
    y_title = SHIPPED.metric(view.y).axis_title
    for number, drawn in enumerate(panels):
        for rw in drawn:
            own = rows.filter(pl.col("rw").eq_missing(rw))
            for device in devices:
                line = own.filter(pl.col("device").eq_missing(device)).sort(DEPTH, "row")
                if len(line):
                    trace = _line(line, view, columns, depths, scene, rw == accesses[-1])
                    data.append(trace | panel(number))
        x = axis(SHIPPED.metric(view.x).axis_title, rangemode="tozero",
                 tickformat=tick_format(view.x))  # fmt: skip
        if by_depth:
            x = index_axis([f"{d:g}" for d in depths], SHIPPED.metric(DEPTH).axis_title)
            notes.append(access_note(number, drawn[0]))
        y = axis("" if number else y_title, tickformat=tick_format(view.y))
        # Axes start at 0, except for power, which is never 0.
        linear = {"rangemode": "normal" if view.y == "power_w" else "tozero"}
        y |= {"type": "log", "dtick": 1} if view.y in _LOG else linear
        y |= {"matches": "y"} if number else {}
        axes |= panel_axes(number, len(panels), _GAP, x, y)
    subtitle_parts = [f"mean ± {scene.spread_words}", format_bytes(rows["request_bytes"][0])]
    subtitle_parts += [scene.label(rows["mode"][0])]
    subtitle_parts += [] if by_depth else ["filled: reading, open: writing"]
    subtitle_parts += [part] if part else []
    more = rows["device"].n_unique() - len(devices)
    subtitle_parts += [f"{more} more devices: filter on them"] if more else []
    margin = {"l": 52, "r": 10, "t": 76, "b": 38}
    made = layout(view, " · ".join(subtitle_parts), scene, **axes, annotations=notes, margin=margin)
    return {"data": data, "layout": made}


def _line(
    line: pl.DataFrame, view: View, columns: list[str], depths: list[int], scene: Scene,
    is_written: bool,
) -> dict[str, Any]:  # fmt: skip
    device, by_depth = line["device"][0], view.x == DEPTH
    hue, symbol = scene.device_look(device)
    is_dashed = is_written and not by_depth
    more: dict[str, Any] = {}
    for letter, column in zip("yx", reversed(columns), strict=False):
        more[f"error_{letter}"] = error_bars(floats(line[f"{column}_spread"]), hue)
    request, mode, rw = (line[name][0] for name in ("request_bytes", "mode", "rw"))
    knobs = {"request_bytes": request, "mode": mode} | ({"rw": rw} if by_depth else {})
    return points(
        line,
        [depths.index(d) for d in line[DEPTH]] if by_depth else line[view.x],
        line[view.y],
        words_of(line, columns, scene),
        scene,
        {"x": view.x, "y": view.y, "knobs": knobs},
        mode="lines+markers",
        name=scene.name("device", device),
        marker={"color": hue, "symbol": f"{symbol}-open" if is_dashed else symbol, "size": 7},
        line={"color": hue, "width": 1.6, "dash": "dash" if is_dashed else "solid"},
        **more,
    )


def _key(devices: Sequence[str | None], scene: Scene, view: View) -> dict[str, Any]:
    """Build the names of the devices with their markers, above the panels."""
    lines, room = [""], view.room_chars
    length = 0
    for device in devices:
        hue, symbol = scene.device_look(device)
        name = scene.name("device", device)
        length += len(name) + 4
        if length > room and lines[-1]:
            lines.append("")
            length = len(name) + 4
        gap = "   " if lines[-1] else ""
        lines[-1] += f"{gap}{styled(f'color:{hue}', GLYPHS[symbol])} {name}"
    return {
        "text": BREAK.join(lines), "xref": "paper", "yref": "paper", "x": 0, "y": 1, "yshift": 30,
        "xanchor": "left", "align": "left", "showarrow": False,
        "font": {"size": 12, "color": TEXT_COLOR},
    }  # fmt: skip
