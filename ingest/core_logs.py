"""One core's log cut to the workload window: its interrupts, its sampled steps, its totals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ingest.binning import gap_histogram
from ingest.energy import energy_j, has_wrapped, unwrapped_steps, widest_core
from ingest.records import CoreLog, Problem, Window
from ingest.settings import Machine

_CUMULATIVE: Final = ("instructions", "cycles", "ref_cycles", "llc_misses")
_SLEEP_STATES: Final = ("c1", "c1e", "c3", "c6", "c7")
_INT32_MAX: Final = np.iinfo(np.int32).max
_SUMMED: Final = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")


@dataclass(slots=True)
class CoreCut:
    """What one core did within the window.

    Attributes:
        t_ns: Times of its interrupts since the window's start, int64, never decreasing.
        interrupts: Columns `rx_desc rx_bytes tx_desc tx_bytes`, as long as `t_ns`.
        sample_t_ns: Times of its counter samples since the window's start.
        steps: By counter, what it counted since the sample before; one element shorter than
            `sample_t_ns`, because the first sample only starts the count. `energy_uj` is what
            the core's package used.
        totals: By column of `cores`, over the window; None where it was not measured.
        counter: The raw energy counter at each sample.
    """

    core: int
    package: int | None
    t_ns: np.ndarray
    interrupts: dict[str, np.ndarray]
    sample_t_ns: np.ndarray
    steps: dict[str, np.ndarray]
    totals: dict[str, int | None]
    counter: np.ndarray
    gap_hist: np.ndarray
    problems: list[Problem] = field(default_factory=list)


def ticks_to_ns(ticks: np.ndarray, tsc_hz: float) -> np.ndarray:
    """Time-stamp counter ticks as whole nanoseconds, the nearest."""
    return np.rint(ticks * (1e9 / tsc_hz)).astype(np.int64)


def duration_ns(window: Window, tsc_hz: float) -> int:
    """The window's length in whole nanoseconds, on the same scale as `ticks_to_ns`."""
    return int(ticks_to_ns(np.asarray(window.end_tsc - window.start_tsc), tsc_hz))


def cut_core(core: int, log: CoreLog, window: Window, machine: Machine) -> CoreCut:
    """Cut a log to the window, both ends in it, and count what happened there.

    Counters are the last sample less the first one within the window. C-states are differenced
    the same way where they are running totals, and added where each sample has its own.
    """
    lines = _within(log.interrupts["tsc"], window)
    sampled = _within(log.samples["tsc"], window)
    interrupts = {name: log.interrupts[name][lines] for name in _SUMMED}
    samples = {name: column[sampled] for name, column in log.samples.items()}
    t_ns = ticks_to_ns(log.interrupts["tsc"][lines] - window.start_tsc, machine.tsc_hz)
    steps = _steps(samples, log.sleep_states_cumulative, machine)
    cut = CoreCut(
        core=core,
        package=machine.package_of(core),
        t_ns=t_ns,
        interrupts=interrupts,
        sample_t_ns=ticks_to_ns(samples["tsc"] - window.start_tsc, machine.tsc_hz),
        steps=steps,
        totals=_totals(t_ns, interrupts, samples, steps, log.sleep_states_cumulative),
        counter=samples["joules"],
        gap_hist=gap_histogram(t_ns),
    )
    _check_cut(cut, log, window)
    return cut


def _within(tsc: np.ndarray, window: Window) -> slice:
    first = int(np.searchsorted(tsc, window.start_tsc, side="left"))
    return slice(first, int(np.searchsorted(tsc, window.end_tsc, side="right")))


def _steps(
    samples: dict[str, np.ndarray], is_cumulative: bool, machine: Machine
) -> dict[str, np.ndarray]:
    steps: dict[str, np.ndarray] = {
        name: np.diff(samples[name]) for name in _CUMULATIVE if name in samples
    }
    for name in _SLEEP_STATES:
        if name in samples:
            steps[name] = np.diff(samples[name]) if is_cumulative else samples[name][1:]
    energy = unwrapped_steps(samples["joules"], machine.energy_counter_bits)
    steps["energy_uj"] = energy * (machine.energy_unit_j * 1e6)
    return steps


def _totals(
    t_ns: np.ndarray,
    interrupts: dict[str, np.ndarray],
    samples: dict[str, np.ndarray],
    steps: dict[str, np.ndarray],
    is_cumulative: bool,
) -> dict[str, int | None]:
    totals: dict[str, int | None] = {"interrupts": len(t_ns)}
    totals.update({name: int(column.sum()) for name, column in interrupts.items()})
    for name in (*_CUMULATIVE, *_SLEEP_STATES):
        if name not in steps or len(samples["tsc"]) < 2:
            totals[name] = None
        elif name in _SLEEP_STATES and not is_cumulative:
            totals[name] = int(samples[name].sum())
        else:
            totals[name] = int(samples[name][-1] - samples[name][0])
    return totals


def _check_cut(cut: CoreCut, log: CoreLog, window: Window) -> None:
    """Doubt a log that has nothing in the window, and counters that ran backwards."""
    if not len(cut.t_ns):
        tsc = log.interrupts["tsc"]
        covers = f"{tsc[0]} to {tsc[-1]}" if len(tsc) else "nothing"
        detail = (
            f"no line of the log is in the window {window.start_tsc} to {window.end_tsc}; "
            f"it covers {covers}"
        )
        cut.problems.append(Problem("log_outside_window", "doubted", detail))
    for name in ("rx_desc", "tx_desc"):
        if len(cut.t_ns) and int(cut.interrupts[name].max()) > _INT32_MAX:
            most = int(cut.interrupts[name].max())
            detail = f"{name} of {most} does not fit its column, where it stands as {_INT32_MAX}"
            cut.problems.append(Problem("value_range", "doubted", detail))
    backwards = [
        name for name, steps in cut.steps.items() if name in cut.totals and (steps < 0).any()
    ]
    for name in backwards:
        cut.totals[name] = None
    if backwards:
        detail = f"counted backwards: {', '.join(backwards)}; NULL for core {cut.core}"
        cut.problems.append(Problem("counter_backwards", "doubted", detail))


def energy_by_package(
    cuts: Sequence[CoreCut], machine: Machine
) -> tuple[dict[int | None, float | None], set[int], bool]:
    """Joules of each package, from the one of its cores whose samples span the most of the window.

    Returns:
        Package to joules (None: fewer than two samples); the cores that stand for their
        packages; whether one of their counters wrapped.
    """
    energy: dict[int | None, float | None] = {}
    carriers: set[int] = set()
    wrapped = False
    for package in sorted({cut.package for cut in cuts}, key=lambda p: -1 if p is None else p):
        by_core = {c.core: c for c in cuts if c.package == package and len(c.counter)}
        spans = {n: (int(c.sample_t_ns[0]), int(c.sample_t_ns[-1])) for n, c in by_core.items()}
        core = widest_core(spans)
        if core is None:
            energy[package] = None
            continue
        counter = by_core[core].counter
        energy[package] = energy_j(counter, machine.energy_counter_bits, machine.energy_unit_j)
        carriers.add(core)
        wrapped = wrapped or has_wrapped(counter)
    return energy, carriers, wrapped
