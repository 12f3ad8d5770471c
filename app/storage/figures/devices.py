"""Power of devices: idle, the range in active runs, and how proportional it is to the IO rate."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.kit.encodings import BREAK, finishing, styled
from app.storage.figures.base import (
    GLYPHS,
    MOST_DEVICES,
    QUIET,
    TEXT_COLOR,
    Scene,
    Star,
    curve,
    error_bars,
    idle_marks,
    measured_words,
    points,
    stars,
    words_of,
)
from app.storage.figures.layouts import (
    METER,
    access_note,
    axis,
    index_axis,
    layout,
    message,
    named_once,
    panel,
    panel_axes,
    panel_note,
    unmeasured,
)
from app.storage.state import View
from data.analysis.trend import quadratic_trend
from data.catalogue import SHIPPED
from data.units import format_bytes, format_quantity

_STEP: Final = 0.16
_GAP: Final = 0.04
_TOP: Final = 1.42
_STEPS: Final = 41
# Line of a system whose power is proportional to its IO rate.
_DOTTED: Final = {"color": QUIET, "width": 1, "dash": "dot"}


@finishing
def build_devices(
    rows: pl.DataFrame,
    idle: pl.DataFrame,
    view: View,
    scene: Scene,
    published: Sequence[Star] = (),
    idle_words: str = "",
) -> dict[str, Any]:
    """Build the figure.

    Args:
        rows: Configurations of the study.
        idle: Idle power by device (NULL: see `scene.unnamed`), with `power_w_spread`.
        published: Published idle power by device.
        idle_words: Which of the filtered idle runs these are, in words; may be empty.
    """
    active = rows.filter(pl.col("power_w").is_not_null())
    resting = idle.filter(pl.col("power_w").is_not_null())
    if not len(active) and not len(resting):
        return unmeasured(view, ["power_w"], "", ", neither idle nor active")
    found = {*active["device"].to_list(), *resting["device"].to_list()}
    devices = sorted(found, key=lambda d: (d is not None, d))
    data = [_bars(active, resting, devices)]
    data += [_idle(resting, devices, scene)] if len(resting) else []
    for number, mode in enumerate(scene.modes.values):
        mine = active.filter(pl.col("mode").eq_missing(mode))
        data += _range(mine, devices, number * _STEP, scene) if len(mine) else []
    there = [star for star in published if star.at in devices]
    data += stars(there, [devices.index(star.at) - 1.9 * _STEP for star in there], scene)
    labels = [scene.name("device", d) for d in devices]
    return {
        "data": named_once(data),
        "layout": layout(
            view,
            f"bars: idle{f', {idle_words}' if idle_words else ''} to the greatest mean · "
            f"active: least and most, ± {scene.spread_words}",
            scene,
            xaxis=index_axis(labels, SHIPPED.metric("device").title),
            yaxis=axis(SHIPPED.metric("power_w").axis_title, rangemode="tozero"),
        ),
    }


def _bars(active: pl.DataFrame, resting: pl.DataFrame, devices: list[str | None]) -> dict[str, Any]:
    """Build a bar of each device from its idle power to its greatest mean over all workloads."""
    idle = dict(resting.select("device", "power_w").iter_rows())
    most = dict(active.group_by("device").agg(pl.col("power_w").max()).iter_rows())
    both = [device for device in devices if device in idle and device in most]
    return {
        "type": "bar",
        "x": [devices.index(device) for device in both],
        "base": [idle[device] for device in both],
        "y": [most[device] - idle[device] for device in both],
        "width": 0.8,
        "marker": {"color": QUIET, "opacity": 0.25},
        "unselected": {"marker": {"opacity": 0.25}},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"kind": "spans"},
    }


def _idle(resting: pl.DataFrame, devices: list[str | None], scene: Scene) -> dict[str, Any]:
    hovers = [
        [f"idle · {row['device'] or scene.unnamed}", measured_words(row, "power_w", scene)]
        for row in resting.iter_rows(named=True)
    ]
    x = [devices.index(d) - _STEP for d in resting["device"]]
    bars = error_bars(floats(resting["power_w_spread"]), QUIET)
    return idle_marks(x, resting["power_w"], hovers, 10, error_y=bars)


def _range(
    of_mode: pl.DataFrame, devices: list[str | None], shift: float, scene: Scene
) -> list[dict[str, Any]]:
    """Build two joined points per device: the configurations with least and most power."""
    parts = of_mode.sort("device", nulls_last=False).partition_by("device", maintain_order=True)
    ends = [part.sort("power_w", "row")[[0, -1] if len(part) > 1 else [0]] for part in parts]
    drawn = pl.concat(ends)
    x, y = [], []
    for part in ends:
        x += [devices.index(part["device"][0]) + shift] * 2 + [None]
        y += [part["power_w"][0], part["power_w"][-1], None]
    hue = scene.hue(of_mode["mode"][0])
    faint = f"rgba({', '.join(str(int(hue[i : i + 2], 16)) for i in (1, 3, 5))}, 0.45)"
    bars = error_bars(floats(drawn["power_w_spread"]), hue)
    at = [devices.index(d) + shift for d in drawn["device"]]
    hovers = words_of(drawn, ["power_w", "iops"], scene)
    return [
        curve("ranges", x, y, {"color": faint, "width": 4}, of_mode),
        points(drawn, at, drawn["power_w"], hovers, scene, error_y=bars),
    ]


@finishing
def build_proportionality(
    drawn: pl.DataFrame,
    idle: pl.DataFrame,
    accesses: Sequence[str | None],
    view: View,
    scene: Scene,
    part: str = "",
) -> dict[str, Any]:
    """Build a panel of each access, with one curve a device.

    Args:
        drawn: `Study.proportions`.
        accesses: Access of each panel.
        part: Which of the filtered configurations are drawn, as text.
        idle: Idle power by device.
    """
    if not len(drawn):
        size = scene.place.get("request_bytes")
        where = f" with {format_bytes(size)} requests" if size else ""
        return message(view, f"IO rate and power: not measured together{where}. {METER}")
    devices = drawn["device"].unique(maintain_order=True).to_list()
    shown = drawn.filter(pl.col("device").is_in(devices[:MOST_DEVICES], nulls_equal=True))
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for number, rw in enumerate(accesses):
        traces, fits = _access_panel(shown.filter(pl.col("rw").eq_missing(rw)), idle, scene)
        data += [trace | panel(number) for trace in traces]
        x = axis("IO rate over the device's greatest", range=[-0.02, 1.05])
        y = axis("" if number else "power over the system's greatest", range=[0, _TOP],
                 tickvals=[0, 0.5, 1])  # fmt: skip
        axes |= panel_axes(number, len(accesses), _GAP, x, y)
        notes += [
            access_note(number, rw),
            panel_note(number, BREAK.join(fits), x=0.01, yshift=0, xanchor="left", yanchor="top",
                       align="left", font={"size": 12, "color": TEXT_COLOR}),
        ]  # fmt: skip
    return {
        "data": named_once(data),
        "layout": layout(
            view,
            " · ".join(_subtitle(drawn, devices, scene, part)),
            scene,
            **axes,
            annotations=notes,
            margin={"l": 52, "r": 10, "t": 62, "b": 38},
        ),
    }


def _subtitle(
    drawn: pl.DataFrame, devices: Sequence[str | None], scene: Scene, part: str
) -> list[str]:
    peak = format_quantity(drawn["peak_w"][0], "W")
    parts = [
        f"{format_bytes(drawn['request_bytes'][0])} requests",
        scene.label(drawn["mode"][0]),
        f"1 is {peak}, the greatest mean of all devices and workloads",
        "ours, not the paper's: R², idle (grey), proportional (dotted)",
    ]
    parts += [part] if part else []
    if len(devices) > MOST_DEVICES:
        parts.append(f"{len(devices) - MOST_DEVICES} more devices: filter on them")
    return parts


def _access_panel(
    rows: pl.DataFrame, idle: pl.DataFrame, scene: Scene
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the traces of one access, and a line of text for the curve of each device."""
    data, fits = [curve("ideal", [0, 1], [0, 1], _DOTTED)], []
    for of_device in rows.partition_by("device", maintain_order=True):
        device = of_device["device"][0]
        name = scene.name("device", device)
        hue, symbol = scene.device_look(device)
        x, y = of_device["rate_share"].to_numpy(), of_device["power_share"].to_numpy()
        trend = quadratic_trend(x, y)
        none = f"n = {len(of_device)}, too few for a curve"
        fitted = f"{trend.formula().removeprefix('y = ')}, {trend.fit()}" if trend else none
        sign = styled(f"color:{hue}", GLYPHS[symbol])
        fits.append(f"{sign} {name}: {fitted}")
        if trend:
            at = np.linspace(float(x.min()), float(x.max()), _STEPS)
            data.append(curve("trend", at, trend.at(at), {"color": hue, "width": 1.6}, of_device))
        resting = idle.filter(pl.col("device").eq_missing(device), pl.col("power_w").is_not_null())
        for idle_w in resting["power_w"]:
            share = idle_w / of_device["peak_w"][0]
            idle_words = [f"idle · {name}", f"{format_quantity(idle_w, 'W')}, {_pct(share)}"]
            data.append(idle_marks([0], [share], [idle_words], 8, cliponaxis=False))
        marker = {"color": hue, "symbol": symbol, "size": 7}
        words = _words(of_device, scene)
        data.append(points(of_device, x, y, words, scene, marker=marker, name=name))
    return data, fits


def _words(rows: pl.DataFrame, scene: Scene) -> list[list[str]]:
    shares = rows.select("rate_share", "power_share").iter_rows()
    return [
        [*lines, f"{_pct(rate)} of the device's rate, {_pct(power)} of the system's power", hint]
        for (*lines, hint), (rate, power) in zip(
            words_of(rows, ["iops", "power_w"], scene), shares, strict=True
        )
    ]


def _pct(share: float) -> str:
    return f"{100 * share:.1f} %"
