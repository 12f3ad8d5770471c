"""The competitors' best settings of all cells in two metrics, with each one's frontier."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.encodings import base_layout
from app.modes.figures.map_marks import legend_height_px
from data.analysis.pareto import frontier, pareto_mask
from data.metrics import metric

_WEBGL_ABOVE: Final = 3000
_NAMED_MAX: Final = 40
# Values that lie further apart than this are drawn on a logarithmic scale.
_WIDE: Final = 30.0
# Room for the legend in the frame of 1440 x 900.
_LEGEND_PX: Final = 370.0


@dataclass(frozen=True, slots=True)
class ParetoScene:
    """What the view needs beside the points.

    Attributes:
        against: Column along x.
        prize: Column along y.
        left_out: Points that are not drawn because there are more than a figure may hold.
    """

    against: str
    prize: str
    title: str
    competitors: Competitors
    left_out: int = 0


def build_pareto(points: pl.DataFrame, scene: ParetoScene) -> dict:
    """Build the view; one trace a competitor, then the frontiers.

    Args:
        points: One row a cell and competitor: `who` (index among the competitors), `mean` (of the
            prize), `against`, neither missing; `at` (row among the contenders), which each point
            carries as `customdata`. At least one row.
    """
    webgl = len(points) > _WEBGL_ABOVE
    groups = [
        (int(who[0]), rows)
        for who, rows in points.sort("who", maintain_order=True).group_by(
            "who", maintain_order=True
        )
    ]
    data = [_points(who, rows, scene, webgl) for who, rows in groups]
    data += [line for who, rows in groups for line in _frontier(who, rows, scene, webgl)]
    return {"data": data, "layout": _layout(points, scene)}


def pareto_members(points: pl.DataFrame, against: str, prize: str) -> np.ndarray:
    """Rows of the points that stand on their competitor's frontier: none of them may be left out.

    Args:
        points: As `build_pareto` takes them.
    """
    signs = [-1.0 if metric(name).better == "more" else 1.0 for name in (against, prize)]
    x, y = (points[name].to_numpy() for name in ("against", "mean"))
    who = points["who"].to_numpy()
    found = [np.zeros(0, dtype=int)]
    for number in np.unique(who):
        mine = np.flatnonzero(who == number)
        found.append(mine[pareto_mask(signs[0] * x[mine], signs[1] * y[mine])])
    return np.concatenate(found)


def _points(who: int, rows: pl.DataFrame, scene: ParetoScene, webgl: bool) -> dict:
    return {
        "type": "scattergl" if webgl else "scatter",
        "mode": "markers",
        "name": scene.competitors.labels[who],
        "meta": {"kind": "points"},
        "x": rows["against"].to_numpy().astype(np.float32),
        "y": rows["mean"].to_numpy().astype(np.float32),
        "customdata": rows["at"].to_numpy(),
        "marker": {
            "symbol": scene.competitors.symbols[who],
            "size": 6 if len(rows) > 200 else 8,
            "color": scene.competitors.hues[who],
            "opacity": 0.8,
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0.1}},
        "hoverinfo": "none",
        "showlegend": len(scene.competitors) <= _NAMED_MAX,
    }


def _frontier(who: int, rows: pl.DataFrame, scene: ParetoScene, webgl: bool) -> list[dict]:
    better = [metric(name).better for name in (scene.against, scene.prize)]
    if None in better:
        return []
    x, y = rows["against"].to_numpy(), rows["mean"].to_numpy()
    signs = [1.0 if b == "less" else -1.0 for b in better]
    line_x, line_y = frontier(x, y, pareto_mask(signs[0] * x, signs[1] * y))
    return [
        {
            "type": "scattergl" if webgl else "scatter",
            "mode": "lines",
            "name": f"frontier of {scene.competitors.labels[who]}",
            "meta": {"kind": "frontier"},
            "x": line_x,
            "y": line_y,
            "line": {
                "color": scene.competitors.hues[who],
                "width": 1.4,
                "shape": "hv" if better[0] == "less" else "vh",
            },
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def _layout(points: pl.DataFrame, scene: ParetoScene) -> dict:
    total = len(points) + scene.left_out
    points_words = f"{total:,} point{'' if total == 1 else 's'}"
    subtitle = f"each competitor's best setting in each cell · {points_words}"
    if scene.left_out:
        subtitle = f"best settings · {len(points):,} of {total:,} points drawn; filter to see all"
    below = scene.competitors.has_legend
    bottom = 56 + legend_height_px(scene.competitors.labels, _LEGEND_PX) if below else 56
    return {
        **base_layout(scene.title, subtitle),
        "margin": {"l": 62, "r": 8 if below else 92, "t": 46, "b": bottom},
        "xaxis": _axis(scene.against, points["against"]),
        "yaxis": _axis(scene.prize, points["mean"]),
        "dragmode": "zoom",
        # A zoom belongs to its axes.
        "uirevision": f"{scene.against} {scene.prize}",
        "legend": _legend(scene.competitors),
        "meta": {"kind": "pareto"},
    }


def _legend(competitors: Competitors) -> dict:
    """A line below, or a column at the right where there are many."""
    look = {"font": {"size": 11}, "bgcolor": "rgba(0,0,0,0)"}
    if not competitors.has_legend:
        return {**look, "title": {"text": competitors.knob.menu_title}}
    return {
        **look,
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "xref": "container",
        "yref": "container",
        "y": 0.005,
        "yanchor": "bottom",
    }


def _axis(name: str, values: pl.Series) -> dict:
    measure = metric(name)
    low, top = float(values.min()), float(values.max())  # type: ignore[arg-type]
    is_log = low > 0 and top > _WIDE * low
    scale = " · log scale" if is_log else ""
    return {
        "title": {"text": measure.axis_title + scale, "standoff": 6, "font": {"size": 12}},
        "type": "log" if is_log else "linear",
        # Of a decade 1, 2 and 5 are labelled; of many decades their starts.
        **({"dtick": "D2" if top < 1e4 * low else 1} if is_log else {}),
        "zeroline": False,
        "exponentformat": "SI",
        **_narrow(low, top),
        **({"tickformat": "~s"} if measure.unit != "us" and abs(top) >= 1000 else {}),
    }


def _narrow(low: float, top: float) -> dict:
    """A range around values that are all but equal, which would be drawn on endless digits."""
    middle = (low + top) / 2
    if top - low > 1e-3 * abs(middle):
        return {}
    half = 0.05 * abs(middle) or 1.0
    return {"range": [middle - half, middle + half]}
