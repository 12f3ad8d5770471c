"""Tables in another shape before their rows become runs, as the settings declare it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ingest.declarations import TableDeclaration
from ingest.formats.json_cells import Cell
from ingest.formats.plain_cells import names_a_time, with_plain_numbers
from ingest.formats.table_rows import Table
from ingest.formats.unit_columns import in_unit, names_units
from ingest.formats.written_numbers import is_number
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_derived

# Heading of the values of columns whose whole heading is what they differ in.
VALUE: Final = "value"
# Words of columns that may be of a measurement rather than of its run.
_OWN: Final = (
    WORDS["statistics"]
    | WORDS["identifiers"]
    | WORDS["times_of_day"]
    | {"time", "unnamed", *WORDS["middles"]}
)


def reshape(table: Table, declaration: TableDeclaration) -> Table:
    """Return a table of runs: rows that are none left out, like columns in rows, with sums."""
    table = _without(table, declaration.skip, declaration.last_of)
    table = _split(table, declaration.split)
    # The values of a measurement a row may stand in columns of runs.
    table = _unpivoted(_pivoted(table, declaration.pivot), declaration.unpivot)
    # So may the texts that state settings.
    table = _with_parts(_pivoted(table, declaration.pivot), declaration.parts)
    table = _split(table, declaration.split)
    sums = {name: re.compile(pattern) for name, pattern in declaration.totals.items()}
    of = {n: [h for h in table.headings if each.fullmatch(h)] for n, each in sums.items()}
    table = _with_computed(_with_computed(table, of, sum), declaration.products, math.prod)
    return _with_computed(table, declaration.differences, _difference)


def _difference(ends: Iterable[float]) -> float:
    begin, end = ends
    return end - begin


def stem_of(heading: str, pattern: str) -> tuple[str, str]:
    """Split a heading into its text without what a pattern's first group has, and that.

    The latter is empty for a heading that does not fit.
    """
    match = re.search(pattern, heading)
    return (heading[: match.start()] + heading[match.end() :], match[1]) if match else (heading, "")


def _without(table: Table, skip: Mapping[str, str], last_of: str) -> Table:
    """Return a table without the rows that are no runs.

    These are rows with a text under a heading, and rows that a later one of the same run replaces.
    A text between slashes is a pattern.
    """
    forms = {n: t[1:-1] if len(t) > 2 and t[0] == t[-1] == "/" else re.escape(t)
             for n, t in skip.items()}  # fmt: skip
    at = {table.headings.index(n): re.compile(t) for n, t in forms.items() if n in table.headings}
    key = table.headings.index(last_of) if last_of in table.headings else None
    if not at and key is None:
        return table
    lasts = {cells[key]: line for line, cells in table.rows} if key is not None else {}
    rows = (
        (line, cells)
        for line, cells in table.rows
        if key is None or not cells[key] or lasts[cells[key]] == line
        if not any(form.fullmatch(str(cells[index])) for index, form in at.items())
    )
    return table.of_same_place(table.headings, rows)


def _split(table: Table, patterns: Mapping[str, str]) -> Table:
    """Return a table with a column for each group of the patterns of its texts that any fits."""
    compiled = {n: re.compile(text) for n, text in patterns.items() if n in table.headings}
    places = {name: table.headings.index(name) for name in compiled}
    texts = {n: [str(cell).strip() for cell in table.column(at)] for n, at in places.items()}
    fitting = {n: each for n, each in compiled.items() if any(map(each.fullmatch, texts[n]))}
    own = {n: [g for g in each.groupindex if g not in table.headings]
           for n, each in fitting.items()}  # fmt: skip
    names = [group for groups in own.values() for group in groups]
    if not names:
        return table
    matches = {n: [*map(each.fullmatch, texts[n])] for n, each in fitting.items()}
    further = [
        [match and match[g] for match in matches[name]]
        for name, groups in own.items()
        for g in groups
    ]
    rows = (
        (line, [*cells, *(each[row] for each in further)])
        for row, (line, cells) in enumerate(table.rows)
    )
    return table.of_same_place([*table.headings, *names], rows)


def _pivoted(table: Table, pivot: tuple[str, str] | None) -> Table:
    """Return a table with a column for each name of a measurement, of which each row has one.

    Rows that agree in all other cells are of one setting; the first values of its names are a row,
    the second ones another. If not all names have as many values there, nothing says which belong
    together: each value is a row. A column `unit` says the units of the names, or is these itself:
    `Result (kJ)`. Columns of the same texts as the names are these once more. What a measurement
    has for itself, such as its deviation, gets a column for each name: `energy_j stddev`. The cells
    of each name are read on their own: `00:34:55` of a time is a duration.
    """
    if pivot is None or not {*pivot} <= {*table.headings}:
        return table
    name_at, value_at = map(table.headings.index, pivot)
    names = [*table.column(name_at)]
    are_units = names_units(pivot[0], names)
    others = [at for at in range(len(table.headings)) if at not in (name_at, value_at)]
    others = [at for at in others if not are_units or [*table.column(at)] != names]
    of_units = (n for n in others if table.headings[n].lower() in ("unit", "units"))
    unit_at = None if are_units else next(of_units, None)
    others = [at for at in others if at != unit_at]
    values: list[_Value] = []
    for line, cells in table.rows:
        unit = str(cells[unit_at] or "").strip() if unit_at is not None else ""
        name = str(cells[name_at] or "").strip() or pivot[1]
        name = in_unit(pivot[1], name) if are_units else name
        values.append(_Value(f"{name} ({unit})" if unit else name, line, cells))
    own = _own_columns(table.headings, others, values)
    key = [at for at in others if at not in own]
    own = [value_at, *(at for at in own if table.headings[at])]
    turned = _turned(table, values, key, {at: table.headings[at] * (at != value_at) for at in own})
    return with_plain_numbers(
        turned, is_comma_separated=True, took={*filter(names_a_time, turned.headings)}
    )


def _with_parts(table: Table, parts: Sequence[str]) -> Table:
    """Return a table with the rows of parts of a run in the row of the run, with their names.

    Of the part that is the whole, as `ALL`, the headings stay: `energy_j` beside `gpu0 energy_j`.
    """
    if not parts or not {*parts} <= {*table.headings}:
        return table
    name_at, *own = map(table.headings.index, parts)
    stem = "_".join(word for word in words_of(parts[0]) if word not in WORDS["identifiers"])
    values: list[_Value] = []
    for line, cells in table.rows:
        name = str(cells[name_at] or "").strip()
        name = f"{stem}{name}" if name.isdigit() else name
        values.append(_Value("" if name.lower() in WORDS["wholes"] else name, line, cells))
    # The run comes first.
    values.sort(key=lambda value: bool(value.name))
    key = [at for at in range(len(table.headings)) if at not in (name_at, *own)]
    return _turned(table, values, key, {at: table.headings[at] for at in own})


def _turned(
    table: Table, values: Sequence["_Value"], key: Sequence[int], own: Mapping[int, str]
) -> Table:
    """Return a table with columns for each name of a row; rows with one key are one row.

    Args:
        key: The columns that stay.
        own: What follows the name in the headings of each other column.
    """
    groups: dict[tuple[Cell, ...], dict[str, list[_Value]]] = {}
    for value in values:
        of_name = groups.setdefault(tuple(value.cells[at] for at in key), {})
        of_name.setdefault(value.name, []).append(value)
    there = {(v.name, at) for v in values for at in own if v.cells[at] not in (None, "")}
    places = [(name, at) for name in dict.fromkeys(v.name for v in values) for at in own]
    places = [place for place in places if place in there or not own[place[1]]]
    headings = [table.headings[at] for at in key]
    for name, at in places:
        heading = f"{name} {own[at]}".strip()
        while heading in headings:
            heading += f" {table.headings[at]}"
        headings.append(heading)
    copy = table.of_same_place(headings)
    for setting, of_name in groups.items():
        is_paired = len({*map(len, of_name.values())}) == 1
        single = ((value,) for each in of_name.values() for value in each)
        for run in zip(*of_name.values(), strict=True) if is_paired else single:
            of = {value.name: value.cells for value in run}
            measured = (of[name][at] if name in of else None for name, at in places)
            copy.append(run[0].line, [*setting, *measured])
    return copy


class _Value(NamedTuple):
    """A row with one measurement."""

    name: str
    line: int
    cells: Sequence[Cell]


def _own_columns(
    headings: Sequence[str], others: Sequence[int], values: Sequence[_Value]
) -> list[int]:
    """Return the columns of statistics, identifiers, times and changes that measurements do not
    share.

    Measurements of one run share its identifier. Where the other columns tell all runs apart, such
    a column is shared if it has one value in each; else if most of its values have several names.
    """
    doubtful = [
        at
        for at in others
        if not (name := headings[at]) or _OWN.intersection(words_of(name)) or is_derived(name)
    ]
    key = [at for at in others if at not in doubtful]

    def names_by(places: Sequence[int]) -> list[set[str]]:
        names: dict[tuple[Cell, ...], set[str]] = {}
        for value in values:
            names.setdefault(tuple(value.cells[at] for at in places), set()).add(value.name)
        return [*names.values()]

    whole = names_by(key) if doubtful else []
    is_told = sum(map(len, whole)) == len(values)
    own = []
    for at in doubtful:
        parts = names_by([*key, at])
        several = sum(len(names) > 1 for names in parts)
        if len(parts) > len(whole) if is_told else 2 * several <= len(parts):
            own.append(at)
    return own


def _unpivoted(table: Table, pattern: str) -> Table:
    """Return a table with a row for each set of columns that differ in a part of their headings.

    A row of which all these cells are empty is left out. Without a name of the part's group it
    numbers replicates; else it is a column of this name. Where nothing is left of a heading the
    values stand under VALUE.
    """
    if not pattern:
        return table
    names = [*re.compile(pattern).groupindex]
    split = [stem_of(heading, pattern) for heading in table.headings]
    split = [(stem or VALUE, part) if part else (stem, part) for stem, part in split]
    shared = [at for at, (_, part) in enumerate(split) if not part]
    stems = list(dict.fromkeys(stem for stem, part in split if part))
    parts = dict.fromkeys(part for _, part in split if part)
    places = {each: at for at, each in enumerate(split)}
    columns_kept = table.of_same_place([*(table.headings[at] for at in shared), *names, *stems])
    units = zip(split, map(table.units.get, table.headings), strict=True)
    columns_kept.units |= {stem: unit for (stem, _), unit in units if unit}
    for line, cells in table.rows:
        for part in parts:
            at = (places.get((stem, part)) for stem in stems)
            own = [None if index is None else cells[index] for index in at]
            if any(cell not in (None, "") for cell in own):
                row = (*(cells[index] for index in shared), *(part for _ in names), *own)
                columns_kept.append(line, row)
    return columns_kept


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

    def value(cells: Sequence[Cell], at: Sequence[int]) -> Cell:
        texts = [str(cells[each]).strip() for each in at]
        return compute(map(float, texts)) if all(map(is_number, texts)) else None

    rows = ((n, [*cells, *(value(cells, at) for at in places.values())]) for n, cells in table.rows)
    return table.of_same_place([*table.headings, *places], rows)
