"""Defaults of Storage: the dataset, and the device, access and size of the lines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.page_layout import Entries, entries
from app.storage.state import StorageState
from data.analysis.facets import Choice, FacetCounts, matches
from data.selection import Selection
from data.units import format_bytes

# The studies measure small random reads, of 4 KiB where possible.
_RW_FIRST: Final = ("randread", "read", "randwrite", "write")
_USUAL_BYTES: Final = 4096
_PLACES: Final = ("device", "rw", "request_bytes")


def storage_cube(view: LakeView, selection: Selection) -> pl.DataFrame:
    """Return the rows of the filter cube that are storage runs, which have a request size."""
    return view.cube_of(selection).filter(pl.col("request_bytes").is_not_null())


def default_state(view: LakeView) -> StorageState:
    """Return the state without a link: the dataset with most modes, then most runs."""
    cube = storage_cube(view, view.first_study(is_storage=True))
    if not len(cube):
        return StorageState()
    ranked = (
        cube.group_by("dataset")
        .agg(modes=pl.col("mode").drop_nulls().n_unique(), runs=pl.col("runs").sum())
        .sort("modes", "runs", "dataset")
    )
    return StorageState(Selection.of(dataset=[ranked["dataset"][-1]]))


def chosen(cube: pl.DataFrame, state: StorageState) -> StorageState:
    """Choose device, access and size where the state has none, or one that the filters exclude.

    Args:
        cube: Answer of `storage_cube`.
    """
    left = cube.filter(matches(state.selection))
    device = _kept(left, "device", state.at_device, _most_modes(left))
    here = at_place(left, {"device": device})
    rw = _kept(here, "rw", state.at_rw, _first_access(here["rw"].unique().to_list()))
    here = at_place(here, {"rw": rw})
    size = _kept(here, "request_bytes", state.at_request, _usual_size(here))
    return replace(state, at_device=device, at_rw=rw, at_request=size)


def offered(view: LakeView, selection: Selection) -> dict[str, list[Choice]]:
    """Return the choices of each filter of the page."""
    outline = view.outline.filter("is_storage") if view.is_large else None
    counts = FacetCounts(storage_cube(view, selection), outline)
    return {name: counts.of(name, selection) for name in StorageState.FILTERS}


def place_choices(cube: pl.DataFrame, state: StorageState) -> dict[str, Entries]:
    """Return the entries of the menus of device, access and size, by URL key.

    A menu lists the values that the filters and the menus before it allow.
    """
    left = cube.filter(matches(state.selection))
    here = at_place(left, {"device": state.at_device})
    sizes = at_place(here, {"rw": state.at_rw})["request_bytes"].unique().sort()
    return {
        "at": entries({d: d for d in left["device"].drop_nulls().unique().sort()}),
        "access": entries({a: a for a in here["rw"].drop_nulls().unique().sort()}),
        "size": entries({str(s): format_bytes(s) for s in sizes}),
    }


def access_pair(rw: str | None) -> tuple[str, str] | tuple[()]:
    """Return the reading and the writing access, one of which is `rw`; else an empty tuple."""
    pairs = (("read", "write"), ("randread", "randwrite"))
    return next((pair for pair in pairs if rw in pair), ())


def place_words(at: Mapping[str, Any], names: Sequence[str] = _PLACES) -> str:
    """Return a text such as `optane · randread · 4 KiB`; missing parts are left out."""
    words = [str(at[n]) for n in names if n != "request_bytes" and at[n] is not None]
    if "request_bytes" in names and at["request_bytes"] is not None:
        words.append(format_bytes(at["request_bytes"]))
    return " · ".join(words)


def place_of(state: StorageState) -> dict[str, Any]:
    """Return device, access and size of a state, by column."""
    return {"device": state.at_device, "rw": state.at_rw, "request_bytes": state.at_request}


def at_place(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows with these values by column; None matches NULL."""
    return rows.filter([pl.col(name).eq_missing(value) for name, value in place.items()])


def _kept(left: pl.DataFrame, column: str, value: Any, otherwise: Any) -> Any:
    return value if value is not None and value in left[column].to_list() else otherwise


def _most_modes(left: pl.DataFrame) -> str | None:
    """Return the device with most modes, then with most sizes and depths."""
    if not len(left):
        return None
    ranked = left.group_by("device").agg(
        modes=pl.col("mode").drop_nulls().n_unique(),
        cells=pl.struct("request_bytes", "io_depth").n_unique(),
        runs=pl.col("runs").sum(),
    )
    found: str | None = ranked.sort("modes", "cells", "runs", "device", nulls_last=False)["device"][
        -1
    ]
    return found


def _first_access(there: list[str | None]) -> str | None:
    known: list[str] = [rw for rw in _RW_FIRST if rw in there]
    return next(iter(known or sorted(rw for rw in there if rw)), None)


def _usual_size(here: pl.DataFrame) -> int | None:
    sizes: list[int] = here["request_bytes"].unique().sort().to_list()
    return _USUAL_BYTES if _USUAL_BYTES in sizes else next(iter(sizes), None)
