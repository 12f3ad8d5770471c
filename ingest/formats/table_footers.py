"""Last rows of a table that are totals or means of the others: `Total`, `∑ssj_ops / ∑power`."""

import re
from collections.abc import Sequence
from typing import Final

from ingest.formats.json_rows import Cell
from ingest.formats.problem_list import ProblemList
from ingest.formats.table_rows import Table

SUMMARY: Final = re.compile(
    r"\W*(?:(?:grand |sub)?totals?|sum|overall|average|avg|mean|geo(?:metric )?mean|[∑Σ].*)\b.*",
    re.IGNORECASE,
)
_MOST: Final = 3
# So near is a number to the total or the mean of those above it.
_EQUAL: Final = 0.005


def drop_footers(table: Table, problems: ProblemList) -> None:
    """Leave out the last rows that name a total or a mean, and are one or lack a third of cells."""
    footers = 0
    for _, cells in reversed(table.last(_MOST)):
        if not any(SUMMARY.fullmatch(str(cell)) for cell in cells):
            break
        footers += 1
    for line, cells in table.last(footers):
        rows = len(table) - footers
        is_empty = 3 * sum(not str(cell or "").strip() for cell in cells) >= len(cells)
        if rows > 1 and (is_empty or _is_computed(table, cells, rows)):
            name = next(str(cell) for cell in cells if SUMMARY.fullmatch(str(cell)))
            problems.add("summary_row", "repaired", f"{name!r} is of other rows; no run", line)
        else:
            footers = 0
            break
    table.drop_last(footers)


def _is_computed(table: Table, cells: Sequence[Cell], rows: int) -> bool:
    """Return whether a number of a row is the total or the mean of those of the first rows."""
    for at, cell in enumerate(cells):
        own = _number(cell)
        if own is None:
            continue
        above = [number for _, each in zip(range(rows), table.column(at), strict=False)
                 if (number := _number(each)) is not None]  # fmt: skip
        total = sum(above)
        if (
            len(above) > 1
            and total
            and any(abs(own - each) <= _EQUAL * abs(each) for each in (total, total / len(above)))
        ):
            return True
    return False


def _number(cell: Cell) -> float | None:
    try:
        return float(str(cell).strip().rstrip("%").replace(",", ""))
    except ValueError:
        return None
