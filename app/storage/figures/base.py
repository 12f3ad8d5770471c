"""Traces of Storage's figures: points, lines, markers of the completion modes, hovers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.encodings import OKABE_ITO, scatter_trace, styled
from app.kit.encodings import SYMBOLS as DEVICE_SYMBOLS
from app.kit.words import configuration_words
from data.catalogue import SHIPPED, Catalogue
from data.selection import Value
from data.units import format_quantity

# The same as on Modes.
SYMBOLS: Final = {"interrupt": "circle", "poll": "diamond", "hybrid": "square"}
# Devices have the hues and the markers that no mode has first.
MOST_DEVICES: Final = len(OKABE_ITO)
OTHER_SYMBOL: Final = "triangle-up"
# The browser replaces this word with the text colour of its theme.
TEXT_COLOR: Final = "page"
QUIET: Final = "#8C8C8C"
FADED: Final = 0.12
# Markers as characters, for texts.
GLYPHS: Final = {"circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲",
                 "triangle-down": "▼", "pentagon": "⬟"}  # fmt: skip
NO_DEVICE: Final = "no device"
MODE_UNKNOWN: Final = "mode not said"
DEVICE_UNKNOWN: Final = "device not said"
CLICK: Final = "click: select this configuration"
# Knobs that a hover does not name: the title of the figure does, or no storage run has one.
_UNNAMED: Final = ("dataset", "workload", "system", "load_qps", "message_bytes")
# Number of cached texts of means and headings: filters choose among them, but do not change them.
CACHED: Final = 20_000
SELECTABLE: Final = {
    "selected": {"marker": {"opacity": 1}},
    "unselected": {"marker": {"opacity": FADED}},
    "hoverinfo": "none",
}


@dataclass(frozen=True, slots=True)
class Star:
    """A published value in a figure of measured ones.

    Attributes:
        mode: Completion mode of the measurement; None if the publication gives none.
        at: Depth or device at whose position it is drawn.
        words: Lines of its hover; the last names the publication.
    """

    mode: str | None
    at: float | str | None
    value: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of the figures besides the rows.

    Attributes:
        modes: Completion modes of all rows, with their hues and labels.
        devices: Devices of all rows, sorted; the missing device first.
        is_interval: Whether error bars are 95 % confidence intervals; else standard deviations.
        place: Device, access and size of the views that show one, by column.
        catalogue: The columns of the lake.
        place_words: The same as text.
        note: A warning for all figures; may be empty.
        unnamed: Label of a missing device: no device under test, or an unknown name.
    """

    modes: Competitors
    devices: tuple[str | None, ...]
    is_interval: bool
    place: dict[str, Any]
    catalogue: Catalogue
    place_words: str = ""
    note: str = ""
    unnamed: str = NO_DEVICE

    @property
    def spread_words(self) -> str:
        """Kind of the error bars."""
        return "95 % CI" if self.is_interval else "sd"

    def hue(self, mode: Value | None) -> str:
        """Return the hue of a mode."""
        return self.modes.hues[self.rank(mode)]

    def label(self, mode: Value | None) -> str:
        """Return the name of a mode."""
        return MODE_UNKNOWN if mode is None else self.modes.labels[self.rank(mode)]

    def symbol(self, mode: Value | None) -> str:
        """Return the marker of a mode."""
        return SYMBOLS.get(str(mode), OTHER_SYMBOL)

    def glyph(self, mode: Value | None) -> str:
        """Return the marker of a mode as a coloured character, for Plotly's texts."""
        return styled(f"color:{self.hue(mode)}", GLYPHS[self.symbol(mode)])

    def device_look(self, device: str | None) -> tuple[str, str]:
        """Return the hue and the marker of a device, the same in all figures."""
        number = (self.devices.index(device) + len(SYMBOLS)) % MOST_DEVICES
        return OKABE_ITO[number], DEVICE_SYMBOLS[number]

    def name(self, by: str, value: Value | None) -> str:
        """Return the name of a mode or a device."""
        if by == "mode":
            return self.label(value)
        return self.unnamed if value is None else str(value)

    def order(self, by: str) -> tuple[Value | None, ...]:
        """Return the modes or the devices in the order of panels."""
        return tuple(self.modes.values) if by == "mode" else self.devices

    def rank(self, mode: Value | None) -> int:
        """Return the index of a mode in the legend; later modes are drawn smaller, on top."""
        return self.modes.values.index(mode)


def plain(values: np.ndarray | pl.Series | Iterable) -> list[float | None]:
    """Convert numbers for JSON: null if not finite."""
    numbers = (float("nan") if v is None else float(v) for v in values)
    return [v if isfinite(v) else None for v in numbers]


def measured_words(row: dict[str, Any], column: str, scene: Scene) -> str:
    """Return a text such as `Power: 45.0 W ± 0.3 W (95 % CI), n = 10`."""
    spread = row[f"{column}_spread"]
    return _mean_words(column, row[column], spread, row[f"{column}_n"], scene.spread_words)


@lru_cache(maxsize=CACHED)
def _mean_words(
    column: str, mean: float | None, spread: float | None, n: int, spread_words: str
) -> str:
    measure = SHIPPED.metric(column)
    text = f"{measure.title}: {format_quantity(mean, measure.unit)}"
    if spread is not None and isfinite(spread):
        text += f" ± {format_quantity(spread, measure.unit)} ({spread_words})"
    return f"{text}, n = {n}"


def words_of(rows: pl.DataFrame, columns: Sequence[str], scene: Scene) -> list[list[str]]:
    """Return the hovers of configurations: knobs, dataset, means, what a click does."""
    columns_named = tuple(n for n in scene.catalogue.knob_of_column if n not in _UNNAMED)
    headings = [
        _heading(scene.catalogue, columns_named, values)
        for values in rows.select(columns_named).iter_rows()
    ]
    parts = [headings, rows["dataset"].cast(pl.String)]
    for name in columns:
        means = rows.select(name, f"{name}_spread", f"{name}_n").iter_rows()
        parts.append([_mean_words(name, *values, scene.spread_words) for values in means])
    return [[*lines, CLICK] for lines in zip(*parts, strict=True)]


@lru_cache(maxsize=CACHED)
def _heading(catalogue: Catalogue, names: tuple[str, ...], values: tuple) -> str:
    set_knobs = {n: v for n, v in zip(names, values, strict=True) if v is not None}
    return configuration_words(set_knobs, set_knobs, catalogue)


def points(
    rows: pl.DataFrame,
    x: Iterable,
    y: Iterable,
    hovers: list[list[str]],
    scene: Scene,
    box: dict[str, Any] | None = None,
    size: float = 8,
    **more: Any,
) -> dict[str, Any]:
    """Build a trace of selectable configurations, one point each.

    Args:
        rows: Configurations of one mode.
        hovers: Lines of each point's hover.
        box: What a box selects by; None: the knobs of its points.
    """
    mode = rows["mode"][0]
    numbers = [[row] for row in rows["row"]]
    own: dict[str, Any] = {
        "name": scene.label(mode),
        "marker": {"color": scene.hue(mode), "symbol": scene.symbol(mode), "size": size},
        "cliponaxis": False,
        "meta": {"kind": "points", "rows": numbers, "words": hovers, "box": box, "fades": 0.6},
    }
    return scatter_trace("points", plain(x), plain(y), **{**SELECTABLE, **own, **more})


def marks(
    kind: str, x: Iterable, y: Iterable, marker: dict[str, Any], hovers: list, **more: Any
) -> dict[str, Any]:
    """Build a trace of markers that no selection fades, such as idle power."""
    return scatter_trace(
        kind,
        list(x),
        plain(y),
        name=kind,
        marker=marker,
        unselected={"marker": {"opacity": 1}},
        hoverinfo="none" if hovers else "skip",
        meta={"kind": kind, "words": hovers},
        **more,
    )


def curve(
    kind: str, x: Iterable, y: Iterable, line: dict[str, Any], behind: pl.DataFrame | None = None,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Build a line without hover, which fades unless a configuration in `behind` is selected."""
    rows = {} if behind is None else {"behind": behind["row"].to_list()}
    meta = {"kind": kind, **rows}
    return scatter_trace(kind, plain(x), plain(y), "lines", line=line, meta=meta, **more)


def stars(published: Sequence[Star], x: Sequence[float], scene: Scene) -> list[dict[str, Any]]:
    """Build a trace of published values: open stars in the hues of their modes; none if empty."""
    if not published:
        return []
    hues = [TEXT_COLOR if s.mode is None else scene.hue(s.mode) for s in published]
    marker = {"symbol": "star-open", "size": 10, "color": hues, "line": {"width": 1.2}}
    words = [list(star.words) for star in published]
    values = [star.value for star in published]
    return [marks("published", x, values, marker, words, cliponaxis=False)]


def idle_marks(x: Iterable, y: Iterable, hovers: list, size: int, **more: Any) -> dict[str, Any]:
    """Build a trace of idle power, as grey triangles."""
    marker = {"symbol": "triangle-up", "size": size, "color": QUIET}
    return marks("idle", x, y, marker, hovers, **more)


def error_bars(spreads: np.ndarray, color: str, width: int = 3) -> dict[str, Any]:
    """Build error bars for points with a finite spread; hidden if none has one."""
    if not np.isfinite(spreads).any():
        return {"visible": False}
    array = plain(np.nan_to_num(spreads))
    return {"type": "data", "array": array, "thickness": 1.2, "width": width, "color": color}
