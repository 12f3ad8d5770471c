"""Runs in the units of one queue (core), their means, and what the models of interrupts predict."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from data.models.fits.cells import FitRuns
from data.models.schemes.itr_throttle import US_PER_ITR_US

# Workloads with one connection use one core.
SERVING_CORES: Final = {"netpipe": 1, "nodejs": 1}
# Maximum busy share of a core; above 1 because clocks may differ.
MOST_BUSY: Final = 1.02
SWEPT: Final = ("load_qps", "itr_us", "dvfs_ghz", "rapl_w")
MEANS: Final = (
    "lam_kpps", "busy_share", "interrupts_per_s", "latency_mean_us", "latency_p50_us",
    "latency_p99_us", "power_w",
)  # fmt: skip
_FIT_COLUMNS: Final = (
    "itr_us", "dvfs_ghz", "load_qps", "duration_s", "busy_s", "requests", "instructions",
    "energy_j", "interrupts", "rx_desc", "rapl_w",
)  # fmt: skip


def with_queue_units(rows: pl.DataFrame, cores: int, tsc_ghz: float) -> pl.DataFrame:
    """Add the units of one queue to runs.

    Args:
        rows: Answer of `model_runs_query`.
        cores: Number of cores that served a run without logs.
        tsc_ghz: Rate of the TSC of such a run.

    Returns:
        The same rows with `cores`, `requests`, `busy_s`, `lam_kpps` (receive descriptors),
        `busy_share`, `interrupts_per_s` and `power_w`. `impossible` marks runs with more reference
        cycles than their cores can count; their `busy_s` and `busy_share` are NULL.
    """
    workload = pl.col("workload").cast(pl.String)
    served = workload.replace_strict(SERVING_CORES, default=cores, return_dtype=pl.Int64)
    each = pl.coalesce("core_count", served).cast(pl.Float64)
    answered = pl.col("throughput_qps") * pl.col("duration_s")
    busy_s = pl.col("ref_cycles") / pl.col("tsc_hz").fill_null(tsc_ghz * 1e9)
    rows = rows.with_columns(
        cores=each,
        requests=pl.coalesce(pl.col("requests").cast(pl.Float64), answered),
        busy_s=busy_s,
        power_w=pl.col("energy_j") / pl.col("duration_s"),
        lam_kpps=pl.col("rx_desc") / pl.col("duration_s") / each / 1e3,
        busy_share=busy_s / pl.col("duration_s") / each,
        interrupts_per_s=pl.col("interrupts") / pl.col("duration_s") / each,
    )
    # A published table has counters that no number of cores explains.
    is_possible = pl.col("busy_share") <= MOST_BUSY
    return rows.with_columns(
        impossible=~is_possible.fill_null(True),
        busy_s=pl.when(is_possible).then("busy_s"),
        busy_share=pl.when(is_possible).then("busy_share"),
    )


def points(rows: pl.DataFrame, knobs: Sequence[str]) -> pl.DataFrame:
    """Return one row per configuration: means over its replicates, standard deviations, and n.

    Args:
        rows: Answer of `with_queue_units`, with `group`.
        knobs: Columns of the knobs that name a group.

    Returns:
        `group`, the knobs, load, ITR, DVFS and power limit, each of MEANS with `<name>_sd` (NULL
        for one run), and `n`; configurations without receive descriptors are left out.
    """
    return (
        rows.group_by("group", *knobs, *SWEPT)
        .agg(
            *[pl.col(name).mean() for name in MEANS],
            *[pl.col(name).std().alias(f"{name}_sd") for name in MEANS],
            n=pl.len(),
        )
        .filter(pl.col("lam_kpps").is_not_null())
        .sort("group", *SWEPT, nulls_last=True)
    )


def with_predictions(rows: pl.DataFrame, events_per_packet: Mapping[str, float]) -> pl.DataFrame:
    """Add what the throttle formula predicts, which no cost of the host changes.

    With T' = 1.024 ITR, interrupts are 1/(T' + e^(-k l T')/(k l)), and the mean wait for one is
    k l T'^2 / (2 (k l T' + e^(-k l T'))). Latency is a constant of the group plus the wait: the
    constant, for client, wire and service, is the median of the rest. The 99th percentile waits
    T', the longest wait.

    Args:
        rows: Rows of `points`.
        events_per_packet: k by group; 1 where it could not be fitted.

    Returns:
        The same rows with `interrupts_predicted_per_s`; `wait_us`, the mean wait; `latency_us` and
        `latency_us_sd` (the mean, of runs without it the median); `latency_predicted_us` and
        `latency_p99_predicted_us`. A prediction is NULL without a fixed ITR above 1 us.
    """
    k = pl.col("group").replace_strict(
        dict(events_per_packet), default=1.0, return_dtype=pl.Float64
    )
    rate = pl.col("lam_kpps") * 1e-3 * k
    delay = US_PER_ITR_US * pl.col("itr_us")
    gap = rate * delay + (-rate * delay).exp()
    is_tuned = (pl.col("itr_us") > 1) & (rate > 0)
    mean, p50_sd = pl.col("latency_mean_us"), pl.col("latency_p50_us_sd")
    rows = rows.with_columns(
        interrupts_predicted_per_s=pl.when(is_tuned).then(rate / gap * 1e6),
        latency_us=pl.coalesce(mean, "latency_p50_us"),
        latency_us_sd=pl.when(mean.is_null()).then(p50_sd).otherwise("latency_mean_us_sd"),
    )

    rows = rows.with_columns(wait_us=pl.when(is_tuned).then(rate * delay.pow(2) / 2 / gap))

    def latency(column: str, wait: pl.Expr) -> pl.Expr:
        # The upper of the two middle values.
        return (pl.col(column) - wait).quantile(0.5, "higher").over("group") + wait

    return rows.with_columns(
        latency_predicted_us=latency("latency_us", pl.col("wait_us")),
        latency_p99_predicted_us=latency("latency_p99_us", pl.when(is_tuned).then(delay)),
    )


def panel_values(
    rows: pl.DataFrame, costs: Mapping[str, Any], name: str, latency: str
) -> pl.DataFrame:
    """Add a panel's quantity of runs: `value`, `sd` and the model's `predicted`.

    CPU left is predicted as 1 - interrupts/r - packets/mu.

    Args:
        rows: Answer of `with_predictions`.
        costs: `interrupt_us` (1/r) and `service_us` (1/mu).
        name: `throughput` (Kpps), `cpu` (a share), `latency` (us), or `itr` (interrupts a second).
        latency: `mean` or `p99`.
    """
    per_s = pl.col("interrupts_predicted_per_s")
    if name == "latency":
        column = "latency" if latency == "mean" else "latency_p99"
        value, sd = pl.col(f"{column}_us"), pl.col(f"{column}_us_sd")
        predicted = pl.col(f"{column}_predicted_us")
    elif name == "cpu":
        value, sd = 1 - pl.col("busy_share"), pl.col("busy_share_sd")
        spent = per_s * 1e-6 * costs["interrupt_us"]
        predicted = 1 - spent - pl.col("lam_kpps") * 1e-3 * costs["service_us"]
    elif name == "itr":
        value, sd, predicted = pl.col("interrupts_per_s"), pl.col("interrupts_per_s_sd"), per_s
    else:
        value, sd = pl.col("lam_kpps"), pl.col("lam_kpps_sd")
        predicted = pl.lit(None, pl.Float64)
    drawn = rows.with_columns(value=value, sd=sd, predicted=predicted)
    return drawn.filter(pl.col("value").is_not_null())


def energy_plane(rows: pl.DataFrame, fitted: pl.DataFrame) -> pl.DataFrame:
    """Return configurations in the plane of latency and mean power, with the fitted model.

    The model's latency is a constant of the group and load (client, wire, queues: the median of the
    rest), the mean wait for the interrupt, and the time awake of a request by its fit.

    Args:
        rows: Answer of `with_predictions`.
        fitted: `predicted` of `fit_groups`.

    Returns:
        `group`, load, ITR, DVFS, power limit, `n`, `latency_us` and `power_w` with `_sd`,
        `latency_model_us`, `power_model_w` (NULL without a fit).
    """
    keys = ["group", *SWEPT]
    drawn = rows.filter(pl.col("latency_us").is_not_null() & pl.col("power_w").is_not_null())
    for fit in ("busy_time", "power"):
        own = fitted.filter(pl.col("fit") == fit).select(*keys, predicted="predicted")
        own = own.rename({"predicted": fit}).unique(keys)
        drawn = drawn.join(own, on=keys, how="left", nulls_equal=True, maintain_order="left")
    spent = pl.col("wait_us") + pl.col("busy_time")
    constant = (pl.col("latency_us") - spent).median().over("group", "load_qps")
    return drawn.select(
        *keys, "n", "latency_us", "latency_us_sd", "power_w", "power_w_sd",
        latency_model_us=constant + spent, power_model_w="power",
    )  # fmt: skip


def fit_runs(rows: pl.DataFrame) -> FitRuns:
    """Return rows of `with_queue_units` as runs of a fit; they share their number of cores."""
    columns = {name: rows[name].cast(pl.Float64).to_numpy() for name in _FIT_COLUMNS}
    # Runs without a load are left out if others have one; else they are one group.
    has_load = np.isfinite(columns["load_qps"])
    if has_load.any():
        columns = {name: values[has_load] for name, values in columns.items()}
    columns["load_qps"] = np.nan_to_num(columns["load_qps"])
    return FitRuns(**columns, cores=int(np.median(rows["cores"].to_numpy())))
