"""What the pictures of Storage share: scene, layout, hovers, marks of the completion modes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.figures.competitors import Competitors
from app.figures.encodings import base_layout, message_figure
from app.figures.words import configuration_words
from app.storage_views import BY_NAME
from data.metrics import metric
from data.selection import Value
from data.units import format_quantity

# As Modes gives them to the modes in their order.
SYMBOLS: Final = {"interrupt": "circle", "poll": "diamond", "hybrid": "square"}
OTHER_SYMBOL: Final = "triangle-up"
# What the browser replaces by the text colour of its theme.
PAGE_INK: Final = "page"
QUIET: Final = "#8C8C8C"
FADED: Final = 0.12
_WRAP: Final = 46


@dataclass(frozen=True, slots=True)
class Scene:
    """What pictures need beside rows.

    Attributes:
        modes: The completion modes of all rows, with their hues and labels.
        is_interval: Whether error bars are 95 % confidence intervals rather than deviations.
        place: The device, access and size that a view shows, in words.
        note: What to warn of; may be empty.
    """

    modes: Competitors
    is_interval: bool
    place: str = ""
    note: str = ""

    @property
    def spread_words(self) -> str:
        """What error bars are."""
        return "95 % CI" if self.is_interval else "sd"

    def hue(self, mode: Value | None) -> str:
        """The hue of a mode."""
        return self.modes.hues[self.modes.values.index(mode)]

    def label(self, mode: Value | None) -> str:
        """What a mode is called."""
        return self.modes.labels[self.modes.values.index(mode)]

    def symbol(self, mode: Value | None) -> str:
        """The marker of a mode."""
        return SYMBOLS.get(str(mode), OTHER_SYMBOL)


def plain(values: np.ndarray | pl.Series | Iterable) -> list[float | None]:
    """Numbers as JSON can hold them: what is not finite becomes null."""
    numbers = (float("nan") if v is None else float(v) for v in values)
    return [v if np.isfinite(v) else None for v in numbers]


def values_of(rows: pl.DataFrame, column: str) -> np.ndarray:
    """A column as float64; NaN where it is NULL."""
    return rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def measured_words(row: dict[str, Any], column: str, scene: Scene) -> str:
    """`Power: 45.0 W ± 0.3 W (95 % CI), n = 10`."""
    measure, spread = metric(column), row[f"{column}_spread"]
    words = f"{measure.title}: {format_quantity(row[column], measure.unit)}"
    if spread is not None and np.isfinite(spread):
        words += f" ± {format_quantity(spread, measure.unit)} ({scene.spread_words})"
    return f"{words}, n = {row[f'{column}_n']}"


def point_words(row: dict[str, Any], columns: Sequence[str], scene: Scene) -> list[str]:
    """The hover of one configuration."""
    lines = [configuration_words(row), str(row["dataset"])]
    lines += [measured_words(row, column, scene) for column in columns]
    return [*lines, "click: select this configuration"]


def mode_marker(scene: Scene, mode: Value | None, size: int = 8) -> dict[str, Any]:
    """Hue and symbol of a mode."""
    return {"color": scene.hue(mode), "symbol": scene.symbol(mode), "size": size}


def selectable(kind: str) -> dict[str, Any]:
    """How the points of a trace look when others are selected."""
    return {
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": FADED}},
        "hoverinfo": "none",
        "showlegend": False,
    } | ({"cliponaxis": False} if kind == "points" else {})


def error_bars(spreads: np.ndarray, color: str) -> dict[str, Any]:
    """Bars for those that have a spread; absent where none has."""
    if not np.isfinite(spreads).any():
        return {"visible": False}
    return {
        "type": "data",
        "array": plain(np.nan_to_num(spreads)),
        "thickness": 1.2,
        "width": 3,
        "color": color,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title, in the sizes of a small panel."""
    return {
        "title": {"text": title, "standoff": 5, "font": {"size": 11}},
        "tickfont": {"size": 10},
        "zeroline": False,
        "automargin": True,
        **more,
    }


def index_axis(labels: Sequence[str], title: str, **more: Any) -> dict[str, Any]:
    """A numeric axis over the indices of values."""
    return axis(
        title,
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[-0.5, len(labels) - 0.5],
        showgrid=False,
        **more,
    )


def layout(title: str, subtitle: str, scene: Scene, view: str, **more: Any) -> dict[str, Any]:
    """The layout of one small picture."""
    parts = subtitle.split(" · ") + ([scene.note] if scene.note else [])
    lines = _folded(parts, BY_NAME[view].room_chars)
    words = "<br>".join(lines)
    if scene.note:
        words = words.removesuffix(scene.note) + f"<b>{scene.note}</b>"
    found = {
        **base_layout(title, words),
        "margin": {"l": 52, "r": 10, "t": 44, "b": 38},
        "dragmode": "select",
        "showlegend": False,
        "meta": {"kind": "storage", "view": view},
        **more,
    }
    found["margin"] = {**found["margin"], "t": found["margin"]["t"] + 14 * (len(lines) - 1)}
    return found


def _folded(parts: Sequence[str], most: int) -> list[str]:
    """Parts of a subtitle in as few lines as hold them."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and len(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def nothing(view: str, sentence: str) -> dict[str, Any]:
    """A picture that says why there is none."""
    figure = message_figure(_wrapped(sentence))
    figure["layout"]["annotations"][0]["font"]["size"] = 12
    figure["layout"]["meta"] = {"kind": "message", "view": view}
    return figure


def _wrapped(sentence: str) -> str:
    lines = [""]
    for word in sentence.split():
        if lines[-1] and len(lines[-1]) + len(word) > _WRAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)
