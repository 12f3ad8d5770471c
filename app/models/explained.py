"""How the numbers of Models were computed, in words and as queries of an artifact."""

from typing import Final

from app.kit.lake_view import LakeView
from app.kit.page import Recomputed
from app.kit.words import explanation
from app.models.controls import ENERGY, values_in
from app.models.curves import PANELS, REPLICATIONS, curves
from app.models.presets import (
    FIGURES,
    published_tables,
)
from app.models.runs import (
    MOST_RUNS,
    group_columns,
    model_runs,
)
from app.models.state import ModelsState
from data.analysis.model_runs import MEANS, MOST_BUSY, SERVING_CORES, SWEPT
from data.queries.models import (
    cumulated_sizes_query,
    energy_curves_query,
    model_runs_query,
    queue_means_query,
    queue_units_query,
)
from data.queries.recomputed import selected
from data.queries.statement import literal, statement

# A panel's quantity of runs: its value and the deviation, in SQL over `queue_means_query`.
_PANEL_SQL: Final = {
    "throughput": ("lam_kpps", "lam_kpps_sd"), "cpu": ("1 - busy_share", "busy_share_sd"),
    "latency": ("latency_us", "latency_us_sd"),
}  # fmt: skip


_OF_UNITS: Final = (
    "cores", "requests", "busy_s", "lam_kpps", "busy_share", "interrupts_per_s", "power_w",
    "matching", "duration_s", "energy_j", "throughput_qps", "instructions", "ref_cycles",
    "interrupts", "rx_desc", "latency_mean_us", "latency_p50_us", "latency_p99_us",
)  # fmt: skip


def recomputed(view: LakeView, state: ModelsState, name: str) -> list[Recomputed]:
    """Return how the numbers of runs and of curves are computed again; fits are the models' own."""
    found = [*_curves_again(state, name), _of_model(state, name), _of_runs(view, state, name)]
    return [one for one in found if one is not None]


_AT: Final = ("interrupt_share", "protocol_share", "cpu_left", "latency_mean_us", "loss_share")
# Columns of the tables of curves, and the values of verify.py.
_OF_CURVES: Final[dict[str, dict[str, str]]] = {
    **{panel: {"value": column} for panel, column in PANELS.items()},
    **{name: dict(zip(_AT, _AT, strict=True)) for name in ("stack", "crosshair")},
    "best": {"latency_us": "latency_mean_us", "cpu_left": "cpu_left"},
}


def _curves_again(state: ModelsState, name: str) -> list[Recomputed]:
    if name not in _OF_CURVES or (name in PANELS and state.latency == "p99"):
        return []
    own = {c.label: c.values | {"scheme": c.scheme.name} for c in curves(state)}
    # The chain of coalescing by count is in `data/models` alone.
    chains = [c.label for c in curves(state) if c.scheme.name == "count_coalescing"]
    skipped = "kind NOT IN ('paper', 'exact')"
    for label in chains:
        skipped += f" OR (kind = 'exact' AND curve = {literal(label)})"
    columns = _OF_CURVES[name]
    again = {"how": "curves", "curves": own, "columns": list(columns.values())}
    values, scales = tuple(columns), dict.fromkeys(columns, 1.0)
    return [Recomputed("", ("curve", "kind", "rate_kpps"), values, skipped, again, {}, scales)]


def _of_model(state: ModelsState, name: str) -> Recomputed | None:
    if name == "sizes":
        return Recomputed(cumulated_sizes_query(), ("size_bytes",), ("cumulated",))
    if name != "energy":
        return None
    keys = ("alpha", "beta", "detect_share", "dvfs")
    query = energy_curves_query(values_in(state.energy, ENERGY), keys)
    return Recomputed(query, keys, ("latency_share", "power_w"))


def _of_runs(view: LakeView, state: ModelsState, name: str) -> Recomputed | None:
    rows = model_runs(view, state)
    if state.sel or not len(rows):
        return None
    query = model_runs_query(state.selection, MOST_RUNS, catalogue=view.catalogue)
    units = queue_units_query(
        statement(*query), state.cores, state.tsc_ghz, SERVING_CORES, MOST_BUSY
    )
    if name == "runs":
        return Recomputed(units, ("run_id",), _OF_UNITS)
    own = group_columns(view.catalogue)
    groups = rows.select("group", *own).unique(maintain_order=True).to_dicts()
    means = queue_means_query(units, groups, SWEPT, MEANS)
    values: tuple[str, ...] = ("latency_us", "latency_us_sd", "power_w", "power_w_sd", "n")
    if name == "plane":
        return Recomputed(means, ("group", *SWEPT), values)
    if name == "itr":
        values = ("lam_kpps", "busy_share", "interrupts_per_s", "power_w")
        values = (*values, *(f"{value}_sd" for value in values), "n")
        return Recomputed(means, ("group", *own, *SWEPT), values)
    if name not in _PANEL_SQL or not state.has_runs:
        return None
    value, sd = _PANEL_SQL[name]
    if name == "latency" and state.latency == "p99":
        value, sd = "latency_p99_us", "latency_p99_us_sd"
    listed = f"{value} AS value, {sd} AS sd, lam_kpps AS rate_kpps, n, {', '.join(SWEPT)}"
    query_of_panel = selected(f'"group" AS curve, {listed}', means)
    return Recomputed(
        query_of_panel, ("curve", *SWEPT), ("rate_kpps", "value", "sd", "n"), "kind <> 'measured'"
    )


def explain(view: LakeView, state: ModelsState, name: str) -> str:
    """Return how a view was computed: formulas, parameters, sources, the query of the runs."""
    query = model_runs_query(state.selection, MOST_RUNS, catalogue=view.catalogue)
    selected = [f"of these the runs of the selection {state.sel}"] if state.sel else []
    if name == "runs":
        return explanation(view, state.selection, query, (), [*selected, *_RUN_STEPS])
    if name in ("energy", "plane", "predicted", "residuals", "fits"):
        steps = {"energy": _ENERGY_STEPS, "plane": _PLANE_STEPS}.get(name, _FIT_STEPS)
        before = [f"parameters: {values_in(state.energy, ENERGY)}"] if name == "energy" else []
        return explanation(view, state.selection, query, before, [*selected, *steps])
    before = [
        f"{curve.label}: {curve.scheme.sentence} "
        + " ".join(f"{kind}: {words}" for kind, words in curve.scheme.formulas.items())
        + f" Parameters: {curve.values}."
        for curve in curves(state)
    ]
    before.append(
        f"simulated: {REPLICATIONS} replications with seed {state.seed}, until the mean latency's "
        "95 % interval is within 10 % or a rate has had its number of events."
    )
    if state.figure:
        before.append(f"preset: {FIGURES[state.figure]['title']}")
        if chosen := FIGURES[state.figure].get("chosen"):
            before.append(f"chosen by us, as the study does not print it: {chosen}")
    tables = published_tables().values()
    before.append(f"published: {'; '.join(t.source for t in tables)}")
    return explanation(view, state.selection, query, before, [*selected, *_RUN_STEPS])


_RUN_STEPS: Final = (
    f"of more than {MOST_RUNS:,} runs, one in turn of each workload, load, system, further knob, "
    "of each configuration one replicate first",
    "of each run, by queue (core): load = rx_desc / duration / cores; CPU left = 1 - ref_cycles / "
    "tsc_hz / duration / cores; interrupts / duration / cores; means over the replicates",
    "interrupts by formula: 1/(T' + e^(-k l T')/(k l)), T' = 1.024 ITR, k fitted; latency: c0 + "
    "1/mu + mean wait for the interrupt, c0 the median of the rest",
    "the lake holds no losses and no polls",
)


_ENERGY_STEPS: Final = (
    "nothing of the answer is drawn: time = work / D^(1+alpha), power of work = P_s + P_d "
    "D^(2+beta), energy = P_detect t_detect + P_work t_work + P_q t_q, over the time between two "
    "requests",
)


_PLANE_STEPS: Final = (
    "points: means over the replicates of a configuration, mean power = energy / duration",
    "lines: power by the fit over all loads, P_q + u (P_s + P_d D^(2+beta)); latency = constant of "
    "a group and load (client, wire, queues) + mean wait for the interrupt + time awake of a "
    "request by its fit, A N_i / D^(1+alpha)",
)


_FIT_STEPS: Final = (
    "alpha: Theil and Sen on log busy time of a request against log frequency, within each ITR",
    "powers and beta: mean power = P_q + u (P_s + P_d D^(2+beta)), soft L1 of relative residuals",
    "1/r and 1/mu: busy share of a core against interrupts and requests, robust, no intercept",
    "intervals: 95 % percentiles over 200 resamples of configurations (load, ITR, DVFS, RAPL)",
)
