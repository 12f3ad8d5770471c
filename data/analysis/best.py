"""For each system, the setting with the lowest energy that meets a latency limit."""

import polars as pl

_GROUP = ["dataset", "workload", "load_qps", "message_bytes"]
_SYSTEM = ["system", "system_label"]


def best_settings(
    candidates: pl.DataFrame, baselines: pl.DataFrame, limit: float | None
) -> pl.DataFrame:
    """Choose for each system and load the configuration with the lowest mean energy in the limit.

    Args:
        candidates: One row per configuration, columns of `points_query` with `x` the performance
            metric and `y` the energy in joules (means over `n` replicates).
        baselines: Columns of `baselines_query`.
        limit: Highest allowed mean of the performance metric, in the metric's unit; None for no
            limit.

    Returns:
        One row per system and load, sorted by load and system: the winner's columns, `meets`
        (false: no configuration meets the limit, and the row has the best performance),
        `energy_change` and `performance_change` against the baseline (fractions; NULL without a
        baseline). Of equal energies the better performance wins.
    """
    meets = pl.lit(True) if limit is None else pl.col("x") <= limit
    ranked = candidates.with_columns(meets=meets).with_columns(
        rank=pl.when("meets").then(pl.col("y")).otherwise(pl.col("x"))
    )
    winners = (
        ranked.sort(["meets", "rank", "x"], descending=[True, False, False], maintain_order=True)
        .group_by(_GROUP + _SYSTEM, maintain_order=True)
        .first()
    )
    renamed = baselines.rename({"performance": "baseline_x", "energy_j": "baseline_y"}).drop("n")
    return (
        winners.join(renamed, on=_GROUP, how="left", nulls_equal=True)
        .with_columns(
            energy_change=pl.col("y") / pl.col("baseline_y") - 1,
            performance_change=pl.col("x") / pl.col("baseline_x") - 1,
        )
        .drop("rank")
        .sort(["dataset", "workload", "load_qps", "message_bytes", "system"])
    )
