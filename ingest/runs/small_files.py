"""What the small files of a run say, taken over into its row: measures, knobs, times, counts."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from data.schema import KNOBS, MEASUREMENTS
from ingest.discover.found_files import IDLE
from ingest.discover.source_reads import SourceRead
from ingest.formats.proc_interrupts import phase_of
from ingest.formats.sidecar import polled_mode
from ingest.records import (
    FunctionCounts,
    InterruptCounts,
    PowerJoin,
    Problem,
    Reading,
    UtcWindow,
    Window,
)
from ingest.runs.event_counts import measured, take_counts
from ingest.runs.row import RunRow
from ingest.runs.storage_counts import (
    count_interrupts,
    function_rates,
)
from ingest.settings.dataset import Machine

DURATION_TOLERANCE: Final = 0.10
_LEAST_UNFIT: Final = 2**63
# Roles of files that say what a run did.
_RESULTS: Final = ("output", "window")
# What says the same as another file holds over it if it comes later.
_PRECEDENCE: Final = {"output": 0, "window": 1, "counts": 2, "sidecar": 3}


def take_readings(run: RunRow) -> Window | None:
    """Take over what the small files say; the record of the window comes before an output's."""
    by_role = sorted(run.readings, key=_role_order)
    window: Window | None = None
    for read in by_role:
        content = read.content
        assert isinstance(content, Reading)
        if read.file.format.role == "counts":
            continue
        run.row |= measured(content)
        run.flags.update(content.flags)
        _check_knobs(run, read, content)
        if content.window is not None and _can_be(content.window, run.settings.machine):
            window = content.window
        elif content.window is not None:
            detail = f"a window from {content.window.start_tsc} to {content.window.end_tsc} ticks"
            run.doubt(read, "no_window", f"{detail} cannot be; not used")
    _take_mode(run)
    if window is not None:
        _take_window(run, window)
    return window


def _can_be(window: Window, machine: Machine) -> bool:
    """Whether 62 bits hold the window's nanoseconds, some 146 years, and 63 its ends."""
    length_ns = (window.end_tsc - window.start_tsc) * 1e9 / machine.tsc_hz
    return 0 <= window.start_tsc < window.end_tsc < 2**63 and length_ns < 2**62


def _take_mode(run: RunRow) -> None:
    """Tell the completion mode from what files say of polling, or see that they agree with it."""
    said: dict[str, bool | int] = {}
    for read in sorted(run.readings, key=lambda read: (_role_order(read), len(read.file.path))):
        if isinstance(read.content, Reading):
            said |= read.content.polling
    mode, named = polled_mode(said), run.row.get("mode")
    if named is None:
        run.row |= {"mode": mode} if mode is not None else {}
    elif mode not in (None, named) or (said.get("hipri") is True and named == "interrupt"):
        words = ", ".join(f"{key} {value}" for key, value in sorted(said.items()))
        detail = f"the files say {words}, their names {named!r}; the names hold"
        run.doubt(_own_file(run), "knob_mismatch", detail)
    mode = run.row.get("mode")
    if mode is not None and mode not in run.settings.modes and run.reads:
        run.flags.add("unknown_mode")
        detail = f"the settings do not know the completion mode {mode!r}; kept under this name"
        run.doubt(_own_file(run), "unknown_mode", detail)


def _own_file(run: RunRow) -> SourceRead:
    """A file that is of this run alone, which a sidecar need not be."""
    return min(run.reads, key=_role_order)


def _role_order(read: SourceRead) -> int:
    return _PRECEDENCE[read.file.format.role]


def take_utc_window(run: RunRow) -> UtcWindow | None:
    """When the run was: its nearest sidecar says it best, then what measured it."""
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
    """Who says best when a run was: less is better. Sidecars from elsewhere go by their depth."""
    if read.file.path in order:
        return order[read.file.path]
    return -read.file.path.count("/") if read.file.format.role == "sidecar" else len(order)


def has_result(run: RunRow) -> bool:
    """Whether the files say what the run measured; if not, why not."""
    if run.logs or any(read.file.format.role in _RESULTS for read in run.readings):
        return True
    if run.key.workload == IDLE:
        if run.row.get("duration_s") is not None:
            return True
        detail = "no sidecar of it says start_utc and end_utc; not used"
        _refuse(run, [read for read in run.reads if read.content], "no_time", detail)
    elif not any(read.file.format.role in _RESULTS for read in run.reads):
        detail = f"run {run.row['run_id']} has no output that it could add to; not used"
        _refuse(run, [r for r in run.reads if r.file.format.role == "counts"], "no_output", detail)
    return False


def _refuse(run: RunRow, reads: Sequence[SourceRead], kind: str, detail: str) -> None:
    """Refuse files of which nothing else is wrong."""
    for read in reads:
        if not run.problems[read.file.path]:
            run.problems[read.file.path].append(Problem(kind, "refused", detail))


def take_companions(run: RunRow) -> pa.Table | None:
    """Take over what was counted beside the run; gives its table of functions, if it has one."""
    take_counts(run)
    looks = _looks_at_interrupts(run)
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


def _looks_at_interrupts(run: RunRow) -> list[tuple[SourceRead, InterruptCounts]]:
    """Looks before the run, then after it."""
    looks = [(r, r.content) for r in run.reads if isinstance(r.content, InterruptCounts)]
    return sorted(looks, key=lambda look: phase_of(look[0].file.name) == "after")


def drop_unfit(run: RunRow) -> None:
    """Leave unset what no column can hold: numbers that are none, or of over 63 bits."""
    for name in (*KNOBS, *MEASUREMENTS, *run.columns):
        value = run.row.get(name)
        if isinstance(value, int | float) and not abs(value) < _LEAST_UNFIT:
            del run.row[name]
            run.flags.add("value_range")
            detail = f"{name} cannot be {value:g}; left unset"
            run.doubt((run.readings or run.reads)[0], "value_range", detail)


def take_power(run: RunRow, power: PowerJoin) -> None:
    """Take over what power meters say of the run; it holds over what others say of its energy."""
    run.row |= power.measurements
    run.has_own_power &= "energy_j" not in power.measurements
    run.flags.update(power.flags)
    for path, problems in power.problems.items():
        run.problems.setdefault(path, []).extend(problems)


def _check_knobs(run: RunRow, read: SourceRead, content: Reading) -> None:
    for name, hint in content.hints.items():
        run.row.setdefault(name, hint)
    for name, said in content.knobs.items():
        named = run.row.get(name)
        if named is None:
            is_known = name in KNOBS or name == "mode" or name in run.columns
            if is_known and name not in run.row:
                run.row[name] = said
        elif str(said).lower() != str(named).lower() and said != named:
            detail = f"the file says {name} {said!r}, its name {named!r}; the name holds"
            run.doubt(read, "knob_mismatch", detail)


def _take_window(run: RunRow, window: Window) -> None:
    duration_s = (window.end_tsc - window.start_tsc) / run.settings.machine.tsc_hz
    stated_s = run.row.get("duration_s")
    run.row["duration_s"] = duration_s
    if stated_s is not None and abs(stated_s - duration_s) > DURATION_TOLERANCE * duration_s:
        run.flags.add("duration_off")
        output = next(r for r in run.readings if "duration_s" in r.content.measurements)  # type: ignore[union-attr]
        detail = f"states {stated_s:.6g} s, the window lasts {duration_s:.6g} s; the window holds"
        run.doubt(output, "duration_off", detail)
