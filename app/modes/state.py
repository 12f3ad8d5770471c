"""The state of Modes as a URL query."""

import json
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from app.kit.clause import Clause, Kind, read_clause, write_knobs
from app.kit.metric_choice import PERFORMANCE
from app.kit.url_state import (
    Parameter,
    Parameters,
    UrlState,
    check_choice,
    read_lake_version,
    read_number,
)
from data.analysis.like_with_like import check_pool
from data.analysis.significance import CORRECTIONS, TESTS, Correction, Test
from data.analysis.ties import Rules
from data.errors import SelectionError
from data.knobs import KNOBS, Knob
from data.metrics import plottable
from data.selection import Selection, Value

Margin = Literal["percent", "absolute"]
_KINDS: Final[tuple[Kind, ...]] = ("knobs", "box", "lasso", "won", "outcome")


def _sel_of_pick(parameters: Parameters) -> Parameters:
    """Convert version 1's `pick` to a clause over the columns of the link's axes."""
    text = parameters.pop("pick", [""])[-1]
    axes = [parameters.get(name, [""])[-1] for name in ("x", "y")]
    sel = _clause_of_pick(text, axes) if text else ""
    return {**parameters, **({"sel": [sel]} if sel else {})}


def _clause_of_pick(text: str, axes: list[str]) -> str:
    refused = SelectionError(f"the link has a selection that cannot be read: {text[:40]!r}")
    try:
        kind, *values = json.loads(text)
        if kind == "won":
            return f"won~{json.dumps(values[0])}"
        if kind == "outcome":
            return f"outcome~{values[0]}"
        if kind not in ("cell", "cells"):
            raise refused
        x, y = (KNOBS[name].column for name in axes)
        if kind == "cell":
            x_value, y_value = values
            return write_knobs([{y: y_value, x: x_value}])
        return write_knobs([{y: row[0], x: row[1:]} for row in values])
    except KeyError:
        # The link leaves the axes to the page, so its cell may have other axes today.
        return ""
    except (ValueError, TypeError, IndexError):
        raise refused from None


@dataclass(frozen=True, slots=True)
class ModesState(UrlState):
    """The whole state of Modes.

    Attributes:
        x: Name of the knob along the map's x axis; None lets the page choose, also for the next
            three.
        competitor: Knob whose values compete.
        metric: Compared column.
        margin: How cells write the winner's lead.
        against: Column, or `performance`, of the Pareto view's x axis.
        pool: Settings that are pooled, by name.
    """

    VERSION: ClassVar = 2
    UPGRADERS: ClassVar = {1: _sel_of_pick}
    PARAMETERS: ClassVar = {
        "x": Parameter("x"),
        "y": Parameter("y"),
        "who": Parameter("competitor"),
        "metric": Parameter("metric"),
        "test": Parameter("test"),
        "corr": Parameter("correction"),
        "level": Parameter("level", read_number),
        "margin": Parameter("margin"),
        "against": Parameter("against"),
        "pool": Parameter("pool", is_list=True),
        "sel": Parameter("sel"),
        "lake": Parameter("lake_version", read_lake_version),
    }

    selection: Selection = field(default_factory=Selection)
    x: str | None = None
    y: str | None = None
    competitor: str | None = None
    metric: str | None = None
    test: Test = "student"
    correction: Correction = "none"
    level: float = 0.05
    margin: Margin = "percent"
    against: str = PERFORMANCE
    sel: str = ""
    pool: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in ("x", "y", "competitor"):
            check_choice(role, getattr(self, role), (None, *KNOBS))
        knobs = [name for name in (self.x, self.y, self.competitor) if name is not None]
        if len(set(knobs)) < len(knobs):
            raise SelectionError(f"axes and competitor must differ, not {', '.join(knobs)}")
        check_choice("test", self.test, TESTS)
        check_choice("corr", self.correction, CORRECTIONS)
        check_choice("margin", self.margin, ("percent", "absolute"))
        if not 0 < self.level < 1:
            raise SelectionError(f"level is {self.level:g}, expected a number between 0 and 1")
        if self.metric is not None and self.metric not in plottable():
            raise SelectionError(f"no such metric to compare: {self.metric!r}")
        if self.against != PERFORMANCE and self.against not in plottable():
            raise SelectionError(f"no such column to plot: {self.against!r}")
        check_pool(self.pool)
        read_clause(self.sel, _KINDS)

    @property
    def rules(self) -> Rules:
        """The rules by which cells are compared."""
        return Rules(self.test, self.correction, self.level)

    @property
    def clause(self) -> Clause | None:
        """The selection."""
        return read_clause(self.sel, _KINDS)

    @property
    def cell(self) -> dict[str, Value | None]:
        """The selected cell, as knob column to value; empty unless exactly one is selected."""
        clause = self.clause if self.x and self.y else None
        if clause is None or clause.kind != "knobs" or len(clause.knobs) > 1:
            return {}
        knobs, columns = clause.knobs[0], [KNOBS[str(name)].column for name in (self.x, self.y)]
        is_cell = set(knobs) == set(columns) and all(len(knobs[name]) == 1 for name in columns)
        return {name: knobs[name][0] for name in columns} if is_cell else {}

    def knobs(self) -> tuple[Knob, Knob, Knob]:
        """The knobs of x, y and competitor; all must have been chosen."""
        x, y, competitor = (KNOBS[str(name)] for name in (self.x, self.y, self.competitor))
        return x, y, competitor
