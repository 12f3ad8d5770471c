"""A metric by IO depth, or against another metric: a line of each completion mode or device."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.kit.encodings import BREAK, finishing, styled
from app.storage.figures.base import (
    GLYPHS,
    MOST_DEVICES,
    TEXT_COLOR,
    Scene,
    Star,
    error_bars,
    points,
    stars,
    words_of,
)
from app.storage.figures.layouts import (
    access_note,
    axis,
    index_axis,
    layout,
    named_once,
    panel,
    panel_axes,
    tick_format,
    unmeasured,
)
from app.storage.state import DEPTH, View, knob_columns
from data.catalogue import SHIPPED, Catalogue
from data.units import format_bytes

# Knobs that do not split a mode into several lines; threads do if a depth has several.
_JOINED: Final = ("mode", DEPTH, "threads", "work")
# Distance of a published value from the measured one, in steps of the axis.
_ASIDE: Final = 0.12
# Room of a label, shares of the axes.
_LABEL_ROOM: Final = np.array([0.05, 0.07])
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")
_GAP: Final = 0.05
# Latencies of a disk and of Optane differ by three decades.
_LOG: Final = ("latency_mean_us",)
# Later lines are thinner with smaller markers, so that lines with equal values stay visible.
_MARKER_PX: Final = (9.5, 7.5, 5.5)
_LINE_PX: Final = (2.6, 1.8, 1.2)


@finishing
def build_lines(
    rows: pl.DataFrame, view: View, scene: Scene, published: Sequence[Star] = ()
) -> dict[str, Any]:
    """Build one figure of lines.

    Args:
        rows: Configurations of the study at `scene.place`.
        published: Published values by depth.
    """
    columns = [view.y] if view.x == DEPTH else [view.x, view.y]
    # More jobs do more work where each job does the same: a line over depths joins them.
    apart = tuple(name for name in knob_columns(scene.catalogue) if name not in _JOINED)
    drawn = rows.filter(
        pl.all_horizontal(pl.col(name).is_not_null() for name in (*columns, DEPTH))
    ).sort("mode", *apart, DEPTH, "threads", "row", nulls_last=True)
    if not len(drawn):
        missing = [name for name in columns if not rows[name].count()]
        return unmeasured(view, missing or columns, scene.place_words)
    depths = drawn[DEPTH].unique().sort().to_list()
    groups = sorted(
        drawn.partition_by("mode", maintain_order=True),
        key=lambda group: scene.modes.values.index(group["mode"][0]),
    )
    traces = [
        _line(line, view, columns, depths, scene, dash)
        for group in groups
        for line, dash in _lines(group, apart)
    ]
    if view.x != DEPTH:
        thin_labels(traces)
        texts = traces[-1]["text"]
        texts[-1] = f"depth {texts[-1]}"
        # The last point may be the rightmost of all, where the longer words would be cut.
        traces[-1]["textposition"] = [*["top right"] * (len(texts) - 1), "top left"]
    there = [star for star in published if star.at in depths]
    beside = [depths.index(star.at) - _ASIDE for star in there]
    dashes = _apart_words(drawn, apart, scene.catalogue)
    if view.x == DEPTH:
        x_axis = index_axis([f"{d:g}" for d in depths], SHIPPED.metric(DEPTH).axis_title)
    else:
        title = SHIPPED.metric(view.x).axis_title
        x_axis = axis(title, rangemode="tozero", tickformat=tick_format(view.x))
    # Axes start at 0, except for power, which is never 0.
    range_mode = "normal" if view.y == "power_w" else "tozero"
    return {
        "data": named_once([*traces, *stars(there, beside, scene)]),
        "layout": layout(
            view,
            f"mean ± {scene.spread_words} · {scene.place_words}"
            + (f" · {dashes}" if dashes else ""),
            scene,
            xaxis=x_axis,
            yaxis=axis(
                SHIPPED.metric(view.y).axis_title,
                rangemode=range_mode,
                tickformat=tick_format(view.y),
            ),
        ),
    }


def _lines(group: pl.DataFrame, apart: Sequence[str]) -> list[tuple[pl.DataFrame, str]]:
    """Split one mode into lines of configurations that differ only in depth, each with a dash."""
    keys = [*apart] + (["threads"] if _threads_apart(group, apart) else [])
    parts = group.partition_by(keys, maintain_order=True)
    return [(part, _DASHES[i % len(_DASHES)]) for i, part in enumerate(parts)]


def _threads_apart(group: pl.DataFrame, apart: Sequence[str]) -> bool:
    """Return whether a depth was measured with several numbers of threads."""
    return group[[*apart, DEPTH]].is_duplicated().any()


def _apart_words(drawn: pl.DataFrame, apart: Sequence[str], catalogue: Catalogue) -> str:
    """Return the columns that distinguish lines of one mode: `dashes: dataset, threads`."""
    groups = drawn.partition_by("mode")
    names = [name for name in apart if any(group[name].n_unique() > 1 for group in groups)]
    names += ["threads"] if any(_threads_apart(group, apart) for group in groups) else []
    return f"dashes: {', '.join(catalogue.metric(name).short for name in names)}" if names else ""


def thin_labels(traces: Sequence[dict[str, Any]]) -> None:
    """Leave out the depths that would cover another's, but for that of the last point."""
    points_xy = [np.column_stack([np.asarray(trace[k], float) for k in "xy"]) for trace in traces]
    whole = np.concatenate(points_xy)
    span = np.ptp(whole, axis=0)
    room = _LABEL_ROOM * np.where(span > 0, span, 1)
    shown = [points_xy[-1][-1]]
    for trace, own in zip(traces, points_xy, strict=True):
        for at, xy in enumerate(own[: len(own) - (trace is traces[-1])]):
            if any((abs(xy - other) < room).all() for other in shown):
                trace["text"][at] = ""
            else:
                shown.append(xy)


def _line(
    line: pl.DataFrame, view: View, columns: list[str], depths: list[int], scene: Scene, dash: str
) -> dict[str, Any]:
    mode = line["mode"][0]
    hue, rank = scene.hue(mode), min(scene.rank(mode), len(_LINE_PX) - 1)
    by_depth = view.x == DEPTH
    # No axis shows the depth of a point.
    more: dict[str, Any] = (
        {}
        if by_depth
        else {
            "text": [f"{depth:g}" for depth in line[DEPTH]],
            "textposition": "top right",
            "textfont": {"size": 12, "color": TEXT_COLOR},
        }
    )
    return _drawn(
        line, view, columns, depths, scene, scene.place, hue, _MARKER_PX[rank],
        mode="lines+markers" if by_depth else "lines+markers+text",
        line={"color": hue, "width": _LINE_PX[rank], "dash": dash}, **more,
    )  # fmt: skip


def _drawn(
    rows: pl.DataFrame, view: View, columns: list[str], depths: list[int], scene: Scene,
    knobs: dict[str, Any], hue: str, size_px: float = 7, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Build the points of a line with their error bars."""
    for letter, column in zip("yx", reversed(columns), strict=False):
        more[f"error_{letter}"] = error_bars(floats(rows[f"{column}_spread"]), hue)
    x = [depths.index(d) for d in rows[DEPTH]] if view.x == DEPTH else rows[view.x]
    box = {"x": view.x, "y": view.y, "knobs": knobs}
    return points(
        rows, x, rows[view.y], words_of(rows, columns, scene), scene, box, size_px, **more
    )


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
                    trace = _device_line(line, view, columns, depths, scene, rw == accesses[-1])
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


def _device_line(
    line: pl.DataFrame, view: View, columns: list[str], depths: list[int], scene: Scene,
    is_written: bool,
) -> dict[str, Any]:  # fmt: skip
    device, by_depth = line["device"][0], view.x == DEPTH
    hue, symbol = scene.device_look(device)
    is_dashed = is_written and not by_depth
    request, mode, rw = (line[name][0] for name in ("request_bytes", "mode", "rw"))
    knobs = {"request_bytes": request, "mode": mode} | ({"rw": rw} if by_depth else {})
    return _drawn(
        line,
        view,
        columns,
        depths,
        scene,
        knobs,
        hue,
        mode="lines+markers",
        name=scene.name("device", device),
        marker={"color": hue, "symbol": f"{symbol}-open" if is_dashed else symbol, "size": 7},
        line={"color": hue, "width": 1.6, "dash": "dash" if is_dashed else "solid"},
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
