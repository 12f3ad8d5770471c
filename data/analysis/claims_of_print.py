"""What the storage studies print, against their own tables, as rules.

claims_of_print.toml has it in words. Nothing here needs runs, or says anything of runs.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from data.analysis.storage_runs import HYBRID, INTERRUPT, MODES, POLL
from data.analysis.verdicts import UnmeasuredError, Verdict, plain, size_outcome

# Rows of the published tables, by name.
Tables = Mapping[str, tuple[dict[str, Any], ...]]
Rule = Callable[[Tables], Verdict]
_PERFORMANCE: Final = "hotstorage22_performance"
_MOVES: Final = "hotstorage22_loads_stores"
_IDLE: Final = "hotstorage20_idle_power"


def _more_ios(tables: Tables) -> Verdict:
    rate = {(row["mode"], row["threads"]): row["iops"] for row in tables[_PERFORMANCE]}
    more = [rate[mode, 1] - rate[INTERRUPT, 1] for mode in (POLL, HYBRID)]
    reason = f"{more[0]:,.0f} and {more[1]:,.0f} by table 1; 23,748 and 17,124 printed"
    return plain(more == [23_748, 17_124], reason, effect=more[0])


def _moves(tables: Tables, source: str, part: str) -> dict[str, float]:
    """Return millions of loads and stores a second by mode."""
    own = [r for r in tables[_MOVES] if (r["source"], r["part"]) == (source, part)]
    return {row["mode"]: row["millions_per_s"] for row in own}


def _half_of_blk_poll(tables: Tables) -> Verdict:
    own = _moves(tables, "block/", "blk_poll")
    total = _moves(tables, "total", "total")
    share = own[HYBRID] / own[POLL]
    of_all = [100 * own[mode] / total[mode] for mode in (POLL, HYBRID)]
    reason = (
        f"hybrid {own[HYBRID]:g} of classic's {own[POLL]:g} million, x{share:.2f}; blk_poll is "
    )
    reason += f"{of_all[0]:.1f} % of classic's total and {of_all[1]:.1f} % of hybrid's"
    return Verdict(size_outcome(share / 0.5), reason, effect=share)


def _hybrid_most(tables: Tables) -> Verdict:
    total = _moves(tables, "total", "total")
    block, sched = (_moves(tables, source, "sum") for source in ("block/", "kernel/sched/"))
    outweighs = {mode: sched[mode] / block[mode] for mode in (INTERRUPT, HYBRID)}
    comparable = sched[HYBRID] / block[POLL]
    holds = max(total, key=lambda m: total[m]) == HYBRID and min(outweighs.values()) > 1
    reason = f"totals {', '.join(f'{mode} {total[mode]:,.0f}' for mode in MODES)}; scheduler over "
    reason += (
        f"block layer {outweighs[INTERRUPT]:.2f} (interrupt), {outweighs[HYBRID]:.2f} (hybrid); "
    )
    reason += f"hybrid's scheduler over classic's block layer {comparable:.2f}"
    return plain(holds and 0.8 <= comparable <= 1.25, reason, effect=comparable)


def _halfway(tables: Tables) -> Verdict:
    places = []
    for source in ("block/", "drivers/nvme/host/"):
        own = _moves(tables, source, "sum")
        places.append((own[HYBRID] - own[INTERRUPT]) / (own[POLL] - own[INTERRUPT]))
    reason = f"at {places[0]:.2f} of the way in the block layer, at {places[1]:.2f} in the driver"
    return Verdict(size_outcome(places[0] / 0.5), reason, effect=places[0])


def _alike_in_blk_mq(tables: Tables) -> Verdict:
    own = _moves(tables, "block/", "blk_mq_*")
    over = [own[mode] / own[INTERRUPT] for mode in (POLL, HYBRID)]
    reason = f"{over[0]:.2f} and {over[1]:.2f} times interrupts"
    return plain(abs(over[1] / over[0] - 1) <= 0.05 and min(over) >= 1.25, reason, effect=over[0])


def _consistent(tables: Tables) -> Verdict:
    ratios = [
        row["threads"] / (row["latency_us"] * 1e-6) / row["iops"] for row in tables[_PERFORMANCE]
    ]
    reason = f"threads over latency are {min(ratios):.2f} to {max(ratios):.2f} times the IO rate"
    return plain(min(ratios) >= 0.95 and max(ratios) <= 1.10, reason, effect=max(ratios))


def _idle_as_printed(tables: Tables) -> Verdict:
    bare, disk, flash, optane = (row["power_w"] for row in tables[_IDLE])
    reason = f"none {bare:g} W, flash {flash:g}, Optane {optane:g}, disk {disk:g} W, as printed"
    more = [device - bare for device in (flash, optane, disk)]
    return plain(more == [2, 5, 10] and flash < optane < disk, reason, effect=more[0])


def _asked(_: Tables) -> Verdict:
    raise UnmeasuredError("the authors ask, they do not claim")


RULES_OF_PRINT: Final[dict[str, tuple[Rule, ...]]] = {
    "000-P1": (_more_ios,), "000-P2": (_half_of_blk_poll,), "000-P3": (_hybrid_most,),
    "000-P4": (_halfway,), "000-P5": (_alike_in_blk_mq,), "000-P6": (_consistent,),
    "004-P1": (_idle_as_printed,), **{f"004-D{number}": (_asked,) for number in range(1, 6)},
}  # fmt: skip
