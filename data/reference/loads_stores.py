"""The published table of the kernel's loads and stores: its sources and their parts."""

from functools import cache
from typing import Any, Final

from data.reference.tables import PublishedTable, published_tables

# The columns of `functions` that the values are sums of.
MOVES: Final = ("loads_per_s", "stores_per_s")
# The lake's subsystems of functions whose source is not known, and of functions of programs, which
# the published sums leave out.
UNKNOWN: Final = "unknown"
USER: Final = "user"
SUM, TOTAL = "sum", "total"
NAME: Final = "hotstorage22_loads_stores"
_MILLION: Final = 1e6


def table() -> PublishedTable:
    """Return the table: one row per source or part of one, and completion mode."""
    return published_tables()[NAME]


@cache
def sources() -> tuple[str, ...]:
    """Return the sources of the table: subsystems of the lake, then all others as one."""
    return tuple(dict.fromkeys(source_of(row) for row in table().rows if row["part"] == SUM))


def source_of(row: dict[str, Any]) -> str:
    """Return the lake's name of a row's source; the table's if it covers several subsystems."""
    return str(row["subsystem"] or row["source"])


def patterns() -> dict[tuple[str, str], str]:
    """Return the pattern of the functions of each part, by subsystem and part."""
    return {
        (row["subsystem"], row["part"]): row["function_pattern"]
        for row in table().rows
        if row["function_pattern"]
    }


def part_words(row: dict[str, Any]) -> str:
    """Return the part of a row as text: `blk_mq_* (36 functions)`."""
    several = f" ({row['functions']:.0f} functions)" if row["functions"] > 1 else ""
    return f"{row['part']}{several}"


def row_words(row: dict[str, Any]) -> str:
    """Return `block/`, or for a part `block/ blk_mq_* (36 functions)`."""
    source = str(row["source"])
    return source if row["part"] in (SUM, TOTAL) else f"{source} {part_words(row)}"


def per_s(row: dict[str, Any]) -> float:
    """Return the value of a row, 1/s."""
    return float(row["millions_per_s"]) * _MILLION
