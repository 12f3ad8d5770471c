"""The content of Storage for a state: figures, data for linked selections, status line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import encode_columns, floats
from app.kit.figure_text import BREAK
from app.kit.lake_view import LakeView
from app.kit.words import EMPTY_LAKE, no_run_left
from app.storage.figures.devices import build_devices, build_proportionality
from app.storage.figures.grids import build_grids
from app.storage.figures.layouts import message, unmeasured
from app.storage.figures.lines import build_lines
from app.storage.figures.subsystems import PublishedMove, build_subsystems
from app.storage.published import (
    Comparisons,
    comparisons,
    idle_stars,
    line_stars,
    published_moves,
)
from app.storage.state import VIEWS, StorageState, View, knob_columns
from app.storage.study import (
    MOST_CONFIGURATIONS,
    NO_STORAGE,
    Study,
    storage_cube,
    storage_runs,
    study_of,
)
from data.analysis.facets import matches
from data.analysis.like_with_like import Slice
from data.analysis.storage_means import pooled_means, write_minus_read
from data.analysis.storage_places import access_pair, matching, place_words
from data.queries.storage import MEASURED
from data.reference.loads_stores import UNKNOWN, sources

# Columns that a box may use: metrics, and numeric knobs.
METRICS: Final = tuple(name for name in MEASURED if not name.endswith("_per_joule"))
FIELDS: Final = (*METRICS, "request_bytes", "io_depth", "threads")
_CELL: Final = ("mode", "request_bytes", "io_depth")


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """The study of a state, and its figures by view.

    Attributes:
        configurations: Data for linked selections: `count`, `knobs` (name to values and indices),
            `fields` (metric to its means, as typed arrays), `runs`, `workloads`; None without
            figures. A box may use knobs as fields too.
        status: How many runs are shown, of how many.
    """

    study: Study
    compared: Comparisons
    figures: dict[str, dict[str, Any]]
    configurations: dict[str, Any] | None
    status: str

    @property
    def pictures(self) -> dict[str, dict[str, Any]]:
        """What each view answers: its figure, and the first one the columns that all share."""
        first = VIEWS[0].name
        shared = {first: {"columns": self.configurations}}
        return {name: {"figure": f, **shared.get(name, {})} for name, f in self.figures.items()}


def answer(view: LakeView, state: StorageState) -> StorageAnswer:
    """Build the figures of a state."""
    study = study_of(view, state)
    compared = comparisons(study)
    status = f"{study.matching:,} of {storage_runs(view):,} storage runs"
    if not study.has_figures:
        sentence = nothing_to_draw(study)
        figures = {each.name: message(each, sentence) for each in VIEWS}
        return StorageAnswer(study, compared, figures, None, status)
    figures = {each.name: BUILDERS[each.kind](study, each, compared) for each in VIEWS}
    status += f" in {len(study.rows):,} configurations"
    return StorageAnswer(study, compared, figures, _configurations(study), status)


def nothing_to_draw(study: Study) -> str:
    """Return why there are no figures, and the next step."""
    view, selection = study.view, study.state.selection
    cube = storage_cube(view, selection)
    if not view.runs:
        return EMPTY_LAKE.replace(BREAK, " ")
    if not len(cube):
        return NO_STORAGE
    if len(study.rows):
        left = int(cube.filter(matches(selection))["runs"].sum())
        return (
            f"The filters leave more than {MOST_CONFIGURATIONS:,} configurations of {left:,} runs. "
            "Filter on a dataset, a device or an access."
        )
    return no_run_left(cube, selection, study.catalogue).replace(BREAK, " ")


def _configurations(study: Study) -> dict[str, Any]:
    rows = study.rows
    fields = {name: floats(rows[name]).astype(np.float32) for name in METRICS}
    return {
        **encode_columns(rows, knob_columns(study.catalogue), fields),
        "runs": rows["runs"].to_list(),
        "workloads": rows["workload"].unique().sort().to_list(),
    }


def _lines(study: Study, view: View, compared: Comparisons) -> dict[str, Any]:
    return build_lines(study.here, view, study.scene, line_stars(study, view, compared))


def _subsystems(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    return _bars(study, study.functions, view)


def _sources(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    return _bars(study, study.moves, view, published_moves(study))


def _bars(
    study: Study, functions: pl.DataFrame, view: View, published: Sequence[PublishedMove] = ()
) -> dict[str, Any]:
    counted, part = study.shown_moves(functions, view.y)
    rows: dict[tuple[str | None, int], list[int]] = {}
    for row, mode, depth in part.of(study.here).select("row", "mode", "io_depth").iter_rows():
        rows.setdefault((mode, depth), []).append(row)
    shown = study.words(part)
    return build_subsystems(counted, rows, view, study.scene, UNKNOWN, sources(), published, shown)


def _devices(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    idle = study.words(study.idle_part)
    return build_devices(study.rows, study.idle, view, study.scene, idle_stars(study), idle)


def _proportionality(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    rows, part = study.proportions
    words = study.words(part)
    return build_proportionality(rows, study.idle, study.accesses, view, study.scene, words)


def _grids(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    cells = cells_of(study, view)
    place_text = place_words(study.state.place, cells.fixed)
    if not len(cells.rows):
        both = f" by both {' and '.join(cells.accesses)}" if cells.accesses else ""
        return unmeasured(view, [view.y], place_text, both)
    how = "means of replicates"
    if cells.accesses:
        how = f"{cells.accesses[1]} minus {cells.accesses[0]}, {how}"
    subtitle = " · ".join(part for part in (how, place_text, study.words(cells.part)) if part)
    common = {name: study.state.place[name] for name in cells.fixed}
    if cells.accesses:
        common["rw"] = list(cells.accesses)
    return build_grids(cells.rows, view, study.scene, subtitle, common)


# Kind of view to its builder, given the study, the view and the compared published values.
BUILDERS: Final[dict[str, Callable[[Study, View, Comparisons], dict[str, Any]]]] = {
    "lines": _lines,
    "sources": _sources,
    "subsystems": _subsystems,
    "devices": _devices,
    "proportionality": _proportionality,
    "difference": _grids,
    "efficiency": _grids,
}


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one heatmap: configurations pooled by mode, request size and IO depth.

    Attributes:
        rows: Answer of `pooled_means` or, for differences, of `write_minus_read`, with `value`;
            empty if nothing was measured.
        part: The part of the filtered runs that the cells show.
        fixed: Columns of the study's place with one value in all of them.
        accesses: The compared reading and writing access; empty unless cells are differences.
    """

    rows: pl.DataFrame
    part: Slice
    fixed: tuple[str, ...]
    accesses: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns by which the runs behind the cells are averaged."""
        return (*_CELL, "rw") if self.accesses else _CELL


def cells_of(study: Study, view: View) -> Cells:
    """Return the cells of a heatmap view."""
    place, is_interval, y = study.state.place, study.scene.is_interval, view.y
    rows = matching(study.rows, {"device": place["device"]}).filter(pl.col(y).is_not_null())
    if view.kind == "efficiency":
        rows = matching(rows, {"rw": place["rw"]})
        part = study.alike(rows, ("mode", "request", "depth"), runs=f"{y}_n")
        cells = pooled_means(part.of(rows), y, _CELL, is_interval).with_columns(value=y)
        return Cells(cells, part, ("device", "rw"))
    accesses = access_pair(place["rw"])
    rows = rows.filter(pl.col("rw").is_in(accesses))
    part = study.alike(rows, ("mode", "request", "depth", "rw"), runs=f"{y}_n")
    alike = part.of(rows)
    if not accesses:
        return Cells(alike.clear().with_columns(value=y), part, ("device",))
    read, write = (
        pooled_means(alike.filter(pl.col("rw") == rw), y, _CELL, is_interval) for rw in accesses
    )
    cells = write_minus_read(read, write, y, _CELL, is_interval)
    return Cells(cells, part, ("device",), accesses)
