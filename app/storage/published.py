"""What papers published: values beside the means that they describe, claims with verdicts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import mode_label
from app.storage.figures.base import Star
from app.storage.figures.subsystems import PublishedMove
from app.storage.state import DEPTH, View
from app.storage.study import Study
from data.analysis.storage_means import mean_of_sums, sum_of
from data.analysis.storage_runs import matching
from data.analysis.verdicts import LOADS_STORES, UNDECIDED, Verdict
from data.catalogue import SHIPPED
from data.published import storage_verdicts
from data.reference import loads_stores as moves
from data.reference.claims import Claim, claims
from data.reference.tables import PublishedTable, published_tables
from data.units import MISSING, format_change, format_quantity

PERFORMANCE: Final = "hotstorage22_performance"
SWITCHES: Final = "hotstorage22_context_switches"
IDLE: Final = "hotstorage20_idle_power"
GAP: Final = "hotstorage20_performance_gap"
# Shown without a comparison, because runs measure nothing of the kind.
ALONE: Final = ("hotstorage20_devices", "hotstorage20_power_states")
_READ: Final = {"rw": "randread", "request_bytes": 4096}
# Metric to the column of the table, and to the suffix of its rows' names.
_OF_PERFORMANCE: Final = {"latency_mean_us": ("latency_us", ""), "iops": ("iops", ", IO rate")}
_SWITCHES_PER_IO: Final = "context_switches_per_io"
_PER_S: Final = "1/s"
NOT_MEASURED: Final = f"{MISSING} not measured"


@dataclass(frozen=True, slots=True)
class Line:
    """One published value and the configurations, or idle runs, that it is compared with.

    Attributes:
        what: Name of the quantity, without the device.
        column: Column of the quantity.
        there: Rows with a value in `column`, with its `_n` and `_spread`: of one configuration;
            may be empty.
        rows: Row numbers of the compared configurations.
        shown: Which configuration it is, of several; may be empty.
        depths: Depths of all configurations that the value describes.
    """

    table: str
    what: str
    device: str | None
    mode: str | None
    column: str
    value: float
    there: pl.DataFrame
    unit: str
    rows: list[int]
    shown: str = ""
    depths: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """Name of the quantity, with the device."""
        return f"{self.what}: {self.device}" if self.device else self.what

    @property
    def n(self) -> int:
        """Number of compared replicates."""
        return int(self.there[f"{self.column}_n"].sum())

    @property
    def mean(self) -> float | None:
        """Mean over the compared replicates; None if there are none."""
        if not len(self.there):
            return None
        weights = self.there[f"{self.column}_n"].to_numpy()
        return float(np.average(self.there[self.column].to_numpy(), weights=weights))

    @property
    def published(self) -> str:
        """The published value as text."""
        return format_quantity(self.value, self.unit)

    @property
    def measured(self) -> str:
        """The mean as text, with its spread and the configuration."""
        if self.mean is None:
            return NOT_MEASURED
        spread = self.there[f"{self.column}_spread"][0]
        text = format_quantity(self.mean, self.unit)
        if spread is not None and np.isfinite(spread):
            text += f" ± {format_quantity(spread, self.unit)}"
        return f"{text}, n = {self.n}{f' · {self.shown}' if self.shown else ''}"

    @property
    def change(self) -> str:
        """The relative difference of the mean from the published value, as text."""
        if self.mean is None or not self.value:
            return MISSING
        return format_change(round(self.mean / self.value - 1, 4))

    def star(self, at: float | str | None, kind: str = "") -> Star:
        """Return the value as a mark in a figure."""
        said = f"published{', ' + kind if kind else ''}: {self.published}"
        source = published_tables()[self.table].source
        return Star(self.mode, at, self.value, (said, self.what, source))


# Name of a table to its values, compared with the filtered runs.
Comparisons = dict[str, list[Line]]


def comparisons(study: Study) -> Comparisons:
    """Return the values of each table, compared with the filtered runs."""
    return {
        PERFORMANCE: list(_performance(study)),
        SWITCHES: list(_switches(study)),
        IDLE: list(_idle(study)),
        GAP: list(_gap(study)),
        moves.NAME: list(_moved(study)),
    }


def line_stars(study: Study, view: View, compared: Comparisons) -> list[Star]:
    """Return the published values for a view of lines, at the depths of the matching points."""
    if view.x != DEPTH:
        return []
    here = set(study.here["row"])
    return [
        line.star(depth)
        for line in (*compared[PERFORMANCE], *compared[SWITCHES])
        if line.column == view.y and here.issuperset(line.rows)
        for depth in line.depths
    ]


def idle_stars(study: Study) -> list[Star]:
    """Return the published idle power of the study's devices."""
    devices = {*study.rows["device"].to_list(), *study.idle["device"].to_list()}
    return [
        _line(study, IDLE, row["configuration"], None, study.idle[:0], "power_w",
              row["power_w"]).star(device, "idle")
        for device in sorted(devices, key=lambda d: (d is not None, d))
        if (row := _idle_row(study, device))
    ]  # fmt: skip


def published_moves(study: Study) -> list[PublishedMove]:
    """Return the sums of loads and stores for the figure, for the modes of the lake.

    Empty if the figure shows another device, access or size.
    """
    rows, modes = moves.table().rows, study.scene.modes.values
    drawn = []
    for row in rows:
        mode, threads = row["mode"], int(row["threads"])
        if row["part"] != moves.SUM or mode not in modes or not _is_here(study, row):
            continue
        parts = [
            part for part in rows
            if (part["source"], part["mode"]) == (row["source"], mode) and part is not row
        ]  # fmt: skip
        source_text = (
            f"published · {study.scene.label(mode)} · {threads} threads",
            f"{row['source']}: {format_quantity(moves.per_s(row), _PER_S)}",
            *[f"{moves.part_words(p)}: {format_quantity(moves.per_s(p), _PER_S)}" for p in parts],
            moves.table().source,
        )
        own = PublishedMove(mode, threads, moves.source_of(row), moves.per_s(row), source_text)
        drawn.append(own)
    return drawn


def _performance(study: Study) -> Iterator[Line]:
    """Compare random reads with as many threads as IOs in flight: the tables give threads alone."""
    rows, devices = published_tables()[PERFORMANCE].rows, _devices(study)
    reads = matching(study.rows, _READ)
    for row, column in [(row, column) for column in _OF_PERFORMANCE for row in rows]:
        name, kind = _OF_PERFORMANCE[column]
        mode, threads = row["mode"], row["threads"]
        own = [d for d in devices if re.search(row["device_pattern"], d, re.IGNORECASE)]
        for device in own or [None]:
            place = {"mode": mode, "threads": threads, "io_depth": threads, "device": device}
            there = matching(reads, place)
            what = f"{mode_label(mode)}, {threads:g} thread{'' if threads == 1 else 's'}{kind}"
            yield _line(study, PERFORMANCE, what, device, there, column, row[name], mode)


def _switches(study: Study) -> Iterator[Line]:
    """Compare at the study's place; the values are of all depths."""
    column = _SWITCHES_PER_IO
    for row in published_tables()[SWITCHES].rows:
        mode, device = row["mode"], study.state.at_device
        there = study.here.filter(pl.col("mode") == mode)
        yield _line(study, SWITCHES, mode_label(mode), device, there, column, row[column], mode)


def _idle(study: Study) -> Iterator[Line]:
    for row in published_tables()[IDLE].rows:
        own = [d for d in study.idle["device"].to_list() if _idle_row(study, d) is row]
        for device in own or [None]:
            there = matching(study.idle, {"device": device}) if own else study.idle[:0]
            yield _line(study, IDLE, row["configuration"], device, there, "power_w", row["power_w"])


def _gap(study: Study) -> Iterator[Line]:
    """Compare completion by interrupts, the default of kernels, with one IO in flight."""
    table = published_tables()[GAP]
    for row in table.rows:
        own = [d for d in _devices(study) if device_row(table, d) is row]
        for device in own or [None]:
            place = _READ | {"device": device, "mode": "interrupt", "io_depth": 1}
            there = matching(study.rows, place) if own else study.rows[:0]
            kind, value = row["device_kind"], row["latency_us"]
            yield _line(study, GAP, kind, device, there, "latency_mean_us", value)


def _moved(study: Study) -> Iterator[Line]:
    """Compare loads and stores at the study's place, with as many threads as IOs in flight.

    A counted run that lists none of the functions counts as 0.
    """
    counted = study.moves.drop_nulls(LOADS_STORES)
    of_mode: dict[str, tuple[list[list], list[int]]] = {}
    for row in moves.table().rows:
        mode = row["mode"]
        if mode not in of_mode:
            of_mode[mode] = _counted(study, counted, row)
        runs, rows = of_mode[mode]
        there = mean_of_sums([sum_of(row, run) for run in runs], study.scene.is_interval)
        yield Line(
            moves.NAME, moves.row_words(row), study.state.at_device, mode, LOADS_STORES,
            moves.per_s(row), there, _PER_S, rows,
        )  # fmt: skip


def _counted(
    study: Study, counted: pl.DataFrame, row: dict[str, Any]
) -> tuple[list[list], list[int]]:
    """Return source, part, loads and stores of each compared run, and the rows' numbers."""
    setting = {"mode": row["mode"], "io_depth": row["threads"], "threads": row["threads"]}
    there = matching(counted, setting) if _is_here(study, row) else counted.clear()
    there, part = study.shown_moves(there, LOADS_STORES, ())
    runs: dict[str, list] = {}
    columns = ("run_id", "subsystem", "part", LOADS_STORES)
    for run_id, *function in there.select(columns).iter_rows():
        runs.setdefault(run_id, []).append(function)
    rows = part.of(matching(study.here, setting))["row"].to_list() if runs else []
    return list(runs.values()), rows


def _line(
    study: Study,
    table: str,
    what: Any,
    device: str | None,
    there: pl.DataFrame,
    column: str,
    value: float,
    mode: str | None = None,
) -> Line:
    there, unit = there.filter(pl.col(column).is_not_null()), SHIPPED.metric(column).unit
    if "row" not in there.columns:
        return Line(table, str(what), device, mode, column, float(value), there, unit, [])
    part = study.alike(there, (), is_pooling=False, runs=f"{column}_n")
    depths = tuple(there["io_depth"].drop_nulls().unique().sort())
    there = part.of(there)
    return Line(
        table, str(what), device, mode, column, float(value), there, unit,
        there["row"].to_list(), study.words(part) if part.fixed else "", depths,
    )  # fmt: skip


def _is_here(study: Study, row: dict[str, Any]) -> bool:
    """Return whether the study's place is that of a row of loads and stores."""
    state = study.state
    is_place = state.at_rw == _READ["rw"] and state.at_request == row["request_bytes"]
    device = state.at_device or ""
    return is_place and re.search(row["device_pattern"], device, re.IGNORECASE) is not None


def device_row(table: PublishedTable, device: str | None) -> dict[str, Any] | None:
    """Return the row of a table for a measured device: the last whose pattern matches.

    Without a device under test it is the row without a pattern.
    """
    own = None
    for row in table.rows:
        pattern = row["device_pattern"]
        if device is None:
            own = own or (row if pattern is None else None)
        elif pattern is not None and re.search(str(pattern), device, re.IGNORECASE):
            own = row
    return own


def _idle_row(study: Study, device: str | None) -> dict[str, Any] | None:
    """Return the published row of a device; None for a device that the lake does not name."""
    if device is None and None in study.rows["device"].to_list():
        return None
    return device_row(published_tables()[IDLE], device)


def _devices(study: Study) -> list[Any]:
    devices: list[Any] = study.rows["device"].drop_nulls().unique().sort().to_list()
    return devices


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict


def judged_claims(study: Study) -> list[Judged]:
    """Decide every claim from the filtered runs."""
    nothing = Verdict(UNDECIDED, "no measured storage runs")
    verdicts = storage_verdicts(study.runs) if len(study.rows) else {}
    return [Judged(one, verdicts.get(one.name, nothing)) for one in claims()]
