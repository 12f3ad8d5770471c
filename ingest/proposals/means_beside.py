"""Tables whose rows are those of another table, or means or sums of them: they make no runs.

`summary.csv` with `energy_j_mean` beside `windows.csv` with `energy_j`; a ranking of models over
all that each of them ran. Means under the headings of their rows are left out as they are read.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.proposals.found_tables import FoundTable
from ingest.proposals.heading_roles import is_spread
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import Heading, is_measurement, read_heading

# A mean has so many rows at least.
_FEWEST: Final = 2
# Headings that say it without a proof by numbers.
_SAID: Final = 2
_EQUAL: Final = 1e-3
# Means of groups that do not weigh the same are so near to the plain ones, as parts of the range.
_NEAR: Final = 0.05
# By chance fewer rows or columns are near.
_LEAST: Final = 3
_LEAST_COLUMNS: Final = 2
# Numbers of fewer digits stand in other rows by chance.
_LONG: Final = 4
_Numbers = dict[tuple[str, ...], np.ndarray]


def rows_repeated(table: FoundTable, tables: Sequence[FoundTable]) -> str:
    """Return a file whose rows have the numbers of all rows of a table; empty if there is none.

    It has all headings of the table and one more: the server that the names of the files say.
    """
    own = _long_numbers(table) if table.rows >= _FEWEST else {}
    for other in tables if len(own) >= _LEAST else ():
        if {*table.headings} < {*other.headings} and table.rows <= other.rows:
            theirs = {h: cells for h, cells in _long_numbers(other).items() if h in own}
            places = [
                tuple(map(cells.index, own[h]))
                for h, cells in theirs.items()
                if {*own[h]} <= {*cells}
            ]
            if len(places) >= _LEAST and len({*places}) == 1:
                return other.paths[0]
    return ""


def _long_numbers(table: FoundTable) -> dict[str, list[str]]:
    """Return the columns of numbers of many digits of which none recurs."""
    columns = {h: [*map(str, cells)] for h, cells in _by_heading(table).items()}
    return {
        h: cells
        for h, cells in columns.items()
        if len({*cells}) == len(cells)
        and all(len(re.sub(r"\D", "", cell).strip("0")) >= _LONG for cell in cells)
        and len(_floats(cells)) == len(cells)
    }


def rows_meant(table: FoundTable, tables: Sequence[FoundTable]) -> str:
    """Return a file of the rows that those of a table are means of; empty if there is none.

    Either two of its headings are means of theirs, each within what they have, or each of its rows
    has the means or the sums of the rows with the same names.
    """
    folders = {path.rpartition("/")[0] for path in table.paths}
    stated = _numbers_of(table, is_mean=True)
    for other in tables:
        if other is table or other.rows < _FEWEST * table.rows:
            continue
        if not all(any(f"{path}/".startswith(f"{f}/" if f else "") for f in folders)
                   for path in other.paths):  # fmt: skip
            continue
        if _sums_up(table, other):
            return other.paths[0]
        own = _numbers_of(other) if stated else {}
        both = [(n, own[words]) for words, n in stated.items() if len(own.get(words, ()))]
        said = sum(bool(np.all((n >= of.min()) & (n <= of.max()))) for n, of in both)
        if said >= _SAID and _shares_names(table, other):
            return other.paths[0]
    return ""


def _numbers_of(table: FoundTable, is_mean: bool = False) -> _Numbers:
    """Return the numbers of measurements, by the words of their headings without statistics.

    Args:
        is_mean: Of means alone; else of headings without a statistic.
    """
    found: _Numbers = {}
    for heading, cells in zip(table.headings, table.columns, strict=True):
        read = read_heading(heading)
        words = _words(read)
        has_mean = bool({*read.words} & WORDS["middles"])
        if has_mean == is_mean and words and (is_mean or not is_spread(read)):
            numbers = _floats(cells)
            if (is_mean or is_measurement(heading)) and len(numbers):
                found.setdefault(words, numbers)
    return found


def _words(heading: Heading) -> tuple[str, ...]:
    statistics = WORDS["means"] | WORDS["statistics"]
    bare = tuple(word for word in heading.words if word not in statistics)
    unit = (heading.unit.text,) if heading.unit else ()
    return tuple(word for part in (*bare, *unit) for word in part.lower().split("/"))


def _floats(cells: Sequence[Cell]) -> np.ndarray:
    """Return the numbers of a column; empty if a cell has another text."""
    try:
        return np.array([float(cell) for cell in cells if cell not in (None, "")])
    except ValueError:
        return np.empty(0)


def _shares_names(table: FoundTable, other: FoundTable) -> bool:
    """Return whether a table has no names, or one that the rows or the paths of another have.

    Means of `arm` and `riscv` are none of rows of `xeon`.
    """
    named = [
        [words_of(str(cell)) for cell in {*cells} - {None, ""}]
        for heading, cells in zip(table.headings, table.columns, strict=True)
        if not is_measurement(heading) and not len(_floats(cells))
    ]
    texts = [cells for cells in other.columns if not len(_floats(cells))]
    known = {str(cell) for cells in texts for cell in {*cells}} | {*other.paths}
    words = {word for text in known for word in words_of(text)}
    return not any(named) or any(not words.isdisjoint(each) for cells in named for each in cells)


def _sums_up(table: FoundTable, other: FoundTable) -> bool:
    """Return whether each row has the means or the sums of another table's rows with its names."""
    own, theirs = _by_heading(table), _by_heading(other)
    names = [each for each in own if each in theirs and not len(_floats(own[each]))]
    named = [*zip(*(own[each] for each in names), strict=True)]
    rows: dict[tuple[Cell, ...], list[int]] = defaultdict(list)
    for row, name in enumerate(zip(*(theirs[each] for each in names), strict=True)):
        rows[name].append(row)
    of = [rows.get(name, []) for name in named]
    is_whole = len({*named}) == len(named) == table.rows >= _LEAST
    if not is_whole or min(map(len, of)) < _FEWEST:
        return False
    wide = {
        heading: [array[each] for each in of]
        for heading, cells in theirs.items()
        if is_measurement(heading) and len(array := _floats(cells)) == other.rows
    }
    wide = {each: groups for each, groups in wide.items() if all(map(np.ptp, groups))}
    numbers = {
        heading: array
        for heading, cells in own.items()
        if is_measurement(heading) and len(array := _floats(cells)) == table.rows
    }
    shared = [each for each in numbers if each in wide and not is_spread(read_heading(each))]
    if len(shared) >= _LEAST_COLUMNS:
        return all(_are_means(numbers[each], wide[each]) for each in shared)
    counts = [cells for cells in map(_floats, own.values()) if len(cells) == table.rows]
    counts = [cells for cells in counts if np.all((cells > 1) & (cells % 1 == 0))]
    energies = [each for each in wide if _is_energy(each)]
    return any(
        _are_means(total * read_heading(each).scale / n / read_heading(their).scale, wide[their])
        for each, total in numbers.items() if _is_energy(each)
        for n in [*counts, np.array([*map(len, of)])]
        for their in energies
    )  # fmt: skip


def _by_heading(table: FoundTable) -> dict[str, Sequence[Cell]]:
    return dict(zip(table.headings, table.columns, strict=True))


def _is_energy(heading: str) -> bool:
    unit = read_heading(heading).unit
    return unit is not None and unit.quantity == "energy"


def _are_means(numbers: np.ndarray, groups: Sequence[np.ndarray]) -> bool:
    """Return whether each number is the mean of its group, whatever the parts of it weigh."""
    means = np.array([group.mean() for group in groups])
    near = _NEAR * np.array([np.ptp(group) for group in groups]) + _EQUAL * np.abs(means)
    return bool(np.all(np.abs(numbers - means) <= near))
