"""For each system, the setting with the lowest energy that meets a latency limit."""

import polars as pl

from data.schema import SUBJECT

_SYSTEM = ["system", "system_label"]


def best_settings(
    candidates: pl.DataFrame,
    baselines: pl.DataFrame,
    limit: float | None,
    is_least: bool = False,
    is_most: bool = False,
) -> pl.DataFrame:
    """Choose for each system and load the configuration with the lowest mean cost in the limit.

    Args:
        candidates: One row per configuration, columns of `points_query` with `x` the limited
            metric and `y` the cost, such as energy (means over `n` replicates).
        baselines: Columns of `baselines_query`.
        limit: Highest allowed mean of the limited metric, in its unit; None for no limit.
        is_least: The limit is the lowest allowed mean instead: more of `x` is better.
        is_most: The best has the highest `y`: more of it is better.

    Returns:
        One row per system and SUBJECT, sorted by them: the winner's columns, `meets`
        (false: no configuration meets the limit, and the row has the best `x`),
        `energy_change` and `performance_change` against the baseline (fractions; NULL without a
        baseline). Of equal costs the better `x` wins.
    """
    sign_x, sign_y = -1 if is_least else 1, -1 if is_most else 1
    meets = pl.lit(True) if limit is None else sign_x * pl.col("x") <= sign_x * limit
    ranked = candidates.with_columns(meets=meets, near=sign_x * pl.col("x")).with_columns(
        rank=pl.when("meets").then(sign_y * pl.col("y")).otherwise(pl.col("near"))
    )
    winners = (
        ranked.sort(["meets", "rank", "near"], descending=[True, False, False], maintain_order=True)
        .group_by([*SUBJECT, *_SYSTEM], maintain_order=True)
        .first()
    )
    renamed = baselines.rename({"performance": "baseline_x", "cost": "baseline_y"}).drop("n")
    return (
        winners.join(renamed, on=list(SUBJECT), how="left", nulls_equal=True)
        .with_columns(
            energy_change=pl.col("y") / pl.col("baseline_y") - 1,
            performance_change=pl.col("x") / pl.col("baseline_x") - 1,
        )
        .drop("rank", "near")
        .sort([*SUBJECT, "system"])
    )
