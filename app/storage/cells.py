"""The cells of a heatmap: configurations pooled by completion mode or device, size and IO depth."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from app.storage.study import Study
from app.storage.view import View
from data.analysis.like_with_like import Slice
from data.analysis.storage_means import pooled_means, with_marked_depths, write_minus_read
from data.analysis.storage_places import access_pair, matching
from data.selection import Selection


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one heatmap.

    Attributes:
        rows: Answer of `pooled_means` or, for differences, of `write_minus_read`, with `value`;
            empty if nothing was measured.
        by: Columns of a cell: the panel's (`mode` or `device`), `request_bytes`, `io_depth`.
        part: The part of the filtered runs that the cells show.
        common: Values that all cells share, by column.
        accesses: The compared reading and writing access; empty unless cells are differences.
    """

    rows: pl.DataFrame
    by: tuple[str, ...]
    part: Slice
    common: dict[str, Any]
    accesses: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns by which the runs behind the cells are averaged."""
        return (*self.by, "rw") if self.accesses else self.by

    def narrow(self, study: Study) -> Selection:
        """Return the filters of a study with those on the runs behind the cells."""
        selection, facets = study.state.selection, study.catalogue.facets
        wanted = {name: [value] for name, value in self.common.items()}
        if self.accesses:
            wanted["rw"] = list(self.accesses)
        for name, values in wanted.items():
            facet = facets[name]
            words = [facet.null_word if value is None else value for value in values]
            selection = selection.with_values(facet, words)
        return self.part.narrow(selection)


def means_of(study: Study, view: View) -> Cells:
    """Return the means of a view's metric, at the access of the place."""
    rows, common = _rows(study, view)
    rw, y = study.state.at_rw, view.y
    rows = matching(rows, {"rw": rw})
    part = study.alike(rows, (view.by, "request", "depth"), runs=f"{y}_n")
    by = (view.by, "request_bytes", "io_depth")
    cells = pooled_means(part.of(rows), y, by, study.scene.is_interval)
    return Cells(cells.with_columns(value=y), by, part, common | {"rw": rw})


def means_with_depths_of(study: Study, view: View) -> Cells:
    """Return the means, with the best depth of each size and that from which the rate saturates."""
    cells = means_of(study, view)
    alike = cells.part.of(matching(study.rows, cells.common).filter(pl.col(view.y).is_not_null()))
    rates = pooled_means(alike, "iops", cells.by, study.scene.is_interval)
    return replace(cells, rows=with_marked_depths(cells.rows, rates, view.y, cells.by[:2]))


def differences_of(study: Study, view: View) -> Cells:
    """Return the means of writing minus those of reading, of cells that have both."""
    rows, common = _rows(study, view)
    y, is_interval, accesses = view.y, study.scene.is_interval, access_pair(study.state.at_rw)
    rows = rows.filter(pl.col("rw").is_in(accesses))
    part = study.alike(rows, (view.by, "request", "depth", "rw"), runs=f"{y}_n")
    by, alike = (view.by, "request_bytes", "io_depth"), part.of(rows)
    if not accesses:
        return Cells(alike.clear().with_columns(value=y), by, part, common)
    read, write = (
        pooled_means(alike.filter(pl.col("rw") == rw), y, by, is_interval) for rw in accesses
    )
    cells = write_minus_read(read, write, y, by, is_interval)
    return Cells(cells, by, part, common, accesses)


def _rows(study: Study, view: View) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the measured configurations of one device or one mode, and which one it is."""
    measured = study.rows.filter(pl.col(view.y).is_not_null())
    common = {"device": study.state.at_device}
    if view.by == "device":
        common = {"mode": study.usual_mode(measured)}
    return matching(measured, common), common
