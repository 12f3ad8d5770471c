"""Cells of text as plain values: numbers with units, durations, lists, and merged cells."""

import re
from collections.abc import Collection, Sequence
from itertools import islice, pairwise
from typing import Final

from ingest.formats.json_cells import STATISTICS, Cell, flatten, parsed, summaries
from ingest.formats.table_rows import LOOKED_AT, Table
from ingest.formats.written_numbers import (
    are_spans,
    energies_of_slurm,
    is_either,
    is_number,
    is_unset,
    means_and_deviations,
    written_durations,
    written_numbers,
)
from ingest.records import ProblemList
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import quantity_of, read_heading

# A number whose point is no mark of thousands.
_POINT: Final = re.compile(r"[-+]?\d+\.(?!\d{3}$)\d+")
# `< 0.012`, `>= 5 ms`: below or above what could be measured.
_BOUND: Final = re.compile(r"(?:[<>]=?|[\u2264\u2265]) ?([-+]?[.,]?\d.*)")


def has_decimal_commas(table: Table, problems: ProblemList) -> bool:
    """Return whether a comma in numbers such as `12,345` is taken as a decimal mark: unless points
    or commas of other columns say that it is of thousands. Where nothing says it they are reported.
    """
    first = (islice(table.column(at), LOOKED_AT) for at in range(len(table.headings)))
    columns = [[str(cell).strip() for cell in cells if cell] for cells in first]
    written = {
        heading: cells
        for heading, cells in zip(table.headings, columns, strict=True)
        if any("," in cell for cell in cells)
    }
    unclear = {heading: cells for heading, cells in written.items() if is_either(cells)}
    marks = {"." for cells in columns if any(map(_POINT.fullmatch, cells))} if unclear else set()
    for heading in written.keys() - unclear.keys():
        plain, _ = written_numbers(written[heading], False) or ([], "")
        if plain:
            is_comma = "." in "".join(filter(None, plain)) and "." not in "".join(written[heading])
            marks.add("," if is_comma else ".")
    for heading, cells in unclear.items() if not marks else ():
        detail = f"the comma in {cells[0]} of {heading} is taken as a decimal mark"
        problems.add("unclear_comma", "doubted", detail)
    return marks != {"."}


def with_plain_numbers(table: Table, is_comma_separated: bool, took: Collection[str] = ()) -> Table:
    """Return a table with plain numbers where all cells of a column are numbers with one unit.

    Durations such as `1m23.4s` are seconds; of `12.5 ± 0.5` the deviation is a column of its own.

    Args:
        took: Headings below which `0:01:23` is no time of day.
    """
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    others: dict[int, tuple[list[str | None], str]] = {}
    deviations: dict[str, list[str | None]] = {}
    for index, heading in enumerate(table.headings):
        # Beside `ConsumedEnergyRaw` it says the same with fewer digits.
        is_shortened = heading == "ConsumedEnergy" and f"{heading}Raw" not in table.headings
        if is_shortened and (joules := energies_of_slurm([*table.column(index)])) is not None:
            others[index] = joules, "J"
            continue
        has_colon = any(":" in str(cells[index]) for cells in first)
        is_span = has_colon and names_a_time(heading) and are_spans(table.column(index))
        said = f"{heading} took" if is_span or heading in took else heading
        if not first or not _plain([cells[index] for cells in first], said, is_comma_separated):
            continue
        if (found := _plain([*table.column(index)], said, is_comma_separated)) is None:
            continue
        others[index] = found[:2]
        if found[2] is not None and f"std {heading}" not in table.headings:
            deviations[f"std {heading}"] = found[2]
    if not others:
        return table
    units = {table.headings[index]: unit for index, (_, unit) in others.items() if unit}
    units |= {n: units[of] for n in deviations if (of := n.removeprefix("std ")) in units}
    plain_table = table.of_same_place(
        [*table.headings, *deviations],
        (
            (line, [others[at][0][row] if at in others else cell for at, cell in enumerate(cells)]
             + [each[row] for each in deviations.values()])
            for row, (line, cells) in enumerate(table.rows)
        ),
    )  # fmt: skip
    plain_table.units |= units
    return plain_table


def names_a_time(heading: str) -> bool:
    """Return whether a heading is that of a measured time, and not of a time of day."""
    read = read_heading(heading)
    return quantity_of(read) == "time" and not read.has(*WORDS["times_of_day"])


def without_bounds(table: Table, problems: ProblemList) -> Table:
    """Return a table without the bounds among numbers, such as `< 0.012`: no cell measured them.

    At least half of the first cells of such a column are numbers.
    """
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    bounded = set[int]()
    for at, heading in enumerate(table.headings):
        texts = [text for cells in first if not is_unset(text := str(cells[at] or "").strip())]
        bounds = [text for text in texts if _BOUND.fullmatch(text)]
        numbers = [_BOUND.sub(r"\1", text) for text in texts]
        is_numeric = 0 < 2 * len(bounds) <= len(texts) and (
            all(map(is_number, numbers)) or written_numbers(numbers, False) is not None
        )
        if is_numeric:
            bounded.add(at)
            detail = f"bounds among the numbers of {heading}, such as {bounds[0]!r}, are no numbers"
            problems.add("bound", "doubted", f"{detail}: left empty")
    if not bounded:
        return table
    rows = (
        (line, [None if at in bounded and _BOUND.fullmatch(str(cell or "").strip()) else cell
                for at, cell in enumerate(cells)])
        for line, cells in table.rows
    )  # fmt: skip
    return table.of_same_place(table.headings, rows)


def _plain(
    cells: Sequence[Cell], heading: str, is_comma_separated: bool
) -> tuple[list[str | None], str, list[str | None] | None] | None:
    """Return the numbers of cells, their unit and their deviations; None for other cells."""
    if (written := written_numbers(cells, is_comma_separated)) is not None:
        return *written, None
    if (seconds := written_durations(cells, heading)) is not None:
        return seconds, "s", None
    if (pairs := means_and_deviations(cells)) is not None:
        means, deviations, unit = pairs
        return means, unit, deviations
    return None


def with_summed_lists(table: Table) -> Table:
    """Return a table with the statistics of the columns whose cells are lists: `[1.5, 1.25]`."""
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    lists = {
        heading: [*map(_list_in, table.column(at))]
        for at, heading in enumerate(table.headings)
        if first and all(map(_list_in, (cells[at] for cells in first)))
    }
    numbered = (zip(lists, of, strict=True) for of in zip(*lists.values(), strict=True))
    sums = [*map(summaries, map(dict, numbered))]
    names = [*dict.fromkeys(name for each in sums for name in each)]
    if not names or not {*names}.isdisjoint(table.headings):
        return table
    kept = [at for at, heading in enumerate(table.headings) if heading not in lists]
    rows = (
        (line, [*(cells[at] for at in kept), *map(more.get, names)])
        for (line, cells), more in zip(table.rows, sums, strict=True)
    )
    summed = table.of_same_place([*(table.headings[at] for at in kept), *names], rows)
    for heading in lists:
        if unit := read_heading(heading).unit:
            summed.units |= {f"{heading}_{each}": unit.text for each in STATISTICS[1:]}
    return summed


def _list_in(cell: Cell) -> list[float]:
    """Return the numbers of a cell that is a list of several; empty for others."""
    text = str(cell or "").strip()
    is_list = text.startswith("[") and "," in text
    return flatten({"": parsed(text)})[1].get("", []) if is_list else []


def with_filled_cells(table: Table, problems: ProblemList) -> Table:
    """Return a table in which blank cells have the name above, as spreadsheets merge cells.

    The first columns have each name once, or once below each name to their left, above as many
    blank cells each time.
    """
    blank = [is_unset(str(cell or "")) for cell in islice(table.column(0), LOOKED_AT)]
    if not any(blank) or blank[0]:
        return table
    columns = [[*table.column(at)] for at in range(len(table.headings))]
    rows = len(table)
    begins, filled = [0], 0
    for heading, cells in zip(table.headings[:-1], columns, strict=False):
        # A note is of its row.
        if not WORDS["remarks"].isdisjoint(words_of(heading)):
            break
        own = [row for row, cell in enumerate(cells) if not is_unset(str(cell or ""))]
        sizes = {end - begin for begin, end in pairwise([*own, rows])}
        names = [str(cells[row]).strip() for row in own]
        is_once = len({*names}) == len(names) or filled > 0
        is_merged = len(own) > 1 and len(sizes) == 1 < min(sizes) and {*begins} <= {*own}
        if not (is_merged and is_once):
            break
        for begin, end in pairwise([*own, rows]):
            cells[begin:end] = [cells[begin]] * (end - begin)
        begins, filled = own, filled + 1
    if not filled or any(is_number(str(columns[0][row])) for row in begins):
        return table
    detail = f"blank cells of {', '.join(table.headings[:filled])} are taken as the name above them"
    problems.add("merged_cells", "doubted", detail)
    lines = (line for line, _ in table.rows)
    return table.of_same_place(table.headings, zip(lines, zip(*columns, strict=True), strict=True))
