"""Tables in another shape before their rows become runs, as the settings declare it."""

import re
from collections.abc import Mapping

from ingest.formats.table_rows import Table
from ingest.formats.table_text import is_number
from ingest.records import TableDeclaration


def reshape(table: Table, declaration: TableDeclaration) -> Table:
    """Return a table of runs: without rows that are none, replicates in rows, totals added."""
    table = _without(table, declaration.skip, declaration.last_of)
    table = _with_replicates(table, declaration.numbered)
    return _with_totals(table, declaration.totals)


def stem_of(heading: str, pattern: str) -> tuple[str, str]:
    """Split a heading into its text without the number of a replicate, and that number.

    The number is empty for a heading that no number of a replicate is in.
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


def _with_replicates(table: Table, pattern: str) -> Table:
    """Return a table with a row for each replicate whose numbers are in headings of their own.

    A row has no replicate where all cells of that number are empty.
    """
    if not pattern:
        return table
    split = [stem_of(heading, pattern) for heading in table.headings]
    shared = [at for at, (_, number) in enumerate(split) if not number]
    stems = list(dict.fromkeys(stem for stem, number in split if number))
    numbers = dict.fromkeys(number for _, number in split if number)
    places = {each: at for at, each in enumerate(split)}
    kept = table.of_same_place([*(table.headings[at] for at in shared), *stems])
    kept.units |= {stem: table.units[h] for h, (stem, _) in zip(table.headings, split, strict=True)
                   if h in table.units}  # fmt: skip
    for line, cells in table.rows:
        for number in numbers:
            at = (places.get((stem, number)) for stem in stems)
            own = [None if index is None else cells[index] for index in at]
            if any(cell not in (None, "") for cell in own):
                kept.append(line, [*(cells[index] for index in shared), *own])
    return kept


def _with_totals(table: Table, totals: Mapping[str, str]) -> Table:
    """Return a table with a column more for each total; a row without a part has none."""
    parts = {
        name: [at for at, heading in enumerate(table.headings) if re.fullmatch(pattern, heading)]
        for name, pattern in totals.items()
        if name not in table.headings
    }
    parts = {name: places for name, places in parts.items() if places}
    if not parts:
        return table
    kept = table.of_same_place([*table.headings, *parts])
    for line, cells in table.rows:
        texts = ([str(cells[at]).strip() for at in places] for places in parts.values())
        sums = [sum(map(float, t)) if all(map(is_number, t)) else None for t in texts]
        kept.append(line, [*cells, *sums])
    return kept
