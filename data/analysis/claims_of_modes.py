"""The claims of HotStorage '22 on completion modes, as rules; claims.toml has them in words."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import polars as pl

from data.analysis.storage_runs import (
    DEPTH,
    FOUR_KIB,
    HYBRID,
    INTERRUPT,
    LABELS,
    MODES,
    POLL,
    READS,
    TILE,
    StorageRuns,
    moments,
    place_words,
)
from data.analysis.two_means import LEVEL, TwoMeans, best_of, two_means
from data.analysis.verdicts import (
    LOADS_STORES,
    STUDENT,
    Comparison,
    UnmeasuredError,
    Verdict,
    by_depth,
    plain,
    share_outcome,
    size_outcome,
    title_of,
)
from data.units import format_bytes, format_quantity, format_signed

Rule = Callable[[StorageRuns], Verdict]
# The last depth before saturation, and the depth of the table of loads and stores.
_UNSATURATED, _PROFILED = 8, 32


def _faster_by(mode: str, printed: float) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        if (runs.place["rw"], runs.place["request_bytes"]) != (READS, FOUR_KIB):
            raise UnmeasuredError("no random reads of 4 KiB, of which the difference is printed")
        at_depth_1 = [c for c in runs.compare("iops", mode, INTERRUPT) if c.pair.at == 1]
        if not at_depth_1:
            raise UnmeasuredError(f"n: no two runs of {LABELS[mode]} and of interrupt at depth 1")
        more = at_depth_1[0].pair.means[0] - at_depth_1[0].pair.means[1]
        gained, in_print = (format_signed(value, ",.0f") for value in (more, printed))
        reason = f"{LABELS[mode]} {gained} IOs a second at depth 1, {in_print} printed"
        return Verdict(size_outcome(more / printed), reason, tuple(at_depth_1))

    return rule


def _faster(mode: str) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        below = [c for c in runs.compare("iops", mode, INTERRUPT) if c.pair.at <= _UNSATURATED]
        return by_depth(f"{LABELS[mode]} faster than interrupt", below)

    return rule


def _more(column: str, first: str, second: str, least: float) -> Rule:
    reason = f"{LABELS[first]} more {title_of(column)} than {LABELS[second]}"
    return lambda runs: by_depth(reason, runs.compare(column, first, second), least)


def _power_inverted(first: str, second: str) -> Rule:
    """Build the rule that a mode uses less CPU than another and draws more power, at some depth."""

    def rule(runs: StorageRuns) -> Verdict:
        power = {
            comparison.pair.at: comparison for comparison in runs.compare("power_w", first, second)
        }
        both = [(cpu, power[cpu.pair.at]) for cpu in runs.compare("cpu_pct", first, second)
                if cpu.pair.at in power]  # fmt: skip
        inverted = [pair for pair in both if pair[0].pair.is_less and pair[1].pair.is_more]
        reason = f"{LABELS[first]} with less CPU and more power than {LABELS[second]}"
        reason += f" at {len(inverted)} of {len(both)} IO depths"
        return plain(
            bool(inverted), reason, [comparison for pair in inverted or both for comparison in pair]
        )

    return rule


def _switches_equal(runs: StorageRuns) -> Verdict:
    comparisons = runs.compare("context_switches_per_io", HYBRID, INTERRUPT, is_equivalence=True)
    same = sum(one.pair.p <= LEVEL for one in comparisons)
    reason = f"hybrid polling as interrupt within 10 % at {same} of {len(comparisons)} IO depths"
    return Verdict(share_outcome(same, len(comparisons)), reason, tuple(comparisons))


def _switches(mode: str, low: float, high: float, expected: str) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        means = runs.at_depths("context_switches_per_io", mode).filter(pl.col("n") > 1)["mean"]
        if not len(means):
            raise UnmeasuredError(f"n: no IO depth with two runs of {LABELS[mode]}")
        within = int(means.is_between(low, high).sum())
        reason = f"{LABELS[mode]} {expected} at {within} of {len(means)} IO depths"
        return Verdict(share_outcome(within, len(means)), reason)

    return rule


def _moves_ordered(subsystem: str | None, *order: str) -> Rule:
    """Build the rule that each mode has more loads and stores than the next at 32 threads."""

    def rule(runs: StorageRuns) -> Verdict:
        pairs = [runs.compare_moves(*pair, subsystem) for pair in pairwise(order)]
        comparisons = [
            comparison for pair in pairs for comparison in pair if comparison.pair.at == _PROFILED
        ]
        if len(comparisons) < len(pairs):
            raise UnmeasuredError(f"n: no two runs of each mode with {_PROFILED} threads and "
                                  f"{title_of(LOADS_STORES)} measured")  # fmt: skip
        reason = f"{subsystem or 'all'}: {', '.join(LABELS[mode] for mode in order)} in this order"
        more = sum(comparison.pair.is_more for comparison in comparisons)
        return Verdict(share_outcome(more, len(comparisons)), reason, tuple(comparisons))

    return rule


def _tiles(runs: StorageRuns) -> pl.DataFrame:
    """Return bytes per joule by mode and tile, of tiles with two runs of each mode."""
    at = {name: runs.place[name] for name in ("device", "rw")}
    there = runs.alike(at)[1]
    for mode in MODES:
        if not there.filter(mode=mode)["bytes_per_joule"].count():
            raise UnmeasuredError(f"no runs of {LABELS[mode]} at {place_words(at)} with "
                                  f"{title_of('bytes_per_joule')} measured")  # fmt: skip
    cells = moments(there, "bytes_per_joule", "mode", *TILE, "latency_mean_us")
    whole = cells.filter(pl.col("mode").is_in(MODES), pl.col("n") > 1)
    whole = whole.filter(pl.len().over(TILE) == len(MODES)).rename({"mode": "group"})
    if not len(whole):
        raise UnmeasuredError("n: no tile with two runs of each completion mode")
    return whole


def _winners(runs: StorageRuns) -> tuple[pl.DataFrame, list[Comparison]]:
    """Return the best mode of each tile, with the latency of classic polling there."""
    cells = _tiles(runs)
    latency = cells.filter(group=POLL).select(*TILE, latency="latency_mean_us")
    won = best_of(MODES, cells, TILE).join(latency, on=TILE, how="left")
    comparisons = [
        Comparison(
            f"{LABELS[row['first']]}, {LABELS[row['second']]}",
            f"{format_bytes(row['request_bytes'])}, depth {row[DEPTH]:g}", "bytes_per_joule",
            STUDENT,
            TwoMeans(row[DEPTH], (row["mean"], row["mean_second"]), (row["n"], row["n_second"]),
                     row["p"]),
        )
        for row in won.iter_rows(named=True)
    ]  # fmt: skip
    return won, comparisons


def _efficient_by_latency(runs: StorageRuns) -> Verdict:
    won, comparisons = _winners(runs)
    at = {mode: won.filter(best=mode)["latency"] for mode in MODES}
    low, high = (at[mode].median() for mode in (POLL, INTERRUPT))
    parts = []
    for mode in MODES:
        middle = at[mode].median()
        usual = f" (median latency {format_quantity(float(middle), 'us')})" if middle else ""  # type: ignore[arg-type]
        parts.append(f"{LABELS[mode]} wins {len(at[mode])}{usual}")
    reason = f"of {len(won)} tiles {'; '.join(parts)}; {won['best'].null_count()} tied"
    is_ordered = low is not None and high is not None and low < high  # type: ignore[operator]
    return plain(bool(is_ordered), reason, comparisons)


def _hybrid_least(runs: StorageRuns) -> Verdict:
    tiles = _tiles(runs).with_columns(tile=pl.struct(TILE).rank("dense"))
    hybrid = tiles.filter(group=HYBRID)
    below = [two_means(tiles.filter(group=mode), hybrid, "tile") for mode in (POLL, INTERRUPT)]
    least = sum(one.is_more and other.is_more for one, other in zip(*below, strict=True))
    reason = f"hybrid polling below both others in {least} of {len(hybrid)} tiles"
    return plain(least > 0.5 * len(hybrid), reason)


def _hybrid_hardly_best(runs: StorageRuns) -> Verdict:
    won, comparisons = _winners(runs)
    best = int((won["best"] == HYBRID).sum())
    reason = f"hybrid polling wins {best} of {len(won)} tiles"
    return plain(best < 0.1 * len(won), reason, comparisons)


RULES_OF_MODES: Final[dict[str, tuple[Rule, ...]]] = {
    "000-O1": (
        _faster_by(POLL, 24_000), _faster_by(HYBRID, 17_000), _faster(POLL), _faster(HYBRID),
    ),
    "000-O2": (_more("cpu_pct", HYBRID, INTERRUPT, 0.8), _more("cpu_pct", POLL, HYBRID, 0.8)),
    "000-O3": (_power_inverted(HYBRID, POLL), _power_inverted(INTERRUPT, POLL)),
    "000-O4": (
        _switches_equal, _switches(HYBRID, 0.9, 1.1, "1 ± 0.1 an IO"),
        _switches(INTERRUPT, 0.9, 1.1, "1 ± 0.1 an IO"),
        _switches(POLL, 0, 0.01, "under 0.01 an IO"),
    ),
    "000-O5": (
        _moves_ordered(None, HYBRID, POLL, INTERRUPT),
        _moves_ordered("scheduler", HYBRID, INTERRUPT, POLL),
        _moves_ordered("block", POLL, HYBRID, INTERRUPT),
    ),
    "000-O6": (_efficient_by_latency,),
    "000-C7": (_hybrid_least, _hybrid_hardly_best),
}  # fmt: skip
