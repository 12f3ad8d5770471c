"""Tables in memory whose rows are taken by indices.

Polars hands each filter and each choice of rows to another thread, which takes longer than the work
where rows are few. Here filters are looked up in the codes of columns, and columns are taken one by
one, when they are read.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import polars as pl

from data.selection import Clause

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as indices into its distinct values, None for NULL, in any order."""

    values: list[Any]
    codes: np.ndarray

    @classmethod
    def of(cls, column: pl.Series) -> "Coded":
        """Code a column."""
        first, index = distinct(column)
        values = [column[row] for row in first.tolist()]
        if len(values) == 1:  # A code that stands for all rows takes one byte.
            return cls(values, np.broadcast_to(np.zeros((), np.uint8), len(column)))
        return cls(values, index.astype(np.min_scalar_type(len(first))))

    @property
    def is_null(self) -> np.ndarray:
        """Which rows have NULL."""
        if None not in self.values:
            return np.zeros(len(self.codes), bool)
        is_null: np.ndarray = self.codes == self.values.index(None)
        return is_null

    def ranks(self, is_falling: bool = False) -> np.ndarray:
        """Return the place of each row's value among all in order, NULL last."""
        known = sorted((v for v in self.values if v is not None), reverse=is_falling)
        places = {value: place for place, value in enumerate([*known, None])}
        return np.array([places[value] for value in self.values], np.int64)[self.codes]

    @property
    def there(self) -> np.ndarray:
        """The codes that occur, ascending."""
        if len(self.values) == 1:
            return np.arange(min(1, len(self.codes)))
        return np.flatnonzero(np.bincount(self.codes, minlength=len(self.values)))


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
        columns: Names of its columns.
        count: Number of its rows.
        codes: Columns as indices into their distinct values.
        numbers: Columns of numbers, shape (rows,); NaN where they are NULL.
        nulls: How many rows have NULL in a column.
    """

    def __init__(self, rows: pl.DataFrame) -> None:
        self.columns = rows.columns
        self.rows = rows
        self.count = len(rows)
        self.codes: Once[str, Coded] = Once(lambda name: Coded.of(rows[name]))
        self.numbers: Once[str, np.ndarray] = Once(lambda name: rows[name].to_numpy())
        self.nulls: Once[str, int] = Once(lambda name: rows[name].null_count())
        self._derived: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return self.count

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
        return self.table.count if isinstance(self.at, slice) else len(self.at)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows as a table of their own; those that follow each other are not copied."""
        if isinstance(self.at, slice):
            return self.table.rows
        if not len(self.at) or (np.diff(self.at) == 1).all():
            return self.table.rows.slice(self.at[0] if len(self.at) else 0, len(self.at))
        return self.table.rows[self.at]

    def select(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns as a table of their own."""
        return Part.of(self.table.rows[[*dict.fromkeys(columns)]]).taken(self.at).rows

    def numbers(self, column: str) -> np.ndarray:
        """Return a column of numbers, shape (rows,); NaN where it is NULL."""
        return self.table.numbers[column][self.at]

    def floats(self, column: str) -> np.ndarray:
        """Return a column of numbers in float64."""
        return self.table.numbers[column][self.at].astype(np.float64, copy=False)

    def codes(self, column: str) -> Coded:
        """Return a column as indices into the distinct values of the table."""
        coded = self.table.codes[column]
        return Coded(coded.values, coded.codes[self.at])

    def values(self, column: str) -> list[Any]:
        """Return the distinct values of a column, None for NULL, in any order."""
        coded = self.table.codes[column]
        if len(coded.values) == 1:
            return coded.values if coded.codes[self.at].size else []
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
        if isinstance(self.table, _Widened):  # What the further columns stand beside is counted.
            asked, own = set(columns), self.table.own
            of_part = self.table.base.taken(self.at).known(asked - own)
            further = {name: self.codes(name) for name in asked & own}
            return of_part.union(n for n, coded in further.items() if not coded.is_null.all())
        table, known, count = self.table, [], self.table.count
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
        at = self.taken(numbers).at
        coded = {name: self.table.codes[name] for name in columns}
        return {
            name: [own.values[code] for code in own.codes[at].tolist()]
            for name, own in coded.items()
        }

    def combinations(self, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the combinations of values of some columns, each once."""
        return list(zip(*self.listed(columns, self.numbered(columns)[0]).values(), strict=True))

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
        return self if mask.all() else self.taken(np.flatnonzero(mask))

    def taken(self, numbers: np.ndarray | slice) -> "Part":
        """Return some rows by their numbers, in that order."""
        return Part(self.table, numbers if isinstance(self.at, slice) else self.at[numbers])

    def with_columns(self, codes: Mapping[str, Coded], numbers: Mapping[str, np.ndarray]) -> "Part":
        """Return these rows with further columns, which replace those of the same names."""
        return Part(_Widened(self, codes, numbers), slice(None))


class _Widened(CodedRows):
    """Rows of another table with further columns, which the table of `rows` lacks."""

    def __init__(
        self, part: Part, codes: Mapping[str, Coded], numbers: Mapping[str, np.ndarray]
    ) -> None:
        self.base, self.own, self.count = part, {*codes, *numbers}, len(part)
        self.columns = [*dict.fromkeys((*part.table.columns, *codes, *numbers))]
        # Nothing here refers to the table itself: it goes with its last part, not by a collection.
        beside, at = part.table, part.at
        all_codes: Once[str, Coded] = Once(
            lambda name: Coded(beside.codes[name].values, beside.codes[name].codes[at])
        )
        all_codes.update({n: Coded(c.values, c.codes[at]) for n, c in beside.codes.items()})
        all_codes.update(codes)
        self.codes = all_codes
        self.numbers = Once(lambda name: beside.numbers[name][at])
        self.numbers.update({n: each[at] for n, each in beside.numbers.items()})
        self.numbers.update(numbers)
        self.nulls = Once(lambda name: int(all_codes[name].is_null.sum()))
        self._derived = {}

    @property
    def rows(self) -> pl.DataFrame:  # type: ignore[override]
        """The rows, without the further columns."""
        return self.base.rows
