"""Loads or stores by kernel subsystem, stacked, a bar for each depth and completion mode."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from app.storage.figures.base import FADED, QUIET, TEXT_COLOR, Scene, error_bars, plain
from app.storage.figures.layouts import axis, layout, unmeasured
from app.storage.views import View
from data.analysis.spreads import mean_spreads
from data.units import format_quantity

# Tol's muted hues, apart from those of the modes; more subsystems repeat them with hatching.
HUES: Final = (
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255",
    "#AA4499",
)  # fmt: skip
_PATTERNS: Final = ("", "/", ".", "x")
TITLES: Final = {"loads_per_s": "Loads, 1/s", "stores_per_s": "Stores, 1/s"}
_CLICKED: Final = ["mode", "device", "rw", "request_bytes", "io_depth"]
_BETWEEN_DEPTHS: Final = 0.6

Bar = tuple[str | None, int]


def build_subsystems(
    counted: pl.DataFrame,
    rows_of: Mapping[Bar, list[int]],
    view: View,
    scene: Scene,
    unknown: str,
) -> dict[str, Any]:
    """Build one figure.

    Args:
        counted: One row a run and subsystem: `run_id`, `mode`, `io_depth`, `subsystem`, and the
            view's metric (NULL where it was not counted).
        rows_of: Configurations of the study by mode and depth.
        unknown: The subsystem of functions whose place is not known; drawn last, in grey.
    """
    there = counted.filter(pl.col(view.y).is_not_null())
    if not len(there):
        return unmeasured(view.name, [view.y], scene.place_words)
    order = scene.modes.values.index
    bars = sorted(set(there.select("mode", "io_depth").rows()), key=lambda b: (b[1], order(b[0])))
    at = _positions(bars)
    names, moved, totals = _ranked(counted, unknown), _moved(there, view.y), _totals(there, view.y)
    data = [
        _trace(name, number, moved[name], totals, bars, at, rows_of, scene, unknown)
        for number, name in enumerate(names)
        if name in moved
    ]
    return {
        "data": [*data, _tops(totals, bars, at, scene)],
        "layout": layout(
            view.title,
            f"mean over runs, total ± {scene.spread_words} · {scene.place_words}",
            scene,
            view.name,
            barmode="stack",
            bargap=0.15,
            hovermode="closest",
            dragmode=False,
            showlegend=True,
            legend={"font": {"size": 10}, "traceorder": "reversed", "itemclick": False,
                    "itemdoubleclick": False, "x": 1.01, "xanchor": "left", "y": 1},
            annotations=_depths(bars, at),
            xaxis=axis(_modes_words(bars, scene), tickvals=at, showgrid=False, tickangle=0,
                       range=[at[0] - _BETWEEN_DEPTHS, at[-1] + _BETWEEN_DEPTHS],
                       ticktext=[scene.glyph(mode) for mode, _ in bars])
            | {"title": {"text": _modes_words(bars, scene), "standoff": 20, "font": {"size": 11}}},
            yaxis=axis(f"{TITLES[view.y]} (less is better)", tickformat="~s", rangemode="tozero"),
        ),
    }  # fmt: skip


def _modes_words(bars: list[Bar], scene: Scene) -> str:
    """The axis' title, which says what its letters stand for."""
    order = scene.modes.values.index
    modes = sorted({mode for mode, _ in bars}, key=order)
    return "IO depth, with " + ", ".join(f"{scene.glyph(m)} {scene.label(m)}" for m in modes)


def _depths(bars: list[Bar], at: list[float]) -> list[dict[str, Any]]:
    """Each depth once, below the middle of its bars."""
    notes = []
    for depth in dict.fromkeys(depth for _, depth in bars):
        mine = [x for x, (_, own) in zip(at, bars, strict=True) if own == depth]
        notes.append(
            {"text": f"{depth:g}", "x": (mine[0] + mine[-1]) / 2, "y": 0, "yref": "paper",
             "yshift": -18, "yanchor": "top", "showarrow": False,
             "font": {"size": 10, "color": TEXT_COLOR}}
        )  # fmt: skip
    return notes


def _positions(bars: list[Bar]) -> list[float]:
    """Where bars stand: one after the other, with room between depths."""
    at, now = [], 0.0
    for number, bar in enumerate(bars):
        if number:
            now += 1 if bar[1] == bars[number - 1][1] else 1 + _BETWEEN_DEPTHS
        at.append(now)
    return at


def _ranked(counted: pl.DataFrame, unknown: str) -> list[str]:
    """Subsystems by all they moved, the largest first, what is not known last.

    Loads and stores rank together, so that a subsystem has one hue and one place in both figures.
    """
    moved = pl.sum_horizontal(list(TITLES)).sum().alias("moved")
    ranked = (
        counted.group_by("subsystem")
        .agg(moved)
        .sort(pl.col("subsystem") == unknown, "moved", "subsystem", descending=[False, True, False])
    )
    return ranked["subsystem"].to_list()


def _moved(there: pl.DataFrame, column: str) -> dict[str, dict[Bar, float]]:
    """By subsystem and bar, what all its runs moved."""
    found: dict[str, dict[Bar, float]] = {}
    sums = there.group_by("subsystem", "mode", "io_depth").agg(pl.col(column).sum())
    for name, mode, depth, value in sums.iter_rows():
        found.setdefault(name, {})[mode, depth] = value
    return found


def _totals(there: pl.DataFrame, column: str) -> dict[Bar, tuple[int, float, float]]:
    """By bar: its runs, mean and sample standard deviation of what a run moved in all."""
    runs = there.group_by("mode", "io_depth", "run_id").agg(pl.col(column).sum()).sort("run_id")
    bars = runs.group_by("mode", "io_depth").agg(
        n=pl.len(), mean=pl.col(column).mean(), sd=pl.col(column).std()
    )
    return {
        (mode, depth): (n, mean, np.nan if sd is None else sd)
        for mode, depth, n, mean, sd in bars.iter_rows()
    }


def _trace(
    name: str,
    number: int,
    moved: Mapping[Bar, float],
    totals: Mapping[Bar, tuple[int, float, float]],
    bars: list[Bar],
    at: list[float],
    rows_of: Mapping[Bar, list[int]],
    scene: Scene,
    unknown: str,
) -> dict[str, Any]:
    """One subsystem in all bars; a run that does not list it did nothing in it."""
    counts = [totals[bar][0] for bar in bars]
    means = [moved.get(bar, 0.0) / n for bar, n in zip(bars, counts, strict=True)]
    words = [
        [
            f"{scene.label(mode)} · depth {depth:g} · {scene.place_words}",
            f"{name}: {format_quantity(mean, '1/s')}, n = {n}",
            "click: select this mode and depth",
        ]
        for (mode, depth), mean, n in zip(bars, means, counts, strict=True)
    ]
    hue = QUIET if name == unknown else HUES[number % len(HUES)]
    pattern = _PATTERNS[number // len(HUES) % len(_PATTERNS)]
    return {
        "type": "bar",
        "name": name,
        "x": at,
        "y": plain(means),
        "marker": {"color": hue, "pattern": {"shape": pattern}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": FADED}},
        "hoverinfo": "none",
        "meta": {
            "kind": "bars",
            "rows": [rows_of.get(bar, []) for bar in bars],
            "knobs": _CLICKED,
            "words": words,
        },
    }


def _tops(
    totals: Mapping[Bar, tuple[int, float, float]], bars: list[Bar], at: list[float], scene: Scene
) -> dict[str, Any]:
    """The tops of the stacks, with error bars; no mark of their own."""
    n, mean, sd = (np.array(column) for column in zip(*(totals[bar] for bar in bars), strict=True))
    spreads = mean_spreads(n, sd, scene.is_interval)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": at,
        "y": plain(mean),
        "marker": {"size": 1, "color": TEXT_COLOR},
        "error_y": error_bars(spreads, TEXT_COLOR, 4),
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"kind": "totals"},
    }
