"""Idle and active power by device: what it draws doing nothing, and from least to most at work."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from app.storage.figures.base import (
    QUIET,
    Scene,
    Star,
    axis,
    error_bars,
    index_axis,
    layout,
    measured_words,
    mode_marker,
    nothing,
    plain,
    selectable,
    source_words,
    stars,
    values_of,
    words_of,
)
from app.storage.state import KNOBS
from app.storage.views import View
from data.metrics import metric

_STEP: Final = 0.16


def build_devices(
    rows: pl.DataFrame,
    idle: pl.DataFrame,
    view: View,
    scene: Scene,
    published: Sequence[Star] = (),
) -> dict[str, Any]:
    """Build the picture.

    Args:
        rows: Configurations of the study.
        idle: Idle power by device (NULL: what the scene says), with `power_w_spread`.
        published: Published idle power by device.
    """
    active = rows.filter(pl.col("power_w").is_not_null())
    resting = idle.filter(pl.col("power_w").is_not_null())
    if not len(active) and not len(resting):
        said = f"Power: not measured, neither idle nor at work. {source_words(['power_w'])}"
        return nothing(view.name, said)
    found = {*active["device"].to_list(), *resting["device"].to_list()}
    devices = sorted(found, key=lambda d: (d is not None, d))
    data = [_idle_trace(resting, devices, scene)] if len(resting) else []
    for number, mode in enumerate(scene.modes.values):
        mine = active.filter(pl.col("mode").eq_missing(mode))
        data += _range(mine, devices, (number + 1) * _STEP, scene) if len(mine) else []
    there = [star for star in published if star.at in devices]
    data += stars(there, [devices.index(star.at) - 1.9 * _STEP for star in there], scene)
    labels = [scene.unnamed if d is None else str(d) for d in devices]
    return {
        "data": data,
        "layout": layout(
            view.title,
            f"grey: idle · at work: least and most, ± {scene.spread_words}",
            scene,
            view.name,
            xaxis=index_axis(labels, metric("device").title),
            yaxis=axis(metric("power_w").axis_title, rangemode="tozero"),
        ),
    }


def _idle_trace(resting: pl.DataFrame, devices: list[str | None], scene: Scene) -> dict[str, Any]:
    words = [
        [f"idle · {row['device'] or scene.unnamed}", measured_words(row, "power_w", scene)]
        for row in resting.iter_rows(named=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "idle",
        "x": [devices.index(d) - _STEP for d in resting["device"]],
        "y": plain(resting["power_w"]),
        "error_y": error_bars(values_of(resting, "power_w_spread"), QUIET),
        "marker": {"symbol": "triangle-up", "size": 10, "color": QUIET},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "none",
        "showlegend": False,
        "meta": {"kind": "idle", "words": words},
    }


def _range(
    mine: pl.DataFrame, devices: list[str | None], shift: float, scene: Scene
) -> list[dict[str, Any]]:
    """Two points a device, joined: the least and the most that a configuration draws."""
    ends = [
        part.sort("power_w", "row")[[0, -1] if len(part) > 1 else [0]]
        for part in mine.sort("device", nulls_last=False).partition_by(
            "device", maintain_order=True
        )
    ]
    drawn = pl.concat(ends)
    mode = mine["mode"][0]
    x, y = [], []
    for part in ends:
        x += [devices.index(part["device"][0]) + shift - _STEP] * 2 + [None]
        y += [part["power_w"][0], part["power_w"][-1], None]
    hue = scene.hue(mode)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": hue, "width": 4},
            "opacity": 0.45,
            "hoverinfo": "skip",
            "showlegend": False,
            "meta": {"kind": "ranges", "behind": mine["row"].to_list()},
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": scene.label(mode),
            "x": [devices.index(d) + shift - _STEP for d in drawn["device"]],
            "y": plain(drawn["power_w"]),
            "error_y": error_bars(values_of(drawn, "power_w_spread"), hue),
            "marker": mode_marker(scene, mode),
            **selectable("points"),
            "meta": {
                "kind": "points",
                "rows": [[row] for row in drawn["row"]],
                "knobs": list(KNOBS),
                "words": words_of(drawn, ["power_w", "iops"], scene),
            },
        },
    ]
