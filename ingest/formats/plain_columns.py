"""Columns of numbers as people write them, turned into plain numbers."""

from itertools import islice

from ingest.formats.problem_list import ProblemList
from ingest.formats.table_rows import Table
from ingest.formats.table_text import LOOKED_AT
from ingest.formats.written_numbers import is_either, written_numbers


def doubt_commas(table: Table, problems: ProblemList) -> None:
    """Report columns whose numbers are like `12,345` at first, if no other has decimal commas."""
    first = (islice(table.column(at), LOOKED_AT) for at in range(len(table.headings)))
    columns = ([str(cell).strip() for cell in cells] for cells in first)
    written = {
        heading: [cell for cell in cells if cell]
        for heading, cells in zip(table.headings, columns, strict=True)
        if any("," in cell for cell in cells)
    }
    unclear = {heading: cells for heading, cells in written.items() if is_either(cells)}
    for heading in written.keys() - unclear.keys():
        plain, _ = written_numbers(written[heading], False) or ([], "")
        if "." in "".join(filter(None, plain)) and "." not in "".join(written[heading]):
            return
    for heading, cells in unclear.items():
        detail = f"the comma in {cells[0]} of {heading} is taken as a decimal mark"
        problems.add("unclear_comma", "doubted", detail)


def with_plain_numbers(table: Table, is_comma_separated: bool) -> Table:
    """Return a table with plain numbers where all cells of a column are numbers with one unit."""
    first = [cells for _, cells in islice(table.rows, LOOKED_AT)]
    others = {
        index: written
        for index in range(len(table.headings))
        if written_numbers([cells[index] for cells in first], is_comma_separated)
        and (written := written_numbers([*table.column(index)], is_comma_separated))
    }
    if not others:
        return table
    plain_table = Table(table.headings, table.refused, table.place, table.keys)
    plain_table.units = {table.headings[index]: unit for index, (_, unit) in others.items() if unit}
    for row, (line, cells) in enumerate(table.rows):
        plain_table.append(
            line,
            [others[at][0][row] if at in others else cell for at, cell in enumerate(cells)],
        )
    return plain_table
