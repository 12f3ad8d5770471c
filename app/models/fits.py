"""Fits by system and load: alpha, powers, events, costs of a host."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.lakes import LakeView
from app.models.groups import GROUP
from app.models.runs import NO_RUNS, fit_runs, model_runs, of_runs
from app.models.state import ModelsState
from data.errors import DataError
from data.models.fits.busy_time import AlphaFit, fit_alpha
from data.models.fits.cells import Estimate, FitRuns
from data.models.fits.detection import DetectionFit, fit_detection
from data.models.fits.host import HostFit, fit_host
from data.models.fits.power import NAMES, SYMBOLS, PowerFit, fit_power

_FITTED: Final[dict[str, Any]] = {
    "load_qps": pl.Float64, "dvfs_ghz": pl.Float64, "quantity": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "unit": pl.String, "identified": pl.Boolean,
    "condition": pl.Float64, "runs": pl.Int64, "configurations": pl.Int64, "error": pl.Float64,
    "note": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fits:
    """The fits of some runs.

    Attributes:
        table: One row per fitted number: `group`, the columns of GROUP and of _FITTED.
        predicted: One row per configuration and fit: `group`, the columns of GROUP and of
            _PREDICTED. `fit` is one of `state.FITS`.
        hosts: 1/r and 1/mu of each group at its highest frequency, for the sliders.
        notes: Why fits are missing, one sentence each.
    """

    table: pl.DataFrame
    predicted: pl.DataFrame
    hosts: list[dict[str, Any]]
    notes: tuple[str, ...]


def _fits(view: LakeView, key: ModelsState) -> Fits:
    rows = model_runs(view, key)
    found = _Found()
    for group in rows.partition_by("group", maintain_order=True) if len(rows) else []:
        found.fit_group(group)
    if not len(rows):
        found.notes.append(NO_RUNS)
    table = pl.DataFrame(found.rows, schema={"group": pl.String, **_FITTED})
    nothing = pl.DataFrame(schema={"group": pl.String, **_PREDICTED})
    predicted = pl.concat([nothing, *found.predicted])
    named = rows.select("group", *GROUP).unique(maintain_order=True)

    def with_knobs(one: pl.DataFrame) -> pl.DataFrame:
        wide = one.join(named, on="group", how="left", maintain_order="left")
        return wide.select("group", *GROUP, *one.columns[1:])

    notes = tuple(dict.fromkeys(found.notes))
    return Fits(with_knobs(table), with_knobs(predicted), found.hosts, notes)


def fits(view: LakeView, state: ModelsState) -> Fits:
    """Fit the runs of the filters and the selection, by system and load."""
    return view.once(_fits, of_runs(state), is_large=True)


def events(view: LakeView, state: ModelsState) -> dict[str, float]:
    """Return k of the throttle formula by group; groups without tuned runs are left out."""
    return view.once(_events, of_runs(state))


def _events(view: LakeView, key: ModelsState) -> dict[str, float]:
    found = {}
    rows = model_runs(view, key)
    for group in rows.partition_by("group") if len(rows) else []:
        with suppress(DataError):
            fit = fit_detection(fit_runs(group))
            found[str(group["group"][0])] = fit.events_per_packet.value
    return found


_PREDICTED: Final[dict[str, Any]] = {
    "fit": pl.String, "load_qps": pl.Float64, "itr_us": pl.Float64, "dvfs_ghz": pl.Float64,
    "rapl_w": pl.Float64,
    "busy_share": pl.Float64, "measured": pl.Float64, "predicted": pl.Float64, "unit": pl.String,
    "residual": pl.Float64,
}  # fmt: skip
_UNITS: Final = {"beta": "", "sleep_w": "W", "static_w": "W", "dynamic_w": "W"}


class _Found:
    """Collects the results of the fits of all groups."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.predicted: list[pl.DataFrame] = []
        self.hosts: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._loads = 0

    def fit_group(self, rows: pl.DataFrame) -> None:
        """Fit the runs of one group: each load, then all loads together."""
        group = str(rows["group"][0])
        runs = fit_runs(rows)
        loads = np.unique(runs.load_qps).tolist()
        self._loads = len(loads)
        for fit in (fit_alpha, fit_power):
            for load in loads:
                self._attempt(group, load, fit, runs.where(runs.load_qps == load))
        if len(loads) > 1:
            self._attempt(group, None, fit_power, runs)
        self._attempt(group, None, fit_detection, runs)
        fixed = runs.dvfs_ghz[np.isfinite(runs.dvfs_ghz)]
        if len(fixed):
            fastest = runs.where(runs.dvfs_ghz == fixed.max())
            self._attempt(group, None, fit_host, fastest)
            self._attempt(group, None, partial(fit_host, per="rx_desc"), fastest)

    def _attempt(self, group: str, load: float | None, fit: Any, runs: FitRuns) -> None:
        try:
            found = fit(runs)
        except DataError as error:
            at = f" at {load / 1e3:g}k QPS" if load else ""
            self.notes.append(f"{group}{at}: {error}.")
            return
        base = {"group": group, "load_qps": load or None, "configurations": len(found.keys)}
        base |= {"runs": found.runs, "condition": getattr(found, "condition", None)}
        self._take(base, found)

    def _take(self, base: dict[str, Any], found: Any) -> None:
        if isinstance(found, AlphaFit):
            error = float(np.median(np.abs(found.predicted_us / found.measured_us - 1)))
            self._add(base, "alpha", found.alpha, "", error)
            self._add(base, "alpha by instruction", found.alpha_per_instruction, "", None)
            self._predict(
                base, "busy_time", found.keys, found.measured_us, found.predicted_us, "us"
            )
        elif isinstance(found, PowerFit):
            self._take_power(base, found)
        elif isinstance(found, DetectionFit):
            self._add(base, "k, events a packet", found.events_per_packet, "", found.median_error)
            measured, predicted = found.measured_per_s, found.predicted_per_s
            self._predict(base, "interrupts", found.keys, measured, predicted, "1/s")
        elif isinstance(found, HostFit):
            self._take_host(base, found)

    def _take_host(self, base: dict[str, Any], found: HostFit) -> None:
        is_packet = found.per == "rx_desc"
        service = "1/mu, a packet" if is_packet else "1/mu, a request"
        share = found.measured_share
        error = float(np.median(np.abs(found.predicted_share / share - 1)))
        base = {**base, "dvfs_ghz": float(found.keys[0, 2])}
        costs = replace(found.interrupt_us, note=f"with {service}")
        self._add(base, "1/r", costs, "us", error)
        self._add(base, service, found.request_us, "us", error)
        if not is_packet:
            return
        # The sliders use costs per packet.
        self._predict(base, "host", found.keys, share, found.predicted_share, "", share)
        if found.interrupt_us.is_identified:
            self.hosts.append(
                {
                    "group": base["group"],
                    "interrupt_us": found.interrupt_us.value,
                    "service_us": found.request_us.value,
                }
            )

    def _take_power(self, base: dict[str, Any], found: PowerFit) -> None:
        error = float(np.median(np.abs(found.predicted_w / found.measured_w - 1)))
        for name in NAMES:
            one = found.estimates[name]
            if base["load_qps"] is None and not one.note and self._disagrees(base["group"], name):
                one = replace(one, note="the loads disagree: one power law does not hold for all")
            self._add(base, SYMBOLS[name], one, _UNITS[name], error)
        for load, left_out in found.left_out_error.items():
            one = Estimate(left_out, note="power of this load by a fit to the other loads")
            self._add({**base, "load_qps": load}, "error when left out", one, "", left_out)
        if base["load_qps"] is not None and self._loads > 1:
            return
        self._predict(
            base, "power", found.keys, found.measured_w, found.predicted_w, "W", found.busy_share
        )  # fmt: skip

    def _predict(
        self,
        base: dict[str, Any],
        fit: str,
        keys: np.ndarray,
        measured: np.ndarray,
        predicted: np.ndarray,
        unit: str,
        busy_share: np.ndarray | None = None,
    ) -> None:
        count = len(keys)
        columns = {
            "group": [base["group"]] * count,
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

    def _disagrees(self, group: str, name: str) -> bool:
        """Return whether the intervals of two loads are disjoint."""
        rows = [
            row
            for row in self.rows
            if row["group"] == group and row["quantity"] == SYMBOLS[name] and row["low"] is not None
        ]
        return bool(rows) and max(r["low"] for r in rows) > min(r["high"] for r in rows)

    def _add(
        self, base: dict[str, Any], quantity: str, one: Estimate, unit: str, error: float | None
    ) -> None:
        ends = {"low": one.low, "high": one.high, "value": one.value}
        self.rows.append(
            {
                "dvfs_ghz": None,
                **base,
                **{name: value if np.isfinite(value) else None for name, value in ends.items()},
                "quantity": quantity,
                "unit": unit,
                "identified": one.is_identified,
                "error": error,
                "note": one.note,
            }
        )
