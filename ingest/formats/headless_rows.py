"""Rows of a table without headings, of a tool that is known by their shape.

The runner of the Energy-Languages suite (its RAPL/main.c and rapl.c) appends a line for each run to
`LANGUAGE.csv`: `program ; package, core, GPU, DRAM,  time`, in other copies with `;` throughout.
Energies are in J, blank where the machine has no such domain; the time is in ms.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Final

# As shipped settings declare them.
HEADINGS: Final = ("Language", "Program", "Package", "Core", "GPU", "DRAM", "Time")
_JOULES: Final = r"-?\d+\.\d+"
_ROW: Final = re.compile(
    rf"\s*([A-Za-z][\w.+#-]*)\s*;\s*({_JOULES})\s*"
    + rf"[,;]\s*((?:{_JOULES})?)\s*" * 3
    + r"[,;]\s*(\d[\d.]*(?:[eE][-+]?\d+)?)\s*"
)
# Of a computer; other powers say that the numbers are others.
_POWER_W: Final = (0.1, 5_000.0)


def are_headless_rows(lines: Sequence[str]) -> bool:
    """Return whether all lines are such rows, and J and ms give the power of a computer."""
    rows = [_ROW.fullmatch(line.lstrip("\ufeff")) for line in lines if line.strip()]
    powers = [1e3 * float(row[2]) / float(row[6]) for row in rows if row and float(row[6]) > 0]
    return bool(powers) and all(rows) and _POWER_W[0] < median(powers) < _POWER_W[1]


def headless_rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield HEADINGS and the cells of each row, each with its line number.

    A line that is no row is one cell.

    Args:
        name: Of the file: the language.
    """
    yield 0, [*HEADINGS]
    language = re.sub(r"\.csv(\.\w+)?$", "", name.rpartition("/")[2], flags=re.IGNORECASE)
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _ROW.fullmatch(line.lstrip("\ufeff"))
            yield number, [language, *row.groups()] if row else [line]
