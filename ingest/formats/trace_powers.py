"""Which powers of a trace are that of the machine: none contains another."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.formats.json_samples import EVEN_SHARE
from ingest.formats.trace_headings import kernel_of, numbered, words_of
from ingest.formats.trace_search import Trace
from ingest.settings.headings import without_unit

# What a supply gives is a part of what it takes.
_OUTPUT: Final = frozenset({"output", "out", "capacity"})
# Means of a power and of an energy over time are of one quantity, if they differ by this share.
_EQUAL: Final = 0.02


def added_powers(series: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum of powers; where no time has all series, of those that it has."""
    total = np.sum(series, axis=0)
    is_set = ~np.isnan(series).all(axis=0)
    return np.where(is_set, np.nansum(series, axis=0), np.nan) if np.isnan(total).all() else total


def machine_powers(trace: Trace, powers: dict[int, np.ndarray]) -> list[int]:
    """Return the columns whose sum is the power of the machine: none contains another."""
    alive = [at for at, values in powers.items() if np.nansum(values) > 0]
    by_domain: dict[str, list[int]] = {}
    for at in alive:
        by_domain.setdefault(trace.headings[at].domain, []).append(at)
    energies = {at for at in alive if trace.headings[at].quantity == "energy"}
    if total := by_domain.get("total"):
        same = (at for at in by_domain.get("", []) if _is_same(powers, at, total))
        whole_machine = next((at for at in (*total, *same) if at in energies), total[0])
        # Several supplies of a machine: `PSUPower0`. What one gives is a part of what it takes.
        texts = {at: trace.layout.headings[at] for at in total}
        if len(total) > 1 and all(numbered(t) and "psu" in words_of(t) for t in texts.values()):
            return [at for at in total if _OUTPUT.isdisjoint(words_of(texts[at]))] or total[:1]
        _doubt_sum(trace, powers, whole_machine, [at for at in alive if at != whole_machine])
        return [whole_machine]
    chosen = []
    for domain in ("package", "gpu") if by_domain.keys() & {"package", "gpu"} else ("memory",):
        columns = by_domain.get(domain, [])
        exact = _each_once(trace, [at for at in columns if at in energies] or columns)
        whole = [at for at in exact if numbered(trace.layout.headings[at]) is None]
        chosen += whole[:1] or exact
    if chosen:
        return chosen
    columns = by_domain.get("") or by_domain.get("inside", [])
    # An energy beside powers is that of one of them.
    others = _each_once(trace, [at for at in columns if at not in energies] or columns)
    if len(others) > 1:
        names = ", ".join(trace.layout.headings[at] for at in others)
        detail = f"the power is taken as the sum of {names}"
        trace.problems.add("overlapping_domains", "doubted", detail)
    return others


def _is_same(powers: dict[int, np.ndarray], at: int, totals: Sequence[int]) -> bool:
    """Return whether an energy of each step, of no said part, is that of the whole machine."""
    usual = float(np.mean(powers[at]))
    return any(abs(np.nanmean(powers[n]) - usual) <= _EQUAL * usual for n in totals)


def _each_once(trace: Trace, columns: Sequence[int]) -> list[int]:
    """Return the first of the columns of each power: its average and its energy in another unit, as
    `Cumulative Energy_0(Joules)` and `Cumulative Energy_0(mWh)`, are the same again.
    """
    kernels: dict[tuple[tuple[str, ...], str], int] = {}
    for at in columns:
        text = without_unit(trace.layout.headings[at])
        number = "".join(char for char in text if char.isdigit())
        kernels.setdefault((kernel_of(text), number), at)
    return [*kernels.values()]


def _doubt_sum(
    trace: Trace, powers: dict[int, np.ndarray], total: int, parts: Sequence[int]
) -> None:
    """Report a total that counts parts of the machine twice."""
    domains = {trace.headings[at].domain for at in parts}
    added = sum((powers[at] for at in parts), np.zeros(len(powers[total])))
    is_sum = np.isclose(added, powers[total], rtol=0.01)
    # A processor, a GPU and a memory are apart.
    is_nested = "total" in domains or {"package", "inside"} <= domains
    if len(parts) > 1 and is_nested and is_sum.mean() > EVEN_SHARE:
        names = ", ".join(trace.layout.headings[at] for at in parts)
        name = trace.layout.headings[total]
        detail = f"{name} is the sum of {names}, which contain one another; kept as it is"
        trace.problems.add("overlapping_domains", "doubted", detail)
