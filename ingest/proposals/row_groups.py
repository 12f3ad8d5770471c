"""How the columns of a table go together: what one decides, and the rows of one setting."""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from ingest.formats.json_cells import Cell


def decides(cells: Sequence[Hashable], others: Sequence[Hashable]) -> bool:
    """Return whether each value of some cells stands with one value of the others alone."""
    return len({*zip(cells, others, strict=True)}) == len({*cells})


def are_twins(cells: Sequence[Hashable], others: Sequence[Hashable]) -> bool:
    """Return whether two columns say the same, value by value."""
    return decides(cells, others) and decides(others, cells)


def rows_by(columns: Sequence[Sequence[Cell]], rows: Sequence[int]) -> list[list[int]]:
    """Return the rows of each combination of the values of some columns.

    Args:
        rows: Numbers of rows, in the order in which each group has them.
    """
    groups: dict[tuple[Cell, ...], list[int]] = defaultdict(list)
    for row in rows:
        groups[tuple(cells[row] for cells in columns)].append(row)
    return [*groups.values()]
