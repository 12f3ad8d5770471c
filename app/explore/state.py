"""The state of Explore as a URL query."""

import json
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal

from app.kit.clause import read_clause
from app.kit.url_state import (
    Parameter,
    Parameters,
    Upgraders,
    UrlState,
    read_flag,
    read_lake_version,
    read_number,
)
from data.errors import SelectionError
from data.metrics import plottable
from data.selection import Selection

# Stands for the workload's own performance metric, whatever that is.
PERFORMANCE: Final = "performance"

Replicates = Literal["means", "runs"]


def _from_1(parameters: Parameters) -> Parameters:
    """`brush` becomes `sel`: `configs` and `cells` are `knobs`."""
    brush = parameters.pop("brush", [""])[-1]
    return {**parameters, **({"sel": [_clause_of(brush)]} if brush else {})}


def _clause_of(brush: str) -> str:
    kind, _, rest = brush.partition("~")
    if kind == "configs":
        return f"knobs~{rest}"
    if kind != "cells":
        return brush
    system, *rows = rest.split("~")
    alternatives = []
    for row in rows:
        dvfs, _, itrs = row.partition(":")
        values = [_knob("brush", text) for text in itrs.split(",")]
        alternatives.append(
            {
                "system": system,
                "dvfs_ghz": _knob("brush", dvfs),
                "itr_us": values[0] if len(values) == 1 else values,
            }
        )
    return "knobs~" + json.dumps(
        alternatives[0] if len(alternatives) == 1 else alternatives, separators=(",", ":")
    )


def _knob(name: str, text: str) -> float | int | None:
    if text == "-":
        return None
    value = read_number(name, text)
    return int(value) if value.is_integer() else value


@dataclass(frozen=True, slots=True)
class ExploreState(UrlState):
    """Everything that decides what Explore shows.

    Attributes:
        replicates: `means`: one point a configuration; `runs`: one a run.
        x: Column of the scatter's x axis, or `performance`.
        heat_system: System of the heatmap; None lets the page choose.
        limit: Latency limit in the unit of the workload's performance metric.
        clause: What is selected, as a clause (see `kit.clause`); empty for nothing.
        zoom: Range of the scatter's axes, `x0~x1~y0~y1`; empty for all points.
        lake_version: A version that the link pins; None for the newest.
    """

    VERSION: ClassVar[int] = 2
    UPGRADERS: ClassVar[Upgraders] = {1: _from_1}
    PARAMETERS: ClassVar = {
        "rep": Parameter("replicates"),
        "x": Parameter("x"),
        "y": Parameter("y"),
        "xlog": Parameter("x_log", read_flag),
        "ylog": Parameter("y_log", read_flag),
        "frontier": Parameter("frontier", read_flag),
        "hsys": Parameter("heat_system"),
        "hmet": Parameter("heat_metric"),
        "limit": Parameter("limit", read_number),
        "sel": Parameter("clause"),
        "zoom": Parameter("zoom"),
        "lake": Parameter("lake_version", read_lake_version),
    }
    KEPT: ClassVar = ("sel", "zoom")
    VIEW_KEYS: ClassVar = ("hsys", "hmet", "limit")

    selection: Selection = field(default_factory=Selection)
    replicates: Replicates = "means"
    x: str = PERFORMANCE
    y: str = "energy_j"
    x_log: bool = False
    y_log: bool = False
    frontier: bool = True
    heat_system: str | None = None
    heat_metric: str = "energy_j"
    limit: float | None = None
    clause: str = ""
    zoom: str = ""
    lake_version: int | None = None

    def __post_init__(self) -> None:
        if self.replicates not in ("means", "runs"):
            raise SelectionError(f"replicates is {self.replicates!r}, expected means or runs")
        for name in (self.x, self.y, self.heat_metric):
            if name != PERFORMANCE and name not in plottable():
                raise SelectionError(f"no such column to plot: {name!r}")
        if self.limit is not None and self.limit <= 0:
            raise SelectionError(f"limit is {self.limit:g}, expected a number above 0")
        read_clause(self.clause)
        if self.zoom:
            bounds = [read_number("zoom", text) for text in self.zoom.split("~")]
            if len(bounds) != 4:
                raise SelectionError(f"zoom is {self.zoom!r}, expected four numbers")

    def with_performance(self, column: str) -> "ExploreState":
        """Return a copy in which `performance` is replaced by the column that it means."""
        x, y, heat_metric = (
            column if name == PERFORMANCE else name for name in (self.x, self.y, self.heat_metric)
        )
        return replace(self, x=x, y=y, heat_metric=heat_metric)

    @property
    def clause_fields(self) -> tuple[str, str] | None:
        """The two columns of a selected box or polygon; None for other selections."""
        clause = read_clause(self.clause)
        return clause.fields if clause else None
