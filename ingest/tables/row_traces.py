"""Traces and outputs of the runs in the rows of tables: by name, by folder, by times, by settings.

A row names its trace if a cell is the name of the trace or of a folder above it, as in
`run_table.csv` beside `run_0_repetition_0/power.csv`. A row states its time if it has a start, and
an end or a duration. A file of one row, such as a log or a document of a run, has the trace of the
same name, else the only one of its folder. Else traces that state the settings of one row each, as
`rpi4/traces/fft_4t_1.csv` beside `rpi4/latency.csv`, are of these rows; so are outputs of tools.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from ingest.discover.found_files import Ignored
from ingest.discover.matching import place_of
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import read_source
from ingest.files.packed import Packed
from ingest.formats.trace import POWER
from ingest.formats.trace_headings import OF_TRACES, energy_column, energy_columns
from ingest.records import MOST_NAMED_LINES, Problem, Reading, SummaryRow
from ingest.settings.headings import words_of
from ingest.tables.table_reads import TableRead, window_of

# Of a window a trace must cover this share.
_LEAST_COVERED: Final = 0.9
# Energies of a row and of its trace that differ by more are doubted.
_AS_MUCH: Final = 0.05
# Rows that are looked at for the settings of traces, and the least settings that these have.
_MOST_ROWS: Final = 2_000
_LEAST_SAID: Final = 2


# What issues requests at once.
_CLIENTS: Final = frozenset({"clients", "concurrency", "connections", "users", "vus"})


@dataclass(frozen=True, slots=True)
class _Trace:
    """A trace or an output that is a run by itself so far, and what it measured.

    Attributes:
        column: That of its energy.
        others: The traces of other parts of the machine in that run.
    """

    work: RunWork
    path: str
    reading: Reading
    column: str = "energy_j"
    others: tuple["_Trace", ...] = ()

    @property
    def is_output(self) -> bool:
        """Whether it is the output of a tool, without samples over time."""
        return self.reading.intervals is None

    @property
    def settings(self) -> dict[str, object]:
        """What its path and its lines say of its run."""
        own = {**self.reading.knobs, **dict(self.work.key.knobs)}
        own.pop("variant", None)
        return own | {"replicate": self.work.key.replicate}

    def names(self) -> set[str]:
        """Return its name and those of its folders, as a cell may have them.

        The name may end in what was measured: `exp0_power.csv` is of `exp0`.
        """
        path = Path(self.path)
        ends = re.split(r"[_.-]", path.stem)
        while ends and ends[-1].lower() in OF_TRACES:
            ends.pop()
        own = path.stem[: len("_".join(ends))]
        return {path.name, path.stem, own, *(parent.name for parent in path.parents)} - {""}

    def energy_in(self, start_s: float, end_s: float) -> float | None:
        """Return the energy between two Unix times; None if the trace does not cover them."""
        rows = self.reading.intervals
        if rows is None or rows.start_unix_s is None or POWER not in rows.values:
            return None
        if end_s <= start_s:
            return None
        end = rows.end_s + rows.start_unix_s
        overlap = np.minimum(end, end_s) - np.maximum(end - rows.dt_s, start_s)
        inside = np.maximum(overlap, 0.0)
        power_w = rows.values[POWER]
        is_known = ~np.isnan(power_w)
        covered_s = inside[is_known & (rows.core == rows.core[0])].sum()
        if covered_s < _LEAST_COVERED * (end_s - start_s):
            return None
        joules = float((power_w * inside)[is_known].sum())
        return joules * (end_s - start_s) / float(covered_s)


def join_traces(
    reads: Iterable[TableRead], works: Sequence[RunWork]
) -> tuple[set[str], list[Ignored]]:
    """Give rows without an energy that of their trace.

    Args:
        reads: The tables of a dataset; their rows are changed.
        works: Planned runs of the dataset.

    Returns:
        Ids of the planned runs that are traces of rows, and why these files are no runs.
    """
    traces = [trace for work in works if (trace := _trace_of(work)) is not None]
    if not traces:
        return set(), []
    by_name: dict[str, list[_Trace]] = defaultdict(list)
    for trace in traces:
        for name in trace.names():
            by_name[name].append(trace)
    joined: dict[str, Ignored] = {}
    single = [read for read in reads if len(read.table.rows) == 1]
    of_file = _of_files(single, traces)
    for read in reads:
        _join_table(read, traces, by_name, of_file.get(read.file.path), joined)
    for read in reads:
        _join_by_settings(read, [t for t in traces if t.work.run_id not in joined], joined)
        _declare_columns(read, [t for t in traces if t.work.run_id in joined])
    return set(joined), list(joined.values())


def _join_by_settings(
    read: TableRead, traces: Sequence[_Trace], joined: dict[str, Ignored]
) -> None:
    """Give rows the traces whose paths say the same settings as they do, each of one row alone.

    Rows may lack a trace, but no trace its row.
    """
    rows = [*read.table.rows]
    if not 1 < len(traces) <= len(rows) <= _MOST_ROWS:
        return
    keys = [trace.settings for trace in traces]
    told = [name for name in keys[0] if len({key.get(name) for key in keys}) > 1]
    if any(set(key) != set(keys[0]) for key in keys):
        return
    columns = _same_columns([row.values for row in rows], keys, told)
    if len(columns) < len(told) or len(columns) < _LEAST_SAID:
        return
    of_rows: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        of_rows[tuple(_plain(row.values.get(own)) for own in columns.values())].append(at)
    own_rows = [of_rows.get(tuple(_plain(key[name]) for name in columns), ()) for key in keys]
    of_traces = [own[0] for own in own_rows if len(own) == 1]
    if not len(traces) == len(of_traces) == len({*of_traces}):
        return
    for at, trace in zip(of_traces, traces, strict=True):
        _fill(read, rows[at], trace, None)
        what = "output" if trace.is_output else "trace"
        reason = f"the {what} of line {rows[at].line} of {read.file.name}, by their settings"
        joined[trace.work.run_id] = Ignored(trace.path, reason, True)
    read.table.rows = Packed(rows)


def _same_columns(
    rows: Sequence[Mapping[str, object]],
    keys: Sequence[Mapping[str, object]],
    names: Sequence[str],
) -> dict[str, str]:
    """Return by the name of a setting in keys the column of rows that has its values.

    Of several columns it is the one whose name says so, as `bs` and `batch_size` or `t` and
    `threads`, else, of texts, the one with the fewest other values. A setting for which two are
    alike is left out.
    """
    own = {column: {_plain(row.get(column)) for row in rows} for column in rows[0]}
    same: dict[str, str] = {}
    for name in names:
        values = {_plain(key[name]) for key in keys}
        # Numbers of repetitions and of threads may be the same, names are not by chance.
        is_text = any(isinstance(value, str) for value in values)
        fitting = {
            column: (-_likeness(name, column), len(each - values))
            for column, each in own.items()
            if values <= each and column not in same.values()
            if is_text or _likeness(name, column)
        }
        ranked = sorted(fitting, key=fitting.__getitem__)
        if ranked and [*fitting.values()].count(fitting[ranked[0]]) == 1:
            same[name] = ranked[0]
    return same


def _plain(value: object) -> object:
    """Return a cell as it is compared: texts without marks and capitals."""
    return re.sub(r"[\W_]+", "", value.lower()) if isinstance(value, str) else value


def _likeness(name: str, column: str) -> int:
    """Return how much the name of a setting in paths is like a heading: 2 for the same name, 1 for
    the same words, their beginning or their first letters, else 0."""
    if name == column:
        return 2
    words, others = words_of(name), words_of(column)
    starts = any(other.startswith(word) for word in words for other in others)
    starts |= bool(_CLIENTS & {*words}) and bool(_CLIENTS & {*others})
    return int(starts or name.lower() == "".join(other[0] for other in others)[: len(name)])


def _of_files(reads: Sequence[TableRead], traces: Sequence[_Trace]) -> dict[str, _Trace]:
    """Return the trace of each file of one row: of one name, else alone with it in a folder."""
    by_name: dict[str, _Trace] = {}
    for key_of in (_name_of, _folder_of):
        files: dict[str, list[str]] = defaultdict(list)
        own: dict[str, list[_Trace]] = defaultdict(list)
        for read in reads:
            files[key_of(read.file.path)].append(read.file.path)
        for trace in traces:
            own[key_of(trace.path)].append(trace)
        used = {trace.path for trace in by_name.values()}
        for key, paths in files.items():
            if key and len(paths) == len(own[key]) == 1 and own[key][0].path not in used:
                by_name.setdefault(paths[0], own[key][0])
    return by_name


def _name_of(path: str) -> str:
    return place_of(path, path.rpartition("/")[0]).lower()


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _trace_of(work: RunWork) -> _Trace | None:
    forms = [file.format for file in work.files]
    if len(forms) > 1 and any(form.role != "trace" for form in forms):
        return None
    if forms[0].role not in ("trace", "output") and forms[0].name != "turbostat":
        return None
    contents = [read_source(file).content for file in work.files]
    is_output = forms[0].role == "output"
    readings = [c for c in contents if isinstance(c, Reading)]
    readings = [reading for reading in readings if (reading.intervals is None) == is_output]
    if len(readings) < len(contents):
        return None
    paths = [file.path for file in work.files]
    columns = energy_columns(paths, [reading.part for reading in readings])
    first, *others = (_Trace(work, *each) for each in zip(paths, readings, columns, strict=True))
    return replace(first, others=tuple(others))


def _join_table(
    read: TableRead,
    traces: Sequence[_Trace],
    by_name: Mapping[str, list[_Trace]],
    own: _Trace | None,
    joined: dict[str, Ignored],
) -> None:
    rows: Packed[SummaryRow] = Packed()
    file = read.file.name
    # Of rows that name one trace nothing says which it is of, unless they state their times.
    naming = Counter(
        cell
        for row in read.table.rows
        for cell in {*row.values.values()}
        if isinstance(cell, str) and cell in by_name
    )
    for row in read.table.rows:
        window = window_of(row.values)
        named = [
            trace
            for cell in row.values.values()
            if isinstance(cell, str) and len(by_name.get(cell, ())) == 1
            for trace in by_name[cell]
            if window is not None or naming[cell] == 1
        ]
        named += [own] if own is not None and not named else []
        for trace in named[:1]:
            _fill(read, row, trace, window)
            joined[trace.work.run_id] = Ignored(
                trace.path, f"the trace of line {row.line} of {file}", True
            )
        if not named and window is not None:
            for trace in traces:
                energy_j = trace.energy_in(*window)
                if energy_j is not None:
                    _fill(read, row, trace, window)
                    reason = f"a trace of the runs of {file}, by their times"
                    joined[trace.work.run_id] = Ignored(trace.path, reason, True)
                    break
        rows.append(row)
    read.table.rows = rows


def _fill(
    read: TableRead, row: SummaryRow, trace: _Trace, window: tuple[float, float] | None
) -> None:
    """Give a row the energies of its trace and of those of other parts, and the time if it has
    none. An energy of its own stays, and is compared with that of the trace.
    """
    own = row.values.get("energy_j")
    if trace.is_output:
        measured = trace.reading.measurements
        row.values |= {n: v for n, v in measured.items() if row.values.get(n) is None}
        row.workload = trace.work.key.workload
    for each in (trace, *trace.others):
        measured = each.reading.measurements
        energy_j = each.energy_in(*window) if window is not None else None
        if energy_j is None:
            energy_j, duration_s = measured.get("energy_j"), measured.get("duration_s")
        else:
            assert window is not None
            duration_s = window[1] - window[0]
        if energy_j is None:
            continue
        if own is not None:
            _compare(read, row, each, energy_j)
            continue
        row.values[each.column] = energy_j
        if row.values.get("duration_s") is None:
            row.values["duration_s"] = duration_s
        row.flags.extend(flag for flag in each.reading.flags if flag not in row.flags)


def _compare(read: TableRead, row: SummaryRow, trace: _Trace, energy_j: float) -> None:
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


def _declare_columns(read: TableRead, traces: Sequence[_Trace]) -> None:
    """Add the columns that rows of a table have now: energies of parts of the machine, and what
    outputs measured.
    """
    said = {n for row in read.table.rows for n, value in row.values.items() if value is not None}
    parts = dict.fromkeys(each.column for t in traces if t.others for each in (t, *t.others))
    new = {name: energy_column(name) for name in parts if name != "energy_j"}
    new |= {c.name: c for t in traces if t.is_output for c in t.reading.columns}
    known = {column.name for column in read.table.columns}
    added = [column for name, column in new.items() if name in said and name not in known]
    if not added:
        return
    read.declare([*read.table.columns, *added])
    if parts and "energy_j" not in parts:
        detail = f"none of {', '.join(parts)} says to be of the whole machine: no energy_j"
        read.table.problems.append(Problem("parts_only", "doubted", detail))
