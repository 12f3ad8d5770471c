"""Published values beside those measured here, each matched by what its table says of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import value_label
from app.storage.defaults import at_place
from app.storage.figures.base import Star
from app.storage.study import Study
from data.knobs import KNOBS
from data.metrics import metric
from data.reference.tables import PublishedTable, published_tables
from data.units import MISSING, format_change, format_quantity

LATENCY: Final = "hotstorage22_latency"
SWITCHES: Final = "hotstorage22_context_switches"
IDLE: Final = "hotstorage20_idle_power"
GAP: Final = "hotstorage20_performance_gap"
# Read alone: nothing that runs measure stands beside them.
ALONE: Final = ("hotstorage20_devices", "hotstorage20_power_states")
_READ: Final = {"rw": "randread", "request_bytes": 4096}
NOT_MEASURED: Final = f"{MISSING} not measured"


@dataclass(frozen=True, slots=True)
class Line:
    """One published value and what was measured of the same, in words and as numbers.

    Attributes:
        column: The metric that it is a value of, in that metric's unit.
        mean: Mean of the replicates that it is compared with; None where there are none.
        n: How many those are.
        rows: The study's configurations that they are of.
    """

    what: str
    column: str
    value: float
    mean: float | None
    n: int
    published: str
    measured: str
    change: str
    rows: tuple[int, ...] = ()


def device_row(table: PublishedTable, device: str | None) -> dict[str, Any] | None:
    """The row of a table that a measured device is compared with: the last whose pattern fits.

    For no device under test it is the row without a pattern.
    """
    found = None
    for row in table.rows:
        pattern = row["device_pattern"]
        if device is None:
            found = found or (row if pattern is None else None)
        elif pattern is not None and re.search(str(pattern), device, re.IGNORECASE):
            found = row
    return found


def idle_stars(study: Study) -> list[Star]:
    """Published idle power of the devices that the study has."""
    table = published_tables()[IDLE]
    devices = {*study.rows["device"].to_list(), *study.idle["device"].to_list()}
    found = []
    for device in sorted(devices, key=lambda d: (d is not None, d)):
        row = _idle_row(study, device)
        if row:
            words = _star_words("idle", str(row["configuration"]), table, "power_w", row["power_w"])
            found.append(Star(None, device, float(row["power_w"]), words))
    return found


def _idle_row(study: Study, device: str | None) -> dict[str, Any] | None:
    """The published row of a device; none for one that the lake does not name."""
    if device is None and None in study.rows["device"].to_list():
        return None
    return device_row(published_tables()[IDLE], device)


def line_stars(study: Study, view: str) -> list[Star]:
    """Published values of what a view of lines shows."""
    if view == "latency":
        return list(_latency_stars(study))
    return list(_switch_stars(study)) if view == "switches-io" else []


def _latency_stars(study: Study) -> Iterator[Star]:
    """Where the view shows small random reads, at the depths that so many threads made."""
    table = published_tables()[LATENCY]
    here = study.here
    for row in table.rows:
        mine = at_place(here, {"mode": row["mode"], "threads": row["threads"],
                               "io_depth": row["threads"]})  # fmt: skip
        size = study.state.at_rw == _READ["rw"] and study.state.at_request == row["request_bytes"]
        if size and _fits(row, study.state.at_device) and len(mine):
            what = f"{_mode_label(row['mode'])}, {_threads(row['threads'])}"
            words = _star_words("", what, table, "latency_mean_us", row["latency_us"])
            yield Star(row["mode"], row["threads"], float(row["latency_us"]), words)


def _switch_stars(study: Study) -> Iterator[Star]:
    """At all depths: the publication says it of none in particular."""
    table = published_tables()[SWITCHES]
    column = "context_switches_per_io"
    for row in table.rows:
        mine = study.here.filter(pl.col("mode") == row["mode"])
        words = _star_words("", _mode_label(row["mode"]), table, column, row[column])
        for depth in mine["io_depth"].drop_nulls().unique().sort():
            yield Star(row["mode"], depth, float(row[column]), words)


def _star_words(
    kind: str, what: str, table: PublishedTable, column: str, value: float
) -> tuple[str, ...]:
    said = f"published{', ' + kind if kind else ''}: {format_quantity(value, metric(column).unit)}"
    return said, what, table.source


def _fits(row: Mapping[str, Any], device: str | None) -> bool:
    return device is not None and bool(re.search(row["device_pattern"], device, re.IGNORECASE))


def comparisons(study: Study) -> dict[str, list[Line]]:
    """By table, its values beside what the filters leave of the same."""
    return {
        LATENCY: list(_latencies(study)),
        SWITCHES: list(_switches(study)),
        IDLE: list(_idle(study)),
        GAP: list(_gap(study)),
    }


def _latencies(study: Study) -> Iterator[Line]:
    """At as many threads and as much depth; random reads, for which there is no other word."""
    for row in published_tables()[LATENCY].rows:
        wanted = _READ | {n: row[n] for n in ("mode", "threads", "request_bytes")}
        found = [d for d in _devices(study) if _fits(row, d)]
        for device in found or [None]:
            place = wanted | {"device": device, "io_depth": row["threads"]}
            what = f"{_mode_label(row['mode'])}, {_threads(row['threads'])}"
            yield _line(what, device, at_place(study.rows, place), "latency_mean_us",
                        row["latency_us"])  # fmt: skip


def _switches(study: Study) -> Iterator[Line]:
    """At the place of the views that show one, over all depths."""
    for row in published_tables()[SWITCHES].rows:
        here = study.here.filter(pl.col("mode") == row["mode"])
        what = _mode_label(row["mode"])
        yield _line(what, study.state.at_device, here, "context_switches_per_io",
                    row["context_switches_per_io"])  # fmt: skip


def _idle(study: Study) -> Iterator[Line]:
    table = published_tables()[IDLE]
    for row in table.rows:
        found = [d for d in study.idle["device"].to_list() if _idle_row(study, d) is row]
        for device in found or [None]:
            mine = (
                study.idle.filter(pl.col("device").eq_missing(device)) if found else study.idle[:0]
            )
            yield _line(str(row["configuration"]), device, mine, "power_w", row["power_w"])


def _gap(study: Study) -> Iterator[Line]:
    """Interrupts, as kernels complete by default, one request in flight."""
    table = published_tables()[GAP]
    for row in table.rows:
        found = [d for d in _devices(study) if device_row(table, d) is row]
        for device in found or [None]:
            place = _READ | {"device": device, "mode": "interrupt", "io_depth": 1}
            mine = at_place(study.rows, place) if found else study.rows[:0]
            yield _line(str(row["device_kind"]), device, mine, "latency_mean_us",
                        row["latency_us"])  # fmt: skip


def _threads(count: float) -> str:
    return f"{count:g} thread{'' if count == 1 else 's'}"


def _mode_label(mode: str) -> str:
    return value_label(KNOBS["mode"], mode, {})


def _devices(study: Study) -> list[str | None]:
    found: list[str | None] = study.rows["device"].drop_nulls().unique().sort().to_list()
    return found


def _line(
    what: str,
    device: str | None,
    mine: pl.DataFrame,
    column: str,
    published: float,
) -> Line:
    """Compare with the mean of the configurations; with one, its spread and n are said."""
    unit = metric(column).unit
    words = f"{what}: {device}" if device else what
    there = mine.filter(pl.col(column).is_not_null())
    shown = format_quantity(published, unit)
    if not len(there):
        return Line(words, column, published, None, 0, shown, NOT_MEASURED, MISSING)
    n = there[f"{column}_n"].to_numpy()
    mean = float(np.average(there[column].to_numpy(), weights=n))
    change = format_change(round(mean / published - 1, 4)) if published else MISSING
    rows = tuple(there["row"].to_list()) if "row" in there.columns else ()
    said = _measured(there, column, mean)
    return Line(words, column, published, mean, int(n.sum()), shown, said, change, rows)


def _measured(there: pl.DataFrame, column: str, mean: float) -> str:
    unit, total = metric(column).unit, int(there[f"{column}_n"].sum())
    spread = there[f"{column}_spread"][0]
    words = format_quantity(mean, unit)
    if len(there) > 1:
        return f"{words}, n = {total} over {len(there)} configurations"
    if spread is not None and np.isfinite(spread):
        words += f" ± {format_quantity(spread, unit)}"
    return f"{words}, n = {total}"
