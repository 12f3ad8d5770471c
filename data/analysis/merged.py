"""Configurations taken together, and the moments of those with rows that are means of runs."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

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
        means += _pooled_moments(*POOLED)
    for name in _limited(groups):
        means += [
            *_pooled_logs(name),
            (
                (pl.col(f"{name}_mean") * pl.col(f"{name}_n")).sum() / pl.col(f"{name}_n").sum()
            ).alias(f"{name}_mean"),
            pl.col(f"{name}_step").min(),
        ]
    pooled = groups.group_by(by, maintain_order=True).agg(
        *same, *means, pl.col("values").explode().sort()
    )
    return pooled.select(groups.columns)


def _limited(groups: pl.DataFrame) -> list[str]:
    """Return the metrics to which a limit applies."""
    return [n.removesuffix("_log_mean") for n in groups.columns if n.endswith("_log_mean")]


def _pooled_logs(name: str) -> list[pl.Expr]:
    n, mean, variance = (pl.col(f"{name}_{end}") for end in ("n", "log_mean", "log_variance"))
    whole = (n * mean).sum() / n.sum()
    squares = ((n - 1) * variance.fill_null(0)).sum() + (n * (mean - whole).pow(2)).sum()
    return [
        n.sum().alias(f"{name}_n"),
        whole.alias(f"{name}_log_mean"),
        pl.when(n.sum() > 1).then(squares / (n.sum() - 1)).alias(f"{name}_log_variance"),
    ]


def _pooled_moments(*names: str) -> list[pl.Expr]:
    """Moments of several groups together, out of the moments of each."""
    n, mean, sd = (pl.col(name) for name in names)
    whole = (n * mean).sum() / n.sum()
    is_unknown = ((n > 1) & sd.is_null()).any()
    squares = ((n - 1) * sd.fill_null(0).pow(2)).sum() + (n * (mean - whole).pow(2)).sum()
    return [
        n.sum().alias("pooled_n"),
        whole.alias("pooled_mean"),
        pl.when((n.sum() > 1) & ~is_unknown)
        .then((squares / (n.sum() - 1)).sqrt())
        .alias("pooled_sd"),
    ]


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
