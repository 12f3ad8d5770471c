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
    levels: Sequence[Level], knob: Knob, across: Knob | None, metric: Metric, sweep_words: str
) -> dict[str, Any]:
    """Build one line, or one for each level of another knob.

    Args:
        levels: At least one.
        sweep_words: The sweep.
    """
    names = list(dict.fromkeys(knob.label(level.level) for level in sorted(levels, key=_order)))
    others = sorted({level.other for level in levels}, key=lambda value: (value is None, value))
    data = []
    for i, other in enumerate(others):
        own = sorted((level for level in levels if level.other == other), key=_order)
        shade = _SHADES[i * (len(_SHADES) - 1) // max(len(others) - 1, 1)]
        hue = _ONE_HUE if across is None else shade
        data.append(_line(own, knob, across, metric, other, hue))
    by = "" if across is None else f", by {across.noun}"
    subtitle = f"{sweep_words}, other knobs averaged{by}; intervals of 95 %"
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


def _order(level: Level) -> tuple[bool, Any]:
    return level.level is None, level.level


def _line(
    own: Sequence[Level], knob: Knob, across: Knob | None, metric: Metric, other: Any, hue: str
) -> dict[str, Any]:
    hovers = []
    for level in own:
        ends = [format_quantity(value, metric.unit) for value in (level.low, level.high)]
        interval = "no interval" if level.low is None else f"[{ends[0]}, {ends[1]}]"
        head = knob.words(level.level) + ("" if across is None else f", {across.words(other)}")
        hovers.append(
            [head, f"{format_quantity(level.mean, metric.unit)} {interval}",
             f"{level.settings:,} settings, {level.runs:,} runs"]
        )  # fmt: skip
    return {
        "type": "scatter", "mode": "lines+markers", "hoverinfo": "none",
        "x": [knob.label(level.level) for level in own], "y": [level.mean for level in own],
        "name": "" if across is None else across.label(other),
        "line": {"color": hue, "width": 1.5}, "marker": {"color": hue, "size": 6},
        "error_y": {
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [0.0 if level.high is None else level.high - level.mean for level in own],
            "arrayminus": [0.0 if level.low is None else level.mean - level.low for level in own],
        },
        "meta": {"kind": "levels", "rows": [[0] for _ in own], "words": hovers},
    }  # fmt: skip


def across_choices(knobs: Sequence[str], knob: str, catalogue: Catalogue) -> dict[str, str]:
    """Return the entries of the menu of the knob that colours the lines."""
    others = [name for name in knobs if name != knob]
    return {"": "one line", **{n: f"by {catalogue.knob_of_column[n].noun}" for n in others}}
