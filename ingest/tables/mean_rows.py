"""Tables whose rows are means of rows of other tables: they measure nothing again.

Whatever the headings say, all rows of a table are such means, each of another group: of a table as
a whole, whose path names it, or of its rows with one setting in a column. Two columns at least have
the means to the digits that are written. Only tables whose columns were guessed are compared.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ingest.files.packed import Packed
from ingest.records import Problem
from ingest.tables.same_rows import digits_of
from ingest.tables.table_reads import TableRead

# Longer tables are no summaries, and of more tables or rows no means are looked for.
_MOST_MEANS: Final = 200
_MOST_TABLES: Final = 200
_MOST_ROWS: Final = 5_000
# Fewer rows, columns or digits are means by chance.
_FEWEST: Final = 2
_FEWEST_DIGITS: Final = 12
_LONG: Final = 4
# Of the last place that is written.
_ROUNDED: Final = 0.51
_Means = dict[str, tuple[float, bool]]


def drop_means(reads: Sequence[TableRead]) -> None:
    """Drop the rows of tables that are means of other tables' rows, with a doubt."""
    guessed = [read for read in reads if read.is_guessed and len(read.table.rows) >= _FEWEST]
    is_small = sum(len(read.table.rows) for read in guessed) <= _MOST_ROWS
    if not _FEWEST <= len(guessed) <= _MOST_TABLES or not is_small:
        return
    groups = {id(read): [*_groups(read)] for read in guessed}
    for read in sorted(guessed, key=lambda each: len(each.table.rows)):
        of = [(n, g) for other in guessed if other is not read for n, g in groups[id(other)]]
        if len(read.table.rows) > _MOST_MEANS or not (path := _meant(read, of)):
            continue
        groups[id(read)] = []
        detail = f"all {len(read.table.rows)} rows are means of rows of other files, such as {path}"
        detail += ", to the digits that are written: no further runs; dropped"
        read.table.problems.append(Problem("identical_row", "doubted", detail))
        read.table.copied += len(read.table.rows)
        read.table.rows = Packed()


def _groups(read: TableRead) -> Iterator[tuple[str, _Means]]:
    """Yield the path of a table, with the means of all its rows, and of those of each setting."""
    rows = [row.values for row in read.table.rows]
    keys: list[list[object]] = [[""] * len(rows)]
    names = {
        name
        for row in rows
        for name, value in row.items()
        if isinstance(value, str)
        or (isinstance(value, int | float) and name not in {*read.measured, "replicate"})
    }
    keys += [[row.get(name) for row in rows] for name in sorted(names)]
    for key in keys:
        of: dict[object, list[Mapping[str, Any]]] = defaultdict(list)
        for text, row in zip(key, rows, strict=True):
            of[text].append(row)
        for group in of.values() if len(of) <= _MOST_MEANS else ():
            if len(group) >= _FEWEST:
                yield read.file.path, _means(group, read.measured)


def _means(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> _Means:
    """Return by column the mean of rows that all have a number, and whether any differs."""
    numbers = {
        name: [float(v) for row in rows if isinstance(v := row.get(name), int | float)]
        for name in names
    }
    return {
        name: (float(np.mean(each)), len({*each}) > 1)
        for name, each in numbers.items()
        if len(each) == len(rows)
    }


def _meant(read: TableRead, groups: Sequence[tuple[str, _Means]]) -> str:
    """Return a file of whose rows a row is the mean, if each row is that of another group."""
    digits, path, used = 0, "", set[int]()
    rows = [row.values for row in read.table.rows]
    numbers = [
        {n: float(v) for n in read.measured if isinstance(v := row.get(n), int | float)}
        for row in rows
    ]
    most = {
        n: max((_decimals(row[n]) for row in numbers if n in row), default=0) for n in read.measured
    }
    for own in numbers:
        near = {n: _ROUNDED * 10.0 ** -_places(v, most[n]) for n, v in own.items()}
        fits = (at for at, (_, means) in enumerate(groups)
                if at not in used and _fit(own, means, near))  # fmt: skip
        at = next(fits, None)
        if at is None:
            return ""
        used.add(at)
        path = path or groups[at][0]
        digits += sum(digits_of(value) for name, value in own.items() if name in groups[at][1])
    return path if digits >= _FEWEST_DIGITS else ""


def _fit(own: Mapping[str, float], means: _Means, near: Mapping[str, float]) -> bool:
    """Return whether numbers are the means under all names of both, of rows that differ."""
    shared = own.keys() & means.keys()
    differing = sum(means[name][1] for name in shared)
    return differing >= _FEWEST and all(
        abs(own[name] - means[name][0]) <= near[name] for name in shared
    )


def _places(value: float, most: int) -> int:
    """Return to how many decimals a number is written: 7.0 as the others of its column, with most.

    Numbers of as many digits have unlike decimals: 3471.56, 562.416.
    """
    return _decimals(value) if digits_of(value) >= _LONG else most


def _decimals(value: float) -> int:
    """Return to how many decimals a number is written, of 8.989e-05 eight."""
    digits, _, power = f"{value:.12g}".partition("e")
    return max(0, len(digits.partition(".")[2]) - int(power or 0))
