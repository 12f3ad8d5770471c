"""The evidence of one cell: each replicate as a point, means with confidence intervals."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import Competitors
from app.kit.encodings import (
    BREAK,
    base_layout,
    finishing,
    left_px,
    metric_ticks,
    scatter_trace,
    short_labels,
)
from data.metrics import Metric
from data.units import digits_between, format_quantity

_JITTER: Final = 0.16
# Names with more signs in a row are written upwards, each with so many at most.
_ROW_SIGNS: Final = 30
_MOST_SIGNS: Final = 12
_SIGN_PX: Final = 7
_GOLDEN: Final = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class EvidenceScene:
    """Input of the figure besides the runs.

    Attributes:
        metric: Along y.
        order: Competitors of the cell as indices, best first: the columns of the figure.
    """

    metric: Metric
    title: str
    subtitle: str
    order: tuple[int, ...]
    competitors: Competitors


@finishing
def build_evidence(runs: pl.DataFrame, means: pl.DataFrame, scene: EvidenceScene) -> dict:
    """Build the figure: replicates of the compared settings, those of other settings, the means.

    Args:
        runs: One row per run of the cell: `who` (index among the competitors), `value`, `run_id`,
            `is_best` (whether it belongs to the compared setting).
        means: One row per competitor: `who`, `mean`, `low`, `high` (both NaN for one run).
    """
    columns = {who: place for place, who in enumerate(scene.order)}
    data = [
        _replicates(part, columns, scene, is_best)
        for is_best in (False, True)
        if len(part := runs.filter(pl.col("is_best") == is_best))
    ]
    values = runs["value"].to_numpy()
    ends = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    layout = _layout(scene, ends)
    return {"data": [*data, _means(means, columns, scene)], "layout": layout}


def _replicates(
    runs: pl.DataFrame, columns: dict[int, int], scene: EvidenceScene, is_best: bool
) -> dict:
    column_x = np.array([columns[who] for who in runs["who"]], dtype=float)
    spread = _JITTER * (((np.arange(len(runs)) + 1) * _GOLDEN) % 1.0 - 0.5)
    hues, symbols = scene.competitors.hues, scene.competitors.symbols
    who = runs["who"].to_list()
    name = "replicate" if is_best else "replicate of another setting"
    hovers = [
        [format_quantity(value, scene.metric.unit), name, run_id]
        for value, run_id in runs.select("value", "run_id").iter_rows()
    ]
    marker = {
        "symbol": [symbols[i] + ("" if is_best else "-open") for i in who],
        "size": 8 if is_best else 5,
        "color": [hues[i] for i in who],
        "opacity": 0.85 if is_best else 0.45,
    }
    return scatter_trace(
        "replicates",
        column_x - (0.12 if is_best else 0.34) + spread,
        runs["value"].to_numpy(),
        name=name,
        meta={"kind": "replicates", "is_best": is_best, "words": hovers},
        marker=marker,
        hoverinfo="none",
    )


def _means(means: pl.DataFrame, columns: dict[int, int], scene: EvidenceScene) -> dict:
    hues = [scene.competitors.hues[i] for i in means["who"]]
    x = np.array([columns[who] for who in means["who"]]) + 0.14
    mean = means["mean"].to_numpy()
    above, below = (
        np.nan_to_num(side * (means[name].to_numpy() - mean))
        for name, side in (("high", 1), ("low", -1))
    )
    bars = {
        "type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 2,
        "width": 7, "color": "#8C8C8C",
    }  # fmt: skip
    marker = {"symbol": "line-ew", "size": 20, "line": {"width": 3, "color": hues}}
    hovers = [
        _mean_words(row["mean"], row["low"], row["high"], scene.metric.unit)
        for row in means.iter_rows(named=True)
    ]
    own: dict[str, Any] = {
        "name": "mean", "error_y": bars, "marker": marker, "hoverinfo": "none",
        "meta": {"kind": "means", "words": hovers},
    }  # fmt: skip
    return scatter_trace("means", x, mean, **own)


def _mean_words(mean: float, low: float | None, high: float | None, unit: str) -> list[str]:
    if low is None or high is None or np.isnan(low):
        return [f"mean {format_quantity(mean, unit)}", "one run: no interval"]
    digits = digits_between(low, high)
    mean_words, *ends = (format_quantity(value, unit, digits) for value in (mean, low, high))
    return [f"mean {mean_words}", f"95 % confidence interval [{', '.join(ends)}]"]


def _layout(scene: EvidenceScene, ends: tuple[float, float]) -> dict:
    labels = [scene.competitors.labels[who] for who in scene.order]
    widest = max((len(word) for label in labels for word in label.split()), default=0)
    is_upright = len(labels) > 1 and widest * len(labels) > _ROW_SIGNS
    if is_upright:
        cut = short_labels(labels, _MOST_SIGNS)
        labels = [cut.get(label, label) for label in labels]
    bottom = 14 + _SIGN_PX * max(map(len, labels)) if is_upright else 40
    return {
        **base_layout(scene.title, scene.subtitle),
        "margin": {"l": left_px(*ends), "r": 8, "t": 46, "b": bottom},
        "xaxis": {
            "type": "linear",
            "range": [-0.55, len(labels) - 0.45],
            "tickvals": list(range(len(labels))),
            "ticktext": labels if is_upright else [each.replace(" ", BREAK) for each in labels],
            "tickangle": 90 if is_upright else 0,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {
            # For lack of space the direction is only in the map's title.
            **metric_ticks(replace(scene.metric, better=None), max(map(abs, ends))),
            "zeroline": False,
        },
        "dragmode": "zoom",
        "meta": {"kind": "evidence"},
    }  # fmt: skip
