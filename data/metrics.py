"""The columns of `runs`: title, unit and better direction, from metrics.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from data.errors import DataError
from data.schema import DERIVED, MEASUREMENTS


@dataclass(frozen=True, slots=True)
class Metric:
    """One column of `runs`.

    Attributes:
        unit: SI unit as text; empty for counts and ratios.
        short: Few letters, for tables and chips.
        better: `less`, `more`, or None where neither is.
    """

    name: str
    title: str
    unit: str
    short: str
    description: str
    better: Literal["less", "more"] | None = None

    @property
    def axis_title(self) -> str:
        """Return the title with unit and direction: `p99 latency, us (less is better)`."""
        unit = f", {self.unit}" if self.unit else ""
        direction = f" ({self.better} is better)" if self.better else ""
        return f"{self.title}{unit}{direction}"


@cache
def metrics() -> dict[str, Metric]:
    """Return all columns of `runs`, stored and derived, in the order of metrics.toml."""
    with (Path(__file__).parent / "metrics.toml").open("rb") as file:
        return {name: Metric(name=name, **entry) for name, entry in tomllib.load(file).items()}


def metric(name: str) -> Metric:
    """Look up one column.

    Raises:
        DataError: No column has that name.
    """
    try:
        return metrics()[name]
    except KeyError:
        raise DataError(f"no such column of runs: {name!r}") from None


def plottable() -> tuple[str, ...]:
    """Return the names of the numeric columns, stored and derived, for axes and heatmaps."""
    return (*MEASUREMENTS, *DERIVED)
