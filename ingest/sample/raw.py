"""Raw logs of one run: its files, in the real names, with counters that agree with the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ingest.sample import logtext, outputs
from ingest.sample.corelog import (
    CUMULATIVE,
    NIC_COLUMNS,
    SLEEP,
    CoreShare,
    PackageEnergy,
    core_columns,
)
from ingest.sample.model import measured_cores
from ingest.sample.outputs import Span
from ingest.sample.parameters import MACHINE
from ingest.sample.plan import ADAPTIVE_ITR, Run, is_open_loop

_COUNTED = ("interrupts", *NIC_COLUMNS, *CUMULATIVE, *SLEEP)
_WRAPPING_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class _Capture:
    """A run about to be written: its folder, measurements, window and energy counters."""

    run: Run
    folder: Path
    measured: Mapping[str, float]
    span: Span
    energy: list[PackageEnergy]
    rng: np.random.Generator

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="ascii", newline="\n")

    @property
    def is_ebbrt(self) -> bool:
        return self.run.system == "ebbrt_tuned"


def write_run(
    folder: Path, run: Run, measured: Mapping[str, float], rng: np.random.Generator
) -> None:
    """Write every file of one run into a folder that exists.

    Args:
        measured: What the run measured, by column name of `runs`; the logs add up to it.
    """
    ticks = round(measured["duration_s"] * MACHINE.tsc_khz * 1000)
    start = int(rng.integers(10**12, 8 * 10**12))
    span = Span(start, start + ticks)
    capture = _Capture(run, folder, measured, span, _package_energy(run, measured, span, rng), rng)
    if run.workload == "netpipe":
        _write_netpipe(capture)
    elif run.workload == "nodejs":
        _write_nodejs(capture)
    else:
        _write_memcached(capture)


def _package_energy(
    run: Run, measured: Mapping[str, float], span: Span, rng: np.random.Generator
) -> list[PackageEnergy]:
    """Share a run's energy between its measured packages; now and then a counter wraps in it."""
    units = measured["energy_j"] / MACHINE.energy_unit_j
    share = float(rng.normal(0.5, 0.01)) if is_open_loop(run) else 1.0
    made = []
    wraps = rng.random() < _WRAPPING_SHARE
    for part in (1 - share, share):
        first = int(rng.integers(10**6, 1 << 31))
        if wraps:
            first = (1 << 32) - max(int(units * part * rng.uniform(0.2, 0.8)), 1)
        made.append(
            PackageEnergy(
                span.start_tsc,
                span.end_tsc,
                units * part,
                first,
                swing=0.2,
                turns=int(rng.integers(2, 6)),
                phase=float(rng.uniform(0, 6)),
            )
        )
    return made


def _core_log(capture: _Capture, core: int, place: int, cores: int) -> dict[str, np.ndarray]:
    """Make the columns of the place-th of a run's logged cores."""
    run, measured, span = capture.run, capture.measured, capture.span
    adaptive = run.itr == ADAPTIVE_ITR
    totals = {name: int(measured.get(name, 0)) for name in _COUNTED}
    totals["c0"] = totals["c1"] + totals["c1e"] + totals["c3"] + totals["c7"]
    share = CoreShare(
        core,
        span.start_tsc + 200 + 97 * place,
        span.end_tsc - 150 - 89 * place,
        {k: v // cores + (place < v % cores) for k, v in totals.items()},
        MACHINE.adaptive_us if adaptive else (float(run.itr),),
        MACHINE.adaptive_share if adaptive else (1.0,),
        None if is_open_loop(run) else (span.end_tsc - span.start_tsc) / run.amount,
    )
    package = capture.energy[core % MACHINE.packages]
    return core_columns(share, package, not capture.is_ebbrt, capture.rng)


def _write_memcached(capture: _Capture) -> None:
    run, cores = capture.run, measured_cores(capture.run.workload)
    knobs = f"{run.itr}_{run.dvfs_code}_{run.rapl_w}_{run.load}"
    stem = "linux.mcdsilo." if run.workload == "memcached-silo" else "linux.mcd."
    prefix = "ebbrt_" if capture.is_ebbrt else stem
    for place, core in enumerate(cores):
        columns = _core_log(capture, core, place, len(cores))
        name = f"{prefix}dmesg.{run.replicate}_{core}_{knobs}"
        if capture.is_ebbrt:
            logtext.write_ebbrt_log(capture.folder / f"{name}.csv", columns, place)
        else:
            logtext.write_linux_log(capture.folder / name, columns)
    text = outputs.mutilate_text(run, capture.measured, capture.rng)
    capture.write(f"{prefix}out.{run.replicate}_{knobs}", text)
    if capture.is_ebbrt:
        window = outputs.ebbrt_window_text(capture.span)
    else:
        window = outputs.connections_text(capture.span, capture.rng)
    capture.write(f"{prefix}rdtsc.{run.replicate}_{knobs}", window)


def _write_nodejs(capture: _Capture) -> None:
    run = capture.run
    (core,) = measured_cores(run.workload)
    columns = _core_log(capture, core, 0, 1)
    knobs = f"{run.itr}_{run.dvfs_code}_{run.rapl_w}"
    named = f"{run.replicate}_{core}_{knobs}"
    text = outputs.wrk_text(run, capture.measured, capture.rng)
    if capture.is_ebbrt:
        logtext.write_ebbrt_log(capture.folder / f"ebbrt_dmesg.{named}.csv", columns, 3)
        capture.write(f"ebbrt_out.{named}", text)
        window = outputs.ebbrt_window_text(capture.span)
        capture.write(f"ebbrt_rdtsc.{run.replicate}_{knobs}", window)
    else:
        logtext.write_linux_17_log(capture.folder / f"linux.node.server.log.{named}", columns)
        capture.write(f"linux.node.server.out.{named}", text)
        window = outputs.server_text(capture.span, capture.rng)
        capture.write(f"linux.node.server.rdtsc.{named}", window)


def _write_netpipe(capture: _Capture) -> None:
    run, folder, span = capture.run, capture.folder, capture.span
    (core,) = measured_cores(run.workload)
    columns = _core_log(capture, core, 0, 1)
    knobs = f"{run.load}_{run.amount:.0f}_{run.itr}_{run.dvfs_code}_{run.rapl_w}"
    named = f"{run.replicate}_{knobs}"
    if capture.is_ebbrt:
        logtext.write_ebbrt_log(folder / f"ebbrt.dmesg.{named}.csv", columns, 5)
        text = outputs.ebbrt_np_text(run, capture.measured, span)
        capture.write(f"ebbrt.np.out.{named}", text)
        return
    printed_s = span.end_tsc / (MACHINE.tsc_khz * 1000) + 0.4
    logtext.write_device_log(folder / f"dmesg_devicelog.{named}", columns, core, printed_s)
    capture.write(f"np.out.{named}", outputs.np_out_text(run, capture.measured))
    server = outputs.np_server_text(span, capture.measured["energy_j"], capture.rng)
    capture.write(f"np.server.{named}", server)
