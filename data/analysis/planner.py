"""Which runs would decide: how often to repeat settings, and which cells to measure next.

All means are on the scale of `data.analysis.noise`, where less is better.

Source: Chen, Lee, Stochastic Simulation Optimization, 2010, for the allocation (OCBA); Lee et al.,
IEEE Trans. Automatic Control 57(11), 2012, for limits (OCBA-CO); Jones, Schonlau, Welch, J. Global
Optimization 13(4), 1998, for expected improvement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.special import ndtr, stdtr

from data.analysis.best_set import BestSet, quantile, sidak
from data.analysis.noise import Estimates
from data.analysis.outcomes import MARGIN, MORE_TRIED

# A pair is worth so many more runs that decide it with this chance.
LIKELY: Final = 0.8
# Cells nobody measured get at most this share of a budget, so many runs each.
EXPLORE_SHARE: Final = 0.2
EXPLORE_RUNS: Final = 2
MOST_CELLS: Final = 10
PLANNED_CELLS: Final = 5
# Predictions that are off by more say nothing of cells that were not measured.
MOST_PREDICTION_ERROR: Final = float(np.log(1.05))

Reason = Literal["second run", "decide", "limit", "baseline", "explore"]


def ocba(
    mean: np.ndarray,
    variance: np.ndarray,
    n: np.ndarray,
    budget: int,
    floor: float = MARGIN / 2,
    excess: np.ndarray | None = None,
    limited_variance: np.ndarray | None = None,
) -> np.ndarray:
    """Divide more runs among settings so that the best one is found with the greatest chance.

    Args:
        mean: Mean of each setting, shape (k,), at least one.
        variance: Of one run of each setting, above 0, shape (k,).
        n: Runs so far, shape (k,).
        budget: Runs to divide.
        floor: Least difference that is to be told; no run splits hairs inside it.
        excess: Under a limit, how far each mean of the limited metric is beyond it, shape (k,).
        limited_variance: Of one run of the limited metric, shape (k,).

    Returns:
        Further runs of each setting, integers that sum to the budget, shape (k,).
    """
    best = int(np.argmin(mean))
    others = np.arange(len(mean)) != best
    distance = np.where(others, np.maximum(mean - mean[best], floor), 1.0)
    weight = variance / distance**2
    least_of_best = 0.0
    if excess is not None and limited_variance is not None:
        by_limit = limited_variance / np.maximum(np.abs(excess), floor) ** 2
        # A setting beyond the limit is ruled out by the cheaper of two facts.
        weight = np.where(others & (excess > 0), np.minimum(weight, by_limit), weight)
        least_of_best = float(by_limit[best])
    of_best = np.sqrt(variance[best] * np.sum(weight[others] ** 2 / variance[others]))
    weight[best] = max(float(of_best), least_of_best) if others.any() else 1.0
    is_open = np.ones(len(mean), bool)
    share = n.astype(float)
    while True:
        total = budget + n[is_open].sum()
        share[is_open] = total * weight[is_open] / weight[is_open].sum()
        is_above = is_open & (share < n)
        if not is_above.any():
            break
        share[is_above] = n[is_above]
        is_open &= ~is_above
    more = np.floor(share + 1e-9).astype(np.int64) - n
    more[best] += budget - more.sum()
    return more


def more_runs(
    a: Estimates, b: Estimates, picked_among: int = 1, alpha: float = 0.05, margin: float = MARGIN
) -> int | None:
    """Return about how many more runs of both settings decide their comparison; None for over 100.

    Args:
        a, b: Of one setting each, with one prior.

    Other arguments and source: as of `more_runs_of_pairs`, which answers for many pairs.
    """
    n = np.array([[a.n], [b.n]])
    variances = n * np.array([[a.variance], [b.variance]])
    more = more_runs_of_pairs(
        np.atleast_1d(a.mean - b.mean), variances, n, np.atleast_1d(a.prior.d0), picked_among,
        alpha, margin,
    )[0]  # fmt: skip
    return int(more) if more else None


def more_runs_of_pairs(
    difference: np.ndarray,
    variances: np.ndarray,
    n: np.ndarray,
    d0: np.ndarray,
    picked_among: int = 1,
    alpha: float = 0.05,
    margin: float = MARGIN,
) -> np.ndarray:
    """Return about how many more runs of both settings of each pair decide their comparison.

    It takes today's difference as the true one, so it is an estimate.

    Args:
        difference: Of the two means of each pair, shape (k,).
        variances: Of one run of each, shape (2, k).
        n: Runs of each so far, shape (2, k).
        d0: Of the pair's prior, shape (k,).
        picked_among: The greater number of settings that either was picked from.

    Returns:
        Integers, shape (k,); 0 for over 100.
    """
    tried = np.array(MORE_TRIED)
    alpha_win, alpha_same = sidak(alpha / 2, picked_among), sidak(alpha, picked_among)

    def is_decided(more: np.ndarray) -> np.ndarray:
        n_a, n_b = n + more
        s = np.sqrt(variances[0] / n_a + variances[1] / n_b)
        df = d0 + np.minimum(n_a, n_b) - 1.0
        win = quantile(alpha_win, df) * s
        same = np.maximum(margin - quantile(alpha_same, df) * s, 0.0)
        at_most_win, at_most_same = (
            stdtr(df, (bound - difference) / s) - stdtr(df, (-bound - difference) / s)
            for bound in (win, same)
        )
        return np.asarray((win < same) | (1 - (at_most_win - at_most_same) >= LIKELY))

    # The chance of a decision rises with the runs, so that a bisection finds the least number.
    low, high = np.zeros(len(difference), np.int64), np.full(len(difference), len(tried))
    while (low < high).any():
        middle = (low + high) // 2
        decided = is_decided(tried[np.minimum(middle, len(tried) - 1)]) & (middle < len(tried))
        is_open = low < high
        low, high = np.where(is_open & ~decided, middle + 1, low), np.where(decided, middle, high)
    return np.where(low < len(tried), tried[np.minimum(low, len(tried) - 1)], 0)


@dataclass(frozen=True, slots=True)
class Cell:
    """A setting that nobody measured.

    Attributes:
        codes: Level of each knob.
        prediction: Its mean by the additive model; NaN where the model says too little.
        improvement: Expected improvement over the best mean; NaN likewise.
    """

    codes: tuple[int, ...]
    prediction: float
    improvement: float


def unmeasured_cells(
    codes: np.ndarray,
    cost: Estimates,
    is_near: np.ndarray,
    limited: Estimates | None = None,
    limit: float = np.inf,
    margin: float = MARGIN,
) -> tuple[list[Cell], float]:
    """List the cells next to the best that are worth a run, best first.

    A cell is one step in one knob away from a setting of the best set or the frontier, inside the
    ladders that were measured.

    Args:
        codes: Level of each knob in each setting, integers from 0, shape (settings, knobs).
        cost: Estimates of the objective.
        is_near: Settings of the best set or the frontier, shape (settings,).
        limited, limit: The limited metric, and its bound on the same scale.

    Returns:
        At most MOST_CELLS cells, and the model's error of prediction. If the error is above
        MOST_PREDICTION_ERROR the knobs interact too much: the cells have no numbers.
    """
    candidates = _neighbours(codes, is_near)
    if not candidates:
        return [], np.nan
    predicted, error = _additive(codes, cost, candidates)
    if not error <= MOST_PREDICTION_ERROR:
        return [Cell(c, np.nan, np.nan) for c in candidates[:MOST_CELLS]], error
    best = np.nanmin(cost.mean)
    gain = (best - predicted) / error
    density = np.exp(-(gain**2) / 2) / np.sqrt(2 * np.pi)
    improvement = error * (gain * ndtr(gain) + density)
    is_worth = improvement > margin / 10
    if limited is not None:
        expected, own_error = _additive(codes, limited, candidates)
        is_worth &= expected - 2 * own_error <= limit
    order = [int(i) for i in np.argsort(-improvement, kind="stable") if is_worth[i]]
    cells = [Cell(candidates[i], float(predicted[i]), float(improvement[i])) for i in order]
    return cells[:MOST_CELLS], error


def _neighbours(codes: np.ndarray, is_near: np.ndarray) -> list[tuple[int, ...]]:
    measured = {tuple(row) for row in codes.tolist()}
    most = codes.max(axis=0, initial=0)
    neighbours = set()
    for row in codes[is_near].tolist():
        for knob, level in enumerate(row):
            for step in (level - 1, level + 1):
                cell = (*row[:knob], step, *row[knob + 1 :])
                if 0 <= step <= most[knob] and cell not in measured:
                    neighbours.add(cell)
    return sorted(neighbours)


def _additive(
    codes: np.ndarray, estimates: Estimates, cells: Sequence[tuple[int, ...]]
) -> tuple[np.ndarray, float]:
    """Predict cells by knobs alone; also return the error of leaving each setting out."""
    is_there = ~np.isnan(estimates.mean)
    starts = np.cumsum([1, *(codes.max(axis=0, initial=0))])
    weight = np.sqrt(estimates.n[is_there].astype(float))

    def design(rows: np.ndarray) -> np.ndarray:
        dummies = np.zeros((len(rows), starts[-1]))
        dummies[:, 0] = 1
        for knob in range(rows.shape[1]):
            further = np.flatnonzero(rows[:, knob] > 0)
            dummies[further, starts[knob] + rows[further, knob] - 1] = 1
        return dummies

    x = design(codes[is_there]) * weight[:, None]
    y = estimates.mean[is_there] * weight
    inverse = np.linalg.pinv(x)
    coefficients = inverse @ y
    leverage = np.einsum("ij,ji->i", x, inverse)
    left = 1 - leverage
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = (y - x @ coefficients) / weight / left
    # A setting that alone holds a level cannot be predicted from the others.
    is_predicted = left > 1e-9
    error = float(np.sqrt(np.mean(errors[is_predicted] ** 2))) if is_predicted.any() else np.nan
    return design(np.array(cells)) @ coefficients, error


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a list.

    Attributes:
        setting: Index of a measured setting; -1 for the baseline, -2 - i for cell i.
        replicate: Of this setting in the list, from 0.
    """

    block: int
    position: int
    setting: int
    replicate: int
    reason: Reason


BASELINE: Final = -1
FIRST_CELL: Final = -2


def plan(
    cost: Estimates,
    best: BestSet,
    budget: int,
    seed: int,
    limited: Estimates | None = None,
    limit: float = np.inf,
    cells: int = 0,
    margin: float = MARGIN,
) -> list[PlannedRun]:
    """Return the runs that would decide a choice, in random order in blocks.

    Settings of the set with one run come first: nothing else removes them. Then the members share
    what is left. Each block holds each setting at most once, and the baseline, which shows drift.

    Args:
        budget: Runs without those of the baseline.
        seed: Of the order; derive it from the input, so that the same runs give the same list.
        limited, limit: Under a limit, the limited metric and its bound.
        cells: Number of cells that are worth a run, see `unmeasured_cells`.
    """
    member = best.is_member
    once = np.flatnonzero(member & (cost.n == 1))
    twice = np.flatnonzero(member & (cost.n >= 2))
    once = once[np.argsort(cost.mean[once], kind="stable")]
    runs_of: dict[int, tuple[int, Reason]] = {}
    if len(twice) >= 2:
        room = min(int(EXPLORE_SHARE * budget) // EXPLORE_RUNS, PLANNED_CELLS, cells)
        runs_of |= {FIRST_CELL - i: (EXPLORE_RUNS, "explore") for i in range(room)}
    left = budget - sum(runs for runs, _ in runs_of.values())
    if len(twice) < 2 and len(once):
        each, more = divmod(left, len(once))
        shares = [each + (i < more) for i in range(len(once))]
        runs_of |= {int(i): (r, "second run") for i, r in zip(once, shares, strict=True) if r}
    else:
        runs_of |= {int(i): (1, "second run") for i in once[:left]}
        left -= min(len(once), left)
        if left and len(twice):
            runs_of |= _shared(cost, best, twice, left, margin, limited, limit)
    return _in_blocks(runs_of, seed)


def _shared(
    cost: Estimates,
    best: BestSet,
    members: np.ndarray,
    budget: int,
    margin: float,
    limited: Estimates | None,
    limit: float,
) -> dict[int, tuple[int, Reason]]:
    excess = None if limited is None else limited.mean[members] - limit
    noise = None if limited is None else (limited.variance * limited.n)[members]
    more = ocba(
        cost.mean[members], (cost.variance * cost.n)[members], cost.n[members], budget,
        margin / 2, excess, noise,
    )  # fmt: skip
    return {
        int(i): (int(runs), "decide" if best.is_within[i] else "limit")
        for i, runs in zip(members, more, strict=True)
        if runs
    }


def _in_blocks(runs_of: dict[int, tuple[int, Reason]], seed: int) -> list[PlannedRun]:
    rng = np.random.Generator(np.random.PCG64(seed))
    runs: list[PlannedRun] = []
    for block in range(max((n for n, _ in runs_of.values()), default=0)):
        held = [(s, reason) for s, (n, reason) in sorted(runs_of.items()) if n > block]
        everyone: list[tuple[int, Reason]] = [*held, (BASELINE, "baseline")]
        for position, i in enumerate(rng.permutation(len(everyone)).tolist()):
            setting, reason = everyone[i]
            runs.append(PlannedRun(block, position, setting, block, reason))
    return runs
