"""Totals of a window for each run, and their differences from a reference run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from data.timeline.time_cells import SLEEP_STATES, Lines, fold_starts
from data.timeline.window import RunAnswer
from data.units import MISSING, format_change, format_quantity

_COUNTED: Final = ("instructions", "cycles", "llc_misses", *SLEEP_STATES)
_BYTES: Final = ("rx_bytes", "tx_bytes")


@dataclass(frozen=True, slots=True)
class Total:
    """One row of the table of totals; `note` explains the count where it is not obvious."""

    name: str
    title: str
    unit: str
    better: Literal["less", "more"] | None = None
    note: str = ""


_GAP: Final = "time between two interrupts of a core"
TOTALS: Final = (
    Total("window_s", "Window", "s"),
    Total("interrupts", "Interrupts", ""),
    Total("interrupts_per_s", "Interrupts a second", "1/s", "less"),
    Total("rx_bytes", "Received", "B"),
    Total("tx_bytes", "Sent", "B"),
    Total("rx_bytes_each", "Received per interrupt", "B"),
    Total("tx_bytes_each", "Sent per interrupt", "B"),
    Total("gap_mean_us", "Mean gap", "us", note="window length times cores by interrupts"),
    Total("gap_min_us", "Shortest gap", "us", note=f"{_GAP}, of those that end in the window"),
    Total("gap_max_us", "Longest gap", "us", note=f"{_GAP}, of those that touch the window"),
    Total("energy_j", "Energy", "J", "less", "of whole packages"),
    Total("power_w", "Power", "W", "less", "of whole packages"),
    Total("instructions", "Instructions", "", "less"),
    Total("cycles", "Cycles", "", "less"),
    Total("ipc", "Instructions per cycle", "", "more"),
    Total("busy", "Busy share", "", note="reference cycles divided by time-stamp ticks"),
    Total("llc_misses", "LLC misses", "", "less"),
    *(Total(state, f"{state.upper()} entries", "") for state in SLEEP_STATES),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A run's value minus the reference's; `percent` is None if the reference is 0."""

    value: float
    text: str
    percent: float | None
    percent_text: str


def window_totals(answer: RunAnswer) -> dict[str, float]:
    """Return totals of the chosen cores, and of whole packages for energy; NaN: not measured."""
    one = fold_starts(len(answer.cells["interrupts"].edges) - 1, 1)
    traffic = Lines(answer.cells["interrupts"], answer.chosen, one)
    counted = Lines(answer.cells["counters"], answer.chosen, fold_starts(_bins(answer), 1))
    window_s = (answer.plan.to_ns - answer.plan.from_ns) * 1e-9
    totals = {name: _only(traffic.drawn(name)) for name in ("interrupts", *_BYTES)}
    totals |= {f"{name}_each": _only(traffic.bytes_each(name)["mean"]) for name in _BYTES}
    totals |= {f"gap_{word}_us": _only(values) for word, values in traffic.gap().items()}
    totals |= {name: _only(counted.drawn(name)) for name in _COUNTED}
    energy_j = _energy_j(answer)
    return totals | {
        "window_s": window_s,
        "interrupts_per_s": totals["interrupts"] / window_s,
        "energy_j": energy_j,
        "power_w": energy_j / window_s,
        "ipc": _only(counted.ipc()["mean"]),
        "busy": _only(counted.busy(answer.facts.tsc_hz)["mean"]),
    }


def _bins(answer: RunAnswer) -> int:
    return len(answer.cells["counters"].edges) - 1


def _only(values: np.ndarray) -> float:
    return float(values[0])


def _energy_j(answer: RunAnswer) -> float:
    """Return the energy of the chosen cores' packages, J; NaN if a package's is unknown."""
    facts = answer.facts
    packages = {facts.packages[facts.cores[at]] for at in answer.chosen}
    starts, joules = fold_starts(_bins(answer), 1), 0.0
    for package in packages:
        places = [at for at, core in enumerate(facts.cores) if facts.packages[core] == package]
        lines = Lines(answer.cells["counters"], places, starts)
        joules += _only(lines.drawn("energy_uj")) * 1e-6
    return joules


def difference(total: Total, value: float, base: float) -> Difference | None:
    """Subtract the reference's value; None if either was not measured."""
    if not (math.isfinite(value) and math.isfinite(base)):
        return None
    change = value - base
    share = change / base if base else None
    sign = "+" if change > 0 else ""
    text = f"{sign}{format_quantity(change, total.unit)}" if change else "0"
    percent_text = format_change(share) if share is not None else MISSING
    return Difference(change, text, None if share is None else 100 * share, percent_text)


def base_of(values: Sequence[dict[str, float] | None], wanted: int) -> int | None:
    """Choose the reference: the requested run, or the first that has totals."""
    there = [at for at, one in enumerate(values) if one is not None]
    return wanted if wanted in there else next(iter(there), None)
