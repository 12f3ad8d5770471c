"""The claims of a lake, listed by rule before any result is seen, each as a question.

`data.findings` is the door to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from data.analysis.best_set import Limit, best_set, recommend
from data.analysis.claims import (
    Question,
    change_from,
    more_runs_from,
    outcome_of,
    paired_change,
)
from data.analysis.noise import Estimates
from data.analysis.outcomes import (
    Comparison,
    Side,
    compare_sides,
    more_runs_of_all,
    saving,
    with_more_runs,
)
from data.analysis.planner import more_runs
from data.catalogue import SHIPPED, Catalogue
from data.choices import DEFAULT, Study, Value, baseline_of, distances, in_order, study
from data.errors import DataError
from data.knobs import POLICIES
from data.queries.claims import REFERENCE, SUBJECT, Member, workloads_query
from data.queries.moments import moments_query
from data.selection import Selection

if TYPE_CHECKING:
    from data.connection import Lake

Kind = Literal["default to tuned", "tuned to tuned", "knob", "limit met"]
ENERGY: Final = "energy_j"
# What a scope is judged by where no metric is asked for.
_USUAL_PERFORMANCE: Final = "duration_s"
# The levels of a knob in words are compared with this one, or with the first.
_PLAIN_LEVELS: Final = ("interrupt", "none")


@dataclass(frozen=True, slots=True)
class Spec:
    """One claim before it is judged.

    Attributes:
        system_words: The system of both sides; empty where the sides name theirs.
        scope: Columns and values that the runs of both sides have.
        limit: A metric and its bound; None without.
        question: Its comparison, subject against reference, at any error.
        more: About how many more runs would decide at an error; None for over 100.
        members: The settings of both sides.
        n: Runs behind subject and reference.
    """

    kind: Kind
    subject: str
    reference: str
    metric: str
    system_words: str
    scope: Mapping[str, Value]
    limit: tuple[str, float] | None
    is_synthetic: bool
    question: Question
    more: Callable[[float], int | None]
    members: tuple[Member, ...]
    n: tuple[int, int]


def specs_of(
    lake: "Lake",
    metrics: Sequence[str] | None,
    limit: tuple[str, float] | None,
    alpha: float,
    margin: float,
    selection: Selection,
) -> list[Spec]:
    """List the claims of all scopes of a lake.

    Args:
        metrics: Columns of `runs`; None for energy, else power, and each workload's own metric of
            performance, else time.
        limit: Of workloads whose performance is that metric.
        alpha: Error of the best sets from which settings are recommended.
        margin: Settings within this share are as good.
        selection: The runs that count; others are as if they had not been made.
    """
    workloads = lake.polars(*workloads_query())
    own = workloads["performance_metric"].drop_nulls().unique().sort().to_list()
    catalogue = lake.catalogue
    columns = list(dict.fromkeys(metrics or [*catalogue.costs, *own, _USUAL_PERFORMANCE]))
    wanted = [*columns, *([limit[0]] if limit and limit[0] not in columns else [])]
    by = [*catalogue.choice_columns, *catalogue.setting_columns, "is_baseline", "system_label"]
    query = moments_query(*selection.predicate(), by, wanted, catalogue=catalogue)
    everything = lake.polars(*query)
    everything = everything.with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String), pl.col("is_baseline").fill_null(False)
    )
    performance = {row[:2]: row[2:] for row in workloads.iter_rows()}
    specs: list[Spec] = []
    names = [name for name in catalogue.choice_columns if name != "system"]
    shared = [name for name in names if name not in catalogue.item_columns]

    def scope_of(rows: pl.DataFrame, columns: Sequence[str]) -> _Scope:
        at = rows.row(0, named=True)
        metric, is_synthetic = performance[at["dataset"], at["workload"]]
        bound = limit if limit is not None and metric == limit[0] else None
        return _Scope(
            rows, {name: at[name] for name in columns}, everything, catalogue, alpha, margin,
            bound, is_synthetic, metric,
        )  # fmt: skip

    for rows in everything.partition_by(shared, maintain_order=True):
        over_items = scope_of(rows, shared)
        scopes = [over_items]
        if len(shared) < len(names):
            scopes = [scope_of(own, names) for own in rows.partition_by(names, maintain_order=True)]
        for name in metrics or over_items.usual_metrics:
            for scope in scopes:
                specs += scope.claims_of(name)
            specs += over_items.claims_of_knobs(name)
        for scope in scopes:
            if scope.limit is not None:
                specs += scope.limits_met()
    return specs


@dataclass(frozen=True)
class _Scope:
    """All settings of one workload, load, machine and so on, whatever their system.

    Without a value of the columns of items it is of all of them.
    """

    rows: pl.DataFrame
    values: Mapping[str, Value]
    everything: pl.DataFrame
    catalogue: Catalogue
    alpha: float
    margin: float
    limit: tuple[str, float] | None
    is_synthetic: bool
    performance_metric: str | None

    @cached_property
    def usual_metrics(self) -> list[str]:
        """What is to be saved, energy first; the workload's own performance, or time."""
        costs = (c for c in self.catalogue.costs if self.rows[f"{c}_n"].sum() > 0)
        cost = next(costs, ENERGY)
        return list(dict.fromkeys([cost, self.performance_metric or _USUAL_PERFORMANCE]))

    @cached_property
    def items(self) -> list[str]:
        """Columns of the items that the scope is over: levels are compared at the same item."""
        return [name for name in self.catalogue.item_columns if name not in self.values]

    @cached_property
    def labels(self) -> dict[str, str]:
        """What a sentence calls each system."""
        rows = self.rows.select("system", "system_label").unique().sort("system")
        return {system: label or system or "no system" for system, label in rows.iter_rows()}

    @cached_property
    def systems(self) -> list[str]:
        """Systems with settings beside the default."""
        return self.rows.filter(~pl.col("is_baseline"))["system"].unique().sort().to_list()

    @cached_property
    def log_margin(self) -> float:
        return float(np.log1p(self.margin))

    def claims_of(self, metric: str) -> Iterator[Spec]:
        """List the claims on one metric against the default, and of systems."""
        bound = self._bound(metric)
        studies = self._studies(metric)
        for system, own in studies.items():
            yield from self._against_default(system, metric, bound, own)
        for a, b in combinations(studies, 2):
            yield from self._of_systems(a, b, metric, bound, studies)

    def claims_of_knobs(self, metric: str) -> Iterator[Spec]:
        """List the claims on one metric of the lowest level of each knob against its highest."""
        policies = set(POLICIES.values())
        for system, own in self._studies(metric).items():
            for column in own.knobs:
                if column not in policies:
                    pairs = _level_pairs(own.rows[column], _means_something(own.rows, column))
                    for low, high in pairs:
                        yield from self._of_levels(system, metric, own, column, low, high)

    def _bound(self, metric: str) -> tuple[str, float] | None:
        return self.limit if self.limit is not None and self.limit[0] != metric else None

    def _studies(self, metric: str) -> dict[str, Study]:
        """Return the study of each system of which a run has the metric."""
        if metric not in self._studies_by_metric:
            studies = self._studies_by_metric[metric] = {}
            for system in self.systems:
                with suppress(DataError):
                    studies[system] = self.study_of(system, metric, self._bound(metric))
        return self._studies_by_metric[metric]

    @cached_property
    def _studies_by_metric(self) -> dict[str, dict[str, Study]]:
        return {}

    def study_of(self, system: str, metric: str, bound: tuple[str, float] | None) -> Study:
        """Find the best set of one system; raises as `study`."""
        own = self.rows.filter(pl.col("system") == system, ~pl.col("is_baseline"))
        family = partial(self._family, system)
        ordered = in_order(own, catalogue=self.catalogue)
        return study(ordered, metric, bound, self.alpha, family, catalogue=self.catalogue)

    def _family(self, system: str) -> pl.DataFrame:
        alike = {name: self.values[name] for name in ("dataset", "machine", "workload")}
        same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in alike.items()]
        return self.everything.filter(*same, pl.col("system") == system, ~pl.col("is_baseline"))

    def _against_default(
        self, system: str, metric: str, bound: tuple[str, float] | None, own: Study
    ) -> Iterator[Spec]:
        default, _ = baseline_of(self.rows, system, metric, own, DEFAULT, catalogue=self.catalogue)
        chosen = self._recommended(own, default.row if default else {})
        if default is None or chosen is None or np.isnan(default.cost.variance):
            return
        setting = own.cost.at(chosen)
        if np.isnan(setting.variance):
            return
        members = max(int((own.best.is_member & (own.cost.n >= 2)).sum()), 1)

        def question(alpha: float) -> Comparison:
            change = partial(saving, setting, default.cost, members)
            return outcome_of(change, alpha, self.log_margin)

        def more(alpha: float) -> int | None:
            variances = [float(e.variance * e.n) for e in (setting, default.cost)]
            return more_runs(
                float(setting.mean - default.cost.mean), (variances[0], variances[1]),
                (int(setting.n), int(default.cost.n)), own.cost.prior, members, alpha,
                self.log_margin,
            )  # fmt: skip

        words = self._setting_words(own.rows.row(chosen, named=True))
        yield self._spec(
            "default to tuned", f"{self.labels[system]} with {words}",
            self.labels[default.row["system"]], metric, "", bound, question, more,
            [self._member(SUBJECT, 0, True, own.rows.row(chosen, named=True)),
             self._member(REFERENCE, 0, True, default.row)],
            (int(setting.n), int(default.cost.n)),
        )  # fmt: skip

    def _recommended(self, own: Study, default: Mapping[str, Any]) -> int | None:
        changes, steps = distances(own.settings, default, catalogue=self.catalogue)
        return recommend(own.cost, own.best, changes, steps, self.alpha, self.log_margin).setting

    def _of_systems(
        self,
        a: str,
        b: str,
        metric: str,
        bound: tuple[str, float] | None,
        studies: Mapping[str, Study],
    ) -> Iterator[Spec]:
        both = studies[a], studies[b]
        sides = [Side.of(own.cost, own.best) for own in both]
        if not all(len(side.settings) for side in sides):
            return

        @cache
        def at(alpha: float) -> tuple[Side, ...]:
            """Sets of a smaller error are larger."""
            return tuple(Side.of(own.cost, best_set(own.cost, own.limit, alpha)) for own in both)

        def question(alpha: float) -> Comparison:
            first, second = at(alpha)
            return compare_sides(first, second, alpha, self.log_margin, bound is not None)

        def more(alpha: float) -> int | None:
            first, second = at(alpha)
            after = (
                (_within_after(both[0], first, alpha), _within_after(both[1], second, alpha))
                if bound is not None
                else None
            )
            return more_runs_of_all(first, second, alpha, self.log_margin, after)

        members = [
            self._member(name, i, bool(side.is_within[i]), own.rows.row(int(place), named=True))
            for name, own, side in zip((SUBJECT, REFERENCE), both, sides, strict=True)
            for i, place in enumerate(side.settings)
        ]
        n = [int(side.cost.n.sum()) for side in sides]
        yield self._spec(
            "tuned to tuned", self.labels[a], self.labels[b], metric, "", bound, question, more,
            members, (n[0], n[1]),
        )  # fmt: skip

    def _of_levels(
        self, system: str, metric: str, own: Study, column: str, low: Value, high: Value | None
    ) -> Iterator[Spec]:
        alike = (*own.knobs, *self.items)
        others = [name for name in alike if name not in (column, POLICIES.get(column))]
        numbered = own.rows.with_row_index("place")
        left, right = (
            numbered.filter(pl.col(column).eq_missing(pl.lit(level))) for level in (low, high)
        )
        cells = (
            left.join(right, on=others, nulls_equal=True, suffix="_other", maintain_order="left")
            if others
            else left.join(right, how="cross", suffix="_other")
        )
        lower, higher = (own.cost.at(cells[name].to_numpy()) for name in ("place", "place_other"))
        if not len(cells) or (
            len(cells) == 1 and np.isnan([lower.variance, higher.variance]).any()
        ):
            return
        question, more = self._paired(lower, higher, self._items_of(cells))
        knob = self.catalogue.knob_of_column[column]
        members = [
            self._member(name, i, True, own.rows.row(place, named=True))
            for name, places in ((SUBJECT, cells["place"]), (REFERENCE, cells["place_other"]))
            for i, place in enumerate(places)
        ]
        yield self._spec(
            "knob", knob.words(low), knob.words(high), metric, self.labels[system], None, question,
            more, members, (int(lower.n.sum()), int(higher.n.sum())),
        )  # fmt: skip

    def _items_of(self, cells: pl.DataFrame) -> np.ndarray | None:
        """Return the number of each cell's item; None where all are of one."""
        if not self.items:
            return None
        items = cells.select(self.items).rows()
        numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
        return np.array([numbers[item] for item in items]) if len(numbers) > 1 else None

    def _paired(
        self, lower: Estimates, higher: Estimates, items: np.ndarray | None
    ) -> tuple[Question, Callable[[float], int | None]]:
        """Ask for the mean difference of matched cells; of one cell, for that of its runs."""
        if len(lower.mean) > 1:
            change = partial(paired_change, lower.mean - higher.mean, items=items)
            # More runs of a cell do not make the cells more alike.
            return (lambda alpha: outcome_of(change, alpha, self.log_margin)), lambda _: None
        a, b = lower.at(0), higher.at(0)

        def question(alpha: float, more: int = 0) -> Comparison:
            sides = [with_more_runs(estimates, more) for estimates in (a, b)]
            change = partial(saving, sides[0], sides[1], 1)
            return outcome_of(change, alpha, self.log_margin)

        return question, lambda alpha: more_runs(
            float(a.mean - b.mean), (float(a.variance * a.n), float(b.variance * b.n)),
            (int(a.n), int(b.n)), a.prior, 1, alpha, self.log_margin,
        )  # fmt: skip

    def limits_met(self) -> Iterator[Spec]:
        """List the claims that the setting of a system that saves most energy meets the limit.

        Where none is recommended, the one that is nearest to the limit is judged.
        """
        assert self.limit is not None, "BUG: no limit"
        metric, bound = self.limit
        if f"{ENERGY}_n" not in self.rows.columns:
            return
        for system in self.systems:
            try:
                own = self.study_of(system, ENERGY, self.limit)
            except DataError:
                continue
            assert own.limit is not None, "BUG: a study without its limit"
            default, _ = baseline_of(
                self.rows, system, ENERGY, own, DEFAULT, catalogue=self.catalogue
            )
            chosen = self._recommended(own, default.row if default else {})
            if chosen is None:
                chosen = int(np.nanargmin(own.limit.metric.mean))
            if not own.limit.metric.is_judged[chosen]:
                continue
            row = own.rows.row(chosen, named=True)
            estimate, at = own.limit.metric.at(chosen), own.limit.at
            yield self._spec(
                "limit met", f"{self.labels[system]} with {self._setting_words(row)}",
                f"{bound:g}", metric, "", self.limit,
                partial(_against_limit, estimate, at, self.log_margin),
                partial(more_runs_from, estimate, at, margin=self.log_margin),
                [self._member(SUBJECT, 0, True, row)], (int(estimate.n), 0),
            )  # fmt: skip

    def _spec(
        self, kind: Kind, subject: str, reference: str, metric: str, system_words: str,
        limit: tuple[str, float] | None, question: Question, more: Callable[[float], int | None],
        members: Sequence[Member], n: tuple[int, int],
    ) -> Spec:  # fmt: skip
        scope = {name: value for name, value in self.values.items() if value is not None}
        return Spec(
            kind, subject, reference, metric, system_words, scope, limit, self.is_synthetic,
            question, more, tuple(members), n,
        )  # fmt: skip

    def _member(self, side: str, cell: int, is_within: bool, row: Mapping[str, Any]) -> Member:
        columns = ("system", *self.catalogue.setting_columns, *self.items)
        return Member(side, cell, is_within, {name: row[name] for name in columns})

    def _setting_words(self, row: Mapping[str, Any]) -> str:
        varied = [
            name for name in self.catalogue.setting_columns
            if name in self.catalogue.knob_of_column and row[name] is not None
            and self.rows[name].n_unique() > 1
        ]  # fmt: skip
        words = [self.catalogue.knob_of_column[name].words(row[name]) for name in varied]
        return ", ".join(words) or "its only setting"


def _within_after(own: Study, side: Side, alpha: float) -> Callable[[int], np.ndarray]:
    """Tell which members surely meet the limit after so many more runs of each."""
    assert own.limit is not None, "BUG: no limit"
    limit = own.limit

    def within(more: int) -> np.ndarray:
        after = replace(limit, metric=with_more_runs(limit.metric, more))
        return best_set(own.cost, Limit(after.at, after.metric), alpha).is_within[side.settings]

    return within


def _against_limit(estimate: Estimates, at: float, margin: float, alpha: float) -> Comparison:
    """Compare with a limit; a value as good as the limit does not surely meet it."""
    found = outcome_of(partial(change_from, estimate, at), alpha, margin)
    is_open = found.outcome == "equivalent" and not (found.change.high < 0 or found.change.low > 0)
    return replace(found, outcome="undecided") if is_open else found


def _means_something(rows: pl.DataFrame, column: str) -> bool:
    """Return whether no value of a knob is one setting: no limit, or one and the same policy."""
    if column not in SHIPPED.setting_columns:
        return False
    if (policy := POLICIES.get(column)) is None:
        return True
    policies = rows.filter(pl.col(column).is_null())[policy]
    return policies.null_count() == 0 and policies.n_unique() == 1


def _level_pairs(column: pl.Series, is_none_a_level: bool) -> list[tuple[Any, Any]]:
    """Return the pairs of levels that are compared: lowest to highest; of words, each to one.

    A single number is compared with no value where that means something: no limit, a governor.
    """
    levels = column.drop_nulls().unique().sort().to_list()
    if len(levels) < 2:
        is_pair = len(levels) == 1 and column.null_count() and column.dtype.is_numeric()
        return [(levels[0], None)] if is_pair and is_none_a_level else []
    if column.dtype.is_numeric():
        return [(levels[0], levels[-1])]
    plain = next((level for level in _PLAIN_LEVELS if level in levels), levels[0])
    return [(level, plain) for level in levels if level != plain]
