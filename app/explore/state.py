"""The state of Explore as a URL query."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from app.explore.opening_rule import Roles
from app.kit.clause import read_clause, write_knobs
from app.kit.panels import AUTO, NONE
from app.kit.url_state import Parameters, Upgraders, UrlState, parameter
from app.kit.url_values import check_choice, read_number
from data.analysis.like_with_like import check_pool
from data.catalogue import Catalogue
from data.declared import PERFORMANCE
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

    selection: Selection = field(default_factory=Selection)
    replicates: Replicates = parameter("rep", "means")
    x: str = parameter("x", PERFORMANCE)
    y: str = parameter("y", "energy_j")
    x_log: bool = parameter("xlog", False)
    y_log: bool = parameter("ylog", False)
    frontier: bool = parameter("frontier", True)
    bands: bool = parameter("band", False, is_view=True)
    without_odd: bool = parameter("noodd", False)
    colour: str = parameter("col", Roles().colour)
    size: str = parameter("size", Roles().size)
    symbol: str = parameter("sym", Roles().symbol)
    heat_x: str = parameter("hx", "itr", is_view=True)
    heat_y: str = parameter("hy", "dvfs", is_view=True)
    cost: str = parameter("cost", "energy_j", is_view=True)
    limited: str = parameter("by", PERFORMANCE, is_view=True)
    heat_system: str | None = parameter("hsys", None, is_view=True)
    heat_metric: str = parameter("hmet", "energy_j", is_view=True)
    pool: tuple[str, ...] = parameter("pool", (), is_view=True)
    limit: float | None = parameter("limit", None, read_number, is_view=True)
    alpha: float = parameter("alpha", 0.05, is_view=True)
    margin_pct: float = parameter("margin", 2.0, is_view=True)
    against: str = parameter("vs", "", is_view=True)
    merged: tuple[str, ...] = parameter("same", (), is_view=True)
    show: Literal["points", "lines", "both"] = parameter("show", "points", is_view=True)
    split: str = parameter("split", AUTO, is_view=True)
    own_axes: bool = parameter("own", False, is_view=True)
    lines_x: str = parameter("lx", "dvfs", is_view=True)
    lines_y: tuple[str, ...] = parameter("ly", ("energy_j",), is_view=True)
    lines_by: str = parameter("lby", "system", is_view=True)
    lines_style: str = parameter("lst", "itr", is_view=True)
    lines_levels: Levels = parameter("llev", "ends", is_view=True)
    lines_stat: Stat = parameter("lstat", "mean", is_view=True)
    lines_pool: tuple[str, ...] = parameter("lpool", (), is_view=True)
    lines_x_log: bool = parameter("lxlog", False, is_view=True)
    lines_y_log: bool = parameter("lylog", False, is_view=True)
    lines_bands: bool = parameter("lband", True, is_view=True)
    clause: str = parameter("sel", "", is_kept=True)
    zoom: str = parameter("zoom", "", is_kept=True)

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

    def with_performance(self, column: str, **others: Any) -> "ExploreState":
        """Return a copy with `performance` replaced by its column, and others of its values."""
        names = ("x", "y", "heat_metric", "cost", "limited")
        changes: dict[str, Any] = {n: column for n in names if getattr(self, n) == PERFORMANCE}
        lines_y = dict.fromkeys(column if name == PERFORMANCE else name for name in self.lines_y)
        return replace(self, **changes, lines_y=tuple(lines_y), **others)
