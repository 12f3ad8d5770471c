"""The columns of one version of a lake: the shipped ones, and those that its datasets declare.

A lake has its catalogue (`lake.catalogue`); who needs titles, filters or knobs gets it as an
argument. `SHIPPED` is the catalogue of a lake without declared columns.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Self

from data.declared import Column, Declared
from data.errors import DataError
from data.knob_table import CONFIGURATION, FURTHER
from data.knobs import POLICIES, Knob, knobs_of
from data.metrics import Metric, metrics_of, plottable_of
from data.selection import Clause, Facet, Selection, Value, facet_named, facets_of
from data.units import kind_of
from data.work_items import ENERGY_OF_ITEM, WorkItem, work_items

AGGREGATE_N: Final = "aggregate_n"
_SD: Final = "sd_"
# Words of columns with the deviations, or the intervals, of means.
_DEVIATIONS: Final = frozenset(
    {"std", "sd", "stdev", "stddev", "stderr", "sem", "ci95", "deviation"}
)
# A statistic of the requests of one run.
_OF_REQUESTS: Final = re.compile(r"_(?:mean|avg|p\d+)_")
# Units of what has one value a run.
_OF_RUNS: Final = frozenset({"J", "Wh", "s"})
# Words of parts of a machine: their energy is not the run's where a whole is there.
PARTS: Final = frozenset(
    [
        "cpu",
        "core",
        "cores",
        "gpu",
        "dram",
        "ram",
        "memory",
        "mem",
        "uncore",
        "psys",
        "disk",
        "net",
        "rail",
    ]
)
_ASIDE: Final = PARTS | {"package", "idle"}


def deviations(names: Iterable[str]) -> list[str]:
    """Return the metrics whose names say that they are the deviations of means; a part is none."""
    words = {name: name.split("_") for name in names}
    return [n for n, of in words.items() if of[-1] != "part" and not _DEVIATIONS.isdisjoint(of)]


def sd_column(name: str) -> str:
    """Return the column with the deviations of a metric's means."""
    return f"{_SD}{name}"


@dataclass(frozen=True, slots=True)
class Aggregates:
    """How the rows of a lake count, in SQL: each as one run, or as the mean of several.

    Attributes:
        has_means: Whether the lake has rows that are means.
        deviations: The metrics whose deviations within a row have a column.
    """

    has_means: bool = False
    deviations: frozenset[str] = frozenset()

    @classmethod
    def of(cls, columns: Iterable[Column]) -> Self:
        """Return those of a lake with these declared columns."""
        names = {column.name for column in columns}
        deviations = (name.removeprefix(_SD) for name in names if name.startswith(_SD))
        return cls(AGGREGATE_N in names, frozenset(deviations))

    def weight_sql(self) -> str:
        """Return the SQL of the number of runs in a row."""
        return f"coalesce({AGGREGATE_N}, 1)" if self.has_means else "1"

    def row_sd_sql(self, name: str) -> str:
        """Return the SQL of a metric's deviation within a row.

        NULL for one run, and where it is not known.
        """
        return f"{sd_column(name)}::DOUBLE" if name in self.deviations else "NULL::DOUBLE"

    def count_sql(self, value: str = "*", there: str = "") -> str:
        """Return the SQL of the number of runs in a group of rows.

        Args:
            value: Counted where it is not NULL.
            there: A FILTER clause.
        """
        if not self.has_means:
            return f"count({value}) {there}".rstrip()
        is_there = "" if value == "*" else f" * ({value} IS NOT NULL)::BIGINT"
        return f"coalesce(sum({self.weight_sql()}{is_there}) {there}, 0)::BIGINT"

    def values_sql(self, value: str) -> str:
        """Return the SQL of n behind a metric in a group of rows that have it.

        A row that is a mean of several runs and states no deviation of the metric counts as one.
        """
        if not self.has_means:
            return self.count_sql()
        is_known = f"{self.row_sd_sql(value)} IS NOT NULL"
        return f"sum(CASE WHEN {is_known} THEN {self.weight_sql()} ELSE 1 END)::BIGINT"

    def mean_sql(self, value: str, there: str = "") -> str:
        """Return the SQL of a metric's mean over all runs in a group of rows.

        Rounding takes it beyond none of the values: the mean of equal numbers is that number.

        Args:
            value: The metric's column, perhaps with a cast.
            there: A FILTER clause.
        """
        least, mean, most = (f"{name}({value}) {there}".rstrip() for name in ("min", "avg", "max"))
        if self.has_means:
            pooled = f"sum({self.weight_sql()} * {value}) {there} / ({self._total(value, there)})"
            mean = f"CASE WHEN {self._is_plain(value, there)} THEN {mean} ELSE {pooled} END"
        return f"greatest(least({mean}, {most}), {least})"

    def sd_sql(self, value: str, there: str = "") -> str:
        """Return the SQL of a metric's sample standard deviation over all runs in a group of rows.

        NULL for one run, and where a row's own deviation is not known. Arguments as of `mean_sql`.
        """
        plain = f"stddev_samp({value}) {there}".rstrip()
        if not self.has_means:
            return plain
        weight, real = self.weight_sql(), f"({value})::DOUBLE"
        sd = self.row_sd_sql(value.split("::")[0])
        total = self._total(value, there)
        within = f"sum(({weight} - 1) * CASE WHEN {weight} > 1 THEN {sd} * {sd} ELSE 0 END) {there}"
        squares = f"sum({weight} * {real} * {real}) {there}"
        square = f"pow(sum({weight} * {real}) {there}, 2) / ({total})"
        is_known = f"bool_and({weight} = 1 OR {value} IS NULL OR {sd} IS NOT NULL) {there}"
        measured = there or f"FILTER ({value} IS NOT NULL)"
        alone = f"any_value({sd}) {measured}"
        pooled = f"sqrt(greatest({within} + {squares} - {square}, 0) / (({total}) - 1))"
        return (
            f"CASE WHEN {self._is_plain(value, there)} THEN {plain} "
            f"WHEN NOT ({is_known}) THEN NULL "
            f"WHEN count({value}) {there} = 1 THEN {alone} ELSE {pooled} END"
        )

    def _total(self, value: str, there: str) -> str:
        return f"sum({self.weight_sql()} * ({value} IS NOT NULL)::BIGINT) {there}"

    def _is_plain(self, value: str, there: str) -> str:
        """Return the SQL of whether all rows with a value are single runs."""
        most = f"max({self.weight_sql()} * ({value} IS NOT NULL)::BIGINT)"
        return f"coalesce({most} {there}, 1) <= 1"


@dataclass(frozen=True)
class Catalogue:
    """The columns of a lake. Each attribute is computed once, when it is first read.

    Attributes:
        columns: The declared columns, in the order of the lake.
        doubts: Metrics of which a unit is a guess, and the datasets where it is.
    """

    columns: Declared = ()
    doubts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @staticmethod
    @lru_cache(maxsize=16)
    def of(columns: Declared, doubts: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> "Catalogue":
        """Return the catalogue of a lake with these declared columns: one for each set of them."""
        return Catalogue(columns, doubts)

    def among(self, datasets: Collection[Value]) -> "Catalogue":
        """Return the catalogue of some datasets: a unit that others guess is no doubt here."""
        of_these = ((name, tuple(filter(set(datasets).__contains__, w))) for name, w in self.doubts)
        return Catalogue.of(self.columns, tuple((name, w) for name, w in of_these if w))

    @cached_property
    def facets(self) -> Mapping[str, Facet]:
        """All filters, by the names that stand in URLs."""
        return facets_of(self.columns)

    @cached_property
    def knobs(self) -> Mapping[str, Knob]:
        """All knobs, by the name of their filter."""
        return knobs_of(self.columns)

    @cached_property
    def knob_of_column(self) -> Mapping[str, Knob]:
        """All knobs, by their column of `runs`."""
        return {knob.column: knob for knob in self.knobs.values()}

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """All columns: knobs, those of metrics.toml, declared, then energies of items of work."""
        of_work = tuple(item.column for item in self.work_items)
        metrics = metrics_of((*self.columns, *of_work))
        doubts = dict(self.doubts)
        if energy := doubts.get("energy_j"):
            doubts |= dict.fromkeys(self.costs_of_work, energy)
        return metrics | {n: replace(metrics[n], doubted_in=where) for n, where in doubts.items()}

    def metric(self, name: str) -> Metric:
        """Look up one column.

        Raises:
            DataError: No column has that name.
        """
        try:
            return self.metrics[name]
        except KeyError:
            raise DataError(f"no such column of runs: {name!r}") from None

    @cached_property
    def plottable(self) -> tuple[str, ...]:
        """Names of the numeric columns, stored, derived, declared, for axes and heatmaps."""
        return (*plottable_of(self.columns), *self.costs_of_work)

    @cached_property
    def work_items(self) -> tuple[WorkItem, ...]:
        """Energies of items of work that follow from what datasets count."""
        return work_items(self.columns)

    @cached_property
    def costs_of_work(self) -> tuple[str, ...]:
        """Columns of `work_items`: those of a dataset's own counts."""
        return tuple(item.column.name for item in self.work_items)

    def costs_of_times(self, is_loaded: bool = False) -> tuple[str, ...]:
        """Energies of items that follow from counts, by which equally long runs are compared.

        Args:
            is_loaded: Whether a load was set: requests are the work then, whether or not all of
                them were answered.
        """
        return (*self.costs_of_work, *(() if is_loaded else ("energy_per_request_uj",)))

    @cached_property
    def costs(self) -> tuple[str, ...]:
        """Columns of what is to be saved, best first: energy, that of an item of work, power, and
        energies of parts of the machine. What follows from other columns is after what is stated.
        """
        whole = ("energy_j", *self.costs_of_items, *self.costs_of_times(), "power_w")
        return (*whole, *self.costs_of_parts)

    @cached_property
    def costs_of_parts(self) -> tuple[str, ...]:
        """Columns of the energies of parts of the machine, or of phases of the run."""
        own = [c for c in self.columns if c.role == "metric" and c.better == "less"]
        return tuple(c.name for c in own if kind_of(c.unit) in ("J", "Wh"))

    @cached_property
    def costs_of_items(self) -> tuple[str, ...]:
        """Columns of the energy of an item of work, that of the whole machine first."""
        of_items = [
            c.name for c in self.columns if c.role == "metric" and ENERGY_OF_ITEM.fullmatch(c.unit)
        ]
        # The name of a part's energy has a word more than that of the whole.
        whole_first = sorted(
            of_items, key=lambda name: (not _ASIDE.isdisjoint(name.split("_")), name.count("_"))
        )
        return tuple(whole_first)

    @cached_property
    def means_of_unstated(self) -> tuple[str, ...]:
        """The deviations of energies and times beside which no number of runs stands.

        Rows with them are means. Powers are sampled within a run, and latencies are of its
        requests; but the deviation of a mean or a percentile of these, as in `latency_p95_ms_std`,
        is of runs.
        """
        if self.aggregates.has_means:
            return ()
        return tuple(
            name
            for name in deviations(self.metrics)
            if kind_of(self.metrics[name].unit) in _OF_RUNS
            and ("latency" not in name or _OF_REQUESTS.search(name))
        )

    @cached_property
    def further_knobs(self) -> tuple[str, ...]:
        """Columns of the knobs that no view lays out by itself: shipped, then declared."""
        return (*FURTHER, *(column.name for column in self.columns if column.role == "knob"))

    @cached_property
    def configuration(self) -> tuple[str, ...]:
        """Columns in which the replicates of one configuration agree."""
        return (*CONFIGURATION, *self.further_knobs)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Columns of a point that figures and tables show beside its values."""
        named = (name for name in CONFIGURATION if not name.endswith("_policy"))
        return (*named, "replicate", "n", "logged", "flags", *self.further_knobs)

    @cached_property
    def choice_columns(self) -> tuple[str, ...]:
        """Columns that are the same within one choice: given knobs and system.

        Only runs that agree in them compete for the best setting.
        """
        return (*(knob.column for knob in self.knobs.values() if knob.is_given), "system")

    @cached_property
    def item_columns(self) -> tuple[str, ...]:
        """Given knobs that a dataset declares: the programs, inputs, questions that were run.

        The effect of a setting is judged over all of them, each compared with itself.
        """
        return tuple(c.name for c in self.columns if c.role == "knob" and c.is_given)

    @cached_property
    def setting_columns(self) -> tuple[str, ...]:
        """Columns of a setting: all knobs that are not given, and their policies."""
        own = (name for name in self.knob_of_column if name not in self.choice_columns)
        return tuple(name for knob in own for name in (knob, POLICIES.get(knob)) if name)

    @cached_property
    def aggregates(self) -> Aggregates:
        """How rows count: as one run, or as the mean of several."""
        return Aggregates.of(self.columns)

    def selection(self, values: Mapping[str, Sequence[Value]]) -> Selection:
        """Build the filters from the values of each facet; an empty sequence gives no clause.

        Raises:
            SelectionError: No such facet, or a value of the wrong type.
        """
        return Selection(
            tuple(
                Clause(facet_named(name, self.facets), tuple(chosen))
                for name, chosen in values.items()
                if chosen
            )
        )


SHIPPED: Final = Catalogue.of(())
