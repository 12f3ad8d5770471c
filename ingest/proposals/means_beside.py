"""Tables whose rows are means of the rows of another table: they make no runs.

`summary.csv` with `energy_j_mean` beside `windows.csv` with `energy_j`; a table of averages whose
times are the means of the files beside it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.proposals.found_tables import FoundTable
from ingest.proposals.heading_roles import is_spread
from ingest.settings.column_names import WORDS
from ingest.settings.headings import Heading, is_measurement, read_heading

_MEANS: Final = frozenset({"mean", "avg", "average", "median"})
# A mean has so many rows at least.
_FEWEST: Final = 2
# Headings that say it without a proof by numbers.
_SAID: Final = 2
_EQUAL: Final = 1e-3
_Numbers = dict[tuple[str, ...], np.ndarray]


def rows_meant(table: FoundTable, tables: Sequence[FoundTable]) -> str:
    """Return a file of the rows that those of a table are means of; empty if there is none.

    Either two of its headings are means of theirs, each within what they have, or each number under
    a heading of both is the mean of a file or of a name in it.
    """
    folders = {path.rpartition("/")[0] for path in table.paths}
    stated = _numbers_of(table, is_mean=True)
    if not any({*read_heading(each).words} & _MEANS for each in table.headings):
        return ""
    for other in tables:
        is_below = all(any(f"{path}/".startswith(f"{f}/" if f else "") for f in folders)
                       for path in other.paths)  # fmt: skip
        if other is table or not is_below or other.rows < _FEWEST * table.rows:
            continue
        own, plain = _numbers_of(other), _numbers_of(table)
        said = sum(_is_within(numbers, own[words]) for words, numbers in stated.items()
                   if words in own)  # fmt: skip
        shared = [words for words in plain if words in own]
        means = [*_means(other, shared)] if said < _SAID else []
        if said >= _SAID or any(
            len(plain[words]) > 1 and _are_all(plain[words], of[words])
            for of in means
            for words in shared
        ):
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
        has_mean = bool({*read.words} & _MEANS)
        if has_mean == is_mean and words and (is_mean or not is_spread(read)):
            numbers = _floats(cells)
            if (is_mean or is_measurement(heading)) and len(numbers):
                found.setdefault(words, numbers)
    return found


def _words(heading: Heading) -> tuple[str, ...]:
    bare = tuple(word for word in heading.words if word not in _MEANS | WORDS["statistics"])
    unit = (heading.unit.text,) if heading.unit else ()
    return tuple(word for part in (*bare, *unit) for word in part.lower().split("/"))


def _floats(cells: Sequence[Cell]) -> np.ndarray:
    """Return the numbers of a column; empty if a cell has another text."""
    try:
        return np.array([float(cell) for cell in cells if cell not in (None, "")])
    except ValueError:
        return np.empty(0)


def _is_within(numbers: np.ndarray, of: np.ndarray) -> bool:
    return bool(len(of) and np.all((numbers >= of.min()) & (numbers <= of.max())))


def _means(table: FoundTable, words: Sequence[tuple[str, ...]]) -> Iterator[_Numbers]:
    """Yield the means of each of some columns, by file, then by each column of names."""
    by_words = {_words(read_heading(h)): c
                for h, c in zip(table.headings, table.columns, strict=True)}  # fmt: skip
    keyed: list[Sequence[Cell]] = [table.sources]
    keyed += [cells for cells in table.columns if not len(_floats(cells))]
    for keys in keyed:
        rows: dict[Cell, list[int]] = defaultdict(list)
        for row, key in enumerate(keys):
            rows[key].append(row)
        if len(rows) < table.rows and min(map(len, rows.values())) >= _FEWEST:
            yield {
                each: np.array([_mean(by_words[each], of) for of in rows.values()])
                for each in words
            }


def _mean(cells: Sequence[Cell], rows: Sequence[int]) -> float:
    numbers = _floats([cells[row] for row in rows])
    return float(numbers.mean()) if len(numbers) else 0.0


def _are_all(numbers: np.ndarray, means: np.ndarray) -> bool:
    """Return whether each number is one of some means."""
    apart = np.abs(numbers[:, None] - means[None, :]) / np.maximum(np.abs(means[None, :]), 1e-300)
    return bool(np.all(apart.min(axis=1) <= _EQUAL))
