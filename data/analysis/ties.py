"""The winner of each cell, its lead, and what the runs prove of it.

A cell is a pair of values of two knobs. In it each competitor is represented by its best setting,
and the best two competitors are compared. By the rule `sets` each side is all settings that cannot
be told from its best, and the outcome is one of four (`data.analysis.outcomes`). By the named tests
the two best settings are tested against each other.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from data.analysis.best_set import Limit
from data.analysis.cell_outcomes import Pairs, proven_columns, tested_columns
from data.analysis.contenders import (
    BEYOND,
    ONCE,
    WITHIN,
    Contenders,
    Question,
    Settings,
    contenders_of,
    proven_settings,
    tested_settings,
)
from data.analysis.merged import POOLED, in_order, merged, samples_of
from data.analysis.rules import DIFFER, OUTCOMES, SETS, WIN, Rules
from data.analysis.setting_noise import Better


@dataclass(frozen=True, slots=True)
class Comparison:
    """The compared cells and the competitors' best settings in them.

    Attributes:
        groups: The compared configurations, sorted by their values.
        contenders: One row per cell and competitor, best first within a cell: `cell`, `x`, `y`,
            `competitor`, `is_default`, `place` (0 is best), `row` (row of its best setting in
            `groups`), `settings` (number of its configurations), `n`, `mean`, `sd`, `low` and
            `high` (the mean's 95 % confidence interval; NaN for one run).
        cells: One row per measured cell: `cell`, `x`, `y`, `outcome`, `first` (row of its first
            contender), `winner` and `runner_up` (rows of `contenders`; `winner` has the best mean
            whatever the outcome; `runner_up` is -1 if there is none), `competitors`, `margin`
            (absolute, never below 0), `margin_share` (signed: (winner - runner-up) / |runner-up|),
            by `sets` with `share_low` and `share_high`, its interval; `more_runs` (about how many
            more of each setting would decide; 0 if decided, -1 for over 100), `members_winner`,
            `members_runner_up` (settings compared on each side), `p` (by `sets` the least alpha at
            which the cell alone is decided), `p_corrected`, `effect`.
        better: Direction of the measurement; None for none, where `winner` has the highest mean.
        level: Error of each interval: alpha, corrected for the cells shown.
        is_geometric: Whether `mean` of the contenders is geometric: by `sets`, without percentages
            and values of 0 and below.
    """

    groups: pl.DataFrame
    contenders: pl.DataFrame
    cells: pl.DataFrame
    better: Better | None
    level: float
    is_geometric: bool


def compare(
    groups: pl.DataFrame,
    x: str,
    y: str,
    competitor: str,
    question: Question,
    rules: Rules,
    has_default: bool = False,
    relatives: pl.DataFrame | None = None,
) -> Comparison:
    """Compare the competitors in every cell of two knobs.

    Outcomes: `win`; by `sets` `equivalent` (within the margin) and `undecided`; by a test `tie`, if
    the corrected p value is above alpha, or if there is no p value because the two are equal
    without any spread; `too few`, if one of the two has fewer than two replicates, or the test
    cannot reach alpha with so few, but by `sets` `tie` where both have one value; `alone`, if only
    one competitor was measured, or only one may meet the limit, which is not a win; `over`, if none
    may meet it; by `sets` `unlike`, if the runs of one of the two are no replicates: their mean is
    none of a setting. A measurement without a direction has no winner and no best setting: each
    competitor counts with all its replicates in the cell, and `differ` takes the place of `win`.

    Args:
        groups: One row per configuration: its knobs, among them `x`, `y` and `competitor` (NULL is
            a value like any other), and `values`, a list of at least one finite measurement.
            Optionally the columns of `merged.POOLED`: where `pooled_n` is more than the values,
            some of these are means of runs; the moments then are the pooled ones, and Mann-Whitney,
            which ranks values, finds too few. With a limit its metric's columns of
            `merged.LIMITED`.
        has_default: Compare the best competitor of each cell with the default instead: `default`
            in `groups` is True for those, and `scope` numbers the settings that share one.
        relatives: As of `proven_settings`.

    Returns:
        A result that does not depend on the order of rows and values. Of equal means the one with
        more replicates counts for its competitor, then the one with less spread, then the first
        by its knobs. No groups, no cells.
    """
    by = (x, y, competitor)
    if question.better is None:
        groups = merged(groups, (*by, "default", "scope") if has_default else by)
    known = ("values", "default", "scope", *POOLED)
    groups = in_order(groups, [name for name in groups.columns if name not in known])
    samples, group_moments, has_means = samples_of(groups)
    if rules.test == SETS:
        settings = proven_settings(
            groups, samples, group_moments, has_means, question, by, rules.alpha, relatives
        )
    else:
        settings = tested_settings(groups, group_moments, question)
    defaults = None
    if has_default:
        settings = _without_limit(settings, groups["default"].to_numpy())
        defaults = _defaults(groups)
    contenders = contenders_of(groups, by, settings, defaults)
    winner = np.flatnonzero(np.diff(contenders.cell, prepend=-1))
    competitors = np.diff(np.append(winner, len(contenders.cell)))
    can = settings.tier[contenders.row] < BEYOND
    able = np.add.reduceat(can.astype(np.int64), winner) if len(winner) else competitors
    pairs = Pairs(winner, np.where(able > 1, winner + 1, -1), competitors, able)
    if rules.test == SETS:
        columns, level = proven_columns(pairs, contenders, settings, rules)
    else:
        columns = tested_columns(
            pairs, contenders, settings, samples, group_moments, has_means, rules, question
        )
        level = rules.alpha
    table = _contender_table(groups, by, contenders, settings, winner)
    cells = table[winner].select("cell", "x", "y").with_columns(first=pl.Series(winner), **columns)
    if question.better is None:
        cells = cells.with_columns(pl.col("outcome").replace(WIN, DIFFER))
    is_geometric = settings.scale is not None and settings.scale.is_log
    return Comparison(groups, table, cells, question.better, level, is_geometric)


def _without_limit(settings: Settings, is_default: np.ndarray) -> Settings:
    """Return the settings with defaults that meet any limit: a default need not."""
    tier = np.where(is_default & (settings.tier == BEYOND), ONCE, settings.tier)
    tier = np.where(is_default & (settings.n > 1), WITHIN, tier)
    if settings.limit is None:
        return replace(settings, tier=tier)
    metric = settings.limit.metric
    mean = np.where(is_default, -np.inf, metric.mean)
    sure = replace(metric, mean=mean, variance=np.where(is_default, 1.0, metric.variance))
    return replace(settings, tier=tier, limit=Limit(settings.limit.at, sure))


def _defaults(groups: pl.DataFrame) -> np.ndarray:
    """Return the row of the default of each setting's scope, -1 where none or several are there."""
    is_default = groups["default"].to_numpy()
    scope = groups["scope"].to_numpy()
    count = np.bincount(scope, is_default) if len(scope) else np.zeros(0)
    row = np.full(len(count), -1)
    row[scope[is_default]] = np.flatnonzero(is_default)
    own = np.where(count == 1, row, -1)[scope] if len(scope) else np.zeros(0, np.int64)
    return np.where(is_default, np.arange(len(groups)), own)


def _contender_table(
    groups: pl.DataFrame,
    by: tuple[str, str, str],
    contenders: Contenders,
    settings: Settings,
    first: np.ndarray,
) -> pl.DataFrame:
    x, y, competitor = by
    sizes = np.diff(np.append(first, len(contenders.cell)))
    numbers = {name: getattr(settings, name)[contenders.row] for name in ("n", "mean", "sd")}
    return pl.DataFrame(
        {
            "cell": np.repeat(np.arange(len(first)), sizes),
            "x": groups[x][contenders.place],
            "y": groups[y][contenders.place],
            "competitor": groups[competitor][contenders.row],
            "is_default": contenders.is_default,
            "place": np.arange(len(contenders.row)) - np.repeat(first, sizes),
            "row": contenders.row,
            "settings": contenders.settings,
            **numbers,
            "low": settings.low[contenders.row],
            "high": settings.high[contenders.row],
        }
    )


def win_counts(comparison: Comparison) -> pl.DataFrame:
    """Count the cells that each competitor wins, and the other outcomes.

    Returns:
        `competitor`, `is_default`, `outcome`, `cells`: one row per competitor for its wins (0
        included), by value, NULL last, where the measurement has a direction; then one row for
        each other outcome that occurs, without competitor.
    """
    cells, contenders = comparison.cells, comparison.contenders
    by = ["competitor", "is_default"]
    winners = contenders.select(pl.col(by).gather(cells["winner"]))
    wins = winners.filter(cells["outcome"] == WIN).group_by(by).agg(cells=pl.len())
    everyone = contenders.select(by).unique().sort(reversed(by), nulls_last=True)
    if comparison.better is None:
        everyone = everyone.clear()
    won = everyone.join(wins, on=by, how="left", nulls_equal=True, maintain_order="left")
    rest = pl.DataFrame({"outcome": OUTCOMES[1:]}).join(
        cells.group_by("outcome").agg(cells=pl.len()), on="outcome", maintain_order="left"
    )
    columns = [*by, "outcome", "cells"]
    none = [pl.lit(None, dtype=everyone.schema[name]).alias(name) for name in by]
    return pl.concat(
        [
            won.with_columns(pl.col("cells").fill_null(0), outcome=pl.lit(WIN)).select(columns),
            rest.with_columns(none).select(columns),
        ]
    )
