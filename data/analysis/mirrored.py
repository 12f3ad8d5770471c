"""Columns that say again what another column says: the name of a file beside what was set."""

import re
from collections.abc import Collection
from typing import Final

import polars as pl

# What a proposal calls the parts of paths that it has no word for.
_OF_PATHS: Final = re.compile(r"(file|folder)(_\d+)?")


def mirrored(rows: pl.DataFrame, names: Collection[str]) -> frozenset[str]:
    """Return the columns of parts of paths that follow one to one from another column.

    A sentence that names both says one thing twice.

    Args:
        rows: With these columns; others are ignored.
        names: Columns of what was set.
    """
    found: set[str] = set()
    for name in filter(_OF_PATHS.fullmatch, sorted(names, reverse=True)):
        for other in sorted({*names} - {name} - found):
            pairs = rows.select(name, other).unique()
            if len(pairs) == pairs[name].n_unique() == pairs[other].n_unique() > 1:
                found.add(name)
                break
    return frozenset(found)
