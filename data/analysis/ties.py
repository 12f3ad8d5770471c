"""The winner of each cell, its lead, and whether the lead is significant.

A cell is a pair of values of two knobs. In it each competitor's best setting counts: its
configuration with the best mean. The best two competitors are tested against each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from data.analysis.significance import (
    Correction,
    Moments,
    Samples,
    Test,
    compare_pairs,
    corrected,
    mean_half_widths,
    moments,
    smallest_p,
)
from data.errors import DataError

Outcome = Literal["win", "tie", "too few", "alone", "differ"]
WIN: Final = "win"
TIE: Final = "tie"
TOO_FEW: Final = "too few"
ALONE: Final = "alone"
DIFFER: Final = "differ"
OUTCOMES: Final[tuple[Outcome, ...]] = (WIN, TIE, TOO_FEW, ALONE, DIFFER)

# Moments over all runs, where some rows are means of several.
_POOLED: Final = ("pooled_n", "pooled_mean", "pooled_sd")

Better = Literal["less", "more"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for comparing the competitors of a cell.

    Attributes:
        level: A corrected p value above it is a tie; between 0 and 1, both excluded.
    """

    test: Test = "student"
    correction: Correction = "none"
    level: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise DataError(f"level is {self.level:g}, expected a number between 0 and 1")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The compared cells and the competitors' best settings in them.

    Attributes:
        groups: The compared configurations, sorted by their values.
        contenders: One row per cell and competitor, best first within a cell: `cell`, `x`, `y`,
            `competitor`, `place` (0 is best), `row` (row of its best setting in `groups`),
            `settings` (number of its configurations), `n`, `mean`, `sd` and `half_width` (of the
            mean's 95 % confidence interval; both NaN for one run).
        cells: One row per measured cell: `cell`, `x`, `y`, `outcome`, `winner` and `runner_up`
            (rows of `contenders`; `winner` has the best mean whatever the outcome; `runner_up` is
            -1 if there is none), `competitors`, `margin` (absolute, never below 0), `margin_share`
            (signed: (winner - runner-up) / |runner-up|), `p`, `p_corrected`, `effect`.
        better: Direction of the measurement; None for none, where `winner` has the highest mean.
    """

    groups: pl.DataFrame
    contenders: pl.DataFrame
    cells: pl.DataFrame
    better: Better | None


def compare(
    groups: pl.DataFrame, x: str, y: str, competitor: str, better: Better | None, rules: Rules
) -> Comparison:
    """Compare the competitors in every cell of two knobs.

    Outcomes: `win`; `tie`, if the corrected p value is above the level, or if there is no p value
    because the two are equal without any spread; `too few`, if one of the two has fewer than two
    replicates, or the test cannot reach the level with so few; `alone`, if only one competitor was
    measured, which is not a win. A measurement without a direction has no winner and no best
    setting: each competitor counts with all its replicates in the cell, and `differ` takes the
    place of `win`.

    Args:
        groups: One row per configuration: its knobs, among them `x`, `y` and `competitor` (NULL is
            a value like any other), and `values`, a list of at least one finite measurement.
            Optionally `pooled_n`, `pooled_mean` and `pooled_sd`: where `pooled_n` is more than the
            values, some of these are means of runs; the moments then are the pooled ones, and
            Mann-Whitney, which ranks values, finds too few.
        better: Direction of the measurement; None for none.

    Returns:
        A result that does not depend on the order of rows and values. Of equal means the one with
        more replicates counts for its competitor, then the one with less spread, then the first
        by its knobs. No groups, no cells.
    """
    if better is None:
        groups = merged(groups, (x, y, competitor))
    knobs = [name for name in groups.columns if name not in ("values", *_POOLED)]
    groups = _in_order(groups, knobs)
    samples = Samples.flat(
        groups["values"].explode(empty_as_null=False).to_numpy(),
        groups["values"].list.len().to_numpy().astype(np.int64),
    )
    found, has_means = _with_pooled(moments(samples), groups)
    sign = -1.0 if better == "less" else 1.0
    contenders = _contenders(groups, (x, y, competitor), found, sign)
    cells = _cells(contenders, samples, found, sign, rules, has_means)
    if better is None:
        cells = cells.with_columns(pl.col("outcome").replace(WIN, DIFFER))
    return Comparison(groups, contenders, cells, better)


def merged(groups: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Take the configurations that agree in some columns together.

    A column in which they differ is NULL, but means (`against`) and moments are pooled.
    """
    own = (*by, "values", "against", *_POOLED)
    others = [name for name in groups.columns if name not in own]
    same = [
        pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()).alias(name)
        for name in others
    ]
    n, against = pl.col("values").list.len(), pl.col("against")
    mean = (against * n).sum() / n.filter(against.is_not_null()).sum()
    means = [mean.alias("against").fill_nan(None)] if "against" in groups.columns else []
    if set(_POOLED) <= set(groups.columns):
        means += _pooled_moments()
    pooled = groups.group_by(by, maintain_order=True).agg(
        *same, *means, pl.col("values").explode().sort()
    )
    return pooled.select(groups.columns)


def _pooled_moments() -> list[pl.Expr]:
    """Moments of several groups together, out of the moments of each."""
    n, mean, sd = (pl.col(name) for name in _POOLED)
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


def _with_pooled(found: Moments, groups: pl.DataFrame) -> tuple[Moments, np.ndarray]:
    """Replace the moments of groups with rows that are means; tell which groups those are."""
    if not set(_POOLED) <= set(groups.columns):
        return found, np.zeros(len(groups), bool)
    n, mean, sd = (groups[name].cast(pl.Float64).to_numpy() for name in _POOLED)
    has_means = n > found.n
    n = np.where(has_means, n, found.n).astype(np.int64)
    mean, sd = np.where(has_means, mean, found.mean), np.where(has_means, sd, found.sd)
    return Moments(n, mean, sd), has_means


def _in_order(groups: pl.DataFrame, knobs: Sequence[str]) -> pl.DataFrame:
    """Sort by the knobs, NULL last; return sorted input without a copy."""
    order = groups.select(knobs).with_row_index("place").sort(knobs, nulls_last=True)["place"]
    return groups if order.is_sorted() else groups[order]


def _contenders(
    groups: pl.DataFrame, by: Sequence[str], found: Moments, sign: float
) -> pl.DataFrame:
    """Choose each competitor's best setting, and rank the competitors within each cell."""
    x, y, competitor = (_codes(groups[name]) for name in by)
    _, cell = np.unique(x * (y.max(initial=0) + 1) + y, return_inverse=True)
    spread = np.nan_to_num(found.sd, nan=np.inf)
    order = np.lexsort((spread, -found.n, -sign * found.mean, competitor, cell))
    start = np.flatnonzero(
        (np.diff(cell[order], prepend=-1) != 0) | (np.diff(competitor[order], prepend=-1) != 0)
    )
    best, settings = order[start], np.diff(np.append(start, len(order)))
    ranked = np.lexsort((competitor[best], -sign * found.mean[best], cell[best]))
    best, settings = best[ranked], settings[ranked]
    first = np.flatnonzero(np.diff(cell[best], prepend=-1))
    sizes = np.diff(np.append(first, len(best)))
    return pl.DataFrame(
        {
            "cell": cell[best],
            "x": groups[by[0]][best],
            "y": groups[by[1]][best],
            "competitor": groups[by[2]][best],
            "place": np.arange(len(best)) - np.repeat(first, sizes),
            "row": best,
            "settings": settings,
            "n": found.n[best],
            "mean": found.mean[best],
            "sd": found.sd[best],
            "half_width": mean_half_widths(
                Moments(found.n[best], found.mean[best], found.sd[best])
            ),
        }
    )


def _cells(
    contenders: pl.DataFrame,
    samples: Samples,
    found: Moments,
    sign: float,
    rules: Rules,
    has_means: np.ndarray,
) -> pl.DataFrame:
    winner = np.flatnonzero(contenders["place"].to_numpy() == 0)
    competitors = np.diff(np.append(winner, len(contenders)))
    contested = competitors > 1
    runner_up = np.where(contested, winner + 1, -1)
    row = contenders["row"].to_numpy()
    a, b = row[winner[contested]], row[runner_up[contested]]
    # A mean of runs has no values to rank.
    is_unranked = (has_means[a] | has_means[b]) & (rules.test == "mann-whitney")
    p, effect = (_spread_out(np.where(is_unranked, np.nan, v), contested) for v in
                 compare_pairs(rules.test, samples, found, a, b, sign))  # fmt: skip
    shares = _spread_out(_share(found.mean[a], found.mean[b]), contested)
    kept = corrected(p, rules.correction)
    smallest = smallest_p(rules.test, found.n[a], found.n[b])
    is_unknown = np.isnan(found.sd[a] + found.sd[b])
    least = _spread_out(np.where(is_unranked | is_unknown, 1.0, smallest), contested)
    outcome = np.select(
        [~contested, least > rules.level, kept <= rules.level], [ALONE, TOO_FEW, WIN], TIE
    )
    return contenders[winner].select("cell", "x", "y").with_columns(
        outcome=pl.Series(outcome, dtype=pl.String),
        winner=pl.Series(winner),
        runner_up=pl.Series(runner_up),
        competitors=pl.Series(competitors),
        margin=_spread_out(np.abs(found.mean[a] - found.mean[b]), contested),
        margin_share=shares,
        p=p,
        p_corrected=kept,
        effect=effect,
    )  # fmt: skip


def win_counts(comparison: Comparison) -> pl.DataFrame:
    """Count the cells that each competitor wins, and the other outcomes.

    Returns:
        `competitor`, `outcome`, `cells`: one row per competitor for its wins (0 included), by
        value, NULL last, where the measurement has a direction; then one row for each other
        outcome that occurs, without competitor.
    """
    cells, contenders = comparison.cells, comparison.contenders
    winners = cells.with_columns(competitor=contenders["competitor"].gather(cells["winner"]))
    wins = winners.filter(pl.col("outcome") == WIN).group_by("competitor").agg(cells=pl.len())
    everyone = contenders.select("competitor").unique().sort("competitor", nulls_last=True)
    if comparison.better is None:
        everyone = everyone.clear()
    won = everyone.join(wins, on="competitor", how="left", nulls_equal=True, maintain_order="left")
    rest = pl.DataFrame({"outcome": OUTCOMES[1:]}).join(
        cells.group_by("outcome").agg(cells=pl.len()), on="outcome", maintain_order="left"
    )
    columns = ["competitor", "outcome", "cells"]
    return pl.concat(
        [
            won.with_columns(pl.col("cells").fill_null(0), outcome=pl.lit(WIN)).select(columns),
            rest.with_columns(competitor=pl.lit(None, dtype=everyone.schema["competitor"])).select(
                columns
            ),
        ]
    )


def _codes(column: pl.Series) -> np.ndarray:
    """Number the values in their order; NULL has the largest number."""
    ranks = column.rank("dense").cast(pl.Int64)
    return ranks.fill_null(column.n_unique() + 1).to_numpy()


def _share(winner: np.ndarray, runner_up: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(runner_up == 0, np.nan, (winner - runner_up) / np.abs(runner_up))


def _spread_out(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return `values` at the indices `where`, NaN elsewhere."""
    out = np.full(len(where), np.nan)
    out[where] = values
    return out
