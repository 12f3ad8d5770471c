"""Idle power by device, and the range of power in active runs."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from app.kit.columns import floats
from app.kit.figure_text import finishing
from app.storage.figures.base import (
    QUIET,
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
from app.storage.figures.layouts import axis, index_axis, layout, message, source_words
from app.storage.views import View
from data.metrics import metric

_STEP: Final = 0.16


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
        said = f"Power: not measured, neither idle nor active. {source_words(['power_w'])}"
        return message(view.name, said)
    found = {*active["device"].to_list(), *resting["device"].to_list()}
    devices = sorted(found, key=lambda d: (d is not None, d))
    data = [_idle(resting, devices, scene)] if len(resting) else []
    for number, mode in enumerate(scene.modes.values):
        mine = active.filter(pl.col("mode").eq_missing(mode))
        data += _range(mine, devices, number * _STEP, scene) if len(mine) else []
    there = [star for star in published if star.at in devices]
    data += stars(there, [devices.index(star.at) - 1.9 * _STEP for star in there], scene)
    labels = [scene.unnamed if d is None else str(d) for d in devices]
    return {
        "data": data,
        "layout": layout(
            view.title,
            f"grey: idle{f', {idle_words}' if idle_words else ''} · "
            f"active: least and most, ± {scene.spread_words}",
            scene,
            view.name,
            xaxis=index_axis(labels, metric("device").title),
            yaxis=axis(metric("power_w").axis_title, rangemode="tozero"),
        ),
    }


def _idle(resting: pl.DataFrame, devices: list[str | None], scene: Scene) -> dict[str, Any]:
    words = [
        [f"idle · {row['device'] or scene.unnamed}", measured_words(row, "power_w", scene)]
        for row in resting.iter_rows(named=True)
    ]
    x = [devices.index(d) - _STEP for d in resting["device"]]
    bars = error_bars(floats(resting["power_w_spread"]), QUIET)
    return idle_marks(x, resting["power_w"], words, 10, error_y=bars)


def _range(
    mine: pl.DataFrame, devices: list[str | None], shift: float, scene: Scene
) -> list[dict[str, Any]]:
    """Build two joined points per device: the configurations with least and most power."""
    parts = mine.sort("device", nulls_last=False).partition_by("device", maintain_order=True)
    ends = [part.sort("power_w", "row")[[0, -1] if len(part) > 1 else [0]] for part in parts]
    drawn = pl.concat(ends)
    x, y = [], []
    for part in ends:
        x += [devices.index(part["device"][0]) + shift] * 2 + [None]
        y += [part["power_w"][0], part["power_w"][-1], None]
    hue = scene.hue(mine["mode"][0])
    bars = error_bars(floats(drawn["power_w_spread"]), hue)
    at = [devices.index(d) + shift for d in drawn["device"]]
    words = words_of(drawn, ["power_w", "iops"], scene)
    return [
        curve("ranges", x, y, {"color": hue, "width": 4}, mine, opacity=0.45),
        points(drawn, at, drawn["power_w"], words, scene, error_y=bars),
    ]
