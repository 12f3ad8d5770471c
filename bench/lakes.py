"""Large lakes with rows of models, in the layout of `ingest add`: network runs, storage runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from bench.network_runs import sample_runs
from data.schema import FUNCTIONS, RUNS
from ingest.lake.commits import FLUSH_RUNS
from ingest.lake.tables import compact, create_tables

SEED: Final = 1
MODES: Final = ("interrupt", "poll", "hybrid")
ACCESSES: Final = ("randread", "randwrite")
# The least latency of each device, microseconds.
DEVICES: Final = {"flash-a": 80.0, "flash-b": 110.0, "optane": 8.0}
_SUBSYSTEMS: Final = ("block", "nvme", "scheduler", "user", "time", "entry", None)
_FUNCTIONS_A_RUN: Final = 140
_SPREAD: Final = 0.02
# Of one table. A lake of millions of runs would otherwise have tens of thousands of commits.
_MOST_COMMITS: Final = 50


def write_network_lake(lake: Path, n_runs: int) -> Path:
    """Write a lake of the sample's network model; return it."""
    return _write(lake, sample_runs(n_runs, SEED))


def write_storage_lake(
    lake: Path,
    sizes: int,
    depths: int,
    replicates: int,
    devices: Sequence[str] = tuple(DEVICES),
    accesses: Sequence[str] = ACCESSES,
) -> Path:
    """Write a lake of storage runs in random order; return it.

    Each device, mode and access has runs at each size and depth. Runs of the first size have
    kernel functions. Each device has one idle run in each replicate.
    """
    counts = (len(devices), len(MODES), len(accesses), sizes, depths, replicates)
    device, mode, access, size, depth, replicate = (
        axis.ravel() for axis in np.meshgrid(*map(np.arange, counts), indexing="ij")
    )
    n = len(mode)
    rng = np.random.default_rng(SEED)
    noise = rng.normal(1.0, _SPREAD, (3, n))
    bytes_each = 4096 * (size + 1)
    # Interrupts cost time, polling costs a processor for each thread.
    least_us = np.array([DEVICES[name] for name in devices])
    base_us = least_us[device] + np.array([2.0, 0.0, 0.4])[mode]
    latency_us = (base_us + bytes_each / 2500) * noise[0]
    iops = 1e6 * (depth + 1.0) / latency_us * noise[1]
    cpu = np.array([30.0, 100.0, 60.0])[mode] * (depth + 1)
    power_w = (32 + 0.05 * cpu + 2.0 * access + iops * 1e-5) * noise[2]
    known = {
        "run_id": [f"bench-{i}" for i in range(n)], "workload": ["fio"] * n,
        "device": np.array(devices)[device], "mode": np.array(MODES)[mode],
        "rw": np.array(accesses)[access], "replicate": replicate,
        "performance_metric": ["latency_mean_us"] * n, "request_bytes": bytes_each.astype(np.int64),
        "io_depth": depth + 1, "threads": depth + 1, "duration_s": np.full(n, 10.0),
        "power_w": power_w, "energy_j": power_w * 10.0, "latency_mean_us": latency_us,
        "latency_p99_us": latency_us * 2, "iops": iops, "bandwidth_bytes_s": iops * bytes_each,
        "requests": (iops * 10).astype(np.int64),
        "context_switches": np.where(mode == 1, 0, iops * 10).astype(np.int64),
        "interrupts": np.where(mode == 0, iops * 10, 0).astype(np.int64),
        "cpu_user_pct": cpu * 0.1, "cpu_sys_pct": cpu * 0.9,
        "files": _write_functions(lake, np.flatnonzero(size == 0), n),
    }  # fmt: skip
    idle = [None, *devices] * replicates
    watts = np.resize([29.0, *np.linspace(31.0, 34.0, len(devices))], len(idle))
    still = {
        "run_id": [f"idle-{i}" for i in range(len(idle))], "workload": ["idle"] * len(idle),
        "device": idle, "performance_metric": ["duration_s"] * len(idle),
        "duration_s": np.full(len(idle), 60.0), "power_w": watts, "energy_j": watts * 60,
    }  # fmt: skip
    rows = _table(known, n).take(rng.permutation(n))
    return _write(lake, [rows, _table(still, len(idle))])


def _table(known: dict[str, Any], count: int) -> pa.Table:
    known |= {
        "dataset": ["bench"] * count, "source": ["sample"] * count, "loop": ["closed"] * count,
        "system": ["linux"] * count, "system_label": ["Linux"] * count,
        "is_baseline": np.zeros(count, dtype=bool), "is_synthetic": np.ones(count, dtype=bool),
    }  # fmt: skip
    columns = [
        pa.array(known[field.name], field.type)
        if field.name in known
        else pa.nulls(count, field.type)
        for field in RUNS
    ]
    return pa.table(columns, schema=RUNS)


def _write(lake: Path, tables: Iterable[pa.Table]) -> Path:
    """Write tables of runs in many commits, as ingest does, then compact the lake."""
    create_tables(lake)
    for rows in tables:
        commit_rows = max(FLUSH_RUNS, rows.num_rows // _MOST_COMMITS)
        for start in range(0, rows.num_rows, commit_rows):
            write_deltalake(str(lake / "runs"), rows.slice(start, commit_rows), mode="append")
    compact(create_tables(lake).values())
    return lake


def _write_functions(lake: Path, numbers: np.ndarray, count: int) -> list[list[dict] | None]:
    """Write the file of functions of the runs of some numbers; return `files` of all runs."""
    moved = np.random.default_rng(SEED).lognormal(15, 2, (2, _FUNCTIONS_A_RUN))
    names = [f"function_{i}" for i in range(_FUNCTIONS_A_RUN)]
    subsystems = [_SUBSYSTEMS[i % len(_SUBSYSTEMS)] for i in range(_FUNCTIONS_A_RUN)]
    (lake / "functions" / "bench").mkdir(parents=True)
    files: list[list[dict] | None] = [None] * count
    for number in numbers:
        run_id, path = f"bench-{number}", f"functions/bench/bench-{number}.parquet"
        columns = [
            [run_id] * len(names), names, [None] * len(names), subsystems, moved[0], moved[1]
        ]  # fmt: skip
        arrays = [pa.array(c, f.type) for c, f in zip(columns, FUNCTIONS, strict=True)]
        pq.write_table(pa.table(arrays, schema=FUNCTIONS), lake / path)
        size = (lake / path).stat().st_size
        files[number] = [
            {"table": "functions", "path": path, "size_bytes": size, "rows": len(names)}
        ]
    return files
