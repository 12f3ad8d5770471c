"""Samples of power, energy and use over time: one run a file, never a run a row.

Any text with a column of rising times at even steps and something measured: CSV of nvidia-smi and
DCGM, EnergiBridge, PCM, s-tui, PowerJoular, SPEC PTDaemon and others.
"""

from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

import numpy as np

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import iterate_lines, whole_text
from ingest.formats import json_rows
from ingest.formats.documents import may_be_document, parse_document
from ingest.formats.interval_means import take_means
from ingest.formats.json_samples import EVEN_SHARE, share_of_even
from ingest.formats.logged_rows import logged_objects
from ingest.formats.trace_blocks import LOOKED_AT, Block, blocks_in, copied, first_run
from ingest.formats.trace_counters import is_running_total, steps_of
from ingest.formats.trace_headings import numbered, part_in, result_column, words_of
from ingest.formats.trace_layout import layout_of, read_layout
from ingest.formats.trace_powers import added_powers, machine_powers
from ingest.formats.trace_quantities import POWERCAP_SCALE, numbers_of, read_headings
from ingest.formats.trace_search import RUN_S, Trace, trace_of
from ingest.formats.trace_series import series_column
from ingest.formats.trace_times import is_local
from ingest.records import Intervals, ReadContext, Reading
from ingest.settings.column_names import clean_name
from ingest.settings.headings import without_unit

POWER: Final = "package_power_w"
_MOST_COLUMNS: Final = 60
# So many lines with the results of runs, but half of all at most, are of no trace.
_RESULTS: Final = 3
# A head of this size may have fewer records than make a trace.
_LONG: Final = 1 << 13
# A rate whose sum is a measurement of the run.
_SWITCHES_A_SECOND: Final = "Ctxt/s"
# Powers of so many units are of a smaller unit.
_SMALL_UNITS: Final = ((5e6, "uW", 1e-6), (5e3, "mW", 1e-3))
# Steps that are alike are within these bounds of the median.
_ALIKE: Final = (0.75, 1.25)
# Meters that are read by people or once in a few minutes; so often runs begin too.
_LONG_S: Final = 300.0
# No power and no energy is greater.
_MOST: Final = 1e12


def sniff(name: str, head: bytes) -> bool:
    """Return whether a head is of a trace: times rise at even steps, and something is measured."""
    if b"\0" in head:
        return False
    if may_be_document(head, name):
        return _in_document([head], name) is not None
    lines = head.decode("utf-8-sig", "replace").splitlines()
    lines = lines if head.endswith(b"\n") else lines[:-1]
    layout = read_layout(lines, LOOKED_AT)
    if layout is None:
        return False
    if layout.is_sampled and len(head) >= _LONG:
        # It has few of long records.
        return read_headings(layout, name) is not None
    if first_run(layout, name) is None:
        return False
    # Lines of progress between those of results are no trace.
    objects = logged_objects(lines)
    results = sum(map(bool, map(objects.row, lines))) if objects else 0
    return not _RESULTS <= results <= len(lines) / 2


def _in_document(blocks: Iterable[bytes], name: str) -> Trace | None:
    """Return the trace that the list of a document is; None if it is none.

    The last sample of a document that was cut, as the head of a file is, is not whole.
    """
    try:
        document, is_cut = parse_document(whole_text(blocks, name), name)
    except FormatError:
        return None
    found = json_rows.places_of(document)
    places = [place for place in found if place.path.endswith("*") and not place.is_keyed]
    rows = [*places[0].rows()] if places else []
    rows = rows[:-1] if is_cut else rows
    return trace_of(layout_of(rows)) if rows else None


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read a trace as one run, or the samples of one of several.

    Power is summed over steps, each of which ends with its sample; the first is as long as the
    others. Running totals of energy are differenced; wraps are repaired.

    Returns:
        `energy_j`, `duration_s`, means of the other columns, and all of it by interval.

    Raises:
        FormatError: No trace.
    """
    trace, block = _trace_in(blocks, context)
    flags: list[str] = []
    values, columns = _values(trace, flags)
    intervals = _intervals(trace, values)
    reading = Reading(intervals=intervals, flags=flags, columns=tuple(columns))
    if block is not None:
        reading.knobs, reading.columns = block.knobs, (*block.columns, *columns)
    take_means(intervals, reading)
    first = trace.device == 0
    counted = ~np.isnan(values[POWER][first]) if POWER in values else np.ones(first.sum(), bool)
    reading.measurements["duration_s"] = float(trace.dt_s[first][counted].sum())
    for at, name in enumerate(trace.layout.headings):
        if name == _SWITCHES_A_SECOND:
            switches = float(np.nansum(numbers_of(trace.layout, at) * trace.dt_s))
            if 0 <= switches < _MOST:
                reading.measurements["context_switches"] = round(switches)
    reading.interval_s = reading.measurements["duration_s"]
    reading.facts = {name: text for name, text in _stated(trace).items() if text}
    times = (cells[0] for cells, of in zip(trace.layout.columns, trace.headings, strict=True)
             if of.quantity == "time")  # fmt: skip
    intervals.is_local = intervals.start_unix_s is not None and is_local(next(times, ""))
    reading.part = _part_of(trace)
    reading.problems = trace.problems.all()
    return reading


def stated_in(blocks: Iterable[bytes], name: str) -> dict[str, str]:
    """Return by heading the text that all samples of a trace have; empty where they differ.

    Raises:
        FormatError: No trace.
    """
    return _stated(_trace_in(blocks, ReadContext(name, 0.0))[0])


def _stated(trace: Trace) -> dict[str, str]:
    columns = zip(trace.layout.headings, trace.layout.columns, strict=True)
    return {name: cells[0] if len({*cells}) == 1 else "" for name, cells in columns}


def _trace_in(blocks: Iterable[bytes], context: ReadContext) -> tuple[Trace, Block | None]:
    """Return the trace of a file, with what is odd of it, or of one of its runs."""
    name, blocks = context.name, iter(blocks)
    head = next(blocks, b"")
    blocks = chain([head], blocks)
    block = blocks_in(b"".join(blocks), name).get(context.part) if context.part else None
    if block is None and may_be_document(head, name):
        trace = _in_document(blocks, name)
    else:
        layout = copied(block.layout) if block else read_layout(iterate_lines(blocks))
        trace = trace_of(layout, name, True) if layout else None
    if not trace:
        raise FormatError(f"no times that rise at even steps ({name})")
    add = trace.problems.add
    # Lines below the last sample are a summary.
    for line, text in trace.layout.refused:
        if line <= trace.layout.lines[-1]:
            add("bad_line", "refused", f"no sample: {text!r}", line)
    for detail in trace.layout.doubts:
        add("unit_guessed", "doubted", detail)
    for detail in trace.layout.unclear:
        add("unclear_comma", "doubted", detail)
    if trace.lost_s:
        detail = f"{trace.lost_s:g} s between the first and the last sample have none; not counted"
        add("sample_gap", "doubted", detail)
    if not trace.is_timed:
        add("no_times", "doubted", "the file has no times: a sample is taken as 1 s")
    if detail := _may_be_runs(trace):
        add("rows_as_samples", "doubted", detail)
    if block is not None and block.doubt:
        add("times_begin_again", "doubted", block.doubt)
    return trace, block


def _may_be_runs(trace: Trace) -> str:
    """Return the doubt that rows are samples: they are some seconds apart and their steps are not
    alike, or they are minutes apart.
    """
    steps = trace.dt_s[trace.dt_s > 0]
    usual = float(np.median(steps)) if len(steps) else 0.0
    if usual < RUN_S or (usual < _LONG_S and share_of_even(steps, *_ALIKE) >= EVEN_SHARE):
        return ""
    ends = [*dict.fromkeys(f"{end:g}" for end in (steps.min(), steps.max()))]
    apart = f"{' to '.join(ends)} s apart"
    return f"{len(steps)} rows, {apart}, are taken as samples of one run: are they runs?"


def _part_of(trace: Trace) -> str:
    """Return of which part of the machine a trace is: a heading of an energy or a power says it,
    else all others that say one do.
    """
    said = [
        (part, heading.quantity in ("power", "energy"))
        for text, heading in zip(trace.layout.headings, trace.headings, strict=True)
        if (part := part_in(text))
    ]
    of_energy = {part for part, is_cost in said if is_cost}
    parts = of_energy or {part for part, _ in said}
    return "total" if "total" in of_energy else parts.pop() if len(parts) == 1 else ""


def _values(trace: Trace, flags: list[str]) -> tuple[dict[str, np.ndarray], list[Column]]:
    """Return the values of each sample by quantity, and the columns of means for `runs`."""
    powers: dict[int, np.ndarray] = {}
    values: dict[str, np.ndarray] = {}
    columns: list[Column] = []
    families: dict[str, list[np.ndarray]] = {}
    units = {"busy": "%", "frequency": "MHz", "voltage": "V", "current": "A"}
    for at, heading in enumerate(trace.headings):
        if heading.quantity in ("time", "date", "delta", "device"):
            continue
        numbers = numbers_of(trace.layout, at) * heading.scale
        if np.isnan(numbers).all():
            continue
        if heading.quantity in ("power", "energy"):
            numbers = _possible(trace, at, numbers)
            if heading.quantity == "energy":
                numbers = _power_of(trace, at, numbers, flags)
            powers[at] = numbers if heading.has_unit else _in_watts(trace, at, numbers)
            continue
        name = trace.layout.headings[at]
        is_alone = trace.layout.is_series
        title = name if is_alone else (numbered(name) or (name,))[0]
        if heading.quantity in units and heading.scale != 1.0:
            # They are no longer in the heading's unit.
            title = f"{without_unit(title)} {units[heading.quantity]}"
        families.setdefault(title, []).append(numbers)
        own, title = clean_name(title, "real"), without_unit(title)
        if heading.quantity and all(own != column.name for column in columns):
            columns.append(Column(own, "metric", "real", title, title, units[heading.quantity]))
        elif not heading.quantity and numbers.any() and (result := result_column(name)):
            columns.append(result)
        elif is_alone and not heading.quantity:
            columns.append(series_column(name, trace.layout.is_rate))
    for name, series in islice(families.items(), _MOST_COLUMNS):
        values[clean_name(name, "real")] = np.mean(series, axis=0)
    chosen = machine_powers(trace, powers)
    if chosen:
        values[POWER] = added_powers([powers[at] for at in chosen])
    for at, numbers in powers.items():
        if at not in chosen or len(chosen) > 1:
            parts = clean_name(trace.layout.headings[at], "real").split("_")
            bare = "_".join(part for part in parts if part not in _PLAIN)
            own = f"{bare or 'other'}_power_w"
            if own != POWER and own not in values:
                values[own] = numbers
                title = f"Power, {trace.layout.headings[at]}"
                columns.append(Column(own, "metric", "real", title, title, "W", "less"))
    # Timeline knows one busy share and one frequency by these names.
    shared = {"busy": "busy_pct", "frequency": "average_mhz"}
    for at, heading in enumerate(trace.headings):
        if heading.quantity in shared and shared[heading.quantity] not in values:
            values[shared[heading.quantity]] = numbers_of(trace.layout, at) * heading.scale
    return values, columns


def _in_watts(trace: Trace, at: int, numbers: np.ndarray) -> np.ndarray:
    """Return powers without a unit in W: beyond a rack of servers they are mW, uW or of mJ, uJ."""
    usual = float(np.nanmedian(numbers))
    unit, scale = next(((u, s) for least, u, s in _SMALL_UNITS if usual >= least), ("W", 1.0))
    name, is_energy = trace.layout.headings[at], trace.headings[at].quantity == "energy"
    if scale == 1.0 and is_energy and _JOULES.isdisjoint(words_of(name)):
        detail = f"{name} without a unit is taken as J"
        trace.problems.add("unit_guessed", "doubted", detail)
    elif scale != 1.0:
        said, unit = (" a second", f"{unit[:-1]}J") if is_energy else ("", unit)
        detail = f"{name} of {usual:g}{said} without a unit is taken as {unit}"
        trace.problems.add("unit_guessed", "doubted", detail)
    return numbers * scale


def _possible(trace: Trace, at: int, numbers: np.ndarray) -> np.ndarray:
    """Return powers or energies without those that cannot be, each of which is reported."""
    is_odd = (numbers < 0) | (numbers > _MOST)
    for row in np.flatnonzero(is_odd).tolist():
        cell = trace.layout.columns[at][row]
        detail = f"{trace.layout.headings[at]} cannot be {cell}; left out"
        trace.problems.add("bad_line", "refused", detail, trace.layout.lines[row])
    return np.where(is_odd, np.nan, numbers)


# A running total that begins at 0 has so many steps at first.
_ONE_STEP: Final = 1.5
_JOULES: Final = frozenset({"joule", "joules", "j"})
_PLAIN: Final = frozenset(
    {"power", "energy", "j", "w", "mj", "uj", "mw", "uw", "joules", "watts", "watt", "draw", "c"}
)


def _power_of(trace: Trace, at: int, joules: np.ndarray, flags: list[str]) -> np.ndarray:
    """Return the power over each step, from a column of energies; W."""
    power_w = np.full(len(joules), np.nan)
    name = trace.layout.headings[at]
    for number in range(int(trace.device.max()) + 1):
        rows = np.flatnonzero((trace.device == number) & ~np.isnan(joules))
        own, dt_s = joules[rows], trace.dt_s[rows]
        if is_running_total(own):
            steps = steps_of(own, trace.headings[at].scale == POWERCAP_SCALE)
            for at_line, detail in steps.repaired:
                line = trace.layout.lines[rows[at_line]]
                trace.problems.add("energy_counter_wrapped", "repaired", f"{name} {detail}", line)
                flags += [] if "energy_counter_wrapped" in flags else ["energy_counter_wrapped"]
            for at_line, detail in steps.reset:
                line = trace.layout.lines[rows[at_line]]
                trace.problems.add("counter_reset", "doubted", f"{name} {detail}", line)
            first = float(own[0])
            own = steps.values
            are_powers = any(each.quantity == "power" for each in trace.headings)
            if are_powers and 0 < first <= _ONE_STEP * float(np.nanmedian(own)):
                # It began at 0, a step before, as the power beside it did.
                own[0] = first
        with np.errstate(divide="ignore", invalid="ignore"):
            power_w[rows] = np.where(dt_s > 0, own / dt_s, np.nan)
    return power_w


def _intervals(trace: Trace, values: dict[str, np.ndarray]) -> Intervals:
    order = np.argsort(trace.end_s, kind="stable")
    order = order[(trace.dt_s > 0)[order] & ~np.isnan(trace.end_s[order])]
    return Intervals(
        trace.end_s[order],
        trace.dt_s[order],
        trace.device[order].astype(np.int32),
        trace.device[order].astype(np.int32),
        [""] * len(order),
        {name: series[order] for name, series in values.items()},
        trace.start_unix_s,
    )
