"""The competitors' best settings of all cells in two metrics, with a frontier for each."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.encodings import base_layout, finishing, left_px, metric_ticks, scatter_trace
from data.analysis.pareto import frontier, pareto_mask
from data.metrics import Metric

_WEBGL_ABOVE: Final = 3000
_NAMED_MAX: Final = 40
# An axis whose values span a larger ratio than this is logarithmic.
_WIDE: Final = 30.0


@dataclass(frozen=True, slots=True)
class ParetoScene:
    """Input of the view besides the points.

    Attributes:
        x: Metric along x.
        y: Metric along y, the compared one.
        knobs: The columns by which a click selects a cell.
        has_best: Whether a point is a best setting; else it is the mean of all runs in the cell.
        total: Number of points of all panels, also of those that are not drawn because a figure
            may not hold them all; 0 for those that are drawn.
        kinds: What the means along x and y are, such as `geometric`; empty for single runs.
    """

    x: Metric
    y: Metric
    title: str
    competitors: Competitors
    knobs: tuple[str, ...] = ("", "")
    has_best: bool = True
    total: int = 0
    kinds: tuple[str, str] = ("", "")

    def subtitle(self, drawn: int) -> str:
        """Return what a point is, and how many there are."""
        total = max(self.total, drawn)
        if drawn < total:
            return f"best settings · {drawn:,} of {total:,} points drawn; filter to see all"
        what = "best setting" if self.has_best else "mean over all runs"
        count = f"{total:,} point{'' if total == 1 else 's'}"
        return f"each competitor's {what} in each cell · {count}"


@finishing
def build_pareto(
    points: pl.DataFrame, scene: ParetoScene, every: pl.DataFrame | None = None
) -> dict:
    """Build the view: one trace per competitor, then the frontiers.

    Args:
        points: One row per cell and competitor: `who` (index among the competitors), `x` and `y`,
            neither missing; `cell`; `at` (row among the contenders). At least one row.
        every: The points of all panels that share the axes.
    """
    webgl = len(points) > _WEBGL_ABOVE
    sorted_points = points.sort("who", maintain_order=True)
    groups = [(rows["who"][0], rows) for rows in sorted_points.partition_by("who")]
    data = [_points(who, rows, scene, webgl) for who, rows in groups]
    if scene.x.better and scene.y.better:
        data += [_frontier(who, rows, scene, webgl) for who, rows in groups]
    return {"data": data, "layout": _layout(points, scene, points if every is None else every)}


def pareto_members(points: pl.DataFrame, x: Metric, y: Metric) -> np.ndarray:
    """Return the rows of the points on their competitor's frontier, which are always drawn.

    Args:
        points: As for `build_pareto`.
    """
    who = points["who"].to_numpy()
    members = [np.zeros(0, dtype=int)]
    for number in np.unique(who):
        mine = np.flatnonzero(who == number)
        members.append(mine[_mask(points[mine], x, y)])
    return np.concatenate(members)


def _mask(points: pl.DataFrame, x: Metric, y: Metric) -> np.ndarray:
    signs = [-1.0 if measure.better == "more" else 1.0 for measure in (x, y)]
    return pareto_mask(signs[0] * points["x"].to_numpy(), signs[1] * points["y"].to_numpy())


def _points(who: int, rows: pl.DataFrame, scene: ParetoScene, webgl: bool) -> dict:
    competitors = scene.competitors
    named = dict(enumerate(competitors.labels)) if len(competitors) <= _NAMED_MAX else {}
    if competitors.has_legend:
        named = {those[0]: label for label, _, _, those in competitors.legend}
    marker = {
        "symbol": competitors.symbols[who],
        "size": 6 if len(rows) > 200 else 8,
        "color": competitors.hues[who],
        "opacity": 0.8,
        # Without an outline the ends of a scale of numbers are lost on the paper of one theme.
        "line": {"width": 0.5, "color": "page"},
    }
    return scatter_trace(
        "points",
        rows["x"].to_numpy().astype(np.float32),
        rows["y"].to_numpy().astype(np.float32),
        type="scattergl" if webgl else "scatter",
        name=named.get(who, competitors.labels[who]),
        meta={
            "kind": "points",
            "rows": rows["cell"].to_numpy(),
            "at": rows["at"].to_numpy(),
            "knobs": list(scene.knobs),
        },
        marker=marker,
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.1}},
        hoverinfo="none",
        showlegend=who in named,
    )


def _frontier(who: int, rows: pl.DataFrame, scene: ParetoScene, webgl: bool) -> dict:
    mask = _mask(rows, scene.x, scene.y)
    x, y = frontier(rows["x"].to_numpy(), rows["y"].to_numpy(), mask)
    shape = "hv" if scene.x.better == "less" else "vh"
    line = {"color": scene.competitors.hues[who], "width": 1.4, "shape": shape}
    name = f"frontier of {scene.competitors.labels[who]}"
    kind = "scattergl" if webgl else "scatter"
    return scatter_trace("frontier", x, y, "lines", type=kind, name=name, line=line)


def _layout(points: pl.DataFrame, scene: ParetoScene, every: pl.DataFrame) -> dict:
    many = not scene.competitors.has_legend
    title = {"title": {"text": scene.competitors.knob.menu_title}} if many else {}
    y = _axis(scene.y, every["y"], scene.kinds[1])
    low, high = y.get("range", (every["y"].min(), every["y"].max()))
    return {
        **base_layout(scene.title, scene.subtitle(len(points))),
        "margin": {"l": left_px(low, high, y["type"] == "log"), "r": 8, "t": 46, "b": 50},
        "xaxis": _axis(scene.x, every["x"], scene.kinds[0]),
        "yaxis": y,
        "dragmode": "zoom",
        # A zoom is kept only while the axes stay the same.
        "uirevision": f"{scene.x.name} {scene.y.name}",
        "showlegend": False,
        "legend": title,
        "meta": {"kind": "pareto"},
    }


def _axis(measure: Metric, values: pl.Series, kind: str) -> dict:
    low, top = float(values.min()), float(values.max())  # type: ignore[arg-type]
    is_log = low > 0 and top > _WIDE * low
    scale = f"{' · log scale' if is_log else ''}{f' · {kind} means' if kind else ''}"
    # A range around values that are nearly equal: their ticks would have many digits.
    middle, narrow = (low + top) / 2, {}
    if top - low <= 1e-3 * abs(middle):
        half = 0.05 * abs(middle) or 1.0
        narrow = {"range": [middle - half, middle + half]}
    return {
        "type": "log" if is_log else "linear",
        # Ticks at 1, 2 and 5 of each decade; over many decades only at their starts.
        **({"dtick": "D2" if top < 1e4 * low else 1} if is_log else {}),
        "zeroline": False,
        **narrow,
        **metric_ticks(measure, abs(top), is_log, scale),
    }
