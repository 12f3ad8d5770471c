"""Build tables from intervals that tools measured: `intervals`, and samples for a timeline."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from data.schema import (
    EXTREMES,
    HISTOGRAMS,
    INTERRUPTS,
    INTERVALS,
    OVERVIEW,
    OVERVIEW_LEVELS,
    RATES,
    SAMPLES,
    rounded_singles,
)
from data.timeline.sample_rates import rate_extremes, share_samples
from data.timeline.time_cells import equal_edges
from ingest.discover.source_reads import SourceRead
from ingest.formats.interval_means import take_means
from ingest.logs.row_layout import JOULES, SAMPLED
from ingest.records import Intervals, Reading, UtcWindow
from ingest.runs.event_counts import is_of_its_time
from ingest.runs.row import RunRow

# If a smaller share of a run was measured, the measurement is not used for the run.
_LEAST_COVERED: Final = 0.9
_COUNTS: Final = SAMPLED[1:JOULES]
_ENERGY: Final = "energy_uj"
_PER_MHZ: Final = 1e6


def clip_to_run(run: RunRow, window: UtcWindow | None) -> None:
    """Limit the intervals of tools with a known clock to the run, if they cover most of it."""
    for read in run.readings:
        content = read.content
        assert isinstance(content, Reading)
        if content.intervals is None or content.intervals.start_unix_s is None or window is None:
            continue
        own = _placed(content.intervals, window)
        cut = _cut(own, window.length_s)
        # The rows of one place give the measured share of the run.
        alone = (cut.core == cut.core[0]) if cut.core.size else np.zeros(0, bool)
        covered_s = float(cut.dt_s[alone].sum())
        if covered_s < _LEAST_COVERED * window.length_s:
            continue
        of_run = Reading()
        take_means(cut, of_run)
        if "energy_j" in of_run.measurements:
            of_run.measurements["energy_j"] *= window.length_s / covered_s
        content.measurements |= of_run.measurements
        content.interval_s = window.length_s


def _placed(rows: Intervals, window: UtcWindow) -> Intervals:
    """Return intervals with times relative to the start of the run."""
    assert rows.start_unix_s is not None, "BUG: intervals without a clock"
    shift_s = rows.start_unix_s - window.start_s
    return replace(rows, end_s=rows.end_s + shift_s, start_unix_s=window.start_s)


def _cut(rows: Intervals, length_s: float) -> Intervals:
    """Return intervals within the run; intervals at its ends are shortened."""
    begin_s = np.maximum(rows.end_s - rows.dt_s, 0.0)
    end_s = np.minimum(rows.end_s, length_s)
    inside = np.flatnonzero(end_s > begin_s)
    return Intervals(
        end_s[inside],
        (end_s - begin_s)[inside],
        rows.core[inside],
        rows.package[inside],
        [rows.place[at] for at in inside.tolist()],
        {name: values[inside] for name, values in rows.values.items()},
        rows.start_unix_s,
    )


def interval_tables(run: RunRow, window: UtcWindow | None) -> dict[str, pa.Table]:
    """Build the tables of a run's intervals.

    Returns:
        `intervals` if a tool has any. Also `samples` with an `overview`, and `interrupts` and
        `histograms` without rows, if the tool reports single processors during the run and the run
        has no log: then a timeline shows the run.
    """
    reported = [
        (read, read.content.intervals)
        for read in run.readings
        if isinstance(read.content, Reading) and read.content.intervals is not None
    ]
    if not reported:
        return {}
    # What a trace of several runs has of others is none of this one.
    placed = [
        _cut(_placed(rows, window), window.length_s)
        if rows.start_unix_s is not None and window is not None
        else rows
        for _, rows in reported
    ]
    run_id = run.row["run_id"]
    tables = {"intervals": pa.concat_tables([_long_table(run_id, rows) for rows in placed])}
    duration_s = run.row.get("duration_s")
    for (read, _), rows in zip(reported, placed, strict=True):
        assert isinstance(read.content, Reading)
        is_placed = rows.start_unix_s is not None and window is not None
        is_same_time = is_placed or is_of_its_time(read.content.interval_s, duration_s)
        if duration_s and not run.logs and is_same_time and (rows.core >= 0).any():
            counted = _sample_counts(_cut(rows, duration_s))
            _drop_unfit(run, read, counted)
            if len(counted["t_ns"]):
                tables |= _timeline_tables(run, duration_s, counted)
                break
    return tables


def _long_table(run_id: str, rows: Intervals) -> pa.Table:
    parts = []
    for name, values in rows.values.items():
        at = np.flatnonzero(~np.isnan(values))
        columns = {
            "run_id": pa.array([run_id] * len(at), pa.string()),
            "t_s": pa.array(rows.end_s[at]),
            "dt_s": pa.array(rows.dt_s[at]),
            "core": pa.array(rows.core[at], mask=rows.core[at] < 0),
            "package": pa.array(rows.package[at], mask=rows.package[at] < 0),
            "place": pa.array([rows.place[n] or None for n in at.tolist()], pa.string()),
            "quantity": pa.array([name] * len(at), pa.string()),
            "value": pa.array(values[at]),
        }
        parts.append(pa.table(columns, schema=INTERVALS))
    table = pa.concat_tables(parts) if parts else INTERVALS.empty_table()
    return table.sort_by([("t_s", "ascending"), ("quantity", "ascending"), ("core", "ascending")])


def _sample_counts(rows: Intervals) -> dict[str, np.ndarray]:
    """Compute the counts of each processor and interval as columns of `samples`, by time.

    Cycles are average frequency times length; reference cycles are busy share times the rate of the
    time-stamp counter, as in turbostat's manual. Counts of a shortened interval are scaled.
    """
    kept = np.flatnonzero(rows.core >= 0)
    order = kept[np.lexsort((rows.core[kept], rows.end_s[kept]))]
    seconds = rows.dt_s[order]

    def of(name: str) -> np.ndarray:
        values = rows.values.get(name)
        return np.full(len(order), np.nan) if values is None else values[order]

    ticks = of("tsc_mhz") * _PER_MHZ
    cycles = _first(of("cycles"), of("average_mhz") * _PER_MHZ * seconds)
    counted = {
        "instructions": _first(of("instructions"), of("ipc") * cycles),
        "cycles": cycles,
        "ref_cycles": _first(of("ref_cycles"), of("busy_pct") / 100 * ticks * seconds),
        "llc_misses": of("llc_misses"),
        **{name: of(f"{name}_entries") for name in ("c1", "c1e", "c3", "c6")},
        "c7": _first(of("c7_entries"), of("c7s_entries")),
        _ENERGY: _first(of("energy_j"), of("package_power_w") * seconds) * 1e6,
    }
    counted |= {name: np.round(values) for name, values in counted.items() if name != _ENERGY}
    end_ns = np.round(rows.end_s[order] * 1e9).astype(np.int64)
    begin_ns = np.round((rows.end_s[order] - seconds) * 1e9).astype(np.int64)
    is_long = end_ns > begin_ns
    found = {"t_ns": end_ns, "dt_ns": end_ns - begin_ns, "tsc_hz": ticks}
    found |= {"core": rows.core[order], "package": rows.package[order], **counted}
    return {name: values[is_long] for name, values in found.items()}


def _drop_unfit(run: RunRow, read: SourceRead, counted: dict[str, np.ndarray]) -> None:
    """Remove counts so large that a sum over the run may need more than 63 bits."""
    for name in (*_COUNTS, _ENERGY):
        values = counted[name]
        is_unfit = ~(np.abs(values) < 2.0**63 / max(len(values), 1)) & ~np.isnan(values)
        if is_unfit.any():
            counted[name] = np.where(is_unfit, np.nan, values)
            run.flags.add("value_range")
            detail = (
                f"{name} is {values[is_unfit][0]:g} in {is_unfit.sum()} of {len(values)} intervals"
                ": too large for a count, left unset there"
            )
            run.doubt(read, "value_range", detail)


def _first(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), others, values)


def _timeline_tables(
    run: RunRow, duration_s: float, counted: Mapping[str, np.ndarray]
) -> dict[str, pa.Table]:
    run_id, length_ns = run.row["run_id"], round(duration_s * 1e9)
    counted = {**counted, "t_ns": np.minimum(counted["t_ns"], length_ns)}
    run.row["cores"] = list(_core_structs(run, duration_s, counted))
    rows = _with_beginnings(counted)
    samples = {name: _column(SAMPLES.field(name).type, rows[name]) for name in SAMPLES.names[1:]}
    samples["run_id"] = pa.array([run_id] * len(rows["t_ns"]), pa.string())
    return {
        "interrupts": INTERRUPTS.empty_table(),
        "samples": pa.table([samples[name] for name in SAMPLES.names], schema=SAMPLES),
        "overview": _overview(run_id, length_ns, counted),
        "histograms": HISTOGRAMS.empty_table(),
    }


def _with_beginnings(counted: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Add a sample without counts for each processor, at the start of its first interval.

    As in a log, a sample counts since the previous sample; the first has no counts.
    """
    _, firsts = np.unique(counted["core"], return_index=True)
    begin_ns = counted["t_ns"][firsts] - counted["dt_ns"][firsts]
    order = np.argsort(np.concatenate([begin_ns, counted["t_ns"]]), kind="stable")
    rows = {}
    for name, values in counted.items():
        if name == "t_ns":
            rows[name] = np.concatenate([begin_ns, values])[order]
        elif name in ("core", "package"):
            rows[name] = np.concatenate([values[firsts], values])[order]
        else:
            rows[name] = np.concatenate([np.full(len(firsts), np.nan), values])[order]
    return rows


def _column(kind: pa.DataType, values: np.ndarray) -> pa.Array:
    if pa.types.is_integer(kind) and values.dtype.kind == "f":
        is_missing = np.isnan(values)
        return pa.array(np.where(is_missing, 0, values).astype(np.int64), kind, mask=is_missing)
    return pa.array(values, kind, from_pandas=True)


def _overview(run_id: str, length_ns: int, counted: Mapping[str, np.ndarray]) -> pa.Table:
    """Build only the coarsest level, with counters but without interrupts."""
    bins = OVERVIEW_LEVELS[0]
    cores, core_index = np.unique(counted["core"], return_inverse=True)
    edges = equal_edges(0, length_ns, bins)
    steps = {name: counted[name] for name in (*_COUNTS, _ENERGY)}
    t_ns, dt_ns = counted["t_ns"], counted["dt_ns"].astype(np.float64)
    cells = share_samples(core_index, t_ns, dt_ns, steps, len(cores), edges).values
    extremes = rate_extremes(core_index, t_ns, dt_ns, steps, RATES, len(cores), edges)
    count = bins * len(cores)
    columns: dict[str, pa.Array] = {
        "run_id": pa.array([run_id] * count, pa.string()),
        "level": pa.array(np.full(count, bins, np.int32)),
        "core": pa.array(np.tile(cores.astype(np.int32), bins)),
        "bin": pa.array(np.repeat(np.arange(bins, dtype=np.int32), len(cores))),
        "t_ns": pa.array(np.repeat(edges[:-1], len(cores))),
    }
    for name in (*_COUNTS, _ENERGY):
        kind = OVERVIEW.field(name).type
        values = cells[name]
        if name != _ENERGY:
            # Round to whole counts without a change of their running sums.
            values = np.diff(np.round(np.cumsum(values, axis=0)), axis=0, prepend=0)
        columns[name] = _column(kind, values.ravel())
    for name in RATES:
        for end in EXTREMES:
            rates = extremes[f"{end}_{name}"].ravel()
            columns[f"{end}_{name}"] = pa.array(rounded_singles(rates), mask=np.isnan(rates))
    nothing = {f.name: pa.nulls(count, f.type) for f in OVERVIEW if f.name not in columns}
    return pa.table([(columns | nothing)[name] for name in OVERVIEW.names], schema=OVERVIEW)


def _core_structs(
    run: RunRow, duration_s: float, counted: Mapping[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    for core in np.unique(counted["core"]).tolist():
        of_core = counted["core"] == core
        ticks = counted["tsc_hz"][of_core]
        is_told = ~np.isnan(ticks)
        package = int(counted["package"][of_core][0])
        energy = counted[_ENERGY][of_core]
        yield {
            "core": core,
            "package": package if package >= 0 else run.settings.machine.package_of(core),
            "duration_s": duration_s,
            "tsc_hz": float(ticks[is_told][0]) if is_told.any() else run.settings.machine.tsc_hz,
            "energy_j": None if np.isnan(energy).all() else float(np.nansum(energy)) / 1e6,
            **{
                name: round(float(np.nansum(counted[name][of_core])))
                for name in _COUNTS
                if not np.isnan(counted[name][of_core]).all()
            },
            "samples": int(of_core.sum()),
            "gap_hist": [],
        }
