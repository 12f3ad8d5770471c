"""Write a whole sample: settings, a README, raw logs run by run, summary tables, storage runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from data.errors import DataError
from ingest.sample import logs, outputs
from ingest.sample import parameters as p
from ingest.sample.logs import CoreShare, PackageEnergy, Variant
from ingest.sample.network_model import measure, measured_cores
from ingest.sample.outputs import Span
from ingest.sample.parameters import OPEN_LOOP, PACKAGES, TSC_KHZ, WORKLOADS, Workload
from ingest.sample.plan import ADAPTIVE_ITR, SIZES, Run, plan_runs
from ingest.sample.storage import count_storage_runs, write_storage

_SETTINGS: Final = """[dataset]
name = "synthetic-{size}"
synthetic = true
"""
_README: Final = """This folder is synthetic: no machine ran any of it.

ingest/sample of wattlas made these logs from a stated model of interrupt throttling (ITR),
frequency (DVFS) and power, in the file formats and names of a published data set, so that the
program can be tried without that data. The model's equations are in docs/sample.md.

size {size}, seed {seed}

Runs without per-interrupt logs are rows of the *_combined.csv tables. Within one workload every
open-loop run lasts the same time, and every closed-loop run does the same work.

storage/ is a sweep of its own: completion modes, request sizes and threads on four devices, as fio
documents, counters, and the exports of a power meter whose clock is off.
"""
_COUNTED: Final = ("interrupts", *logs.NIC_COLUMNS, *logs.CUMULATIVE, *logs.SLEEP)
_WRAPPING_SHARE: Final = 0.25
# What names of Linux files begin with.
_STEMS: Final = {
    "memcached": "linux.mcd.", "memcached-silo": "linux.mcdsilo.", "nodejs": "linux.node.server.",
}  # fmt: skip
# The summary tables: file, columns.
_TAIL: Final = "instructions cycles ref_cycles llc_miss c1 c1e c3 c6 c7 num_interrupts"
_MEMCACHED: Final = (
    "sys i itr dvfs rapl read_5th read_10th read_50th read_90th read_95th read_99th"
    f" measure_QPS target_QPS time joules rx_desc rx_bytes tx_desc tx_bytes {_TAIL}"
)
_TABLES: Final[dict[Workload, tuple[str, str]]] = {
    "memcached": ("mcd_combined.csv", _MEMCACHED),
    "memcached-silo": ("mcdsilo_combined.csv", _MEMCACHED),
    "netpipe": (
        "netpipe_combined.csv",
        f"sys i msg itr dvfs rapl time tput joules rx_bytes tx_bytes {_TAIL}",
    ),
    "nodejs": (
        "node_combined.csv",
        "sys i itr dvfs rapl lat50 lat75 lat90 lat99 requests time joules"
        f" rx_desc rx_bytes tx_desc tx_bytes {_TAIL}",
    ),
}
# Headings of the tables to columns of `runs`, where they differ, and digits.
_NAMES: Final = {
    "measure_QPS": ("throughput_qps", 1),
    "time": ("duration_s", 3),
    "joules": ("energy_j", 2),
    "llc_miss": ("llc_misses", 0),
    "num_interrupts": ("interrupts", 0),
    **{f"read_{q}th": (f"latency_p{q}_us", 1) for q in (5, 10, 50, 90, 95, 99)},
    **{f"lat{q}": (f"latency_p{q}_us", 1) for q in (50, 75, 90, 99)},
}


def write_sample(
    out: Path, size: str, seed: int, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write a synthetic sweep as raw logs; the same size and seed give the same bytes.

    Args:
        out: Folder to make, or to make again if it holds a sample of the same size.
        size: `tiny`, `small` or `large`.
        seed: Not negative.
        progress: Called with runs written and runs in all after each run.

    Returns:
        The folder.

    Raises:
        DataError: An unknown size, a negative seed, or a folder that holds something else.
    """
    if size not in SIZES:
        raise DataError(f"unknown sample size {size!r}, expected one of {', '.join(SIZES)}")
    if seed < 0:
        raise DataError(f"the seed must not be negative: {seed}")
    settings, mark = _SETTINGS.format(size=size), out / "wattlas.toml"
    is_ours = mark.is_file() and mark.read_text() == settings
    if out.exists() and not is_ours and any(out.iterdir()):
        raise DataError(f"not empty, and not a sample of this size: {out}")
    out.mkdir(parents=True, exist_ok=True)
    mark.write_text(settings, newline="\n")
    (out / "README.txt").write_text(_README.format(size=size, seed=seed), newline="\n")
    runs = list(plan_runs(size))
    total = len(runs) + count_storage_runs(size)
    done = 0

    def finished() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    for workload in WORKLOADS:
        folder = out / workload
        folder.mkdir(exist_ok=True)
        tabled: list[tuple[Run, Mapping[str, float]]] = []
        for run in (run for run in runs if run.workload == workload):
            rng = run.generator(seed)
            measured = measure_run(run, rng)
            if run.is_logged:
                write_run(folder, run, measured, rng)
            else:
                tabled.append((run, measured))
            finished()
        if tabled:
            write_table(folder, workload, tabled)
    write_storage(out, size, seed, finished)
    return out


def measure_run(run: Run, rng: np.random.Generator) -> dict[str, float]:
    """Measure one run: the model's expectation with the run's own noise, by column of `runs`."""
    columns = measure(run.workload, run.system, run.settings, run.amount, rng)
    return {name: values[0].item() for name, values in columns.items()}


def write_table(
    folder: Path, workload: Workload, rows: Iterable[tuple[Run, Mapping[str, float]]]
) -> None:
    """Write the summary table of a workload's runs that have no raw logs."""
    name, header = _TABLES[workload]
    lines = [" ".join(map(_cells(*row), header.split())) for row in rows]
    (folder / name).write_text("\n".join([header, *lines, ""]), newline="\n")


def _cells(run: Run, measured: Mapping[str, float]) -> Callable[[str], str]:
    """Return a function from a heading to the run's cell under it."""
    one_way_s = measured["duration_s"] / (2 * run.amount)
    knobs = {
        "sys": run.system, "i": run.replicate, "itr": run.itr, "dvfs": run.dvfs_code,
        "rapl": run.rapl_w, "msg": run.load, "target_QPS": run.load,
        "tput": f"{run.load * 8 / (one_way_s * 2**20):.2f}",
    }  # fmt: skip

    def cell(heading: str) -> str:
        if heading in knobs:
            return str(knobs[heading])
        name, digits = _NAMES.get(heading, (heading, 0))
        return f"{measured[name]:.{digits}f}"

    return cell


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

    def write_core(self, name: str, variant: Variant, first_line: int, nth: int = 0) -> None:
        """Write the log of the nth of the run's logged cores."""
        run, measured, span = self.run, self.measured, self.span
        cores = measured_cores(run.workload)
        totals = {name: int(measured.get(name, 0)) for name in _COUNTED}
        totals["c0"] = totals["c1"] + totals["c1e"] + totals["c3"] + totals["c7"]
        is_adaptive = run.itr == ADAPTIVE_ITR
        ticks = span.end_tsc - span.start_tsc
        share = CoreShare(
            span.start_tsc + 200 + 97 * nth,
            span.end_tsc - 150 - 89 * nth,
            {k: v // len(cores) + (nth < v % len(cores)) for k, v in totals.items()},
            p.ADAPTIVE_US if is_adaptive else (float(run.itr),),
            p.ADAPTIVE_SHARE if is_adaptive else (1.0,),
            None if run.workload in OPEN_LOOP else ticks / run.amount,
        )
        energy = self.energy[cores[nth] % PACKAGES]
        columns = logs.core_columns(share, energy, run.system != "ebbrt_tuned", self.rng)
        printed_s = span.end_tsc / (TSC_KHZ * 1000) + 0.4
        logs.write_log(self.folder / name, variant, columns, first_line, printed_s)


def write_run(
    folder: Path, run: Run, measured: Mapping[str, float], rng: np.random.Generator
) -> None:
    """Write every file of one run into a folder that exists.

    Args:
        measured: What the run measured, by column name of `runs`; the logs add up to it.
    """
    start = int(rng.integers(10**12, 8 * 10**12))
    span = Span(start, start + round(measured["duration_s"] * TSC_KHZ * 1000))
    capture = _Capture(run, folder, measured, span, _package_energy(run, measured, span, rng), rng)
    is_ebbrt, rep = run.system == "ebbrt_tuned", run.replicate
    knobs = f"{run.itr}_{run.dvfs_code}_{run.rapl_w}"
    if run.workload in OPEN_LOOP:
        stem = "ebbrt_" if is_ebbrt else _STEMS[run.workload]
        for nth, core in enumerate(measured_cores(run.workload)):
            name = f"{stem}dmesg.{rep}_{core}_{knobs}_{run.load}"
            if is_ebbrt:
                capture.write_core(f"{name}.csv", "ebbrt", nth, nth)
            else:
                capture.write_core(name, "linux", 0, nth)
        text = outputs.mutilate_text(run, measured, rng)
        capture.write(f"{stem}out.{rep}_{knobs}_{run.load}", text)
        window = str(span) if is_ebbrt else outputs.connections_text(span, rng)
        capture.write(f"{stem}rdtsc.{rep}_{knobs}_{run.load}", window)
    elif run.workload == "nodejs":
        named = f"{rep}_{measured_cores(run.workload)[0]}_{knobs}"
        text, stem = outputs.wrk_text(run, measured, rng), _STEMS[run.workload]
        if is_ebbrt:
            capture.write_core(f"ebbrt_dmesg.{named}.csv", "ebbrt", 3)
            capture.write(f"ebbrt_out.{named}", text)
            capture.write(f"ebbrt_rdtsc.{rep}_{knobs}", str(span))
        else:
            capture.write_core(f"{stem}log.{named}", "linux_17", 0)
            capture.write(f"{stem}out.{named}", text)
            capture.write(f"{stem}rdtsc.{named}", outputs.server_text(span, rng))
    else:
        named = f"{rep}_{run.load}_{run.amount:.0f}_{knobs}"
        if is_ebbrt:
            capture.write_core(f"ebbrt.dmesg.{named}.csv", "ebbrt", 5)
            capture.write(f"ebbrt.np.out.{named}", outputs.ebbrt_np_text(run, measured, span))
        else:
            capture.write_core(f"dmesg_devicelog.{named}", "devicelog", 0)
            capture.write(f"np.out.{named}", outputs.np_out_text(run, measured))
            server = outputs.np_server_text(span, measured["energy_j"], rng)
            capture.write(f"np.server.{named}", server)


def _package_energy(
    run: Run, measured: Mapping[str, float], span: Span, rng: np.random.Generator
) -> list[PackageEnergy]:
    """Share a run's energy between its measured packages; now and then a counter wraps in it."""
    units = measured["energy_j"] / p.ENERGY_UNIT_J
    share = float(rng.normal(0.5, 0.01)) if run.workload in OPEN_LOOP else 1.0
    counters = []
    wraps = rng.random() < _WRAPPING_SHARE
    for part in (1 - share, share):
        first = int(rng.integers(10**6, 1 << 31))
        if wraps:
            first = (1 << 32) - max(int(units * part * rng.uniform(0.2, 0.8)), 1)
        turns, phase = int(rng.integers(2, 6)), float(rng.uniform(0, 6))
        counters.append(
            PackageEnergy(span.start_tsc, span.end_tsc, units * part, first, turns, phase)
        )
    return counters
