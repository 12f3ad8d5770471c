"""Write the storage sweep of a sample: fio documents, counters, and the power meter's exports."""

import gzip
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from ingest.sample.parameters import BASE_BYTES, METER_AHEAD_S
from ingest.sample.storage_files import fio_text, functions_text, interrupts_texts, perf_text
from ingest.sample.storage_meter import BARE, meter_text
from ingest.sample.storage_model import REST_S, STORAGE_SIZES, StorageRun, storage_runs

FOLDER: Final = "storage"
_BARE_START: Final = "2022-03-14T13:00:00+00:00"
_BARE_S: Final = 600.0
_GAP_DEVICE: Final = "flash-b"
_GAP_S: Final = 40.0
# Replicates with VTune's functions, at 4 KB on the low-latency device: a test needs two or more.
_PROFILED: Final = 3
_SETTINGS: Final = r"""[dataset]
name = "synthetic-{size}-storage"
synthetic = true

[power]
clock_offset_s = {offset_s}
meter_pattern = '((?P<device>[^/]+)/meter|bare-system)\.csv'
"""


def count_storage_runs(size: str) -> int:
    """Return how many storage runs a sample of this size has."""
    sweep = STORAGE_SIZES[size]
    return sum(len(sweep.configurations(d)) * grid[2] for d, grid in sweep.grids.items())


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
    # A reading is the mean of the second that ends with it.
    settings = _SETTINGS.format(size=size, offset_s=-METER_AHEAD_S - 0.5)
    (folder / "wattlas.toml").write_text(settings, newline="\n")
    meters: dict[str | None, str] = {}
    for device in sorted(STORAGE_SIZES[size].grids):
        runs = list(storage_runs(device, STORAGE_SIZES[size], seed))
        for run in runs:
            _write_run(folder / run.folder, run)
            on_run()
        # The meter logs through the first rest, the runs, and one rest more.
        span_s = runs[0].start_s - REST_S[0], runs[-1].end_s + REST_S[0]
        gap_s = runs[len(runs) // 2].measured_s + 1.0  # in the middle of a run
        gap = (gap_s, gap_s + _GAP_S) if device == _GAP_DEVICE else None
        meters[device] = meter_text(device, runs, span_s, gap, seed)
    start_s = datetime.fromisoformat(_BARE_START).timestamp()
    meters[None] = meter_text(None, [], (start_s, start_s + _BARE_S), None, seed)
    for owner, text in meters.items():
        name = f"{owner}/meter.csv" if owner else f"{BARE}.csv"
        (folder / name).write_text(text, encoding="utf-8", newline="\r\n")


def _write_run(folder: Path, run: StorageRun) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "fio.json", fio_text(run), is_packed=run.replicate > 0)
    setting = run.setting
    if run.is_watched:
        for name, text in zip(("before", "after"), interrupts_texts(run), strict=True):
            _write(folder / f"interrupts.{name}", text, is_packed=True)
    if run.is_watched and setting.device != "disk":
        (folder / "perf.csv").write_text(perf_text(run), newline="\n")
    is_profiled = setting.device == "optane" and setting.request_bytes == BASE_BYTES
    if is_profiled and run.replicate < _PROFILED:
        (folder / "vtune.csv").write_text(functions_text(run), newline="\n")


def _write(path: Path, text: str, is_packed: bool) -> None:
    if is_packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, newline="\n")
