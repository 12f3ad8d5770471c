"""Steps of jobs in SLURM's accounting: rows `4711.batch` and `4711.0` of the job `4711`."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.table_rows import Table
from ingest.formats.written_numbers import is_number, is_unset
from ingest.records import ProblemList
from ingest.settings.heading_words import words_of

_WORDS: Final = frozenset({"job", "jobid", "step", "jobstep"})
# A job of an array, a part of one of several kinds of nodes; sacct cuts long names: `extern` `ex+`.
_JOB: Final = re.compile(
    r"(\d+(?:_(?:\d+|\[.*\])|\+\d+)?)(?:\.(\d+|batch|extern|interactive|[a-z]+\+))?"
)
# A step that took all the time of its job may end 1 s earlier.
_EQUAL: Final = 0.02


def join_steps(table: Table, problems: ProblemList, declared: Collection[str] = ()) -> Table:
    """Return a table of jobs, whose empty cells have what all of their steps say.

    A cell stays empty where steps differ, and where a number of a step is not that of its job: such
    a step is a part of the job. A table of anything else is returned as it is.

    Args:
        declared: Headings whose texts say by settings which rows are no runs.
    """
    columns = (
        n
        for n, heading in enumerate(table.headings)
        if _WORDS.intersection(words_of(heading)) and heading not in declared
    )
    at = next((n for n in columns if _are_steps(map(_text, table.column(n)))), None)
    if at is None:
        return table
    rows = [*table.rows]
    jobs: dict[str, int] = {}
    for row, (_, cells) in enumerate(rows):
        jobs.setdefault(_text(cells[at]), row)
    steps: dict[int, list[Sequence[Cell]]] = {}
    dropped = set()
    for row, (_, cells) in enumerate(rows):
        job, dot, _ = _text(cells[at]).partition(".")
        if dot and job in jobs:
            steps.setdefault(jobs[job], []).append(cells)
            dropped.add(row)
        elif not dot:
            # A job that ran again stands again, above the steps of that time.
            jobs[job] = row
    copy = table.of_same_place(table.headings)
    for row, (line, cells) in enumerate(rows):
        if row in dropped:
            continue
        joined, lost = _joined(cells, steps.get(row, []), at)
        copy.append(line, joined)
        if lost:
            names = ", ".join(table.headings[index] for index in lost)
            detail = f"steps of job {cells[at]} are parts of it or differ: {names} left empty"
            problems.add("job_steps_differ", "doubted", detail, line)
    detail = f"{len(dropped)} rows are steps of jobs in other rows; no runs"
    problems.add("job_steps", "repaired", detail)
    return copy


def _text(cell: Cell) -> str:
    text = "" if cell is None else str(cell).strip()
    return "" if is_unset(text) else text


def _are_steps(texts: Iterable[str]) -> bool:
    """Return whether texts are numbers of jobs and steps: named ones, or numbered from 0 on."""
    steps_of: dict[str, set[str]] = {}
    for text in texts:
        match = _JOB.fullmatch(text)
        if match is None:
            return False
        steps_of.setdefault(match[1], set()).add(match[2] or "")
    inner = [each - {""} for each in steps_of.values() if "" in each and len(each) > 1]
    is_named = any(not step.isdigit() for each in inner for step in each)
    return bool(inner) and (is_named or all("0" in each for each in inner))


def _joined(
    cells: Sequence[Cell], steps: Sequence[Sequence[Cell]], at: int
) -> tuple[list[Cell], list[int]]:
    """Return the cells of a job with those of its steps, and which of theirs are left out."""
    are_whole = all(
        math.isclose(float(own), float(other), rel_tol=_EQUAL)
        for step in steps
        for own, other in zip(map(_text, cells), map(_text, step), strict=True)
        if is_number(own) and is_number(other)
    )
    joined, lost = [*cells], []
    for index, cell in enumerate(cells):
        values = {_text(step[index]) for step in steps
                if _text(step[index]) or ".ex" not in _text(step[at])}  # fmt: skip
        if _text(cell) or not any(values):
            continue
        if are_whole and len(values) == 1:
            joined[index] = next(step[index] for step in steps if _text(step[index]))
        else:
            lost.append(index)
    return joined, lost
