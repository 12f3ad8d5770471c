"""Rows of `runs` straight from the model, with no raw logs: a big lake for the benchmarks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from data.schema import RUNS
from ingest.sample.measure import measure
from ingest.sample.model import Settings
from ingest.sample.parameters import (
    OPEN_LOOP,
    PARAMETERS,
    SYSTEMS,
    WORKLOADS,
    System,
    Workload,
)

DATASET = "synthetic-bench"
PERFORMANCE_METRIC: dict[Workload, str] = {
    "memcached": "latency_p99_us",
    "memcached-silo": "latency_p99_us",
    "netpipe": "duration_s",
    "nodejs": "duration_s",
}
# Share of the rows, loads (or message sizes), and the amount of `ingest.sample.measure`.
_SHARE: dict[Workload, float] = {
    "memcached": 0.4,
    "memcached-silo": 0.15,
    "netpipe": 0.25,
    "nodejs": 0.2,
}
LOADS: dict[Workload, tuple[float, ...]] = {
    "memcached": (200_000.0, 400_000.0, 600_000.0),
    "memcached-silo": (50_000.0, 100_000.0, 200_000.0),
    "netpipe": (64.0, 8192.0, 65_536.0, 524_288.0),
    "nodejs": (float("nan"),),
}
_AMOUNT: dict[Workload, float] = {
    "memcached": 20.0,
    "memcached-silo": 20.0,
    "netpipe": 5000.0,
    "nodejs": 100_000.0,
}
_DVFS_GHZ = tuple(round(0.1 * r, 1) for r in range(12, 30))
_ITR_US = (*range(2, 12, 2), 12, 16, 20, 24, 28, 30, 36, 40, 50, 60, 80, *range(100, 401, 50))
_RAPL_W = (135.0, 95.0, 75.0, 55.0)
_DEFAULT_REPLICATES = 10
_LONGEST_ITR_US = {"netpipe": 40, "nodejs": 80}


@dataclass(frozen=True, slots=True)
class _Grid:
    """One workload under one system: the settings of its rows, and which replicate each is."""

    workload: Workload
    system: System
    settings: Settings
    replicate: np.ndarray


def sample_runs(n_runs: int, seed: int) -> pa.Table:
    """Make the rows of `runs` that a large synthetic sweep would give.

    Args:
        n_runs: How many rows, at least 0.
        seed: The same seed and number give the same table.
    Returns:
        A table of schema `data.schema.RUNS`: all workloads and systems, each over its grid of
        DVFS, ITR, RAPL and load, with as many replicates as it takes. Nested columns are empty.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, n_runs]))
    frames = [_frame(grid, rng) for grid in _grids(n_runs)]
    if not frames:
        return RUNS.empty_table()
    return _as_runs(pl.concat(frames, how="diagonal"))


def _grids(n_runs: int) -> Iterator[_Grid]:
    """Divide the rows among workloads and systems; the last grid takes what rounding left."""
    left = n_runs
    for workload in WORKLOADS:
        quota = left if workload == WORKLOADS[-1] else round(n_runs * _SHARE[workload])
        left -= quota
        default = min(quota // 50, _DEFAULT_REPLICATES * len(LOADS[workload]))
        for system in SYSTEMS:
            wanted = {
                "linux_default": default,
                "linux_tuned": (quota - default) // 2,
                "ebbrt_tuned": quota - default - (quota - default) // 2,
            }[system]
            if wanted:
                yield _grid(workload, system, wanted)


def _grid(workload: Workload, system: System, rows: int) -> _Grid:
    """Lay out a grid of exactly so many rows: whole replicates first, then evenly spread ones."""
    is_default = system == "linux_default"
    longest = _LONGEST_ITR_US.get(workload, 1000)
    itr = [np.nan] if is_default else [float(i) for i in _ITR_US if i <= longest]
    dvfs = [np.nan] if is_default else list(_DVFS_GHZ)
    rapl = [135.0] if is_default else list(_RAPL_W)
    axes = np.meshgrid(LOADS[workload], rapl, dvfs, itr, indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    whole, rest = divmod(rows, len(points))
    spread = np.linspace(0, len(points) - 1, rest).round().astype(int) if rest else np.arange(0)
    chosen = np.concatenate([*[np.arange(len(points))] * whole, spread])
    load, rapl_w, dvfs_ghz, itr_us = points[chosen].T
    replicate = np.concatenate([np.repeat(np.arange(whole), len(points)), np.full(rest, whole)])
    return _Grid(workload, system, Settings(itr_us, dvfs_ghz, rapl_w, load), replicate)


def _frame(grid: _Grid, rng: np.random.Generator) -> pl.DataFrame:
    """Measure one grid and name its rows."""
    settings, workload = grid.settings, grid.workload
    measured = measure(workload, grid.system, settings, _AMOUNT[workload], rng)
    if workload == "netpipe":
        measured["bandwidth_bytes_s"] = (
            2 * settings.load * _AMOUNT[workload] / measured["duration_s"]
        )
    load_name = {"netpipe": "message_bytes"}.get(workload, "load_qps")
    frame = pl.DataFrame(
        {
            **measured,
            "replicate": grid.replicate,
            "itr_us": settings.itr_us,
            "dvfs_ghz": settings.dvfs_ghz,
            "rapl_w": settings.rapl_w,
            load_name: settings.load,
        }
    ).with_columns(
        pl.col("itr_us", "dvfs_ghz", load_name).fill_nan(None),
        workload=pl.lit(workload),
        system=pl.lit(grid.system),
        system_label=pl.lit(PARAMETERS[grid.system].label),
        loop=pl.lit("open" if workload in OPEN_LOOP else "closed"),
        performance_metric=pl.lit(PERFORMANCE_METRIC[workload]),
        is_baseline=pl.lit(grid.system == "linux_default"),
    )
    return frame.with_columns(load=pl.col(load_name).cast(pl.Float64))


def _as_runs(frame: pl.DataFrame) -> pa.Table:
    """Add what is the same for every row, the names that follow from knobs, and empty columns."""
    code = (pl.col("dvfs_ghz") * 10).round().cast(pl.Int64)
    digits = pl.Series("hex", [format(r, "x") for r in range(256)])
    frame = frame.with_columns(
        dataset=pl.lit(DATASET),
        source=pl.lit("model"),
        is_synthetic=pl.lit(True),
        itr_policy=pl.when(pl.col("itr_us").is_null())
        .then(pl.lit("adaptive"))
        .otherwise(pl.lit("static")),
        dvfs_policy=pl.when(code.is_null()).then(pl.lit("governor")).otherwise(pl.lit("static")),
        dvfs_code=pl.when(code.is_null())
        .then(pl.lit("0xffff"))
        .otherwise(
            pl.format("0x{}00", code.replace_strict(list(range(256)), digits, default=None))
        ),
    ).with_columns(
        run_id=pl.format(
            "{}-{}-load{}-itr{}-{}-{}w-r{}",
            "workload",
            "system",
            pl.col("load").cast(pl.Int64).fill_null(0),
            pl.col("itr_us").cast(pl.Int64).cast(pl.String).fill_null("adaptive"),
            "dvfs_code",
            pl.col("rapl_w").cast(pl.Int64),
            "replicate",
        )
    )
    table = frame.to_arrow()
    flags = pa.array([["synthetic"]], RUNS.field("flags").type)
    columns: list[pa.Array | pa.ChunkedArray] = []
    for name in RUNS.names:
        kind = RUNS.field(name).type
        if name == "flags":
            columns.append(flags.take(pa.array(np.zeros(len(frame), dtype=np.int64))))
        elif pa.types.is_list(kind):
            offsets = pa.array(np.zeros(len(frame) + 1, dtype=np.int32))
            columns.append(pa.ListArray.from_arrays(offsets, pa.array([], kind.value_type)))
        elif name in frame.columns:
            columns.append(table[name].cast(kind))
        else:
            columns.append(pa.nulls(len(frame), kind))
    return pa.table(columns, schema=RUNS)
