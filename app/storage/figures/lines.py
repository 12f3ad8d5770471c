"""A metric by IO depth, or against another metric: one line per completion mode."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.kit.figure_text import finishing
from app.storage.figures.base import (
    TEXT_COLOR,
    Scene,
    Star,
    error_bars,
    points,
    stars,
    words_of,
)
from app.storage.figures.layouts import (
    axis,
    index_axis,
    layout,
    named_once,
    tick_format,
    unmeasured,
)
from app.storage.state import DEPTH, knob_columns
from app.storage.view import View
from data.catalogue import SHIPPED, Catalogue

# Knobs that do not split a mode into several lines; threads do if a depth has several.
_JOINED: Final = ("mode", DEPTH, "threads", "work")
# Distance of a published value from the measured one, in steps of the axis.
_ASIDE: Final = 0.12
# Room of a label, shares of the axes.
_LABEL_ROOM: Final = np.array([0.05, 0.07])
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")
# Later lines are thinner with smaller markers, so that lines with equal values stay visible.
_MARKER_PX: Final = (9.5, 7.5, 5.5)
_LINE_PX: Final = (2.6, 1.8, 1.2)


@finishing
def build_lines(
    rows: pl.DataFrame, view: View, scene: Scene, published: Sequence[Star] = ()
) -> dict[str, Any]:
    """Build one figure of lines.

    Args:
        rows: Configurations of the study at `scene.place`.
        published: Published values by depth.
    """
    columns = [view.y] if view.x == DEPTH else [view.x, view.y]
    # More jobs do more work where each job does the same: a line over depths joins them.
    apart = tuple(name for name in knob_columns(scene.catalogue) if name not in _JOINED)
    drawn = rows.filter(
        pl.all_horizontal(pl.col(name).is_not_null() for name in (*columns, DEPTH))
    ).sort("mode", *apart, DEPTH, "threads", "row", nulls_last=True)
    if not len(drawn):
        missing = [name for name in columns if not rows[name].count()]
        return unmeasured(view, missing or columns, scene.place_words)
    depths = drawn[DEPTH].unique().sort().to_list()
    groups = sorted(
        drawn.partition_by("mode", maintain_order=True),
        key=lambda group: scene.modes.values.index(group["mode"][0]),
    )
    traces = [
        _line(line, view, columns, depths, scene, dash)
        for group in groups
        for line, dash in _lines(group, apart)
    ]
    if view.x != DEPTH:
        thin_labels(traces)
        texts = traces[-1]["text"]
        texts[-1] = f"depth {texts[-1]}"
        # The last point may be the rightmost of all, where the longer words would be cut.
        traces[-1]["textposition"] = [*["top right"] * (len(texts) - 1), "top left"]
    there = [star for star in published if star.at in depths]
    beside = [depths.index(star.at) - _ASIDE for star in there]
    dashes = _apart_words(drawn, apart, scene.catalogue)
    if view.x == DEPTH:
        x_axis = index_axis([f"{d:g}" for d in depths], SHIPPED.metric(DEPTH).axis_title)
    else:
        title = SHIPPED.metric(view.x).axis_title
        x_axis = axis(title, rangemode="tozero", tickformat=tick_format(view.x))
    # Axes start at 0, except for power, which is never 0.
    range_mode = "normal" if view.y == "power_w" else "tozero"
    return {
        "data": named_once([*traces, *stars(there, beside, scene)]),
        "layout": layout(
            view,
            f"mean ± {scene.spread_words} · {scene.place_words}"
            + (f" · {dashes}" if dashes else ""),
            scene,
            xaxis=x_axis,
            yaxis=axis(
                SHIPPED.metric(view.y).axis_title,
                rangemode=range_mode,
                tickformat=tick_format(view.y),
            ),
        ),
    }


def _lines(group: pl.DataFrame, apart: Sequence[str]) -> list[tuple[pl.DataFrame, str]]:
    """Split one mode into lines of configurations that differ only in depth, each with a dash."""
    keys = [*apart] + (["threads"] if _threads_apart(group, apart) else [])
    parts = group.partition_by(keys, maintain_order=True)
    return [(part, _DASHES[i % len(_DASHES)]) for i, part in enumerate(parts)]


def _threads_apart(group: pl.DataFrame, apart: Sequence[str]) -> bool:
    """Return whether a depth was measured with several numbers of threads."""
    return group[[*apart, DEPTH]].is_duplicated().any()


def _apart_words(drawn: pl.DataFrame, apart: Sequence[str], catalogue: Catalogue) -> str:
    """Return the columns that distinguish lines of one mode: `dashes: dataset, threads`."""
    groups = drawn.partition_by("mode")
    names = [name for name in apart if any(group[name].n_unique() > 1 for group in groups)]
    names += ["threads"] if any(_threads_apart(group, apart) for group in groups) else []
    return f"dashes: {', '.join(catalogue.metric(name).short for name in names)}" if names else ""


def thin_labels(traces: Sequence[dict[str, Any]]) -> None:
    """Leave out the depths that would cover another's, but for that of the last point."""
    places = [np.column_stack([np.asarray(trace[k], float) for k in "xy"]) for trace in traces]
    whole = np.concatenate(places)
    span = np.ptp(whole, axis=0)
    room = _LABEL_ROOM * np.where(span > 0, span, 1)
    shown = [places[-1][-1]]
    for trace, own in zip(traces, places, strict=True):
        for at, place in enumerate(own[: len(own) - (trace is traces[-1])]):
            if any((abs(place - other) < room).all() for other in shown):
                trace["text"][at] = ""
            else:
                shown.append(place)


def _line(
    line: pl.DataFrame, view: View, columns: list[str], depths: list[int], scene: Scene, dash: str
) -> dict[str, Any]:
    mode = line["mode"][0]
    hue, rank = scene.hue(mode), min(scene.rank(mode), len(_LINE_PX) - 1)
    by_depth = view.x == DEPTH
    # No axis shows the depth of a point.
    more: dict[str, Any] = (
        {}
        if by_depth
        else {
            "text": [f"{depth:g}" for depth in line[DEPTH]],
            "textposition": "top right",
            "textfont": {"size": 12, "color": TEXT_COLOR},
        }
    )
    for letter, column in zip("yx", reversed(columns), strict=False):
        more[f"error_{letter}"] = error_bars(floats(line[f"{column}_spread"]), hue)
    return points(
        line,
        [depths.index(d) for d in line[DEPTH]] if by_depth else line[view.x],
        line[view.y],
        words_of(line, columns, scene),
        scene,
        {"x": view.x, "y": view.y, "knobs": scene.place},
        _MARKER_PX[rank],
        mode="lines+markers" if by_depth else "lines+markers+text",
        line={"color": hue, "width": _LINE_PX[rank], "dash": dash},
        **more,
    )
