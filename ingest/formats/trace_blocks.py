"""Traces of several runs, one below the other: columns say which run each sample is of, or the
clock begins again at 0 in each.

timestamp, benchmark, clock_mhz, rep, power_w
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from data.declared import Column, Kind
from data.schema import KNOBS
from ingest.files.text_lines import iterate_lines
from ingest.formats.documents import may_be_document
from ingest.formats.trace_cells import is_number
from ingest.formats.trace_headings import Heading, words_of
from ingest.formats.trace_layout import Layout, read_layout
from ingest.formats.trace_quantities import numbers_of, read_headings
from ingest.formats.trace_search import Trace, trace_of
from ingest.records import ReadContext
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.headings import without_unit

# Lines of a file by which it is judged.
LOOKED_AT: Final = 200
# Samples of a run.
_LEAST: Final = 6
# Words of what is set, but for those of what it ran on.
OF_SETTINGS: Final = (WORDS["set"] | WORDS["given"]) - {
    *("device", "interval", "ratio", "percentage", "machine", "host", "hostname", "node", "server"),
    *("platform", "board", "phone", "laptop", "hardware"),
}
_SET: Final = OF_SETTINGS | WORDS["replicates"] | {"experiment", "id"}
# A clock that begins again has one step in all runs, and begins in so many steps from 0.
_STEP: Final = (0.5, 1.5)
_SAME_STEPS: Final = 0.9
_FROM_0: Final = 3.0
# Of these one run has several.
_PHASES: Final = frozenset({"phase", "stage", "state", "status", "event", "marker", "step"})


@dataclass(frozen=True, slots=True)
class Block:
    """The samples of one run.

    Attributes:
        layout: Its cells, without the columns that say the run.
        knobs: What was set, by column of `runs`.
        columns: The declarations of these.
        doubt: Why nothing says what differs from run to run; empty if a column does.
    """

    layout: Layout
    knobs: dict[str, float | int | str]
    columns: tuple[Column, ...]
    doubt: str = ""


def copied(layout: Layout) -> Layout:
    """Return cells in lists of their own, which who reads their headings may change."""
    return replace(
        layout,
        headings=[*layout.headings],
        lines=[*layout.lines],
        columns=[[*cells] for cells in layout.columns],
        doubts=[*layout.doubts],
    )


def first_run(layout: Layout, name: str) -> Trace | None:
    """Return the trace in some cells, the first if the times begin again; None if they are none."""
    headings = read_headings(copied(layout), name) if layout.columns else None
    begins = clock_begins(layout, headings[: len(layout.headings)]) if headings else []
    if begins:
        layout = replace(layout, columns=[cells[: begins[1]] for cells in layout.columns],
                         lines=layout.lines[: begins[1]])  # fmt: skip
    return trace_of(layout, name)


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the names of the runs whose samples stand one below the other; see `blocks_of`."""
    head = next(blocks := iter(blocks), b"")
    layout = None
    if not may_be_document(head, context.name):
        layout = read_layout(iterate_lines([head]), LOOKED_AT)
    headings = read_headings(layout, context.name) if layout and layout.columns else None
    if not layout or not headings:
        return []
    is_told = any(may_tell(layout, headings, at) for at in range(len(headings)))
    if not is_told and not begins_near_0(layout, headings):
        return []
    return [*blocks_in(b"".join([head, *blocks]), context.name)]


@lru_cache(maxsize=1)
def blocks_in(content: bytes, name: str) -> dict[str, Block]:
    """Return the runs of a file, of which one after the other is read."""
    layout = read_layout(iterate_lines([content]))
    if layout is None or not layout.columns:
        return {}
    headings = read_headings(copied(layout), name)
    return blocks_of(layout, headings[: len(layout.headings)]) if headings else {}


def blocks_of(layout: Layout, headings: Sequence[Heading]) -> dict[str, Block]:
    """Return the runs of a trace by name; nothing for a trace of one run.

    A column says the run if a word of what is set or of replicates ends its heading, and its values
    change seldom; together such columns have the same values in one stretch of samples alone, if
    need be with a clock that changes as seldom. Where the times begin again at 0, each begin is of
    a run, and runs may have the same values.
    """
    telling = [at for at in range(len(headings)) if may_tell(layout, headings, at)]
    clocks = [at for at, each in enumerate(headings) if each.quantity == "frequency"]
    clocks = [at for at in clocks if at not in telling and _changes_seldom(layout.columns[at])]
    begins = clock_begins(layout, headings)
    stretches = [*pairwise([*begins, len(layout.lines)])] if begins else []
    # A clock alone is a reading: it may fall once as the machine warms.
    changes = any(len({*layout.columns[at]}) > 1 for at in telling)
    more = _stretches(layout, [*telling, *clocks]) if changes else []
    stretches = stretches or _stretches(layout, telling) or more
    if any(end - begin < _LEAST for begin, end in stretches):
        return {}
    free = [at for at, each in enumerate(headings) if each.quantity in ("", "frequency")]
    said = [
        at
        for at in free
        if len({*layout.columns[at]}) > 1
        and all(len({*layout.columns[at][begin:end]}) == 1 for begin, end in stretches)
    ]
    doubt = ""
    if begins and not said:
        doubt = f"the times begin again at 0: {len(begins)} runs, of which no column says"
        doubt += " what was set"
    knobs = {at: _knob(layout, headings, at) for at in said if _is_setting(layout.headings[at])}
    blocks: dict[str, Block] = {}
    for number, (begin, end) in enumerate(stretches):
        cells = {at: layout.columns[at][begin] for at in said}
        name = " ".join(cells.values()) or f"{number}"
        name = name if name not in blocks else f"{name} {begin}"
        values = {c.name: _value(c, cells[at], headings[at].scale) for at, c in knobs.items()}
        part = _part(layout, begin, end, said)
        own = tuple(column for column in knobs.values() if column.name not in KNOBS)
        blocks[name] = Block(part, values, own, doubt)
    return blocks


def clock_begins(layout: Layout, headings: Sequence[Heading]) -> list[int]:
    """Return the rows at which the times of a sampler begin again near 0; nothing for others.

    In rows of runs that took longer and longer, what was set recurs after each begin.
    """
    at, times = _clock(layout, headings)
    steps = np.diff(times)
    if not (steps < 0).any() or not (steps > 0).any():
        return []
    begins = [0, *(1 + np.flatnonzero(steps < 0)).tolist()]
    rising = steps[steps > 0]
    step = float(np.median(rising))
    are_even = (rising >= _STEP[0] * step) & (rising <= _STEP[1] * step)
    starts = times[begins]
    if are_even.mean() < _SAME_STEPS or starts.min() < 0 or starts.max() > _FROM_0 * step:
        return []
    stretches = [*pairwise([*begins, len(times)])]
    # The head of a file ends anywhere.
    if any(end - begin < _LEAST for begin, end in stretches[:-1]):
        return []
    others = (n for n, each in enumerate(headings) if n != at and each.quantity in ("", "busy"))
    return [] if any(_recurs(layout.columns[n], stretches) for n in others) else begins


def begins_near_0(layout: Layout, headings: Sequence[Heading]) -> bool:
    """Return whether the times of a trace are such that they may begin again."""
    _, times = _clock(layout, headings)
    steps = np.diff(times)
    return bool((steps > 0).any()) and 0 <= times[0] <= _FROM_0 * float(np.median(steps[steps > 0]))


def _clock(layout: Layout, headings: Sequence[Heading]) -> tuple[int, np.ndarray]:
    """Return the column of times and these; no times if they are no numbers."""
    at = next((at for at, each in enumerate(headings) if each.quantity == "time"), -1)
    is_clock = at >= 0 and all(map(is_number, layout.columns[at]))
    return at, numbers_of(layout, at) if is_clock else np.zeros(0)


def _recurs(cells: Sequence[str], stretches: Sequence[tuple[int, int]]) -> bool:
    """Return whether a column has other values in each row of a stretch, the same in others."""
    first, other = (cells[begin:end] for begin, end in stretches[:2])
    shorter = min(len(first), len(other))
    return first[:shorter] == other[:shorter] and len({*first[:shorter]}) > 1


def may_tell(layout: Layout, headings: Sequence[Heading], at: int) -> bool:
    """Return whether a column may say of which run a sample is."""
    words = words_of(layout.headings[at])
    is_free = headings[at].quantity in ("", "frequency") and bool(words)
    if not is_free or words[-1] in _PHASES or _SET.isdisjoint(words):
        return False
    return _changes_seldom(layout.columns[at])


def _changes_seldom(cells: Sequence[str]) -> bool:
    changes = sum(one != other for one, other in pairwise(cells))
    return all(cells) and (changes + 1) * _LEAST <= len(cells)


def _stretches(layout: Layout, columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return begins and ends of the stretches in which columns keep their values; nothing if two
    have the same values, or there is one.
    """
    rows = [*zip(*(layout.columns[at] for at in columns), strict=True)]
    begins = [0, *(at for at in range(1, len(rows)) if rows[at] != rows[at - 1]), len(rows)]
    return [*pairwise(begins)] if 2 < len(begins) == len({*rows}) + 1 else []


def _is_setting(heading: str) -> bool:
    return WORDS["replicates"].isdisjoint(words_of(heading)[-1:])


def _knob(layout: Layout, headings: Sequence[Heading], at: int) -> Column:
    heading, cells = layout.headings[at], {*layout.columns[at]}
    is_whole = all(cell.isdigit() for cell in cells)
    kind: Kind = "whole" if is_whole else "real" if all(map(_is_real, cells)) else "text"
    is_clock = headings[at].quantity == "frequency"
    title = without_unit(heading) if is_clock and headings[at].has_unit else heading
    unit = "MHz" if is_clock and kind != "text" else ""
    # Names are of what ran, but of policies and modes.
    words = {*words_of(heading)}
    is_given = bool(words & WORDS["given"]) or (kind == "text" and not words & WORDS["set"])
    name = clean_name(heading, kind, role="knob")
    if kind == "whole" and words_of(heading)[-1:] in (["thread"], ["threads"]):
        name = "thread_count"
    kind = "real" if unit else kind
    return Column(name, "knob", kind, title, title, unit, is_given=is_given)


def _is_real(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _value(column: Column, cell: str, scale: float) -> float | int | str:
    if column.kind == "real":
        return float(cell) * scale
    return cell if column.kind == "text" else int(cell)


def _part(layout: Layout, begin: int, end: int, said: Sequence[int]) -> Layout:
    """Return the cells of some samples, without some columns."""
    lines = layout.lines[begin:end]
    kept = [at for at in range(len(layout.headings)) if at not in said]
    return replace(
        layout,
        headings=[layout.headings[at] for at in kept],
        lines=lines,
        columns=[layout.columns[at][begin:end] for at in kept],
        refused=[each for each in layout.refused if lines[0] < each[0] < lines[-1]],
    )
