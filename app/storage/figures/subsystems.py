"""Loads and stores by kernel subsystem: a stacked bar for each depth and completion mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.encodings import finishing, scatter_trace, styled
from app.storage.figures.base import FADED, QUIET, TEXT_COLOR, Scene, error_bars, plain
from app.storage.figures.layouts import axis, layout, unmeasured
from app.storage.state import View
from data.analysis.spreads import mean_spreads
from data.analysis.verdicts import LOADS_STORES
from data.units import format_quantity

# Tol's muted hues, which differ from those of the modes; further subsystems repeat them hatched.
HUES: Final = (
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255",
    "#AA4499",
)  # fmt: skip
_PATTERNS: Final = ("", "/", ".", "x")
TITLES: Final = {
    "loads_per_s": "Loads, 1/s",
    "stores_per_s": "Stores, 1/s",
    LOADS_STORES: "Loads and stores, 1/s",
}
_CLICKED: Final = ["mode", "device", "rw", "request_bytes", "io_depth"]
_BETWEEN_DEPTHS: Final = 0.6
_STAR: Final = "\N{WHITE STAR}"

Bar = tuple[str | None, int]


@dataclass(frozen=True, slots=True)
class PublishedMove:
    """The published value of one subsystem, for a bar beside the measured one.

    Attributes:
        words: Lines of its hover.
    """

    mode: str
    io_depth: int
    subsystem: str
    per_s: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stacks:
    """Positions of the bars along x: measured ones, and published ones."""

    measured: dict[Bar, float]
    published: dict[Bar, float]

    @property
    def all(self) -> list[tuple[float, Bar, bool]]:
        """Position, bar, and whether it is published; from left to right."""
        found = [(x, bar, False) for bar, x in self.measured.items()]
        return sorted([*found, *((x, bar, True) for bar, x in self.published.items())])


@dataclass(frozen=True, slots=True)
class _Means:
    """Mean loads and stores of one subsystem by bar: of all its functions, and of its parts."""

    whole: dict[Bar, float] = field(default_factory=dict)
    parts: dict[str, dict[Bar, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Total:
    """Loads and stores of all runs of a bar: n, mean, standard deviation (NaN for one run)."""

    n: int
    mean: float
    sd: float


@finishing
def build_subsystems(
    counted: pl.DataFrame,
    rows_of: Mapping[Bar, list[int]],
    view: View,
    scene: Scene,
    unknown: str,
    first: Sequence[str] = (),
    published: Sequence[PublishedMove] = (),
    shown: str = "",
) -> dict[str, Any]:
    """Build one figure.

    Args:
        counted: One row per run, subsystem and part: `run_id`, `mode`, `io_depth`, `subsystem`,
            `part` (NULL without one), and the view's metric (NULL if not counted).
        rows_of: Row numbers of the configurations, by mode and depth.
        unknown: Subsystem of functions whose source is not known; drawn last, in grey.
        first: Subsystems with the first positions and hues, in this order.
        published: Published values of modes of the scene; drawn only beside measured ones.
        shown: Which of the filtered runs these are, in words; may be empty.
    """
    there = counted.filter(pl.col(view.y).is_not_null())
    if not len(there):
        return unmeasured(view, [view.y], scene.place_words)
    stacks, totals = _stacks(there, published, scene), _totals(there, view.y)
    means = _means(there, view.y, totals)
    data = []
    for number, name in enumerate(_ranked(counted, view.y, unknown, first)):
        look = {
            "color": QUIET if name == unknown else HUES[number % len(HUES)],
            "pattern": {"shape": _PATTERNS[number // len(HUES) % len(_PATTERNS)]},
        }
        if name in means:
            words = _words(name, means[name], totals, stacks, scene)
            data.append(_trace(name, means[name], look, stacks, rows_of, words))
        said = [one for one in published if one.subsystem == name]
        data += [_published_trace(look, said, stacks)] if said else []
    return {
        "data": [*data, _tops(totals, stacks, scene)],
        "layout": layout(
            view,
            f"mean over runs, total ± {scene.spread_words} · {scene.place_words}"
            + (f" · {shown}" if shown else ""),
            scene,
            barmode="stack",
            bargap=0.15,
            hovermode="closest",
            dragmode=False,
            legend={"itemclick": False},
            annotations=_depths(stacks),
            xaxis=_x_axis(stacks, scene),
            yaxis=axis(f"{TITLES[view.y]} (less is better)", tickformat="~s", rangemode="tozero"),
        ),
    }  # fmt: skip


def _stacks(there: pl.DataFrame, published: Sequence[PublishedMove], scene: Scene) -> _Stacks:
    """Place bars by depth, then mode, with gaps between depths; published ones after measured."""
    order = scene.modes.values.index
    bars = {(bar, False) for bar in there.select("mode", "io_depth").rows()}
    bars |= {((move.mode, move.io_depth), True) for move in published}
    measured: dict[Bar, float] = {}
    of_papers: dict[Bar, float] = {}
    at, last = -1.0, None
    for bar, is_published in sorted(
        bars, key=lambda move: (move[0][1], order(move[0][0]), move[1])
    ):
        at += 1 if last in (None, bar[1]) else 1 + _BETWEEN_DEPTHS
        last = bar[1]
        (of_papers if is_published else measured)[bar] = at
    return _Stacks(measured, of_papers)


def _x_axis(stacks: _Stacks, scene: Scene) -> dict[str, Any]:
    """Build an axis with a marker below each bar, and a title that explains the markers."""
    at = [x for x, _, _ in stacks.all]
    ticks = [
        styled(f"color:{scene.hue(mode)}", _STAR) if own else scene.glyph(mode)
        for _, (mode, _), own in stacks.all
    ]
    modes = sorted({mode for _, (mode, _), _ in stacks.all}, key=scene.modes.values.index)
    words = [f"{scene.glyph(mode)} {scene.label(mode)}" for mode in modes]
    words += [f"{_STAR} published"] if stacks.published else []
    title = {"text": f"IO depth, with {', '.join(words)}", "standoff": 20, "font": {"size": 12}}
    ends = [at[0] - _BETWEEN_DEPTHS, at[-1] + _BETWEEN_DEPTHS]
    found = axis("", tickvals=at, ticktext=ticks, showgrid=False, tickangle=0, range=ends)
    return found | {"title": title}


def _depths(stacks: _Stacks) -> list[dict[str, Any]]:
    """Write each depth once, below the middle of its bars."""
    notes = []
    for depth in dict.fromkeys(depth for _, (_, depth), _ in stacks.all):
        mine = [x for x, (_, own), _ in stacks.all if own == depth]
        notes.append(
            {"text": f"{depth:g}", "x": (mine[0] + mine[-1]) / 2, "y": 0, "yref": "paper",
             "yshift": -18, "yanchor": "top", "showarrow": False,
             "font": {"size": 12, "color": TEXT_COLOR}}
        )  # fmt: skip
    return notes


def _ranked(counted: pl.DataFrame, column: str, unknown: str, first: Sequence[str]) -> list[str]:
    """Sort subsystems: `first`, then by loads plus stores, then `unknown`.

    The sum gives a subsystem the same hue and position in the figures of loads and of stores.
    """
    columns = [name for name in TITLES if name in counted.columns] or [column]
    ranked = (
        counted.filter(~pl.col("subsystem").is_in(list(first)))
        .group_by("subsystem")
        .agg(moved=pl.sum_horizontal(columns).sum())
        .sort(pl.col("subsystem") == unknown, "moved", "subsystem", descending=[False, True, False])
    )
    return [*first, *ranked["subsystem"]]


def _totals(there: pl.DataFrame, column: str) -> dict[Bar, _Total]:
    runs = there.group_by("mode", "io_depth", "run_id").agg(pl.col(column).sum()).sort("run_id")
    bars = runs.group_by("mode", "io_depth").agg(
        n=pl.len(), mean=pl.col(column).mean(), sd=pl.col(column).std()
    )
    return {
        (mode, depth): _Total(n, mean, np.nan if sd is None else sd)
        for mode, depth, n, mean, sd in bars.iter_rows()
    }


def _means(there: pl.DataFrame, column: str, totals: Mapping[Bar, _Total]) -> dict[str, _Means]:
    """Return the means over all runs of a bar; a run without the rows counts as 0."""
    sums = there.group_by("subsystem", "part", "mode", "io_depth").agg(pl.col(column).sum())
    by_name: dict[str, _Means] = {}
    for name, part, mode, depth, value in sums.sort("part", "mode", "io_depth").iter_rows():
        bar, means = (mode, depth), by_name.setdefault(name, _Means())
        mean = value / totals[bar].n
        means.whole[bar] = means.whole.get(bar, 0.0) + mean
        if part is not None:
            means.parts.setdefault(part, {})[bar] = mean
    return by_name


def _words(
    name: str,
    means: _Means,
    totals: Mapping[Bar, _Total],
    stacks: _Stacks,
    scene: Scene,
) -> list[list[str]]:
    """Return the hovers of one subsystem in all bars, with the parts that the papers list."""
    return [
        [
            f"{scene.label(bar[0])} · depth {bar[1]:g} · {scene.place_words}",
            f"{name}: {_rate(means.whole.get(bar, 0.0))}, n = {totals[bar].n}",
            *[f"{part}: {_rate(of.get(bar, 0.0))}" for part, of in means.parts.items()],
            "click: select this mode and depth",
        ]
        for bar in stacks.measured
    ]


def _rate(per_s: float) -> str:
    return format_quantity(per_s, "1/s")


def _trace(
    name: str,
    means: _Means,
    look: dict[str, Any],
    stacks: _Stacks,
    rows_of: Mapping[Bar, list[int]],
    hovers: list[list[str]],
) -> dict[str, Any]:
    """Build one subsystem in all measured bars."""
    return {
        "type": "bar",
        "name": name,
        "x": list(stacks.measured.values()),
        "y": plain(means.whole.get(bar, 0.0) for bar in stacks.measured),
        "marker": look,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": FADED}},
        "hoverinfo": "none",
        "showlegend": True,
        "meta": {
            "kind": "bars",
            "rows": [rows_of.get(bar, []) for bar in stacks.measured],
            "knobs": _CLICKED,
            "words": hovers,
        },
    }


def _published_trace(
    look: dict[str, Any], moves: Sequence[PublishedMove], stacks: _Stacks
) -> dict[str, Any]:
    """Build one subsystem in all published bars: outlined, and never faded by a selection."""
    return {
        "type": "bar",
        "x": [stacks.published[move.mode, move.io_depth] for move in moves],
        "y": plain(move.per_s for move in moves),
        "marker": {**look, "line": {"color": TEXT_COLOR, "width": 1.2}},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "none",
        "showlegend": False,
        "meta": {"kind": "published", "words": [list(move.words) for move in moves]},
    }


def _tops(totals: Mapping[Bar, _Total], stacks: _Stacks, scene: Scene) -> dict[str, Any]:
    """Build the error bars at the tops of the measured stacks."""
    mine = [totals[bar] for bar in stacks.measured]
    n, sd = np.array([one.n for one in mine]), np.array([one.sd for one in mine])
    x, y = list(stacks.measured.values()), plain(one.mean for one in mine)
    bars = error_bars(mean_spreads(n, sd, scene.is_interval), TEXT_COLOR, 4)
    # They are of all runs, so any selection fades them.
    meta = {"kind": "totals", "behind": []}
    marker = {"size": 1, "color": TEXT_COLOR}
    return scatter_trace("totals", x, y, marker=marker, error_y=bars, meta=meta)
