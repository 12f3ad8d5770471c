"""Metrics with values below 0, such as a change in percent: no factor tells their values apart."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from data.catalogue import Catalogue
from data.metrics import Metric
from data.units import lowered

if TYPE_CHECKING:
    from data.connection import Lake


def may_be_below_zero(catalogue: Catalogue, name: str) -> bool:
    """Return whether a metric may have values below 0: only those that a dataset declares."""
    return any(column.name == name for column in catalogue.columns)


def below_zero(lake: "Lake", names: Iterable[str]) -> frozenset[str]:
    """Return the changes in percent, and metrics of which a run has a value below 0.

    Nothing is judged by them.

    Args:
        names: Columns of `runs`.
    """
    own = [name for name in names if may_be_below_zero(lake.catalogue, name)]
    changes = frozenset(name for name in own if lake.catalogue.metric(name).is_change)
    asked = [name for name in own if name not in changes]
    if not asked:
        return changes
    lows = ", ".join(f"coalesce(min({name}) < 0, FALSE) AS {name}" for name in asked)
    row = lake.polars(f"SELECT {lows} FROM runs").row(0, named=True)
    return changes | {name for name, is_below in row.items() if is_below}


def below_zero_words(metric: Metric) -> str:
    """Return why settings are not judged by such a metric."""
    if metric.is_change:
        return f"of a {lowered(metric.title)} in percent no setting is a factor better"
    return f"runs have {lowered(metric.title)} below 0, of which no setting is a factor better"
