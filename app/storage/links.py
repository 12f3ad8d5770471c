"""The selection of an old link, or of another page, as configurations of this page."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from app.kit.clause import read_clause, write_knobs
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from app.storage.answer import FIELDS
from app.storage.published import comparisons
from app.storage.state import StorageState, knob_columns, read_old_box
from app.storage.study import study_of
from app.storage.views import OF_VERSION_1
from data.catalogue import Catalogue
from data.selection import Selection

# Positions of points may differ from those of an earlier version in their last digits.
_TOLERANCE = 1e-9
_NO_RUN = "No storage run is under the link's filters: these are all storage runs."
_OTHER_AXES = (
    "The link's selection is a box in a picture of energy proportionality that had other axes."
)


def open_link(view: LakeView, state: StorageState) -> tuple[StorageState, str]:
    """Replace a selection that this page cannot evaluate by the configurations that it selects.

    Filters that leave no storage run are left out; the page hands them on.

    Returns:
        The state, and text for the notice.
    """
    if state.selection.clauses and not _has_runs(view, state.selection):
        if _has_runs(view, Selection()):
            return replace(state, selection=Selection(), sel=""), _NO_RUN
        return state, ""
    old_box = read_old_box(state.sel)
    if old_box and old_box[0] == "proportionality":
        return replace(state, sel=""), _OTHER_AXES
    if old_box:
        return replace(state, sel=_from_old_box(view, state)), ""
    clause = read_clause(state.sel, catalogue=view.catalogue)
    names = {name for knobs in clause.knobs for name in knobs} if clause else set()
    if clause is None or (
        names <= {*knob_columns(view.catalogue)} and set(clause.fields or ()) <= set(FIELDS)
    ):
        return state, ""
    rows = configurations(view, state.selection, clause)
    if not len(rows):
        return replace(state, sel=""), "The link's selection holds no configuration of this page."
    return replace(state, sel=_knobs_of(rows, view.catalogue)), ""


def _has_runs(view: LakeView, selection: Selection) -> bool:
    return bool(view.left(selection)["request_bytes"].count())


def _from_old_box(view: LakeView, state: StorageState) -> str:
    """Return the clause of the configurations with a point inside a box of version 1."""
    study = study_of(view, state)
    name, panel, bounds = read_old_box(state.sel) or ("", 0, ())
    drawn = OF_VERSION_1.get(name)
    if not study.has_figures or not drawn or not drawn.figure:
        return ""
    figure = drawn.figure(study, drawn, comparisons(study))
    rows = sorted(set(_rows_in_box(figure, panel, bounds)))
    return _knobs_of(study.rows[rows], view.catalogue) if rows else ""


def _rows_in_box(figure: dict[str, Any], panel: int, bounds: tuple[float, ...]) -> Iterator[int]:
    x0, x1, y0, y1 = bounds
    axis = "x" if panel == 0 else f"x{panel + 1}"
    for trace in figure["data"]:
        if "rows" not in trace["meta"] or trace.get("xaxis", "x") != axis:
            continue
        for x, y, rows in zip(trace["x"], trace["y"], trace["meta"]["rows"], strict=True):
            if _is_between(x, x0, x1) and _is_between(y, y0, y1):
                yield from rows


def _is_between(value: float | None, low: float, high: float) -> bool:
    slack = _TOLERANCE * max(abs(low), abs(high))
    return value is not None and low - slack <= value <= high + slack


def _knobs_of(rows: pl.DataFrame, catalogue: Catalogue) -> str:
    """Write a clause for some configurations; alternatives that differ in one knob are merged."""
    names = [name for name in knob_columns(catalogue) if name in rows.columns]
    settings = {tuple((value,) for value in row) for row in rows.select(names).iter_rows()}
    for i in range(len(names)):
        merged: dict[tuple, set] = {}
        for setting in settings:
            merged.setdefault(setting[:i] + setting[i + 1 :], set()).update(setting[i])
        settings = {
            (*rest[:i], tuple(sorted(values, key=_order)), *rest[i:])
            for rest, values in merged.items()
        }
    return write_knobs(
        [
            {n: v[0] if len(v) == 1 else list(v) for n, v in zip(names, setting, strict=True)}
            for setting in sorted(
                settings, key=lambda setting: [[_order(v) for v in vs] for vs in setting]
            )
        ]
    )


def _order(value: Any) -> tuple[bool, str]:
    return value is None, str(value)
