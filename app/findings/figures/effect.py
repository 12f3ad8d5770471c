"""The effect of one knob: the mean of a metric at each level, with its interval."""

from collections.abc import Sequence
from typing import Any, Final

from app.kit.encodings import axis_title, base_layout
from app.kit.figure_text import finishing
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.sweeps import Level
from data.units import format_quantity

# Viridis without its brightest end, which white paper swallows.
_SHADES: Final = ("#440154", "#414487", "#2A788E", "#22A884", "#7AD151", "#BDDF26")
_ONE_HUE: Final = "#0072B2"


@finishing
def build_effect(
    levels: Sequence[Level], knob: Knob, across: Knob | None, metric: Metric, words: str
) -> dict[str, Any]:
    """Build one line, or one for each level of another knob.

    Args:
        levels: At least one.
        words: The sweep.
    """
    names = list(dict.fromkeys(knob.label(one.level) for one in sorted(levels, key=_order)))
    others = sorted({one.other for one in levels}, key=lambda value: (value is None, value))
    data = []
    for i, other in enumerate(others):
        own = sorted((one for one in levels if one.other == other), key=_order)
        shade = _SHADES[i * (len(_SHADES) - 1) // max(len(others) - 1, 1)]
        hue = _ONE_HUE if across is None else shade
        data.append(_line(own, knob, across, metric, other, hue))
    by = "" if across is None else f", by {across.noun}"
    subtitle = f"{words}, other knobs averaged{by}; intervals of 95 %"
    return {
        "data": data,
        "layout": {
            **base_layout(f"{metric.title} by {knob.noun}", subtitle),
            "margin": {"l": 64, "r": 12, "t": 52, "b": 40},
            "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": names,
                      "title": axis_title(knob.axis_title), "fixedrange": True},
            "yaxis": {"title": axis_title(metric.axis_title), "rangemode": "normal"},
            "showlegend": across is not None, "dragmode": False,
            "meta": {"kind": "effect"},
        },
    }  # fmt: skip


def _order(one: Level) -> tuple[bool, Any]:
    return one.level is None, one.level


def _line(
    own: Sequence[Level], knob: Knob, across: Knob | None, metric: Metric, other: Any, hue: str
) -> dict[str, Any]:
    words = []
    for one in own:
        ends = [format_quantity(value, metric.unit) for value in (one.low, one.high)]
        interval = "no interval" if one.low is None else f"[{ends[0]}, {ends[1]}]"
        head = knob.words(one.level) + ("" if across is None else f", {across.words(other)}")
        words.append(
            [head, f"{format_quantity(one.mean, metric.unit)} {interval}",
             f"{one.settings:,} settings, {one.runs:,} runs"]
        )  # fmt: skip
    return {
        "type": "scatter", "mode": "lines+markers", "hoverinfo": "none",
        "x": [knob.label(one.level) for one in own], "y": [one.mean for one in own],
        "name": "" if across is None else across.label(other),
        "line": {"color": hue, "width": 1.5}, "marker": {"color": hue, "size": 6},
        "error_y": {
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [0.0 if one.high is None else one.high - one.mean for one in own],
            "arrayminus": [0.0 if one.low is None else one.mean - one.low for one in own],
        },
        "meta": {"kind": "levels", "rows": [[0] for _ in own], "words": words},
    }  # fmt: skip


def across_choices(knobs: Sequence[str], knob: str, catalogue: Catalogue) -> dict[str, str]:
    """Return the entries of the menu of the knob that colours the lines."""
    others = [name for name in knobs if name != knob]
    return {"": "one line", **{n: f"by {catalogue.knob_of_column[n].noun}" for n in others}}
