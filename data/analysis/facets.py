"""What each filter offers, with counts, from the cube of combinations that occur."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from data.selection import FACETS, Facet, Selection, Value

# The filters that lead the others: another value of them brings other loads and another grid.
LEADING: Final = ("dataset", "workload")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a facet: the label of it on pages, and how many runs the others leave it."""

    value: Value
    label: str
    runs: int


def facet_choices(
    cube: pl.DataFrame, selection: Selection, facet: str, count: int | None = None
) -> list[Choice]:
    """List the values of one facet that occur under the other facets' filters, in order.

    A value that is chosen stays where it is though nothing is left of it (count 0), so that it can
    be taken back.

    Args:
        cube: Answer of `facet_cube_query`.
        count: What `count_runs` gives, where it is known already.
    """
    selection = _leading(selection, facet)
    column, null_word = FACETS[facet].column, FACETS[facet].null_word
    if cube[column].null_count() == len(cube) > 0 and not selection.values(facet):
        count = count_runs(cube, selection) if count is None else count
        return [Choice(null_word, null_word, count)] if count else []
    left = cube.filter(matches(selection, exclude=facet))
    runs = {
        _value(FACETS[facet], value): count
        for value, count in left.group_by(column).agg(pl.col("runs").sum()).iter_rows()
    }
    runs |= {value: 0 for value in selection.values(facet) if value not in runs}
    labels = _system_labels(cube) | _system_labels(left) if facet == "system" else {}
    ordered = sorted(runs.items(), key=lambda choice: (choice[0] == null_word, choice[0]))
    return [Choice(value, str(labels.get(value) or value), count) for value, count in ordered]


def all_choices(cube: pl.DataFrame, selection: Selection) -> dict[str, list[Choice]]:
    """`facet_choices` of every facet, with the rows of the leading filters looked for once."""
    led = cube.filter(matches(Selection(tuple(c for c in selection.clauses if c.facet in LEADING))))
    count = count_runs(led, selection)
    whole = (*LEADING, "system")
    return {
        name: facet_choices(cube, selection, name)
        if name in whole
        else facet_choices(led, selection, name, count)
        for name in FACETS
    }


def count_runs(cube: pl.DataFrame, selection: Selection) -> int:
    """How many runs the filters leave."""
    return int(cube.filter(matches(selection))["runs"].sum())


def matches(selection: Selection, exclude: str | None = None) -> pl.Expr:
    """The Polars twin of `Selection.predicate`, for tables that are in memory already."""
    expression = pl.lit(True)
    for clause in selection.clauses:
        if clause.facet != exclude:
            facet = FACETS[clause.facet]
            known = [v for v in clause.values if v != facet.null_word]
            column = pl.col(facet.column)
            values = column.cast(pl.Float64) if facet.is_number else column
            one = values.is_in(known) if known else pl.lit(False)
            if len(known) < len(clause.values):
                one = one.fill_null(False) | column.is_null()
            expression = expression & one.fill_null(False)
    return expression


def _system_labels(cube: pl.DataFrame) -> dict[Value, str]:
    return dict(cube.select("system", "system_label").unique().sort("system_label").iter_rows())


def _leading(selection: Selection, facet: str) -> Selection:
    """The filters that narrow the choices of a facet: of the two that lead, only those before.

    Another dataset or workload brings its own loads and grid, so their choices stay whole.
    """
    if facet not in LEADING:
        return selection
    before = LEADING[: LEADING.index(facet)]
    return Selection(tuple(c for c in selection.clauses if c.facet in (*before, facet)))


def _value(facet: Facet, value: Value | None) -> Value:
    return facet.null_word if value is None else value
