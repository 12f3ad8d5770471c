"""Axes of metrics: they fit what most points need; the browser counts what lies beyond them."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import floats
from app.kit.encodings import metric_ticks
from data.metrics import Metric

# Quartile distances from the nearer quartile at which a value is far out (Tukey, 1977).
_FAR: Final = 3.0
# An axis leaves them out if that makes it so many times shorter.
_SHORTER: Final = 2.0
# Of lines, whose slopes are what they show.
_MUCH_SHORTER: Final = 10.0
# The most that is left out, a share of the points: of fewer than 20 none.
_FEW: Final = 0.05


def metric_axis(
    measure: Metric, log: bool, values: pl.Series, deviations: pl.Series, needed: Sequence[float]
) -> dict[str, Any]:
    """Return an axis for a metric.

    Args:
        values: Means of the points, in the metric's unit, shape (points,).
        deviations: Their standard deviations; NULL where n is 1.
        needed: Values that the axis shows, if points lie around them: best points, the limit.
    """
    numbers = floats(values)
    top = float(np.abs(numbers).max())
    return {
        "type": "log" if log else "linear",
        "automargin": False,
        "zeroline": False,
        "separatethousands": True,
        **metric_ticks(measure, top, log),
        "range": _range(numbers, deviations, log, needed),
    }


def _range(
    values: np.ndarray, deviations: pl.Series, log: bool, needed: Sequence[float]
) -> list[float]:
    """Return the ends of an axis, with a margin of at least a typical error bar."""
    bar = float(deviations.cast(pl.Float64).median() or 0.0)  # type: ignore[arg-type]
    log = log and float(values.min()) > 0
    if log:
        values, bar = np.log10(values), 0.0
        needed = [math.log10(value) for value in needed if value > 0]
    low, high = _ends(values, needed)
    margin = max(0.06 * (high - low) or 0.06 * abs(high), 1.2 * bar) or 1.0
    return [low - margin, high + margin]


def line_range(values: np.ndarray) -> tuple[list[float], int] | None:
    """Return the ends of a linear axis that leaves out a few values, and their number.

    Args:
        values: Of the lines' points, shape (n,), finite.

    Returns:
        None where no value is so far out that the others would be flat, or where many are.
    """
    low, high = _ends(values, (), _MUCH_SHORTER) if len(values) else (0.0, 0.0)
    beyond = int(((values < low) | (values > high)).sum())
    margin = 0.06 * (high - low)
    return ([low - margin, high + margin], beyond) if beyond else None


def _ends(
    values: np.ndarray, needed: Sequence[float], shorter: float = _SHORTER
) -> tuple[float, float]:
    """Return the least and the greatest value, without a few far out where that is much shorter."""
    ordered = np.sort(values)
    whole = float(ordered[0]), float(ordered[-1])
    first, third = np.quantile(ordered, (0.25, 0.75))
    distance = np.maximum(first - ordered, ordered - third)
    furthest = np.argsort(-distance, kind="stable")[: int(_FEW * len(ordered))]
    far = furthest[distance[furthest] > _FAR * (third - first)]
    near = np.delete(ordered, far)
    shown = [value for value in needed if whole[0] <= value <= whole[1]]
    ends = min([float(near[0]), *shown]), max([float(near[-1]), *shown])
    is_shorter = 0 < shorter * (ends[1] - ends[0]) <= whole[1] - whole[0]
    return ends if is_shorter else whole
