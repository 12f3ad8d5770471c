"""The runs over which a view may take a mean: replicates of one configuration.

A view shows some knobs, as axes and series. Of the others it may pool those that the reader chose.
A given knob (a load, a size, a machine) is never pooled. Where one of the rest has several values
in a cell, the view shows the combination of values with most filled cells.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from data.catalogue import Catalogue
from data.errors import SelectionError
from data.knobs import Knob
from data.selection import Selection, Value

_RUNS = "_runs"
_CELLS = "_cells"


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
    rows: pl.DataFrame,
    shown: Sequence[Knob],
    pool: Collection[str],
    *,
    catalogue: Catalogue,
) -> list[Knob]:
    """Return the settings that a view may pool: those that vary and are not shown, and `pool`.

    Args:
        rows: Rows of the filter cube that match the filters.
    """
    return [
        knob
        for name, knob in catalogue.knobs.items()
        if name in pool or not (knob.is_given or knob in shown or rows[knob.column].n_unique() < 2)
    ]


def like_with_like(
    rows: pl.DataFrame,
    shown: Sequence[Knob],
    pool: Collection[str] = (),
    runs: str = "runs",
    is_given_only: bool = False,
    *,
    catalogue: Catalogue,
) -> Slice:
    """Choose the runs that a view shows.

    Args:
        rows: One row for each combination of knobs with a measurement. Columns of knobs with one
            value may be absent.
        shown: Knobs of the axes and series.
        pool: Names of knobs that the reader chose to pool; shown and given ones do not count.
        runs: Column of `rows` with the number of runs.
        is_given_only: Choose values of given knobs alone: the view picks a best setting itself.

    Returns:
        The combination with most filled cells; of equals that with most runs, then the first in
        the order of the knobs: given values and texts ascending, numbers of settings descending,
        NULL last. No rows or one row, no choice.
    """
    if len(rows) < 2:
        return Slice()
    columns = [knob.column for knob in shown]
    knobs = catalogue.knobs.values()
    others = [k for k in knobs if k not in shown and k.column in rows.columns]
    pooled = [knob for knob in others if knob.name in pool and not knob.is_given]
    choosing = _choosing(rows, shown, [knob for knob in others if knob not in pooled])
    if is_given_only:
        choosing = [knob for knob in choosing if knob.is_given]
    kept = _most_complete(rows, columns, choosing, runs)
    return Slice(kept, _pooled(Slice(kept).of(rows), columns, pooled))


def _choosing(rows: pl.DataFrame, shown: Sequence[Knob], others: Sequence[Knob]) -> list[Knob]:
    """Return the knobs of which a view shows one value.

    A setting that follows from the cell, and threads that follow from the depth along an axis, need
    no choice. A load or a size needs one wherever it varies: cells of different loads do not
    compare, except between datasets that the reader chose.
    """
    cell = [knob.column for knob in shown]
    given = [knob.column for knob in shown if knob.is_given]
    varying = [knob for knob in others if rows[knob.column].n_unique() > 1]
    unlike = [k.column for k in varying if k.is_given and k.name != "dataset"]
    settings = [k.column for k in varying if k.column not in unlike]
    several = {
        *(varying_within(rows, given, unlike) if given else unlike),
        *(varying_within(rows, cell, settings) if cell else settings),
    }
    return [knob for knob in varying if knob.column in several]


def _most_complete(
    rows: pl.DataFrame, cell: Sequence[str], choosing: Sequence[Knob], runs: str
) -> tuple[Kept, ...]:
    if not choosing or not len(rows):
        return ()
    names = [knob.column for knob in choosing]
    filled = pl.struct(cell).n_unique() if cell else pl.len()
    ranked = rows.group_by(names).agg(filled.alias(_CELLS), pl.col(runs).sum().alias(_RUNS))
    falls = [knob.facet.is_number and not knob.is_given for knob in choosing]
    best = ranked.sort(_CELLS, _RUNS, *names, descending=[True, True, *falls], nulls_last=True).row(
        0, named=True
    )
    choices: list[Kept] = []
    for knob in choosing:
        there = Slice(tuple(choices)).of(rows)[knob.column]
        choices.append(Kept(knob, best[knob.column], there.n_unique()))
    return tuple(choices)


def _pooled(rows: pl.DataFrame, cell: Sequence[str], knobs: Sequence[Knob]) -> Pooled | None:
    there = [(knob, rows[knob.column].n_unique()) for knob in knobs]
    several = tuple((knob, levels) for knob, levels in there if levels > 1)
    if not several:
        return None
    levels = pl.struct([knob.column for knob, _ in several]).n_unique()
    total = rows.select(levels).item()
    counts = rows.group_by(cell).agg(levels.alias(_CELLS))[_CELLS].to_list() if cell else [total]
    return Pooled(several, all(count == total for count in counts))


def varying_within(rows: pl.DataFrame, key: Sequence[str], names: Sequence[str]) -> list[str]:
    """Find the columns that have several values, NULL among them, where those of a key are equal.

    Args:
        names: The columns asked for, in the order of the answer.
    """
    # Most columns of a study have one value in all rows.
    several = [name for name in names if rows[name].n_unique() > 1]
    differ = [pl.col(name).ne_missing(pl.col(name).first().over(*key)).any() for name in several]
    return [name for name, is_found in rows.select(differ).to_dict().items() if is_found[0]]
