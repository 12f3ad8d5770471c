"""Published values, each compared with the configurations that its table describes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import mode_label
from app.kit.words import slice_words
from app.storage.defaults import at_place
from app.storage.figures.base import Star
from app.storage.published_moves import UNIT, measured_moves
from app.storage.study import Study
from app.storage.views import DEPTH, LOADS_STORES_PER_S, View
from data.analysis.like_with_like import like_with_like
from data.metrics import metric
from data.queries.storage import LOADS_STORES
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
        words = format_quantity(self.mean, self.unit)
        if spread is not None and np.isfinite(spread):
            words += f" ± {format_quantity(spread, self.unit)}"
        return f"{words}, n = {self.n}{f' · {self.shown}' if self.shown else ''}"

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


def comparisons(study: Study, functions: pl.DataFrame) -> dict[str, list[Line]]:
    """Return the values of each table, compared with the filtered runs.

    Args:
        functions: Answer of `counted_functions`.
    """
    return {
        PERFORMANCE: list(_performance(study, *_OF_PERFORMANCE)),
        SWITCHES: list(_switches(study)),
        IDLE: list(_idle(study)),
        GAP: list(_gap(study)),
        LOADS_STORES: list(_moved(study, functions)),
    }


def line_stars(study: Study, view: View) -> list[Star]:
    """Return the published values for a view of lines, at the depths of the matching points."""
    if view.x != DEPTH:
        return []
    here = set(study.here["row"])
    if view.y in _OF_PERFORMANCE:
        lines = _performance(study, view.y)
    else:
        lines = _switches(study) if view.y == _SWITCHES_PER_IO else iter(())
    return [
        line.star(depth) for line in lines if here.issuperset(line.rows) for depth in line.depths
    ]


def idle_stars(study: Study) -> list[Star]:
    """Return the published idle power of the study's devices."""
    devices = {*study.rows["device"].to_list(), *study.idle["device"].to_list()}
    return [
        _line(IDLE, row["configuration"], None, study.idle[:0], "power_w", row["power_w"]).star(
            device, "idle"
        )
        for device in sorted(devices, key=lambda d: (d is not None, d))
        if (row := _idle_row(study, device))
    ]


def _performance(study: Study, *columns: str) -> Iterator[Line]:
    """Compare random reads with as many threads as IOs in flight: the tables give threads alone."""
    rows, devices = published_tables()[PERFORMANCE].rows, _devices(study)
    reads = at_place(study.rows, _READ)
    for row, column in [(row, column) for column in columns for row in rows]:
        name, kind = _OF_PERFORMANCE[column]
        mode, threads = row["mode"], row["threads"]
        found = [d for d in devices if re.search(row["device_pattern"], d, re.IGNORECASE)]
        for device in found or [None]:
            place = {"mode": mode, "threads": threads, "io_depth": threads, "device": device}
            mine = at_place(reads, place)
            what = f"{mode_label(mode)}, {threads:g} thread{'' if threads == 1 else 's'}{kind}"
            yield _line(PERFORMANCE, what, device, mine, column, row[name], mode)


def _moved(study: Study, functions: pl.DataFrame) -> Iterator[Line]:
    """Compare at the study's place, with as many threads as IOs in flight."""
    device, column = study.state.at_device, LOADS_STORES_PER_S
    for one in measured_moves(study, functions):
        yield Line(
            LOADS_STORES, one.words, device, one.mode, column, one.per_s, one.there, UNIT, one.rows
        )


def _switches(study: Study) -> Iterator[Line]:
    """Compare at the study's place; the values are of all depths."""
    column = _SWITCHES_PER_IO
    for row in published_tables()[SWITCHES].rows:
        mode, device = row["mode"], study.state.at_device
        mine = study.here.filter(pl.col("mode") == mode)
        yield _line(SWITCHES, mode_label(mode), device, mine, column, row[column], mode)


def _idle(study: Study) -> Iterator[Line]:
    for row in published_tables()[IDLE].rows:
        found = [d for d in study.idle["device"].to_list() if _idle_row(study, d) is row]
        for device in found or [None]:
            mine = at_place(study.idle, {"device": device}) if found else study.idle[:0]
            yield _line(IDLE, row["configuration"], device, mine, "power_w", row["power_w"])


def _gap(study: Study) -> Iterator[Line]:
    """Compare completion by interrupts, the default of kernels, with one IO in flight."""
    table = published_tables()[GAP]
    for row in table.rows:
        found = [d for d in _devices(study) if device_row(table, d) is row]
        for device in found or [None]:
            place = _READ | {"device": device, "mode": "interrupt", "io_depth": 1}
            mine = at_place(study.rows, place) if found else study.rows[:0]
            kind, value = row["device_kind"], row["latency_us"]
            yield _line(GAP, kind, device, mine, "latency_mean_us", value)


def _line(
    table: str,
    what: Any,
    device: str | None,
    mine: pl.DataFrame,
    column: str,
    value: float,
    mode: str | None = None,
) -> Line:
    there = mine.filter(pl.col(column).is_not_null())
    unit = metric(column).unit
    if "row" not in there.columns:
        return Line(table, str(what), device, mode, column, float(value), there, unit, [])
    part = like_with_like(there, (), runs=f"{column}_n")
    labels = dict(there.select("system", "system_label").iter_rows()) if part.kept else {}
    depths = tuple(there["io_depth"].drop_nulls().unique().sort())
    there = part.of(there)
    return Line(
        table, str(what), device, mode, column, float(value), there, unit,
        there["row"].to_list(), slice_words(part, labels), depths,
    )  # fmt: skip


def device_row(table: PublishedTable, device: str | None) -> dict[str, Any] | None:
    """Return the row of a table for a measured device: the last whose pattern matches.

    Without a device under test it is the row without a pattern.
    """
    found = None
    for row in table.rows:
        pattern = row["device_pattern"]
        if device is None:
            found = found or (row if pattern is None else None)
        elif pattern is not None and re.search(str(pattern), device, re.IGNORECASE):
            found = row
    return found


def _idle_row(study: Study, device: str | None) -> dict[str, Any] | None:
    """Return the published row of a device; None for a device that the lake does not name."""
    if device is None and None in study.rows["device"].to_list():
        return None
    return device_row(published_tables()[IDLE], device)


def _devices(study: Study) -> list[Any]:
    found: list[Any] = study.rows["device"].drop_nulls().unique().sort().to_list()
    return found
