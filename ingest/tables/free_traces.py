"""Traces and outputs that are runs by themselves so far: what they measured, and their names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from ingest.discover.found_files import Ignored
from ingest.discover.matching import place_of
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import read_source
from ingest.formats.trace import POWER
from ingest.formats.trace_headings import OF_TRACES, energy_columns
from ingest.records import Reading
from ingest.settings.column_names import WORDS
from ingest.tables.table_reads import TableRead

# Of a window a trace must cover this share.
_LEAST_COVERED: Final = 0.9
_OF_MEASURES: Final = OF_TRACES | WORDS["measures"]


@dataclass(frozen=True, slots=True)
class FreeTrace:
    """A trace or an output that is a run by itself so far, and what it measured.

    Attributes:
        column: That of its energy.
        others: The traces of other parts of the machine in that run.
    """

    work: RunWork
    path: str
    reading: Reading
    column: str = "energy_j"
    others: tuple["FreeTrace", ...] = ()

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

        The name may begin or end with what was measured: `exp0_power.csv` is of `exp0`.
        """
        path = Path(self.path)
        parts = [*re.finditer(r"[^_.-]+", path.stem)]
        told = [at for at, part in enumerate(parts) if part[0].lower() not in _OF_MEASURES]
        firsts, lasts = (parts[: told[0] + 1], parts[told[-1] :]) if told else ((), ())
        own = {path.stem[first.start() : last.end()] for first in firsts for last in lasts}
        return {path.name, path.stem, *own, *(parent.name for parent in path.parents)} - {""}

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


class FreeTraces:
    """Those of a dataset, by their names and by the files of one row that they are of."""

    def __init__(self, works: Iterable[RunWork], reads: Iterable[TableRead]) -> None:
        self.all = [trace for work in works if (trace := _trace_of(work)) is not None]
        self.joined: dict[str, Ignored] = {}
        self.by_name: dict[str, list[FreeTrace]] = defaultdict(list)
        for trace in self.all:
            for name in trace.names():
                self.by_name[name].append(trace)
        self.of_file = _of_files([read for read in reads if len(read.table.rows) == 1], self.all)

    @property
    def left(self) -> list[FreeTrace]:
        return [trace for trace in self.all if trace.work.run_id not in self.joined]


def with_small_files(work: RunWork) -> RunWork:
    """Return a run with the contents of its files if they are traces or the output of a tool."""
    forms = [file.format for file in work.files]
    is_trace = all(form.role == "trace" for form in forms)
    is_output = len(forms) == 1 and (forms[0].role == "output" or forms[0].name == "turbostat")
    if work.reads or not (is_trace or is_output):
        return work
    return replace(work, reads=tuple(map(read_source, work.files)))


def _trace_of(work: RunWork) -> FreeTrace | None:
    is_output = work.files[0].format.role == "output"
    readings = [each.content for each in work.reads if isinstance(each.content, Reading)]
    readings = [reading for reading in readings if (reading.intervals is None) == is_output]
    if not readings or len(readings) < len(work.files):
        return None
    paths = [file.path for file in work.files]
    columns = energy_columns(paths, [reading.part for reading in readings])
    first, *others = (FreeTrace(work, *each) for each in zip(paths, readings, columns, strict=True))
    return replace(first, others=tuple(others))


def _of_files(reads: Sequence[TableRead], traces: Sequence[FreeTrace]) -> dict[str, FreeTrace]:
    """Return the trace of each file of one row: of one name, else alone with it in a folder."""
    by_name: dict[str, FreeTrace] = {}
    for key_of in (_name_of, _folder_of):
        files: dict[str, list[str]] = defaultdict(list)
        own: dict[str, list[FreeTrace]] = defaultdict(list)
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
