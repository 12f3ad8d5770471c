"""The place of views and claims that show one device, access and request size."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from data.catalogue import SHIPPED
from data.selection import Selection
from data.units import format_bytes

# Columns of a place, in the order in which they are chosen and named.
PLACE: Final = ("device", "rw", "request_bytes")
_FACETS: Final = ("device", "rw", "request")
# The studies measure small random reads, of 4 KiB where possible.
_RW_FIRST: Final = ("randread", "read", "randwrite", "write")
_USUAL_BYTES: Final = 4096
_PAIRS: Final = (("read", "write"), ("randread", "randwrite"))


def matching(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows with these values by column; None matches NULL."""
    wanted = [pl.col(name).eq_missing(value) for name, value in place.items()]
    return rows.filter(wanted) if wanted else rows


def access_pair(rw: str | None) -> tuple[str, str] | tuple[()]:
    """Return the reading and the writing access, one of which is `rw`; else an empty tuple."""
    return next((pair for pair in _PAIRS if rw in pair), ())


def place_words(place: Mapping[str, Any], names: Sequence[str] = PLACE) -> str:
    """Return a text such as `optane · randread · 4 KiB`; missing parts are left out."""
    values = {name: place.get(name) for name in names}
    parts = [
        format_bytes(value) if name == "request_bytes" else str(value)
        for name, value in values.items()
        if value is not None
    ]
    return " · ".join(parts)


def chosen_place(rows: pl.DataFrame, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Choose device, access and size where none is wanted, or one that no run has.

    The device is that with most modes, then with most sizes and depths; the access a read, random
    if there is one; the size 4 KiB, else the smallest.

    Args:
        rows: One row per configuration: the columns of PLACE, `mode`, `io_depth`, `runs`.
        wanted: Values by column of PLACE; None leaves the choice.

    Returns:
        Values by column of PLACE; None where the runs have none.
    """
    place: dict[str, Any] = {}
    for name, usual in zip(PLACE, (_usual_device, _usual_access, _usual_size), strict=True):
        value, there = wanted[name], matching(rows, place)
        is_there = value is not None and value in there[name].to_list()
        place[name] = value if is_there else usual(there)
    return place


def at_place(selection: Selection, place: Mapping[str, Any]) -> Selection:
    """Add filters on the values of a place to others."""
    for name, column in zip(_FACETS, PLACE, strict=True):
        facet = SHIPPED.facets[name]
        value = facet.null_word if place[column] is None else place[column]
        selection = selection.with_values(facet, [value])
    return selection


def _usual_device(rows: pl.DataFrame) -> str | None:
    if not len(rows):
        return None
    ranked = rows.group_by("device").agg(
        modes=pl.col("mode").drop_nulls().n_unique(),
        cells=pl.struct("request_bytes", "io_depth").n_unique(),
        runs=pl.col("runs").sum(),
    )
    last = ranked.sort("modes", "cells", "runs", "device", nulls_last=False).row(-1, named=True)
    return None if last["device"] is None else str(last["device"])


def _usual_access(rows: pl.DataFrame) -> str | None:
    there = sorted(rows["rw"].drop_nulls().unique().to_list())
    return next((rw for rw in (*_RW_FIRST, *there) if rw in there), None)


def _usual_size(rows: pl.DataFrame) -> int | None:
    sizes: list[int] = rows["request_bytes"].unique().sort().to_list()
    return _USUAL_BYTES if _USUAL_BYTES in sizes else next(iter(sizes), None)
