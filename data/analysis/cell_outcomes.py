"""The outcomes of the cells of a map, as columns: by best sets, or by a test of the best two."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from data.analysis.best_set import Limit
from data.analysis.contenders import ONCE, Contenders, Question, Settings
from data.analysis.contests import Runs, Verdicts, decide_contests
from data.analysis.noise import Estimates
from data.analysis.rules import (
    ALONE,
    EQUIVALENT,
    OVER,
    SETS,
    TIE,
    TOO_FEW,
    UNDECIDED,
    UNLIKE,
    WIN,
    Outcome,
    Rules,
    corrected,
)
from data.analysis.setting_noise import Scale
from data.analysis.significance import Moments, Samples, Test, compare_pairs, smallest_p

# Two means within it are one value: means of the same numbers differ by rounding alone.
SAME_SHARE: Final = 1e-12
# What is not told of a cell in which the runs of a setting are no replicates.
_JUDGED: Final = ("share_low", "share_high", "more_runs", "p", "p_corrected")


@dataclass(frozen=True, slots=True)
class Pairs:
    """The compared contenders of each cell, as rows of the contenders; shape (cells,).

    Attributes:
        able: Number of contenders that may meet the limit.
    """

    winner: np.ndarray
    runner_up: np.ndarray
    competitors: np.ndarray
    able: np.ndarray


def proven_columns(
    pairs: Pairs, contenders: Contenders, settings: Settings, rules: Rules
) -> tuple[dict[str, pl.Series], float]:
    """Decide the cells by the best sets of both sides; return their columns, and the level."""
    estimates, scale = settings.estimates, settings.scale
    assert estimates is not None, "BUG: no estimates"
    assert scale is not None, "BUG: no scale"
    tier = settings.tier[contenders.row]
    both = (pairs.runner_up >= 0) & (tier[pairs.winner] < ONCE) & (tier[pairs.runner_up] < ONCE)
    best, other = pairs.winner[both], pairs.runner_up[both]
    limit = settings.limit
    in_sets = contenders.order
    sides = [Runs(contenders.start[rows], contenders.count[rows]) for rows in (best, other)]
    margin = scale.margin(rules.margin_pct, settings.mean)
    verdicts = decide_contests(
        _judged_alike(estimates.at(in_sets), contenders, pairs),
        None if limit is None else Limit(limit.at, limit.metric.at(in_sets)),
        sides[0], sides[1], rules.alpha, margin, rules.correction,
    )  # fmt: skip
    is_turned = verdicts.outcome == "b_better"
    names = {"a_better": WIN, "b_better": WIN, "equivalent": EQUIVALENT, "undecided": UNDECIDED}
    outcome = _others(pairs, TOO_FEW)
    outcome[both] = [names[name] for name in verdicts.outcome.tolist()]
    second = settings.mean[contenders.row[np.where(is_turned, best, other)]]
    winner, runner_up = pairs.winner.copy(), pairs.runner_up.copy()
    winner[both] = np.where(is_turned, other, best)
    runner_up[both] = np.where(is_turned, best, other)
    columns = _outcomes(outcome, winner, runner_up, pairs, contenders, settings)
    margins, shares = (columns[name].to_numpy() for name in ("margin", "margin_share"))
    # Nobody leads where both have one value, however few the runs.
    is_same = (margins == 0) | (np.abs(shares) <= SAME_SHARE)
    outcome = np.where((outcome == TOO_FEW) & is_same, TIE, outcome)
    unlike = estimates.is_unlike[contenders.row]
    is_unlike = (runner_up >= 0) & (unlike[winner] | unlike[runner_up])
    known = {
        **_intervals(shares, verdicts, is_turned, both, scale, second),
        "p": pl.Series(_spread_out(verdicts.p, both)),
        "p_corrected": pl.Series(_spread_out(verdicts.p_corrected, both)),
    }
    for name in _JUDGED:
        nothing = 0 if known[name].dtype.is_integer() else np.nan
        known[name] = known[name].set(pl.Series(is_unlike), nothing)
    return {
        **columns,
        **known,
        "outcome": pl.Series(np.where(is_unlike, UNLIKE, outcome).tolist(), dtype=pl.String),
        "effect": pl.Series(np.full(len(both), np.nan)),
    }, verdicts.level


def _judged_alike(cost: Estimates, contenders: Contenders, pairs: Pairs) -> Estimates:
    """Moderate each default by the prior of the settings that it is compared with.

    Args:
        cost: In the order of `contenders.order`, where each cell has its default for itself.
    """
    second = pairs.runner_up[pairs.runner_up >= 0]
    first = pairs.winner[pairs.runner_up >= 0]
    is_turned = contenders.is_default[first]
    default = np.where(is_turned, first, second)
    is_there = contenders.is_default[default]
    if not is_there.any():
        return cost
    here = contenders.start[default[is_there]]
    other = contenders.start[np.where(is_turned, second, first)[is_there]]
    n, freedom, prior = cost.n[here], cost.n[here] - 1.0, cost.prior
    own = cost.variance[here] * n * cost.df[here] - prior.d0[here] * prior.s0[here] ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        total = prior.d0[other] + freedom
        variance = (prior.d0[other] * prior.s0[other] ** 2 + np.maximum(own, 0.0)) / total / n
    out = cost.at(np.arange(len(cost.n)))
    out.variance[here], out.df[here] = variance, total
    out.prior.d0[here], out.prior.s0[here] = prior.d0[other], prior.s0[other]
    return out


def _intervals(
    shares: np.ndarray,
    verdicts: Verdicts,
    is_turned: np.ndarray,
    both: np.ndarray,
    scale: Scale,
    second: np.ndarray,
) -> dict[str, pl.Series]:
    """Return each lead as a share with its interval, how many runs would decide, and set sizes.

    Args:
        shares: Leads of the cells that are not compared, shape (cells,).
        second: Mean of the runner-up of each compared cell.
    """
    is_negated = is_turned != (scale.sign < 0)
    estimate = np.where(is_negated, -verdicts.estimate, verdicts.estimate)
    low = np.where(is_negated, -verdicts.high, verdicts.low)
    high = np.where(is_negated, -verdicts.low, verdicts.high)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        estimate, low, high = (
            np.expm1(end) if scale.is_log else end / np.abs(second) for end in (estimate, low, high)
        )
    members = (verdicts.members_a, verdicts.members_b)
    more = np.zeros(len(both), np.int64)
    more[both] = verdicts.more_runs
    counts = []
    for own, turned in (members, members[::-1]):
        count = np.zeros(len(both), np.int64)
        count[both] = np.where(is_turned, turned, own)
        counts.append(count)
    shares = shares.copy()
    shares[both] = estimate
    return {
        "margin_share": pl.Series(shares),
        "share_low": pl.Series(_spread_out(low, both)),
        "share_high": pl.Series(_spread_out(high, both)),
        "more_runs": pl.Series(more),
        "members_winner": pl.Series(counts[0]),
        "members_runner_up": pl.Series(counts[1]),
    }


def tested_columns(
    pairs: Pairs,
    contenders: Contenders,
    settings: Settings,
    samples: Samples,
    group_moments: Moments,
    has_means: np.ndarray,
    rules: Rules,
    question: Question,
) -> dict[str, pl.Series]:
    """Test the best settings of the cells; return their columns."""
    test: Test = rules.test if rules.test != SETS else "student"
    contested = pairs.runner_up >= 0
    row = contenders.row
    a, b = row[pairs.winner[contested]], row[pairs.runner_up[contested]]
    sign = -1.0 if question.better == "less" else 1.0
    # A mean of runs has no values to rank.
    is_unranked = (has_means[a] | has_means[b]) & (test == "mann-whitney")
    p, effect = (
        _spread_out(np.where(is_unranked, np.nan, values), contested)
        for values in compare_pairs(test, samples, group_moments, a, b, sign)
    )
    p_corrected = corrected(p, rules.correction)
    is_unknown = np.isnan(group_moments.sd[a] + group_moments.sd[b])
    least = np.where(
        is_unranked | is_unknown, 1.0, smallest_p(test, group_moments.n[a], group_moments.n[b])
    )
    outcome = np.where(p_corrected <= rules.alpha, WIN, TIE).astype(object)
    outcome[_spread_out(least, contested) > rules.alpha] = TOO_FEW
    outcome = np.where(contested, outcome, _others(pairs, ALONE))
    nothing = pl.Series(np.full(len(contested), np.nan))
    none = pl.Series(np.zeros(len(contested), np.int64))
    return {
        **_outcomes(outcome, pairs.winner, pairs.runner_up, pairs, contenders, settings),
        "share_low": nothing,
        "share_high": nothing,
        "more_runs": none,
        "members_winner": none,
        "members_runner_up": none,
        "p": pl.Series(p),
        "p_corrected": pl.Series(p_corrected),
        "effect": pl.Series(effect),
    }


def _others(pairs: Pairs, outcome: Outcome) -> np.ndarray:
    """Return the outcome of each cell without a comparison; `outcome` where two could be."""
    names = np.select([pairs.able == 0, pairs.able == 1], [OVER, ALONE], outcome)
    return names.astype(object)


def _outcomes(
    outcome: np.ndarray,
    winner: np.ndarray,
    runner_up: np.ndarray,
    pairs: Pairs,
    contenders: Contenders,
    settings: Settings,
) -> dict[str, pl.Series]:
    contested = runner_up >= 0
    mean = settings.mean[contenders.row]
    best, second = mean[winner[contested]], mean[runner_up[contested]]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(second == 0, np.nan, (best - second) / np.abs(second))
    return {
        "outcome": pl.Series(outcome.tolist(), dtype=pl.String),
        "winner": pl.Series(winner),
        "runner_up": pl.Series(runner_up),
        "competitors": pl.Series(pairs.competitors),
        "margin": pl.Series(_spread_out(np.abs(best - second), contested)),
        "margin_share": pl.Series(_spread_out(share, contested)),
    }


def _spread_out(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return `values` at the indices `where`, NaN elsewhere."""
    out = np.full(len(where), np.nan)
    out[where] = values
    return out
