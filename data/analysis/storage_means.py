"""Means of storage configurations with error bars; loads and stores of the kernel by source."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from data.analysis.like_with_like import Slice, like_with_like, pool
from data.analysis.spreads import difference_spreads, mean_spreads
from data.analysis.verdicts import LOADS_STORES
from data.catalogue import SHIPPED, Catalogue
from data.knobs import Knob
from data.reference.loads_stores import MOVES, SUM, TOTAL, UNKNOWN, USER, source_of, sources

# Share of the greatest IO rate from which it counts as saturated; ours.
SATURATED: Final = 0.95
# The knobs along the axis of bars.
BARS: Final = (SHIPPED.knobs["mode"], SHIPPED.knobs["depth"])


def with_spreads(rows: pl.DataFrame, columns: Sequence[str], is_interval: bool) -> pl.DataFrame:
    """Add `<metric>_spread`, half of the error bar, of each metric.

    Args:
        rows: `<metric>_n` and `<metric>_sd` of each metric.
        is_interval: Use the 95 % confidence interval of the mean instead of the standard deviation.
    """
    spreads = {
        name: mean_spreads(rows[f"{name}_n"].to_numpy(), _floats(rows[f"{name}_sd"]), is_interval)
        for name in columns
    }
    return rows.with_columns(
        pl.Series(f"{name}_spread", half, dtype=pl.Float64) for name, half in spreads.items()
    )


def pooled_means(
    rows: pl.DataFrame, column: str, by: Sequence[str], is_interval: bool
) -> pl.DataFrame:
    """Pool the means of configurations to one row per cell.

    Args:
        rows: Columns `by`, `row` (number of the configuration), the metric, its `_n` and `_sd`.

    Returns:
        Columns `by`; the metric with `_n`, `_sd`, `_spread`; `rows`: numbers of the configurations.
        Sorted by `by`, NULLs last.
    """
    n = pl.col(f"{column}_n")
    parts = rows.select(*by, n=n, mean=column, sd=pl.when(n > 1).then(f"{column}_sd"))
    behind = rows.group_by(by).agg(rows=pl.col("row").sort())
    pooled = pool(parts, by).join(behind, on=by, nulls_equal=True, maintain_order="left")
    names = {"mean": column, "sd": f"{column}_sd", "n": f"{column}_n"}
    return with_spreads(pooled.rename(names), (column,), is_interval)


def write_minus_read(
    read: pl.DataFrame, write: pl.DataFrame, column: str, by: Sequence[str], is_interval: bool
) -> pl.DataFrame:
    """Subtract the means of reading from those of writing, in cells that have both.

    Args:
        read: Answer of `pooled_means`.
        write: The same of writing.

    Returns:
        Columns `by`; `value` and `spread` of the difference; the metric and `_n` of reading, and
        of writing with the suffix `_written`; `rows`: numbers of all configurations. Sorted by
        `by`, NULLs last.
    """
    both = read.join(write, on=by, suffix="_written", nulls_equal=True).sort(by, nulls_last=True)
    suffixes = "", "_written"
    half = difference_spreads(
        tuple(both[f"{column}_n{suffix}"].to_numpy() for suffix in suffixes),  # type: ignore[arg-type]
        tuple(_floats(both[f"{column}_sd{suffix}"]) for suffix in suffixes),  # type: ignore[arg-type]
        is_interval,
    )
    return both.with_columns(
        pl.Series("spread", half, dtype=pl.Float64),
        value=pl.col(f"{column}_written") - pl.col(column),
        rows=pl.concat_list("rows", "rows_written"),
    )


def with_marked_depths(
    cells: pl.DataFrame, rates: pl.DataFrame, column: str, by: Sequence[str]
) -> pl.DataFrame:
    """Mark the IO depths at which a metric is best, and from which the IO rate hardly rises.

    Args:
        cells: Answer of `pooled_means` of the metric, by `by` and `io_depth`.
        rates: The same of `iops`.
        column: The metric; more is better.
        by: Columns within which depths compare: device or mode, request size.

    Returns:
        The cells with `is_best` (the greatest mean of the metric) and `is_saturated` (the least
        depth with SATURATED of the greatest mean IO rate). Both are false where one depth was
        measured.
    """
    is_swept = pl.col("io_depth").n_unique().over(by) > 1
    saturated = (
        rates.filter(pl.col("iops") >= SATURATED * pl.col("iops").max().over(by))
        .group_by(by)
        .agg(saturated_at=pl.col("io_depth").min())
    )
    return (
        cells.join(saturated, on=by, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            is_best=is_swept & (pl.col(column) == pl.col(column).max().over(by)),
            is_saturated=is_swept & (pl.col("io_depth") == pl.col("saturated_at")),
        )
        .drop("saturated_at")
    )


def shares_of_greatest(rows: pl.DataFrame, peaks: pl.DataFrame) -> pl.DataFrame:
    """Add IO rates and powers as shares of the greatest.

    Args:
        rows: Configurations of one request size, with `power_w` and `iops`.
        peaks: `peak_w` by `machine`, of an unknown machine by its dataset.

    Returns:
        The rows with `rate_share` (over the greatest IO rate of the device, reading or writing),
        `peak_w` (the greatest power of the machines of all rows: one divisor) and `power_share`;
        sorted by device.
    """
    machine = pl.coalesce(pl.col("machine", "dataset").cast(pl.String))
    return (
        rows.join(peaks, left_on=machine, right_on="machine", maintain_order="left")
        .with_columns(pl.col("peak_w").max())
        .with_columns(
            rate_share=pl.col("iops") / pl.col("iops").max().over("device"),
            power_share=pl.col("power_w") / pl.col("peak_w"),
        )
        .sort("device", "row", nulls_last=True)
    )


def _floats(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).to_numpy()


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
