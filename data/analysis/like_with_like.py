"""The runs over which a view may take a mean: replicates of one configuration.

A view shows some knobs, as axes and series. Of the others it may pool those that the reader chose.
A given knob (a load, a size, a machine) is never pooled. Where one of the rest has several values
in a cell, the view shows the combination of values with most filled cells.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from data.analysis.coded_rows import Part, distinct
from data.catalogue import Catalogue
from data.errors import SelectionError
from data.knobs import Knob
from data.selection import Selection, Value


@dataclass(frozen=True, slots=True)
class Kept:
    """One value of a knob, of several that the filters leave.

    Attributes:
        levels: Number of values among the runs with the values that were kept of earlier knobs.
    """

    knob: Knob
    value: Value | None
    levels: int


@dataclass(frozen=True, slots=True)
class Pooled:
    """Knobs that the reader chose to pool, with their number of values; never empty.

    Attributes:
        is_balanced: Whether all cells hold the same combinations of values.
    """

    knobs: tuple[tuple[Knob, int], ...]
    is_balanced: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of the filtered runs that a view shows."""

    fixed: tuple[Kept, ...] = ()
    pooled: Pooled | None = None

    @property
    def place(self) -> dict[str, Value | None]:
        """The kept values, by column."""
        return {one.knob.column: one.value for one in self.fixed}

    def narrow(self, selection: Selection) -> Selection:
        """Return the filters with the kept values."""
        for one in self.fixed:
            value = one.knob.facet.null_word if one.value is None else one.value
            selection = selection.with_values(one.knob.facet, [value])
        return selection

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that have the kept values."""
        here = [pl.col(name).eq_missing(value) for name, value in self.place.items()]
        return rows.filter(here) if here else rows

    def within(self, rows: Part) -> Part:
        """Return the rows that have the kept values, of a part."""
        return rows.at_values(self.place)


def check_pool(names: Collection[str], catalogue: Catalogue) -> None:
    """Refuse knobs that a view never pools.

    Raises:
        SelectionError: A name is no knob, or the knob is given; the message names it.
    """
    knobs = catalogue.knobs
    for name in names:
        if name not in knobs:
            raise SelectionError(f"no such knob to pool: {name!r}")
        if knobs[name].is_given:
            raise SelectionError(f"{knobs[name].plural} are never pooled")


def poolable(
    rows: Part,
    shown: Sequence[Knob],
    pool: Collection[str],
    *,
    catalogue: Catalogue,
) -> list[Knob]:
    """Return the settings that a view may pool: those that vary and are not shown, and `pool`.

    Args:
        rows: Rows of the filter cube that match the filters.
    """
    free = {n: k for n, k in catalogue.knobs.items() if not k.is_given and k not in shown}
    several = rows.varying(knob.column for knob in free.values())
    return [
        knob
        for name, knob in catalogue.knobs.items()
        if name in pool or (name in free and knob.column in several)
    ]


def like_with_like(
    table: pl.DataFrame | Part,
    shown: Sequence[Knob],
    pool: Collection[str] = (),
    runs: str = "runs",
    is_given_only: bool = False,
    *,
    catalogue: Catalogue,
) -> Slice:
    """Choose the runs that a view shows.

    Args:
        table: One row for each combination of knobs with a measurement. Columns of knobs with one
            value may be absent.
        shown: Knobs of the axes and series.
        pool: Names of knobs that the reader chose to pool; shown and given ones do not count.
        runs: Column of `table` with the number of runs.
        is_given_only: Choose values of given knobs alone: the view picks a best setting itself.

    Returns:
        The combination with most filled cells; of equals that with most runs, then the first in
        the order of the knobs: given values and texts ascending, numbers of settings descending,
        NULL last. No rows or one row, no choice.
    """
    rows = table if isinstance(table, Part) else Part.of(table)
    if len(rows) < 2:
        return Slice()
    columns = [knob.column for knob in shown]
    knobs = catalogue.knobs.values()
    others = [k for k in knobs if k not in shown and k.column in rows.table.rows.columns]
    pooled = [knob for knob in others if knob.name in pool and not knob.is_given]
    choosing = _choosing(rows, shown, [knob for knob in others if knob not in pooled])
    if is_given_only:
        choosing = [knob for knob in choosing if knob.is_given]
    kept = _most_complete(rows, columns, choosing, runs)
    return Slice(kept, _pooled(Slice(kept).within(rows), columns, pooled))


def _choosing(rows: Part, shown: Sequence[Knob], others: Sequence[Knob]) -> list[Knob]:
    """Return the knobs of which a view shows one value.

    A setting that follows from the cell, and threads that follow from the depth along an axis, need
    no choice. A load or a size needs one wherever it varies: cells of different loads do not
    compare, except between datasets that the reader chose.
    """
    cell = [knob.column for knob in shown]
    given = [knob.column for knob in shown if knob.is_given]
    several = rows.varying(knob.column for knob in others)
    varying = [knob for knob in others if knob.column in several]
    unlike = [k.column for k in varying if k.is_given and k.name != "dataset"]
    settings = [k.column for k in varying if k.column not in unlike]
    within = {
        *(varying_within(rows, given, unlike) if given else unlike),
        *(varying_within(rows, cell, settings) if cell else settings),
    }
    return [knob for knob in varying if knob.column in within]


def _most_complete(
    rows: Part, cell: Sequence[str], choosing: Sequence[Knob], runs: str
) -> tuple[Kept, ...]:
    if not choosing or not len(rows):
        return ()
    first, group = rows.numbered([knob.column for knob in choosing])
    filled = _combinations(group, rows.numbered(cell)[1]) if cell else np.bincount(group)
    # The last key decides first.
    keys = [-filled, -np.bincount(group, rows.numbers(runs))]
    keys += [rows.codes(knob.column).ranks(_falls(knob))[first] for knob in choosing]
    best = int(first[np.lexsort(keys[::-1])[0]])
    choices: list[Kept] = []
    for knob in choosing:
        column = rows.codes(knob.column)
        there = Slice(tuple(choices)).within(rows).values(knob.column)
        choices.append(Kept(knob, column.values[column.codes[best]], len(there)))
    return tuple(choices)


def _combinations(group: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return with how many other numbers each group occurs."""
    first, _ = distinct(group * (int(other.max()) + 1) + other)
    return np.bincount(group[first])


def _falls(knob: Knob) -> bool:
    return knob.facet.is_number and not knob.is_given


def _pooled(rows: Part, cell: Sequence[str], knobs: Sequence[Knob]) -> Pooled | None:
    there = [(knob, len(rows.values(knob.column))) for knob in knobs]
    several = tuple((knob, levels) for knob, levels in there if levels > 1)
    if not several:
        return None
    first, levels = rows.numbered([knob.column for knob, _ in several])
    counts = _combinations(rows.numbered(cell)[1], levels)
    return Pooled(several, bool((counts == len(first)).all()))


def varying_within(rows: Part, key: Sequence[str], names: Sequence[str]) -> list[str]:
    """Find the columns that have several values, NULL among them, where those of a key are equal.

    Args:
        names: The columns asked for, in the order of the answer.
    """
    first, group = rows.numbered(key)
    codes = {name: rows.codes(name).codes for name in names}
    return [name for name, own in codes.items() if (own != own[first][group]).any()]


def pool(parts: pl.DataFrame | Part, by: Sequence[str]) -> pl.DataFrame:
    """Pool `n`, `mean` and `sd` of parts into one row per group, as if over all their runs.

    Sums run in the order of the rows, so that the same parts always give the same digits. Parts
    that are each a group are only sorted.

    Args:
        parts: Columns `by`, `n` (at least 1), `mean`, `sd` (sample standard deviation; NULL where
            n is 1).
        by: Columns that identify a group; NULL is a value like any other.

    Returns:
        Columns `by`, `mean`, `sd` (NULL where n is 1), `n`; sorted by `by`, NULLs last. No parts,
        no rows.
    """
    coded = parts if isinstance(parts, Part) else Part.of(parts)
    keys = np.array([coded.codes(name).ranks() for name in by])
    order = np.lexsort(keys[::-1])
    rows = coded.taken(order).select((*by, "mean", "sd", "n"))
    if (np.diff(keys[:, order]) != 0).any(axis=0).all():
        return rows
    n, mean, variance = pooled(pl.col("n"), pl.col("mean"), pl.col("sd").pow(2))
    return rows.group_by(by, maintain_order=True).agg(mean=mean, sd=variance.sqrt(), n=n)


def pooled(n: pl.Expr, mean: pl.Expr, variance: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the number, mean and variance of a group, from those of its parts.

    Deviations are from the mean of the first part, so that one part, or equal ones, keep every
    digit. The SQL of `data.catalogue` and `data.queries.moments` is the same formula over rows.

    Args:
        n: Values of each part.
        mean: Their mean; NULL where there is none.
        variance: Their sample variance; NULL counts as 0, as for one value.

    Returns:
        Aggregations; the variance is NULL where there is one value at most.
    Source: Chan, Golub, LeVeque, The American Statistician 37(3), 1983.
    """
    total, first = n.sum(), mean.drop_nulls().first().fill_null(0.0)
    whole = first + (n * (mean - first)).sum() / total
    squares = ((n - 1) * variance.fill_null(0)).sum() + (n * (mean - whole).pow(2)).sum()
    return total, whole, pl.when(total > 1).then(squares / (total - 1))
