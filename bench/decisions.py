"""How often best sets, savings and outcomes are wrong, by simulation; and how long they take.

Every sweep has settings with means and noise of their own, and runs drawn from them. The noise is
unequal in two ways: as the method assumes (an inverse chi-square with 4 degrees of freedom), and
log-normal.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.report import Measurement, quantile
from data.analysis.best_set import Limit, best_set, recommend, saving
from data.analysis.noise import Estimates, estimates_of, fit_prior, settings_of
from data.analysis.outcomes import MARGIN, Side, compare_sides

SETTINGS: Final = 60
NOISE: Final = 0.01
SPREAD: Final = 0.03
# Runs of each setting; the last: 1 to 5, mixed.
REPLICATES: Final[dict[str, tuple[int, int]]] = {
    "n2": (2, 2), "n3": (3, 3), "n5": (5, 5), "n10": (10, 10), "mixed": (1, 5),
}  # fmt: skip
LARGE: Final = (3_000, 3)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """True means on the log scale, the estimates of the runs, and those of a default."""

    truth: np.ndarray
    cost: Estimates
    limited_truth: np.ndarray
    limited: Estimates
    default: Estimates
    default_truth: float


def measure(sweeps: int) -> Iterator[Measurement]:
    """Simulate so many sweeps for each number of runs and each kind of spread and noise."""
    for name, runs in REPLICATES.items():
        for spread, kind in ((SPREAD, "spread"), (0.0, "equal")):
            rng = np.random.default_rng(hash_of(name, kind))
            drawn = [_sweep(rng, runs, spread, i % 2 == 0) for i in range(sweeps)]
            yield from _sets(drawn, f"{name}_{kind}", runs == (2, 2))
    for name, runs in REPLICATES.items():
        rng = np.random.default_rng(hash_of(name, "sides"))
        yield from _sides(rng, runs, name, sweeps)
    yield _time()


def hash_of(*names: str) -> int:
    """Return a seed that is the same in every process."""
    return int.from_bytes("".join(names).encode(), "little") % 2**63


def _sets(drawn: list[_Sweep], name: str, is_twice: bool) -> Iterator[Measurement]:
    missed, limited, regret, change = (np.zeros(len(drawn), bool) for _ in range(4))
    for i, sweep in enumerate(drawn):
        best = best_set(sweep.cost)
        missed[i] = not best.is_member[sweep.truth.argmin()]
        none = np.zeros(len(sweep.truth), int)
        chosen = recommend(sweep.cost, best, none, none).setting
        assert chosen is not None, "BUG: a set without a limit is never empty"
        twice = sweep.cost.n >= 2
        excess = sweep.truth[chosen] - sweep.truth[twice].min()
        regret[i] = excess > best.regret[chosen] + 1e-12
        picked = int((best.is_member & twice).sum())
        interval = saving(sweep.cost.at(chosen), sweep.default, picked, 0.05)
        true_change = sweep.truth[chosen] - sweep.default_truth
        change[i] = not interval.low <= true_change <= interval.high
        under = best_set(sweep.cost, Limit(0.0, sweep.limited))
        meets = np.flatnonzero(sweep.limited_truth <= 0)
        limited[i] = len(meets) > 0 and not under.is_member[meets[sweep.truth[meets].argmin()]]
    for what, wrong, limit in (
        ("best_missed", missed, 5.0), ("best_missed_under_limit", limited, 5.0),
        ("regret_exceeded", regret, 5.0), ("saving_missed", change, 10.0 if is_twice else 7.0),
    ):  # fmt: skip
        yield Measurement(f"{what}_{name}", 100 * float(wrong.mean()), "%", len(drawn), limit)


def _sides(
    rng: np.random.Generator, runs: tuple[int, int], name: str, pairs: int
) -> Iterator[Measurement]:
    """Two systems whose bests are equal, and two that differ by exactly the margin."""
    wins, misses, equal = (np.zeros(pairs, bool) for _ in range(3))
    for i in range(pairs):
        a, b = (_sweep(rng, runs, SPREAD, i % 2 == 0) for _ in range(2))
        shift = a.truth.min() - b.truth.min()
        outcome = _compared(a.cost, b.cost, shift)
        wins[i] = outcome[0] in ("a_better", "b_better")
        misses[i] = not outcome[1] <= 0 <= outcome[2]
        equal[i] = _compared(a.cost, b.cost, shift - MARGIN)[0] == "equivalent"
    yield Measurement(f"false_win_{name}", 100 * float(wins.mean()), "%", pairs, 5.0)
    yield Measurement(f"pair_missed_{name}", 100 * float(misses.mean()), "%", pairs, 7.0)
    yield Measurement(f"false_equivalent_{name}", 100 * float(equal.mean()), "%", pairs, 6.0)


def _compared(a: Estimates, b: Estimates, shift: float) -> tuple[str, float, float]:
    moved = Estimates(b.n, b.mean + shift, b.variance, b.df, b.prior)
    comparison = compare_sides(Side.of(a, best_set(a)), Side.of(moved, best_set(moved)))
    return comparison.outcome, comparison.change.low, comparison.change.high


def _sweep(
    rng: np.random.Generator, runs: tuple[int, int], spread: float, is_assumed: bool
) -> _Sweep:
    truth, limited = rng.normal(0, spread, SETTINGS), rng.normal(0, 0.1, SETTINGS)
    n = rng.integers(runs[0], runs[1] + 1, SETTINGS)
    setting = np.repeat(np.arange(SETTINGS), n)

    def drawn(means: np.ndarray) -> Estimates:
        if is_assumed:
            sd = NOISE * np.sqrt(4 / rng.chisquare(4, SETTINGS))
        else:
            sd = NOISE * np.exp(rng.normal(0, 0.5, SETTINGS))
        moments = settings_of(np.exp(rng.normal(means[setting], sd[setting])), setting)
        return estimates_of(moments, fit_prior(moments))

    cost = drawn(truth)
    default_truth = 0.2
    values = np.exp(rng.normal(default_truth, NOISE, 3))
    default = estimates_of(settings_of(values, np.zeros(3, int)), cost.prior).at(0)
    return _Sweep(truth, cost, limited, drawn(limited), default, default_truth)


def _time() -> Measurement:
    """Time the best set of a large sweep, from its values."""
    settings, runs = LARGE
    rng = np.random.default_rng(1)
    setting = np.repeat(np.arange(settings), runs)
    values = np.exp(rng.normal(0, 0.1, settings)[setting] + rng.normal(0, NOISE, len(setting)))

    def run() -> None:
        moments = settings_of(values, setting)
        best_set(estimates_of(moments, fit_prior(moments)))

    taken = [_milliseconds(run) for _ in range(20)]
    return Measurement("best_set_3000_p95", quantile(taken, 0.95), "ms", len(taken), 100.0)


def _milliseconds(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) * 1000
