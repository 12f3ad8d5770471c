"""Configurations taken together, and the moments of those with rows that are means of runs."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from data.analysis.like_with_like import pooled
from data.analysis.significance import Moments, Samples, moments

# Moments over all runs, where some rows are means of several.
POOLED: Final = ("pooled_n", "pooled_mean", "pooled_sd")
# Of a metric to which a limit applies, after its name.
LIMITED: Final = ("n", "log_mean", "log_variance", "mean", "step")


def merged(groups: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Take the configurations that agree in some columns together.

    A column in which they differ is NULL, but means (`against`) and moments are pooled.
    """
    limited = [f"{name}_{end}" for name in _limited(groups) for end in LIMITED]
    own = (*by, "values", "against", *POOLED, *limited)
    others = [name for name in groups.columns if name not in own]
    same = [
        pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()).alias(name)
        for name in others
    ]
    n, against = pl.col("values").list.len(), pl.col("against")
    mean = (against * n).sum() / n.filter(against.is_not_null()).sum()
    means = [mean.alias("against").fill_nan(None)] if "against" in groups.columns else []
    if set(POOLED) <= set(groups.columns):
        n, mean, sd = (pl.col(name) for name in POOLED)
        is_unknown = ((n > 1) & sd.is_null()).any()
        total, whole, variance = pooled(n, mean, sd.pow(2))
        known_sd = pl.when(~is_unknown).then(variance.sqrt())
        means += [
            each.alias(name) for name, each in zip(POOLED, (total, whole, known_sd), strict=True)
        ]
    for name in _limited(groups):
        logs = pooled(*(pl.col(f"{name}_{end}") for end in LIMITED[:3]))
        means += [
            *(each.alias(f"{name}_{end}") for end, each in zip(LIMITED, logs, strict=False)),
            (
                (pl.col(f"{name}_mean") * pl.col(f"{name}_n")).sum() / pl.col(f"{name}_n").sum()
            ).alias(f"{name}_mean"),
            pl.col(f"{name}_step").min(),
        ]
    together = groups.group_by(by, maintain_order=True).agg(
        *same, *means, pl.col("values").explode().sort()
    )
    return together.select(groups.columns)


def _limited(groups: pl.DataFrame) -> list[str]:
    """Return the metrics to which a limit applies."""
    return [n.removesuffix("_log_mean") for n in groups.columns if n.endswith("_log_mean")]


def samples_of(groups: pl.DataFrame) -> tuple[Samples, Moments, np.ndarray]:
    """Return the values of each group, their moments, and which groups have rows that are means.

    Args:
        groups: `values`, and optionally the columns of POOLED; as of `ties.compare`.
    """
    samples = Samples.flat(
        groups["values"].explode(empty_as_null=False).to_numpy(),
        groups["values"].list.len().to_numpy().astype(np.int64),
    )
    plain = moments(samples)
    if not set(POOLED) <= set(groups.columns):
        return samples, plain, np.zeros(len(groups), bool)
    n, mean, sd = (groups[name].cast(pl.Float64).to_numpy() for name in POOLED)
    has_means = n > plain.n
    n = np.where(has_means, n, plain.n).astype(np.int64)
    mean, sd = np.where(has_means, mean, plain.mean), np.where(has_means, sd, plain.sd)
    return samples, Moments(n, mean, sd), has_means


def in_order(groups: pl.DataFrame, knobs: Sequence[str]) -> pl.DataFrame:
    """Sort by the knobs, NULL last; return sorted input without a copy."""
    order = groups.select(knobs).with_row_index("place").sort(knobs, nulls_last=True)["place"]
    return groups if order.is_sorted() else groups[order]
