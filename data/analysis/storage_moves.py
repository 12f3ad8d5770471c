"""Loads and stores of the kernel by the sources of the published table."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.spreads import mean_spreads
from data.analysis.verdicts import LOADS_STORES
from data.catalogue import SHIPPED, Catalogue
from data.knobs import Knob
from data.reference.loads_stores import MOVES, SUM, TOTAL, UNKNOWN, USER, source_of, sources

# The knobs along the axis of bars.
BARS: Final = (SHIPPED.knobs["mode"], SHIPPED.knobs["depth"])


def by_source(functions: pl.DataFrame) -> pl.DataFrame:
    """Replace subsystems by the sources of the table; leave out functions of programs.

    Args:
        functions: One row per run, `subsystem` and `part`, with MOVES (NULL if not counted).

    Returns:
        The same columns plus LOADS_STORES (NULL if neither was counted). `subsystem` is one of
        `sources()`, or UNKNOWN.
    """
    *named, other = sources()
    is_counted = pl.any_horizontal(pl.col(name).is_not_null() for name in MOVES)
    is_named = pl.col("subsystem").is_in([*named, UNKNOWN])
    return functions.filter(pl.col("subsystem") != USER).with_columns(
        pl.when(is_named).then("subsystem").otherwise(pl.lit(other)).alias("subsystem"),
        pl.when(is_counted).then(pl.sum_horizontal(MOVES)).alias(LOADS_STORES),
    )


def moves_shown(
    functions: pl.DataFrame,
    column: str,
    catalogue: Catalogue,
    pool: Sequence[str] = (),
    shown: Sequence[Knob] = BARS,
) -> tuple[pl.DataFrame, Slice]:
    """Return the functions of the runs that a view shows, and which runs these are.

    Args:
        functions: One row per run and function, with the columns of all knobs and `column`.
        pool: Names of the settings that the view pools.
        shown: Knobs of the view's axes; by default those of bars.
    """
    runs = functions.filter(pl.col(column).is_not_null()).unique("run_id", maintain_order=True)
    runs = runs.with_columns(runs=pl.lit(1))
    part = like_with_like(runs, shown, pool, catalogue=catalogue)
    return part.of(functions), part


def sum_of(row: dict[str, Any], counted: Sequence[tuple[str, str | None, float]]) -> float:
    """Return a run's loads and stores in the functions that a row of the table includes.

    Args:
        counted: Source, part (None without one), and loads and stores of the run.
    """
    source, part = source_of(row), row["part"]
    return sum(
        per_s
        for own, of, per_s in counted
        if part == TOTAL or (own == source and part in (SUM, of))
    )


def mean_of_sums(sums: Sequence[float], is_interval: bool) -> pl.DataFrame:
    """Return LOADS_STORES (the mean over runs), its `_n` and `_spread`: one row; no runs, none."""
    values, n = np.array(sums, dtype=float), np.array([len(sums)])
    sd = np.array([values.std(ddof=1) if len(values) > 1 else np.nan])
    row = {
        LOADS_STORES: [values.mean() if len(values) else None],
        f"{LOADS_STORES}_n": n,
        f"{LOADS_STORES}_spread": mean_spreads(n, sd, is_interval),
    }
    means = pl.DataFrame(row, schema_overrides={LOADS_STORES: pl.Float64})
    return means.drop_nulls(LOADS_STORES)
