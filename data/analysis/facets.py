"""The choices of each filter, with counts, from the cube of occurring combinations."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from data.selection import FACETS, Facet, Selection, Value

# Facets that decide which loads and settings exist.
LEADING: Final = ("dataset", "workload")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a facet, its label, and the number of runs under the other filters."""

    value: Value
    label: str
    runs: int


def facet_choices(cube: pl.DataFrame, selection: Selection, facet: str) -> list[Choice]:
    """List the values of one facet that occur under the other facets' filters, in order.

    A chosen value stays in the list with count 0 if no run has it, so that a visitor can clear it.

    Args:
        cube: Result of `facet_cube_query`.
    """
    selection = _leading(selection, facet)
    left = cube.filter(matches(selection, exclude=facet))
    return _choices(left, selection, facet, _labels(cube, facet))


def all_choices(cube: pl.DataFrame, selection: Selection) -> dict[str, list[Choice]]:
    """List the choices of every facet; facets without a clause share one filtered table."""
    led = cube.filter(matches(Selection(tuple(c for c in selection.clauses if c.facet in LEADING))))
    left = led.filter(matches(selection))
    found = {}
    for name in FACETS:
        if name in LEADING:
            found[name] = facet_choices(cube, selection, name)
        else:
            mine = led.filter(matches(selection, exclude=name)) if selection.values(name) else left
            found[name] = _choices(mine, selection, name, _labels(cube, name))
    return found


def _choices(
    left: pl.DataFrame, selection: Selection, facet: str, labels: dict[Value, str]
) -> list[Choice]:
    column, null_word = FACETS[facet].column, FACETS[facet].null_word
    if left[column].null_count() == len(left):
        runs: dict[Value, int] = {null_word: int(left["runs"].sum())} if len(left) else {}
    else:
        runs = {
            _value(FACETS[facet], value): count
            for value, count in left.group_by(column).agg(pl.col("runs").sum()).iter_rows()
        }
    runs |= {value: 0 for value in selection.values(facet) if value not in runs}
    ordered = sorted(runs.items(), key=lambda choice: (choice[0] == null_word, choice[0]))
    return [Choice(value, str(labels.get(value) or value), count) for value, count in ordered]


def count_runs(cube: pl.DataFrame, selection: Selection) -> int:
    """Count the runs that match the filters."""
    return int(cube.filter(matches(selection))["runs"].sum())


def matches(selection: Selection, exclude: str | None = None) -> pl.Expr:
    """Build the Polars expression of `Selection.predicate`, for tables in memory."""
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


def _labels(cube: pl.DataFrame, facet: str) -> dict[Value, str]:
    if facet != "system":
        return {}
    return dict(cube.select("system", "system_label").unique().sort("system_label").iter_rows())


def _leading(selection: Selection, facet: str) -> Selection:
    """Return the filters that narrow the choices of a facet.

    Another dataset or workload has other loads and settings, so only earlier leading facets narrow
    the choices of a leading facet.
    """
    if facet not in LEADING:
        return selection
    before = LEADING[: LEADING.index(facet)]
    return Selection(tuple(c for c in selection.clauses if c.facet in (*before, facet)))


def _value(facet: Facet, value: Value | None) -> Value:
    return facet.null_word if value is None else value
