"""A lake of storage configurations of several devices, for the benchmark of Storage."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from bench.lakes import with_declared
from data.schema import FUNCTIONS, RUNS
from ingest.lake.commits import FLUSH_RUNS
from ingest.lake.tables import compact, create_tables

MODES = ("interrupt", "poll", "hybrid")
ACCESSES = ("randread", "randwrite")
DEVICES = ("flash-a", "flash-b", "optane")
SUBSYSTEMS = ("block", "nvme", "scheduler", "user", "time", "entry", None)
FUNCTIONS_A_RUN = 140
SEED = 5
_SPREAD = 0.02


def write_storage_lake(
    lake: Path, sizes: int, depths: int, replicates: int, is_declared: bool = False
) -> Path:
    """Write the lake: replicates of each mode, access and device at each size and depth.

    Runs of the first size have kernel functions. Each device has one idle run in each replicate.

    Args:
        is_declared: Whether to add the columns of `lakes.DECLARED`.
    """
    create_tables(lake)
    rows = _runs(lake, sizes, depths, replicates)
    if is_declared:
        rows = with_declared(lake, rows, ("mode", "device", "rw", "request_bytes", "io_depth"))
    for start in range(0, rows.num_rows, FLUSH_RUNS):
        write_deltalake(str(lake / "runs"), rows.slice(start, FLUSH_RUNS), mode="append")
    compact(lake)
    return lake


def _runs(lake: Path, sizes: int, depths: int, replicates: int) -> pa.Table:
    """Make rows with the measurements that Storage draws; polling uses one processor per thread."""
    counts = (len(DEVICES), len(MODES), len(ACCESSES), sizes, depths, replicates)
    device, mode, access, size, depth, replicate = (
        axis.ravel() for axis in np.meshgrid(*map(np.arange, counts), indexing="ij")
    )
    rng = np.random.default_rng(SEED)
    noise = rng.normal(1.0, _SPREAD, (3, len(mode)))
    bytes_each = 4096 * (size + 1)
    base_us = np.array([80.0, 110.0, 8.0])[device] + np.array([2.0, 0.0, 0.4])[mode]
    latency_us = (base_us + bytes_each / 2500) * noise[0]
    iops = 1e6 * (depth + 1.0) / latency_us * noise[1]
    cpu = np.array([30.0, 100.0, 60.0])[mode] * (depth + 1)
    power_w = (32 + 0.05 * cpu + 2.0 * access + iops * 1e-5) * noise[2]
    interrupts = np.where(mode == 0, iops * 10, 0).astype(np.int64)
    known = {
        "run_id": [f"bench-{i}" for i in range(len(mode))],
        "workload": ["fio"] * len(mode),
        "device": np.array(DEVICES)[device], "mode": np.array(MODES)[mode],
        "rw": np.array(ACCESSES)[access], "replicate": replicate,
        "performance_metric": ["latency_mean_us"] * len(mode),
        "request_bytes": bytes_each.astype(np.int64), "io_depth": depth + 1, "threads": depth + 1,
        "duration_s": np.full(len(mode), 10.0), "power_w": power_w, "energy_j": power_w * 10.0,
        "latency_mean_us": latency_us, "latency_p99_us": latency_us * 2, "iops": iops,
        "bandwidth_bytes_s": iops * bytes_each, "requests": (iops * 10).astype(np.int64),
        "context_switches": np.where(mode == 1, 0, iops * 10).astype(np.int64),
        "interrupts": interrupts, "cpu_user_pct": cpu * 0.1, "cpu_sys_pct": cpu * 0.9,
        "files": _function_files(lake, np.flatnonzero(size == 0), len(mode)),
    }  # fmt: skip
    runs = _table(known, len(mode))
    order = np.random.default_rng(SEED).permutation(len(mode))
    return pa.concat_tables([runs.take(order), _idle_runs(replicates)])


def _idle_runs(replicates: int) -> pa.Table:
    devices = [None, *DEVICES] * replicates
    watts = np.array([29.0, 31.0, 31.0, 34.0] * replicates)
    known = {
        "run_id": [f"idle-{i}" for i in range(len(devices))], "workload": ["idle"] * len(devices),
        "device": devices, "performance_metric": ["duration_s"] * len(devices),
        "duration_s": np.full(len(devices), 60.0), "power_w": watts, "energy_j": watts * 60,
    }  # fmt: skip
    return _table(known, len(devices))


def _table(known: dict, count: int) -> pa.Table:
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


def _function_files(lake: Path, counted: np.ndarray, count: int) -> list[list[dict] | None]:
    """Write the file of functions for the runs that have them, with the same numbers for all."""
    rng = np.random.default_rng(SEED)
    names = [f"function_{i}" for i in range(FUNCTIONS_A_RUN)]
    places = [SUBSYSTEMS[i % len(SUBSYSTEMS)] for i in range(FUNCTIONS_A_RUN)]
    moved = rng.lognormal(15, 2, (2, FUNCTIONS_A_RUN))
    (lake / "functions" / "bench").mkdir(parents=True)
    files: list[list[dict] | None] = [None] * count
    for number in counted:
        run_id, path = f"bench-{number}", f"functions/bench/bench-{number}.parquet"
        columns = [
            [run_id] * FUNCTIONS_A_RUN, names, [None] * FUNCTIONS_A_RUN, places, moved[0], moved[1],
        ]  # fmt: skip
        arrays = [pa.array(c, f.type) for c, f in zip(columns, FUNCTIONS, strict=True)]
        pq.write_table(pa.table(arrays, schema=FUNCTIONS), lake / path)
        size = (lake / path).stat().st_size
        files[number] = [
            {"table": "functions", "path": path, "size_bytes": size, "rows": FUNCTIONS_A_RUN}
        ]
    return files
