"""Tables in memory whose rows are taken by indices, and the counts of runs behind each filter.

Polars hands each filter and each choice of rows to another thread, which takes longer than the work
where rows are few. Here filters are looked up in the codes of columns, and columns are taken one by
one, when they are read.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from data.catalogue import Catalogue
from data.selection import Clause, Selection, Value, unset_itr

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")
# Each facet's choices are counted under the clauses of all others.
_CACHED_CLAUSES: Final = 16
# Facets that decide which loads and settings exist.
LEADING: Final = ("dataset", "workload")


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as indices into its distinct values, None for NULL, in any order."""

    values: list[Any]
    codes: np.ndarray

    @classmethod
    def of(cls, column: pl.Series) -> "Coded":
        """Code a column."""
        first, index = distinct(column)
        narrow = np.min_scalar_type(len(first))
        return cls([column[row] for row in first.tolist()], index.astype(narrow))


def distinct(values: pl.Series | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each distinct value, NULL too, and each place's index into these.

    Numbers are ascending. Values that follow each other are often equal, so only the first of such
    are sorted.
    """
    if isinstance(values, pl.Series):
        nulls, count = values.null_count(), len(values)
        # Other ways of Polars count all distinct values, or hand over to another thread.
        if count and (nulls == count or (not nulls and (values == values[0]).all())):
            return np.zeros(1, np.int64), np.zeros(count, np.int64)
        if values.dtype == pl.String:
            values = values.cast(pl.Categorical)
        elif values.dtype == pl.Boolean:
            values = values.cast(pl.Int8)
        values = (values.to_physical() if values.dtype == pl.Categorical else values).to_numpy()
    codes: np.ndarray = values
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
    _, first, index = np.unique(codes[starts], return_index=True, return_inverse=True)
    return starts[first], np.repeat(index, np.diff(starts, append=len(codes)))


class Once(dict[Key, Made]):
    """What a function makes of each key, made when it is first read."""

    def __init__(self, make: Callable[[Key], Made]) -> None:
        self._make = make

    def __missing__(self, key: Key) -> Made:
        made = self[key] = self._make(key)
        return made


class CodedRows:
    """A table, and what follows from it.

    Attributes:
        codes: Columns as indices into their distinct values.
        numbers: Columns of numbers, shape (rows,); NaN where they are NULL.
        nulls: How many rows have NULL in a column.
    """

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.codes: Once[str, Coded] = Once(lambda name: Coded.of(rows[name]))
        self.numbers: Once[str, np.ndarray] = Once(lambda name: rows[name].to_numpy())
        self.nulls: Once[str, int] = Once(lambda name: rows[name].null_count())
        self._derived: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what a function makes of the whole table, made once for each key."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def passing(self, clause: Clause) -> np.ndarray:
        """Return which rows match a clause."""
        coded, null_word = self.codes[clause.facet.column], clause.facet.null_word
        known = set(clause.values) - {null_word}
        wanted = [null_word in clause.values if v is None else v in known for v in coded.values]
        return np.array([*wanted, False])[coded.codes]

    def part(self, clauses: Sequence[Clause]) -> "Part":
        """Return the rows that match some clauses."""
        return Part(self, indices([self.passing(clause) for clause in clauses]))


def indices(masks: Sequence[np.ndarray]) -> np.ndarray | slice:
    """Return the rows that all masks have, as indices; a slice for all rows, without a mask."""
    return np.flatnonzero(np.logical_and.reduce(masks)) if masks else slice(None)


@dataclass(frozen=True)
class Part:
    """Some rows of a table.

    Attributes:
        at: Their indices in `table`, or a slice.
    """

    table: CodedRows
    at: np.ndarray | slice

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Part":
        """Return all rows of a table."""
        return cls(CodedRows(rows), slice(None))

    def __len__(self) -> int:
        return len(self.table.rows) if isinstance(self.at, slice) else len(self.at)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows as a table of their own; those that follow each other are not copied."""
        if isinstance(self.at, slice):
            return self.table.rows
        first, count = (int(self.at[0]), len(self.at)) if len(self.at) else (0, 0)
        if not count or self.at[-1] - first == count - 1:
            return self.table.rows.slice(first, count)
        return self.table.rows[self.at]

    def numbers(self, column: str) -> np.ndarray:
        """Return a column of numbers, shape (rows,); NaN where it is NULL."""
        return self.table.numbers[column][self.at]

    def codes(self, column: str) -> Coded:
        """Return a column as indices into the distinct values of the table."""
        coded = self.table.codes[column]
        return Coded(coded.values, coded.codes[self.at])

    def values(self, column: str) -> list[Any]:
        """Return the distinct values of a column, None for NULL, in any order."""
        coded = self.table.codes[column]
        counts = np.bincount(coded.codes[self.at], minlength=len(coded.values))
        return [coded.values[code] for code in np.flatnonzero(counts).tolist()]

    def varying(self, columns: Iterable[str]) -> list[str]:
        """Return which of some columns have several values, NULL among them, in their order."""
        several = []
        for name in columns:
            coded = self.table.codes[name]
            if len(coded.values) > 1:
                codes = coded.codes[self.at]
                if (codes != codes[:1]).any():
                    several.append(name)
        return several

    def known(self, columns: Iterable[str]) -> frozenset[str]:
        """Return which of some columns have a value in any row."""
        table, known, count = self.table, [], len(self.table.rows)
        for name in columns:
            nulls = table.nulls[name]
            if not nulls or isinstance(self.at, slice):
                is_known = nulls < count
            else:
                coded = table.codes[name]
                is_known = bool((coded.codes[self.at] != coded.values.index(None)).any())
            if is_known:
                known.append(name)
        return frozenset(known)

    def numbered(self, columns: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the first row of each combination of values, and each row's number of its own."""
        numbers = np.zeros(len(self), np.int64)
        first = numbers[:1]
        for name in columns:
            coded = self.table.codes[name]
            if len(coded.values) > 1:
                codes = coded.codes[self.at]
                first, numbers = distinct(numbers * len(coded.values) + codes)
        return first, numbers

    def differing(self, place: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return by column which rows have another value than a place; None is NULL."""
        coded = {name: self.table.codes[name] for name in place}
        return {
            name: np.array([value != place[name] for value in own.values], bool)[own.codes[self.at]]
            for name, own in coded.items()
        }

    def listed(self, columns: Iterable[str], numbers: np.ndarray) -> dict[str, list[Any]]:
        """Return the values of some rows, by column."""
        at = np.arange(len(self.table.rows))[self.at][numbers]
        coded = {name: self.table.codes[name] for name in columns}
        return {
            name: [own.values[code] for code in own.codes[at].tolist()]
            for name, own in coded.items()
        }

    def row(self, number: int) -> dict[str, Any]:
        """Return one row by the names of its columns."""
        at = number if isinstance(self.at, slice) else int(self.at[number])
        return self.table.rows.row(at, named=True)

    def at_values(self, place: Mapping[str, Any]) -> "Part":
        """Return the rows with these values of some columns; None is NULL."""
        masks = []
        for name, value in place.items():
            coded = self.table.codes[name]
            number = coded.values.index(value) if value in coded.values else -1
            masks.append(coded.codes[self.at] == number)
        return self.where(np.logical_and.reduce(masks)) if masks else self

    def where(self, mask: np.ndarray) -> "Part":
        """Return the rows that a mask has; shape (rows,)."""
        if mask.all():
            return self
        return Part(self.table, np.arange(len(self.table.rows))[self.at][mask])


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
        self._matching = lru_cache(maxsize=_CACHED_CLAUSES)(self._find_matching)
        self._labels = _labels(cube if outline is None else outline)

    def choices(self, selection: Selection) -> dict[str, list[Choice]]:
        """List the choices of every facet, as `of`."""
        return {name: self.of(name, selection) for name in self._facets}

    def of(self, facet: str, selection: Selection) -> list[Choice]:
        """List the values of one facet that occur under the other facets' filters, in order.

        A chosen value stays in the list with count 0 if no run has it, so that a visitor can clear
        it.
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
        rows = self._matching(
            tuple(
                clause
                for clause, name in zip(selection.clauses, names, strict=True)
                if name != facet and name in narrowing
            )
        )
        codes = coded.codes[rows]
        counts = np.bincount(codes, self._runs[rows], len(values))
        runs: dict[Value, int] = {
            value: int(count) for value, count in zip(values, counts, strict=True) if count
        }
        if facet in names:
            runs |= {value: 0 for value in selection.values(facet) if value not in runs}
        labels = self._labels if facet == "system" else {}
        if facet == "itr" and null_word in values:
            # The word for NULL is by the systems of such runs.
            systems = self._cube.codes["system"]
            unset = np.unique(systems.codes[rows][codes == values.index(null_word)])
            labels = {null_word: unset_itr(str(systems.values[code]) for code in unset)}
        ordered = sorted(runs.items(), key=lambda choice: (choice[0] == null_word, choice[0]))
        return [Choice(value, str(labels.get(value) or value), count) for value, count in ordered]

    def part(self, selection: Selection) -> Part:
        """Return the rows of the cube that match the filters."""
        return Part(self._cube, self._matching(selection.clauses))

    def _find_matching(self, clauses: tuple[Clause, ...]) -> np.ndarray | slice:
        return indices([self._passing(clause) for clause in clauses])


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
