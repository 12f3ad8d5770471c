"""Traces of several parts of a machine in one run: `fft_cpu.csv` and `fft_gpu.csv`.

Names alone do not tell them from runs of a program on a CPU and on a GPU. They are of one run where
their dates overlap; without dates, where their headings say the parts that their names say, and
they took as long.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from data.declared import Column
from data.errors import FormatError
from ingest.discover.names import strip_compression
from ingest.files.blocks import read_head
from ingest.formats import trace
from ingest.formats.trace_headings import OF_TRACES, part_in
from ingest.proposals.path_parts import PathColumn
from ingest.proposals.shapes import Shape
from ingest.records import ReadContext, Reading
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

# Runs whose traces are read, and bytes of each.
_MOST_RUNS: Final = 12
_MOST_BYTES: Final = 8 << 20
# Two traces of one run are as long but for this share, and overlap by this one.
_AS_LONG: Final = 0.1
_OVERLAP: Final = 0.5


def idle_block(shapes: Iterable[Shape], system: str) -> tuple[list[Shape], str]:
    """Return the traces that a name says to be of no program, `idle.csv`, and their entry.

    Nothing if all traces are such. The pattern has their whole names: a folder above the others may
    be of an `idle` study too.
    """
    traces = [shape for shape in shapes if shape.role == "trace"]
    idle = [shape for shape in traces if any(map(_is_idle, shape.example.split("/")))]
    if not 0 < len(idle) < len(traces):
        return [], ""
    count = sum(len(shape.files) for shape in idle)
    names = (strip_compression("\0".join(shape.literals)).split("\0") for shape in idle)
    forms = dict.fromkeys("[^/]*".join(map(re.escape, name)).replace("'", ".") for name in names)
    lines = [
        f"# {count} file{'' if count == 1 else 's'} of trace, such as {idle[0].example}",
        "[[names]]",
        f"pattern = '(?P<variant>{'|'.join(forms)})'",
        'workload = "idle"',
        f'system = "{system}"',
    ]
    return idle, "\n".join([*lines, ""])


def _is_idle(part: str) -> bool:
    """Return whether a part of a path says no more than that nothing ran: `gpu_idle_1.csv`."""
    words = {*words_of(part.partition(".")[0])} - WORDS["general"] - OF_TRACES
    return {word for word in words if word.isalpha()} == {"idle"}


def parts_of_runs(
    columns: Sequence[PathColumn],
    pattern: str,
    paths: Iterable[str],
    place_of: Callable[[str], Path],
) -> set[str]:
    """Return the columns of paths that say of which part of a machine a trace of a run is, or
    which of the series of a run.

    Args:
        pattern: Of the ends of the paths, with a group for each column.
    """
    matches = [*filter(None, (re.fullmatch(f"(?:.*/)?{pattern}", path) for path in paths))]
    found = set()
    for column in columns:
        if column.role == "stamp":
            continue
        are_parts = all(part_in(match[column.name]) for match in matches)
        runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for match in matches:
            others = (match[c.name] for c in columns if c is not column)
            runs[tuple(others)].append(match[0])
        several = [each for each in runs.values() if len(each) > 1]
        judge = _are_of_one_run if are_parts else _are_series_of_one_run
        judged = [judge([*map(place_of, each)]) for each in islice(several, _MOST_RUNS)]
        if judged and all(judged):
            found.add(column.name)
    return found


def rate_in(files: Iterable[Path]) -> Column | None:
    """Return the column of the rate that a series beside another one has: the result of a run."""
    readings = [*filter(None, map(_read, islice(files, _MOST_RUNS)))]
    columns = [column for reading in readings for column in reading.columns]
    rates = (c for c in columns if c.better == "more" and c.unit.endswith("/s"))
    has_energy = any("energy_j" in reading.measurements for reading in readings)
    return next(rates, None) if has_energy else None


def _are_of_one_run(files: Sequence[Path]) -> bool:
    first, *others = map(_read, files)
    return first is not None and all(
        each is not None and _is_same_time(first, each) for each in others
    )


def _are_series_of_one_run(files: Sequence[Path]) -> bool:
    """Return whether traces begin at one time and none measured what another one did."""
    measured = set[str]()
    starts_s = list[float]()
    for file in files:
        rows = reading.intervals if (reading := _read(file)) is not None else None
        if rows is None or rows.start_unix_s is None or not measured.isdisjoint(rows.values):
            return False
        measured |= rows.values.keys()
        starts_s += [rows.start_unix_s, rows.start_unix_s + float(rows.dt_s[0])]
    begins_s, ends_s = starts_s[::2], starts_s[1::2]
    return max(begins_s) <= min(ends_s)


def _read(file: Path) -> Reading | None:
    try:
        return trace.read([read_head(file, _MOST_BYTES)], ReadContext(file.name, 1.0))
    except (FormatError, OSError):
        return None


def _is_same_time(one: Reading, other: Reading) -> bool:
    lengths = [each.measurements.get("duration_s", 0.0) for each in (one, other)]
    starts = [each.intervals.start_unix_s if each.intervals else None for each in (one, other)]
    begin, end = starts
    if begin is not None and end is not None:
        overlap_s = min(begin + lengths[0], end + lengths[1]) - max(begin, end)
        return overlap_s >= _OVERLAP * min(lengths) > 0
    are_as_long = abs(lengths[0] - lengths[1]) <= _AS_LONG * max(lengths)
    return are_as_long and "" not in (one.part, other.part) and one.part != other.part
