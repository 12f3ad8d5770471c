"""The versions of the lake that this process has open, shared by all visitors and read-only.

Nothing in here belongs to one visitor: any worker can answer any request.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

import polars as pl

from app.kit.answer_cache import KEPT_ROWS, AnswerCache, compact
from app.kit.settings import MAX_ROWS
from data.analysis.facets import LEADING, matches
from data.connection import Lake, newest_version, open_lake
from data.declared import put_in_force
from data.metrics import plottable
from data.queries.best import baselines_query
from data.queries.facets import facet_cube_query
from data.queries.runs import value_counts_query
from data.run_files import RunFiles
from data.selection import Selection

_KEPT_VERSIONS: Final = 4
_REMEMBERED: Final = 256
# A question for the runs of a selection, with at most so many rows in the answer.
Query = Callable[[Selection, int], tuple[str, list[Any]]]
# Answers a query, given the lake, SQL and parameters.
Ask = Callable[["LakeView", str, Sequence[Any]], pl.DataFrame]


class LakeView:
    """One open version and what every page needs of it, computed once."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._measured = lru_cache(maxsize=_REMEMBERED)(self._measure)
        self._sets = AnswerCache(lake.polars)
        self._replicates = AnswerCache(lake.polars, KEPT_ROWS)
        self._asked: dict[Ask, AnswerCache] = {}
        self._once = lru_cache(maxsize=_REMEMBERED)(self._answer)
        self._constants = lru_cache(maxsize=_REMEMBERED)(self._constant)

    @property
    def version(self) -> int:
        """Version of the lake; -1 while it holds nothing."""
        return self.lake.version

    @cached_property
    def cube(self) -> pl.DataFrame:
        """Answer of `facet_cube_query`."""
        return self.lake.polars(*facet_cube_query(MAX_ROWS))

    @cached_property
    def files(self) -> RunFiles:
        """The runs' big files."""
        return RunFiles(self.lake)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems of the lake, sorted."""
        return tuple(self.cube["system"].unique().drop_nulls().sort())

    @property
    def runs(self) -> int:
        """How many runs the lake holds."""
        return int(self.cube["runs"].sum())

    def constants(self, selection: Selection) -> dict[str, Any]:
        """The cube's columns that have one value in all runs that the leading filters leave."""
        return self._constants(leading(selection))

    def _constant(self, selection: Selection) -> dict[str, Any]:
        left = self.cube.filter(matches(selection)).drop("runs")
        return {column.name: column[0] for column in left if column.n_unique() == 1}

    def narrowed(self, query: Query, selection: Selection) -> pl.DataFrame:
        """Answer a query whose rows carry the facets' columns, each row by one value of them.

        The lake is asked once for the filters that lead (dataset, workload); the others narrow
        that answer here. An answer too large to keep is asked for with all filters each time.
        """
        return self._narrowed(self._sets, query, selection)

    def replicates(
        self, query: Query, selection: Selection, constant: Mapping[str, Any]
    ) -> pl.DataFrame:
        """As `narrowed`, for rows that carry lists: fewer of them are kept, for they are heavy.

        Args:
            constant: Columns that the query leaves out, because they have these values throughout.
        """
        return self._narrowed(self._replicates, query, selection, constant)

    def _narrowed(
        self,
        sets: AnswerCache,
        query: Query,
        selection: Selection,
        constant: Mapping[str, Any] = MappingProxyType({}),
    ) -> pl.DataFrame:
        left_out = [
            pl.lit(value, self.cube.schema[name]).alias(name) for name, value in constant.items()
        ]
        kept = sets.get(*query(leading(selection), KEPT_ROWS + 1))
        if kept is None:
            return compact(self.lake.polars(*query(selection, MAX_ROWS))).with_columns(left_out)
        whole = kept.with_columns(left_out)
        return whole if selection == leading(selection) else whole.filter(matches(selection))

    def executed(
        self, query: Query, selection: Selection, is_replicates: bool = False
    ) -> tuple[str, list[Any], bool]:
        """Return the query that `narrowed` executes for a selection, for explanations.

        Args:
            is_replicates: The rows come from `replicates` instead.

        Returns:
            SQL, parameters, and whether the rows of its answer are filtered afterwards here.
        """
        asked = query(leading(selection), KEPT_ROWS + 1)
        if (self._replicates if is_replicates else self._sets).get(*asked) is None:
            return *query(selection, MAX_ROWS), False
        return *asked, selection != leading(selection)

    def kept(self, ask: Ask, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
        """Answer a page's own question of this version, from memory where it was asked before.

        Args:
            ask: A function of a module; each has a cache of its own.
        """
        cache = self._asked.setdefault(ask, AnswerCache(partial(ask, self)))
        answer = cache.get(sql, parameters)
        return ask(self, sql, parameters) if answer is None else answer

    def baselines(
        self, selection: Selection, performance: str, cost: str = "energy_j"
    ) -> pl.DataFrame:
        """Answer of `baselines_query` for all loads of the datasets and workloads selected."""
        sql, parameters = baselines_query(leading(selection), performance, cost=cost)
        kept = self._sets.get(sql, parameters)
        return compact(self.lake.polars(sql, parameters)) if kept is None else kept

    def once(self, question: Callable[["LakeView", Selection], str], selection: Selection) -> str:
        """Answer a question about a selection, from memory when it was asked before."""
        return self._once(question, selection)

    def _answer(
        self, question: Callable[["LakeView", Selection], str], selection: Selection
    ) -> str:
        return question(self, selection)

    def measured_columns(self, workload: str) -> tuple[str, ...]:
        """Columns that at least one run of the workload has a value in, in schema order."""
        return self._measured(workload)

    def _measure(self, workload: str) -> tuple[str, ...]:
        row = self.lake.polars(*value_counts_query(workload, plottable())).row(0, named=True)
        return tuple(name for name, count in row.items() if count)


def leading(selection: Selection) -> Selection:
    """The clauses on the facets that lead."""
    return Selection(tuple(c for c in selection.clauses if c.facet in LEADING))


class HasVersion(Protocol):
    """What any page's state has."""

    @property
    def lake_version(self) -> int | None:
        """A version that the link pins; None for the newest."""


State = TypeVar("State", bound=HasVersion)


class Lakes:
    """Opens versions of one lake and keeps the last few."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: OrderedDict[int, LakeView] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, version: int | None) -> LakeView:
        """One version, or the newest; its declared columns are in force from here on.

        Raises:
            LakeError: The lake has no such version.
        """
        if version is None:
            version = newest_version(self.path)
        with self._lock:
            if version not in self._open:
                wanted = None if version < 0 else version
                self._open[version] = LakeView(open_lake(self.path, wanted))
                while len(self._open) > _KEPT_VERSIONS:
                    self._open.popitem(last=False)
            self._open.move_to_end(version)
            view = self._open[version]
        put_in_force(view.lake.columns)
        return view

    def asked(self, read: Callable[[str], State], query: str) -> tuple[LakeView, State]:
        """Read a link, and open the version that it pins.

        Args:
            read: Reads a state from a query; refuses one that names what the version lacks.

        Raises:
            WattlasError: The query is no state of the page, or the lake cannot be read.
        """
        view = self.at(None)
        state = read(query)
        if state.lake_version is not None:
            view = self.at(state.lake_version)
            state = read(query)
        return view, state
