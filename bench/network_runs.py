"""Rows of `runs` straight from the model, with no raw logs: a big lake for benchmarks."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from data.schema import RUNS
from ingest.sample.network_model import Settings, measure
from ingest.sample.parameters import OPEN_LOOP, SYSTEMS, WORKLOADS, System, Workload

DATASET: Final = "synthetic-bench"
# Share of the rows, loads (or message sizes), the amount of `measure`, and the longest delay.
_SWEEPS: Final[dict[Workload, tuple[float, tuple[float, ...], float, float]]] = {
    "memcached": (0.4, (200_000.0, 400_000.0, 600_000.0), 20.0, 400.0),
    "memcached-silo": (0.15, (50_000.0, 100_000.0, 200_000.0), 20.0, 400.0),
    "netpipe": (0.25, (64.0, 8192.0, 65_536.0, 524_288.0), 5000.0, 40.0),
    "nodejs": (0.2, (np.nan,), 100_000.0, 80.0),
}
_DVFS_GHZ: Final = tuple(round(0.1 * r, 1) for r in range(12, 30))
_ITR_US: Final = (
    2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 28.0, 30.0, 36.0, 40.0, 50.0, 60.0, 80.0,
    100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0,
)  # fmt: skip
_RAPL_W: Final = (135.0, 95.0, 75.0, 55.0)
_DEFAULT_REPLICATES: Final = 10


def sample_runs(n_runs: int, seed: int) -> Iterator[pa.Table]:
    """Make the rows of `runs` that a large synthetic sweep would give.

    Args:
        n_runs: How many rows, at least 0.
        seed: The same seed and number give the same rows.

    Yields:
        A table of schema `data.schema.RUNS` for each workload and system, over its grid of
        DVFS, ITR, RAPL and load, with as many replicates as it takes. Nested columns are empty.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, n_runs]))
    for workload, system, rows in _quotas(n_runs):
        yield _as_runs(_with_names(_frame(workload, system, rows, rng)))


def _as_runs(frame: pl.DataFrame) -> pa.Table:
    columns: list[pa.Array | pa.ChunkedArray] = []
    for field in RUNS:
        if field.name == "flags":
            columns.append(pa.repeat(pa.scalar(["synthetic"], field.type), len(frame)))
        elif field.name in frame.columns:
            columns.append(frame[field.name].to_arrow().cast(field.type))
        elif pa.types.is_list(field.type):
            columns.append(pa.repeat(pa.scalar([], field.type), len(frame)))
        else:
            columns.append(pa.nulls(len(frame), field.type))
    return pa.table(columns, schema=RUNS)


def _quotas(n_runs: int) -> Iterator[tuple[Workload, System, int]]:
    """Divide the rows among workloads and systems; the last workload takes what rounding left."""
    left = n_runs
    for workload in WORKLOADS:
        share, loads, *_ = _SWEEPS[workload]
        quota = left if workload == WORKLOADS[-1] else round(n_runs * share)
        left -= quota
        default = min(quota // 50, _DEFAULT_REPLICATES * len(loads))
        tuned = (quota - default) // 2
        rows = dict(zip(SYSTEMS, (default, tuned, quota - default - tuned), strict=True))
        yield from ((workload, system, n) for system, n in rows.items() if n)


def _frame(workload: Workload, system: System, rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Measure a grid of exactly so many rows: whole replicates first, then evenly spread ones."""
    _, loads, amount, longest_us = _SWEEPS[workload]
    is_default = system == "linux_default"
    itr = [np.nan] if is_default else [delay for delay in _ITR_US if delay <= longest_us]
    dvfs = [np.nan] if is_default else list(_DVFS_GHZ)
    rapl = [135.0] if is_default else list(_RAPL_W)
    axes = np.meshgrid(loads, rapl, dvfs, itr, indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    whole, rest = divmod(rows, len(points))
    spread = np.linspace(0, len(points) - 1, rest).round().astype(int)
    chosen = np.concatenate([np.tile(np.arange(len(points)), whole), spread])
    load, rapl_w, dvfs_ghz, itr_us = points[chosen].T
    measured = measure(workload, system, Settings(itr_us, dvfs_ghz, rapl_w, load), amount, rng)
    if workload == "netpipe":
        measured["bandwidth_bytes_s"] = 2 * load * amount / measured["duration_s"]
    is_open = workload in OPEN_LOOP
    frame = pl.DataFrame(
        {
            **measured,
            "replicate": np.arange(rows) // len(points),
            "itr_us": itr_us,
            "dvfs_ghz": dvfs_ghz,
            "rapl_w": rapl_w,
            "load": load,
        }
    )
    return frame.with_columns(
        pl.col("itr_us", "dvfs_ghz", "load").fill_nan(None),
        workload=pl.lit(workload),
        system=pl.lit(system),
        system_label=pl.lit(SYSTEMS[system]),
        loop=pl.lit("open" if is_open else "closed"),
        performance_metric=pl.lit("latency_p99_us" if is_open else "duration_s"),
        is_baseline=pl.lit(is_default),
    ).with_columns(
        pl.col("load").alias("message_bytes" if workload == "netpipe" else "load_qps"),
    )


def _with_names(frame: pl.DataFrame) -> pl.DataFrame:
    """Add what is the same for every row, and the names that follow from knobs."""
    is_fixed = pl.col("dvfs_ghz").is_not_null()
    codes = [f"{step:#x}00" for step in range(40)]
    step = (pl.col("dvfs_ghz") * 10).round().cast(pl.Int64)
    code = step.replace_strict(range(40), codes, default="0xffff", return_dtype=pl.String)
    return frame.with_columns(
        dataset=pl.lit(DATASET),
        source=pl.lit("model"),
        is_synthetic=pl.lit(True),
        itr_policy=pl.when(pl.col("itr_us").is_null())
        .then(pl.lit("adaptive"))
        .otherwise(pl.lit("static")),
        dvfs_policy=pl.when(is_fixed).then(pl.lit("static")).otherwise(pl.lit("governor")),
        dvfs_code=code,
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
