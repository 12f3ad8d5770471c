"""What was counted beside a storage run: /proc/interrupts twice, `perf stat`."""

from datetime import UTC, datetime
from typing import Final

import numpy as np

from ingest.sample.storage_model import StorageOutcome, expect
from ingest.sample.storage_parameters import COMPLETIONS, MACHINE
from ingest.sample.storage_plan import RAMP_S, StorageRun

# From the first snapshot of the interrupts to fio's first request, and from fio's last request to
# the second snapshot.
_BEFORE_S: Final = 0.03
_AFTER_S: Final = 0.05
# What perf counts beyond what it was told to.
_STARTING_S: Final = 0.004
_GHZ: Final = 3.6
_SPIN_IPC: Final = 1.9
_WORK_IPC: Final = 1.1
_MISSES_A_REQUEST: Final = 6.0
_TIMER_HZ: Final = 250


def interrupts_texts(run: StorageRun) -> tuple[str, str]:
    """Print /proc/interrupts before and after a run, under the time at which it was copied."""
    rng = run.generator("interrupts")
    queues = rng.integers(10**5, 10**8, MACHINE.cpus)
    before_s, after_s = run.start_s - _BEFORE_S, run.end_s + _AFTER_S
    raised = expect(run.setting).interrupts_hz * run.iops / expect(run.setting).iops
    used = np.zeros(MACHINE.cpus)
    used[: run.setting.threads] = 1 / min(run.setting.threads, MACHINE.cpus)
    more = np.rint(used * raised * (RAMP_S + run.length_s)).astype(np.int64)
    ticks = rng.integers(10**6, 10**7, MACHINE.cpus)
    passed = int(_TIMER_HZ * (after_s - before_s))
    return (
        _interrupts_text(before_s, queues, ticks),
        _interrupts_text(after_s, queues + more, ticks + passed),
    )


def _interrupts_text(taken_s: float, queues: np.ndarray, ticks: np.ndarray) -> str:
    cpus = range(MACHINE.cpus)
    none = np.zeros(MACHINE.cpus, dtype=np.int64)
    rows = [_row("0", _one(39, 0), "IR-IO-APIC    2-edge      timer")]
    rows.append(_row("29", _one(118, 3), "PCI-MSI 524288-edge      nvme0q0"))
    for cpu in cpus:
        action = f"PCI-MSI {524289 + cpu}-edge      nvme0q{cpu + 1}"
        rows.append(_row(str(30 + cpu), _one(int(queues[cpu]), cpu), action))
    rows.append(_row("NMI", none, "Non-maskable interrupts"))
    rows.append(_row("LOC", ticks, "Local timer interrupts"))
    rows += ["ERR:          0", "MIS:          0"]
    heading = " " * 6 + "".join(f"{f'CPU{cpu}':>11}" for cpu in cpus)
    return "\n".join([f"{taken_s:.3f}", heading, *rows, ""])


def _one(count: int, cpu: int) -> np.ndarray:
    counts = np.zeros(MACHINE.cpus, dtype=np.int64)
    counts[cpu] = count
    return counts


def _row(label: str, counts: np.ndarray, action: str) -> str:
    return f"{label:>4}: " + " ".join(f"{count:>10}" for count in counts) + f"  {action}"


def perf_text(run: StorageRun) -> str:
    """Print `perf stat -a -x, sleep N`, begun when fio began to measure."""
    rng = run.generator("perf")
    outcome, pace = expect(run.setting), run.iops / expect(run.setting).iops
    length_s = run.length_s
    started = datetime.fromtimestamp(run.measured_s, UTC)
    counted_s = length_s + _STARTING_S
    whole = int(counted_s * 1e9 * MACHINE.cpus)
    spun = _spun_share(run, outcome)
    cycles = outcome.busy_cpus * pace * _GHZ * 1e9 * length_s * rng.normal(1, 0.003)
    values = (
        (cycles, "", "cycles"),
        (cycles * (_SPIN_IPC * spun + _WORK_IPC * (1 - spun)), "", "instructions"),
        (cycles * 3.0 / _GHZ, "", "ref-cycles"),
        (run.iops * length_s * _MISSES_A_REQUEST, "", "cache-misses"),
        (outcome.switches_hz * pace * length_s + 40 * counted_s, "", "context-switches"),
    )
    lines = [f"{value:.0f},{unit},{event},{whole},100.00,," for value, unit, event in values]
    lines.append(f"{counted_s * 1e9:.0f},ns,duration_time,{counted_s * 1e9:.0f},100.00,,")
    return f"# started on {started:%a %b} {started.day:>2} {started:%H:%M:%S %Y}\n\n" + "".join(
        f"{line}\n" for line in lines
    )


def _spun_share(run: StorageRun, outcome: StorageOutcome) -> float:
    """Share of the busy time that a processor only waits."""
    completion = COMPLETIONS[run.setting.mode]
    spun_us = completion.spun * outcome.latency_us
    return spun_us / (spun_us + completion.busy_us)
