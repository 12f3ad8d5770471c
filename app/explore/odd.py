"""Odd runs: far off the other replicates of their configuration, in the x or y that is drawn.

They are found once for each lake, workload and metric, and stay in unless a reader leaves them out.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from app.explore.state import ExploreState
from app.kit.answer_cache import compact
from app.kit.columns import floats
from app.kit.lake_view import LakeView, leading
from app.kit.settings import MAX_ROWS
from data.analysis.coded_rows import Coded, Part
from data.analysis.facet_counts import matches
from data.analysis.noise import group_medians, odd_runs, priors
from data.catalogue import Catalogue
from data.metrics import Metric
from data.queries.explore import replicates_query, run_ids_query
from data.selection import Selection
from data.units import counted, format_quantity

# What differs between the choices of one system and workload, which lend each other their noise.
_LOADS: Final = ("load_qps", "message_bytes")
_VALUES_MAX: Final = 3


def odd_of(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the odd runs that the filters leave, a row for each run and axis.

    Args:
        state: With `performance` resolved to a column.

    Returns:
        Columns of a configuration, `run_id`, `axis` (x or y), `value` and `median` in the metric's
        unit, `runs` (number of the configuration's runs).
    """
    studied = Selection(leading(state.selection).clauses)
    odd = view.once(_odd_of_axes, (studied, state.x, state.y))
    return odd.filter(matches(state.selection)) if len(odd) else odd


def _odd_of_axes(view: LakeView, key: tuple[Selection, str, str]) -> pl.DataFrame:
    studied, x, y = key
    axes = {"x": x} if x == y else {"x": x, "y": y}
    by_axis = (
        view.once(_odd_table, (studied, column)).with_columns(axis=pl.lit(axis))
        for axis, column in axes.items()
    )
    return pl.concat(by_axis)


def _odd_table(view: LakeView, key: tuple[Selection, str]) -> pl.DataFrame:
    return view.stored(("odd runs", key), partial(_find_odd, view, key))


def _find_odd(view: LakeView, key: tuple[Selection, str]) -> pl.DataFrame:
    selection, column = key
    catalogue = view.catalogue
    known = view.known(selection, catalogue.configuration)
    query = replicates_query(selection, column, MAX_ROWS + 1, known.names, catalogue=catalogue)
    settings = known.added_to(compact(view.lake.polars(*query)))
    # Shares are no logarithms, and a part of the settings has no prior.
    if catalogue.metric(column).unit == "%" or len(settings) > MAX_ROWS:
        settings = settings.clear()
    odd = _odd_values(settings, catalogue)
    if not len(odd):
        return odd.with_columns(run_id=pl.lit(None, pl.String))
    values = odd["value"].unique().sort().to_list()
    names = known.names
    asked = run_ids_query(selection, column, values, MAX_ROWS, names, catalogue=catalogue)
    runs = known.added_to(compact(view.lake.polars(*asked))).cast({"run_id": pl.String})
    on = [*catalogue.configuration, "value"]
    return odd.join(runs.select(*on, "run_id"), on=on, nulls_equal=True, maintain_order="left")


def _odd_values(settings: pl.DataFrame, catalogue: Catalogue) -> pl.DataFrame:
    """Return the odd values of each configuration, each once; no run id."""
    numbers = settings["values"].list.len().to_numpy().astype(np.int64)
    setting = np.repeat(np.arange(len(settings)), numbers)
    values = floats(settings["values"].explode(empty_as_null=False))
    family = [name for name in catalogue.choice_columns if name not in _LOADS]
    choices, families = (_numbered(settings, by) for by in (catalogue.choice_columns, family))
    fits = priors(values, setting, choices[setting], families[setting])
    s0 = np.array([fit.s0 for fit in fits])[choices[setting]] if fits else np.zeros(0)
    odd = np.flatnonzero(odd_runs(values, setting, s0))
    medians = np.exp(group_medians(np.log(values), setting)) if len(values) else values
    return (
        settings[setting[odd]]
        .drop("values")
        .with_columns(
            value=pl.Series(values[odd], dtype=pl.Float64),
            median=pl.Series(medians[setting[odd]], dtype=pl.Float64),
            runs=pl.Series(numbers[setting[odd]], dtype=pl.Int64),
        )
        .unique(maintain_order=True)
    )


def _numbered(rows: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return the number of each row's combination of values."""
    group = np.zeros(len(rows), np.int64)
    for name in columns:
        if rows[name].n_unique() > 1:
            codes = rows[name].rank("dense").fill_null(0).to_numpy().astype(np.int64)
            group = np.unique(group * (codes.max() + 1) + codes, return_inverse=True)[1]
    return group


def odd_column(part: Part, odd: pl.DataFrame, state: ExploreState, catalogue: Catalogue) -> Coded:
    """Return the odd values behind each point, in words, or NULL.

    Args:
        part: Means of configurations, or runs.
    """
    if not len(odd):
        return Coded([None], np.zeros(len(part), np.uint8))
    points = part.rows
    shared = [name for name in catalogue.configuration if name in points.columns]
    for axis, column in (("x", state.x), ("y", state.y)):
        of_axis = odd.filter(axis=axis)
        on = shared
        if state.replicates == "runs":
            of_axis, on = of_axis.with_columns(pl.col("value").alias(axis)), [*shared, axis]
        odd_rows = pl.DataFrame(
            [
                {
                    **dict(zip(on, key, strict=True)),
                    axis + "_odd": _words(catalogue.metric(column), rows),
                }
                for key, rows in of_axis.group_by(on, maintain_order=True)
            ],
            {**{name: of_axis.schema[name] for name in on}, axis + "_odd": pl.String},
        )
        points = points.join(odd_rows, on=on, how="left", nulls_equal=True, maintain_order="left")
    text = pl.concat_str("x_odd", "y_odd", separator="; ", ignore_nulls=True)
    is_odd = pl.col("x_odd").is_not_null() | pl.col("y_odd").is_not_null()
    return Coded.of(points.select(pl.when(is_odd).then(text)).to_series())


def _words(measure: Metric, rows: pl.DataFrame) -> str:
    values = [format_quantity(value, measure.unit) for value in rows["value"].sort()]
    title = measure.title_in(*rows["dataset"])
    more = f" and {len(values) - _VALUES_MAX} more" if len(values) > _VALUES_MAX else ""
    listed = ", ".join(values[:_VALUES_MAX])
    median = format_quantity(rows["median"][0], measure.unit)
    return f"{title} {listed}{more} (median of {rows['runs'][0]}: {median})"


def odd_words(odd: pl.DataFrame, is_without: bool, catalogue: Catalogue) -> str:
    """Return the status line's count: `9 odd runs`, `without 9 odd runs`; empty for none."""
    count = odd["run_id"].n_unique()
    if not count:
        return ""
    runs = counted(count, "odd run")
    if not is_without:
        return runs
    # Where a setting's runs fall in two clusters, all of them may be odd.
    by_setting = odd.group_by(list(catalogue.configuration)).agg(
        pl.col("run_id").n_unique(), pl.first("runs")
    )
    gone = len(by_setting.filter(pl.col("run_id") == pl.col("runs")))
    lost = f", the only ones of {counted(gone, 'setting')}" if gone else ""
    return f"without {runs}{lost}"
