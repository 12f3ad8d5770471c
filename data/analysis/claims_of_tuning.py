"""The claims of the network study on what tuning and a library OS gain, as rules.

claims.toml has them in words.
"""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from data.analysis.network_runs import (
    DEFAULT,
    ENERGY,
    FAST,
    LIBRARY,
    LIMIT_US,
    LINUX,
    MEMCACHED,
    NETPIPE,
    NODEJS,
    PERFORMANCE,
    POLLING,
    PRODUCT,
    PUBLISHED,
    SILO,
    NetworkRuns,
    Panel,
    factor,
    greatest,
    label,
)
from data.analysis.verdicts import (
    DOES_NOT,
    HOLDS,
    IN_PART,
    NEARLY,
    UnmeasuredError,
    Verdict,
    plain,
    size_outcome,
)
from data.units import format_signed

Rule = Callable[[NetworkRuns], Verdict]
SMALL, EIGHT, LARGE, HUGE = NETPIPE
# The lower edge of "about 2X": a factor whose logarithm is 0.8 of that of 2.
_ABOUT_TWICE: Final = 2**0.8
# A default whose replicates differ by more is several defaults.
_MOST_NOISE: Final = 0.10
# Points of slack at the ends of a printed range.
_SLACK: Final = 0.05


def _gain(panel: Panel, old: str, new: str, column: str, printed: float) -> Rule:
    """Build the rule of the best of one system over the best of another."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], [old, new])
        return factor(runs.best(panel, old, column), runs.best(panel, new, column), column, printed)

    return rule


def _greatest_gain(
    panels: Sequence[Panel], old: str, new: str, column: str, printed: float, steady: bool = False
) -> Rule:
    """Build the rule of the greatest gain over panels; steady: of those with one default."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need(panels, [old, new])
        pairs = [(runs.best(p, old, column), runs.best(p, new, column)) for p in panels]
        left_out = [a.panel.name for a, _ in pairs if steady and a.noise[column] > _MOST_NOISE]
        kept = [(a, b) for a, b in pairs if a.panel.name not in left_out]
        verdicts = [factor(a, b, column, printed) for a, b in kept]
        most = greatest(verdicts)
        others = [f"x{v.effect:.3g}" for v in verdicts if v is not most]
        reason = f"{most.words}; elsewhere {', '.join(others) or 'nothing'}"
        if left_out:
            reason += f"; left out, its runs differ by over 10 %: {', '.join(left_out)}"
        return Verdict(most.outcome, reason, effect=most.effect, n=most.n)

    return rule


def _twice_in_workloads(new: str, column: str) -> Rule:
    """Build the rule of about 2X over the default in two workloads or more."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need(PUBLISHED, [DEFAULT, new])
        pairs = [(runs.best(p, DEFAULT, column), runs.best(p, new, column)) for p in PUBLISHED]
        gains = {b.panel: (float(a.row[column] / b.row[column]), a, b) for a, b in pairs}
        reached = {p: gain for p, gain in gains.items() if gain[0] >= _ABOUT_TWICE}
        workloads = {panel.workload for panel in reached}
        most = max(gains.values(), key=lambda gain: gain[0])
        listed = ", ".join(f"{p.name} x{gain[0]:.2f}" for p, gain in reached.items()) or "none"
        what = "performance" if column == PERFORMANCE else "energy"
        reason = f"{what}, {label(new)}: {listed} (of 8 panels; x{_ABOUT_TWICE:.2f} counts as 2X)"
        outcome = HOLDS if len(workloads) > 1 else IN_PART if workloads else DOES_NOT
        return Verdict(outcome, reason, effect=most[0], n=(most[1].n, most[2].n))

    return rule


def _against(
    panel: Panel,
    old: tuple[str, str],
    new: tuple[str, str],
    column: str,
    less: float,
) -> Rule:
    """Build the rule of one metric at marks of other metrics.

    Args:
        old, new: System, and the metric of which its mark has least.
        less: The printed share that new has of old.
    """

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], [old[0], new[0]])
        return factor(runs.best(panel, *old), runs.best(panel, *new), column, 1 / less)

    return rule


def _best_load(old: str, new: str, column: str, less: float) -> Rule:
    """Build the rule of the greatest saving over the loads of silo."""
    return _greatest_gain(SILO, old, new, column, 1 / less)


def _least_with_polling(column: str, panels: Sequence[Panel]) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        systems = (DEFAULT, LINUX, LIBRARY)
        runs.need(panels, [POLLING, *systems])
        best = 0
        for panel in panels:
            own = runs.best(panel, POLLING, column).row[column]
            # Each must have a run within the limit, whichever has less.
            best += own < min([runs.best(panel, s, column).row[column] for s in systems])
        outcome = HOLDS if best == len(panels) else IN_PART if best else DOES_NOT
        n = tuple(runs.best(panel, POLLING, column).n for panel in panels)
        return Verdict(outcome, f"polling has the least in {best} of {len(panels)} panels", n=n)

    return rule


def _polling_costs(runs: NetworkRuns) -> Verdict:
    """Judge that the polling system's best tail on silo costs over 60 % more than Linux's."""
    runs.need(SILO, [POLLING, DEFAULT, LINUX, LIBRARY])
    costs = []
    for panel in SILO:
        own, other = (runs.best(panel, s, PERFORMANCE) for s in (POLLING, LINUX))
        costs.append(float(own.row[ENERGY] / other.row[ENERGY]))
    listed = ", ".join(f"x{cost:.3g}" for cost in costs)
    reason = f"energy at the best p99 over tuned Linux's at its own: {listed}"
    return plain(min(costs) > 1.6, f"{reason}; x1.6 printed", effect=min(costs))


def _nearly_equal(panel: Panel, printed: float, slack: float) -> Rule:
    """Build the rule of a factor near 1, where a ratio of logarithms says nothing."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], [LIBRARY, POLLING])
        old, new = (runs.best(panel, s, PRODUCT) for s in (LIBRARY, POLLING))
        measured = float(old.row[PRODUCT] / new.row[PRODUCT])
        reason = f"{panel.name}, EDP: x{measured:.3g}, x{printed:g} printed"
        return plain(abs(measured / printed - 1) <= slack, reason, (), measured, (old.n, new.n))

    return rule


def _throughput(panels: Sequence[Panel], more: Sequence[Panel]) -> Rule:
    """Build the rule of the greatest load within the limit: twice that of Linux.

    Args:
        more: Panels whose runs would tell, where both systems sustain all of `panels`.
    """

    def rule(runs: NetworkRuns) -> Verdict:
        if panels[0].workload not in runs.cells["workload"]:
            runs.need(panels, [LIBRARY, LINUX])
        sustained: dict[str, tuple[float, int]] = {}
        for system in (LIBRARY, LINUX, DEFAULT):
            within = runs.cells.filter(
                pl.col("workload") == panels[0].workload, pl.col("system") == system,
                pl.col("place").is_not_null(), pl.col(PERFORMANCE) <= LIMIT_US,
            ).sort("place", "n")  # fmt: skip
            if len(within):
                sustained[system] = (float(within["place"][-1]), int(within["n"][-1]))
        linux = max((sustained[s] for s in (LINUX, DEFAULT) if s in sustained), default=None)
        if LIBRARY not in sustained or linux is None:
            raise UnmeasuredError(f"no runs of both systems within {LIMIT_US:g} us in this lake")
        most = float(runs.cells.filter(pl.col("workload") == panels[0].workload)["place"].max())  # type: ignore[arg-type]
        if linux[0] == most:
            runs.need(more, [LIBRARY, LINUX])
        (own, n), (other, n_other) = sustained[LIBRARY], linux
        measured = own / other
        reason = (
            f"{panels[0].workload}: within {LIMIT_US:g} us library OS {own / 1e3:g}K, Linux "
            f"{other / 1e3:g}K QPS, x{measured:.3g}, x2 printed"
        )
        return Verdict(size_outcome(measured / 2), reason, effect=measured, n=(n, n_other))

    return rule


def _silo_saving(runs: NetworkRuns) -> Verdict:
    saving = _greatest_gain(SILO, DEFAULT, LIBRARY, ENERGY, 1 / 0.15)(runs)
    other = size_outcome(saving.effect / 1.85) if saving.effect else DOES_NOT
    reason = f"{saving.words}; read as efficiency, x1.85 printed: {other}"
    return Verdict(saving.outcome, reason, effect=saving.effect, n=saving.n)


def _product_with_itr(panel: Panel, old: str, new: str, printed: float, itr: float) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        gain = _gain(panel, old, new, PRODUCT, printed)(runs)
        mark = runs.best(panel, new, PRODUCT)
        if gain.outcome in (HOLDS, NEARLY) and mark.row["itr"] != itr:
            return Verdict(IN_PART, f"{gain.words}; not at ITR {itr:g} us", effect=gain.effect,
                           n=gain.n)  # fmt: skip
        return gain

    return rule


def _polling_worse(column: str, printed: float, is_more: bool) -> Rule:
    """Build the rule of polling against interrupts at 64 KB and 512 KB, the greatest of both."""

    def rule(runs: NetworkRuns) -> Verdict:
        panels = (LARGE, HUGE)
        runs.need(panels, [LIBRARY, POLLING])
        pairs = [[runs.best(p, s, column) for s in (LIBRARY, POLLING)] for p in panels]
        if is_more:
            pairs = [[b, a] for a, b in pairs]
        least = 1.0 if column == ENERGY else None
        return greatest([factor(a, b, column, printed, least) for a, b in pairs])

    return rule


def _polling_range(column: str, low: float, high: float) -> Rule:
    """Build the rule of the polling system's least-energy mark against the library OS's."""

    def rule(runs: NetworkRuns) -> Verdict:
        panels = MEMCACHED[1:]
        runs.need(panels, [LIBRARY, POLLING])
        shares, marks = [], []
        for panel in panels:
            own, other = (runs.best(panel, s, ENERGY) for s in (POLLING, LIBRARY))
            shares.append(float(own.row[column] / other.row[column]) - 1)
            marks += [own.n, other.n]
        inside = sum(low - _SLACK <= share <= high + _SLACK for share in shares)
        listed = ", ".join(f"{format_signed(100 * share, '.0f')} %" for share in shares)
        what = "energy" if column == ENERGY else "p99"
        ends = " to ".join(format_signed(100 * end, ".0f") for end in (low, high))
        reason = f"{what} of polling: {listed}; {ends} % printed"
        outcome = HOLDS if inside == len(shares) else IN_PART if inside else DOES_NOT
        return Verdict(outcome, reason, effect=1 + shares[0], n=tuple(marks))

    return rule


def _cost_of_tail(panel: Panel, printed: float) -> Rule:
    """Build the rule of the energy of tuned Linux's best tail over the default's."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], [DEFAULT, LINUX])
        default, tuned = (runs.best(panel, s, PERFORMANCE) for s in (DEFAULT, LINUX))
        return factor(tuned, default, ENERGY, printed)

    return rule


_BEST_P99: Final = (LIBRARY, PERFORMANCE)
_LEAST_J: Final = (POLLING, ENERGY)

RULES_OF_TUNING: Final[dict[str, tuple[Rule, ...]]] = {
    "003-C01a": tuple(_twice_in_workloads(LIBRARY, mark) for mark in (PERFORMANCE, ENERGY)),
    "003-C01b": tuple(_twice_in_workloads(LINUX, mark) for mark in (PERFORMANCE, ENERGY)),
    "003-C02": (_gain(EIGHT, DEFAULT, POLLING, PRODUCT, 11),),
    "003-C03": (
        _best_load(DEFAULT, LINUX, PERFORMANCE, 0.5), _best_load(DEFAULT, LINUX, ENERGY, 0.45),
    ),
    "003-C04": (
        _against(MEMCACHED[0], _BEST_P99, _LEAST_J, PERFORMANCE, 0.73),
        _against(MEMCACHED[0], _BEST_P99, _LEAST_J, ENERGY, 0.65),
    ),
    "003-C06": (_least_with_polling(PERFORMANCE, SILO), _polling_costs),
    "003-C07": (_gain(NODEJS, LINUX, LIBRARY, PRODUCT, 1.88),),
    "003-C08": (_throughput(MEMCACHED, FAST),),
    "003-C09": (_silo_saving,),
    "003-C12": (
        _product_with_itr(NODEJS, DEFAULT, LINUX, 2, 2),
        _product_with_itr(SMALL, DEFAULT, LINUX, 2, 2),
    ),
    "003-C13": tuple(_gain(p, LINUX, LIBRARY, PRODUCT, 1.85) for p in (NODEJS, SMALL)),
    "003-C14": (_least_with_polling(PRODUCT, (NODEJS, SMALL, EIGHT)),),
    "003-C16": (_greatest_gain(NETPIPE, DEFAULT, LINUX, PRODUCT, 1.80, steady=True),),
    "003-C18": (_greatest_gain(NETPIPE, LINUX, LIBRARY, PRODUCT, 2),),
    "003-C19": (_nearly_equal(NODEJS, 1.04, 0.04),),
    "003-C20": (
        _gain(SMALL, LIBRARY, POLLING, PRODUCT, 1.6), _gain(EIGHT, LIBRARY, POLLING, PRODUCT, 3),
    ),
    "003-C21": (
        _polling_worse(PRODUCT, 2, is_more=True),
        _polling_worse(PERFORMANCE, 1 / 0.9, is_more=False),
        _polling_worse(ENERGY, 2, is_more=True),
    ),
    "003-C29": (
        _gain(MEMCACHED[0], DEFAULT, LINUX, PERFORMANCE, 1 / 0.60),
        _gain(MEMCACHED[2], DEFAULT, LINUX, PERFORMANCE, 1 / 0.75),
    ),
    "003-C30": (_cost_of_tail(MEMCACHED[0], 1.38), _cost_of_tail(MEMCACHED[2], 1.05)),
    "003-C31": (_least_with_polling(PERFORMANCE, MEMCACHED),),
    "003-C32": (
        _polling_range(ENERGY, 0.11, 0.38), _polling_range(PERFORMANCE, -0.90, -0.10),
    ),
    "003-C33": (
        _gain(SILO[2], DEFAULT, LINUX, PERFORMANCE, 1 / 0.79),
        _gain(SILO[2], DEFAULT, LINUX, ENERGY, 1 / 0.80),
    ),
    "003-C34": (
        _gain(SILO[2], LINUX, LIBRARY, PERFORMANCE, 1 / 0.66),
        _gain(SILO[2], LINUX, LIBRARY, ENERGY, 1 / 0.56),
    ),
}  # fmt: skip
