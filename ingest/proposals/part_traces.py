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
    """Return the columns of paths that say of which part of a machine a trace of a run is.

    Args:
        pattern: Of the ends of the paths, with a group for each column.
    """
    matches = [*filter(None, (re.fullmatch(f"(?:.*/)?{pattern}", path) for path in paths))]
    found = set()
    for column in columns:
        if not all(part_in(match[column.name]) for match in matches):
            continue
        runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for match in matches:
            others = (match[c.name] for c in columns if c is not column)
            runs[tuple(others)].append(match[0])
        several = [each for each in runs.values() if len(each) > 1]
        judged = [_are_of_one_run([*map(place_of, each)]) for each in islice(several, _MOST_RUNS)]
        if judged and all(judged):
            found.add(column.name)
    return found


def _are_of_one_run(files: Sequence[Path]) -> bool:
    readings = [reading for file in files if (reading := _read(file)) is not None]
    if len(readings) < len(files):
        return False
    first, *others = readings
    return all(_is_same_time(first, other) for other in others)


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
