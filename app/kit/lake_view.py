"""One open version of the lake, shared by all visitors and read-only."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from threading import Condition
from typing import Any, Final, TypeVar, cast

import polars as pl
from cachetools import LRUCache, cached

from app.kit.answer_cache import (
    KEPT_ROWS,
    AnswerCache,
    KnownColumns,
    StoredAnswers,
    compact,
    copied,
    known_columns,
    unchanged,
)
from app.kit.settings import MAX_ROWS
from data.analysis.coded_rows import Part
from data.analysis.facet_counts import LEADING, FacetCounts, MetricRange, matches, ranges_of
from data.connection import Lake
from data.errors import LakeError
from data.order import MOST_RUNS, NO_ORDER, Order, order_of
from data.queries.runs import chosen_counts_query, facet_cube_query, outline_query, ranges_query
from data.run_files import RunFiles
from data.selection import Selection, Value

_REMEMBERED: Final = 256
# From this number of runs on, cubes of settings are computed by dataset.
LARGE_LAKE_RUNS: Final = 500_000
_KEPT_CUBES: Final = 3
# Tables with one row per setting of a study.
_KEPT_KNOWN: Final = 24
# Results that may have megabytes each.
_REMEMBERED_LARGE: Final = 4
_FIRST_RUNS: Final = 50_000
_EVERY: Final = Selection()
# Builds a query for the runs of a selection, with a maximum number of rows.
Query = Callable[[Selection, int], tuple[str, list[Any]]]
Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)
# Runs a query, given the lake, SQL and parameters.
Ask = Callable[["LakeView", str, Sequence[Any]], pl.DataFrame]


class LakeView:
    """One open version of the lake, with the data that every page needs, computed once."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.catalogue = lake.catalogue
        self._sets = AnswerCache(self.ask)
        self._replicates = AnswerCache(self.ask, KEPT_ROWS)
        self._asked: dict[Ask, AnswerCache] = {}
        self._once, self._once_large = (
            cached(LRUCache(most), condition=Condition())(self._answer)
            for most in (_REMEMBERED, _REMEMBERED_LARGE)
        )
        self._known = lru_cache(maxsize=_KEPT_KNOWN)(self._find_known)
        self._cube = lru_cache(maxsize=_KEPT_CUBES)(self._find_cube)
        self._counts = lru_cache(maxsize=_KEPT_CUBES)(self._count)
        self._left = cached(LRUCache(_REMEMBERED_LARGE), condition=Condition())(self._find_left)

    @property
    def version(self) -> int:
        """Version of the lake; -1 while it has no runs."""
        return self.lake.version

    @property
    def words(self) -> str:
        """The lake's name and version."""
        return f"lake {self.lake.path.name}, version {self.version}"

    @cached_property
    def outline(self) -> pl.DataFrame:
        """Answer of `outline_query`."""
        return self.lake.polars(*outline_query(MAX_ROWS, catalogue=self.catalogue))

    def ask(self, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
        """Answer a query; a large lake's answer is stored."""
        return self.stored((sql, *parameters), partial(self.lake.polars, sql, parameters))

    def stored(self, question: Sequence[object], ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return the answer of `ask`; a large lake's answer is stored.

        Args:
            question: Its representation tells the answer from all others of this version.
        """
        return self._stored.get(repr(question), ask) if self.is_large else ask()

    @cached_property
    def _stored(self) -> StoredAnswers:
        return StoredAnswers(self.lake)

    @property
    def is_large(self) -> bool:
        """Whether the pages compute what depends on settings for the chosen datasets alone."""
        return self.runs > LARGE_LAKE_RUNS

    def cube_of(self, selection: Selection) -> pl.DataFrame:
        """Return the answer of `facet_cube_query`; in a large lake, of the chosen datasets alone.

        Raises:
            LakeError: The runs have too many combinations of settings.
        """
        return self._cube(self._studied(selection))

    def left(self, selection: Selection) -> pl.DataFrame:
        """Return the rows of `cube_of` that match the filters."""
        return self.part_left(selection).rows

    def part_left(self, selection: Selection) -> Part:
        """Return the rows of `left` by their indices."""
        return self._left(selection)

    def _find_left(self, selection: Selection) -> Part:
        return self.counts_of(selection).part(selection)

    def matching(self, selection: Selection) -> int:
        """Return the number of runs that match the filters."""
        return int(self.part_left(selection).numbers("runs").sum())

    def _find_cube(self, studied: Selection) -> pl.DataFrame:
        query = facet_cube_query(MAX_ROWS + 1, studied, catalogue=self.catalogue)
        cube = self.ask(*query)
        if len(cube) > MAX_ROWS:
            raise LakeError(f"more than {MAX_ROWS:,} combinations of settings; choose a dataset")
        return copied(cube)

    def counts_of(self, selection: Selection) -> FacetCounts:
        """Return the counts of runs behind each choice of a filter."""
        return self._counts(self._studied(selection))

    def _count(self, studied: Selection) -> FacetCounts:
        outline = self.outline if self.is_large else None
        return FacetCounts(self._cube(studied), outline, catalogue=self.catalogue)

    def _studied(self, selection: Selection) -> Selection:
        """Return the filters on datasets in a large lake, else on workloads; none in others."""
        if not self.is_large:
            return _EVERY
        by_facet = (Selection.of(**{name: selection.values(name)}) for name in LEADING)
        return next((one for one in by_facet if one.clauses), _EVERY)

    def first_study(self, is_storage: bool = False) -> Selection:
        """Return the filter on the dataset with most runs in a large lake; none in others.

        Args:
            is_storage: Choose among datasets with storage runs.
        """
        left = self.outline.filter(is_storage=True) if is_storage else self.outline
        if not self.is_large or not len(left):
            return Selection()
        totals = left.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
        return Selection.of(dataset=[totals["dataset"][-1]])

    @cached_property
    def is_synthetic(self) -> bool:
        """Whether any run is synthetic."""
        return bool(len(self.outline)) and bool(self.outline["is_synthetic"].any())

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each system."""
        return dict(self.outline.select("system", "system_label").unique().iter_rows())

    @cached_property
    def files(self) -> RunFiles:
        """The runs' big files."""
        return RunFiles(self.lake)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems of the lake, sorted."""
        return tuple(self.outline["system"].unique().drop_nulls().sort())

    @property
    def cached_rows(self) -> int:
        """Rows of the cached answers."""
        return sum(c.rows for c in (self._sets, self._replicates, *tuple(self._asked.values())))

    @cached_property
    def runs(self) -> int:
        """Number of runs in the lake."""
        return int(self.outline["runs"].sum())

    def constants(self, selection: Selection) -> dict[str, Any]:
        """Return the cube's columns with one value in all runs that match the leading filters."""
        return self.once(_constants, leading(selection))

    def varying(self, selection: Selection) -> frozenset[str]:
        """Return the cube's columns with several values in the runs of the leading filters."""
        return frozenset(self.cube_of(selection).columns) - self.constants(selection).keys()

    def known(self, selection: Selection, columns: tuple[str, ...]) -> KnownColumns:
        """Return which of some columns queries may leave out under the leading filters.

        Args:
            columns: Columns of the cube; others are ignored.
        """
        return self._known(leading(selection), columns)

    def _find_known(self, selection: Selection, columns: tuple[str, ...]) -> KnownColumns:
        left = self.left(selection)
        return known_columns(left, [name for name in columns if name in left.columns])

    def narrowed(
        self,
        query: Query,
        selection: Selection,
        known: KnownColumns | None = None,
        is_replicates: bool = False,
        is_each_run: bool = False,
    ) -> Part:
        """Answer a query whose rows have the facets' columns, each with one value per row.

        The lake is queried once per setting of the leading filters (dataset, workload); the others
        are applied to that answer in memory. An answer too large to cache is queried with all
        filters.

        Args:
            known: Columns that the query leaves out and the answer has.
            is_replicates: Whether the rows have lists; a separate cache holds fewer of these.
            is_each_run: Whether each row is a run: then their number is known in advance.
        """
        finish = known.added_to if known else unchanged
        sets = self._replicates if is_replicates else self._sets
        coded = None
        if not is_each_run or self.once(LakeView.matching, leading(selection)) <= KEPT_ROWS:
            coded = sets.coded(*query(leading(selection), KEPT_ROWS + 1), finish)
        if coded is None:
            rows = finish(compact(self.lake.polars(*query(selection, MAX_ROWS))))
            return Part.of(rows)
        others = [clause for clause in selection.clauses if clause.facet.name not in LEADING]
        return coded.part(others)

    def cached(self, ask: Ask, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
        """Answer a page's own query of this version, cached.

        Args:
            ask: A module-level function; each has its own cache.
        """
        cache = self._asked.setdefault(ask, AnswerCache(partial(ask, self)))
        answer = cache.get(sql, parameters)
        return ask(self, sql, parameters) if answer is None else answer

    def answered(self, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
        """Answer a query with few rows, cached."""
        answer = self._sets.get(sql, parameters)
        return compact(self.lake.polars(sql, parameters)) if answer is None else answer

    def once(
        self, question: Callable[["LakeView", Key], Found], key: Key, is_large: bool = False
    ) -> Found:
        """Call a function of the lake and a selection or state; its result is cached.

        Simultaneous callers of one question wait for one result.

        Args:
            is_large: Whether a result may have megabytes; fewer of these are cached.
        """
        kept = self._once_large if is_large else self._once
        return cast(Found, kept(question, key))

    def _answer(self, question: Callable[["LakeView", Any], Any], key: Hashable) -> Any:
        return question(self, key)

    def order(self, selection: Selection) -> Order:
        """Return the order of the runs of a selection, of the choices that its filters leave.

        In a large lake nothing is checked without a filter on datasets or workloads, nor where this
        filter leaves more runs than a check reads: it would take the time of many views.
        """
        studied = self._studied(selection)
        if self.is_large and (not studied.clauses or self.matching(studied) > MOST_RUNS):
            return replace(NO_ORDER, is_cut=True)
        return self.once(_order, studied).left(selection)

    def measured_columns(self, selection: Selection) -> tuple[str, ...]:
        """Return the columns with a value in at least one run of the workloads, in schema order.

        Args:
            selection: Of its filters, those on workloads count, and in a large lake those on
                datasets.
        """
        if self.is_large:
            return self.once(_measured, leading(selection))
        ranges = self.ranges(Selection.of(workload=selection.values("workload")))
        return tuple(name for name, known in ranges.items() if known.runs)

    def ranges(self, selection: Selection) -> dict[str, MetricRange]:
        """Return the range of each metric over the chosen runs."""
        return self.once(_ranges, selection)


@lru_cache(_REMEMBERED)
def leading(selection: Selection) -> Selection:
    """Return the clauses on the leading facets; runs that are left out stay left out."""
    clauses = tuple(c for c in selection.clauses if c.facet.name in LEADING)
    return Selection(clauses, selection.without)


def of_workload(view: LakeView, datasets: Sequence[Value], workload: str | None) -> Selection:
    """Return the filters on some datasets and a workload.

    Args:
        workload: If the datasets lack it, their first one by name; none if they have none.
    """
    base = Selection.of(dataset=datasets)
    offered = [choice.value for choice in view.counts_of(base).of("workload", base)]
    chosen = workload if workload in offered else next(iter(offered), None)
    return base if chosen is None else base.with_values("workload", [chosen])


def _order(view: LakeView, selection: Selection) -> Order:
    return order_of(view.lake, selection)


def _constants(view: LakeView, selection: Selection) -> dict[str, Any]:
    left = view.left(selection).drop("runs")
    return {column.name: column[0] for column in left if column.n_unique() == 1}


def _ranges(view: LakeView, selection: Selection) -> dict[str, MetricRange]:
    names = view.catalogue.plottable
    if not view.is_large and selection == Selection(leading(selection).clauses):
        table = view.once(_ranges_of_studies, Selection())
        return ranges_of(table.filter(matches(selection)), names)
    return ranges_of(view.ask(*ranges_query(selection, names, (), 1)), names)


def _ranges_of_studies(view: LakeView, _: Selection) -> pl.DataFrame:
    return view.ask(*ranges_query(Selection(), view.catalogue.plottable, LEADING, MAX_ROWS))


def _measured(view: LakeView, chosen: Selection) -> tuple[str, ...]:
    counts: dict[str, int] = dict.fromkeys(view.catalogue.plottable, 0)
    # The first runs of a large lake have most columns that any run has: few are left for the rest.
    for most_runs in (_FIRST_RUNS, None):
        if missing := [name for name, count in counts.items() if not count]:
            query = chosen_counts_query(
                chosen, missing, catalogue=view.catalogue, most_runs=most_runs
            )
            counts |= view.ask(*query).row(0, named=True)
    return tuple(name for name, count in counts.items() if count)
