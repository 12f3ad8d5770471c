"""The means that decide claims, pooled over the runs of a mode, an access and a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Final

import polars as pl

from app.kit.competitors import mode_label
from app.storage.defaults import access_pair, at_place, place_words
from app.storage.published_moves import UNIT, by_source
from app.storage.study import Study
from app.storage.views import DEPTH, LOADS_STORES_PER_S
from data.analysis.pooling import pool
from data.analysis.two_means import TwoMeans, two_means
from data.metrics import metric
from data.units import format_quantity

STUDENT: Final = "Student's t"
EQUIVALENCE: Final = "two one-sided Student's t"


class UnmeasuredError(Exception):
    """The lake lacks runs that a rule needs; the message says which."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two means that a rule compares.

    Attributes:
        what: The two groups: `classic polling, interrupt`.
        where: The cell: `depth 1`.
        column: The compared quantity.
        test: Name of the statistical test.
    """

    what: str
    where: str
    column: str
    test: str
    pair: TwoMeans

    @property
    def words(self) -> str:
        """`classic polling, interrupt, depth 1: 120 k/s, 96.4 k/s; n = 10, 10; p < 0.001`."""
        first, second = (format_quantity(mean, unit_of(self.column)) for mean in self.pair.means)
        n = f"n = {self.pair.n[0]}, {self.pair.n[1]}"
        return f"{self.what}, {self.where}: {first}, {second}; {n}; {self.p_words}"

    @property
    def p_words(self) -> str:
        """`p < 0.001`, `p = 0.246`; `no p: no spread` if no value differs from another."""
        if isnan(self.pair.p):
            return "no p: no spread"
        return "p < 0.001" if self.pair.p < 0.001 else f"p = {self.pair.p:.3f}"


def unit_of(column: str) -> str:
    """Return the unit of a metric, or of loads and stores."""
    return UNIT if column == LOADS_STORES_PER_S else metric(column).unit


def title_of(column: str) -> str:
    """Return the title of a metric, or of loads and stores."""
    return "loads and stores" if column == LOADS_STORES_PER_S else metric(column).title


@dataclass(frozen=True, slots=True)
class ClaimRuns:
    """The filtered runs, with the means that rules need.

    Attributes:
        functions: Answer of `counted_functions`.
        known: Cache of `at_depths`.
    """

    study: Study
    functions: pl.DataFrame
    known: dict[tuple[str, str, str | None], pl.DataFrame] = field(default_factory=dict)

    def label(self, mode: str) -> str:
        """Return the name of a mode, also of one that the lake lacks."""
        return mode_label(mode)

    def at_depths(self, column: str, mode: str, rw: str | None = None) -> pl.DataFrame:
        """Return the means of a mode by IO depth, at the device and size of the lines.

        Args:
            rw: Access; None for that of the lines.

        Returns:
            Columns `io_depth`, `mean`, `sd`, `n`; at least one row.

        Raises:
            UnmeasuredError: The mode has no run, or none with a value of the column.
        """
        asked = column, mode, rw
        if asked not in self.known:
            self.known[asked] = self._at_depths(*asked)
        return self.known[asked]

    def _at_depths(self, column: str, mode: str, rw: str | None) -> pl.DataFrame:
        state = self.study.state
        place: dict[str, Any] = {
            "device": state.at_device, "rw": rw or state.at_rw, "request_bytes": state.at_request,
        }  # fmt: skip
        runs = at_place(self.study.rows, place | {"mode": mode})
        where = f"{self.label(mode)} at {place_words(place)}"
        if not len(runs):
            raise UnmeasuredError(f"no runs of {where}")
        is_moves = column == LOADS_STORES_PER_S
        means = self._moves(mode) if is_moves else pooled(runs, column, [DEPTH])
        if not len(means):
            raise UnmeasuredError(f"no runs of {where} with {title_of(column)} measured")
        return means

    def _moves(self, mode: str) -> pl.DataFrame:
        mine = by_source(self.functions).filter(mode=mode).drop_nulls(LOADS_STORES_PER_S)
        runs = mine.group_by(DEPTH, "run_id").agg(value=pl.col(LOADS_STORES_PER_S).sum())
        ordered = runs.sort(DEPTH, "run_id").group_by(DEPTH, maintain_order=True)
        return ordered.agg(mean=pl.col("value").mean(), sd=pl.col("value").std(), n=pl.len())

    def compare(
        self, column: str, first: str, second: str, is_equivalence: bool = False
    ) -> list[Comparison]:
        """Compare two modes at every IO depth of the lines; raises errors as `at_depths`."""
        names = self.label(first), self.label(second)
        means = self.at_depths(column, first), self.at_depths(column, second)
        test = EQUIVALENCE if is_equivalence else STUDENT
        pairs = two_means(*means, DEPTH, is_equivalence)
        return compared(pairs, names, column, test)

    def compare_accesses(self, column: str, mode: str, rate: str, same: float) -> list[Comparison]:
        """Compare writing with reading at about the same rate of a quantity.

        The partner of each depth of writing is the depth of reading with the lowest rate that is at
        least `same` times the rate of writing. Raises errors as `at_depths`.

        Args:
            rate: Column of that rate.
        """
        rw = self.study.state.at_rw
        pair = access_pair(rw)
        if not pair:
            raise UnmeasuredError(f"no runs that read and write apart, but {rw or 'of no access'}")
        reads, writes = pair
        cells = {
            rw: self.at_depths(column, mode, rw).join(
                self.at_depths(rate, mode, rw).select(DEPTH, rate="mean"), on=DEPTH
            )
            for rw in (reads, writes)
        }
        partner = (
            cells[writes]
            .join_where(cells[reads], pl.col("rate_read") >= same * pl.col("rate"), suffix="_read")
            .sort("rate_read", f"{DEPTH}_read")
            .unique(DEPTH, keep="first", maintain_order=True)
        )
        read = partner.select(
            DEPTH, **{name: pl.col(f"{name}_read") for name in ("n", "mean", "sd")}
        )
        pairs = two_means(cells[writes], read, DEPTH)
        return compared(pairs, (writes, reads), column, STUDENT)


def pooled(rows: pl.DataFrame, column: str, by: Sequence[str]) -> pl.DataFrame:
    """Pool the means of configurations: columns `by`, `mean`, `sd`, `n`, sorted by `by`."""
    there = rows.filter(pl.col(column).is_not_null())
    n = pl.col(f"{column}_n")
    sd = pl.when(n > 1).then(f"{column}_sd")
    return pool(there.select(*by, n=n, mean=pl.col(column), sd=sd), by)


def compared(
    pairs: Sequence[TwoMeans], names: tuple[str, str], column: str, test: str
) -> list[Comparison]:
    """Convert pairs of means to comparisons.

    Raises:
        UnmeasuredError: There is no pair.
    """
    if not pairs:
        raise UnmeasuredError(
            f"no IO depth with two runs of {names[0]} and two of {names[1]} "
            f"with {title_of(column)} measured"
        )
    what = f"{names[0]}, {names[1]}"
    return [Comparison(what, f"depth {pair.at:g}", column, test, pair) for pair in pairs]
