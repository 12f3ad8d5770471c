"""The picture of each kind of view: the rows of a study that it shows, given to its figure."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from app.storage.cells import Cells, differences_of, means_of, means_with_depths_of
from app.storage.figures.device_lines import build_device_lines
from app.storage.figures.devices import build_devices, build_proportionality
from app.storage.figures.grids import build_grids
from app.storage.figures.layouts import unmeasured
from app.storage.figures.lines import build_lines
from app.storage.figures.subsystems import PublishedMove, build_subsystems
from app.storage.published import Comparisons, idle_stars, line_stars, published_moves
from app.storage.study import Study
from app.storage.view import View
from data.analysis.storage_places import place_words
from data.reference.loads_stores import UNKNOWN, sources


def lines_picture(study: Study, view: View, compared: Comparisons) -> dict[str, Any]:
    return build_lines(study.here, view, study.scene, line_stars(study, view, compared))


def subsystems_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    return _bars(study, study.functions, view)


def sources_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
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


def devices_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    idle = study.words(study.idle_part)
    return build_devices(study.rows, study.idle, view, study.scene, idle_stars(study), idle)


def proportionality_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    rows, part = study.proportions
    words = study.words(part)
    return build_proportionality(rows, study.idle, study.accesses, view, study.scene, words)


def device_lines_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    rows, part = study.of_devices(view.x, view.y)
    return build_device_lines(rows, view, study.accesses, study.scene, study.words(part))


def means_with_depths_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    return _grids(study, view, means_with_depths_of(study, view), "means of replicates")


def means_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    return _grids(study, view, means_of(study, view), "means of replicates")


def differences_picture(study: Study, view: View, _: Comparisons) -> dict[str, Any]:
    cells = differences_of(study, view)
    how = f"{cells.accesses[1]} minus {cells.accesses[0]}, " if cells.accesses else ""
    return _grids(study, view, cells, f"{how}means of replicates")


def _grids(study: Study, view: View, cells: Cells, how: str) -> dict[str, Any]:
    named = cells.common
    if named.get("mode") is not None:
        named = named | {"mode": study.scene.label(named["mode"])}
    where = place_words(named, tuple(named))
    if not len(cells.rows):
        both = f" by both {' and '.join(cells.accesses)}" if cells.accesses else ""
        return unmeasured(view, [view.y], where, both)
    subtitle = " · ".join(part for part in (how, where, study.words(cells.part)) if part)
    return build_grids(cells, view, study.scene, subtitle)
