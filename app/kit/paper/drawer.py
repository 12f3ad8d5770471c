"""What all traces need to become calls: sizes, colours, scales of colours, symbols, dashes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import matplotlib as mpl
import numpy as np

from app.kit.paper.axes import Axis
from app.kit.paper.calls import Call, Name, Plan
from app.kit.paper.drawing import scale
from app.kit.paper.figure import INK, MOST_TEXTS, FigureError, array, colour, number, part, spread

DASHES: Final = {
    "solid": "solid", "dash": "dashed", "dot": "dotted", "dashdot": "dashdot",
    "longdash": (0, (8, 3)), "longdashdot": (0, (8, 3, 1, 3)),
}  # fmt: skip
# Symbol to marker, and the marker's size over the symbol's.
MARKERS: Final[dict[str, tuple[Any, float]]] = {
    "circle": ("o", 1.0), "square": ("s", 1.0), "diamond": ("D", 0.92), "cross": ("P", 1.0),
    "x": ("X", 1.0), "triangle-up": ("^", 1.05), "triangle-down": ("v", 1.05),
    "triangle-left": ("<", 1.05), "triangle-right": (">", 1.05), "pentagon": ("p", 1.0),
    "hexagon": ("h", 1.0), "star": ("*", 1.35), "cross-thin": ("+", 1.4), "x-thin": ("x", 1.2),
    "asterisk": ((6, 2, 0), 1.4), "line-ew": ("_", 1.4), "line-ns": ("|", 1.4),
    "line-ne": (((-1.0, -1.0), (1.0, 1.0)), 1.4), "line-nw": (((-1.0, 1.0), (1.0, -1.0)), 1.4),
    "hash": ("P", 1.2), "arrow": ("^", 1.0), "arrow-up": ("^", 1.0), "arrow-down": ("v", 1.0),
    "arrow-left": ("<", 1.0), "arrow-right": (">", 1.0), "star-diamond": ("d", 1.2),
}  # fmt: skip
THIN: Final = ("cross-thin", "x-thin", "asterisk", "line-ew", "line-ns", "line-ne", "line-nw")
SCALES: Final = {
    "Cividis": "cividis", "Viridis": "viridis", "Magma": "magma", "Plasma": "plasma",
    "Inferno": "inferno", "Greys": "Greys_r", "Blues": "Blues_r", "YlGnBu": "YlGnBu_r",
    "RdBu": "RdBu", "Hot": "hot", "Jet": "jet", "Greens": "Greens_r", "Reds": "Reds",
}  # fmt: skip


@dataclass(slots=True)
class Drawer:
    """Makes calls of traces.

    Attributes:
        pt: Points on paper of a pixel on the page.
        line_pt: Width of a line that is 1.5 pixels wide on the page.
        font_pt: Size of text.
        maps: Names of the scales of colours that the calls use, by their stops.
        texts: Number of texts so far.
        groups: The traces of bars of each panel, by their index.
        bar_places: Where the bars of each panel stand.
        stacked: Where the next bar begins, by panel, place and sign.
        before: The last line of each panel, to which an area may reach.
    """

    plan: Plan
    axes: dict[str, Axis]
    layout: dict[str, Any]
    pt: float
    line_pt: float
    font_pt: float
    maps: dict[str, str] = field(default_factory=dict)
    texts: int = 0
    groups: dict[str, list[int]] = field(default_factory=dict)
    bar_places: dict[str, list[np.ndarray]] = field(default_factory=dict)
    stacked: dict[tuple[str, float, bool], float] = field(default_factory=dict)
    before: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def width(self, pixels: Any, default: float = 2.0) -> float:
        """Convert the width of a line to points."""
        return round(number(pixels, default, 0, 20) / 1.5 * self.line_pt, 3)

    def size(self, pixels: Any, default: float = 11.0) -> float:
        """Convert the size of text to points: near that which the reader chose."""
        found = number(pixels, default, 4, 40) * self.pt
        return round(min(1.15 * self.font_pt, max(0.85 * self.font_pt, found)), 2)

    def map_of(self, stops: Any) -> str | Name:
        """Return a scale of colours: matplotlib's name, or what a call before all others makes."""
        if not isinstance(stops, list):
            return SCALES.get(str(stops), "viridis")
        key = repr(stops)
        if key not in self.maps:
            self.maps[key] = f"colours{len(self.maps) + 1}"
            pairs = [(number(at, 0, 0, 1), colour(hue)) for at, hue in stops_of(stops)]
            self.plan.calls.append(Call("", "scale", (pairs,), result=self.maps[key]))
        return Name(self.maps[key])

    def hues(self, values: np.ndarray, spec: dict[str, Any]) -> list[str]:
        """Convert numbers to colours by the scale of a marker."""
        shared = spec.get("coloraxis")
        of = part(self.layout, str(shared)) if shared else spec
        low, high = ends_of(of, values)
        stops = of.get("colorscale", "Viridis")
        if isinstance(stops, list):
            chosen: Any = scale([(number(a, 0, 0, 1), colour(h)) for a, h in stops_of(stops)])
        else:
            chosen = mpl.colormaps[SCALES.get(str(stops), "viridis")]
        share = np.clip((values.astype(float) - low) / ((high - low) or 1.0), 0, 1)
        rows = np.round(255 * chosen(np.nan_to_num(share))).astype(int)
        return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b, _ in rows.tolist()]

    def marker_hues(self, spec: dict[str, Any], count: int, default: str) -> list[str]:
        """Return the colour of each point."""
        hue_or_values = spec.get("color")
        if isinstance(hue_or_values, (list, dict)):
            values = array(hue_or_values).ravel()[:count]
            if values.dtype.kind == "f":
                hues = self.hues(values, spec)
            else:
                known = {v: colour(v, 1, default) for v in set(values.tolist())}
                hues = [known[value] for value in values.tolist()]
            return hues + [colour(default)] * (count - len(hues))
        return [colour(hue_or_values, 1, default)] * count

    def count_texts(self, texts: int) -> None:
        """Count texts; refuse a figure with too many."""
        self.texts += texts
        if self.texts > MOST_TEXTS:
            raise FigureError(f"more than {MOST_TEXTS:,} texts in one figure")


def seen_hues(rows: np.ndarray, hues: Sequence[str], shares: np.ndarray) -> list[str]:
    """Return the colours of some items, each with its opacity."""
    known: dict[tuple[str, float], str] = {}
    seen = []
    for row in rows.tolist():
        key = hues[row], float(shares[row])
        if key not in known:
            known[key] = colour(*key)
        seen.append(known[key])
    return seen


def ends_of(spec: dict[str, Any], values: np.ndarray, letter: str = "c") -> tuple[float, float]:
    """Return the ends of a scale of colours: the given ones, else those of the values."""
    known = values[np.isfinite(values.astype(float))].astype(float)
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    low = number(spec.get(f"{letter}min", spec.get("cmin")), low)
    high = number(spec.get(f"{letter}max", spec.get("cmax")), high)
    return (low, high) if high > low else (low, low + 1.0)


def stops_of(stops: list[Any]) -> list[tuple[Any, Any]]:
    """Return the stops of a scale of colours."""
    pairs = [tuple(one) for one in stops if isinstance(one, list) and len(one) == 2]
    if not pairs:
        raise FigureError("a scale of colours without stops")
    return pairs[:300]


def first_colour(trace: dict[str, Any]) -> str:
    """Return the colour that stands for a whole trace."""
    given = part(trace, "marker").get("color")
    line = part(trace, "line").get("color")
    return next((one for one in (line, given) if isinstance(one, str)), INK)


def indices(trace: dict[str, Any], count: int) -> list[int]:
    """Return the selected items."""
    chosen = trace.get("selectedpoints")
    found = array(chosen).ravel().tolist() if isinstance(chosen, (list, dict)) else []
    return [int(one) for one in found if one == one and 0 <= one < count]


def dimmed(trace: dict[str, Any], count: int, opacity: float) -> np.ndarray:
    """Return how strongly each item is drawn: those that are not selected are faint."""
    if not isinstance(trace.get("selectedpoints"), (list, dict)):
        return np.full(count, opacity)
    low = number(part(trace, "unselected", "marker").get("opacity"), 0.2 * opacity, 0, 1)
    shares = np.full(count, low)
    high = number(part(trace, "selected", "marker").get("opacity"), opacity, 0, 1)
    shares[indices(trace, count)] = high
    return shares


def errors(error: dict[str, Any], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far intervals reach up and down."""
    up = np.abs(spread(error.get("array"), count, np.nan).astype(float))
    if error.get("arrayminus") is None or error.get("symmetric") is True:
        return up, up
    return up, np.abs(spread(error["arrayminus"], count, np.nan).astype(float))


def places(trace: dict[str, Any], x: Axis, y: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of a trace's items."""
    given = {c: array(trace[c]).ravel() for c in "xy" if trace.get(c) is not None}
    count = min((len(values) for values in given.values()), default=0)
    steps = {c: number(trace.get(f"{c}0"), 0) + number(trace.get(f"d{c}"), 1) * np.arange(count)
             for c in "xy"}  # fmt: skip
    found = [axis.positions(given.get(c, steps[c])[:count]) for c, axis in (("x", x), ("y", y))]
    return found[0], found[1]
