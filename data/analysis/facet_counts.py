"""The runs behind each choice of each filter, those that filters leave, and those with a value."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from data.analysis.coded_rows import CodedRows, Part, indices
from data.catalogue import Catalogue
from data.selection import Clause, Selection, Value, unset_itr

# Each facet's choices are counted under the clauses of all others.
_CACHED_CLAUSES: Final = 16
# Facets that decide which loads and settings exist.
LEADING: Final = ("dataset", "workload")
# Rows of a cube, and the number of runs in each.
_Left = tuple[np.ndarray | slice, np.ndarray]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a facet, its label, and the number of runs under the other filters."""

    value: Value
    label: str
    runs: int


class FacetCounts:
    """Counts the runs behind each choice of each filter, for one cube.

    Args:
        cube: Answer of `facet_cube_query`.
        outline: Answer of `outline_query`, where the cube is of some datasets only.
        catalogue: That of the lake.
    """

    def __init__(
        self,
        cube: pl.DataFrame,
        outline: pl.DataFrame | None = None,
        *,
        catalogue: Catalogue,
    ) -> None:
        self._facets = catalogue.facets
        self._outline = None
        if outline is not None:
            self._outline = FacetCounts(outline, catalogue=catalogue)
        self._cube = CodedRows(cube)
        self._runs = cube["runs"].to_numpy()
        self._passing = lru_cache(maxsize=_CACHED_CLAUSES)(self._cube.passing)
        self._left = lru_cache(maxsize=_CACHED_CLAUSES)(self._find_left)
        self._labels = _labels(cube if outline is None else outline)

    def choices(self, selection: Selection) -> dict[str, list[Choice]]:
        """List the choices of every facet, as `of`."""
        # Those without a clause have the same runs left.
        whole, taken = self._left(selection.clauses), {c.facet.name for c in selection.clauses}
        return {
            name: self.of(name, selection, None if name in taken or name in LEADING else whole)
            for name in self._facets
        }

    def of(self, facet: str, selection: Selection, left: _Left | None = None) -> list[Choice]:
        """List the values of one facet that occur under the other facets' filters, in order.

        A chosen value stays in the list with count 0 if no run has it, so that a visitor can clear
        it.

        Args:
            left: The rows that the other filters leave, where they are known.
        """
        if facet in LEADING and self._outline is not None:
            return self._outline.of(facet, selection)
        null_word = self._facets[facet].null_word
        coded = self._cube.codes[self._facets[facet].column]
        values = [null_word if value is None else value for value in coded.values]
        # Another dataset or workload has other loads and settings, so only earlier leading facets
        # narrow the choices of a leading facet.
        narrowing = LEADING[: LEADING.index(facet)] if facet in LEADING else self._facets
        names = [clause.facet.name for clause in selection.clauses]
        rows, runs_left = left or self._left(
            tuple(
                clause
                for clause, name in zip(selection.clauses, names, strict=True)
                if name != facet and name in narrowing
            )
        )
        is_one = len(values) == 1
        codes = coded.codes[:0] if is_one else coded.codes[rows]
        counts = [runs_left.sum()] if is_one else np.bincount(codes, runs_left, len(values))
        runs: dict[Value, int] = {
            value: int(count) for value, count in zip(values, counts, strict=True) if count
        }
        if facet in names:
            runs |= {value: 0 for value in selection.values(facet) if value not in runs}
        labels = self._labels if facet == "system" else {}
        if facet == "itr" and null_word in values:
            # The word for NULL is by the systems of such runs.
            systems = self._cube.codes["system"]
            own = systems.codes[rows]
            unset = np.unique(own if is_one else own[codes == values.index(null_word)])
            labels = {null_word: unset_itr(str(systems.values[code]) for code in unset)}
        ordered = sorted(runs.items(), key=lambda choice: (choice[0] == null_word, choice[0]))
        return [Choice(value, str(labels.get(value) or value), count) for value, count in ordered]

    def part(self, selection: Selection) -> Part:
        """Return the rows of the cube that match the filters."""
        return Part(self._cube, self._left(selection.clauses)[0])

    def _find_left(self, clauses: tuple[Clause, ...]) -> _Left:
        rows = indices([self._passing(clause) for clause in clauses])
        return rows, self._runs[rows]


def count_runs(cube: pl.DataFrame, selection: Selection) -> int:
    """Count the runs that match the filters."""
    return int(cube.filter(matches(selection))["runs"].sum())


@lru_cache(maxsize=_CACHED_CLAUSES)
def matches(selection: Selection, exclude: str | None = None) -> pl.Expr:
    """Build the Polars expression of `Selection.predicate`, for tables in memory."""
    expression = pl.lit(True)
    for clause in selection.clauses:
        facet = clause.facet
        if facet.name != exclude:
            known = [v for v in clause.values if v != facet.null_word]
            column = pl.col(facet.column)
            values = column.cast(pl.Float64) if facet.is_number else column
            matching = values.is_in(known) if known else pl.lit(False)
            if len(known) < len(clause.values):
                matching = matching.fill_null(False) | column.is_null()
            expression = expression & matching.fill_null(False)
    return expression


def _labels(cube: pl.DataFrame) -> dict[Value, str]:
    """Return the label of each system."""
    return dict(cube.select("system", "system_label").unique().sort("system_label").iter_rows())


class MetricRange(NamedTuple):
    """How many runs have a value of a metric, and the range of these; NaN where none has."""

    runs: int
    low: float
    high: float


def ranges_of(rows: pl.DataFrame, names: Sequence[str]) -> dict[str, MetricRange]:
    """Return the range of each metric over all rows of an answer of `ranges_query`.

    Args:
        names: The columns that the query was asked for.
    """
    asked = [f"{of}_{at}" for at in range(len(names)) for of in MetricRange._fields]
    columns = list(zip(*rows.select(asked).iter_rows(), strict=True)) or [()] * len(asked)
    return {
        name: MetricRange(
            sum(runs),
            min((value for value in low if value is not None), default=math.nan),
            max((value for value in high if value is not None), default=math.nan),
        )
        for name, runs, low, high in zip(
            names, columns[::3], columns[1::3], columns[2::3], strict=True
        )
    }
