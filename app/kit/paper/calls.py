"""A figure as calls of matplotlib: made once, then made into a file or written as a script.

A `Plan` holds no code of anyone else: names of targets and methods come from the modules here, and
arguments are numbers, texts, and references to columns of the plan's table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a series of the plan's table."""

    series: int
    name: str


@dataclass(frozen=True, slots=True)
class Name:
    """What an earlier call made, or one of its attributes: `ax1`, `ax1.transAxes`."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        target: What has the method; empty for a function of `drawing.py` or a class of matplotlib.
        result: Name of what it returns; empty where nobody needs it.
        layer: Calls of a panel are in this order: what is drawn later covers what is before it.
    """

    target: str
    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    layer: float = 0.0


@dataclass(slots=True)
class Panel:
    """One pair of axes, or a colour bar.

    Attributes:
        name: Its name in calls.
        x: Ends along the width of the figure without margins, 0 to 1; a colour bar's are None.
        y: Ends along the height, 0 at the bottom.
        axes: The names of its axes; a colour bar has none.
        least_pt: Height that its labels need.
        rect: Left, bottom, width, height as shares of the figure; set when it is laid out.
        left_pt: Its left end on paper, and
        inner_pt: its width and height, as they were measured; 0 before.
    """

    name: str
    x: tuple[float, float] | None
    y: tuple[float, float]
    axes: tuple[str, str] = ("", "")
    least_pt: float = 0.0
    rect: tuple[float, float, float, float] = (0.1, 0.1, 0.8, 0.8)
    left_pt: float = 0.0
    inner_pt: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)
class Plan:
    """A figure.

    Attributes:
        settings: matplotlib's `rcParams`.
        size_pt: Width and height of the file; the height is set when the figure is laid out.
        share: Height over width on the page.
        first_pt: Its height before that, as it was measured; None where it was not.
        table: Series, each with a title and columns of one length.
        series: The places of series in the table, by their first column.
        legend: Calls that make its entries; its columns and the size of its text are chosen when
            the figure is laid out.
        title: Above the figure; empty for none.
    """

    settings: dict[str, Any]
    size_pt: tuple[float, float | None]
    share: float
    first_pt: float | None = None
    panels: list[Panel] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    table: list[tuple[str, dict[str, np.ndarray]]] = field(default_factory=list)
    series: dict[tuple[str, Any], list[int]] = field(default_factory=dict)
    legend: list[Call] = field(default_factory=list)
    legend_title: str = ""
    legend_columns: int = 1
    legend_pt: float = 0.0
    title: str = ""

    def add(self, title: str, columns: Mapping[str, Any]) -> dict[str, Column]:
        """Add a series; return a reference to each of its columns.

        Args:
            columns: Arrays of one length, of numbers or texts.
        """
        arrays = {name: np.asarray(values) for name, values in columns.items()}
        name, first = next(iter(arrays.items()))
        key = name, tuple(first) if first.dtype.kind == "O" else first.tobytes()
        for at in self.series.setdefault(key, []):
            known = self.table[at][1]
            if known.keys() >= arrays.keys() and all(
                known[name].dtype == values.dtype
                and np.array_equal(known[name], values, equal_nan=values.dtype.kind == "f")
                for name, values in arrays.items()
            ):
                return {name: Column(at, name) for name in arrays}
        self.series[key].append(len(self.table))
        self.table.append((title, arrays))
        return {name: Column(len(self.table) - 1, name) for name in arrays}

    def column(self, at: Column) -> np.ndarray:
        """Return the values of a column."""
        return self.table[at.series][1][at.name]
