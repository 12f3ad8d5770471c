"""The energies of a run with several traces: of the machine, else each of a part of it.

`cpu.csv` and `gpu.csv` of one run say no energy of the machine: their sum lacks what nobody
measured. Each is a column of its own; `energy_j` has that of a trace that says to be of the whole.
"""

from typing import Final

from ingest.formats.trace_headings import energy_column, energy_columns
from ingest.records import Reading
from ingest.runs.row import RunRow

_ENERGY: Final = "energy_j"
# Traces of one run are as long, but for this share of the longest.
_AS_LONG: Final = 0.1


def keep_parts(run: RunRow) -> None:
    """Give each trace of a run its own column of energy, where there are several with one.

    The run is as long as these; a series of something else may be longer.
    """
    readings = [
        (read, read.content)
        for read in run.readings
        if read.file.format.role == "trace" and isinstance(read.content, Reading)
    ]
    traces = [(read, each) for read, each in readings if _ENERGY in each.measurements]
    if not traces:
        return
    lengths = [content.measurements.get("duration_s", 0.0) for _, content in readings]
    if min(lengths) < (1 - _AS_LONG) * max(lengths):
        detail = f"traces of one run last {min(lengths):.6g} to {max(lengths):.6g} s"
        run.doubt(readings[0][0], "duration_off", detail)
    for _, each in readings:
        if _ENERGY not in each.measurements:
            each.measurements.pop("duration_s", None)
    if len(traces) < 2:
        return
    names = energy_columns([r.file.path for r, _ in traces], [c.part for _, c in traces])
    for name, (_, content) in zip(names, traces, strict=True):
        if name != _ENERGY:
            content.measurements[name] = content.measurements.pop(_ENERGY)
            content.columns += (energy_column(name),)
            run.columns[name] = content.columns[-1]
    if _ENERGY not in names:
        detail = f"none of {', '.join(names)} says to be of the whole machine: no energy_j"
        if any(not c.intervals or c.intervals.start_unix_s is None for _, c in traces):
            detail += "; without dates only their lengths say that they are of one run"
        run.doubt(traces[0][0], "parts_only", detail)
