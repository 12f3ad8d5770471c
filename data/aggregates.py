"""Rows of `runs` that are means of several runs, in counts, means and deviations over rows.

A dataset may bring rows that others have averaged. Such a row has the number of runs in
`aggregate_n`, means in the columns of the metrics, and their sample standard deviations in columns
`sd_<metric>`. Both are declared columns: a lake without such rows has neither, and its queries are
those of single runs.

Source of the pooled deviation: Chan, Golub, LeVeque, The American Statistician 37(3), 1983.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from data.declared import Column

AGGREGATE_N: Final = "aggregate_n"
_SD: Final = "sd_"


def sd_column(name: str) -> str:
    """Return the column with the deviations of a metric's means."""
    return f"{_SD}{name}"


@dataclass(frozen=True, slots=True)
class Aggregates:
    """How the rows of a lake count, in SQL: each as one run, or as the mean of several.

    Attributes:
        has_means: Whether the lake has rows that are means.
        deviations: The metrics whose deviations within a row have a column.
    """

    has_means: bool = False
    deviations: frozenset[str] = frozenset()

    @classmethod
    def of(cls, columns: Iterable[Column]) -> Self:
        """Return those of a lake with these declared columns."""
        names = {column.name for column in columns}
        deviations = (name.removeprefix(_SD) for name in names if name.startswith(_SD))
        return cls(AGGREGATE_N in names, frozenset(deviations))

    def weight_sql(self) -> str:
        """Return the SQL of the number of runs in a row."""
        return f"coalesce({AGGREGATE_N}, 1)" if self.has_means else "1"

    def row_sd_sql(self, name: str) -> str:
        """Return the SQL of a metric's deviation within a row.

        NULL for one run, and where it is not known.
        """
        return f"{sd_column(name)}::DOUBLE" if name in self.deviations else "NULL::DOUBLE"

    def count_sql(self, value: str = "*", there: str = "") -> str:
        """Return the SQL of the number of runs in a group of rows.

        Args:
            value: Counted where it is not NULL.
            there: A FILTER clause.
        """
        if not self.has_means:
            return f"count({value}) {there}".rstrip()
        is_there = "" if value == "*" else f" * ({value} IS NOT NULL)::BIGINT"
        return f"coalesce(sum({self.weight_sql()}{is_there}) {there}, 0)::BIGINT"

    def mean_sql(self, value: str, there: str = "") -> str:
        """Return the SQL of a metric's mean over all runs in a group of rows.

        Rounding takes it beyond none of the values: the mean of equal numbers is that number.

        Args:
            value: The metric's column, perhaps with a cast.
            there: A FILTER clause.
        """
        least, mean, most = (f"{name}({value}) {there}".rstrip() for name in ("min", "avg", "max"))
        if self.has_means:
            pooled = f"sum({self.weight_sql()} * {value}) {there} / ({self._total(value, there)})"
            mean = f"CASE WHEN {self._is_plain(value, there)} THEN {mean} ELSE {pooled} END"
        return f"greatest(least({mean}, {most}), {least})"

    def sd_sql(self, value: str, there: str = "") -> str:
        """Return the SQL of a metric's sample standard deviation over all runs in a group of rows.

        NULL for one run, and where a row's own deviation is not known. Arguments as of `mean_sql`.
        """
        plain = f"stddev_samp({value}) {there}".rstrip()
        if not self.has_means:
            return plain
        weight, real = self.weight_sql(), f"({value})::DOUBLE"
        sd = self.row_sd_sql(value.split("::")[0])
        total = self._total(value, there)
        within = f"sum(({weight} - 1) * CASE WHEN {weight} > 1 THEN {sd} * {sd} ELSE 0 END) {there}"
        squares = f"sum({weight} * {real} * {real}) {there}"
        square = f"pow(sum({weight} * {real}) {there}, 2) / ({total})"
        is_known = f"bool_and({weight} = 1 OR {value} IS NULL OR {sd} IS NOT NULL) {there}"
        measured = there or f"FILTER ({value} IS NOT NULL)"
        alone = f"any_value({sd}) {measured}"
        pooled = f"sqrt(greatest({within} + {squares} - {square}, 0) / (({total}) - 1))"
        return (
            f"CASE WHEN {self._is_plain(value, there)} THEN {plain} "
            f"WHEN NOT ({is_known}) THEN NULL "
            f"WHEN count({value}) {there} = 1 THEN {alone} ELSE {pooled} END"
        )

    def _total(self, value: str, there: str) -> str:
        return f"sum({self.weight_sql()} * ({value} IS NOT NULL)::BIGINT) {there}"

    def _is_plain(self, value: str, there: str) -> str:
        """Return the SQL of whether all rows with a value are single runs."""
        most = f"max({self.weight_sql()} * ({value} IS NOT NULL)::BIGINT)"
        return f"coalesce({most} {there}, 1) <= 1"
