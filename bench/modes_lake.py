"""A lake of three completion modes in many cells, for the benchmark of Modes."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake

from bench.lakes import with_declared
from data.schema import RUNS
from ingest.lake.commits import FLUSH_RUNS
from ingest.lake.tables import compact, create_tables

MODES = ("interrupt", "poll", "hybrid")
SEED = 5
_SPREAD = 0.02


def write_modes_lake(
    lake: Path, sizes: int, depths: int, replicates: int, is_declared: bool = False
) -> Path:
    """Write the lake: replicates of each mode at each request size and depth, in random order.

    Args:
        is_declared: Whether to add the columns of `lakes.DECLARED`.
    """
    create_tables(lake)
    rows = modes_runs(sizes, depths, replicates)
    if is_declared:
        rows = with_declared(lake, rows, ("mode", "request_bytes", "io_depth"))
    for start in range(0, rows.num_rows, FLUSH_RUNS):
        write_deltalake(str(lake / "runs"), rows.slice(start, FLUSH_RUNS), mode="append")
    compact(lake)
    return lake


def modes_runs(sizes: int, depths: int, replicates: int) -> pa.Table:
    """Make the rows: polling costs energy at every depth, interrupts cost time at small sizes.

    Each mode wins in some cells, and a spread of 2 % makes ties between them.
    """
    axes = np.meshgrid(
        np.arange(len(MODES)), np.arange(sizes), np.arange(depths), np.arange(replicates),
        indexing="ij",
    )  # fmt: skip
    mode, size, depth, replicate = (axis.ravel() for axis in axes)
    rng = np.random.default_rng(SEED)
    noise = rng.normal(1.0, _SPREAD, (3, len(mode)))
    bytes_each = 512.0 * (size + 1)
    extra_us = np.array([2.0, 0.0, 0.4])[mode]
    latency_us = (8.0 + extra_us + bytes_each / 2500) * noise[0]
    power_w = (31 + np.array([1.0, 6.0, 3.0])[mode] + 0.1 * depth) * noise[1]
    iops = 1e6 * np.sqrt(depth + 1) / latency_us * noise[2]
    known = {
        "run_id": [f"bench-{i}" for i in range(len(mode))],
        "dataset": ["bench"] * len(mode), "source": ["sample"] * len(mode),
        "workload": ["fio"] * len(mode), "loop": ["closed"] * len(mode),
        "system": ["linux"] * len(mode), "system_label": ["Linux"] * len(mode),
        "mode": np.array(MODES)[mode], "replicate": replicate,
        "performance_metric": ["latency_mean_us"] * len(mode),
        "is_baseline": mode == 0, "is_synthetic": np.ones(len(mode), dtype=bool),
        "request_bytes": bytes_each.astype(np.int64), "io_depth": depth + 1, "threads": depth + 1,
        "rw": ["randread"] * len(mode), "device": ["optane"] * len(mode),
        "duration_s": np.full(len(mode), 60.0), "energy_j": 60 * power_w, "power_w": power_w,
        "latency_mean_us": latency_us, "iops": iops, "bandwidth_bytes_s": iops * bytes_each,
    }  # fmt: skip
    columns = [
        pa.array(known[f.name]).cast(f.type) if f.name in known else pa.nulls(len(mode), f.type)
        for f in RUNS
    ]
    return pa.Table.from_arrays(columns, schema=RUNS).take(rng.permutation(len(mode)))
