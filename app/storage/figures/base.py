"""Traces of Storage's figures: points, lines and markers of the completion modes, and hovers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.words import configuration_words
from data.declared import Names, knob_names
from data.metrics import metric
from data.selection import Value
from data.units import format_quantity

# The same as on Modes.
SYMBOLS: Final = {"interrupt": "circle", "poll": "diamond", "hybrid": "square"}
OTHER_SYMBOL: Final = "triangle-up"
# The browser replaces this word by the text colour of its theme.
TEXT_COLOR: Final = "page"
QUIET: Final = "#8C8C8C"
FADED: Final = 0.12
# Markers as letters, for texts.
GLYPHS: Final = {"circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲"}
NO_DEVICE: Final = "no device"
MODE_UNKNOWN: Final = "mode not said"
DEVICE_UNKNOWN: Final = "device not said"
CLICK: Final = "click: select this configuration"
_SHIPPED: Final = (
    "mode", "device", "rw", "request_bytes", "io_depth", "threads", "itr_us", "dvfs_ghz", "rapl_w",
    "machine",
)  # fmt: skip
# The knobs that name a configuration in a hover.
_NAMING: Final = Names(lambda columns: (*_SHIPPED, *knob_names(columns)))
# The texts of so many means and headings are kept: filters change which are shown, not their words.
_CACHED: Final = 20_000
_SELECTABLE: Final = {
    "selected": {"marker": {"opacity": 1}},
    "unselected": {"marker": {"opacity": FADED}},
    "hoverinfo": "none",
    "showlegend": False,
}
_NO_HOVER: Final = {"hoverinfo": "skip", "showlegend": False}


@dataclass(frozen=True, slots=True)
class Star:
    """A published value in a figure of measured ones.

    Attributes:
        mode: The completion mode that it was measured with; None where the value has none.
        at: The depth or the device at whose position it is drawn.
        words: Lines of its hover; the last names the publication.
    """

    mode: str | None
    at: float | str | None
    value: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What figures need beside rows.

    Attributes:
        modes: The completion modes of all rows, with their hues and labels.
        is_interval: Whether error bars are 95 % confidence intervals rather than deviations.
        place: The device, access and size that a view shows, by column.
        place_words: The same in words.
        note: A warning for all figures; may be empty.
        unnamed: What a missing device means: none under test, or a name that is not known.
    """

    modes: Competitors
    is_interval: bool
    place: dict[str, Any]
    place_words: str = ""
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
        """The name of a mode."""
        return MODE_UNKNOWN if mode is None else self.modes.labels[self.rank(mode)]

    def symbol(self, mode: Value | None) -> str:
        """The marker of a mode."""
        return SYMBOLS.get(str(mode), OTHER_SYMBOL)

    def glyph(self, mode: Value | None) -> str:
        """Its marker as a letter in its hue, for Plotly's texts."""
        return f'<span style="color:{self.hue(mode)}">{GLYPHS[self.symbol(mode)]}</span>'

    def rank(self, mode: Value | None) -> int:
        """Its index in the legend: later modes are drawn smaller, over the earlier ones."""
        return self.modes.values.index(mode)


def plain(values: np.ndarray | pl.Series | Iterable) -> list[float | None]:
    """Numbers as JSON can hold them: null for what is not finite."""
    numbers = (float("nan") if v is None else float(v) for v in values)
    return [v if np.isfinite(v) else None for v in numbers]


def measured_words(row: dict[str, Any], column: str, scene: Scene) -> str:
    """`Power: 45.0 W ± 0.3 W (95 % CI), n = 10`."""
    spread = row[f"{column}_spread"]
    return _mean_words(column, row[column], spread, row[f"{column}_n"], scene.spread_words)


@lru_cache(maxsize=_CACHED)
def _mean_words(
    column: str, mean: float | None, spread: float | None, n: int, spread_words: str
) -> str:
    measure = metric(column)
    words = f"{measure.title}: {format_quantity(mean, measure.unit)}"
    if spread is not None and isfinite(spread):
        words += f" ± {format_quantity(spread, measure.unit)} ({spread_words})"
    return f"{words}, n = {n}"


def words_of(rows: pl.DataFrame, columns: Sequence[str], scene: Scene) -> list[list[str]]:
    """The hovers of configurations: knobs, dataset, means of these metrics, what a click does."""
    names = tuple(_NAMING)
    headings = [_heading(names, values) for values in rows.select(names).iter_rows()]
    parts = [headings, rows["dataset"].cast(pl.String)]
    for name in columns:
        means = rows.select(name, f"{name}_spread", f"{name}_n").iter_rows()
        parts.append([_mean_words(name, *values, scene.spread_words) for values in means])
    return [[*lines, CLICK] for lines in zip(*parts, strict=True)]


@lru_cache(maxsize=_CACHED)
def _heading(names: tuple[str, ...], values: tuple) -> str:
    set_knobs = {n: v for n, v in zip(names, values, strict=True) if v is not None}
    return configuration_words(set_knobs, set_knobs)


def points(
    rows: pl.DataFrame,
    x: Iterable,
    y: Iterable,
    words: list[list[str]],
    scene: Scene,
    box: dict[str, Any] | None = None,
    size: float = 8,
    **more: Any,
) -> dict[str, Any]:
    """A trace of configurations that can be selected, a point each.

    Args:
        rows: Configurations of one mode.
        words: The lines of each one's hover.
        box: What a box around the points selects by (see the package); None: by all knobs.
    """
    mode = rows["mode"][0]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": scene.label(mode),
        "x": plain(x),
        "y": plain(y),
        "marker": {"color": scene.hue(mode), "symbol": scene.symbol(mode), "size": size},
        **_SELECTABLE,
        "cliponaxis": False,
        "meta": {
            "kind": "points",
            "rows": [[row] for row in rows["row"]],
            "words": words,
            "box": box,
        },
        **more,
    }


def cell_points(x: list, y: list, meta: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Invisible points in the middle of cells, for boxes and the pointer."""
    hidden = {"marker": {"opacity": 0}}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": {"size": 2, "opacity": 0},
        **_SELECTABLE,
        "selected": hidden,
        "unselected": hidden,
        "meta": {"kind": "cells", **meta},
        **more,
    }


def marks(
    kind: str, x: Iterable, y: Iterable, marker: dict[str, Any], words: list, **more: Any
) -> dict[str, Any]:
    """A trace of markers that no selection fades, such as idle power."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "x": list(x),
        "y": plain(y),
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "none" if words else "skip",
        "showlegend": False,
        "meta": {"kind": kind, "words": words},
        **more,
    }


def curve(
    kind: str, x: Iterable, y: Iterable, line: dict[str, Any], behind: pl.DataFrame | None = None,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A line without hover; it fades when none of the configurations behind it is selected."""
    rows = {} if behind is None else {"behind": behind["row"].to_list()}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": plain(x),
        "y": plain(y),
        "line": line,
        **_NO_HOVER,
        "meta": {"kind": kind, **rows},
        **more,
    }


def stars(published: Sequence[Star], x: Sequence[float], scene: Scene) -> list[dict[str, Any]]:
    """Published values as open stars in the hues of their modes; no trace where there are none."""
    if not published:
        return []
    hues = [TEXT_COLOR if s.mode is None else scene.hue(s.mode) for s in published]
    marker = {"symbol": "star-open", "size": 10, "color": hues, "line": {"width": 1.2}}
    words = [list(star.words) for star in published]
    values = [star.value for star in published]
    return [marks("published", x, values, marker, words, cliponaxis=False)]


def idle_marks(x: Iterable, y: Iterable, words: list, size: int, **more: Any) -> dict[str, Any]:
    """Idle power as grey triangles."""
    marker = {"symbol": "triangle-up", "size": size, "color": QUIET}
    return marks("idle", x, y, marker, words, **more)


def error_bars(spreads: np.ndarray, color: str, width: int = 3) -> dict[str, Any]:
    """Bars for those that have a spread; hidden where none has."""
    if not np.isfinite(spreads).any():
        return {"visible": False}
    array = plain(np.nan_to_num(spreads))
    return {"type": "data", "array": array, "thickness": 1.2, "width": width, "color": color}
