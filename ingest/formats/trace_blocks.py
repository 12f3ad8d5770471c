"""Traces of several runs, one below the other: columns say which run each sample is of.

timestamp, benchmark, clock_mhz, rep, power_w
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from data.declared import Column, Kind
from data.schema import KNOBS
from ingest.formats.trace_headings import Heading, words_of
from ingest.formats.trace_layout import Layout
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.headings import without_unit

# Samples of a run.
_LEAST: Final = 6
_SET: Final = (WORDS["set"] | WORDS["given"] | WORDS["replicates"] | {"experiment", "id"}) - {
    *("device", "interval", "ratio", "percentage", "machine", "host", "hostname", "node", "server"),
    *("platform", "board", "phone", "laptop", "hardware"),
}
# Of these one run has several.
_PHASES: Final = frozenset({"phase", "stage", "state", "status", "event", "marker", "step"})


@dataclass(frozen=True, slots=True)
class Block:
    """The samples of one run.

    Attributes:
        layout: Its cells, without the columns that say the run.
        knobs: What was set, by column of `runs`.
        columns: The declarations of these.
    """

    layout: Layout
    knobs: dict[str, float | int | str]
    columns: tuple[Column, ...]


def copied(layout: Layout) -> Layout:
    """Return cells in lists of their own, which who reads their headings may change."""
    return replace(
        layout,
        headings=[*layout.headings],
        lines=[*layout.lines],
        columns=[[*cells] for cells in layout.columns],
        doubts=[*layout.doubts],
    )


def blocks_of(layout: Layout, headings: Sequence[Heading]) -> dict[str, Block]:
    """Return the runs of a trace by name; nothing for a trace of one run.

    A column says the run if a word of what is set or of replicates ends its heading, and its values
    change seldom; together such columns have the same values in one stretch of samples alone, if
    need be with a clock that changes as seldom.
    """
    telling = [at for at in range(len(headings)) if may_tell(layout, headings, at)]
    clocks = [at for at, each in enumerate(headings) if each.quantity == "frequency"]
    clocks = [at for at in clocks if at not in telling and _changes_seldom(layout.columns[at])]
    stretches = _stretches(layout, telling) or _stretches(layout, [*telling, *clocks])
    if not telling or any(end - begin < _LEAST for begin, end in stretches):
        return {}
    free = [at for at, each in enumerate(headings) if each.quantity in ("", "frequency")]
    said = [
        at
        for at in free
        if len({*layout.columns[at]}) > 1
        and all(len({*layout.columns[at][begin:end]}) == 1 for begin, end in stretches)
    ]
    knobs = {at: _knob(layout, headings, at) for at in said if _is_setting(layout.headings[at])}
    blocks: dict[str, Block] = {}
    for begin, end in stretches:
        cells = {at: layout.columns[at][begin] for at in said}
        name = " ".join(cells.values())
        name = name if name not in blocks else f"{name} {begin}"
        values = {c.name: _value(c, cells[at], headings[at].scale) for at, c in knobs.items()}
        part = _part(layout, begin, end, said)
        own = tuple(column for column in knobs.values() if column.name not in KNOBS)
        blocks[name] = Block(part, values, own)
    return blocks


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
