"""Tables in another shape before their rows become runs, as the settings declare it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ingest.formats.json_rows import Cell
from ingest.formats.table_rows import Table
from ingest.formats.table_text import is_number
from ingest.records import TableDeclaration


def reshape(table: Table, declaration: TableDeclaration) -> Table:
    """Return a table of runs: rows that are none left out, like columns in rows, with sums."""
    table = _without(table, declaration.skip, declaration.last_of)
    table = _pivoted(table, declaration.pivot)
    table = _unpivoted(table, declaration.unpivot)
    sums = {name: re.compile(pattern) for name, pattern in declaration.totals.items()}
    of = {n: [h for h in table.headings if each.fullmatch(h)] for n, each in sums.items()}
    return _with_computed(_with_computed(table, of, sum), declaration.products, math.prod)


def stem_of(heading: str, pattern: str) -> tuple[str, str]:
    """Split a heading into its text without what a pattern's first group has, and that.

    The latter is empty for a heading that does not fit.
    """
    match = re.search(pattern, heading)
    return (heading[: match.start()] + heading[match.end() :], match[1]) if match else (heading, "")


def _without(table: Table, skip: Mapping[str, str], last_of: str) -> Table:
    """Return a table without the rows that are no runs.

    These are rows with a text under a heading, and rows that a later one of the same run replaces.
    """
    at = {table.headings.index(name): text for name, text in skip.items() if name in table.headings}
    key = table.headings.index(last_of) if last_of in table.headings else None
    if not at and key is None:
        return table
    lasts = {cells[key]: line for line, cells in table.rows} if key is not None else {}
    kept = table.of_same_place(table.headings)
    for line, cells in table.rows:
        is_last = key is None or not cells[key] or lasts[cells[key]] == line
        if is_last and not any(cells[index] == text for index, text in at.items()):
            kept.append(line, cells)
    return kept


def _pivoted(table: Table, pivot: tuple[str, str] | None) -> Table:
    """Return a table with a column for each name of a measurement, of which each row has one.

    Rows that agree in all other cells are one row; the second value of a name begins another one.
    A column `unit` says the units of the names.
    """
    if pivot is None or not {*pivot} <= {*table.headings}:
        return table
    name_at, value_at = map(table.headings.index, pivot)
    unit_at = next(
        (n for n, h in enumerate(table.headings) if h.lower() in ("unit", "units")), None
    )
    others = [at for at in range(len(table.headings)) if at not in (name_at, value_at, unit_at)]
    found: dict[tuple[Cell, ...], list[tuple[int, dict[str, Cell]]]] = {}
    names: dict[str, None] = {}
    for line, cells in table.rows:
        unit = str(cells[unit_at] or "").strip() if unit_at is not None else ""
        name = f"{str(cells[name_at]).strip()} ({unit})" if unit else str(cells[name_at]).strip()
        names[name] = None
        rows = found.setdefault(tuple(cells[at] for at in others), [])
        row = next((own for _, own in rows if name not in own), None)
        if row is None:
            rows.append((line, row := {}))
        row[name] = cells[value_at]
    kept = table.of_same_place([*(table.headings[at] for at in others), *names])
    for key, rows in found.items():
        for line, own in rows:
            kept.append(line, [*key, *map(own.get, names)])
    return kept


def _unpivoted(table: Table, pattern: str) -> Table:
    """Return a table with a row for each set of columns that differ in a part of their headings.

    A row of which all these cells are empty is left out. Without a name of the part's group it
    numbers replicates; else it is a column of this name.
    """
    if not pattern:
        return table
    names = [*re.compile(pattern).groupindex]
    split = [stem_of(heading, pattern) for heading in table.headings]
    shared = [at for at, (_, part) in enumerate(split) if not part]
    stems = list(dict.fromkeys(stem for stem, part in split if part))
    parts = dict.fromkeys(part for _, part in split if part)
    places = {each: at for at, each in enumerate(split)}
    kept = table.of_same_place([*(table.headings[at] for at in shared), *names, *stems])
    units = zip(split, map(table.units.get, table.headings), strict=True)
    kept.units |= {stem: unit for (stem, _), unit in units if unit}
    for line, cells in table.rows:
        for part in parts:
            at = (places.get((stem, part)) for stem in stems)
            own = [None if index is None else cells[index] for index in at]
            if any(cell not in (None, "") for cell in own):
                row = (*(cells[index] for index in shared), *(part for _ in names), *own)
                kept.append(line, row)
    return kept


def _with_computed(
    table: Table, columns: Mapping[str, Sequence[str]], compute: Callable[[Iterable[float]], float]
) -> Table:
    """Return a table with further columns, each from the numbers of others; none lacks a part.

    Args:
        columns: By new heading the headings that it is computed from.
    """
    places = {
        name: [table.headings.index(heading) for heading in headings]
        for name, headings in columns.items()
        if headings and name not in table.headings and {*headings} <= {*table.headings}
    }
    if not places:
        return table
    kept = table.of_same_place([*table.headings, *places])
    for line, cells in table.rows:
        texts = ([str(cells[at]).strip() for at in each] for each in places.values())
        values = [compute(map(float, t)) if all(map(is_number, t)) else None for t in texts]
        kept.append(line, [*cells, *values])
    return kept
