"""Rows of a table without headings, of a tool that is known by their shape.

The runner of the Energy-Languages suite (its RAPL/main.c and rapl.c) appends a line for each run to
`LANGUAGE.csv`: `program ; package, core, GPU, DRAM,  time`, in other copies with `;` or `,`
throughout, in some with the user and system time behind. Energies are in J, blank where the machine
has no such domain; times are in ms.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Final

# As shipped settings declare them.
_HEADINGS: Final = ("Program", "Package", "Core", "GPU", "DRAM", "Time")
_OF_PROCESSOR: Final = ("User (ms)", "System (ms)")
_JOULES: Final = r"-?\d+\.\d+"
_NUMBER: Final = r"\s*(\d[\d.]*(?:[eE][-+]?\d+)?)\s*"
_ROW: Final = re.compile(
    rf"\s*([A-Za-z][\w.+#-]*)\s*[;,]\s*({_JOULES})\s*"
    + rf"[,;]\s*((?:{_JOULES})?)\s*" * 3
    + rf"[,;]{_NUMBER}(?:[,;]{_NUMBER}[,;]{_NUMBER})?"
)
# Of a computer; other powers say that the numbers are others.
_POWER_W: Final = (0.1, 5_000.0)
# RAPL counts in such parts of a joule, or in multiples of them.
_PER_JOULE: Final = 65_536
# A user and a system time that are no more of the time than so many processors have.
_MOST_CORES: Final = 1_024
_LANGUAGE: Final = re.compile(r"[A-Za-z]+[+#]*\d?")


def are_headless_rows(lines: Sequence[str]) -> bool:
    """Return whether all lines are such rows, and J and ms give the power of a computer.

    Where commas alone separate the cells, energies must be of RAPL by their digits too.
    """
    rows = [_ROW.fullmatch(line.lstrip("\ufeff")) for line in lines if line.strip()]
    if not rows or not all(rows):
        return False
    cells = [row.groups() for row in rows if row]
    powers = [1e3 * float(row[1]) / float(row[5]) for row in cells if float(row[5]) > 0]
    is_counted = all((float(row[1]) * _PER_JOULE).is_integer() for row in cells)
    is_named = is_counted or all(";" in line for line in lines if line.strip())
    is_power = bool(powers) and _POWER_W[0] < median(powers) < _POWER_W[1]
    return is_power and is_named and _are_of_processor([row[5:] for row in cells])


def _are_of_processor(times: Sequence[Sequence[str | None]]) -> bool:
    """Return whether no row, or each, has a user and a system time that are one time's."""
    if not any(row[1] for row in times):
        return True
    if not all(row[1] for row in times):
        return False
    shares = [(float(row[1] or 0) + float(row[2] or 0)) / float(row[0] or 1) for row in times]
    return 0 < median(shares) <= _MOST_CORES


def headless_rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield headings and the cells of each row, each with its line number.

    A line that is no row is one cell.

    Args:
        name: Of the file: the language, if it is one word.
    """
    stem = re.sub(r"\.csv(\.\w+)?$", "", name.rpartition("/")[2], flags=re.IGNORECASE)
    is_language = _LANGUAGE.fullmatch(stem) is not None
    is_headed = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _ROW.fullmatch(line.lstrip("\ufeff"))
        cells = [stem, *(cell for cell in row.groups() if cell is not None)] if row else [line]
        if not is_headed:
            first = "Language" if is_language else "Benchmark"
            yield 0, [first, *_HEADINGS, *(_OF_PROCESSOR if len(cells) > 7 else ())]
            is_headed = True
        yield number, cells
