"""Which setting is best, and whether one system beats another: answers with their proof.

The door to `data/analysis/` for pages and notebooks:

    from data.connection import open_lake
    from data.decisions import Choice, compare, decide

    with open_lake("lake") as lake:
        tuned = Choice(workload="memcached", load_qps=400_000, system="linux_tuned",
                       objective="energy_j", limit=("latency_p99_us", 500.0))
        answer = decide(lake, tuned)
        answer.recommended, answer.regret_pct, answer.change_pct
        compare(lake, tuned, replace(tuned, system="ebbrt_tuned")).outcome
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from data.analysis.attainment import AreaRatio, area_ratio
from data.analysis.best_set import Change, recommend, saving
from data.analysis.coded_rows import Part
from data.analysis.outcomes import Outcome, Side, compare_sides
from data.baselines import baseline_of, distances
from data.catalogue import Catalogue
from data.choices import DEFAULT, Choice, Study, Value, more_runs_apart, study_of
from data.errors import DataError

if TYPE_CHECKING:
    from data.connection import Lake

__all__ = ["Answer", "Choice", "Comparison", "compare", "compare_fronts", "decide"]

Setting = dict[str, Value]
Interval = tuple[float | None, float | None, float | None]

# A difference beyond a factor e^5 is none that data bound.
_MOST: Final = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The best set of a choice; percentages of the objective.

    Attributes:
        settings: Number of settings with a value of the objective.
        members: Settings with two or more runs that cannot be told from the best.
        members_once: Settings with one run that cannot be ruled out.
        not_judged: Settings with one run for whose noise there is no estimate.
        recommended: The member to take; None if no setting meets the limit.
        recommended_n: Its runs.
        is_proven: It has two or more runs and surely meets the limit.
        regret_pct: It costs at most so much more than the best member; None if not bounded.
        change_pct: Of the objective's value, the recommended against the default: estimate and
            interval; above 0 where the recommended has more. None without.
        reason: Why there is no `recommended` or no `change_pct`; else empty.
        left_out: Runs of settings without a value of the objective above 0.
        within, outside: Settings that surely meet the limit, and that surely break it.
    """

    settings: int
    members: tuple[Setting, ...]
    members_once: tuple[Setting, ...]
    not_judged: tuple[Setting, ...]
    recommended: Setting | None
    recommended_n: int
    is_proven: bool
    regret_pct: float | None
    change_pct: Interval | None
    reason: str
    left_out: int
    within: int
    outside: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best of choice A against the best of choice B.

    Attributes:
        change_pct: A relative to B, estimate and interval: above 0 where A has more of the
            objective. An end that the data do not bound is None.
        more_runs: About how many more runs of each member would decide; 0 if it is decided, None
            for over 100.
        members: Numbers of members of A and of B that are compared.
        left_out_once: Numbers of settings of A and of B that a comparison leaves out, because they
            were measured once.
    """

    outcome: Outcome
    change_pct: Interval
    more_runs: int | None
    members: tuple[int, int]
    left_out_once: tuple[int, int]


def decide(
    lake: "Lake",
    choice: Choice,
    alpha: float = 0.05,
    margin: float = 0.02,
    baseline: Mapping[str, Value] = DEFAULT,
) -> Answer:
    """Find the best set of a choice, the setting to take, and what it saves.

    Args:
        alpha: Error of the set, and of the interval of the change.
        margin: Settings within this share are as good.
        baseline: Columns and values of the setting to compare with, in the choice's scope.

    Raises:
        DataError: The choice leaves a column open that varies, matches no run, or names a column
            that does not exist; the message has the values.
    """
    study, everything = study_of(lake, choice, alpha, baseline)
    catalogue = lake.catalogue
    reference, reason = baseline_of(
        Part.of(everything), choice.system, choice.objective, study, baseline, catalogue=catalogue
    )
    default = reference.row if reference else {}
    changes, steps = distances(study, default, catalogue=catalogue)
    recommended = recommend(study.cost, study.best, changes, steps, alpha, float(np.log1p(margin)))
    change = None
    is_twice = study.best.is_member & (study.cost.n >= 2)
    if recommended.setting is None:
        reason = _nothing_within(choice, study, catalogue)
    elif reference is not None and reference.is_candidate:
        reason = "the choice has no other setting than the one to compare with"
    elif reference is not None:
        if np.isnan(reference.cost.variance) or not study.cost.is_judged[recommended.setting]:
            reason = "no interval: one run each side, and no noise to borrow"
        else:
            own = study.cost.at(recommended.setting)
            change = saving(own, reference.cost, max(int(is_twice.sum()), 1), alpha)
    sign = catalogue.metric(choice.objective).sign
    percentages = None if change is None else _percentages(change, sign)
    return _answer(study, recommended.setting, recommended.is_proven, percentages, reason)


def compare(
    lake: "Lake", a: Choice, b: Choice, alpha: float = 0.05, margin: float = 0.02
) -> Comparison:
    """Compare the best of two choices; raises as `decide`."""
    if a.objective != b.objective or a.limit != b.limit:
        raise DataError(
            f"choices of {a.objective} and {b.objective}, limits {a.limit} and {b.limit}: a "
            "comparison needs one objective and one limit"
        )
    studies = [study_of(lake, choice, alpha)[0] for choice in (a, b)]
    sides = [Side.of(study.cost, study.best) for study in studies]
    first, second = sides
    log_margin = float(np.log1p(margin))
    comparison = compare_sides(first, second, alpha, log_margin, has_limit=a.limit is not None)
    more: int | None = 0
    if comparison.outcome == "undecided":
        more = more_runs_apart(studies[0], studies[1], alpha, log_margin)
    once = [int((study.cost.n < 2).sum()) for study in studies]
    return Comparison(
        comparison.outcome,
        _percentages(comparison.change, lake.catalogue.metric(a.objective).sign),
        more,
        (len(first.settings), len(second.settings)),
        (once[0], once[1]),
    )


def compare_fronts(
    lake: "Lake", a: Choice, b: Choice, performance: str, alpha: float = 0.05
) -> AreaRatio:
    """Return how many times the area of choice B the frontier of A dominates, on log axes.

    Args:
        a, b: Their objective is one axis; their limit is that end of the other.
        performance: The metric of the other axis.

    Raises:
        DataError: As `decide`.
    """
    x, y = (
        [study_of(lake, replace(c, objective=name, limit=None), alpha)[0].cost for c in (a, b)]
        for name in (performance, a.objective)
    )
    bound = None
    if a.limit is not None and a.limit[0] == performance:
        bound = lake.catalogue.metric(performance).sign * float(np.log(a.limit[1]))
    means = b"".join(estimates.mean.tobytes() for estimates in (*x, *y))
    return area_ratio((x[0], y[0]), (x[1], y[1]), zlib.crc32(means), (bound, None), alpha)


def _nothing_within(choice: Choice, study: Study, catalogue: Catalogue) -> str:
    if choice.limit is None or study.limit is None:
        return "no setting has two runs, or a noise to borrow"
    name, bound = choice.limit
    means = study.limit.metric.mean
    sign = catalogue.metric(name).sign
    word = "highest" if sign < 0 else "lowest"
    nearest = float(np.exp(sign * np.nanmin(means)))
    return f"no setting meets {name} {bound:g}; the {word} is {nearest:.4g}"


def _answer(
    study: Study, recommended: int | None, is_proven: bool, change: Interval | None, reason: str
) -> Answer:
    best, n = study.best, study.cost.n
    regret = None if recommended is None else _percent(float(best.regret[recommended]))
    return Answer(
        settings=len(n),
        members=_listed(study.settings, best.is_member & (n >= 2)),
        members_once=_listed(study.settings, best.is_member & (n < 2)),
        not_judged=_listed(study.settings, ~study.cost.is_judged & ~best.is_outside),
        recommended=None if recommended is None else _written(study.settings, recommended),
        recommended_n=0 if recommended is None else int(n[recommended]),
        is_proven=is_proven,
        regret_pct=regret,
        change_pct=change,
        reason=reason,
        left_out=study.left_out,
        within=int(best.is_within.sum()),
        outside=int(best.is_outside.sum()),
    )


def _listed(settings: pl.DataFrame, chosen: np.ndarray) -> tuple[Setting, ...]:
    return tuple(_written(settings, int(i)) for i in np.flatnonzero(chosen))


def _written(settings: pl.DataFrame, number: int) -> Setting:
    return settings.row(number, named=True) if settings.width else {}


def _percentages(change: Change, sign: float) -> Interval:
    """Return a change in percent of the objective, of which -1 as a sign means that more is better.

    Changes are of the negated logarithm then, so that their ends turn around too.
    """
    ends = (change.low, change.high) if sign > 0 else (change.high, change.low)
    estimate, low, high = (_percent(sign * each) for each in (change.estimate, *ends))
    return estimate, low, high


def _percent(difference: float) -> float | None:
    if not abs(difference) <= _MOST:
        return None
    return float(100 * np.expm1(difference))
