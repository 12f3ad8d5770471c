"""Counters of energy, and clocks, that a table has as its runs began and as they ended."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.proposals.guess import Guess, are_epochs, numbers_of
from ingest.settings.column_names import ENDS_OF_RUNS
from ingest.settings.headings import quantity_of, read_heading

# Whole numbers from here on are those of a counter.
_LEAST_COUNT: Final = 1e6


def counter_pairs(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> dict[str, list[str]]:
    """Return the energy counters that were read as a run began and as it ended, by the heading of
    their difference: `pkg_start_uj` and `pkg_end_uj` by `pkg_uj`. So are the times of a clock that
    does not count since 1970: of others the reader knows what they are.
    """
    cells = {heading.lower(): each for heading, each in zip(headings, columns, strict=True)}
    written = {heading.lower(): heading for heading in headings}
    pairs = dict[str, list[str]]()
    for heading in headings:
        parts = re.split(r"([^A-Za-z0-9]+)", heading)
        for at, part in enumerate(parts):
            if part.lower() not in ENDS_OF_RUNS:
                continue
            end = "".join([*parts[:at], ENDS_OF_RUNS[part.lower()], *parts[at + 1 :]])
            rest = "".join(parts[:at] + parts[at + 2 :]).strip(" _-.")
            quantity = quantity_of(read_heading(rest)) if end.lower() in written else ""
            is_new = quantity in ("energy", "time") and rest not in headings
            is_new &= not _are_dates(heading, cells[heading.lower()])
            if is_new and _count_on(cells[heading.lower()], cells[end.lower()]):
                pairs[rest] = [heading, written[end.lower()]]
    # What says how long runs took needs no clocks.
    ends = {each for pair in pairs.values() for each in pair}
    has_time = any(quantity_of(read_heading(h)) == "time" for h in headings if h not in ends)
    is_time = {rest: quantity_of(read_heading(rest)) == "time" for rest in pairs}
    return {rest: pair for rest, pair in pairs.items() if not (has_time and is_time[rest])}


def _are_dates(heading: str, cells: Sequence[Cell]) -> bool:
    numbers = numbers_of([str(cell) for cell in cells if cell not in (None, "")])
    return numbers is None or are_epochs(read_heading(heading), numbers)


def _count_on(begins: Sequence[Cell], ends: Sequence[Cell]) -> bool:
    """Return whether numbers are of a counter that goes on, and may wrap, from run to run.

    Energies before and after an improvement are of runs of their own. A counter is whole and large,
    or each run begins soon after the end of the one before it.
    """
    try:
        pairs = [(float(a or "nan"), float(b or "nan")) for a, b in zip(begins, ends, strict=True)]
    except ValueError:
        return False
    rising = [(a, b) for a, b in pairs if a < b]
    if 2 * len(rising) <= len(pairs):
        return False
    if all(a % 1 == b % 1 == 0 and b >= _LEAST_COUNT for a, b in rising):
        return True
    gaps = [after[0] - before[1] for before, after in pairwise(sorted(rising))]
    is_soon = bool(gaps) and median(gaps) <= median(b - a for a, b in rising)
    return is_soon and min(gaps) >= 0


def mark_counters(guesses: Sequence[Guess], pairs: Mapping[str, Sequence[str]]) -> None:
    """Make labels of the counters of `counter_pairs`: their difference was measured."""
    counters = {heading for pair in pairs.values() for heading in pair}
    for guess in guesses:
        if guess.heading.text in counters:
            guess.take("label", "a counter as a run began or ended")
