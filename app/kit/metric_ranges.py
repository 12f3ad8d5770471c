"""How many runs have a value of each metric, and the range of these."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import polars as pl


class MetricRange(NamedTuple):
    """How many runs have a value of a metric, and the range of these; NaN where none has."""

    runs: int
    low: float
    high: float


def ranges_of(rows: pl.DataFrame, names: Sequence[str]) -> dict[str, MetricRange]:
    """Return the range of each metric over all rows of an answer of `ranges_query`.

    Args:
        names: The columns that the query was asked for.
    """
    asked = [f"{of}_{at}" for at in range(len(names)) for of in MetricRange._fields]
    columns = list(zip(*rows.select(asked).iter_rows(), strict=True)) or [()] * len(asked)
    return {
        name: MetricRange(sum(runs), _end(min, low), _end(max, high))
        for name, runs, low, high in zip(
            names, columns[::3], columns[1::3], columns[2::3], strict=True
        )
    }


def _end(choose: Any, values: Iterable[float | None]) -> float:
    return choose((value for value in values if value is not None), default=math.nan)
