"""How often the claims of a page are wrong, by simulation, and what importance costs.

A page has 40 claims in three kinds: a setting picked from a sweep against a default, the best of
one sweep against the best of another, and the mean difference of matched cells.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np

from bench.report import Measurement
from data.analysis.best_set import best_set, recommend, saving
from data.analysis.claims import Question, judge_all, outcome_of, paired_change
from data.analysis.importance import importance
from data.analysis.noise import Estimates, estimates_of, fit_prior, settings_of
from data.analysis.outcomes import Side, compare_sides

CLAIMS: Final = 40
SETTINGS: Final = 12
RUNS: Final = 3
NOISE: Final = 0.01
SPREAD: Final = 0.03
# True differences of the claims that have one.
EFFECT: Final = 0.05
# Runs, knobs, levels of each.
LARGE: Final = (100_000, 10, 4)
REPEATS: Final = 5


def measure(pages: int) -> Iterator[Measurement]:
    """Simulate so many pages without any effect, and so many of which half have one."""
    nothing, alone, share = error_rates(pages, np.random.default_rng(1))
    yield Measurement("pages_with_a_false_claim", 100 * nothing, "%", pages, 5.0)
    yield Measurement("pages_with_a_false_claim_alone", 100 * alone, "%", pages, 5.0)
    yield Measurement("false_share_of_decided", 100 * share, "%", pages, 5.0)
    yield from _importances()


def error_rates(pages: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return three shares of wrong claims.

    Returns:
        Of pages without effects, those with a false claim, and those with a false one that "holds
        alone"; of the claims decided where half have an effect, the mean share that is false.
    """
    false, alone, shares = np.zeros(pages), np.zeros(pages), np.zeros(pages)
    for page in range(pages):
        judged = judge_all([_question(rng, i, 0.0) for i in range(CLAIMS)])
        wrong = [one for one in judged if one.comparison.outcome in ("a_better", "b_better")]
        false[page], alone[page] = bool(wrong), any(one.holds_alone for one in wrong)
        effects = [EFFECT * (i % 2) for i in range(CLAIMS)]
        judged = judge_all([_question(rng, i // 2, e) for i, e in enumerate(effects)])
        outcomes = [one.comparison.outcome for one in judged]
        decided = [i for i, outcome in enumerate(outcomes) if outcome != "undecided"]
        # Subjects with an effect are better by it.
        bad = [i for i in decided if outcomes[i] != ("a_better" if effects[i] else "equivalent")]
        shares[page] = len(bad) / max(len(decided), 1)
    return float(false.mean()), float(alone.mean()), float(shares.mean())


def _question(rng: np.random.Generator, number: int, effect: float) -> Question:
    kinds: tuple[Callable[[np.random.Generator, float], Question], ...] = (
        _picked, _two_sweeps, _matched,
    )  # fmt: skip
    return kinds[number % len(kinds)](rng, effect)


def _sweep(rng: np.random.Generator, best: float) -> Estimates:
    """Draw runs of settings with noise of their own; the best one's true mean is `best`."""
    truth = np.sort(rng.normal(0, SPREAD, SETTINGS))
    noise = NOISE * np.sqrt(4 / rng.chisquare(4, SETTINGS))
    setting = np.repeat(np.arange(SETTINGS), RUNS)
    y = best + (truth - truth[0])[setting] + rng.normal(0, 1, len(setting)) * noise[setting]
    settings = settings_of(np.exp(y), setting, 0.0)
    return estimates_of(settings, fit_prior(settings))


def _picked(rng: np.random.Generator, effect: float) -> Question:
    """The default's mean is the true best one, plus the effect."""
    cost = _sweep(rng, 0.0)
    best = best_set(cost)
    none = np.zeros(SETTINGS, int)
    chosen = recommend(cost, best, none, none).setting
    assert chosen is not None, "BUG: a set without a limit is never empty"
    runs = rng.normal(effect, NOISE, RUNS)
    default = Estimates(
        np.array(RUNS), runs.mean(), runs.var(ddof=1) / RUNS, np.array(RUNS - 1.0), cost.prior
    )
    change = partial(saving, cost.at(chosen), default, int(best.is_member.sum()))
    return lambda alpha: outcome_of(change, alpha)


def _two_sweeps(rng: np.random.Generator, effect: float) -> Question:
    a, b = _sweep(rng, -effect), _sweep(rng, 0.0)

    def question(alpha: float):  # type: ignore[no-untyped-def]
        sides = [Side.of(cost, best_set(cost, None, alpha)) for cost in (a, b)]
        return compare_sides(sides[0], sides[1], alpha)

    return question


def _matched(rng: np.random.Generator, effect: float) -> Question:
    differences = rng.normal(-effect, NOISE, SETTINGS)
    return lambda alpha: outcome_of(partial(paired_change, differences), alpha)


def _importances() -> Iterator[Measurement]:
    """Time the importances of a sweep of 10 knobs, without and with intervals."""
    runs, knobs, levels = LARGE
    rng = np.random.default_rng(1)
    codes = rng.integers(0, levels, (runs // 4, knobs))
    setting = np.repeat(np.arange(len(codes)), 4)
    y = (codes @ rng.normal(0, 0.05, knobs))[setting] + rng.normal(0, NOISE, runs)
    for draws, name, limit in ((0, "importance", 500.0), (200, "importance_intervals", 2000.0)):
        spent_ms = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            settings = settings_of(np.exp(y), setting, 0.0)
            cost = estimates_of(settings, fit_prior(settings))
            importance(codes, cost, settings.variance, 1, draws)
            spent_ms.append(1e3 * (time.perf_counter() - start))
        yield Measurement(name, float(np.median(spent_ms)), "ms", REPEATS, limit)
