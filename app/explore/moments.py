"""The settings of the workloads in memory: their moments, and what follows for each choice.

Filters leave many choices as they were. So what follows from the settings of one choice is computed
once, whatever the filters on others are.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from operator import itemgetter
from threading import Condition
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl
from cachetools import LRUCache, cached

from data.analysis.coded_rows import CodedRows, Part
from data.analysis.noise import Prior
from data.catalogue import Catalogue
from data.choices import prior_in
from data.selection import Clause

# Settings of the choices of which results are kept.
_KEPT_SETTINGS: Final = 10_000
# What has the same noise at all loads.
_FAMILY: Final = ("dataset", "workload", "machine", "system")
Made = TypeVar("Made")


class Moments:
    """The moments of all settings, whatever the filters on them.

    Attributes:
        table: One row a setting: columns of `moments_query`, as `in_order` returns them, sorted by
            the choices.
        choice: Number of each row's choice, from 0 without gaps.
        place: Number of the place of each choice: its given knobs, whatever the system.
    """

    def __init__(self, rows: pl.DataFrame, catalogue: Catalogue) -> None:
        self.table = CodedRows(rows)
        columns = list(catalogue.choice_columns)
        self.choice = _numbers(rows, columns)
        self._starts = np.flatnonzero(np.diff(self.choice, prepend=-1))
        self.place = _numbers(rows, columns[:-1])[self._starts]
        families = rows[self._starts, list(_FAMILY)].rows()
        numbers = {family: number for number, family in enumerate(dict.fromkeys(families))}
        self._family = np.array([numbers[family] for family in families], np.int64)
        bounded: LRUCache[Hashable, tuple[int, Any]] = LRUCache(_KEPT_SETTINGS, itemgetter(0))
        self._once = cached(bounded, key=lambda key, *_: key, condition=Condition())(_sized)

    @cached_property
    def is_default(self) -> np.ndarray:
        """Whether a setting is the default of its place."""
        return self.table.rows["is_baseline"].fill_null(False).to_numpy()

    def choices(self, clauses: Sequence[Clause]) -> list[np.ndarray]:
        """Return the rows of each choice that filters leave, in order."""
        left = np.arange(len(self.table))[self.table.part(clauses).at]
        ends = np.flatnonzero(np.diff(self.choice[left])) + 1
        return np.split(left, ends) if len(left) else []

    def prior(self, choice: int, metric: str) -> Prior:
        """Return the prior of a metric over the settings of a choice's system at all loads."""
        family = self._family[choice]

        def fit() -> Prior:
            own = (self._family == family)[self.choice] & ~self.is_default
            return prior_in(Part(self.table, np.flatnonzero(own)), metric)

        return self.once(("prior", family, metric), 1, fit)

    def once(self, key: Hashable, size: int, make: Callable[[], Made]) -> Made:
        """Return what a function makes of some settings; the same question is computed once.

        Args:
            size: The number of settings, by which what is kept is bounded.
        """
        return self._once(key, size, make)[1]


def _sized(_: Hashable, size: int, make: Callable[[], Made]) -> tuple[int, Made]:
    return size, make()


def _numbers(rows: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Number the runs of equal rows."""
    return rows.select(pl.struct(columns).rle_id()).to_series().to_numpy().astype(np.int64)
