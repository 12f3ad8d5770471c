"""The runs of the lake that the page shows: the query, units of a queue, points."""

from typing import Final

import numpy as np
import polars as pl

from app.kit.clause import read_clause
from app.kit.handover import configurations
from app.kit.lakes import LakeView
from app.models.state import ModelsState
from data.models.fits.cells import FitRuns
from data.queries.models import model_runs_query
from data.selection import Selection

MOST_RUNS: Final = 20_000
NO_RUNS: Final = (
    "No run that the filters leave has what the models need: a duration with reference cycles or "
    "interrupts. Explore can show all runs."
)
GROUP: Final = ("dataset", "workload", "system")
_POINT: Final = (*GROUP, "load_qps", "itr_us", "dvfs_ghz", "rapl_w")


def model_runs(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return the runs of the filters and the selection, with the units of a queue.

    Returns:
        Columns of `model_runs_query`, and of one queue (core): `cores`, `lam_kpps` (receive
        descriptors), `busy_share`, `interrupts_per_s`.
    """
    if not view.runs:
        return view.lake.polars(*model_runs_query(Selection(), 1)).clear()
    rows = view.lake.polars(*model_runs_query(state.selection, MOST_RUNS))
    clause = read_clause(state.sel)
    if clause and len(rows):
        found = configurations(view, state.selection, clause)
        rows = rows.join(found, on=found.columns, how="semi", nulls_equal=True)
    cores = pl.col("core_count").fill_null(state.cores).cast(pl.Float64)
    tsc_hz = pl.col("tsc_hz").fill_null(state.tsc_ghz * 1e9)
    return rows.with_columns(cores=cores).with_columns(
        requests=pl.coalesce(
            pl.col("requests").cast(pl.Float64), pl.col("throughput_qps") * pl.col("duration_s")
        ),
        busy_s=pl.col("ref_cycles") / tsc_hz,
        lam_kpps=pl.col("rx_desc") / pl.col("duration_s") / cores / 1e3,
        busy_share=pl.col("ref_cycles") / tsc_hz / pl.col("duration_s") / cores,
        interrupts_per_s=pl.col("interrupts") / pl.col("duration_s") / cores,
    )


def points(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row a configuration: means over its replicates, and n."""
    names = (
        "lam_kpps", "busy_share", "interrupts_per_s", "latency_mean_us", "latency_p50_us",
        "latency_p99_us",
    )  # fmt: skip
    return (
        rows.group_by(_POINT)
        .agg(*[pl.col(name).mean() for name in names], n=pl.len())
        .filter(pl.col("lam_kpps").is_not_null())
        .sort(_POINT, nulls_last=True)
    )


def fit_runs(rows: pl.DataFrame) -> FitRuns:
    """Return rows of `model_runs` as runs of a fit; they share their number of cores."""

    def column(name: str) -> np.ndarray:
        found: np.ndarray = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return found

    names = (
        "itr_us", "dvfs_ghz", "load_qps", "duration_s", "busy_s", "requests", "instructions",
        "energy_j", "interrupts", "rx_desc",
    )  # fmt: skip
    columns = {name: column(name) for name in names}
    columns["load_qps"] = np.nan_to_num(columns["load_qps"])
    return FitRuns(**columns, cores=int(np.median(column("cores"))))
