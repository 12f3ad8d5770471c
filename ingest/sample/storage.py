"""Write the storage sweep of a sample: fio documents, counters, and the power meter's exports."""

import gzip
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

from ingest.sample.storage_counters import interrupts_texts, perf_text
from ingest.sample.storage_fio import fio_text
from ingest.sample.storage_functions import functions_text
from ingest.sample.storage_meter import meter_text
from ingest.sample.storage_parameters import BASE_BYTES, DEVICES
from ingest.sample.storage_plan import STORAGE_SIZES, StorageRun, storage_runs, sweep_span

FOLDER: Final = "storage"
_BARE: Final = "bare-system"
_BARE_START: Final = "2022-03-14T13:00:00+00:00"
_BARE_S: Final = 600.0
_BARE_AHEAD_S: Final = 26.2
_GAP_DEVICE: Final = "flash-b"
_GAP_S: Final = 40.0
# Replicates with VTune's functions, at 4 KB on the low-latency device: a test needs two or more.
_PROFILED: Final = 3
_SETTINGS: Final = r"""[dataset]
name = "synthetic-{size}-storage"
synthetic = true

[power]
clock_offset_s = -26.7
meter_pattern = '((?P<device>[^/]+)/meter|bare-system)\.csv'
"""


def count_storage_runs(size: str) -> int:
    """How many storage runs a sample of this size has."""
    sweep = STORAGE_SIZES[size]
    return sum(
        sweep.replicates
        * 2
        * len(grid.request_bytes)
        * len(grid.threads)
        * len(DEVICES[name].modes)
        for name, grid in sweep.grids.items()
    )


def write_storage(out: Path, size: str, seed: int, on_run: Callable[[], None]) -> None:
    """Write the sweep into `out/storage`; the same size and seed give the same bytes.

    The first replicate's documents are plain, the others' packed.

    Args:
        out: The sample's folder.
        size: As `STORAGE_SIZES` has it.
        on_run: Called after each run.
    """
    folder = out / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / "wattlas.toml").write_text(_SETTINGS.format(size=size), newline="\n")
    sweep = STORAGE_SIZES[size]
    for device in sorted(sweep.grids):
        runs = list(storage_runs(device, sweep, seed))
        for run in runs:
            _write_run(folder / run.folder, run)
            on_run()
        text = meter_text(
            f"{device} (synthetic)",
            device,
            runs,
            sweep_span(runs),
            DEVICES[device].meter_ahead_s,
            _gap(runs) if device == _GAP_DEVICE else None,
            _generator(seed, device),
        )
        (folder / device / "meter.csv").write_text(text, encoding="utf-8", newline="\r\n")
    start_s = datetime.fromisoformat(_BARE_START).timestamp()
    span, rng = (start_s, start_s + _BARE_S), _generator(seed, _BARE)
    text = meter_text(f"{_BARE} (synthetic)", None, [], span, _BARE_AHEAD_S, None, rng)
    (folder / f"{_BARE}.csv").write_text(text, encoding="utf-8", newline="\r\n")


def _generator(seed: int, name: str) -> np.random.Generator:
    word = int.from_bytes(name.encode(), "little") % 2**63
    return np.random.default_rng(np.random.SeedSequence([seed, word]))


def _gap(runs: list[StorageRun]) -> tuple[float, float]:
    """Return begin and end of the gap in the meter's log: it is in the middle of a run."""
    middle_s = runs[len(runs) // 2].measured_s + 1.0
    return middle_s, middle_s + _GAP_S


def _write_run(folder: Path, run: StorageRun) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "fio.json", fio_text(run), is_packed=run.replicate > 0)
    setting = run.setting
    if run.is_watched and setting.device != "disk":
        for name, text in zip(("before", "after"), interrupts_texts(run), strict=True):
            _write(folder / f"interrupts.{name}", text, is_packed=True)
        (folder / "perf.csv").write_text(perf_text(run), newline="\n")
    is_profiled = setting.device == "optane" and setting.request_bytes == BASE_BYTES
    if is_profiled and run.replicate < _PROFILED:
        (folder / "vtune.csv").write_text(functions_text(run), newline="\n")


def _write(path: Path, text: str, is_packed: bool) -> None:
    if is_packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, newline="\n")
