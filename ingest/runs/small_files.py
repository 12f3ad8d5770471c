"""Add the contents of a run's small files to its row: measurements, knobs, times, counts."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from data.schema import KNOBS, MEASUREMENTS
from ingest.discover.found_files import IDLE
from ingest.discover.source_reads import SourceRead
from ingest.formats.proc_interrupts import phase_of
from ingest.formats.sidecar import hybrid_delay, polled_mode
from ingest.meters.exports import PowerJoin
from ingest.records import FunctionCounts, InterruptCounts, Problem, Reading, UtcWindow, Window
from ingest.runs.event_counts import energy_time_s, is_companion, measured, take_counts
from ingest.runs.part_energies import keep_parts
from ingest.runs.row import RunRow
from ingest.runs.storage_counts import count_interrupts, function_rates
from ingest.settings.knobs import decode_hybrid_delay

DURATION_TOLERANCE: Final = 0.10
_LEAST_UNFIT: Final = 2**63
# Roles of files with a run's result.
_RESULTS: Final = ("output", "trace", "window")
# If two files give the same value, the later role is used.
_PRECEDENCE: Final = {"output": 0, "trace": 1, "window": 2, "counts": 3, "scores": 4, "sidecar": 5}


def take_readings(run: RunRow) -> Window | None:
    """Add the small files to the row; a window record overrides the window of an output."""
    by_role = sorted(run.readings, key=_role_order)
    keep_parts(run)
    window: Window | None = None
    for read in by_role:
        content = read.content
        assert isinstance(content, Reading)
        if read.file.format.role == "counts" or is_companion(run, read):
            continue
        run.row |= measured(content)
        run.flags.update(content.flags)
        _check_knobs(run, read, content)
        window = content.window or window
    _take_mode(run)
    if window is not None:
        _take_window(run, window)
    return window


def _take_mode(run: RunRow) -> None:
    """Derive the completion mode from the polling options in files, or check it against them."""
    polling: dict[str, bool | int] = {}
    for read in sorted(run.readings, key=lambda read: (_role_order(read), len(read.file.path))):
        if isinstance(read.content, Reading):
            polling |= read.content.polling
    mode, named = polled_mode(polling), run.row.get("mode")
    if named is None:
        run.row |= {"mode": mode} if mode is not None else {}
    elif mode not in (None, named) or (polling.get("hipri") is True and named == "interrupt"):
        options = ", ".join(f"{key} {value}" for key, value in sorted(polling.items()))
        detail = f"the files say {options}, their names {named!r}; the names are used"
        run.doubt(_own_file(run), "knob_mismatch", detail)
    mode = run.row.get("mode")
    if mode == "hybrid" and (delay := hybrid_delay(polling)):
        run.row.setdefault("hybrid_delay_policy", decode_hybrid_delay(delay)[1])
        run.row.setdefault("hybrid_delay_us", decode_hybrid_delay(delay)[0])
    if mode is not None and mode not in run.settings.modes and run.reads:
        run.flags.add("unknown_mode")
        detail = f"the settings do not know the completion mode {mode!r}; kept under this name"
        run.doubt(_own_file(run), "unknown_mode", detail)


def _own_file(run: RunRow) -> SourceRead:
    """Return a file that belongs to this run alone; a sidecar may apply to several runs."""
    return min(run.reads, key=_role_order)


def _role_order(read: SourceRead) -> int:
    return _PRECEDENCE[read.file.format.role]


def take_utc_window(run: RunRow) -> UtcWindow | None:
    """Find the time of the run: from its nearest sidecar, else from its other files."""
    if not run.readings:
        return None
    sidecars = max((read.file.sidecars for read in run.reads), key=len)
    order = {sidecar.path: place for place, sidecar in enumerate(sidecars)}
    is_part = any(read.file.part for read in run.reads)
    windows = {
        _rank(read, order): read.content.utc_window
        for read in reversed(run.readings)
        if isinstance(read.content, Reading)
        and read.content.utc_window
        and not (is_part and read.file.format.role == "sidecar")
    }
    if not windows:
        return None
    window = windows[min(windows)]
    assert window is not None
    run.row["start_unix_s"] = window.start_s
    run.row.setdefault("duration_s", window.length_s)
    return window


def _rank(read: SourceRead, order: Mapping[str, int]) -> int:
    """Rank a file for the run's time, lowest first; sidecars elsewhere go by depth."""
    if read.file.path in order:
        return order[read.file.path]
    return -read.file.path.count("/") if read.file.format.role == "sidecar" else len(order)


def has_result(run: RunRow) -> bool:
    """Return whether the files have a result of the run; if not, add the reason to the problems."""
    if run.logs or any(read.file.format.role in _RESULTS for read in run.readings):
        return True
    if _are_counts_the_result(run):
        return True
    if run.key.workload == IDLE:
        if run.row.get("duration_s") is not None:
            return True
        detail = "none of its sidecars has start_utc and end_utc; not used"
        _refuse(run, [read for read in run.reads if read.content], "no_time", detail)
    elif not any(read.file.format.role in _RESULTS for read in run.reads):
        detail = f"run {run.row['run_id']} has no output to which these counts belong; not used"
        _refuse(run, [r for r in run.reads if r.file.format.role == "counts"], "no_output", detail)
    return False


def _are_counts_the_result(run: RunRow) -> bool:
    """Return whether counts are all that was measured, of a workload that is judged by its time.

    They have the run's energy. How long they counted is its duration.
    """
    known = run.settings.workloads.get(run.key.workload)
    are_alone = all(read.file.format.role == "counts" for read in run.reads)
    if not are_alone or known is None or known.performance_metric != "duration_s":
        return False
    time_s = energy_time_s(run)
    if time_s is not None:
        run.row.setdefault("duration_s", time_s)
    return time_s is not None


def _refuse(run: RunRow, reads: Sequence[SourceRead], kind: str, detail: str) -> None:
    """Refuse files without other problems."""
    for read in reads:
        if not run.problems[read.file.path]:
            run.problems[read.file.path].append(Problem(kind, "refused", detail))


def take_companions(run: RunRow) -> pa.Table | None:
    """Add counts that were taken during the run; return its table of functions, if any."""
    take_counts(run)
    # The snapshots of /proc/interrupts: before the run, then after it.
    looks = [(r, r.content) for r in run.reads if isinstance(r.content, InterruptCounts)]
    looks.sort(key=lambda look: phase_of(look[0].file.name) == "after")
    if looks:
        ramp_s = max(
            (r.content.ramp_s for r in run.readings if isinstance(r.content, Reading)), default=0.0
        )
        named = [(read.file.name, look) for read, look in looks]
        counted = count_interrupts(named, run.row.get("duration_s"), ramp_s)
        if isinstance(counted, Problem):
            run.flags.add(counted.kind)
            run.problems[looks[-1][0].file.path].append(counted)
        else:
            run.row["interrupts"] = counted
    for read in run.reads:
        if isinstance(read.content, FunctionCounts):
            totals, table = function_rates(read.content, run.row, run.settings)
            run.row |= {name: value for name, value in totals.items() if name not in run.row}
            return table
    return None


def drop_unfit(run: RunRow) -> None:
    """Remove values that no column can hold, not finite or more than 63 bits, and costs below 0."""
    for name in (*KNOBS, *MEASUREMENTS, *run.columns):
        value = run.row.get(name)
        is_unfit = isinstance(value, int | float) and not abs(value) < _LEAST_UNFIT
        if is_unfit or (name in MEASUREMENTS and (value or 0) < 0):
            del run.row[name]
            run.flags.add("value_range")
            why = "which no column can hold" if is_unfit else "below 0, which nothing takes"
            detail = f"{name} is {value:.6g}, {why}; left unset"
            run.doubt((run.readings or run.reads)[0], "value_range", detail)


def take_power(run: RunRow, power: PowerJoin) -> None:
    """Add the values of power meters, which override the energy of other files."""
    run.row |= power.measurements
    run.has_own_power &= "energy_j" not in power.measurements
    run.flags.update(power.flags)
    for path, problems in power.problems.items():
        run.problems.setdefault(path, []).extend(problems)


def _check_knobs(run: RunRow, read: SourceRead, content: Reading) -> None:
    for name, hint in content.hints.items():
        run.row.setdefault(name, hint)
    known = {*KNOBS, "mode", *run.columns, *run.settings.columns}
    for name, value in content.knobs.items():
        named = run.row.get(name)
        if named is None:
            if name in known and name not in run.row:
                run.row[name] = value
        elif str(value).lower() != str(named).lower() and value != named:
            detail = f"the file says {name} {value!r}, its name {named!r}; the name is used"
            run.doubt(read, "knob_mismatch", detail)


def _take_window(run: RunRow, window: Window) -> None:
    duration_s = (window.end_tsc - window.start_tsc) / run.settings.machine.tsc_hz
    stated_s = run.row.get("duration_s")
    run.row["duration_s"] = duration_s
    if stated_s is not None and abs(stated_s - duration_s) > DURATION_TOLERANCE * duration_s:
        run.flags.add("duration_off")
        output = next(r for r in run.readings if "duration_s" in r.content.measurements)  # type: ignore[union-attr]
        detail = f"states {stated_s:.6g} s, the window lasts {duration_s:.6g} s; the window is used"
        run.doubt(output, "duration_off", detail)
