"""The content of Storage for a state: figures, data for linked selections, rows, explanations.

Also the selection of an old link, or of another page, as configurations of this page.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.clause import read_clause, write_knobs
from app.kit.columns import encode_columns, floats
from app.kit.encodings import BREAK
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from app.kit.page import Recomputed
from app.kit.words import EMPTY_LAKE, no_run_left
from app.storage.figures.layouts import message
from app.storage.published import Comparisons, comparisons
from app.storage.rows import (
    difference_rows,
    differences_of,
    idle_of,
    mean_rows,
    mean_rows_with_depths,
    means_of,
)
from app.storage.state import StorageState, knob_columns, read_old_box
from app.storage.study import (
    MOST_CONFIGURATIONS,
    NO_STORAGE,
    Study,
    storage_cube,
    storage_runs,
    study_of,
)
from app.storage.views import BY_NAME, CLAIMS, OF_VERSION_1, PUBLISHED, VIEWS
from data.analysis.coded_rows import Part
from data.analysis.facet_counts import matches
from data.catalogue import Catalogue
from data.queries.recomputed import proportions_query
from data.queries.statement import statement
from data.queries.storage import MEASURED, peak_query
from data.selection import Selection

# Columns that a box may use: metrics, and numeric knobs.
METRICS: Final = tuple(name for name in MEASURED if not name.endswith("_per_joule"))
FIELDS: Final = (*METRICS, "request_bytes", "io_depth", "threads")
# Positions of points may differ from those of an earlier version in their last digits.
_TOLERANCE = 1e-9
_NO_RUN = "No storage run is under the link's filters: these are all storage runs."
_OTHER_AXES = (
    "The link's selection is a box in a picture of energy proportionality that had other axes."
)


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
    figures = {v.name: v.figure(study, v, compared) for v in VIEWS if v.figure}
    status += f" in {len(study.rows):,} configurations"
    return StorageAnswer(study, compared, figures, _configurations(study), status)


def opening(view: LakeView, state: StorageState) -> dict[str, Any]:
    """Build the figure of the first view alone."""
    study, first = study_of(view, state), VIEWS[0]
    if not study.has_figures or not first.figure:
        return message(first, nothing_to_draw(study))
    return first.figure(study, first, comparisons(study))


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
        **encode_columns(Part.of(rows), knob_columns(study.catalogue), fields),
        "runs": rows["runs"].to_list(),
        "workloads": rows["workload"].unique().sort().to_list(),
    }


def rows_behind(view: LakeView, state: StorageState, name: str) -> pl.DataFrame:
    """Return the rows of a download of any view, by name."""
    return BY_NAME[name].rows(study_of(view, state), BY_NAME[name])


def scope(view: LakeView, state: StorageState, name: str) -> Selection:
    """Return the filters of the runs behind a view: a heatmap's cells are of one place."""
    own = BY_NAME[name]
    if own.rows is difference_rows:
        return differences_of(study_of(view, state), own).narrow(study_of(view, state))
    if own.rows in (mean_rows, mean_rows_with_depths):
        return means_of(study_of(view, state), own).narrow(study_of(view, state))
    return state.selection


def recomputed(view: LakeView, state: StorageState, name: str) -> list[Recomputed]:
    """Return how idle power and shares of the greatest are computed again, beside the means."""
    study = study_of(view, state)
    if name == "devices":
        values = ("power_w", "power_w_sd", "power_w_n")
        query = statement(*idle_of(study))
        return [Recomputed(query, ("device",), values, skip="NOT is_idle", has_means=True)]
    if name != "proportionality":
        return []
    knobs = knob_columns(view.catalogue)
    peaks = statement(*peak_query(study.state.selection, catalogue=view.catalogue))
    values = ("rate_share", "peak_w", "power_share")
    return [Recomputed(proportions_query(knobs, peaks), knobs, values, has_means=True)]


def explain(view: LakeView, state: StorageState, name: str) -> str:
    """Return how a view was computed: version, filters, steps, queries."""
    study, one = study_of(view, state), BY_NAME[name]
    queries = [write(study, one) for write in one.queries]
    return "\n\n".join([f"{_heading(study)}\n{one.how}", *queries])


def explain_all(study: Study) -> str:
    """Return how all views of the page were computed."""
    titles: dict[str, list[str]] = {}
    for one in (*VIEWS, CLAIMS, PUBLISHED):
        titles.setdefault(one.how, []).append(one.title)
    how = [f"{', '.join(names)}: {words}" for words, names in titles.items()]
    queries = [write(study, PUBLISHED) for write in PUBLISHED.queries]
    return "\n\n".join([_heading(study), "\n".join(how), *queries])


def _heading(study: Study) -> str:
    error = "95 % confidence interval (Student's t)" if study.scene.is_interval else "sd"
    return (
        f"{study.view.words}\n"
        f"filters: {study.state.selection.in_words()}\n"
        f"views of one device show: {study.scene.place_words or 'none'}\n"
        f"error bars: {error}"
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
