"""The runs that the page shows: their query, units of a queue, points."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.clause import read_clause
from app.kit.columns import floats
from app.kit.lakes import LakeView
from app.kit.links import configurations
from app.models.groups import GROUP, with_groups
from app.models.state import ModelsState
from data.models.fits.cells import FitRuns
from data.models.schemes.itr_throttle import US_PER_ITR_US
from data.queries.models import model_runs_query
from data.selection import Selection

MOST_RUNS: Final = 20_000
# Workloads with one connection use one core.
_SERVING_CORES: Final = {"netpipe": 1, "nodejs": 1}
# Maximum busy share of a core; above 1 because clocks may differ.
_MOST_BUSY: Final = 1.02
NO_RUNS: Final = (
    "No run that the filters leave has what the models need: a duration with reference cycles or "
    "interrupts. Explore can show all runs."
)
_SWEPT: Final = ("load_qps", "itr_us", "dvfs_ghz", "rapl_w")
_MEANS: Final = (
    "lam_kpps", "busy_share", "interrupts_per_s", "latency_mean_us", "latency_p50_us",
    "latency_p99_us",
)  # fmt: skip


def model_runs(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return the runs of the filters and the selection, with the units of a queue.

    Returns:
        At most MOST_RUNS rows: the columns of `model_runs_query`, `group` (see `with_groups`), and
        for one queue (core): `cores`, `lam_kpps` (receive descriptors), `busy_share`,
        `interrupts_per_s`. `impossible` marks runs with more reference cycles than their cores can
        count; their `busy_s` and `busy_share` are NULL.
    """
    return view.once(_model_runs, of_runs(state), is_large=True)


def of_runs(state: ModelsState) -> ModelsState:
    """Return the parts of a state that choose runs and their units."""
    return ModelsState(state.selection, cores=state.cores, tsc_ghz=state.tsc_ghz, sel=state.sel)


def _model_runs(view: LakeView, state: ModelsState) -> pl.DataFrame:
    query = model_runs_query(state.selection if view.runs else Selection(), MOST_RUNS)
    rows = view.lake.polars(*query)
    clause = read_clause(state.sel)
    if clause and len(rows):
        found = configurations(view, state.selection, clause)
        rows = rows.join(found, on=found.columns, how="semi", nulls_equal=True)
    served = (
        pl.col("workload")
        .cast(pl.String)
        .replace_strict(_SERVING_CORES, default=state.cores, return_dtype=pl.Int64)
    )
    cores = pl.coalesce("core_count", served).cast(pl.Float64)
    tsc_hz = pl.col("tsc_hz").fill_null(state.tsc_ghz * 1e9)
    rows = rows.with_columns(cores=cores).with_columns(
        requests=pl.coalesce(
            pl.col("requests").cast(pl.Float64), pl.col("throughput_qps") * pl.col("duration_s")
        ),
        busy_s=pl.col("ref_cycles") / tsc_hz,
        lam_kpps=pl.col("rx_desc") / pl.col("duration_s") / cores / 1e3,
        busy_share=pl.col("ref_cycles") / tsc_hz / pl.col("duration_s") / cores,
        interrupts_per_s=pl.col("interrupts") / pl.col("duration_s") / cores,
    )
    # A published table has counters that no number of cores explains.
    is_possible = pl.col("busy_share") <= _MOST_BUSY
    rows = rows.with_columns(
        impossible=~is_possible.fill_null(True),
        busy_s=pl.when(is_possible).then("busy_s"),
        busy_share=pl.when(is_possible).then("busy_share"),
    )
    labels = rows.select("system", "system_label").drop_nulls().unique()
    return with_groups(rows, {str(system): str(label) for system, label in labels.iter_rows()})


def points(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per configuration: means over its replicates, standard deviations, and n.

    Returns:
        `group`, the columns of GROUP, load, ITR, DVFS and power limit, each of _MEANS with
        `<name>_sd` (NULL for one run), and `n`.
    """
    return (
        rows.group_by("group", *GROUP, *_SWEPT)
        .agg(
            *[pl.col(name).mean() for name in _MEANS],
            *[pl.col(name).std().alias(f"{name}_sd") for name in _MEANS],
            n=pl.len(),
        )
        .filter(pl.col("lam_kpps").is_not_null())
        .sort("group", *_SWEPT, nulls_last=True)
    )


def panel_values(
    rows: pl.DataFrame,
    events_per_packet: Mapping[str, float],
    values: Mapping[str, Any],
    name: str,
    latency: str,
) -> pl.DataFrame:
    """Add a panel's quantity of runs: `value`, `sd`, and the model's `predicted`.

    Interrupts: 1/(T' + e^(-k l T')/(k l)) with T' = 1.024 ITR. CPU left: 1 - interrupts/r -
    packets/mu. Latency: c0 + 1/mu + the mean wait k l T'^2 / (2 (k l T' + e^(-k l T'))), for p99
    T'; c0, for client and wire, is the median of the rest by group. NULL without a fixed ITR above
    1 us.

    Args:
        rows: Rows of `points`.
        events_per_packet: k by group; 1 where it could not be fitted.
        values: Values of the controls.
        name: `throughput` (Kpps), `cpu` (a share), `latency` (us), or `itr` (interrupts a second).
        latency: `mean` (of runs without a mean: the median), or `p99`.
    """
    k = pl.col("group").replace_strict(
        dict(events_per_packet), default=1.0, return_dtype=pl.Float64
    )
    rate = pl.col("lam_kpps") * 1e-3 * k
    delay = US_PER_ITR_US * pl.col("itr_us")
    gap = rate * delay + (-rate * delay).exp()
    is_tuned = (pl.col("itr_us") > 1) & (rate > 0)
    formula_per_s = pl.when(is_tuned).then(rate / gap * 1e6)
    if name == "latency":
        is_mean = latency == "mean"
        # The longest wait is the delay; the 99th percentile is near it.
        wait = pl.when(is_tuned).then(rate * delay.pow(2) / 2 / gap if is_mean else delay)
        column = "latency_mean_us" if is_mean else "latency_p99_us"
        value, sd = pl.col(column), pl.col(f"{column}_sd")
        if is_mean:
            sd = pl.when(value.is_null()).then(pl.col("latency_p50_us_sd")).otherwise(sd)
            value = pl.coalesce(value, "latency_p50_us")
        rest = value - wait - values["service_us"]
        # The upper of the two middle values, as in the browser.
        constant = rest.quantile(0.5, "higher").over("group")
        predicted = constant + values["service_us"] + wait
    elif name == "cpu":
        value, sd = 1 - pl.col("busy_share"), pl.col("busy_share_sd")
        spent = formula_per_s * 1e-6 * values["interrupt_us"]
        predicted = 1 - spent - pl.col("lam_kpps") * 1e-3 * values["service_us"]
    elif name == "itr":
        value, sd = pl.col("interrupts_per_s"), pl.col("interrupts_per_s_sd")
        predicted = formula_per_s
    else:
        value, sd = pl.col("lam_kpps"), pl.col("lam_kpps_sd")
        predicted = pl.lit(None, pl.Float64)
    found = rows.with_columns(value=value, sd=sd).filter(pl.col("value").is_not_null())
    return found.with_columns(predicted=predicted)


def fit_runs(rows: pl.DataFrame) -> FitRuns:
    """Return rows of `model_runs` as runs of a fit; they share their number of cores."""
    names = (
        "itr_us", "dvfs_ghz", "load_qps", "duration_s", "busy_s", "requests", "instructions",
        "energy_j", "interrupts", "rx_desc", "rapl_w",
    )  # fmt: skip
    columns = {name: floats(rows[name]) for name in names}
    # Runs without a load are left out if others have one; else they are one group.
    if np.isfinite(columns["load_qps"]).any():
        has_load = np.isfinite(columns["load_qps"])
        columns = {name: values[has_load] for name, values in columns.items()}
    columns["load_qps"] = np.nan_to_num(columns["load_qps"])
    return FitRuns(**columns, cores=int(np.median(floats(rows["cores"]))))
