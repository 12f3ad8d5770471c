"""Axes of a figure: kinds, ranges, positions of values, ticks."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from app.kit.paper.figure import array, number, part, plain

_ID: Final = re.compile(r"[xy](?:[1-9]\d{0,2})?")
_EMS: Final = 0.58
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"),
                    (1e-6, "\N{MICRO SIGN}"), (1e-9, "n"))  # fmt: skip
_MOST_TICKS: Final = 200


@dataclass(slots=True)
class Axis:
    """One axis.

    Attributes:
        name: `x`, `y3`.
        kind: `linear`, `log` or `category`.
        spec: Plotly's dictionary.
        domain: Its ends on the figure without margins, 0 to 1.
        ends: Its range, in values; the first is larger where it is reversed. None before `settle`.
        categories: Values of a category axis, in order.
        seen: Positions that must be in the range, for an axis without one.
        length_pt: About how long it is on paper.
    """

    name: str
    spec: dict[str, Any]
    kind: str = "linear"
    domain: tuple[float, float] = (0.0, 1.0)
    ends: tuple[float, float] | None = None
    categories: list[str] = field(default_factory=list)
    seen: list[np.ndarray] = field(default_factory=list)
    length_pt: float = 0.0

    @property
    def is_x(self) -> bool:
        """Whether it is horizontal."""
        return self.name[0] == "x"

    def positions(self, values: np.ndarray) -> np.ndarray:
        """Convert values to positions: of categories their index, NaN where one is missing."""
        if self.kind != "category":
            if values.dtype.kind == "O":
                return np.array([_float(value) for value in values])
            return values
        index = {name: at for at, name in enumerate(self.categories)}
        if values.dtype.kind != "O":
            # A number on a category axis is a position, unless a category is called so.
            names = [f"{value:g}" for value in values]
            return np.array(
                [index.get(n, v) for n, v in zip(names, values, strict=True)], np.float64
            )
        for value in values:
            if value is not None and str(value) not in index:
                index[str(value)] = len(self.categories)
                self.categories.append(str(value))
        return np.array([math.nan if v is None else index[str(v)] for v in values], np.float64)

    def position(self, value: Any) -> float:
        """Convert a value of an annotation or a shape: on a log axis its logarithm."""
        if isinstance(value, str):
            return float(self.positions(np.array([value], object))[0])
        found = number(value, 0.0)
        return 10 ** min(300.0, found) if self.kind == "log" else found

    def settle(self) -> None:
        """Find the range: the given one, else that of what is seen on it."""
        given = self.spec.get("range")
        if isinstance(given, list) and len(given) == 2 and all(
            isinstance(one, (int, float)) and abs(one) < 1e300 for one in given
        ) and given[0] != given[1]:  # fmt: skip
            low, high = (float(one) for one in given)
            self.ends = (
                (10 ** _within(low), 10 ** _within(high)) if self.kind == "log" else (low, high)
            )
            return
        low, high = self._seen_ends()
        self.ends = (high, low) if self.spec.get("autorange") == "reversed" else (low, high)

    def _seen_ends(self) -> tuple[float, float]:
        if self.kind == "category":
            return -0.5, max(0.5, len(self.categories) - 0.5)
        every = np.concatenate(
            [np.zeros(0), *[one.astype(np.float64).ravel() for one in self.seen]]
        )
        every = every[np.isfinite(every)]
        if self.kind == "log":
            every = every[every > 0]
        if not every.size:
            return (1.0, 10.0) if self.kind == "log" else (0.0, 1.0)
        low, high = float(every.min()), float(every.max())
        if self.kind == "log":
            ratio = (high / low) ** 0.05 if high > low else 2.0
            return low / ratio, high * ratio
        room = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
        is_from_0 = self.spec.get("rangemode") == "tozero" and low >= 0
        return (0.0 if is_from_0 else low - room), high + room

    def share(self, position: float) -> float:
        """Return where a position is along the axis, 0 to 1."""
        assert self.ends
        low, high = self.ends
        if self.kind == "log":
            low, high, position = (math.log10(max(v, 1e-300)) for v in (low, high, position))
        return (position - low) / (high - low)

    def place_pt(self, position: float) -> float:
        """Return how far a position is from the axis' start, points."""
        return self.length_pt * self.share(position)

    def contains(self, positions: np.ndarray) -> np.ndarray:
        """Return which positions lie in the range, its ends included."""
        assert self.ends
        low, high = min(self.ends), max(self.ends)
        room = 1e-9 * (high - low)
        return (positions >= low - room) & (positions <= high + room)


def _within(power: float) -> float:
    return min(300.0, max(-300.0, power))


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def read_axes(layout: dict[str, Any], traces: Iterable[dict[str, Any]]) -> dict[str, Axis]:
    """Return the axes of a figure by name; of those without a kind the values say it."""
    names = {f"{key[0]}{key[5:]}" for key in layout if re.fullmatch(r"[xy]axis\d{0,3}", key)}
    for trace in traces:
        names |= {str(trace.get(f"{letter}axis") or letter) for letter in "xy"}
    axes = {}
    for name in sorted(name for name in names if _ID.fullmatch(name)):
        spec = part(layout, f"{name[0]}axis{name[1:]}")
        axis = axes[name] = Axis(name, spec)
        ends = spec.get("domain")
        if isinstance(ends, list) and len(ends) == 2:
            low, high = (number(one, at, 0, 1) for one, at in zip(ends, (0, 1), strict=True))
            axis.domain = (low, high) if high > low else (0.0, 1.0)
        kind = spec.get("type")
        axis.kind = kind if kind in ("log", "category") else "linear"
        if kind not in ("linear", "log", "category"):
            axis.kind = "category" if _has_words(axis, traces) else "linear"
        for key in ("categoryarray", "_categories"):
            if axis.kind == "category" and isinstance(spec.get(key), (list, dict)):
                axis.positions(_as_words(array(spec[key])))
    return axes


def _as_words(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "O":
        return values
    return np.array([f"{value:g}" for value in values], object)


def _has_words(axis: Axis, traces: Iterable[dict[str, Any]]) -> bool:
    letter = axis.name[0]
    for trace in traces:
        values = trace.get(letter)
        if (trace.get(f"{letter}axis") or letter) == axis.name and isinstance(values, list):
            words = [one for one in values if isinstance(one, str)]
            if any(math.isnan(_float(one)) for one in words):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Ticks:
    """Where the ticks of an axis are, and their labels."""

    at: list[float]
    labels: list[str]


def ticks_of(axis: Axis, length_pt: float, font_pt: float) -> Ticks:
    """Choose the ticks of an axis of a length, so that their labels do not touch.

    Given ticks are kept; where they would touch, every second, third ... has a label.
    """
    assert axis.ends
    spec = axis.spec
    low, high = min(axis.ends), max(axis.ends)
    if isinstance(spec.get("tickvals"), (list, dict)):
        at = axis.positions(array(spec["tickvals"]).ravel()).astype(float)
        if isinstance(spec.get("ticktext"), (list, dict)):
            labels = [plain(text).strip() for text in _as_words(array(spec["ticktext"]).ravel())]
        elif axis.kind == "category":
            names = dict(enumerate(axis.categories))
            labels = [plain(names.get(round(value), "")) for value in np.nan_to_num(at).tolist()]
        else:
            labels = written(at, spec)
        pairs = [(a, b) for a, b in zip(at.tolist(), labels, strict=False) if low <= a <= high]
    elif axis.kind == "category":
        whole = range(max(0, math.ceil(low)), min(len(axis.categories) - 1, math.floor(high)) + 1)
        pairs = [(float(i), plain(axis.categories[i])) for i in whole]
    else:
        most = max(2, length_pt / (font_pt * (5.0 if axis.is_x else 2.6)))
        at = np.array(_nice_log(low, high, most) if axis.kind == "log" else _nice(low, high, most))
        pairs = list(zip(at.tolist(), written(at, spec), strict=True))
    pairs = pairs[:_MOST_TICKS]
    shown = _apart(axis, pairs, length_pt, font_pt)
    return Ticks([at for at, _ in pairs], shown)


def _apart(
    axis: Axis, pairs: Sequence[tuple[float, str]], length_pt: float, font_pt: float
) -> list[str]:
    """Return the labels of ticks, empty where one would touch the label before it."""
    labels = [label for _, label in pairs]
    is_flat = axis.is_x and not is_turned(axis, labels, length_pt, font_pt)
    shown, free = list(labels), -1e9
    order = sorted(range(len(pairs)), key=lambda i: axis.share(pairs[i][0]))
    for i in order:
        middle = length_pt * axis.share(pairs[i][0])
        lines = labels[i].count("\n") + 1
        half = font_pt * (_EMS * _width(labels[i]) + 0.6 if is_flat else 1.1 * lines) / 2
        if labels[i] and middle - half < free:
            shown[i] = ""
        elif labels[i]:
            free = middle + half
    return shown


def is_turned(axis: Axis, labels: Sequence[str], length_pt: float, font_pt: float) -> bool:
    """Return whether labels of categories along x stand upright, because they are long."""
    is_words = axis.kind == "category" or "ticktext" in axis.spec
    if not (axis.is_x and is_words and labels):
        return False
    widest = font_pt * (_EMS * max(map(_width, labels)) + 0.6)
    return widest * len(labels) > 1.6 * length_pt


def _width(label: str) -> int:
    return max((len(line) for line in label.split("\n")), default=0)


def _nice(low: float, high: float, most: float) -> list[float]:
    rough = (high - low) / most
    if not (rough > 0 and math.isfinite(rough)):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, 2 - math.floor(math.log10(step)))
    return [round(i * step, digits) + 0.0 for i in range(first, min(last, first + 99) + 1)]


def _nice_log(low: float, high: float, most: float) -> list[float]:
    """Return decades, with their halves where there are few; steps of one size within a decade."""
    decades = math.log10(high / low)
    if decades < 0.7:
        return [value for value in _nice(low, high, most) if value > 0]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1, 2, 5), (1,)):
        found = [f * 10.0**p for p in range(first, last + 1) for f in factors]
        inside = [value for value in found if low * 0.9999 <= value <= high * 1.0001]
        if len(inside) <= 1.3 * most:
            return inside
    every = max(1, math.ceil(decades / most))
    return [10.0**p for p in range(first, last + 1) if p % every == 0 and low <= 10.0**p <= high]


def written(at: np.ndarray, spec: dict[str, Any]) -> list[str]:
    """Write the values of ticks, in the axis' format and with its aliases."""
    aliases = spec.get("labelalias") or {}
    return [aliases.get(text, text) for text in _formatted(at, spec)]


def _formatted(at: np.ndarray, spec: dict[str, Any]) -> list[str]:
    form = str(spec.get("tickformat") or "")
    suffix = plain(spec.get("ticksuffix") or "")
    if form.endswith("%"):
        return [f"{100 * value:g} %{suffix}" for value in at]
    is_si = form.endswith("s") or (not form and spec.get("exponentformat") not in ("none", "power"))
    top = float(np.nanmax(np.abs(at))) if len(at) else 0.0
    if is_si and top and not 1e-3 <= top < 1e4:
        return [f"{_si(value)}{suffix}" for value in at]
    if is_si and form and top:
        return [f"{_si(value)}{suffix}" for value in at]
    return [f"{value:,.10g}{suffix}" if top >= 1e4 else f"{value:.6g}{suffix}" for value in at]


def _si(value: float) -> str:
    if not value:
        return "0"
    size, letter = next((p for p in _PREFIXES if abs(value) >= 0.9999 * p[0]), _PREFIXES[-1])
    return f"{value / size:.4g}{letter}"
