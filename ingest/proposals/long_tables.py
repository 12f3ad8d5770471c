"""Tables with a measurement, or a part of a run, in each row."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.formats.unit_columns import names_units
from ingest.formats.written_numbers import is_number
from ingest.proposals.found_tables import FoundTable
from ingest.proposals.guess import rows_by
from ingest.proposals.heading_roles import are_domains, are_stages, is_measured, is_statistic
from ingest.proposals.roles import guess_of
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import quantity_of, read_heading

# What a column of measurements of several kinds is called, and the most kinds.
_VALUES: Final = frozenset({"value", "values", "score", "measurement", "reading", "result"})
_MOST_MEASUREMENTS: Final = 40
# Last words of headings of names of measurements.
_OF_NAMES: Final = WORDS["names_of_measurements"]
# First words of the names of rails, of which boards measure each.
_RAILS: Final = ("vdd", "vin", "vcc", "vddq", "vbat")
# What the begin and the end of a run are called in a list of events, and a time of day.
_BEGINS: Final = frozenset({"start", "begin", "started", "starting"})
_ENDS: Final = frozenset({"end", "stop", "finish", "ended", "stopped", "finished", "done"})
_TIMES: Final = WORDS["times_of_day"] | {"time", "ts"}
# Last words of headings of parts of runs.
_OF_PARTS: Final = WORDS["parts_of_runs"]
# What ran is no part of a suite, of which several are a whole.
_RAN: Final = WORDS["given"] - WORDS["working"] - WORDS["machines"] - {"board", "server", "phone"}
# So many parts of a run have columns; the energy of the whole is their sum but for so much.
_MOST_PARTS: Final = 16
_NEAR: Final = 0.01
# Headings of values that say nothing of them, and what names of files say instead.
_BARE: Final = (("value",), ("values",))
_IN_NAMES: Final = frozenset({"latency", "latencies", "runtime", "runtimes"})


def pivot_columns(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> tuple[str, str] | None:
    """Return the headings of names and of values, if each row has one measurement of several.

    Most of the names are of measurements: `energy_j`, `time_s`, `power/energy-pkg/`; of those below
    `metric` one is; or they are of stages of a run. Or they are of the begin and the end of each
    run, and the values times of day. Or they are units, and the values the only numbers that rows
    of several units differ in.
    """
    times = [heading for heading in headings if {*words_of(heading)[-1:]} & _TIMES]
    for heading, cells in zip(headings, columns, strict=True):
        names = {str(cell).strip().lower() for cell in cells}
        is_pair = len(names) == 2 and len(names & _BEGINS) == len(names & _ENDS) == 1
        if is_pair and len(times) == 1 and times[0] != heading:
            return heading, times[0]
    values = [h for h in headings if words_of(h)[-1:] and words_of(h)[-1] in _VALUES]
    for heading, cells in zip(headings, columns, strict=True):
        names = {str(cell).strip() for cell in cells if cell not in (None, "")}
        if len(values) == 1 and heading != values[0] and 1 < len(names) <= _MOST_MEASUREMENTS:
            read = [read_heading(name) for name in names]
            is_rail = [each.has(*_RAILS) for each in read]
            measured = sum(
                rail or is_measured(each, quantity_of(each)) is True
                for each, rail in zip(read, is_rail, strict=True)
            )
            is_named = bool(measured) and not _OF_NAMES.isdisjoint(words_of(heading)[-1:])
            if (
                is_named
                or 2 * measured > len(names)
                or (are_stages(names) and not _OF_PARTS.isdisjoint(words_of(heading)[-1:]))
            ):
                return heading, values[0]
    return _named_by_units(headings, columns)


def _named_by_units(
    headings: Sequence[str], columns: Sequence[Sequence[Cell]]
) -> tuple[str, str] | None:
    """Return the headings of units, `kJ` and `Latency (In minutes)`, and of the numbers in them."""
    for names, units in zip(headings, columns, strict=True):
        if not names_units(names, units) or len({*units}) < 2:
            continue
        # Columns of one text say it once.
        others = [at for at, cells in enumerate(columns) if [*cells] != [*units]]
        values = [
            at
            for at in others
            if all(is_number(str(cell)) for cell in columns[at])
            and _have_each(units, [columns[n] for n in others if n != at])
        ]
        if len(values) == 1:
            return names, headings[values[0]]
    return None


def _have_each(names: Sequence[Cell], key: Sequence[Sequence[Cell]]) -> bool:
    """Return whether rows that agree in a key have each name once."""
    groups = rows_by(key, range(len(names)))
    return all(len(rows) == len({names[row] for row in rows}) > 1 for rows in groups)


def said_of_parts(
    pivot: tuple[str, str] | None, table: FoundTable, headings: Sequence[str]
) -> dict[str, str]:
    """Return by heading what its values are by the names of files, where it says nothing of it.

    `value` of `latency_by_batch.json` is a latency, for all parts that its cells name, and so is
    `p99` of `latency.csv`. A file of energies may have powers.
    """
    words = {word for path in table.paths for word in words_of(path.rpartition("/")[2])}
    named = words & _IN_NAMES
    bare = {each for each in headings if is_statistic(read_heading(each))}
    if pivot is not None and words_of(pivot[1])[-1:] in _BARE:
        bare |= {*headings}.difference(table.headings)
    return dict.fromkeys(bare, named.pop()) if len(named) == 1 else {}


def said_of_boards(table: FoundTable, headings: Sequence[str]) -> dict[str, str]:
    """Return by heading of a power the board that a path of the table names."""
    powers = [each for each in headings if quantity_of(read_heading(each)) == "power"]
    text = " ".join(table.paths if powers else ()).lower()
    # Splitting the paths of many files into words takes long.
    if not any(board in text for board in WORDS["boards"]):
        return {}
    words = {word for path in table.paths for word in words_of(path)} & WORDS["boards"]
    return dict.fromkeys(powers, min(words)) if words else {}


def parts_of_runs(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    """Return the heading of names of parts, and those of what was measured; else nothing.

    One of the names is of the whole: `ALL`, `total`. Rows that agree in all else are its parts: it
    has what they have not, or an energy, power or count that is their sum. Or all are domains of
    RAPL, which are measured at once.
    """
    guesses = [guess_of(read_heading(h), c) for h, c in zip(headings, columns, strict=True)]
    measured = [at for at, guess in enumerate(guesses) if guess.role == "metric"]
    for at, heading in enumerate(headings):
        names = [str(cell or "").strip() for cell in columns[at]]
        is_whole = [name.lower() in WORDS["wholes"] for name in names]
        wholes = {name for name, whole in zip(names, is_whole, strict=True) if whole}
        is_rapl = are_domains({*names})
        is_few = is_rapl or (len(wholes) == 1 and 2 < len({*names}) <= _MOST_PARTS + 1)
        if not is_few or at in measured or not _RAN.isdisjoint(words_of(heading)):
            continue
        # All domains take the time of the run.
        own = [n for n in measured if not is_rapl or guesses[n].quantity in ("energy", "power")]
        key = [c for n, c in enumerate(columns) if n not in (at, *own)]
        runs = rows_by(key, range(len(names)))
        often = [Counter(names[row] for row in rows) for rows in runs]
        is_complete = all(wholes < {*of} and len({*of.values()}) == 1 for of in often)
        is_run = is_rapl or _are_parts([columns[n] for n in own], runs, is_whole)
        if is_complete and own and is_run:
            return (heading, *(headings[n] for n in own))
    return ()


def _are_parts(
    columns: Sequence[Sequence[Cell]], runs: Sequence[Sequence[int]], is_whole: Sequence[bool]
) -> bool:
    """Return whether the whole has what its parts have not, or the sum of what they have."""
    either = (
        {whole for whole, cell in zip(is_whole, cells, strict=True) if cell not in (None, "")}
        for cells in columns
    )
    if all(len(each) < 2 for each in either):
        return True
    return any(
        all(_is_sum(cells, rows, is_whole) for rows in runs if len(rows) > 2)
        for cells in columns
        if all(is_number(str(cell)) for cell in cells)
    )


def _is_sum(cells: Sequence[Cell], rows: Sequence[int], is_whole: Sequence[bool]) -> bool:
    whole = sum(float(str(cells[row])) for row in rows if is_whole[row])
    parts = sum(float(str(cells[row])) for row in rows if not is_whole[row])
    return bool(np.isclose(whole, parts, rtol=_NEAR)) and whole > 0
