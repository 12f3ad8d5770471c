"""The models fitted to runs by group and load: alpha, powers, events of a packet, host costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from data.analysis.model_runs import fit_runs
from data.errors import DataError
from data.models.fits.busy_time import AlphaFit, fit_alpha
from data.models.fits.cells import Estimate
from data.models.fits.host import DetectionFit, HostFit, fit_detection, fit_host
from data.models.fits.power import NAMES, SYMBOLS, PowerFit, fit_power

_FITTED: Final[dict[str, Any]] = {
    "load_qps": pl.Float64, "dvfs_ghz": pl.Float64, "quantity": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "unit": pl.String, "identified": pl.Boolean,
    "condition": pl.Float64, "runs": pl.Int64, "configurations": pl.Int64, "error": pl.Float64,
    "note": pl.String,
}  # fmt: skip
_PREDICTED: Final[dict[str, Any]] = {
    "fit": pl.String, "load_qps": pl.Float64, "itr_us": pl.Float64, "dvfs_ghz": pl.Float64,
    "rapl_w": pl.Float64, "busy_share": pl.Float64, "measured": pl.Float64,
    "predicted": pl.Float64, "unit": pl.String, "residual": pl.Float64,
}  # fmt: skip
_POWER_UNITS: Final = {"beta": "", "sleep_w": "W", "static_w": "W", "dynamic_w": "W"}

# Returns rows of the table of fitted numbers, given what these share and a fit.
_Take = Callable[[dict[str, Any], Any], Iterator[dict[str, Any]]]
# Group to the fit of its interrupts, or to the error that says why there is none.
Detections = Mapping[str, DetectionFit | DataError]


@dataclass(frozen=True, slots=True)
class Fits:
    """The fits of some runs.

    Attributes:
        table: One row per fitted number: `group`, the knobs of a group and the columns of _FITTED.
        predicted: One row per configuration and fit: `group`, the knobs of a group and the columns
            of _PREDICTED. `fit` is `power`, `busy_time`, `interrupts` or `host`.
        hosts: `interrupt_us` (1/r) and `service_us` (1/mu, of a packet) of each group, `group`, at
            its highest frequency.
        notes: Why fits are missing, one sentence each.
    """

    table: pl.DataFrame
    predicted: pl.DataFrame
    hosts: list[dict[str, Any]]
    notes: tuple[str, ...]


def detections(rows: pl.DataFrame) -> Detections:
    """Fit the interrupts of each group of runs, which share `group`."""
    fits: dict[str, DetectionFit | DataError] = {}
    for group in rows.partition_by("group", maintain_order=True) if len(rows) else []:
        try:
            fits[str(group["group"][0])] = fit_detection(fit_runs(group))
        except DataError as error:
            fits[str(group["group"][0])] = error
    return fits


def fit_groups(rows: pl.DataFrame, knobs: Sequence[str], interrupts: Detections) -> Fits:
    """Fit all models to each group of runs.

    Args:
        rows: Answer of `with_queue_units`, with `group`.
        knobs: Columns of the knobs that name a group.
        interrupts: Answer of `detections` for the same rows.
    """
    groups = [
        _Group(rows, interrupts)
        for rows in (rows.partition_by("group", maintain_order=True) if len(rows) else ())
    ]
    named = rows.select("group", *knobs).unique(maintain_order=True)

    def with_knobs(rows: pl.DataFrame) -> pl.DataFrame:
        wide = rows.join(named, on="group", how="left", maintain_order="left")
        return wide.select("group", *knobs, *rows.columns[1:])

    fitted = [row for group in groups for row in group.rows]
    nothing = pl.DataFrame(schema={"group": pl.String, **_PREDICTED})
    return Fits(
        with_knobs(pl.DataFrame(fitted, schema={"group": pl.String, **_FITTED})),
        with_knobs(pl.concat([nothing, *(one for group in groups for one in group.predicted)])),
        [host for group in groups for host in group.hosts],
        tuple(dict.fromkeys(note for group in groups for note in group.notes)),
    )


class _Group:
    """The fits of one group: each load, then all loads together."""

    def __init__(self, rows: pl.DataFrame, interrupts: Detections) -> None:
        self.group = str(rows["group"][0])
        self.rows: list[dict[str, Any]] = []
        self.predicted: list[pl.DataFrame] = []
        self.hosts: list[dict[str, Any]] = []
        self.notes: list[str] = []
        runs = fit_runs(rows)
        loads = np.unique(runs.load_qps).tolist()
        self._loads = len(loads)
        for fit, take in ((fit_alpha, self._alpha), (fit_power, self._power)):
            for load in loads:
                self._attempt(load, partial(fit, runs.where(runs.load_qps == load)), take)
        if len(loads) > 1:
            self._attempt(None, partial(fit_power, runs), self._power)
        self._attempt(None, partial(_of, interrupts[self.group]), self._detection)
        fixed = runs.dvfs_ghz[np.isfinite(runs.dvfs_ghz)]
        if len(fixed):
            fastest = runs.where(runs.dvfs_ghz == fixed.max())
            for per in ("requests", "rx_desc"):
                self._attempt(None, partial(fit_host, fastest, per), self._host)

    def _attempt(self, load: float | None, fit: Callable[[], Any], take: _Take) -> None:
        try:
            fitted = fit()
        except DataError as error:
            at = f" at {load / 1e3:g}k QPS" if load else ""
            self.notes.append(f"{self.group}{at}: {error}.")
            return
        base = {
            "group": self.group, "load_qps": load or None, "dvfs_ghz": None, "runs": fitted.runs,
            "configurations": len(fitted.keys), "condition": getattr(fitted, "condition", None),
        }  # fmt: skip
        self.rows += list(take(base, fitted))

    def _alpha(self, base: dict[str, Any], fit: AlphaFit) -> Iterator[dict[str, Any]]:
        error = _median_error(fit.measured_us, fit.predicted_us)
        yield _row(base, "alpha", fit.alpha, "", error)
        yield _row(base, "alpha by instruction", fit.alpha_per_instruction, "", None)
        self._predict("busy_time", fit.keys, fit.measured_us, fit.predicted_us, "us")

    def _power(self, base: dict[str, Any], fit: PowerFit) -> Iterator[dict[str, Any]]:
        error = _median_error(fit.measured_w, fit.predicted_w)
        for name in NAMES:
            estimate = fit.estimates[name]
            rows = [r for r in self.rows if r["quantity"] == SYMBOLS[name] and r["low"] is not None]
            are_disjoint = rows and max(r["low"] for r in rows) > min(r["high"] for r in rows)
            if base["load_qps"] is None and not estimate.note and are_disjoint:
                note = "the loads disagree: one power law does not hold for all"
                estimate = replace(estimate, note=note)
            yield _row(base, SYMBOLS[name], estimate, _POWER_UNITS[name], error)
        for load, left_out in fit.left_out_error.items():
            estimate = Estimate(left_out, note="power of this load by a fit to the other loads")
            yield _row({**base, "load_qps": load}, "error when left out", estimate, "", left_out)
        if base["load_qps"] is None or self._loads == 1:
            powers = fit.measured_w, fit.predicted_w
            self._predict("power", fit.keys, *powers, "W", fit.busy_share)

    def _detection(self, base: dict[str, Any], fit: DetectionFit) -> Iterator[dict[str, Any]]:
        yield _row(base, "k, events a packet", fit.events_per_packet, "", fit.median_error)
        self._predict("interrupts", fit.keys, fit.measured_per_s, fit.predicted_per_s, "1/s")

    def _host(self, base: dict[str, Any], fit: HostFit) -> Iterator[dict[str, Any]]:
        is_packet = fit.per == "rx_desc"
        service = "1/mu, a packet" if is_packet else "1/mu, a request"
        error = _median_error(fit.measured_share, fit.predicted_share)
        base = {**base, "dvfs_ghz": float(fit.keys[0, 2])}
        yield _row(base, "1/r", replace(fit.interrupt_us, note=f"with {service}"), "us", error)
        yield _row(base, service, fit.request_us, "us", error)
        if not is_packet:
            return
        # The sliders use costs per packet.
        shares = fit.measured_share, fit.predicted_share
        self._predict("host", fit.keys, *shares, "", fit.measured_share)
        if fit.interrupt_us.is_identified:
            costs = {"interrupt_us": fit.interrupt_us.value, "service_us": fit.request_us.value}
            self.hosts.append({"group": self.group, **costs})

    def _predict(
        self,
        fit: str,
        keys: np.ndarray,
        measured: np.ndarray,
        predicted: np.ndarray,
        unit: str,
        busy_share: np.ndarray | None = None,
    ) -> None:
        count = len(keys)
        columns = {
            "group": [self.group] * count,
            "fit": [fit] * count,
            "load_qps": keys[:, 0],
            "itr_us": keys[:, 1],
            "dvfs_ghz": keys[:, 2],
            "rapl_w": [limit or None for limit in keys[:, 3]],
            "busy_share": [None] * count if busy_share is None else busy_share,
            "measured": measured,
            "predicted": predicted,
            "unit": [unit] * count,
            "residual": measured / predicted - 1,
        }
        self.predicted.append(pl.DataFrame(columns, schema={"group": pl.String, **_PREDICTED}))


def _of(fit: DetectionFit | DataError) -> DetectionFit:
    if isinstance(fit, DataError):
        raise fit
    return fit


def _median_error(measured: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.median(np.abs(predicted / measured - 1)))


def _row(
    base: dict[str, Any], quantity: str, estimate: Estimate, unit: str, error: float | None
) -> dict[str, Any]:
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        **base,
        **{name: value if np.isfinite(value) else None for name, value in numbers.items()},
        "quantity": quantity,
        "unit": unit,
        "identified": estimate.is_identified,
        "error": error,
        "note": estimate.note,
    }
