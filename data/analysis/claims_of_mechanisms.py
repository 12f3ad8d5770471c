"""The claims of the network study on why delays and clocks help, as rules.

claims.toml has them in words.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl

from data.analysis.claims_of_tuning import Rule
from data.analysis.network_runs import (
    CLOSED,
    ENERGY,
    FAST,
    FULL_RAPL_W,
    LIBRARY,
    LINUX,
    MEMCACHED,
    NETPIPE,
    NODEJS,
    PERFORMANCE,
    PRODUCT,
    PUBLISHED,
    SILO,
    TUNED,
    NetworkRuns,
    Panel,
    by_group,
    clock_slope,
    corner_energies,
    label,
    rank_correlation,
    saved_by_slowest_itr,
)
from data.analysis.verdicts import (
    DOES_NOT,
    HOLDS,
    IN_PART,
    UnmeasuredError,
    Verdict,
    plain,
    share_outcome,
    size_outcome,
)

_SAME_WAY: Final = 0.5
_STRONGLY: Final = 0.8
# A clock of which the tail depends less than this hardly matters; more than that clearly does.
_FLAT_SLOPE: Final = 0.15
_STEEP_SLOPE: Final = 0.3


def _cells(panels: Sequence[Panel], systems: Sequence[str] = TUNED) -> list[tuple[Panel, str]]:
    return [(panel, system) for panel in panels for system in systems]


def _share(
    reason: str,
    cells: Sequence[tuple[Panel, str]],
    value_of: Callable[[NetworkRuns, Panel, str], float],
    holds: Callable[[float], bool],
) -> Rule:
    """Build the rule of an inequality in every cell; in some of them, in part."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel for panel, _ in cells], sorted({system for _, system in cells}))
        values = [value_of(runs, *cell) for cell in cells]
        right = [bool(holds(value)) for value in values]
        n = tuple(int(runs.at(*cell)["n"].sum()) for cell in cells)
        sentence = f"{reason} in {sum(right)} of {len(cells)} panels and systems"
        sentence += f" ({min(values):.2f} to {max(values):.2f}; {sum(n):,} runs)"
        if wrong := [i for i, one in enumerate(right) if not one]:
            listed = (
                f"{cells[i][0].name} of {label(cells[i][1])} ({values[i]:.2f})" for i in wrong
            )
            sentence += f"; not at {', '.join(listed)}"
        outcome = share_outcome(sum(right), len(cells))
        return Verdict(outcome, sentence, effect=float(np.median(values)), n=n)

    return rule


def _with_delay(column: str, at_full_power: bool = False) -> Callable:
    def value(runs: NetworkRuns, panel: Panel, system: str) -> float:
        cells = runs.at(panel, system)
        if at_full_power:
            cells = cells.filter(pl.col("rapl") == FULL_RAPL_W)
        return by_group(cells, "ghz", "itr", column)

    return value


def _delay_by_size(system: str) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        runs.need(NETPIPE, [system])
        marks = [runs.best(panel, system, PRODUCT) for panel in NETPIPE]
        delays = [float(mark.row["itr"]) for mark in marks]
        last = runs.at(NETPIPE[-1], system)["itr"]
        rises = all(a <= b for a, b in pairwise(delays))
        reason = f"{label(system)}: ITR of the best EDP {', '.join(f'{d:g}' for d in delays)} us"
        if delays[-1] in (last.min(), last.max()):
            reason += "; the last is the edge of what was run"
        n = tuple(mark.n for mark in marks)
        return plain(rises and abs(delays[-1] - 28) <= 2, reason, (), delays[-1], n)

    return rule


def _flat_and_steep(runs: NetworkRuns) -> Verdict:
    """Judge that p99 hardly depends on the library OS's clock, and clearly on Linux's."""
    runs.need(MEMCACHED, TUNED)
    library, linux = (
        [
            clock_slope(runs.at(panel, system).filter(pl.col("rapl") == FULL_RAPL_W), ["itr"])
            for panel in MEMCACHED
        ]
        for system in (LIBRARY, LINUX)
    )
    holds = (
        all(abs(slope) < _FLAT_SLOPE for slope in library)
        and abs(linux[-1]) > _STEEP_SLOPE
        and all(abs(a) < abs(b) for a, b in zip(library, linux, strict=True))
    )
    listed = [", ".join(f"{slope:.2f}" for slope in slopes) for slopes in (library, linux)]
    reason = f"slope of ln p99 on ln GHz: library OS {listed[0]}; tuned Linux {listed[1]}"
    n = tuple(int(runs.at(*cell)["n"].sum()) for cell in _cells(MEMCACHED))
    return plain(holds, reason, (), linux[-1], n)


def _no_rule_for_peak(runs: NetworkRuns) -> Verdict:
    runs.need(FAST, TUNED)
    raise UnmeasuredError("the peak of neither system was looked for: loads above it are needed")


def _slowest_itr_saves(is_slowest_clock: bool, printed_j: float) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        runs.need(MEMCACHED, TUNED)
        saved, n = [], [0, 0]
        for panel, system in _cells(MEMCACHED):
            cells = runs.at(panel, system)
            clock = cells["ghz"].min() if is_slowest_clock else cells["ghz"].max()
            at_clock = cells.filter(pl.col("ghz") == clock)
            saved_j, ends = saved_by_slowest_itr(at_clock)
            saved.append(saved_j)
            n = [total + int(end["n"].sum()) for total, end in zip(n, ends, strict=True)]
        mean = float(np.mean(saved))
        reason = (
            f"at the {'slowest' if is_slowest_clock else 'fastest'} clock {mean:.1f} J, "
            f"{printed_j:g} J printed ({', '.join(f'{one:.0f}' for one in saved)} J)"
        )
        return Verdict(size_outcome(mean / printed_j), reason, effect=mean, n=tuple(n))

    return rule


def _least_energy_is_slow(runs: NetworkRuns, panel: Panel, system: str) -> float:
    """Return 1 if the least-energy setting has a clock in the slowest third and a slow ITR."""
    cells, mark = runs.at(panel, system), runs.best(panel, system, ENERGY)
    clocks, delays = (cells[name].drop_nulls().unique().sort() for name in ("ghz", "itr"))
    slowest = clocks[: -(-len(clocks) // 3)]
    return float(mark.row["ghz"] in slowest and mark.row["itr"] in delays[len(delays) // 2 :])


def _slow_at_large(column: str, holds: Callable[[float], bool], reason: str) -> Rule:
    return _share(
        reason, _cells(NETPIPE[2:]),
        lambda runs, panel, system: float(runs.best(panel, system, PRODUCT).row[column]), holds,
    )  # fmt: skip


def _ten_runs(runs: NetworkRuns) -> Verdict:
    names = [(panel.workload, panel.place) for panel in PUBLISHED]
    own = runs.cells.filter(
        pl.any_horizontal(
            *((pl.col("workload") == w) & pl.col("place").eq_missing(place) for w, place in names)
        )
    )
    if not len(own):
        raise UnmeasuredError("no runs of these workloads in this lake")
    right = int((own["n"] >= 10).sum())
    reason = f"{right:,} of {len(own):,} configurations have 10 runs; the median has "
    reason += f"{np.median(own['n']):g}"
    share = right / len(own)
    outcome = HOLDS if share >= 0.95 else IN_PART if share >= 0.5 else DOES_NOT
    return Verdict(outcome, reason, effect=share, n=(int(own["n"].sum()),))


def _silo_energy(runs: NetworkRuns) -> Verdict:
    """Judge that a slow clock saves most on silo, and a slow ITR less as the load grows."""
    runs.need(SILO, TUNED)
    right, by_system, n = 0, [], []
    for system in TUNED:
        by_delay = []
        for panel in SILO:
            cells = runs.at(panel, system).filter(pl.col("rapl") == FULL_RAPL_W)
            energy = corner_energies(cells)
            by_clock = energy["fast", "fast"] - energy["slow", "fast"]
            by_delay.append(energy["fast", "fast"] - energy["fast", "slow"])
            right += by_clock > by_delay[-1]
            n.append(int(cells["n"].sum()))
        by_system.append(all(a > b for a, b in pairwise(by_delay)))
    reason = f"the clock saves more than ITR in {right} of 6 panels and systems; ITR saves less "
    reason += f"with each load in {sum(by_system)} of 2 systems"
    return Verdict(share_outcome(right + sum(by_system), 8), reason, n=tuple(n))


def _slow_itr_saves_more(panel: Panel) -> Rule:
    """Build the rule of the joules that the slowest ITR saves at the fastest clock: x1.5."""

    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], TUNED)
        saved, n = [], []
        for system in (LIBRARY, LINUX):
            cells = runs.at(panel, system)
            at_fastest = cells.filter(pl.col("ghz") == cells["ghz"].max())
            saved.append(saved_by_slowest_itr(at_fastest)[0])
            n.append(int(at_fastest["n"].sum()))
        ratio = saved[0] / saved[1]
        reason = f"{panel.name}: library OS saves {saved[0]:.0f} J, tuned Linux {saved[1]:.0f} J"
        return Verdict(size_outcome(ratio / 1.5), reason, effect=ratio, n=tuple(n))

    return rule


def _steeper_than_memcached(system: str) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        runs.need(SILO, [system])
        runs.need(MEMCACHED, [system])
        silo, memcached = (
            [abs(clock_slope(runs.at(p, system), ["itr", "rapl"], 1.15)) for p in panels]
            for panels in (SILO, MEMCACHED)
        )
        reason = (
            f"{label(system)}: steepest {max(silo):.2f} on silo, {max(memcached):.2f} on memcached"
        )
        n = tuple(int(runs.at(p, system)["n"].sum()) for p in (*SILO, *MEMCACHED))
        return plain(max(silo) > max(memcached), reason, (), max(silo), n)

    return rule


RULES_OF_MECHANISMS: Final[dict[str, tuple[Rule, ...]]] = {
    "003-C10": (
        _share("time rises with ITR", _cells(CLOSED), _with_delay(PERFORMANCE),
               lambda rho: rho >= _SAME_WAY),
    ),
    "003-C11": (
        _share("less time is less energy", _cells((NODEJS, NETPIPE[0])),
               lambda runs, *cell: rank_correlation(runs.at(*cell), PERFORMANCE, ENERGY),
               lambda rho: rho >= _SAME_WAY),
    ),
    "003-C15": tuple(_delay_by_size(system) for system in TUNED),
    "003-C24": (_flat_and_steep,),
    "003-C25": (_no_rule_for_peak,),
    "003-C26": (_slowest_itr_saves(True, 52), _slowest_itr_saves(False, 342)),
    "003-C27": (
        _share("least energy at a slow clock and a slow ITR", _cells(MEMCACHED),
               _least_energy_is_slow, bool),
    ),
    "003-C28": tuple(
        _share(reason, _cells(MEMCACHED), _with_delay(column, at_full_power=True), holds)
        for reason, column, holds in (
            ("fewer interrupts with ITR", "interrupts", lambda rho: rho <= -_STRONGLY),
            ("fewer instructions with ITR", "instructions", lambda rho: rho <= -_STRONGLY),
            ("higher p99 with ITR", PERFORMANCE, lambda rho: rho >= _STRONGLY),
        )
    ),
    "003-C35": (_silo_energy,),
    "003-C36": (
        _share("least energy at the fastest ITR", _cells(SILO[1:], (LIBRARY,)),
               lambda runs, panel, system: float(
                   runs.best(panel, system, ENERGY).row["itr"]
                   == runs.at(panel, system)["itr"].min()
               ), bool),
    ),
    "003-C38": tuple(_slow_itr_saves_more(panel) for panel in SILO[:2]),
    "003-C41": tuple(_steeper_than_memcached(system) for system in TUNED),
    "003-C42": (
        _slow_at_large("ghz", lambda ghz: ghz <= 2.0, "best EDP at 2.0 GHz or less"),
        _slow_at_large("itr", lambda itr: itr >= 20, "best EDP at ITR 20 us or more"),
    ),
    "003-C43": (_ten_runs,),
}  # fmt: skip
