"""The state of Explore as a URL query."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from app.explore.opening_rule import Roles
from app.kit.clause import read_clause, write_knobs
from app.kit.metric_choice import PERFORMANCE
from app.kit.panels import AUTO, NONE
from app.kit.url_state import (
    Parameter,
    Parameters,
    Upgraders,
    UrlState,
    check_choice,
    read_flag,
    read_lake_version,
    read_number,
)
from data.analysis.like_with_like import check_pool
from data.catalogue import Catalogue
from data.errors import SelectionError
from data.selection import Selection

# Metrics of the lines, one above the other.
MOST_METRICS: Final = 4
Replicates = Literal["means", "runs"]
Stat = Literal["mean", "median"]
Levels = Literal["ends", "all"]


def _from_1(parameters: Parameters) -> Parameters:
    """Convert `brush` to `sel`: `configs` and `cells` become `knobs`."""
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
        values = [_knob(text) for text in itrs.split(",")]
        itr_us = values[0] if len(values) == 1 else values
        alternatives.append({"system": system, "dvfs_ghz": _knob(dvfs), "itr_us": itr_us})
    return write_knobs(alternatives)


def _knob(text: str) -> float | None:
    return None if text == "-" else read_number("brush", text)


@dataclass(frozen=True, slots=True)
class ExploreState(UrlState):
    """The whole state of Explore.

    Attributes:
        replicates: `means`: one point per configuration; `runs`: one per run.
        bands: Draw how sure the frontiers are; of runs, how often one sweep attains them.
        without_odd: Leave out the runs that are odd in x or y.
        x: Column of the scatter's x axis, or `performance`.
        colour, size, symbol: Knobs that points encode, or `none`.
        heat_x, heat_y: Knobs of the heatmap.
        cost: Metric of which the best settings have least (or most).
        limited: Metric to which the limit applies, or `performance`.
        heat_system: System of the heatmap; None lets the page choose.
        pool: Settings that the heatmap pools, by name; of others it shows one value.
        limit: Limit in the unit of `limited`.
        alpha: Error of best sets and intervals, between 0 and 0.5.
        margin_pct: Differences within it do not matter, percent of the cost.
        against: System that best settings are compared with, besides the default; empty for none.
        merged: Knobs without effect: settings that differ in them alone count as one.
        show: The large pictures: points, lines or both.
        split: Knob of which each value has a panel, `none`, or `auto`: the loads or the message
            sizes, where the filters choose several.
        own_axes: Each panel has axes of its own.
        lines_x: Knob along x of the lines.
        lines_y: Metrics of the lines, one above the other; `performance` may be one.
        lines_by: Knob of which each value has a line, or `none`.
        lines_style: Knob of the lines' style, or `none`.
        lines_levels: Draw the ends of the style's values that were run at each x, or all levels.
        lines_stat: Value of a point: mean or median of its runs.
        lines_pool: Settings that the lines pool, by name.
        lines_bands: Shade the 95 % intervals of the means.
        clause: The selection (`sel`) as a clause; empty for none.
        zoom: Range of the scatter's axes, `x0~x1~y0~y1`; empty for all points.
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
        "band": Parameter("bands", read_flag),
        "noodd": Parameter("without_odd", read_flag),
        "col": Parameter("colour"),
        "size": Parameter("size"),
        "sym": Parameter("symbol"),
        "hx": Parameter("heat_x"),
        "hy": Parameter("heat_y"),
        "cost": Parameter("cost"),
        "by": Parameter("limited"),
        "hsys": Parameter("heat_system"),
        "hmet": Parameter("heat_metric"),
        "pool": Parameter("pool", is_list=True),
        "limit": Parameter("limit", read_number),
        "alpha": Parameter("alpha", read_number),
        "margin": Parameter("margin_pct", read_number),
        "vs": Parameter("against"),
        "same": Parameter("merged", is_list=True),
        "show": Parameter("show"),
        "split": Parameter("split"),
        "own": Parameter("own_axes", read_flag),
        "lx": Parameter("lines_x"),
        "ly": Parameter("lines_y", is_list=True),
        "lby": Parameter("lines_by"),
        "lst": Parameter("lines_style"),
        "llev": Parameter("lines_levels"),
        "lstat": Parameter("lines_stat"),
        "lpool": Parameter("lines_pool", is_list=True),
        "lxlog": Parameter("lines_x_log", read_flag),
        "lylog": Parameter("lines_y_log", read_flag),
        "lband": Parameter("lines_bands", read_flag),
        "sel": Parameter("clause"),
        "zoom": Parameter("zoom"),
        "lake": Parameter("lake_version", read_lake_version),
    }
    KEPT: ClassVar = ("sel", "zoom")
    VIEW_KEYS: ClassVar = (
        "hsys",
        "hmet",
        "hx",
        "hy",
        "pool",
        "limit",
        "cost",
        "by",
        "alpha",
        "margin",
        "vs",
        "same",
        "band",
        "show",
        "split",
        "own",
        "lx",
        "ly",
        "lby",
        "lst",
        "llev",
        "lstat",
        "lpool",
        "lxlog",
        "lylog",
        "lband",
    )

    selection: Selection = field(default_factory=Selection)
    replicates: Replicates = "means"
    x: str = PERFORMANCE
    y: str = "energy_j"
    x_log: bool = False
    y_log: bool = False
    frontier: bool = True
    bands: bool = False
    without_odd: bool = False
    colour: str = Roles().colour
    size: str = Roles().size
    symbol: str = Roles().symbol
    heat_x: str = "itr"
    heat_y: str = "dvfs"
    cost: str = "energy_j"
    limited: str = PERFORMANCE
    heat_system: str | None = None
    heat_metric: str = "energy_j"
    pool: tuple[str, ...] = ()
    limit: float | None = None
    alpha: float = 0.05
    margin_pct: float = 2.0
    against: str = ""
    merged: tuple[str, ...] = ()
    show: Literal["points", "lines", "both"] = "points"
    split: str = AUTO
    own_axes: bool = False
    lines_x: str = "dvfs"
    lines_y: tuple[str, ...] = ("energy_j",)
    lines_by: str = "system"
    lines_style: str = "itr"
    lines_levels: Levels = "ends"
    lines_stat: Stat = "mean"
    lines_pool: tuple[str, ...] = ()
    lines_x_log: bool = False
    lines_y_log: bool = False
    lines_bands: bool = True
    clause: str = ""
    zoom: str = ""

    def __post_init__(self) -> None:
        if self.replicates not in ("means", "runs"):
            raise SelectionError(f"replicates is {self.replicates!r}, expected means or runs")
        check_choice("show", self.show, ("points", "lines", "both"))
        check_choice("llev", self.lines_levels, ("ends", "all"))
        check_choice("lstat", self.lines_stat, ("mean", "median"))
        if not 0 < len(self.lines_y) <= MOST_METRICS:
            raise SelectionError(f"ly names {len(self.lines_y)} metrics, expected 1 to 4")
        if self.limit is not None and self.limit <= 0:
            raise SelectionError(f"limit is {self.limit:g}, expected a number above 0")
        for name, value, most in (("alpha", self.alpha, 0.5), ("margin", self.margin_pct, 50)):
            if not 0 < value < most:
                raise SelectionError(f"{name} is {value:g}, expected a number between 0 and {most}")
        if self.zoom:
            bounds = [read_number("zoom", text) for text in self.zoom.split("~")]
            if len(bounds) != 4:
                raise SelectionError(f"zoom is {self.zoom!r}, expected four numbers")

    def check(self, catalogue: Catalogue) -> None:
        """Refuse columns and knobs that the lake lacks.

        Raises:
            SelectionError: The message has the name.
        """
        for name in (self.colour, self.size, self.symbol, self.lines_by, self.lines_style):
            if name != NONE and name not in catalogue.knobs:
                raise SelectionError(f"no such knob: {name!r}")
        if self.split not in (NONE, AUTO) and self.split not in catalogue.knobs:
            raise SelectionError(f"no such knob: {self.split!r}")
        if self.size != NONE and not catalogue.knobs[self.size].facet.is_number:
            raise SelectionError(f"{self.size!r} has no numbers, which a size needs")
        if self.lines_style != NONE and not catalogue.knobs[self.lines_style].facet.is_number:
            raise SelectionError(f"{self.lines_style!r} has no numbers, which a style needs")
        for name in (self.heat_x, self.heat_y, self.lines_x):
            if name not in catalogue.knobs:
                raise SelectionError(f"no such knob: {name!r}")
        for name in (self.x, self.y, self.heat_metric, self.cost, self.limited, *self.lines_y):
            if name != PERFORMANCE and name not in catalogue.plottable:
                raise SelectionError(f"no such column to plot: {name!r}")
        for names in (self.pool, self.merged, self.lines_pool):
            check_pool(names, catalogue)
        read_clause(self.clause, catalogue=catalogue)

    def with_performance(self, column: str) -> "ExploreState":
        """Return a copy with `performance` replaced by its column."""
        names = ("x", "y", "heat_metric", "cost", "limited")
        changes: dict[str, Any] = {n: column for n in names if getattr(self, n) == PERFORMANCE}
        lines_y = dict.fromkeys(column if name == PERFORMANCE else name for name in self.lines_y)
        return replace(self, **changes, lines_y=tuple(lines_y))
