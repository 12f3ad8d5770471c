"""The claims of HotStorage '20 on devices, as rules; claims.toml has them in words."""

from collections.abc import Sequence
from math import hypot
from typing import Final

import polars as pl

from data.analysis.claims_of_modes import Rule
from data.analysis.storage_runs import (
    DEPTH,
    DISK,
    FLASH,
    FOUR_KIB,
    INTERRUPT,
    KINDS,
    NVME,
    OPTANE,
    RATE,
    READS,
    SATA,
    TILE,
    StorageRuns,
    moments,
)
from data.analysis.two_means import two_means
from data.analysis.verdicts import (
    HOLDS,
    NEARLY,
    UnmeasuredError,
    Verdict,
    by_depth,
    plain,
    share_outcome,
    size_outcome,
    title_of,
)
from data.units import format_quantity, format_signed

# A sweep reaches from depth 1 to this one.
_DEEPEST: Final = 64
_SAME_RATE: Final = 0.95
_MOMENTS: Final = ("power_w", "power_w_sd", "power_w_n")


def _idle_less(less: Sequence[str], more: str) -> Rule:
    """Build the rule that systems with some kinds idle at less power, by over two errors."""

    def rule(runs: StorageRuns) -> Verdict:
        idle = runs.idle.filter(pl.col("power_w_n") > 1)
        of = [(runs.kind(row[0]), row[1:]) for row in idle.select("device", *_MOMENTS).iter_rows()]
        low, high = ([one for kind, one in of if kind in kinds] for kinds in (less, (more,)))
        for kinds, found in ((less, low), ((more,), high)):
            if not found:
                raise UnmeasuredError(f"no two idle runs of {' or '.join(kinds)}")
        gaps = [
            (b - a, hypot(sd_a / n_a**0.5, sd_b / n_b**0.5))
            for a, sd_a, n_a in low
            for b, sd_b, n_b in high
        ]
        least = format_quantity(min(gap for gap, _ in gaps), "W")
        reason = f"idle {less[-1]} below {more} by {least} or more"
        return Verdict(
            share_outcome(sum(gap > 2 * error for gap, error in gaps), len(gaps)), reason
        )

    return rule


def _peak_less(less: str, more: str) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        found = runs.by_kind("power_w", less, more)
        low, high = (float(found[kind]["power_w"].max()) for kind in (less, more))  # type: ignore[arg-type]
        reason = f"{less} at most {format_quantity(low, 'W')}, {more} {format_quantity(high, 'W')}"
        return plain(low < high, reason)

    return rule


def _changes(runs: StorageRuns, kind: str, is_small: bool) -> pl.Series:
    """Return (write - read) / read of power by device and tile; small: requests under 4 KiB."""
    if not runs.accesses:
        raise UnmeasuredError(f"no runs that read and write apart, but {runs.place['rw']}")
    read, write = (runs.by_kind("power_w", kind, rw=rw)[kind] for rw in runs.accesses)
    by = ("device", *TILE)
    both = read.join(write, on=by, suffix="_write")
    both = both.filter((pl.col("request_bytes") < FOUR_KIB) == is_small)
    if not len(both):
        size = "under 4 KiB" if is_small else "of 4 KiB or more"
        raise UnmeasuredError(f"no runs of {kind} that read and write with requests {size}")
    return both["power_w_write"] / both["power_w"] - 1


def _alike(kind: str) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        median = float(_changes(runs, kind, is_small=False).median())  # type: ignore[arg-type]
        reason = (
            f"{kind}: writing {format_signed(100 * median, '.1f')} % power against reading, median"
        )
        return plain(abs(median) < 0.05, reason)

    return rule


def _writes_more(is_small: bool) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        changes = _changes(runs, OPTANE, is_small)
        right = int(((changes < 0) if is_small else (changes > 0)).sum())
        how, size = ("less", " under 4 KiB") if is_small else ("more", "")
        reason = f"Optane: writing {how} power in {right} of {len(changes)} tiles{size}"
        return plain(right >= (1.0 if is_small else 0.9) * len(changes), reason)

    return rule


def _spans(runs: StorageRuns, *kinds: str) -> list[float]:
    """Return the greatest span of power of each kind at 4 KiB, over the system's greatest power."""
    by_kind = runs.by_kind("power_w", *kinds, request_bytes=FOUR_KIB)
    if not runs.peak_w:
        raise UnmeasuredError("no power of the system measured")
    spans = [rows.group_by("device").agg(s=pl.col("power_w").max() - pl.col("power_w").min())["s"]
             for rows in by_kind.values()]  # fmt: skip
    return [float(span.max()) / runs.peak_w for span in spans]  # type: ignore[arg-type]


def _span_less(less: str, more: str) -> Rule:
    def rule(runs: StorageRuns) -> Verdict:
        low, high = _spans(runs, less, more)
        return plain(low < high, f"span of {less} {low:.2f}, of {more} {high:.2f} of the peak")

    return rule


def _optane_span(runs: StorageRuns) -> Verdict:
    (span,) = _spans(runs, OPTANE)
    return plain(
        span > 0.5, f"Optane spans {span:.2f} of the system's peak power, over 0.5 printed"
    )


def _reaches_rate(runs: StorageRuns) -> Verdict:
    there = runs.rows.filter(pl.col(RATE).is_not_null())
    if not len(there):
        raise UnmeasuredError("no runs with interrupts counted")
    there = there.filter(pl.col(f"{RATE}_n") > 1)
    if not len(there):
        raise UnmeasuredError("n: no two runs of a configuration with interrupts counted")
    top = there.sort(RATE, "row").row(-1, named=True)
    rate = float(top[RATE])
    outcome = size_outcome(rate / 600_000)
    if outcome == HOLDS and rate < 540_000:
        outcome = NEARLY
    reason = (
        f"at most {format_quantity(rate, '1/s')} (n = {top[f'{RATE}_n']}), nearly 600 k/s printed"
    )
    return Verdict(outcome, reason)


def _kernel_cpu(index: int, rate: float, printed: float) -> Rule:
    """Build the rule of the kernel's CPU at an interrupt rate; index 0 reads, 1 writes."""

    def rule(runs: StorageRuns) -> Verdict:
        if not runs.accesses:
            raise UnmeasuredError(f"no runs that read and write apart, but {runs.place['rw']}")
        rw = runs.accesses[index]
        cpu = runs.at_depths("cpu_sys_pct", INTERRUPT, rw=rw)
        rates = runs.at_depths(RATE, INTERRUPT, rw=rw).select(DEPTH, rate="mean")
        near = cpu.join(rates, on=DEPTH).filter(
            pl.col("rate").is_between(0.9 * rate, 1.1 * rate), pl.col("n") > 1
        )
        if not len(near):
            said = ", ".join(format_quantity(one, "1/s") for one in rates["rate"])
            raise UnmeasuredError(f"no two runs of {rw} at {rate:,.0f} interrupts a second "
                                  f"± 10 %, but at {said}")  # fmt: skip
        value = float(near["mean"].to_numpy().mean())
        ratio = value / printed
        outcome = HOLDS if 0.75 <= ratio <= 1.25 else size_outcome(ratio)
        reason = (
            f"{rw}: {format_quantity(value, '%')} kernel CPU at {rate:,.0f} interrupts a second"
        )
        return Verdict(outcome, f"{reason}, {printed:g} % printed")

    return rule


def _writes_cost(column: str) -> Rule:
    reason = f"writing more {title_of(column)} than reading at the same interrupt rate"
    return lambda runs: by_depth(reason, runs.compare_accesses(column, _SAME_RATE))


def _bytes_rise(runs: StorageRuns) -> Verdict:
    there = runs.interrupts("bytes_per_joule", rw=runs.place["rw"])
    means = moments(there, "bytes_per_joule", "device", *TILE).filter(pl.col("n") > 1)
    rows = [
        one.sort("request_bytes") for one in means.partition_by("device", DEPTH) if len(one) > 2
    ]
    if not rows:
        raise UnmeasuredError("n: no device and depth with two runs each of three request sizes")
    rising = sum(_is_rising(row) for row in rows)
    reason = (
        f"bytes per joule rise with the size in {rising} of {len(rows)} rows of device and depth"
    )
    return Verdict(share_outcome(rising, len(rows), 0.95), reason)


def _is_rising(row: pl.DataFrame) -> bool:
    step = pl.col("mean").diff()
    error = (pl.col("sd") ** 2 / pl.col("n")).rolling_sum(2).sqrt()
    return bool(row.select((step >= -2 * error).all())[0, 0])


def _ios_by_depth(kind: str, is_falling: bool) -> Rule:
    """Build the rule of the depth with most IOs per joule: inside the range, or at its end."""

    def rule(runs: StorageRuns) -> Verdict:
        rows = runs.by_kind("ios_per_joule", kind, rw=READS, request_bytes=FOUR_KIB)[kind]
        means = (
            moments(rows, "ios_per_joule")
            .sort(DEPTH)
            .unique(DEPTH, keep="first", maintain_order=True)
        )
        depths = means[DEPTH].to_list()
        if min(depths) > 1 or max(depths) < _DEEPEST:
            raise UnmeasuredError(
                f"{kind}: IO depths {min(depths)} to {max(depths)} alone, of 1 to {_DEEPEST}"
            )
        best, last = means.sort("mean")[-1], means[-1]
        reason = (
            f"{kind}: most IOs per joule at depth {best[DEPTH][0]} of {depths[0]} to {depths[-1]}"
        )
        if not is_falling:
            return plain(best[DEPTH][0] == depths[-1], reason)
        pair = two_means(best.with_columns(at=0), last.with_columns(at=0), "at")
        return plain(depths[0] < best[DEPTH][0] < depths[-1] and pair[0].is_more, reason)

    return rule


def _greenest(runs: StorageRuns) -> Verdict:
    found = runs.by_kind("bytes_per_joule", *KINDS, rw=runs.place["rw"])
    most = [rows.group_by(TILE).agg(pl.col("bytes_per_joule").max()) for rows in found.values()]
    *others, optane = most
    for number, other in enumerate(others):
        optane = optane.join(other, on=TILE, suffix=f"_{number}")
    if not len(optane):
        raise UnmeasuredError("no request size and depth that all four devices share")
    best = pl.col("bytes_per_joule") > pl.max_horizontal("^bytes_per_joule_.*$")
    won = int(optane.select(best.sum())[0, 0])
    reason = f"Optane has most bytes per joule in {won} of {len(optane)} tiles of all four devices"
    return Verdict(share_outcome(won, len(optane)), reason)


def _reads_peak(runs: StorageRuns) -> Verdict:
    if not runs.accesses:
        raise UnmeasuredError(f"no runs that read and write apart, but {runs.place['rw']}")
    means = [
        runs.at_depths("power_w", INTERRUPT, rw=rw).filter(pl.col("n") > 1) for rw in runs.accesses
    ]
    if not all(map(len, means)):
        raise UnmeasuredError("n: no two runs of a depth that read and of one that write")
    # The last is the greatest.
    read, write = (float(one.sort("mean")["mean"][-1]) for one in means)
    reason = f"reading at most {format_quantity(read, 'W')}, writing {format_quantity(write, 'W')}"
    return plain(1 < read / write <= 1.25, reason)


RULES_OF_DEVICES: Final[dict[str, tuple[Rule, ...]]] = {
    "004-O1": (_idle_less((SATA, NVME, FLASH), OPTANE), _idle_less((OPTANE,), DISK)),
    "004-O2": (_peak_less(DISK, SATA), _peak_less(SATA, NVME), _peak_less(NVME, OPTANE)),
    "004-O3": (
        _alike(DISK), _alike(SATA), _alike(NVME), _writes_more(is_small=False),
        _writes_more(is_small=True),
    ),
    "004-O4": (
        _span_less(DISK, SATA), _span_less(SATA, NVME), _span_less(NVME, OPTANE), _optane_span,
    ),
    "004-O5": (
        _reaches_rate, _kernel_cpu(1, 400_000, 300), _kernel_cpu(0, 600_000, 100),
        _writes_cost("cpu_sys_pct"),
    ),
    "004-O6": (_bytes_rise,),
    "004-O7": (_ios_by_depth(OPTANE, is_falling=True), _ios_by_depth(NVME, is_falling=False)),
    "004-C8": (_greenest,),
    "004-C9": (_writes_cost("power_w"), _reads_peak),
}  # fmt: skip
