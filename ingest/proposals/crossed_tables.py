"""Tables with a run in each column, cell or block: a metric a row, or a setting a row and column.

`metric,run1,run2` has the runs in its columns. `energy_j.csv` with the headings
`threads,1200,2400` has an energy in each cell, at the threads of its row and the clock of its
column.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell, is_aside
from ingest.formats.table_reshaped import VALUE
from ingest.formats.written_numbers import is_number, is_unset
from ingest.proposals.guess import Guess, statistic_of
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.settings.column_names import VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import (
    is_derived,
    is_measurement,
    is_setting,
    quantity_of,
    read_heading,
)
from ingest.settings.units import unit_of

# Parts of a machine or of a run, percentiles and statistics stand in no heading of a run.
_NO_RUNS: Final = (
    WORDS["parts"] | WORDS["statistics"] | WORDS["plain"] - {"run"} | WORDS["measured"]
    | {"p", "socket", "package", "pkg", "node", "thread", "value", "unit", "units", "n", "ci"}
)  # fmt: skip

# What a row is of a table that is no run: a sample, or a part of a distribution.
_SAMPLED: Final = WORDS["times_of_day"] | WORDS["samples"]
_PERCENTILE: Final = re.compile(r"p\d\d+(?:\.\d+)?|\d\d(?:\.\d+)?th", re.IGNORECASE)
VALUE_OF_CELLS: Final = "value"
# Times of samples, and the least that tell them from durations of runs.
_OF_SAMPLES: Final = WORDS["times_of_samples"]
_LEAST_SAMPLES: Final = 4
# So many durations of runs do not rise by equal steps.
_MANY_SAMPLES: Final = 12
_STATISTICS: Final = WORDS["statistics"] | WORDS["plain"] - {"run"}


def rows_are_samples(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> bool:
    """Return whether the first column numbers samples, or names parts of a distribution."""
    row = {*read_heading(headings[0]).words}
    texts = [str(cell).strip() for cell in columns[0]] if columns else []
    counts = ([str(begin + n) for n in range(len(texts))] for begin in (0, 1))
    return (
        (bool(row) and row <= _SAMPLED)
        or (not headings[0] and texts in counts)
        or all(_PERCENTILE.fullmatch(text) or {*words_of(text)} & _STATISTICS for text in texts)
    )


def are_samples_over_time(guesses: Sequence[Guess], sources: Sequence[str]) -> bool:
    """Return whether rows are samples: nothing was set, and a time rises from 0 by equal steps.

    It begins again in each file; of many samples it may begin within two steps of 0. So few, or of
    what, that they are no trace.
    """
    if any(guess.role == "knob" for guess in guesses):
        return False
    begins = [at for at in range(1, len(sources)) if sources[at] != sources[at - 1]]
    for guess in guesses:
        is_time = guess.quantity == "time" or guess.heading.has(*_OF_SAMPLES)
        is_time &= len(guess.numbers) == len(guess.cells)
        if is_time and all(map(_rises_from_0, np.split(guess.numbers, begins))):
            return True
    return False


def are_samples_of_powers(guesses: Sequence[Guess], sources: Sequence[str]) -> bool:
    """Return whether rows of several files have powers alone: no setting, time or other result.

    They are of domains of a machine, read at moments that nobody wrote down: no power has a mean
    and a maximum beside it, as those of a run have.
    """
    metrics = [guess for guess in guesses if guess.role == "metric" and not guess.is_dropped]
    are_powers = len(metrics) > 1 and all(guess.quantity == "power" for guess in metrics)
    is_set = any(guess.role == "knob" or guess.is_declared for guess in guesses)
    rows = Counter(sources)
    stems = {statistic_of(guess.heading)[0] for guess in metrics}
    are_powers &= len(stems) == len(metrics)
    return are_powers and not is_set and len(rows) > 1 and min(rows.values()) >= _LEAST_SAMPLES


def _rises_from_0(numbers: np.ndarray) -> bool:
    if len(numbers) < _LEAST_SAMPLES:
        return False
    steps = np.diff(numbers)
    first = 2 * steps[0] if len(numbers) >= _MANY_SAMPLES else 0
    is_even = bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-3))
    return is_even and bool(0 <= numbers[0] <= first)


def is_computed(heading: str) -> bool:
    """Return whether a column is computed from those of runs: `change`, `mean`, `std`."""
    words = {*words_of(heading)}
    return is_derived(heading) or (bool(words) and words <= _STATISTICS | {"value"})


def runs_in_columns(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> tuple[str, tuple[str, str]] | None:
    """Return the pattern of headings that are runs, and the headings of names and of values.

    None unless each row is of another measurement, one at least an energy, a power or a time. Rows
    of settings may be among them where the headings only number the runs.
    """
    names = [str(cell).strip() for cell in columns[0]] if columns else []
    has_units = {*headings[1:2]} <= {"unit", "units"} and len(headings) > 1
    first = 1 + has_units
    runs = [each for each in headings[first:] if not is_computed(each)] or headings[first:]
    shared = [heading for heading in headings if heading not in runs]
    read = [read_heading(name) for name in names]
    is_set = [is_setting(name) and not is_measurement(name) for name in names]
    if (
        len({*names}) < max(2, len(names))
        or not any(quantity_of(each) in ("energy", "power", "time") for each in read)
        or not _are_numbers([[cell for cell, of_setting in zip(column, is_set, strict=True)
                              if not of_setting] for column in columns[first:]])
    ):  # fmt: skip
        return None
    pattern, parts = _parts_of(runs)
    are_columns = any(WORDS["set"].intersection(words_of(run)) for run in runs)
    if not parts or (are_columns and any(part.kind == "text" for part in parts)):
        return None
    if any(is_set):
        if [part.name for part in parts] != ["replicate"]:
            return None
        pattern = pattern.replace("?P<replicate>", "")
    elif len(parts) > 1:
        pattern = "(?P<setting>.+)"
    others = "|".join(map(re.escape, shared))
    return f"^(?!(?:{others})$){pattern}$", (headings[0], VALUE)


def runs_in_cells(headings: Sequence[str], columns: Sequence[Sequence[Cell]], measured: str) -> str:
    """Return the pattern of headings that are a setting; empty if a row or cell is no run.

    Args:
        measured: As `measured_in_cells`.
    """
    rows = [*columns[0]] if columns else []
    crossed = [at for at, each in enumerate(headings) if at and not is_aside(each)]
    if not measured or len({*rows}) < len(rows) or not _are_numbers([columns[n] for n in crossed]):
        return ""
    if rows_are_samples(headings, columns):
        return ""
    others = "|".join(re.escape(h) for at, h in enumerate(headings) if at not in crossed)
    return f"^(?!(?:{others})$){_parts_of([headings[at] for at in crossed])[0]}$"


def runs_in_blocks(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> str:
    """Return the pattern of the names of blocks of like headings side by side; empty for others.

    The first column of each says in texts what its run did: blocks are no parts of one run.
    """
    firsts = [heading.partition(" ")[0] for heading in headings]
    names = [*dict.fromkeys(firsts)]
    width = len(headings) // max(len(names), 1)
    stems = [heading.partition(" ")[2] for heading in headings]
    is_even = len(names) > 1 < width and firsts == [name for name in names for _ in range(width)]
    if not is_even or stems != stems[:width] * len(names) or "" in stems:
        return ""
    texts = columns[::width]
    are_unlike = any(len({*row}) > 1 for row in zip(*texts, strict=True))
    has_cost = any(quantity_of(read_heading(stem)) in ("energy", "time") for stem in stems[:width])
    if not (are_unlike and has_cost) or any(_are_numbers([cells]) for cells in texts):
        return ""
    return rf"^(?P<alternative>{'|'.join(map(re.escape, names))}) "


def measured_in_cells(path: str, headings: Sequence[str]) -> str:
    """Return the metric that the name of a file gives to all cells but those of the first column.

    Empty unless all other headings are values of one setting: numbers, governors, precisions.
    """
    stem = PurePosixPath(path).name.partition(".")[0]
    words = re.split(r"[-_. ]+", stem)
    at = [n for n, word in enumerate(words) if is_measurement(word)]
    crossed = [each for each in headings[1:] if not is_aside(each)]
    _, parts = _parts_of(crossed)
    is_time = is_measurement(headings[0]) and not {*read_heading(headings[0]).words} <= _SAMPLED
    if len(parts) != 1 or is_time:
        return ""
    if not at:
        # Steps with a unit, as `800MHz`, are no results: the cells are, of what nothing says. Those
        # under `12V` are of a rail, those under `10s` of a time.
        unit = unit_of(parts[0].unit)
        is_step = unit is not None and unit.quantity not in ("voltage", "time")
        return VALUE_OF_CELLS if is_step and parts[0].kind != "text" else ""
    known = any({h.lower() for h in crossed} <= values for values in VALUES.values())
    # The unit behind it: `energy_j`.
    last = at[0] + 1 + (read_heading(stem).unit is not None and len(words) > at[0] + 1)
    return "_".join(words[at[0] : last]) if known or parts[0].kind != "text" else ""


def _parts_of(headings: Sequence[str]) -> tuple[str, list[PathColumn]]:
    """Return the pattern of headings that are runs, and what they differ in; nothing for others."""
    starts = {word for h in headings for word in words_of(re.sub(r"(?<![A-Za-z])\d.*", "", h))}
    starts |= {word.rstrip("0123456789") for word in starts}
    is_free = len({*headings}) > 1 and starts.isdisjoint(_NO_RUNS) and "/" not in "".join(headings)
    if not is_free or "" in headings or any(map(is_measurement, headings)):
        return "", []
    return read_paths(list(headings), "setting")


def _are_numbers(columns: Sequence[Sequence[Cell]]) -> bool:
    texts = {str(cell).strip() for column in columns for cell in column if cell is not None}
    return bool(texts) and all(is_number(text) or is_unset(text) for text in texts)
