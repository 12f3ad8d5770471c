"""The papers' claims, each decided by a written rule from the filtered runs."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

import polars as pl

from app.storage.claim_means import (
    STUDENT,
    ClaimRuns,
    Comparison,
    UnmeasuredError,
    pooled,
    title_of,
)
from app.storage.defaults import access_pair, at_place, place_words
from app.storage.study import Study
from app.storage.verdict import DOES_NOT, HOLDS, UNDECIDED, Judged, Rule, Verdict
from app.storage.views import DEPTH, LOADS_STORES_PER_S
from data.analysis.two_means import TwoMeans, best_of, holds_equal, holds_more
from data.reference.claims import claims
from data.units import format_bytes, format_digits, format_quantity

_INTERRUPT, _POLL, _HYBRID = _MODES = ("interrupt", "poll", "hybrid")
_RATE: Final = "interrupts_per_s"
# Values for "nearly 600,000", "the same rate" and "hardly ever", and the largest ratio of watts per
# percent that still counts as proportional.
_NEARLY_PER_S: Final = 540_000
_SAME_RATE: Final = 0.95
_HARDLY_EVER: Final = 0.10
_MOST_RATIO: Final = 1.2

_BY_DEPTH: Final = "At the device, access and size of the lines, at each IO depth: "
_MORE: Final = (
    "Holds if the difference is significant (Student's t, p at most 5 %) at one IO depth or more, "
    "and at none the other way round."
)
_AT_SAME_RATE: Final = (
    "At the device and size of the lines, completed by interrupts: each IO depth of writing beside "
    "the IO depth of reading with the least interrupts a second of those with at least 95 % as "
    f"many. {_MORE}"
)


def judged_claims(study: Study, functions: pl.DataFrame) -> list[Judged]:
    """Decide every claim.

    Args:
        functions: Answer of `counted_functions`.
    """
    runs = ClaimRuns(study, functions)
    return [Judged(one, RULES[one.name], _judge(RULES[one.name], runs)) for one in claims()]


def _judge(rule: Rule, runs: ClaimRuns) -> Verdict:
    try:
        return rule.judge(runs)
    except UnmeasuredError as missing:
        return Verdict(UNDECIDED, str(missing))


def _verdict(holds: bool, words: str, comparisons: Sequence[Comparison] = ()) -> Verdict:
    return Verdict(HOLDS if holds else DOES_NOT, words, tuple(comparisons))


def _is_more(column: str, *pairs: tuple[str, str]) -> Callable[[ClaimRuns], Verdict]:
    """Build the rule that in each pair the first mode has the larger mean."""

    def judge(runs: ClaimRuns) -> Verdict:
        found = [runs.compare(column, *pair) for pair in pairs]
        return _more_words(found)

    return judge


def _more_words(found: Sequence[Sequence[Comparison]]) -> Verdict:
    parts = []
    for group in found:
        first, _, second = group[0].what.partition(", ")
        more = sum(one.pair.is_more for one in group)
        less = sum(one.pair.is_less for one in group)
        words = f"{first} more than {second} at {more} of {len(group)} IO depths"
        parts.append(f"{words}, less at {less}" if less else words)
    holds = all(holds_more([one.pair for one in group]) for group in found)
    title = title_of(found[0][0].column)
    return _verdict(holds, f"{title}: {'; '.join(parts)}", [one for g in found for one in g])


def _is_equal(column: str, first: str, second: str) -> Callable[[ClaimRuns], Verdict]:
    def judge(runs: ClaimRuns) -> Verdict:
        found = runs.compare(column, first, second, is_equivalence=True)
        same = sum(holds_equal([one.pair]) for one in found)
        words = f"{title_of(column)}: equal within 10 % at {same} of {len(found)} IO depths"
        return _verdict(same == len(found), words, found)

    return judge


def _power_is_inverted(runs: ClaimRuns) -> Verdict:
    """Decide whether some mode uses more CPU than another and draws less power."""
    found: list[Comparison] = []
    inverted: list[Comparison] = []
    missing: list[UnmeasuredError] = []
    for pair in combinations(_MODES, 2):
        try:
            cpu, power = (runs.compare(name, *pair) for name in ("cpu_pct", "power_w"))
        except UnmeasuredError as error:
            missing.append(error)
            continue
        at = {one.pair.at: one for one in power}
        for one in cpu:
            other = at.get(one.pair.at)
            if other and (
                (one.pair.is_more and other.pair.is_less)
                or (one.pair.is_less and other.pair.is_more)
            ):
                inverted += [one, other]
        found += [*cpu, *power]
    if not found:
        raise missing[0]
    if not inverted:
        return _verdict(False, "no mode uses more CPU than another and draws less power", found)
    first, _, second = inverted[0].what.partition(", ")
    if inverted[0].pair.is_less:
        first, second = second, first
    words = f"{first} uses more CPU and draws less power than {second} at depth "
    words += f"{inverted[0].pair.at}; {len(inverted) // 2} such pairs in all"
    return _verdict(True, words, inverted)


def _has_winners(runs: ClaimRuns) -> Verdict:
    """Decide which mode is most efficient at which latency."""
    state = runs.study.state
    by = ["request_bytes", DEPTH]
    rows = at_place(runs.study.rows, {"device": state.at_device, "rw": state.at_rw})
    for mode in _MODES:
        if not rows.filter(mode=mode)["bytes_per_joule"].count():
            where = place_words({"device": state.at_device, "rw": state.at_rw}, ("device", "rw"))
            title = title_of("bytes_per_joule")
            raise UnmeasuredError(f"no runs of {runs.label(mode)} at {where} with {title} measured")
    cells = pooled(rows, "bytes_per_joule", [*by, "mode"]).rename({"mode": "group"})
    latency = pooled(rows.filter(mode=_POLL), "latency_mean_us", by).select(*by, latency="mean")
    won = best_of(_MODES, cells, by).join(latency, on=by, how="left")
    if not len(won):
        raise UnmeasuredError("no cell with two runs of each completion mode")
    comparisons = [
        Comparison(
            f"{runs.label(row['first'])}, {runs.label(row['second'])}",
            f"{format_bytes(row['request_bytes'])}, depth {row[DEPTH]:g}",
            "bytes_per_joule",
            STUDENT,
            TwoMeans(row[DEPTH], (row["mean"], row["mean_second"]), (row["n"], row["n_second"]),
                     row["p"]),
        )
        for row in won.iter_rows(named=True)
    ]  # fmt: skip
    at = {mode: won.filter(best=mode)["latency"] for mode in _MODES}
    middle = {mode: latencies.median() for mode, latencies in at.items()}
    low, high = middle[_POLL], middle[_INTERRUPT]
    is_ordered = low is not None and high is not None and low < high  # type: ignore[operator]
    holds = is_ordered and len(at[_HYBRID]) <= _HARDLY_EVER * len(won)
    parts = [f"{runs.label(mode)} wins {_won_words(at[mode])}" for mode in _MODES]
    parts.append(f"{won['best'].null_count()} tied (Student's t, 5 %)")
    return _verdict(bool(holds), f"of {len(won)} cells {'; '.join(parts)}", comparisons)


def _won_words(latencies: pl.Series) -> str:
    """Return a text such as `3 (median latency 13.6 us)`."""
    middle = latencies.median()
    said = f" (median latency {format_quantity(float(middle), 'us')})" if middle else ""  # type: ignore[arg-type]
    return f"{len(latencies)}{said}"


def _reaches_rate(runs: ClaimRuns) -> Verdict:
    rows = runs.study.rows.filter(pl.col(_RATE).is_not_null()).sort(_RATE, "row")
    if not len(rows):
        raise UnmeasuredError("no runs with interrupts counted")
    top = rows.row(-1, named=True)
    words = f"at most {format_quantity(top[_RATE], '1/s')}, mean of n = {top[f'{_RATE}_n']}"
    where = f"{runs.study.scene.label(top['mode'])}, {top['device'] or runs.study.scene.unnamed}"
    return _verdict(top[_RATE] >= _NEARLY_PER_S, f"{words} ({where}, depth {top[DEPTH]})")


def _writes_more(column: str) -> Callable[[ClaimRuns], Verdict]:
    def judge(runs: ClaimRuns) -> Verdict:
        return _more_words([runs.compare_accesses(column, _INTERRUPT, _RATE, _SAME_RATE)])

    return judge


def _is_no_proportion(runs: ClaimRuns) -> Verdict:
    """Decide whether watts per percent of CPU differ between cells."""
    at_rw, cells = runs.study.state.at_rw, []
    for rw in access_pair(at_rw) or (str(at_rw),):
        try:
            cpu, power = (runs.at_depths(name, _INTERRUPT, rw) for name in ("cpu_pct", "power_w"))
        except UnmeasuredError:
            continue
        cells.append(cpu.join(power, on=DEPTH, suffix="_w").filter(pl.col("mean") > 0))
    ratios = [w / pct for one in cells for pct, w in one.select("mean", "mean_w").iter_rows()]
    if len(ratios) < 2:
        raise UnmeasuredError("no two cells completed by interrupts with CPU and Power measured")
    least, most = min(ratios), max(ratios)
    words = f"{format_digits(least)} to {format_digits(most)} W per % of CPU in {len(ratios)} cells"
    return _verdict(most > _MOST_RATIO * least, words)


RULES: Final[dict[str, Rule]] = {
    "faster": Rule(
        "iops",
        f"{_BY_DEPTH}the mean IO rate of classic and of hybrid polling against that of interrupts. "
        f"{_MORE}",
        _is_more("iops", (_POLL, _INTERRUPT), (_HYBRID, _INTERRUPT)),
    ),
    "cpu": Rule(
        "cpu",
        f"{_BY_DEPTH}mean CPU (user and system) of hybrid polling against interrupts, and of "
        f"classic against hybrid polling. {_MORE}",
        _is_more("cpu_pct", (_HYBRID, _INTERRUPT), (_POLL, _HYBRID)),
    ),
    "cpu-power": Rule(
        "power-cpu",
        f"{_BY_DEPTH}holds if some mode has significantly more CPU than another, and draws "
        "significantly less power (Student's t, p at most 5 % for both).",
        _power_is_inverted,
    ),
    "switches": Rule(
        "switches-io",
        f"{_BY_DEPTH}context switches per IO of hybrid polling against interrupts. Holds if the "
        "means are equal within 10 % of that of interrupts at every IO depth (two one-sided "
        "Student's t tests, p at most 5 %).",
        _is_equal("context_switches_per_io", _HYBRID, _INTERRUPT),
    ),
    "moves": Rule(
        "loads-stores",
        f"{_BY_DEPTH}mean loads and stores of the kernel, of hybrid polling against interrupts and "
        f"against classic polling. {_MORE}",
        _is_more(LOADS_STORES_PER_S, (_HYBRID, _INTERRUPT), (_HYBRID, _POLL)),
    ),
    "efficient": Rule(
        "bytes-joule",
        "At the device and access of the lines, for each request size and IO depth: the mode with "
        "the most bytes per joule, a tie where Student's t has p above 5 %. Holds if the median "
        "latency (of classic polling) of the cells that classic polling wins is below that of the "
        "cells that interrupts win, and hybrid polling wins at most 10 % of the cells.",
        _has_winners,
    ),
    "interrupt-rate": Rule(
        "interrupts",
        "The greatest mean interrupt rate of a configuration that the filters leave, on any "
        "device. Holds if it is at least 540,000 a second (600,000 less 10 %).",
        _reaches_rate,
    ),
    "write-cpu": Rule(
        "cpu-interrupts", f"Mean CPU (user and system). {_AT_SAME_RATE}", _writes_more("cpu_pct")
    ),
    "proportional": Rule(
        "power-cpu",
        "At the device and size of the lines, completed by interrupts, reading and writing at "
        "each IO depth: mean power over mean CPU. Holds if the greatest ratio is more than 1.2 "
        "times the least.",
        _is_no_proportion,
    ),
    "write-power": Rule(
        "power-interrupts", f"Mean power. {_AT_SAME_RATE}", _writes_more("power_w")
    ),
}
