"""Encodings of knobs on all pages (colour for DVFS, area for ITR, symbol and hue for systems), and
the texts of figures: Plotly reads them as HTML, and names of systems or knobs may hold anything.
"""

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import wraps
from textwrap import wrap
from typing import Any, Final, ParamSpec

import numpy as np

from data.metrics import Metric
from data.units import has_prefix

Arguments = ParamSpec("Arguments")
# Characters without a meaning (Unicode's private use area).
BREAK: Final = "\ue000"
_BOLD, _UNBOLD, _STYLE, _STYLED, _UNSTYLED = "\ue001\ue002\ue003\ue004\ue005"
_TAGS: Final = {BREAK: "<br>", _BOLD: "<b>", _UNBOLD: "</b>", _UNSTYLED: "</span>"}
_STYLES: Final = re.compile(f"{_STYLE}(color:#[0-9a-fA-F]{{6}}|font-size:\\d+px){_STYLED}")
_MARKS: Final = re.compile("[\ue000-\ue005]")
# What is to be done in a text: escape, or write marks. Most texts have nothing of it.
_OPEN: Final = re.compile("[&<\ue000-\ue005]")
# Types in a list that may be or hold texts.
_HOLDERS: Final = frozenset({str, dict, list, tuple, np.ndarray})
# What the browser compares with values of the lake, and does not show.
_NO_TEXTS: Final = frozenset({"customdata", "ids", "meta"})
# Hues of Okabe and Ito with enough contrast on white and near-black.
OKABE_ITO: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon")

# Cividis from 10 to 85 %: with their outline, both ends stand out from the paper of both themes.
NUMBER_HUES: Final = (
    "#083370", "#38476c", "#535a6d", "#6b6d72", "#838179", "#9d9576", "#baac6d", "#d6c35d",
)  # fmt: skip
NUMBER_SCALE: Final = tuple((i / (len(NUMBER_HUES) - 1), hue) for i, hue in enumerate(NUMBER_HUES))
GOVERNOR_HUE: Final = "#CC3366"
SIZE_MIN_PX: Final = 5.0
SIZE_MAX_PX: Final = 17.0
ADAPTIVE_SIZE_PX: Final = 11.0
_MESSAGE_COLUMNS: Final = 46
# Room beside a y axis whose numbers have at most so many signs, each of so many pixels; about so
# many numbers along it, and the least that is written without a prefix.
_LEFT_PX: Final = 62
_USUAL_SIGNS: Final = 4
_SIGN_PX: Final = 7
_TICKS: Final = 6
_SMALLEST: Final = 1e-3
# SI prefixes by threes; from so many of a unit on a title says what its thousands or millions are.
_PREFIXES: Final = ("n", "u", "m", "", "k", "M", "G", "T")
# How many of a unit are read in one two or one prefixes up, from so many on.
_OF_MANY: Final = ((1e6, 1e6, 2), (1e3, 1e4, 1))
# As d3 writes them.
_THOUSANDS: Final = (
    (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "\u00b5"),
    (1e-9, "n"),
)  # fmt: skip
# A logarithmic axis shows fewer.
_LOG_DECADES: Final = 18
# An axis' numbers have a step of this share of it at least before a closer look.
_FINEST_TICKS: Final = 30

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def bold(text: str) -> str:
    """Return a text in bold type; empty for an empty one."""
    return f"{_BOLD}{text}{_UNBOLD}" if text else ""


def styled(style: str, text: str) -> str:
    """Return a text in a style: `color:#rrggbb` or `font-size:NNpx`."""
    return f"{_STYLE}{style}{_STYLED}{text}{_UNSTYLED}"


def without_marks(text: str) -> str:
    """Return a text in one line, for other places than figures."""
    return _MARKS.sub("", text.replace(BREAK, " "))


def finished(figure: Any) -> Any:
    """Return a figure, or a part of one, in which Plotly shows all texts as they are.

    Call it once: finished texts would be escaped again.
    """
    whole = [figure]
    left: list[Any] = [whole]
    while left:
        part = left.pop()
        for key in part.keys() - _NO_TEXTS if isinstance(part, dict) else range(len(part)):
            value = part[key]
            if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
                value = value.tolist()
            if isinstance(value, str):
                if _OPEN.search(value):
                    escaped = value.replace("&", "&amp;").replace("<", "&lt;")
                    styled = _STYLES.sub(r'<span style="\1">', escaped)
                    part[key] = _MARKS.sub(lambda mark: _TAGS.get(mark[0], ""), styled)
            elif isinstance(value, dict):
                part[key] = {**value}
                left.append(part[key])
            elif isinstance(value, (list, tuple)) and not _HOLDERS.isdisjoint(map(type, value)):
                part[key] = [*value]
                left.append(part[key])
    return whole[0]


class _Finished(dict[str, Any]):
    """A figure whose texts are finished."""


def finishing(build: Callable[Arguments, dict[str, Any]]) -> Callable[Arguments, dict[str, Any]]:
    """Return a function that builds a figure with its texts `finished`, each once."""

    @wraps(build)
    def built(*args: Arguments.args, **more: Arguments.kwargs) -> dict[str, Any]:
        figure = build(*args, **more)
        return figure if isinstance(figure, _Finished) else _Finished(finished(figure))

    return built


def first_line(text: str) -> str:
    """Return the first line of a finished text as plain text."""
    return html.unescape(text.split("<br>")[0])


def itr_sizes_px(itr_us: np.ndarray, longest_us: float) -> np.ndarray:
    """Return marker diameters whose area grows with the interrupt delay.

    Args:
        itr_us: Interrupt delay, us, shape (n,); NaN where the driver adapts it.
        longest_us: The delay that gets the largest marker.

    Returns:
        Diameters in pixels, float32, shape (n,).
    """
    share = np.clip(np.nan_to_num(itr_us) / max(longest_us, 1.0), 0.0, 1.0)
    area = SIZE_MIN_PX**2 + share * (SIZE_MAX_PX**2 - SIZE_MIN_PX**2)
    return np.where(np.isnan(itr_us), ADAPTIVE_SIZE_PX, np.sqrt(area)).astype(np.float32)


def base_layout(title: str, subtitle: str) -> dict[str, Any]:
    """Return the layout that all figures share; the browser adds the theme's colours."""
    return {
        "title": {
            "text": f"{title}{BREAK}{styled('font-size:12px', subtitle)}",
            "font": {"size": 14},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "pad": {"l": 12, "t": 16},
            "y": 1,
            "yanchor": "top",
        },
        "font": {"family": FONT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "uirevision": "keep",
        "selectionrevision": "keep",
    }


def title_of(figure: dict[str, Any]) -> str:
    """Return a figure's title without its subtitle; empty for a message."""
    return first_line(figure["layout"]["title"]["text"])


def axis_title(text: str) -> dict[str, Any]:
    """Return the title of an axis of a large figure."""
    return {"text": text, "standoff": 6, "font": {"size": 12}}


def fitting_unit(unit: str, top: float) -> tuple[float, str]:
    """Return the size and the unit in which many of a unit with a prefix are read: 1e6 us, s.

    Size 1 and the unit itself for few of them, and for units without a prefix.
    """
    if not has_prefix(unit):
        return 1.0, unit
    known = _PREFIXES[_PREFIXES.index(unit[0]) :]
    units = ((size, known[up]) for size, least, up in _OF_MANY if top >= least and up < len(known))
    size, prefix = next(units, (1.0, unit[0]))
    return size, f"{prefix}{unit[1:]}"


def _aliases(unit: str, size: float, top: float, is_log: bool) -> dict[str, str]:
    """Return how an axis up to a size writes the numbers of its ticks in the fitting unit.

    Numbers that only a closer look has are none of them: they keep the metric's unit, but of those
    between the decades of a logarithmic axis, which Plotly writes without it, so all have one.
    """
    decade = math.floor(math.log10(top / _FINEST_TICKS))
    values = np.arange(math.ceil(1.2 * top / 10.0**decade)) * 10.0**decade
    if is_log:
        most = math.ceil(math.log10(top)) + 6
        values = np.outer(10.0 ** np.arange(most - _LOG_DECADES, most), np.arange(1, 10)).ravel()
    aliases: dict[str, str] = {}
    for value in map(float, values):
        scale, sign = next((o for o in _THOUSANDS if value >= 0.999 * o[0]), (1.0, ""))
        label, fitted = f"{value / scale:g}{sign}", format(Decimal(f"{value / size:.10g}"), ",f")
        aliases |= dict.fromkeys([f"{label} {unit}", *([label] if is_log else [])], fitted)
    return aliases


# Numbers between these are written whole on logarithmic axes.
_WRITTEN_WHOLE: Final = (1e-3, 1e5)


def metric_ticks(measure: Metric, top: float, is_log: bool = False, scale: str = "") -> dict:
    """Return title and numbers of an axis of a metric, up to a size.

    Thousands have an SI prefix. Where the unit has a prefix of its own, many of it are written in
    the fitting one: the numbers alone, since traces, ranges and selections are in the metric's.

    Args:
        scale: What the title says of the scale.
    """
    size, unit = fitting_unit(measure.unit, top)
    is_fitted = size > 1
    is_us, is_plain = measure.unit == "us", is_fitted or not has_prefix(measure.unit)
    is_plain |= is_us
    is_short = is_fitted or (not is_us and is_plain and not is_log and top >= 1000)
    is_short |= is_log and is_plain and not _WRITTEN_WHOLE[0] <= top < _WRITTEN_WHOLE[1]
    # Of 20 and 50 on a logarithmic axis Plotly writes the 2 and the 5 alone without a format.
    form = "~s" if is_short else ",~r" if is_log else ""
    fitted = {
        "ticksuffix": f" {measure.unit}",
        "labelalias": _aliases(measure.unit, size, top, is_log),
    } if is_fitted else {}  # fmt: skip
    return {
        "title": axis_title(f"{replace(measure, unit=unit).titled()}{scale}"),
        "exponentformat": "SI" if is_plain else "power",
        **({"tickformat": form} if form else {}),
        **fitted,
    }


def left_px(low: float, high: float, is_log: bool = False) -> int:
    """Return the room in pixels that the numbers and the title of a y axis need beside it.

    Args:
        low, high: Ends of the axis, or its least and greatest value.
    """
    size, span = max(abs(low), abs(high)), high - low
    if is_log or not 0 < span < math.inf:
        return _LEFT_PX
    # Thousands, and numbers below a thousandth, have an SI prefix.
    thousands = math.floor(math.log10(size) / 3) if not _SMALLEST <= size < 1000 else 0
    decimals = max(0, -math.floor(math.log10(span / _TICKS) - 3 * thousands))
    signs = len(f"{size / 1000.0**thousands:.0f}") + (low < 0) + (thousands != 0)
    signs += decimals + 1 if decimals else 0
    return _LEFT_PX + _SIGN_PX * max(0, signs - _USUAL_SIGNS)


def short_labels(labels: Iterable[str], most: int) -> dict[str, str]:
    """Return the labels of over `most` characters, cut: of those that begin alike the ends."""
    heads = {name: f"{name[: most - 1]}…" for name in labels if len(name) > most}
    counts = Counter(heads.values())
    return {n: head if counts[head] == 1 else f"…{n[1 - most :]}" for n, head in heads.items()}


def color_bar(title: str) -> dict[str, Any]:
    """Return a colour bar at the right of a large figure."""
    return {
        "title": {"text": title, "side": "right", "font": {"size": 12}},
        "thickness": 10,
        "len": 1,
        "outlinewidth": 0,
        "exponentformat": "SI",
        "tickfont": {"size": 12},
    }


def scatter_trace(kind: str, x: Any, y: Any, mode: str = "markers", **more: Any) -> dict[str, Any]:
    """Return a scatter trace; by default without hover and legend entry.

    Args:
        kind: Kind of the trace, for the browser (`meta.kind`).
        more: Further properties.
    """
    return {
        "type": "scatter",
        "mode": mode,
        "meta": {"kind": kind},
        "x": x,
        "y": y,
        "hoverinfo": "skip",
        "showlegend": False,
        **more,
    }


@finishing
def message_figure(sentence: str) -> dict[str, Any]:
    """Return a figure with one sentence: why there is nothing to draw, and the next step.

    Its lines fit a phone, since Plotly wraps no text.
    """
    return {
        "data": [],
        "layout": {
            **base_layout("", ""),
            "xaxis": {"visible": False},
            "yaxis": {"visible": False},
            "annotations": [
                {
                    "text": BREAK.join(wrap(sentence, _MESSAGE_COLUMNS)),
                    "showarrow": False,
                    "xref": "paper",
                    "yref": "paper",
                    "x": 0.5,
                    "y": 0.5,
                    "font": {"size": 14},
                    "align": "center",
                }
            ],
            "meta": {"kind": "message"},
        },
    }
