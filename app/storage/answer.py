"""The content of Storage for a state: figures, data for linked selections, status line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import encode_columns, floats
from app.kit.figure_text import BREAK
from app.kit.lakes import LakeView
from app.kit.words import EMPTY_LAKE, no_run_left
from app.storage.cells import cells_of
from app.storage.defaults import place_words, storage_cube
from app.storage.figures.devices import build_devices
from app.storage.figures.grids import DIVERGING, VIRIDIS, Colors, build_grids
from app.storage.figures.layouts import message, source_words
from app.storage.figures.lines import build_lines
from app.storage.figures.proportionality import build_proportionality
from app.storage.figures.subsystems import PublishedMove, build_subsystems
from app.storage.published import idle_stars, line_stars
from app.storage.published_moves import by_source, published_moves, sources
from app.storage.state import KNOBS, StorageState
from app.storage.study import (
    MOST_CONFIGURATIONS,
    Study,
    counted_functions,
    of_bars,
    proportion_rows,
    study_of,
)
from app.storage.views import VIEWS, View
from data.analysis.facets import matches
from data.metrics import metric
from data.queries.storage import MEASURED, SUBSYSTEM_UNKNOWN

NO_STORAGE: Final = (
    "Storage draws runs by request size and IO depth, and no run of this lake has a request size: "
    "results of fio would make it useful."
)
# Columns that a box may use: metrics, and numeric knobs.
METRICS: Final = tuple(name for name in MEASURED if not name.endswith("_per_joule"))
FIELDS: Final = (*METRICS, "request_bytes", "io_depth", "threads")
_SCALES: Final = {"efficiency": Colors(VIRIDIS), "difference": Colors(DIVERGING, around=0.0)}


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """The study of a state, and its figures by view.

    Attributes:
        functions: Answer of `counted_functions`.
        configurations: Data for linked selections: `count`, `knobs` (name to values and indices),
            `fields` (metric to its means, as typed arrays), `runs`, `workloads`; None without
            figures. A box may use knobs as fields too.
        status: How many runs are shown, of how many.
    """

    study: Study
    functions: pl.DataFrame
    figures: dict[str, dict[str, Any]]
    configurations: dict[str, Any] | None
    status: str


def answer(view: LakeView, state: StorageState) -> StorageAnswer:
    """Build the figures of a state."""
    study = study_of(view, state)
    status = f"{study.matching:,} of {_storage_runs(view):,} storage runs"
    if not has_figures(study):
        sentence = nothing_to_draw(view, study)
        figures = {one.name: message(one.name, sentence) for one in VIEWS}
        return StorageAnswer(study, counted_functions(view, study), figures, None, status)
    functions = counted_functions(view, study)
    return StorageAnswer(
        study,
        functions,
        {one.name: BUILDERS[one.kind](study, functions, one) for one in VIEWS},
        _configurations(study),
        f"{status} in {len(study.rows):,} configurations",
    )


def _storage_runs(view: LakeView) -> int:
    return int(view.outline.filter("is_storage")["runs"].sum())


def has_figures(study: Study) -> bool:
    """Return whether there are configurations, and not too many to draw."""
    return 0 < len(study.rows) <= MOST_CONFIGURATIONS


def missing(view: LakeView, _: StorageState) -> str:
    """Return that no run of the lake has a request size."""
    return "" if _storage_runs(view) else NO_STORAGE


def nothing_to_draw(view: LakeView, study: Study) -> str:
    """Return why there are no figures, and the next step."""
    selection = study.state.selection
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
    return no_run_left(cube, selection).replace(BREAK, " ")


def _lines(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    return build_lines(study.here, view, study.scene, line_stars(study, view))


def _subsystems(study: Study, functions: pl.DataFrame, view: View) -> dict[str, Any]:
    return _bars(study, functions, view)


def _sources(study: Study, functions: pl.DataFrame, view: View) -> dict[str, Any]:
    return _bars(study, by_source(functions), view, published_moves(study))


def _bars(
    study: Study, functions: pl.DataFrame, view: View, published: Sequence[PublishedMove] = ()
) -> dict[str, Any]:
    counted, part = of_bars(study, functions, view.y)
    rows: dict[tuple[str | None, int], list[int]] = {}
    for row, mode, depth in part.of(study.here).select("row", "mode", "io_depth").iter_rows():
        rows.setdefault((mode, depth), []).append(row)
    return build_subsystems(
        counted, rows, view, study.scene, SUBSYSTEM_UNKNOWN, sources(), published, study.words(part)
    )


def _devices(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    idle = study.words(study.idle_part)
    return build_devices(study.rows, study.idle, view, study.scene, idle_stars(study), idle)


def _proportionality(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    rows, part = proportion_rows(study)
    words = study.words(part)
    return build_proportionality(rows, study.idle, study.accesses, view, study.scene, words)


def _grids(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    found = cells_of(study, view)
    place = place_words(study.scene.place, found.fixed)
    if not found.cells:
        both = f" by both {' and '.join(found.accesses)}" if found.accesses else ""
        where = f" at {place}" if place else ""
        said = f"{metric(view.y).title}: not measured{both}{where}. {source_words([view.y])}"
        return message(view.name, said)
    how = "means of replicates"
    if found.accesses:
        how = f"{found.accesses[1]} minus {found.accesses[0]}, {how}"
    parts = [how, place, study.words(found.part)]
    subtitle = " · ".join(part for part in parts if part)
    common = {name: study.scene.place[name] for name in found.fixed}
    if found.accesses:
        common["rw"] = list(found.accesses)
    return build_grids(found.cells, view, study.scene, subtitle, _SCALES[view.kind], common)


# Kind of view to its builder, given the study, the answer of `counted_functions` and the view.
BUILDERS: Final[dict[str, Callable[[Study, pl.DataFrame, View], dict[str, Any]]]] = {
    "lines": _lines,
    "sources": _sources,
    "subsystems": _subsystems,
    "devices": _devices,
    "proportionality": _proportionality,
    "difference": _grids,
    "efficiency": _grids,
}


def _configurations(study: Study) -> dict[str, Any]:
    rows = study.rows
    fields = {name: floats(rows[name]).astype(np.float32) for name in METRICS}
    return {
        **encode_columns(rows, KNOBS, fields),
        "runs": rows["runs"].to_list(),
        "workloads": rows["workload"].unique().sort().to_list(),
    }
