"""The question that Explore answers: a state, resolved once against a version of the lake."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.odd import odd_of
from app.explore.state import ExploreState
from app.explore.studies import (
    Chosen,
    Moments,
    has_rivals,
    moments_of,
    settings_clauses,
    studies_of,
)
from app.kit.answer_cache import KnownColumns
from app.kit.clause import read_clause
from app.kit.lake_view import LakeView
from app.kit.metric_choice import catalogue_of, is_below_zero, performance_column
from app.kit.panels import NONE, Split, split_name
from app.kit.words import named_columns
from data.analysis.coded_rows import Part
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.queries.explore import metric_cube_query, shown_points_query
from data.selection import Clause, Selection

# The service-level agreement of the network study: p99 latency, us.
AGREED_US: Final = 500.0
AGREED_METRIC: Final = "latency_p99_us"
# Of more runs, the means of their configurations are drawn: single runs would hide each other.
MOST_RUNS_DRAWN: Final = 60_000
# Columns that distinguish the scatter's traces; sorting by them keeps a trace together.
_TRACE_ORDER: Final = ("system", "dvfs_ghz", "itr_us")


@dataclass(frozen=True)
class Question:
    """A state with every name resolved, and what all views of the page ask of the lake.

    Attributes:
        state: Metrics are columns; colour and size are `none` if their knob has one value in the
            study; the filters leave odd runs out if the state says so; of more than
            MOST_RUNS_DRAWN runs the means are drawn; `split` is a knob or `none`.
        performance: Column of the workload's performance metric.
        filters: The filters as the reader set them.
        odd: The odd runs that these filters leave (see `odd_of`).
        varying: Columns with several values in the study, which distinguish settings.
    """

    view: LakeView = field(compare=False)
    state: ExploreState
    performance: str
    filters: Selection
    odd: pl.DataFrame = field(compare=False)
    varying: frozenset[str] = field(compare=False)

    @classmethod
    def of(cls, view: LakeView, state: ExploreState) -> "Question":
        """Resolve a state against a version; the same state is resolved once.

        It holds its points, so only the last questions are kept.
        """
        return view.once(_resolved, state, is_large=True)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The columns of the datasets that match the filters."""
        return catalogue_of(self.view, self.state.selection)

    @cached_property
    def selection(self) -> Selection:
        """The filters, without the odd runs that are left out."""
        return self.state.selection

    @cached_property
    def cost(self) -> Metric:
        """The metric of which the best settings have least, or most."""
        return self.catalogue.metric(self.state.cost)

    @property
    def has_negative_costs(self) -> bool:
        """Whether a run of the lake has a cost below 0."""
        return is_below_zero(self.view, self.cost.name)

    @cached_property
    def limited(self) -> Metric:
        """The metric to which the limit applies."""
        return self.catalogue.metric(self.state.limited)

    @property
    def heat_knobs(self) -> tuple[Knob, Knob]:
        """The heatmap's knobs along x and y; if both are the same, y becomes another knob."""
        x, y = self.state.heat_x, self.state.heat_y
        if x == y:
            y = next(name for name in ("dvfs", "itr") if name != x)
        return self.catalogue.knobs[x], self.catalogue.knobs[y]

    @property
    def measured(self) -> dict[str, str]:
        """Columns of the points, and the metrics that they hold."""
        state = self.state
        columns = {
            "x": state.x, "y": state.y, "performance": self.performance, "limited": state.limited,
            "energy_j": "energy_j", "edp_js": "edp_js",
        }  # fmt: skip
        clause = read_clause(state.clause, catalogue=self.catalogue)
        if clause and clause.fields and clause.fields != (state.x, state.y):
            columns |= {"clause_x": clause.fields[0], "clause_y": clause.fields[1]}
        return columns

    @cached_property
    def narrowed(self) -> Part:
        """The answer of `shown_points_query`: means of configurations, or runs."""
        known = self._known((*_TRACE_ORDER, *self.catalogue.shown))
        measured, means = self.measured, self.state.replicates == "means"

        def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
            return shown_points_query(
                selection, measured, means, limit, known.names, catalogue=self.catalogue
            )

        return self.view.narrowed(query, self.selection, known, is_each_run=not means)

    @cached_property
    def moments(self) -> Moments:
        """The moments of all settings of the workloads, of the cost and the limited metric."""
        return moments_of(self)

    @cached_property
    def choices(self) -> list[np.ndarray]:
        """The settings of each system at each load that the filters leave, as rows of `moments`."""
        return self.moments.choices(settings_clauses(self))

    @cached_property
    def studies(self) -> list[Chosen]:
        """The best set of each choice that has a value of the cost."""
        return studies_of(self)

    @cached_property
    def has_rivals(self) -> bool:
        """Whether settings compete: see `has_rivals`."""
        return has_rivals(self)

    @property
    def points(self) -> pl.DataFrame:
        """The rows of `narrowed`."""
        return self.narrowed.rows

    @property
    def split(self) -> Knob | None:
        """The knob of which each value has a panel; None for one picture."""
        return self.catalogue.knobs.get(self.state.split)

    def of_panels(self, split: Split) -> list["Question"]:
        """Return the question of each panel: under its filter, without a split."""
        unsplit = replace(self, state=replace(self.state, split=NONE))
        each = (split.narrow(self.selection, value) for value in split.values)
        return [unsplit.with_clauses(selection.clauses) for selection in each]

    def with_clauses(self, clauses: Sequence[Clause]) -> "Question":
        """Return the question under other filters; the same odd runs are left out."""
        selection = Selection(tuple(clauses), self.selection.without)
        return replace(self, state=replace(self.state, selection=selection))

    def cube(self, column: str, selection: Selection | None = None) -> Part:
        """Return a column's statistics for each combination of knobs that the filters leave."""
        wanted = self.selection if selection is None else selection
        known = self._known([facet.column for facet in self.catalogue.facets.values()])

        def query(narrowed: Selection, limit: int) -> tuple[str, list[Any]]:
            return metric_cube_query(narrowed, column, limit, known.names, catalogue=self.catalogue)

        return self.view.narrowed(query, wanted, known)

    def _known(self, columns: Sequence[str]) -> KnownColumns:
        return self.view.known(self.selection, tuple(dict.fromkeys(columns)))


def _resolved(view: LakeView, state: ExploreState) -> Question:
    performance = performance_column(view, state.selection)
    varying, knobs = named_columns(view, state.selection), view.catalogue.knobs
    roles = {"colour": state.colour, "size": state.size}
    idle = {r: NONE for r, n in roles.items() if n != NONE and knobs[n].column not in varying}
    idle["split"] = split_name(state.split, state.selection)
    if view.matching(state.selection) > MOST_RUNS_DRAWN:
        idle["replicates"] = "means"
    resolved = state.with_performance(performance, **idle)
    odd = odd_of(view, resolved)
    if state.without_odd:
        ids = tuple(odd["run_id"].unique().sort().to_list())
        resolved = replace(resolved, selection=Selection(state.selection.clauses, ids))
    return Question(view, resolved, performance, state.selection, odd, varying)
