"""What the pictures of Storage share: scene, layout, hovers, marks of the completion modes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.encodings import base_layout, message_figure
from app.kit.words import configuration_words
from app.storage.views import BY_NAME
from data.metrics import metric, metrics
from data.selection import Value
from data.units import format_quantity

# As Modes gives them to the modes in their order.
SYMBOLS: Final = {"interrupt": "circle", "poll": "diamond", "hybrid": "square"}
OTHER_SYMBOL: Final = "triangle-up"
# What the browser replaces by the text colour of its theme.
PAGE_INK: Final = "page"
QUIET: Final = "#8C8C8C"
FADED: Final = 0.12
# Markers as letters, for texts.
GLYPHS: Final = {
    "circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "triangle-down": "▼",
    "pentagon": "⬟",
}  # fmt: skip
NO_DEVICE: Final = "no device"
MODE_UNSAID: Final = "mode not said"
DEVICE_UNSAID: Final = "device not said"
CLICK: Final = "click: select this configuration"
# What names a configuration in words.
_NAMING: Final = (
    "mode", "device", "rw", "request_bytes", "io_depth", "threads", "itr_us", "dvfs_ghz", "rapl_w",
)  # fmt: skip
_WRAP: Final = 46
# Means keep their words when filters change: those of so many are not written anew.
_REMEMBERED: Final = 20_000
# Where a column comes from, so that who misses it knows what to take next time.
_METER: Final = (
    "Power is that of a meter's CSV in a folder above the runs, or perf stat's energy-pkg."
)
_TABLE: Final = "Loads and stores are those of VTune's table of functions beside a run."
_SOURCES: Final = {
    "power_w": _METER,
    "bytes_per_joule": _METER,
    "ios_per_joule": _METER,
    "interrupts_per_s": "Interrupts are those of NVMe queues between two copies of "
    "/proc/interrupts.",
    "loads_per_s": _TABLE,
    "stores_per_s": _TABLE,
    "latency_p99_us": "Of reads and writes together fio has percentiles only in json+.",
}


@dataclass(frozen=True, slots=True)
class Star:
    """A published value in a picture of measured ones.

    Attributes:
        mode: The completion mode that it was measured with; None where there is none to speak of.
        at: The depth or the device that it stands at.
        words: Lines of its hover; the last names the publication.
    """

    mode: str | None
    at: float | str | None
    value: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What pictures need beside rows.

    Attributes:
        modes: The completion modes of all rows, with their hues and labels.
        is_interval: Whether error bars are 95 % confidence intervals rather than deviations.
        place: The device, access and size that a view shows, in words.
        note: What to warn of; may be empty.
        unnamed: What a missing device means: none under test, or one that nobody named.
    """

    modes: Competitors
    is_interval: bool
    place: str = ""
    note: str = ""
    unnamed: str = NO_DEVICE

    @property
    def spread_words(self) -> str:
        """What error bars are."""
        return "95 % CI" if self.is_interval else "sd"

    def hue(self, mode: Value | None) -> str:
        """The hue of a mode."""
        return self.modes.hues[self.rank(mode)]

    def label(self, mode: Value | None) -> str:
        """What a mode is called."""
        return MODE_UNSAID if mode is None else self.modes.labels[self.rank(mode)]

    def symbol(self, mode: Value | None) -> str:
        """The marker of a mode."""
        return SYMBOLS.get(str(mode), OTHER_SYMBOL)

    def glyph(self, mode: Value | None) -> str:
        """Its marker as a letter in its hue, for Plotly's texts."""
        return f'<span style="color:{self.hue(mode)}">{GLYPHS[self.symbol(mode)]}</span>'

    def rank(self, mode: Value | None) -> int:
        """Its place in the legend: later ones are drawn smaller, over the earlier ones."""
        return self.modes.values.index(mode)


def plain(values: np.ndarray | pl.Series | Iterable) -> list[float | None]:
    """Numbers as JSON can hold them: what is not finite becomes null."""
    numbers = (float("nan") if v is None else float(v) for v in values)
    return [v if np.isfinite(v) else None for v in numbers]


def values_of(rows: pl.DataFrame, column: str) -> np.ndarray:
    """A column as float64; NaN where it is NULL."""
    return rows[column].to_numpy().astype(np.float64)


def measured_words(row: dict[str, Any], column: str, scene: Scene) -> str:
    """`Power: 45.0 W ± 0.3 W (95 % CI), n = 10`."""
    spread = row[f"{column}_spread"]
    return _mean_words(column, row[column], spread, row[f"{column}_n"], scene.spread_words)


@lru_cache(maxsize=_REMEMBERED)
def _mean_words(
    column: str, mean: float | None, spread: float | None, n: int, spread_words: str
) -> str:
    measure = metric(column)
    words = f"{measure.title}: {format_quantity(mean, measure.unit)}"
    if spread is not None and isfinite(spread):
        words += f" ± {format_quantity(spread, measure.unit)} ({spread_words})"
    return f"{words}, n = {n}"


def words_of(rows: pl.DataFrame, columns: Sequence[str], scene: Scene) -> list[list[str]]:
    """The hovers of configurations: which it is, its means of these metrics, what a click does."""
    headings = [_heading(*values) for values in rows.select(_NAMING).iter_rows()]
    parts = [headings, rows["dataset"].cast(pl.String)]
    for name in columns:
        means = rows.select(name, f"{name}_spread", f"{name}_n").iter_rows()
        parts.append([_mean_words(name, *values, scene.spread_words) for values in means])
    return [[*lines, CLICK] for lines in zip(*parts, strict=True)]


@lru_cache(maxsize=_REMEMBERED)
def _heading(*values: Any) -> str:
    return configuration_words(dict(zip(_NAMING, values, strict=True)))


def mode_marker(scene: Scene, mode: Value | None, size: float = 8) -> dict[str, Any]:
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
        # Nothing here is less than 0, though an interval may reach there.
        "autorangeoptions": {"clipmin": 0},
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


def stars(published: Sequence[Star], x: Sequence[float], scene: Scene) -> list[dict[str, Any]]:
    """Published values as open stars in the hues of their modes; no trace where there are none."""
    if not published:
        return []
    hues = [PAGE_INK if s.mode is None else scene.hue(s.mode) for s in published]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "published",
            "x": list(x),
            "y": [star.value for star in published],
            "marker": {"symbol": "star-open", "size": 10, "color": hues, "line": {"width": 1.2}},
            "unselected": {"marker": {"opacity": 1}},
            "hoverinfo": "none",
            "showlegend": False,
            "cliponaxis": False,
            "meta": {"kind": "published", "words": [list(star.words) for star in published]},
        }
    ]


def nothing(view: str, sentence: str) -> dict[str, Any]:
    """A picture that keeps its title and says why there is nothing below it."""
    figure = message_figure(_wrapped(sentence))
    figure["layout"]["title"] = base_layout(BY_NAME[view].title, "")["title"]
    figure["layout"]["annotations"][0]["font"]["size"] = 12
    figure["layout"]["meta"] = {"kind": "message", "view": view}
    return figure


def unmeasured(view: str, columns: Sequence[str], place: str) -> dict[str, Any]:
    """A picture that says which metrics were not measured, where, and what would give them.

    Args:
        columns: Metrics, or a column of `functions`, that have no value.
        place: Where, in words; may be empty.
    """
    names = [metrics()[c].title if c in metrics() else BY_NAME[view].title for c in columns]
    where = f" at {place}" if place else ""
    return nothing(view, f"{' and '.join(names)}: not measured{where}. {source_words(columns)}")


def source_words(columns: Sequence[str]) -> str:
    """What would give these columns, in sentences; empty where that goes without saying."""
    return " ".join(dict.fromkeys(_SOURCES[name] for name in columns if name in _SOURCES))


def _wrapped(sentence: str) -> str:
    lines = [""]
    for word in sentence.split():
        if lines[-1] and len(lines[-1]) + len(word) > _WRAP:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)
