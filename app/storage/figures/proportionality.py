"""Energy proportionality: power against utilisation, both as shares of the device's maximum."""

from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.typed_arrays import floats
from app.storage.figures.base import (
    DEVICE_UNKNOWN,
    QUIET,
    TEXT_COLOR,
    Scene,
    curve,
    idle_marks,
    points,
    words_of,
)
from app.storage.figures.layouts import (
    axis,
    layout,
    message,
    panel,
    panel_axes,
    panel_note,
    source_words,
)
from app.storage.views import View
from data.analysis.trend import Trend, quadratic_trend
from data.metrics import metric

MOST_PANELS: Final = 6
_GAP: Final = 0.03
_TOP: Final = 1.42
_STEPS: Final = 41
# Line of a device whose power is proportional to its utilisation.
_DOTTED: Final = {"color": QUIET, "width": 1, "dash": "dot"}


def build_proportionality(
    rows: pl.DataFrame, idle: pl.DataFrame, use: str, view: View, scene: Scene
) -> dict[str, Any]:
    """Build one panel per device, with a quadratic trend and its formula for each mode.

    Args:
        rows: Configurations of the study.
        idle: Idle power by device.
        use: Metric of the utilisation, which is its share of the device's highest mean.
    """
    drawn = rows.filter(
        pl.col("power_w").is_not_null() & pl.col(use).is_not_null() & (pl.col(use) > 0)
    )
    if not len(drawn):
        said = f"{metric(use).title} and power: not measured together. {source_words(['power_w'])}"
        return message(view.name, said)
    devices = drawn.sort("device", nulls_last=True).partition_by("device", maintain_order=True)
    shown, left_out = devices[:MOST_PANELS], max(0, len(devices) - MOST_PANELS)
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for number, part in enumerate(shown):
        traces, trends = _panel(part, idle, use, number, scene)
        data += traces
        axes |= _axes(number, len(shown), use)
        notes += _notes(part["device"][0], trends, number, scene)
    more = f" · {left_out} more devices: filter on them" if left_out else ""
    return {
        "data": data,
        "layout": layout(
            view.title,
            f"means of configurations · shares of the device's most · y: power, x: "
            f"{metric(use).title.lower()} · lines: least squares · dotted: proportional · "
            f"grey: idle{more}",
            scene,
            view.name,
            **axes,
            annotations=notes,
            margin={"l": 52, "r": 10, "t": 62, "b": 38},
        ),
    }


def _panel(
    part: pl.DataFrame, idle: pl.DataFrame, use: str, number: int, scene: Scene
) -> tuple[list[dict[str, Any]], dict[str | None, Trend | None]]:
    most_use, most_w = float(part[use].max()), float(part["power_w"].max())  # type: ignore[arg-type]
    data, trends = [curve("ideal", [0, 1], [0, 1], _DOTTED)], {}
    parts = part.sort("row").partition_by("mode", maintain_order=True)
    for mine in sorted(parts, key=lambda rows: scene.rank(rows["mode"][0])):
        mode = mine["mode"][0]
        x, y = floats(mine[use]) / most_use, floats(mine["power_w"]) / most_w
        trends[mode] = trend = quadratic_trend(x, y)
        data.append(_points(mine, x, y, use, scene))
        if trend:
            at = np.linspace(float(x.min()), float(x.max()), _STEPS)
            line = {"color": scene.hue(mode), "width": 1.6}
            data.append(curve("trend", at, trend.at(at), line, mine))
    resting = idle.filter(pl.col("device").eq_missing(part["device"][0]))
    if len(resting) and resting["power_w"][0] is not None:
        idle_w = float(resting["power_w"][0])
        said = f"{idle_w:.3g} W, {100 * idle_w / most_w:.1f} % of the most"
        data.append(idle_marks([0], [idle_w / most_w], [["idle", said]], 9, cliponaxis=False))
    return [trace | panel(number) for trace in data], trends


def _points(
    mine: pl.DataFrame, x: np.ndarray, y: np.ndarray, use: str, scene: Scene
) -> dict[str, Any]:
    words = [
        [*lines, f"{100 * u:.1f} % of the most used, {100 * w:.1f} % of the most power", hint]
        for (*lines, hint), u, w in zip(
            words_of(mine, [use, "power_w"], scene), x.tolist(), y.tolist(), strict=True
        )
    ]
    box = {"x": use, "y": "power_w", "knobs": {"device": mine["device"][0]}}
    return points(mine, x, y, words, scene, box, 6)


def _axes(number: int, panels: int, use: str) -> dict[str, Any]:
    x = axis(f"utilisation ({metric(use).title.lower()})", range=[-0.02, 1.05])
    y = axis("" if number else "power, share of the most", range=[0, _TOP], tickvals=[0, 0.5, 1])
    return panel_axes(number, panels, _GAP, x, y)


def _notes(
    device: str | None, trends: dict[str | None, Trend | None], number: int, scene: Scene
) -> list[dict[str, Any]]:
    """Write the device's name above its panel, and the formulas above the points."""
    lines = [
        f"{scene.glyph(mode)} "
        + (f"{trend.formula()}<br>    {trend.fit()}" if trend else "too few points for a trend")
        for mode, trend in trends.items()
    ]
    return [
        panel_note(number, f"<b>{device or DEVICE_UNKNOWN}</b>"),
        panel_note(number, "<br>".join(lines), x=0.01, yshift=0, xanchor="left", yanchor="top",
                   align="left", font={"size": 9.5, "color": TEXT_COLOR}),
    ]  # fmt: skip
