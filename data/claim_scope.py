"""The settings that claims are about: those of one workload, load and machine, all systems."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from data.analysis.best_set import recommend
from data.analysis.claims import (
    Question,
)
from data.analysis.coded_rows import Part
from data.analysis.mirrored import mirrored
from data.analysis.noise import Prior
from data.baselines import distances
from data.catalogue import Catalogue
from data.choices import Study, Value, in_order, prior_in, study
from data.errors import DataError
from data.metrics import TOTALS
from data.queries.claims import Member
from data.queries.runs import UNLIKE
from data.work_items import counts_of_work

Kind = Literal["default to tuned", "tuned to tuned", "knob", "limit met"]


ENERGY: Final = "energy_j"
# What a scope is judged by where no metric is asked for.
USUAL_PERFORMANCE: Final = "duration_s"
# The agreement of the network study; it is none of a study whose measurements are a guess.
LIMIT: Final = ("latency_p99_us", 500.0)
# Where all values are so many times the limit, or under such a part of it, nobody agreed on it.
_FAR: Final = 1000.0


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
        unlike_work: The counts of work in which runs that are not matched differ, in words.
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
    unlike_work: str = ""


def is_near_limit(low: float, high: float) -> bool:
    """Return whether values from one to another are not all far from LIMIT; not so if NaN."""
    return low <= _FAR * LIMIT[1] and high >= LIMIT[1] / _FAR


@dataclass(frozen=True)
class Scope:
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
        """What is to be saved, energy first; the workload's own performance, or time.

        Of runs that did unequal amounts of work it is the energy of an item, and no time.
        """
        measured = [c for c in self.catalogue.costs if self.rows[f"{c}_n"].sum() > 0]
        performance = self.performance_metric or USUAL_PERFORMANCE
        is_loaded = self.values.get("load_qps") is not None
        of_times = self.catalogue.costs_of_times(is_loaded) if self._is_as_long else ()
        costs = (*self.catalogue.costs_of_items, *of_times)
        of_items = [c for c in costs if c in measured]
        if ENERGY in measured and of_items and self._is_unlike(of_items[0]):
            shared = [] if performance == "duration_s" else [performance]
            return list(dict.fromkeys([of_items[0], *shared]))
        return list(dict.fromkeys([*(measured[:1] or [ENERGY]), performance]))

    @property
    def _is_as_long(self) -> bool:
        """Whether all settings took equally long."""
        times = self.rows[f"{USUAL_PERFORMANCE}_mean"].to_numpy()
        return bool(len(times) and times.max() <= UNLIKE * times.min())

    def _is_unlike(self, of_item: str) -> bool:
        """Return whether the energies of an item tell that runs did other amounts of work.

        As `unlike_work_query`, of the means of settings.
        """
        amount = pl.col(f"{ENERGY}_mean") / pl.col(f"{of_item}_mean")
        own = self.rows.select(*self.items, amount=amount).drop_nulls("amount")
        groups = own.partition_by(self.items) if self.items else [own]
        amounts = [each["amount"].to_numpy() for each in groups if len(each)]
        return any(bool(each.max() > UNLIKE * each.min() > 0) for each in amounts)

    @cached_property
    def _counts_of_work(self) -> list[str]:
        names = counts_of_work(self.catalogue.columns)
        return [name for name in names if f"{name}_mean" in self.rows.columns]

    def counts_apart(self, metric: str, rows: pl.DataFrame) -> list[str]:
        """Return the counts of work in which some settings differ, if a metric grows with it.

        As `unlike_counts_query`, of the means of settings.
        """
        if metric not in TOTALS:
            return []
        total, found = pl.col(f"{metric}_mean").log(), []
        for name in self._counts_of_work:
            count = pl.col(f"{name}_mean").log()
            known = rows.filter(count.is_finite(), total.is_finite())
            is_apart = count.max() - count.min() > np.log(UNLIKE)
            is_work = is_apart & ((total - count).std() < total.std())
            here = known.group_by(self.items or pl.lit(0)).agg(is_work=is_work)
            found += [name] if here["is_work"].any() else []
        return found

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

    def bound(self, metric: str) -> tuple[str, float] | None:
        return self.limit if self.limit is not None and self.limit[0] != metric else None

    def studies(self, metric: str) -> dict[str, Study]:
        """Return the study of each system of which a run has the metric."""
        if metric not in self._studies_by_metric:
            studies = self._studies_by_metric[metric] = {}
            for system in self.systems:
                with suppress(DataError):
                    studies[system] = self.study_of(system, metric, self.bound(metric))
        return self._studies_by_metric[metric]

    @cached_property
    def _studies_by_metric(self) -> dict[str, dict[str, Study]]:
        return {}

    def study_of(self, system: str, metric: str, bound: tuple[str, float] | None) -> Study:
        """Find the best set of one system; raises as `study`."""
        own = self.rows.filter(pl.col("system") == system, ~pl.col("is_baseline"))
        lent = partial(self._prior, system)
        ordered = in_order(own, catalogue=self.catalogue)
        return study(Part.of(ordered), metric, bound, self.alpha, lent, catalogue=self.catalogue)

    def _prior(self, system: str, metric: str) -> Prior:
        alike = {name: self.values[name] for name in ("dataset", "machine", "workload")}
        same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in alike.items()]
        family = [*same, pl.col("system") == system, ~pl.col("is_baseline")]
        return prior_in(Part.of(self.everything.filter(*family)), metric)

    def recommended(self, own: Study, default: Mapping[str, Any]) -> int | None:
        changes, steps = distances(own, default, catalogue=self.catalogue)
        return recommend(own.cost, own.best, changes, steps, self.alpha, self.log_margin).setting

    def items_of(self, cells: pl.DataFrame) -> np.ndarray | None:
        """Return the number of each cell's item; None where all are of one."""
        if not self.items:
            return None
        items = cells.select(self.items).rows()
        numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
        return np.array([numbers[item] for item in items]) if len(numbers) > 1 else None

    def spec(
        self, kind: Kind, subject: str, reference: str, metric: str, system_words: str,
        limit: tuple[str, float] | None, question: Question, more: Callable[[float], int | None],
        members: Sequence[Member], n: tuple[int, int],
    ) -> Spec:  # fmt: skip
        scope = {name: value for name, value in self.values.items() if value is not None}
        # The cells of a knob are matched in their work too; what meets a limit is not compared.
        apart = [] if kind in ("knob", "limit met") else self.counts_apart(metric, self.rows)
        work = f"though runs differ in {', '.join(apart)}" if apart else ""
        return Spec(
            kind, subject, reference, metric, system_words, scope, limit, self.is_synthetic,
            question, more, tuple(members), n, work,
        )  # fmt: skip

    def member(self, side: str, cell: int, is_within: bool, row: Mapping[str, Any]) -> Member:
        columns = ("system", *self.catalogue.setting_columns, *self.items)
        return Member(side, cell, is_within, {name: row[name] for name in columns})

    def setting_words(self, row: Mapping[str, Any]) -> str:
        varied = [
            name for name in self.catalogue.setting_columns
            if name in self.catalogue.knob_of_column and row[name] is not None
            and self.rows[name].n_unique() > 1
        ]  # fmt: skip
        again = mirrored(self.rows, varied)
        named = [name for name in varied if name not in again]
        words = [self.catalogue.knob_of_column[name].words(row[name]) for name in named]
        return ", ".join(words) or "its only setting"
