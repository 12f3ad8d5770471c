"""The competitors of each cell of a map, and the setting that represents each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from data.analysis.best_set import OUTSIDE_SHARE, Limit, quantile, sidak
from data.analysis.merged import samples_of
from data.analysis.noise import ENOUGH_SETTINGS, Estimates
from data.analysis.setting_noise import (
    Better,
    Relatives,
    Scale,
    limited_moments,
    moderated_estimates,
    numbered,
    setting_moments,
)
from data.analysis.significance import Moments, Samples, mean_half_widths

# Settings from the best to those that cannot represent a competitor: measured twice and surely
# within the limit; twice and perhaps within; once; surely beyond it.
WITHIN: Final = 0
MAYBE: Final = 1
ONCE: Final = 2
BEYOND: Final = 3
_CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known of each setting; all arrays have shape (settings,).

    Attributes:
        cost: Less is better.
        tier: WITHIN to BEYOND.
        mean: In the metric's unit, with `low` and `high`, its 95 % interval; NaN for one run.
        estimates, limit, scale: For the rule `sets`; None for tests of two settings.
    """

    n: np.ndarray
    cost: np.ndarray
    tier: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sd: np.ndarray
    estimates: Estimates | None = None
    limit: Limit | None = None
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the settings.

    Attributes:
        better: Direction of the metric; None for none.
        choice: Columns that are the same within a choice, whose settings share their noise.
        family: Columns of its system and workload, whatever the load.
        limit: A metric, its bound, and whether its values must be at most that.
    """

    better: Better | None
    unit: str = ""
    choice: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    limit: tuple[str, float, bool] | None = None


def tested_settings(groups: pl.DataFrame, group_moments: Moments, question: Question) -> Settings:
    """Return the settings by their arithmetic means, for tests of two of them.

    A setting whose limited metric is beyond the limit in the mean does not compete.
    """
    half = mean_half_widths(group_moments)
    tier = np.zeros(len(groups), np.int64)
    if question.limit is not None:
        name, bound, is_at_most = question.limit
        mean = groups[f"{name}_mean"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        tier[mean > bound if is_at_most else mean < bound] = BEYOND
    cost = group_moments.mean if question.better == "less" else -group_moments.mean
    return Settings(
        group_moments.n,
        cost,
        tier,
        group_moments.mean,
        group_moments.mean - half,
        group_moments.mean + half,
        group_moments.sd,
    )


def proven_settings(
    groups: pl.DataFrame,
    samples: Samples,
    group_moments: Moments,
    has_means: np.ndarray,
    question: Question,
    by: Sequence[str],
    alpha: float,
    relatives: pl.DataFrame | None = None,
) -> Settings:
    """Return the settings by their means and moderated variances on the logarithmic scale.

    Args:
        group_moments, has_means: Moments of the values, and which of them have rows that are means.
        by: Columns that are the same within one side of a comparison.
        alpha: Error of the standing to the limit.
        relatives: The settings of the same systems at all loads, with the columns of `groups`, for
            the noise of choices with few settings; None where `groups` has them all.
    """
    scale = Scale.of(samples.values, question.better, question.unit)
    choice = numbered(groups, question.choice)
    is_small = np.bincount(choice, _is_lender(groups) & (group_moments.n > 1)) < ENOUGH_SETTINGS
    # Where all choices are large enough, nothing is borrowed.
    others = groups if relatives is None or not is_small.any() else relatives
    family, lent = _families(groups, others, question.family)
    own = setting_moments(samples, group_moments, has_means, scale, choice)
    theirs = own if others is groups else setting_moments(*samples_of(others), scale, lent)
    lenders = Relatives(theirs, _is_lender(others), lent)
    is_more_better = scale.sign < 0
    estimates = moderated_estimates(
        own, _is_lender(groups), choice, family, is_more_better, lenders
    )
    n, limit = estimates.n, None
    tier = np.where(n > 1, WITHIN, ONCE)
    if question.limit is not None:
        name, bound, is_at_most = question.limit
        moments = limited_moments(groups, name, choice)
        lenders = Relatives(limited_moments(others, name, lent), _is_lender(others), lent)
        metric = moderated_estimates(
            moments, _is_lender(groups), choice, family, not is_at_most, lenders
        )
        limit = Limit(float(np.log(bound)) * (1 if is_at_most else -1), metric)
        tier = _tiers(limit, n, numbered(groups, by), alpha)
    with np.errstate(invalid="ignore"):
        wide = quantile((1 - _CONFIDENCE) / 2, estimates.df) * np.sqrt(estimates.variance)
    wide = np.where(n > 1, wide, np.nan)
    ends = [scale.value(estimates.mean + side * scale.sign * wide) for side in (-1, 1)]
    shown = scale.value(estimates.mean)
    return Settings(
        n, estimates.mean, tier, shown, ends[0], ends[1], group_moments.sd, estimates, limit, scale
    )


def _is_lender(rows: pl.DataFrame) -> np.ndarray:
    """Mark the settings whose noise counts for the others: all but the defaults."""
    if "is_baseline" not in rows.columns:
        return np.ones(len(rows), bool)
    return np.asarray(~rows["is_baseline"].fill_null(False).to_numpy())


def _families(
    groups: pl.DataFrame, others: pl.DataFrame, names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Number the family of each of the groups, and of the others."""
    known = [name for name in names if name in groups.columns and name in others.columns]
    if others is groups or not known:
        family = numbered(groups, known)
        return family, family if others is groups else np.zeros(len(others), np.int64)
    both = numbered(pl.concat([groups.select(known), others.select(known)]), known)
    return both[: len(groups)], both[len(groups) :]


def _tiers(limit: Limit, n: np.ndarray, side: np.ndarray, alpha: float) -> np.ndarray:
    """Return where each setting stands to a limit; one without a value may be within it.

    Args:
        side: Number of each setting's side; the error is divided among its settings.
    """
    challengers = np.bincount(side, n > 1)[side]
    alpha_within = sidak((1 - OUTSIDE_SHARE) * alpha, challengers - 1)
    metric = limit.metric
    with np.errstate(invalid="ignore", divide="ignore"):
        room = (limit.at - metric.mean) / np.sqrt(metric.variance)
        is_outside = room <= -quantile(OUTSIDE_SHARE * alpha, metric.df)
        is_within = room >= quantile(alpha_within, metric.df)
    twice = np.where(is_within, WITHIN, MAYBE)
    return np.where(is_outside, BEYOND, np.where(n > 1, twice, ONCE))


@dataclass(frozen=True, slots=True)
class Contenders:
    """The competitors of the cells, best first within a cell; arrays of shape (contenders,).

    Attributes:
        cell: Number of its cell.
        row: The setting that represents it.
        settings: Number of its settings in the cell.
        order: All settings, those of one contender together, those with several runs first.
        start, count: Where its settings with several runs are in `order`.
        is_default: It is the default, with which the others are compared.
        place: A setting in its cell, which has the cell's values of both axes.
    """

    cell: np.ndarray
    row: np.ndarray
    settings: np.ndarray
    order: np.ndarray
    start: np.ndarray
    count: np.ndarray
    is_default: np.ndarray
    place: np.ndarray


def contenders_of(
    groups: pl.DataFrame, by: Sequence[str], settings: Settings, defaults: np.ndarray | None
) -> Contenders:
    """Choose each competitor's best setting, and rank the competitors within each cell.

    A setting that was measured twice stands before those that were measured once, but in a cell
    that can prove nothing, as fewer than two of its competitors have one: there the means decide.

    Args:
        groups: One row a setting, sorted by its knobs.
        by: Columns of both axes and of the competitors.
        defaults: For each setting, the row of the default that it is compared with, or -1; a
            setting that is a default itself has its own row. None: the competitors are compared
            with each other.
    """
    # Values are numbered in their order; NULL has the largest number.
    x, y, competitor = (
        column.rank("dense").cast(pl.Int64).fill_null(column.n_unique() + 1).to_numpy()
        for column in map(groups.get_column, by)
    )
    _, cell = np.unique(x * (y.max(initial=0) + 1) + y, return_inverse=True)
    spread = np.nan_to_num(settings.sd, nan=np.inf)
    better = (spread, -settings.n, settings.cost)
    tier = settings.tier
    if defaults is None and settings.limit is None:
        tier = _alike_where_unproven(tier, cell, competitor)
    ranked = np.lexsort((*better, tier, competitor, cell))
    is_default = np.zeros(len(groups), bool)
    if defaults is not None:
        is_default = defaults == np.arange(len(groups))
        ranked = ranked[~is_default[ranked]]
    keys = np.stack((cell[ranked], competitor[ranked]))
    start = np.flatnonzero(np.any(np.diff(keys, axis=1, prepend=-1) != 0, axis=0))
    order = ranked
    if len(start) < len(ranked):
        order = np.lexsort((*better, settings.n < 2, competitor, cell))
        order = order[~is_default[order]]
    row, count = ranked[start], np.diff(np.append(start, len(ranked)))
    twice = (
        np.add.reduceat((settings.n[order] > 1).astype(np.int64), start) if len(start) else count
    )
    contenders = Contenders(
        cell[row], row, count, order, start, twice, np.zeros(len(row), bool), row
    )
    if defaults is not None:
        contenders = _with_defaults(_ranked(contenders, settings, competitor), settings, defaults)
    return _ranked(contenders, settings, competitor)


def _alike_where_unproven(tier: np.ndarray, cell: np.ndarray, competitor: np.ndarray) -> np.ndarray:
    """Return the tiers, all of them ONCE where fewer than two competitors were measured twice."""
    if not (tier == ONCE).any():
        return tier
    sides = np.unique(np.stack((cell, competitor))[:, tier < ONCE], axis=1)
    is_unproven = np.bincount(sides[0], minlength=cell.max() + 1)[cell] < 2
    return np.where(is_unproven, np.maximum(tier, ONCE), tier)


def _ranked(contenders: Contenders, settings: Settings, competitor: np.ndarray) -> Contenders:
    """Sort the contenders: best first within a cell, those beyond the limit last."""
    row = contenders.row
    is_beyond = settings.tier[row] == BEYOND
    return _some(
        contenders, np.lexsort((competitor[row], settings.cost[row], is_beyond, contenders.cell))
    )


def _some(of: Contenders, rows: np.ndarray) -> Contenders:
    return Contenders(
        of.cell[rows], of.row[rows], of.settings[rows], of.order, of.start[rows], of.count[rows],
        of.is_default[rows], of.place[rows],
    )  # fmt: skip


def _with_defaults(contenders: Contenders, settings: Settings, defaults: np.ndarray) -> Contenders:
    """Keep the best contender of each cell, and add the default that it is compared with."""
    best = _some(contenders, np.flatnonzero(np.diff(contenders.cell, prepend=-1)))
    reference = defaults[best.row]
    has = np.flatnonzero(reference >= 0)
    rows = reference[has]
    order = np.append(best.order, rows)
    start = len(best.order) + np.arange(len(rows))
    parts = (
        (best.cell, best.cell[has]),
        (best.row, rows),
        (best.settings, np.ones(len(has), np.int64)),
        (best.start, start),
        (best.count, (settings.n[rows] > 1).astype(np.int64)),
        (best.is_default, np.ones(len(has), bool)),
        (best.place, best.place[has]),
    )
    cell, row, count, first, twice, is_default, place = (np.concatenate(part) for part in parts)
    return Contenders(cell, row, count, order, first, twice, is_default, place)
