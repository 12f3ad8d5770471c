"""What Storage shows for a state: its pictures, what the browser links by, counts in words."""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.messages import EMPTY_LAKE
from app.storage.cells import difference_cells, efficiency_cells, mixed_words, write_of
from app.storage.defaults import at_place, freeing, place_choices, place_words, storage_cube
from app.storage.figures.base import nothing, source_words
from app.storage.figures.devices import build_devices
from app.storage.figures.grids import Cell, Colors, build_grids
from app.storage.figures.lines import build_lines
from app.storage.figures.proportionality import build_proportionality
from app.storage.figures.scales import DIVERGING, VIRIDIS
from app.storage.figures.subsystems import build_subsystems
from app.storage.published import Line, comparisons, idle_stars, line_stars
from app.storage.state import KNOBS, StorageState
from app.storage.study import MOST_CONFIGURATIONS, Study, counted_functions, study_of
from app.storage.views import VIEWS, View
from data.analysis.facets import matches
from data.metrics import metric
from data.queries.storage import SUBSYSTEM_UNKNOWN

NO_STORAGE: Final = (
    "The lake holds no storage runs: none has a request size. "
    "Put some in with python -m ingest add RAW, then reload this page."
)
_SCALES: Final = {"efficiency": Colors(VIRIDIS), "difference": Colors(DIVERGING, around=0.0)}


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """The pictures of a state by view, and what the page needs beside them.

    Attributes:
        configurations: What the browser links by: `knobs` (name to values), `runs`, `workloads`,
            `modes` (what each is called, hue and symbol); None where there is nothing to link.
        published: By table, published values beside measured ones.
        state: With every choice made.
        spread: What error bars are, in words.
    """

    figures: dict[str, dict[str, Any]]
    configurations: dict[str, Any] | None
    published: dict[str, list[Line]]
    places: dict[str, list[dict[str, str]]]
    state: StorageState
    spread: str
    status: str


def answer(view: LakeView, state: StorageState) -> StorageAnswer:
    """Build the pictures of a state."""
    cube = storage_cube(view)
    study = study_of(view, state)
    status = f"{study.matching:,} of {int(cube['runs'].sum()):,} storage runs"
    places = place_choices(cube, study.state)
    if not len(study.rows) or len(study.rows) > MOST_CONFIGURATIONS:
        sentence = nothing_to_draw(view, study)
        figures = {one.name: nothing(one.name, sentence) for one in VIEWS}
        return StorageAnswer(
            figures, None, comparisons(study), places, study.state, study.scene.spread_words, status
        )
    counted = counted_functions(view, study)
    status += f" in {len(study.rows):,} configurations"
    figures = {one.name: figure_of(study, counted, one) for one in VIEWS}
    return StorageAnswer(
        figures,
        _configurations(study),
        comparisons(study),
        places,
        study.state,
        study.scene.spread_words,
        status,
    )


def nothing_to_draw(view: LakeView, study: Study) -> str:
    """Why there are no pictures, and what to do."""
    cube, selection = storage_cube(view), study.state.selection
    if not view.runs:
        return EMPTY_LAKE.replace("<br>", " ")
    if not len(cube):
        return NO_STORAGE
    if len(study.rows):
        left = int(cube.filter(matches(selection))["runs"].sum())
        return (
            f"The filters leave more than {MOST_CONFIGURATIONS:,} configurations of {left:,} runs. "
            "Filter on a dataset, a device or an access."
        )
    useful = freeing(cube, selection)
    hint = f"Clear one of these to see some: {', '.join(useful)}." if useful else "Clear some."
    return f"No storage run has all of these filters. {hint}"


def figure_of(study: Study, counted: pl.DataFrame, view: View) -> dict[str, Any]:
    """Build the picture of one view.

    Args:
        counted: Answer of `counted_functions`.
    """
    return _BUILDERS[view.kind](study, counted, view)


def cells_of(study: Study, view: View) -> list[Cell]:
    """The cells of a view that is a heatmap; none where nothing was measured."""
    rows = rows_of_cells(study, view)
    if view.kind == "efficiency":
        return efficiency_cells(rows, view.y, study.scene)
    accesses = write_of(study.state.at_rw)
    return difference_cells(rows, accesses, view.y, study.scene) if accesses else []


def rows_of_cells(study: Study, view: View) -> pl.DataFrame:
    """The configurations that a heatmap's cells are made of."""
    device = at_place(study.rows, {"device": study.state.at_device})
    if view.kind == "efficiency":
        return at_place(device, {"rw": study.state.at_rw})
    return device.filter(pl.col("rw").is_in(write_of(study.state.at_rw) or []))


def _lines(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    return build_lines(study.here, view, study.scene, line_stars(study, view.name))


def _subsystems(study: Study, counted: pl.DataFrame, view: View) -> dict[str, Any]:
    rows_of: dict[tuple[str | None, int], list[int]] = {}
    for row, mode, depth in study.here.select("row", "mode", "io_depth").iter_rows():
        rows_of.setdefault((mode, depth), []).append(row)
    return build_subsystems(counted, rows_of, view, study.scene, SUBSYSTEM_UNKNOWN)


def _devices(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    return build_devices(study.rows, study.idle, view, study.scene, idle_stars(study))


def _proportionality(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    return build_proportionality(study.rows, study.idle, study.state.use, view, study.scene)


def _grids(study: Study, _: pl.DataFrame, view: View) -> dict[str, Any]:
    cells = cells_of(study, view)
    is_difference = view.kind == "difference"
    accesses = write_of(study.state.at_rw)
    place = place_words(study.place, ("device",) if is_difference else ("device", "rw"))
    if not cells:
        both = f" by both {' and '.join(accesses)}" if is_difference and accesses else ""
        where = f" at {place}" if place else ""
        said = f"{metric(view.y).title}: not measured{both}{where}. {source_words([view.y])}"
        return nothing(view.name, said)
    how = "cell means over runs"
    if is_difference and accesses:
        how = f"{accesses[1]} minus {accesses[0]}, {how}"
    parts = [how, place, mixed_words(rows_of_cells(study, view), view.y)]
    subtitle = " · ".join(part for part in parts if part)
    knobs = ["mode", "device", "request_bytes", "io_depth"] + ([] if is_difference else ["rw"])
    return build_grids(cells, view, study.scene, subtitle, _SCALES[view.kind], knobs)


_BUILDERS: Final = {
    "lines": _lines,
    "subsystems": _subsystems,
    "devices": _devices,
    "proportionality": _proportionality,
    "difference": _grids,
    "efficiency": _grids,
}


def _configurations(study: Study) -> dict[str, Any]:
    scene = study.scene
    return {
        "knobs": {name: study.rows[name].to_list() for name in KNOBS},
        "runs": study.rows["runs"].to_list(),
        "workloads": study.rows["workload"].to_list(),
        "modes": [
            {"value": mode, "label": scene.label(mode), "hue": scene.hue(mode),
             "symbol": scene.symbol(mode)}
            for mode in scene.modes.values if mode in study.rows["mode"].to_list()
        ],
    }  # fmt: skip
