"""Write a whole sample: settings, a README, raw logs run by run, summary tables, storage runs."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from data.errors import DataError
from ingest.sample.measure import measure
from ingest.sample.parameters import WORKLOADS
from ingest.sample.plan import SIZES, Run, plan_runs
from ingest.sample.raw import write_run
from ingest.sample.storage import count_storage_runs, write_storage
from ingest.sample.tables import write_table

_SETTINGS = """[dataset]
name = "synthetic-{size}"
synthetic = true
"""
_README = """This folder is synthetic: no machine ran any of it.

ingest/sample of wattlas made these logs from a stated model of interrupt throttling (ITR),
frequency (DVFS) and power, in the file formats and names of a published data set, so that the
program can be tried without that data. The model's equations are in docs/sample.md.

size {size}, seed {seed}

Runs without per-interrupt logs are rows of the *_combined.csv tables. Within one workload every
open-loop run lasts the same time, and every closed-loop run does the same work.

storage/ is a sweep of its own: completion modes, request sizes and threads on four devices, as fio
documents, counters, and the exports of a power meter whose clock is off.
"""


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
    settings = _SETTINGS.format(size=size)
    _claim(out, settings)
    (out / "README.txt").write_text(_README.format(size=size, seed=seed), newline="\n")
    runs = list(plan_runs(SIZES[size]))
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
        for run, measured, rng in _measured([r for r in runs if r.workload == workload], seed):
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
    settings = run.settings
    columns = measure(run.workload, run.system, settings, run.amount, rng)
    return {name: values[0].item() for name, values in columns.items()}


def _measured(
    runs: list[Run], seed: int
) -> Iterator[tuple[Run, dict[str, float], np.random.Generator]]:
    for run in runs:
        rng = run.generator(seed)
        yield run, measure_run(run, rng), rng


def _claim(out: Path, settings: str) -> None:
    """Make the sample's folder with its settings file, unless other things are in it."""
    mark = out / "wattlas.toml"
    is_ours = mark.is_file() and mark.read_text() == settings
    if out.exists() and not is_ours and any(out.iterdir()):
        raise DataError(f"not empty, and not a sample of this size: {out}")
    out.mkdir(parents=True, exist_ok=True)
    mark.write_text(settings, newline="\n")
