"""Shares of knobs, pairs and noise in the variance of one run; the mean at each level of a knob."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.kit.encodings import OKABE_ITO, axis_title, base_layout, finishing, metric_ticks
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.sweeps import KnobShares, Level
from data.units import counted, format_quantity

PAIR_GREY, NOISE_GREY = "#7A8190", "#B4BAC4"
_ROW_PX: Final = 17
# Rows of a sweep's title and of its metrics' titles.
_HEAD_ROWS: Final = 2.3
_GAP: Final = 0.03
# Pairs below this share say nothing.
_LEAST: Final = 0.001
# Viridis without its brightest end, which white paper swallows.
_SHADES: Final = ("#440154", "#414487", "#2A788E", "#22A884", "#7AD151", "#BDDF26")
_ONE_HUE: Final = "#0072B2"


@finishing
def build_knobs(
    sweeps: Sequence[tuple[str, str, Sequence[KnobShares]]],
    titles: Mapping[str, str],
    targets: Mapping[str, str],
) -> dict[str, Any]:
    """Build the bars: knobs with their intervals, then pairs, the rest and the noise.

    Args:
        sweeps: Key in the URL, words, shares of each metric; at least one.
        titles: Of the metrics.
        targets: What a click on a knob's bar opens, by the knob's noun: its column.
    """
    columns = max(len(shares) for _, _, shares in sweeps)
    data, layout = [], {**base_layout("What the variance of one run is made of", _SUBTITLE)}
    names = {name: _parts(shares) for name, _, shares in sweeps}
    heights = [len(names[key]) + _HEAD_ROWS + 0.6 for key, _, _ in sweeps]
    knobs = dict.fromkeys(
        main.name for _, _, all_ in sweeps for shares in all_ for main in shares.mains
    )
    hues = {name: OKABE_ITO[i % len(OKABE_ITO)] for i, name in enumerate(sorted(knobs))}
    top, total, number = 1.0, sum(heights), 0
    annotations = []
    for (key, words, shares), height in zip(sweeps, heights, strict=True):
        low = max(top - height / total, 0.0)
        inside = [low + 0.6 / total, top - _HEAD_ROWS / total]
        annotations.append(_heading(words, 0.0, inside[1]) | {"yshift": _ROW_PX})
        annotations[-1]["font"]["weight"] = 600
        for column, own in enumerate(shares):
            number += 1
            end = "" if number == 1 else str(number)
            left, right = column / columns, (column + 1) / columns - _GAP
            layout[f"xaxis{end}"] = {
                "domain": [left, right], "anchor": f"y{end}", "range": [0, 100],
                "ticksuffix": " %", "showticksuffix": "last", "nticks": 5, "fixedrange": True,
                "tickfont": {"size": 12}, "showticklabels": low < 1e-6,
            }  # fmt: skip
            layout[f"yaxis{end}"] = {
                "domain": inside, "anchor": f"x{end}", "autorange": "reversed", "type": "category",
                "categoryorder": "array", "categoryarray": names[key], "fixedrange": True,
                "showticklabels": column == 0, "tickfont": {"size": 12},
            }  # fmt: skip
            data.append(_bars(own, key, names[key], end, targets, hues))
            annotations.append(_heading(titles[own.metric], left, inside[1]))
        top = low
    return {
        "data": data,
        "layout": {
            **layout, "annotations": annotations, "bargap": 0.25, "dragmode": False,
            "margin": {"l": 96, "r": 8, "t": 52, "b": 24},
            "height": int(_ROW_PX * total + 76),
            "meta": {"kind": "knobs"},
        },
    }  # fmt: skip


# The last bar, and its name where no setting of a sweep was measured twice.
_NOISE: Final = "noise"
_NO_NOISE: Final = "noise: not known"
_SUBTITLE: Final = (
    "shares with intervals of 95 %; a knob's bar opens its effect; settings weigh the same"
)


def _heading(text: str, x: float, y: float) -> dict[str, Any]:
    return {
        "text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "font": {"size": 12},
        "xanchor": "left", "yanchor": "bottom", "showarrow": False,
    }  # fmt: skip


def _parts(shares: Sequence[KnobShares]) -> list[str]:
    """Return the names of the bars of a sweep, in the order of its first metric."""
    names: dict[str, None] = {}
    for own in shares:
        names |= dict.fromkeys(share.name for share in own.mains)
    for own in shares:
        names |= dict.fromkeys(name for name, share in own.pairs if share >= _LEAST)
    is_known = any(own.is_noise_known for own in shares)
    return [*names, "rest", _NOISE if is_known else _NO_NOISE]


def _bars(
    shares: KnobShares,
    key: str,
    names: Sequence[str],
    end: str,
    targets: Mapping[str, str],
    hues: Mapping[str, str],
) -> dict[str, Any]:
    mains = {share.name: share for share in shares.mains}
    pairs = dict(shares.pairs)
    others = {"rest": shares.rest, _NOISE: shares.noise}
    values, hovers, colours, errors, opens = [], [], [], [[], []], []  # type: ignore[var-annotated]
    for name in names:
        main = mains.get(name)
        share = main.share if main else pairs.get(name, others.get(name, 0.0))
        low = main.low if main and main.low is not None else share
        high = main.high if main and main.high is not None else share
        values.append(100 * share)
        errors[0].append(100 * max(high - share, 0.0))
        errors[1].append(100 * max(share - low, 0.0))
        is_main = main is not None
        colours.append(
            hues[name] if is_main
            else NOISE_GREY if name == _NOISE else PAIR_GREY
        )  # fmt: skip
        opens.append([key, targets.get(name, "")] if is_main else None)
        interval = f" [{100 * low:.2g}, {100 * high:.2g}]" if is_main else ""
        is_noise = name in (_NOISE, _NO_NOISE)
        words = shares.noise_words if is_noise else f"{name}: {100 * share:.2g} %{interval}"
        hovers.append(
            [words,
             f"{counted(shares.settings, 'setting')}, {counted(shares.runs, 'run')}"]
        )  # fmt: skip
    return {
        "type": "bar", "orientation": "h", "x": values, "y": list(names), "hoverinfo": "none",
        "xaxis": f"x{end}", "yaxis": f"y{end}", "showlegend": False,
        "marker": {"color": colours},
        "error_x": {"type": "data", "symmetric": False, "array": errors[0],
                    "arrayminus": errors[1], "thickness": 1, "width": 3},
        "meta": {"kind": "shares", "rows": [[0] for _ in names], "words": hovers, "opens": opens},
    }  # fmt: skip


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
            "yaxis": {**metric_ticks(metric, max(abs(level.mean) for level in levels)),
                      "rangemode": "normal"},
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
            [head, f"{format_quantity(level.mean, metric.unit)} {interval}"
             f"{metric.doubt and f', {metric.doubt}'}",
             f"{counted(level.settings, 'setting')}, {counted(level.runs, 'run')}"]
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
