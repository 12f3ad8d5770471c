"""The rows behind each view, and text on how each view was computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.kit.lake_view import LakeView
from app.models.controls import ENERGY, LOWEST_DVFS, energy_model, values_in
from app.models.curves import (
    CURVE_POINTS,
    PANELS,
    rates_kpps,
    simulation,
    solved,
)
from app.models.presets import (
    DETECT_SHARES,
    MULTIPLES,
    PUBLISHED_COSTS,
    shown_stars,
    table_1,
)
from app.models.routes import finished
from app.models.runs import (
    fits_of,
    model_points,
    model_runs,
    plane,
    predicted,
)
from app.models.state import ModelsState
from data.analysis.model_runs import SWEPT, panel_values
from data.models import SCHEMES
from data.models.simulation.bursts import check_frame_sizes, link_kpps, on_periods

_SCHEMA: Final[dict[str, Any]] = {
    "curve": pl.String, "kind": pl.String, "rate_kpps": pl.Float64, "value": pl.Float64,
    "half_width": pl.Float64, "sd": pl.Float64, "n": pl.UInt32, "predicted": pl.Float64,
    **dict.fromkeys(SWEPT, pl.Float64),
}  # fmt: skip
_DVFS_POINTS: Final = 56


def view_rows(view: LakeView, state: ModelsState, name: str) -> pl.DataFrame:
    """Return the rows behind a view, with simulations that this process has finished."""
    if name in PANELS:
        return _panel(view, state, name)
    return _ROWS[name](view, state)


def _panel(view: LakeView, state: ModelsState, name: str) -> pl.DataFrame:
    """Return curves, simulated points, published points and runs of one panel."""
    column = PANELS[name]
    is_p99 = name == "latency" and state.latency == "p99"
    rates = rates_kpps(state, CURVE_POINTS)
    # Formulas and exact solutions give only means.
    solutions = () if is_p99 else solved(state, rates)
    parts = [
        pl.DataFrame(
            {"curve": curve.label, "kind": answer.kind, "rate_kpps": rates,
             "value": getattr(answer, column)}
        )
        for curve, answer in solutions
    ]  # fmt: skip
    column = "latency_p99_us" if is_p99 else column
    for result in finished(simulation(state)):
        parts.append(
            pl.DataFrame(
                {"curve": result["label"], "kind": "simulated",
                 "rate_kpps": result["rates_kpps"], "value": result[column],
                 "half_width": result[f"{column}_half_width"]}
            )
        )  # fmt: skip
    parts.append(_published(state, name))
    if state.has_runs:
        parts.append(_measured(view, state, name))
    # Rows of one kind lack some columns; the empty table has all.
    found = pl.concat([pl.DataFrame(schema=_SCHEMA), *parts], how="diagonal_relaxed")
    return found.with_columns(pl.col("value").fill_nan(None)).select(*_SCHEMA)


def _published(state: ModelsState, name: str) -> pl.DataFrame:
    """Return the published points, if the costs are those of the published host."""
    values, theirs = state.control_values(), ModelsState().control_values()
    traffic = values["traffic"]
    is_theirs = all(values[key] == theirs[key] for key in PUBLISHED_COSTS)
    is_theirs &= not (name == "latency" and state.latency == "p99")
    rows = [
        {"curve": star["words"], "kind": "published", "rate_kpps": star["x"], "value": star["y"],
         "half_width": (star["high"] - star["low"]) / 2 if "high" in star else None}
        for star in shown_stars(state.figure, traffic, state.most_kpps)
        if star["panel"] == name and is_theirs
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={key: _SCHEMA[key] for key in tuple(_SCHEMA)[:5]})


def _measured(view: LakeView, state: ModelsState, name: str) -> pl.DataFrame:
    """Return a panel's values of runs, with the model's predictions; the lake has no losses."""
    rows = model_points(view, state)
    if name == "loss" or not len(rows):
        return pl.DataFrame(schema=_SCHEMA)
    costs = state.control_values()
    return panel_values(predicted(view, state, rows), costs, name, state.latency).select(
        curve="group", kind=pl.lit("measured"), rate_kpps="lam_kpps", value="value", sd="sd", n="n",
        predicted="predicted", **{name: pl.col(name).cast(pl.Float64) for name in SWEPT},
    )  # fmt: skip


def energy_rows(state: ModelsState) -> pl.DataFrame:
    """Return the curves of energy and latency: all small multiples, all detection shares."""
    values = values_in(state.energy, ENERGY)
    chosen: dict[str, Any] = MULTIPLES[state.multiples]
    dvfs = np.linspace(LOWEST_DVFS, 1, _DVFS_POINTS)
    parts = []
    for alpha in chosen["alphas"] or [values["alpha"]]:
        for beta in chosen["betas"] or [values["beta"]]:
            for detect in DETECT_SHARES if chosen["alphas"] else [values["detect_share"]]:
                own = {**values, "alpha": alpha, "beta": beta, "detect_share": detect}
                model = energy_model(own)
                curve = model.curve(dvfs)
                parts.append(
                    pl.DataFrame(
                        {"alpha": alpha, "beta": beta, "detect_share": detect, "dvfs": dvfs,
                         "latency_share": curve.latency_us, "power_w": curve.power_w,
                         "is_saturated": curve.is_saturated,
                         "best_dvfs": model.best_dvfs(LOWEST_DVFS)}
                    ).with_columns(pl.col(pl.Float64).fill_nan(None))
                )  # fmt: skip
    return pl.concat(parts)


def _crosshair(state: ModelsState) -> pl.DataFrame:
    """Return what each curve's solutions say at the crosshair.

    Simulations are at the crosshair's rate where these are done, else at the nearest rate.
    """
    rows = [
        {
            "curve": curve.label, "kind": answer.kind, "rate_kpps": state.at_kpps,
            **{name: float(getattr(answer, name)[0]) for name in _AT if hasattr(answer, name)},
        }
        for curve, answer in solved(state, np.array([state.at_kpps]))
    ]  # fmt: skip
    nearest = {one["label"]: one for one in finished(simulation(state))}
    nearest |= {one["label"]: one for one in finished(simulation(state, "at"))}
    for label, result in nearest.items():
        rates = np.array(result["rates_kpps"])
        at = int(np.abs(rates - state.at_kpps).argmin())
        values = {name: result[name][at] for name in (*_AT, *_HALF_WIDTHS)}
        rows.append({"curve": label, "kind": "simulated", "rate_kpps": rates[at], **values})
    schema = {"curve": pl.String, "kind": pl.String}
    columns = ("rate_kpps", *_AT, *_HALF_WIDTHS)
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(columns, pl.Float64))


_AT: Final = (
    "interrupt_share", "protocol_share", "cpu_left", "latency_mean_us", "latency_p99_us",
    "loss_share",
)  # fmt: skip
_HALF_WIDTHS: Final = (
    "cpu_left_half_width", "latency_mean_us_half_width", "latency_p99_us_half_width",
    "loss_share_half_width",
)  # fmt: skip
# Time that the picture of sources shows.
SOURCES_US: Final = 200.0


def _sources(state: ModelsState) -> pl.DataFrame:
    """Return when each source sends, at the load of the crosshair."""
    load = min(state.at_kpps / link_kpps(state.frame_sizes()), 1.0)
    columns = {"source": pl.Int64, "from_us": pl.Float64, "to_us": pl.Float64}
    return pl.DataFrame(on_periods(load, SOURCES_US, state.seed), columns, orient="row")


def _sizes(state: ModelsState) -> pl.DataFrame:
    """Return the share of each frame size, and of those up to it."""
    sizes = check_frame_sizes(state.frame_sizes())
    return (
        pl.DataFrame(sizes, {"size_bytes": pl.Float64, "share": pl.Float64})
        .sort("size_bytes")
        .with_columns(cumulated=pl.col("share").cum_sum())
    )


def _table_1(state: ModelsState) -> pl.DataFrame:
    """Return table 1, with the same loads simulated here where that is done."""
    rows = pl.DataFrame(table_1())
    found = finished(simulation(replace(state, figure="table1")))
    names = ("latency_mean_us", "latency_mean_us_half_width")
    here = [found[0][name] if found else [None] * len(rows) for name in names]
    return rows.with_columns(
        simulated_ms=pl.Series(here[0], dtype=pl.Float64) / 1e3,
        simulated_half_width_ms=pl.Series(here[1], dtype=pl.Float64) / 1e3,
    )


def _best(state: ModelsState) -> pl.DataFrame:
    """Return latency and CPU left of each compared curve, and whether it meets the limit.

    Of a curve the exact solution is used, else the simulation, else the paper's formula; the ideal
    scheme is left out. The 99th percentile and bursty traffic have only simulations.
    """
    column = "latency_p99_us" if state.latency == "p99" else "latency_mean_us"
    simulated = {result["label"]: result for result in finished(simulation(state))}
    by_label: dict[str, pl.DataFrame] = {}
    rates = rates_kpps(state, CURVE_POINTS)
    for label, result in simulated.items():
        names = ("rates_kpps", column, "cpu_left", "cpu_left_half_width")
        by_label[label] = pl.DataFrame([result[name] for name in names], schema=_BEST)
    for curve, answer in () if state.latency == "p99" else solved(state, rates):
        if answer.kind == "exact" or curve.label not in by_label:
            half = np.full(len(rates), np.nan)
            columns = [rates, answer.latency_mean_us, answer.cpu_left, half]
            by_label[curve.label] = pl.DataFrame(columns, schema=_BEST).with_columns(
                pl.all().fill_nan(None), kind=pl.lit(answer.kind)
            )
    ideal = SCHEMES["ideal"].title
    parts = [
        rows.with_columns(
            curve=pl.lit(label),
            kind=rows["kind"] if "kind" in rows.columns else pl.lit("simulated"),
            is_within_limit=pl.col("latency_us") <= state.limit_us,
        ).select("curve", "kind", *_BEST, "is_within_limit")
        for label, rows in by_label.items()
        if label != ideal
    ]
    schema = {"curve": pl.String, "kind": pl.String, **_BEST, "is_within_limit": pl.Boolean}
    return pl.concat([pl.DataFrame(schema=schema), *parts])


_BEST: Final = {
    "rate_kpps": pl.Float64, "latency_us": pl.Float64, "cpu_left": pl.Float64,
    "cpu_left_half_width": pl.Float64,
}  # fmt: skip


def _itr(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return interrupts a second of a queue, measured and by the throttle formula."""
    rows = predicted(view, state, model_points(view, state))
    drawn = panel_values(rows, state.control_values(), "itr", state.latency)
    columns = cs.starts_with("latency"), "interrupts_predicted_per_s", "value", "sd"
    return drawn.drop(*columns).rename({"predicted": "predicted_per_s"})


# Views that are no panels to the functions that return their rows.
_ROWS: Final[dict[str, Callable[[LakeView, ModelsState], pl.DataFrame]]] = {
    "energy": lambda _, state: energy_rows(state),
    "stack": lambda _, state: _crosshair(state),
    "crosshair": lambda _, state: _crosshair(state),
    "sources": lambda _, state: _sources(state),
    "sizes": lambda _, state: _sizes(state),
    "table1": lambda _, state: _table_1(state),
    "plane": plane,
    "best": lambda _, state: _best(state),
    "itr": _itr,
    "runs": model_runs,
    "fits": lambda view, state: fits_of(view, state).table,
    "predicted": lambda view, state: fits_of(view, state).predicted,
    "residuals": lambda view, state: fits_of(view, state).predicted,
}
