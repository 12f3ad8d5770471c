"""Traces and outputs of the runs in rows of tables: by name, by times, by settings, by numbers.

A row names its trace if a cell, or a part of a command, is the name of the trace or of a folder
above it: `run_table.csv` beside `run_0_repetition_0/power.csv`, `./fib 40` beside `fib_perf.txt`. A
row states its time if it has a start, and an end or a duration. A file of one row, such as a log or
a document of a run, has the trace of the same name, else the only one of its folder. Else traces
that state the settings of one row each, as `rpi4/traces/fft_4t_1.csv` beside `rpi4/latency.csv`,
are of these rows; so are outputs of tools.
Other outputs are of rows with their numbers, if their paths say what these rows had set.

A file is of one row, unless rows state their times: of several tables that name it the nearest has
it. A file whose numbers are far from those of a row is not of it.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ingest.discover.found_files import Ignored
from ingest.discover.plan import RunWork
from ingest.formats.trace_headings import energy_column
from ingest.records import MOST_NAMED_LINES, Problem, SummaryRow, UtcWindow
from ingest.settings.heading_words import words_of
from ingest.tables.free_traces import FreeTrace, FreeTraces, with_small_files
from ingest.tables.same_rows import FEWEST_RUNS, MOST_ROWS, SameRows, new_values, rows_with
from ingest.tables.table_reads import RowTrace, TableRead, window_of

# Energies of a row and of its trace that differ by more are doubted.
_AS_MUCH: Final = 0.05
# Numbers of one quantity that differ by a larger factor are of two runs.
_MOST_APART: Final = 2.0
# So near is the length of a trace to that of a load test.
_AS_LONG: Final = 0.1
_REQUESTS: Final = "request_count"
# Rows that are looked at for the settings of traces.
_MOST_ROWS: Final = 2_000
# Outputs, and bytes of each, that are compared with rows number by number.
_MOST_OUTPUTS: Final = 500
_MOST_BYTES: Final = 1 << 16

_COMMANDS: Final = frozenset({"command", "cmd", "program", "binary", "executable"})
_Window = tuple[float, float]
# By the place of a row its trace, the time of the row, and why it is that of the row.
_Found = dict[int, tuple[FreeTrace, _Window | None, str]]


def join_traces(
    reads: Sequence[TableRead], works: Sequence[RunWork]
) -> tuple[list[RunWork], list[Ignored]]:
    """Give rows what their traces and outputs measured.

    Args:
        reads: The tables of a dataset; their rows are changed.
        works: Planned runs of the dataset.

    Returns:
        The planned runs that are no rows', with what was read of small files, and why the files of
        the others are no runs.
    """
    works = [with_small_files(work) for work in works]
    traces = FreeTraces(works, reads)
    for read, found in _of_nearest(reads, traces) if traces.all else ():
        _give(read, _in_agreement(read, found), traces.joined)
    for rule in (_by_settings, _by_numbers):
        for read in reads if traces.all else ():
            _give(read, _in_agreement(read, rule(read, traces)), traces.joined)
    left = [work for work in works if work.run_id not in traces.joined]
    left = [work if work.size <= _MOST_BYTES else replace(work, reads=()) for work in left]
    return left, [*traces.joined.values()]


def _of_nearest(reads: Sequence[TableRead], traces: FreeTraces) -> list[tuple[TableRead, _Found]]:
    """Return what rows name, each trace of the table nearest to it, else of the first one."""
    found = [(read, _by_name_or_time(read, traces)) for read in reads]
    nearest: dict[str, tuple[int, TableRead]] = {}
    for read, own in found:
        for trace, window, _ in own.values():
            depth = len(os.path.commonpath((read.file.path, trace.path)).split("/"))
            known, _ = nearest.get(trace.path, (0, read))
            if window is None and depth > known:
                nearest[trace.path] = depth, read
    return [
        (read, {at: e for at, e in own.items() if e[1] or nearest[e[0].path][1] is read})
        for read, own in found
    ]


def _in_agreement(read: TableRead, found: _Found) -> _Found:
    """Return traces and outputs without those whose numbers are far from those of their row.

    A trace in the folder of its table may be longer than its run, and of a part of the machine.
    """
    far: dict[int, str] = {}
    for at, row in enumerate(read.table.rows if found else ()):
        trace, window, _ = found.get(at, (None, None, ""))
        if trace is None or window or not (trace.is_output or not _is_below(trace.path, read)):
            continue
        for name, number in trace.reading.measurements.items():
            own = row.values.get(name)
            if _are_far(own, number):
                far[at] = f"{name} of line {row.line} is {own:.6g}, in {trace.path} {number:.6g}"
    if far:
        detail = f"{len(far)} files that its rows name, by name or settings, are not theirs: "
        detail += next(iter(far.values()))
        read.table.problems.append(Problem("not_joined", "doubted", detail))
    return {at: each for at, each in found.items() if at not in far}


def _is_below(path: str, read: TableRead) -> bool:
    return Path(path).is_relative_to(Path(read.file.path).parent)


def _are_far(own: object, other: object) -> bool:
    if not (isinstance(own, int | float) and isinstance(other, int | float)):
        return False
    return min(own, other) > 0 and max(own, other) > _MOST_APART * min(own, other)


def _by_name_or_time(read: TableRead, traces: FreeTraces) -> _Found:
    # Of rows that name one trace nothing says which it is of, unless they state their times.
    names = [_names_in(row) for row in read.table.rows]
    naming = Counter(name for each in names for name in each if name in traces.by_name)
    found: _Found = {}
    for at, row in enumerate(read.table.rows):
        window, reason = window_of(row.values), f"the trace of line {row.line} of {read.file.name}"
        trace = next(
            (
                traces.by_name[name][0]
                for name in names[at]
                if len(traces.by_name.get(name, ())) == 1
                if window is not None or naming[name] == 1
            ),
            traces.of_file.get(read.file.path),
        )
        if trace is None and window is not None:
            trace = next((t for t in traces.all if t.energy_in(*window) is not None), None)
            reason = f"a trace of the runs of {read.file.name}, by their times"
        if trace is not None:
            found[at] = trace, window, reason
    return found


def _names_in(row: SummaryRow) -> dict[str, None]:
    """Return the texts of a row, and the names in its commands without folders and endings."""
    texts = {n: text for n, text in row.values.items() if isinstance(text, str)}
    commands = (text for n, text in texts.items() if not _COMMANDS.isdisjoint(words_of(n)))
    parts = (part.rpartition("/")[2] for text in commands for part in text.split())
    return dict.fromkeys([*texts.values(), *(part.partition(".")[0] or part for part in parts)])


def _by_settings(read: TableRead, traces: FreeTraces) -> _Found:
    """Return the rows with the settings that the paths of traces say."""
    left, rows = traces.left, read.table.rows
    if not 1 < len(left) <= len(rows) <= _MOST_ROWS:
        return {}
    places = rows_with([row.values for row in rows], [trace.settings for trace in left])
    of = f"of {read.file.name}, by their settings"
    return {
        at: (t, None, f"the {'output' if t.is_output else 'trace'} of line {rows[at].line} {of}")
        for at, t in zip(places, left, strict=bool(places))
    }


def _by_numbers(read: TableRead, traces: FreeTraces) -> _Found:
    """Return the rows with numbers of small outputs; where no path says what a row had set, it is
    doubted.
    """
    outputs = [t for t in traces.left if t.is_output and t.work.size <= _MOST_BYTES]
    outputs = [t for t in outputs if not t.work.files[0].part]
    is_summary = read.is_guessed and FEWEST_RUNS <= len(read.table.rows) <= MOST_ROWS
    if not is_summary or not FEWEST_RUNS <= len(outputs) <= _MOST_OUTPUTS:
        return {}
    same, of_rows = SameRows(read), defaultdict[int, list[FreeTrace]](list)
    for trace in outputs:
        reading = trace.reading
        if (at := same.place(reading.measurements | reading.knobs, reading.columns)) is not None:
            of_rows[at].append(trace)
    own = {at: each[0] for at, each in of_rows.items() if len(each) == 1}
    if len(own) < FEWEST_RUNS:
        return {}
    values = [row.values for row in same.rows]
    varied = [n for n in read.knobs if len({str(each.get(n)) for each in values}) > 1]
    doubted = {
        at: trace.work.files[0].name
        for at, trace in own.items()
        if not _states(trace.path, [values[at].get(name) for name in varied])
    }
    if doubted:
        name = next(iter(doubted.values()))
        detail = f"{len(doubted)} logs, such as {name}, may be the same runs: equal numbers"
        read.table.problems.append(Problem("maybe_repeated", "doubted", detail))
    reason = f"of {read.file.name}, whose numbers it has"
    return {
        at: (trace, None, f"the run of line {same.rows[at].line} {reason}")
        for at, trace in own.items()
        if at not in doubted
    }


def _states(path: str, settings: Iterable[object]) -> bool:
    """Return whether the path of an output has one of some settings as a part of its own."""
    for value in settings:
        text = re.escape(f"{value:g}" if isinstance(value, float) else str(value))
        border = r"[\d.]" if isinstance(value, int | float) else r"[^_./\s-]"
        if value is not None and re.search(rf"(?<!{border}){text}(?!{border})", path):
            return True
    return False


def _give(read: TableRead, found: _Found, joined: dict[str, Ignored]) -> None:
    """Give rows what was measured of them; note why the files of that are no runs."""
    given: dict[int, SummaryRow] = {}
    for at, row in enumerate(read.table.rows if found else ()):
        if at in found:
            trace, window, reason = found[at]
            joined[trace.work.run_id] = Ignored(trace.path, reason, True)
            given[at] = _measured(read, row, trace, window)
            if not trace.is_output:
                read.traces[at] = RowTrace(trace.work, UtcWindow(*window) if window else None)
    again = _said_again(read, given) if given else ()
    is_whole = len(given) == len(read.table.rows)
    workloads = {more.workload for more in given.values()}
    for more in given.values():
        more.values = {name: v for name, v in more.values.items() if name not in again}
        # What some rows have a file of ran as the others did.
        more.workload = more.workload if is_whole and len(workloads) == 1 else None
    used = [trace for trace, *_ in found.values()]
    parts = dict.fromkeys(each.column for t in used if t.others for each in (t, *t.others))
    columns = {name: energy_column(name) for name in parts if name != "energy_j"}
    columns |= {c.name: c for t in used if t.is_output for c in t.reading.columns}
    if given and read.fill(given, columns.values()) & {*parts} and "energy_j" not in parts:
        detail = f"none of {', '.join(parts)} says to be of the whole machine: no energy_j"
        read.table.problems.append(Problem("parts_only", "doubted", detail))


def _said_again(read: TableRead, given: Mapping[int, SummaryRow]) -> set[str]:
    """Return what files have under another name than the rows: the same numbers, not all equal."""
    rows = [*read.table.rows]
    own = [rows[at].values for at in given]
    again = set[str]()
    for name in {name for more in given.values() for name in more.values}:
        new = [more.values.get(name) for more in given.values()]
        if len({*new}) > 1:
            pairs = ((n, zip(new, (row.get(n) for row in own), strict=True)) for n in own[0])
            if any(n != name and all(a == b for a, b in each) for n, each in pairs):
                again.add(name)
    return again


def _measured(
    read: TableRead, row: SummaryRow, trace: FreeTrace, window: _Window | None
) -> SummaryRow:
    """Return the energies of a row's trace and of those of other parts, the time, and what an
    output measured. An energy of the row's own stays, and is compared with that of the trace.
    """
    more = SummaryRow(row.line, row.system, {})
    if trace.is_output:
        more.values |= new_values(row.values, trace.reading.measurements)
        more.workload = trace.work.key.workload
    else:
        more.flags.append("trace_joined")
    is_longer = window is None and _is_of_another_time(read, row, trace)
    for each in (trace, *trace.others):
        measured = each.reading.measurements
        energy_j, duration_s = each.energy_in(*window) if window else None, None
        if window and energy_j is not None:
            duration_s = window[1] - window[0]
        else:
            energy_j, duration_s = measured.get("energy_j"), measured.get("duration_s")
        if energy_j is not None and row.values.get("energy_j") is not None:
            _compare(read, row, each, energy_j)
        elif energy_j is not None and is_longer:
            if each.column == "energy_j" and duration_s:
                more.values["power_w"] = energy_j / duration_s
        elif energy_j is not None:
            more.values[each.column] = energy_j
            if more.values.get("duration_s") is None:
                more.values["duration_s"] = duration_s
            more.flags += each.reading.flags
    return more


def _compare(read: TableRead, row: SummaryRow, trace: FreeTrace, energy_j: float) -> None:
    """Doubt an energy of a row that is far from that of its trace, of the machine or of no part."""
    own = row.values["energy_j"]
    if trace.column != "energy_j" or not isinstance(own, int | float):
        return
    if abs(energy_j - own) <= _AS_MUCH * abs(own):
        return
    detail = f"{own:.6g} J in the row, {energy_j:.6g} J in its trace {Path(trace.path).name}"
    if trace.reading.part not in ("", "total"):
        detail += f" of the {trace.reading.part}"
    detail += ": the row's is kept"
    problems = read.table.problems
    known = [at for at, problem in enumerate(problems) if problem.kind == "trace_energy"]
    if len(known) < MOST_NAMED_LINES:
        problems.append(Problem("trace_energy", "doubted", detail, row.line))
    else:
        last = problems[known[-1]]
        problems[known[-1]] = replace(last, count=last.count + 1)


def _is_of_another_time(read: TableRead, row: SummaryRow, trace: FreeTrace) -> bool:
    """Return whether the requests of a row took another time, at their rate, than its trace: then
    the energy of the trace is not theirs.
    """
    count, rate = row.values.get(_REQUESTS), row.values.get("throughput_qps")
    length_s = trace.reading.measurements.get("duration_s")
    if not isinstance(count, int | float) or not isinstance(rate, int | float):
        return False
    if not length_s or not rate or abs(count / rate - length_s) <= _AS_LONG * length_s:
        return False
    detail = f"its requests took {count / rate:.6g} s at their rate, its trace {length_s:.6g} s: "
    detail += "the mean power is that of the whole trace, and there is no energy"
    read.table.problems.append(Problem("duration_off", "doubted", detail, row.line))
    return True
