"""Columns of runs that the filter cube determines, so queries need not read or group by them."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from app.kit.answer_cache import compact
from data.analysis.dependence import key_columns


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """The columns that queries may leave out for some filters.

    Attributes:
        constant: Columns with one value in all runs, as expressions.
        key: Columns from which those of `others` follow.
        others: The columns of `key` and those that follow, one row per combination.
    """

    constant: dict[str, pl.Expr]
    key: tuple[str, ...]
    others: pl.DataFrame

    @property
    def names(self) -> frozenset[str]:
        """The columns to leave out."""
        return frozenset((*self.constant, *self.others.columns)) - frozenset(self.key)

    def added_to(self, answer: pl.DataFrame) -> pl.DataFrame:
        """Add the columns that a query left out; the rows keep their order.

        Args:
            answer: With all columns of `key`.
        """
        if len(self.others.columns) > len(self.key):
            answer = answer.join(
                self.others, on=list(self.key), how="left", nulls_equal=True, maintain_order="left"
            )
        return answer.with_columns(**self.constant)


def known_columns(rows: pl.DataFrame, order: Sequence[str]) -> KnownColumns:
    """Find the constant columns of some rows, and those that follow from others.

    Args:
        rows: Rows of the filter cube; if empty, no column is found.
        order: Names of columns; the first are preferred as keys.
    """
    if not len(rows):
        return KnownColumns({}, (), pl.DataFrame())
    rows = compact(rows.select(order).unique(maintain_order=True))
    constant = {
        name: pl.lit(rows[name][0], rows.schema[name])
        for name in order
        if rows[name].n_unique() == 1
    }
    varying = [name for name in order if name not in constant]
    return KnownColumns(constant, key_columns(rows, varying), rows.select(varying))
