"""Rows of a table among the lines of a log: JSON objects at their ends, or lines as the header has.

A script that prints a header, and for each run a few lines of which one has as many cells, leaves
such a file.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ingest.formats.written_numbers import is_number

# Objects at the ends of lines of a log: how many keys, and how many of so many lines.
_LEAST_KEYS: Final = 3
_LEAST_LOGGED: Final = 3
_LOGGED_LINES: Final = 400
_LEAST_CELLS: Final = 3
_NAME: Final = re.compile(r"[A-Za-z_][\w ()%/.-]{0,39}")


def logged_object(line: str) -> dict[str, object] | None:
    """Return the JSON object that ends a line of a log; None for other lines."""
    at = line.find("{")
    if at < 1 or not line.rstrip().endswith("}"):
        return None
    try:
        content = json.loads(line[at:])
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and len(content) >= _LEAST_KEYS else None


def are_logged_objects(lines: Iterable[str]) -> bool:
    """Return whether some lines of a log end with JSON objects that have the same keys."""
    some = [line for line in islice(lines, _LOGGED_LINES) if line.strip()]
    keys = Counter(tuple(found) for line in some if (found := logged_object(line)))
    return bool(keys) and keys.most_common(1)[0][1] >= max(_LEAST_LOGGED, 0.1 * len(some))


@dataclass(frozen=True, slots=True)
class LoggedRows:
    """The lines of a log that are rows of the header on its first line.

    Attributes:
        cells: How many a row has.
        numeric: Places of those that are numbers.
    """

    cells: int
    numeric: tuple[int, ...]

    def has(self, line: str) -> bool:
        """Return whether a line is a row."""
        cells = [cell.strip() for cell in line.split(",")]
        return len(cells) == self.cells and all(
            is_number(cell) == (at in self.numeric) for at, cell in enumerate(cells)
        )


def logged_rows(lines: Sequence[str]) -> LoggedRows | None:
    """Return how to tell the rows from the other lines of a log that begins with their header.

    None unless there are both, and each row has as many cells, with numbers in the same places and
    texts in others: any line of numbers may be another thing's.
    """
    first, *others = [line for line in islice(lines, _LOGGED_LINES) if line.strip()] or [""]
    names = [name.strip() for name in first.lstrip("\ufeff").split(",")]
    is_header = len({*names}) == len(names) >= _LEAST_CELLS and all(map(_NAME.fullmatch, names))
    split = [[cell.strip() for cell in line.split(",")] for line in others if "," in line]
    rows = [cells for cells in split if len(cells) == len(names)]
    forms = [{is_number(cells[at]) for cells in rows} for at in range(len(names))]
    numeric = [at for at, form in enumerate(forms) if form == {True}]
    is_log = is_header and len(rows) >= _LEAST_LOGGED and len(rows) == len(split) < len(others)
    is_log &= all(len(form) == 1 for form in forms)
    is_told = 0 < len(numeric) < len(names)
    return LoggedRows(len(names), tuple(numeric)) if is_log and is_told else None
