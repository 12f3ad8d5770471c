"""The energies of a run with several traces: of the machine, else each of a part of it.

`cpu.csv` and `gpu.csv` of one run say no energy of the machine: their sum lacks what nobody
measured. Each is a column of its own; `energy_j` has that of a trace that says to be of the whole.
"""

from collections.abc import Sequence
from typing import Final

from data.declared import Column
from ingest.discover.source_reads import SourceRead
from ingest.formats.trace_headings import part_in
from ingest.records import Reading
from ingest.runs.row import RunRow
from ingest.settings.column_names import clean_name

_ENERGY: Final = "energy_j"
_WHOLE: Final = "total"
# Traces of one run are as long, but for this share of the longest.
_AS_LONG: Final = 0.1


def keep_parts(run: RunRow) -> None:
    """Give each trace of a run its own column of energy, where there are several with one."""
    traces = [
        (read, read.content)
        for read in run.readings
        if read.file.format.role == "trace"
        and isinstance(read.content, Reading)
        and _ENERGY in read.content.measurements
    ]
    if len(traces) < 2:
        return
    parts = [_part_of(read, content) for read, content in traces]
    names = _names_of(run, [read for read, _ in traces], parts)
    for name, (_, content) in zip(names, traces, strict=True):
        if name == _ENERGY:
            continue
        content.measurements[name] = content.measurements.pop(_ENERGY)
        title = f"Energy, {name.removesuffix('_energy_j').replace('_', ' ')}"
        content.columns += (Column(name, "metric", "real", title, title, "J", "less"),)
        run.columns[name] = content.columns[-1]
    lengths = [content.measurements.get("duration_s", 0.0) for _, content in traces]
    if min(lengths) < (1 - _AS_LONG) * max(lengths):
        detail = f"traces of one run last {min(lengths):.6g} to {max(lengths):.6g} s"
        run.doubt(traces[0][0], "duration_off", detail)
    if _ENERGY not in names:
        detail = f"none of {', '.join(names)} says to be of the whole machine: no energy_j"
        run.doubt(traces[0][0], "parts_only", detail)


def _part_of(read: SourceRead, content: Reading) -> str:
    """Return of what a trace is: its name says it, else its headings."""
    return part_in(read.file.path.rpartition("/")[2]) or content.part or part_in(read.file.path)


def _names_of(run: RunRow, reads: Sequence[SourceRead], parts: Sequence[str]) -> list[str]:
    """Return the column of each trace: that of its part, if no other is of it, else of its name."""
    names = list[str]()
    for read, part in zip(reads, parts, strict=True):
        is_told = bool(part) and parts.count(part) == 1
        stem = read.file.name.partition(".")[0]
        own = f"{part if is_told else clean_name(stem, 'real')}_energy_j"
        if is_told and part == _WHOLE:
            own = _ENERGY
        while own in names or (own != _ENERGY and own in run.columns):
            own = f"other_{own}"
        names.append(own)
    return names
