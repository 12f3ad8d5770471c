"""Cells of a map compared once more, at the settings that both competitors were measured at.

A competitor counts with its best setting, also where the other was not measured there: a partition
with more nodes, a framework with larger batches. The lead then is of the setting as much as of the
competitor. Competitors that share no setting, such as a tuned and a default system, have no
other comparison than that of their bests.
"""

from collections.abc import Callable, Sequence

import polars as pl

from data.analysis.coded_rows import Part
from data.analysis.like_with_like import varying_within
from data.analysis.rules import ALONE, OVER, UNLIKE
from data.analysis.ties import Comparison


def at_shared_settings(
    comparison: Comparison,
    by: tuple[str, str, str],
    settings: Sequence[str],
    compare: Callable[[pl.DataFrame], Comparison],
) -> Comparison | None:
    """Compare the best two of each cell that one of them leads by a setting that the other lacks.

    Args:
        comparison: Of competitors with each other.
        by: Columns of both axes and of the competitors.
        settings: Columns of the settings among which a competitor may be best.
        compare: Compares some of the configurations in the same way.

    Returns:
        The comparison of these cells at the settings that both have, which holds none of the cells
        without such a setting; None without any such cell.
    """
    judged = ~pl.col("outcome").is_in([ALONE, OVER, UNLIKE])
    cells = comparison.cells.filter((pl.col("runner_up") >= 0) & judged)
    if comparison.better is None or not len(cells):
        return None
    free = varying_within(Part.of(comparison.groups), by, settings)
    if not free:
        return None
    contenders = comparison.contenders
    sides = pl.concat(
        contenders.select("x", "y", "competitor").with_columns(is_leader=pl.lit(role == "winner"))
        [cells[role]] for role in ("winner", "runner_up")
    )  # fmt: skip
    named = dict(zip(("x", "y", "competitor"), by, strict=True))
    rows = comparison.groups.with_row_index("row").join(
        sides.rename(named), on=by, how="inner", nulls_equal=True, maintain_order="left"
    )
    cell = by[:2]
    rows = rows.with_columns(
        is_shared=pl.col("is_leader").n_unique().over(*cell, *free) > 1,
        is_best=pl.col("row").is_in(contenders["row"].gather(cells["winner"]).implode()),
    )
    is_apart = (pl.col("is_best") & ~pl.col("is_shared")).any().over(*cell)
    shared = rows.filter(is_apart & pl.col("is_shared"))
    return compare(shared.select(comparison.groups.columns)) if len(shared) else None
