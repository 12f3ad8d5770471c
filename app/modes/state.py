"""The state of Modes as a URL query."""

import json
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from app.kit.clause import Clause, Kind, read_clause, write_knobs
from app.kit.panels import AUTO, NONE
from app.kit.url_state import Parameters, UrlState, parameter
from app.kit.url_values import check_choice, read_number
from data.analysis.like_with_like import check_pool
from data.analysis.rules import CORRECTIONS, RULES, SETS, Correction, Rule, Rules
from data.catalogue import SHIPPED, Catalogue
from data.declared import FACET_PREFIX, PERFORMANCE
from data.errors import DataError, SelectionError
from data.knobs import Knob
from data.selection import Selection, Value

Lead = Literal["percent", "absolute"]
Versus = Literal["each", "default"]
_KINDS: Final[tuple[Kind, ...]] = ("knobs", "box", "lasso", "won", "outcome")
# Keys of a link that the page itself wrote; others come from links of other pages.
_OWN: Final = ("x", "y", "who", "metric", "test", "corr", "level", "margin")


def _sel_of_pick(parameters: Parameters) -> Parameters:
    """Convert version 1's `pick` to a clause over the columns of the link's axes.

    Its links are of this page alone, so that the rule is always that of its time.
    """
    text = parameters.pop("pick", [""])[-1]
    axes = [parameters.get(name, [""])[-1] for name in ("x", "y")]
    sel = _clause_of_pick(text, axes) if text else ""
    return {"test": ["student"], **parameters, **({"sel": [sel]} if sel else {})}


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
        # The column of a declared knob is its name without the prefix.
        x, y = (
            name.removeprefix(FACET_PREFIX)
            if name.startswith(FACET_PREFIX)
            else SHIPPED.knobs[name].column
            for name in axes
        )
        if kind == "cell":
            x_value, y_value = values
            return write_knobs([{y: y_value, x: x_value}])
        return write_knobs([{y: row[0], x: row[1:]} for row in values])
    except KeyError:
        # The link leaves the axes to the page, so its cell may have other axes today.
        return ""
    except (ValueError, TypeError, IndexError):
        raise refused from None


def _with_the_rule_of_2(parameters: Parameters) -> Parameters:
    """Name the rule that version 2 had by default: Student's test at 5 %, uncorrected, no limit.

    `level` is `alpha`, and `margin`, how cells write a lead, is `lead`.
    """
    if not any(key in parameters for key in _OWN):
        return parameters
    names = {"level": "alpha", "margin": "lead"}
    kept = {names.get(k, k): v for k, v in parameters.items() if k not in ("limit", "by")}
    return {"test": ["student"], "corr": ["none"], **kept}


@dataclass(frozen=True, slots=True)
class ModesState(UrlState):
    """The whole state of Modes.

    Attributes:
        x: Name of the knob along the map's x axis; None lets the page choose, also for the next
            three.
        competitor: Knob whose values compete.
        metric: Compared column.
        versus: `each`: the best two competitors of a cell are compared; `default`: the best of them
            with the default.
        limit: Limit in the unit of `limited`; None for none.
        limited: Metric to which the limit applies, or `performance`.
        test: `sets`: best sets and four outcomes; else a test of the two best settings.
        alpha: Error of one comparison.
        margin_pct: Differences within it are equivalent, percent.
        lead: How cells write the winner's lead.
        against: Column, or `performance`, of the Pareto view's x axis.
        pool: Settings that are pooled, by name.
        split: Knob of which each value has a panel, `none`, or `auto`: the loads or the message
            sizes, where the filters choose several and they are no axis.
        own_axes: Each panel has the values of its own cells along its axes.
    """

    VERSION: ClassVar = 3
    UPGRADERS: ClassVar = {1: _sel_of_pick, 2: _with_the_rule_of_2}

    selection: Selection = field(default_factory=Selection)
    x: str | None = parameter("x", None)
    y: str | None = parameter("y", None)
    competitor: str | None = parameter("who", None)
    metric: str | None = parameter("metric", None)
    versus: Versus = parameter("vs", "each")
    limit: float | None = parameter("limit", None, read_number)
    limited: str = parameter("by", PERFORMANCE)
    test: Rule = parameter("test", SETS)
    correction: Correction = parameter("corr", "benjamini-hochberg")
    alpha: float = parameter("alpha", 0.05)
    margin_pct: float = parameter("margin", 2.0)
    lead: Lead = parameter("lead", "percent")
    against: str = parameter("against", PERFORMANCE)
    pool: tuple[str, ...] = parameter("pool", ())
    split: str = parameter("split", AUTO)
    own_axes: bool = parameter("own", False)
    sel: str = parameter("sel", "", is_kept=True)

    def __post_init__(self) -> None:
        knobs = [name for name in (self.x, self.y, self.competitor) if name is not None]
        if len(set(knobs)) < len(knobs):
            raise SelectionError(f"axes and competitor must differ, not {', '.join(knobs)}")
        check_choice("vs", self.versus, ("each", "default"))
        check_choice("test", self.test, RULES)
        check_choice("corr", self.correction, CORRECTIONS)
        check_choice("lead", self.lead, ("percent", "absolute"))
        if self.limit is not None and self.limit <= 0:
            raise SelectionError(f"limit is {self.limit:g}, expected a number above 0")
        try:
            Rules(self.test, self.correction, self.alpha, self.margin_pct)
        except DataError as error:
            raise SelectionError(str(error)) from None

    def check(self, catalogue: Catalogue) -> None:
        """Refuse knobs, columns and a selection that the lake does not have; see the base class."""
        for role in ("x", "y", "competitor"):
            check_choice(role, getattr(self, role), (None, *catalogue.knobs))
        if self.metric is not None and self.metric not in catalogue.plottable:
            raise SelectionError(f"no such metric to compare: {self.metric!r}")
        for name in (self.against, self.limited):
            if name != PERFORMANCE and name not in catalogue.plottable:
                raise SelectionError(f"no such column to plot: {name!r}")
        check_choice("split", self.split, (AUTO, NONE, *catalogue.knobs))
        check_pool(self.pool, catalogue)
        read_clause(self.sel, _KINDS, catalogue)

    @property
    def rules(self) -> Rules:
        """The rules by which cells are compared."""
        return Rules(self.test, self.correction, self.alpha, self.margin_pct)

    def clause(self, catalogue: Catalogue) -> Clause | None:
        """Return the selection."""
        return read_clause(self.sel, _KINDS, catalogue)

    def cell(self, catalogue: Catalogue) -> dict[str, Value | None]:
        """Return the selected cell, by knob column; empty unless exactly one is selected.

        Of a state with panels, resolved, the columns are both axes' and that of the panels.
        """
        clause = self.clause(catalogue) if self.x and self.y else None
        if clause is None or clause.kind != "knobs" or len(clause.knobs) > 1:
            return {}
        knobs = clause.knobs[0]
        names = (self.x, self.y, *([self.split] if self.split not in (AUTO, NONE) else []))
        columns = [catalogue.knobs[str(name)].column for name in names]
        is_cell = set(knobs) == set(columns) and all(len(knobs[name]) == 1 for name in columns)
        return {name: knobs[name][0] for name in columns} if is_cell else {}

    def knobs(self, catalogue: Catalogue) -> tuple[Knob, Knob, Knob]:
        """Return the knobs of x, y and competitor; all must have been chosen."""
        x, y, competitor = (
            catalogue.knobs[str(name)] for name in (self.x, self.y, self.competitor)
        )
        return x, y, competitor
