"""The runs that the page shows: which ones, their groups, their points and fits."""

from typing import Any, Final

import polars as pl

from app.kit.clause import read_clause
from app.kit.competitors import system_order, system_style, value_words
from app.kit.encodings import OKABE_ITO, SYMBOLS
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from app.kit.words import EMPTY_LAKE_PLAIN
from app.models.state import ModelsState
from data.analysis.model_fits import Detections, Fits, detections, fit_groups
from data.analysis.model_runs import (
    SWEPT,
    energy_plane,
    points,
    with_predictions,
    with_queue_units,
)
from data.catalogue import Catalogue
from data.errors import DataError
from data.queries.models import model_runs_query
from data.selection import Selection

MOST_RUNS: Final = 20_000


def default_state(view: LakeView) -> ModelsState:
    """Return the open-loop workload with most runs, since the models need a given load."""
    cube = view.cube_of(view.first_study())
    loaded = cube.filter(pl.col("load_qps").is_not_null()) if len(cube) else cube
    if not len(loaded):
        return ModelsState()
    ranked = loaded.group_by("workload").agg(pl.col("runs").sum()).sort("runs", "workload")
    return ModelsState(Selection.of(workload=[ranked["workload"][-1]]))


def open_link(view: LakeView, state: ModelsState) -> tuple[ModelsState, str]:
    """Keep a link's selection, with text for the notice if it holds no configuration."""
    clause = read_clause(state.sel, catalogue=view.catalogue)
    if clause is None or not view.runs:
        return state, ""
    count = len(configurations(view, state.selection, clause))
    return state, "" if count else "The link's selection holds no configuration of this lake."


def model_runs(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return the runs of the filters and the selection, with the units of a queue.

    Returns:
        At most MOST_RUNS rows: the columns of `model_runs_query` and of `with_queue_units`, and
        `group` (see `with_groups`).
    """
    return view.once(_model_runs, _of_runs(state), is_large=True)


def _model_runs(view: LakeView, state: ModelsState) -> pl.DataFrame:
    selection = state.selection if view.runs else Selection()
    rows = view.lake.polars(*model_runs_query(selection, MOST_RUNS, catalogue=view.catalogue))
    clause = read_clause(state.sel, catalogue=view.catalogue)
    if clause and len(rows):
        selected = configurations(view, state.selection, clause)
        rows = rows.join(selected, on=selected.columns, how="semi", nulls_equal=True)
    rows = with_queue_units(rows, state.cores, state.tsc_ghz)
    labels = rows.select("system", "system_label").drop_nulls().unique()
    names = {str(system): str(label) for system, label in labels.iter_rows()}
    return with_groups(rows, names, view.catalogue)


def _of_runs(state: ModelsState) -> ModelsState:
    """Return the parts of a state that choose runs and their units."""
    return ModelsState(state.selection, cores=state.cores, tsc_ghz=state.tsc_ghz, sel=state.sel)


def model_points(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return the answer of `points` for the runs."""
    return points(model_runs(view, state), group_columns(view.catalogue))


def predicted(view: LakeView, state: ModelsState, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the answer of `with_predictions` for some rows of `model_points`."""
    fits = _detections_of(view, state) if len(rows) else {}
    events = {
        group: fit.events_per_packet.value
        for group, fit in fits.items()
        if not isinstance(fit, DataError)
    }
    return with_predictions(rows, events)


def plane(view: LakeView, state: ModelsState) -> pl.DataFrame:
    """Return the answer of `energy_plane` for the runs."""
    rows = predicted(view, state, model_points(view, state))
    return energy_plane(rows, fits_of(view, state).predicted)


def fits_of(view: LakeView, state: ModelsState) -> Fits:
    """Fit the runs of the filters and the selection, by group and load."""
    return view.once(_fits, _of_runs(state), is_large=True)


def _fits(view: LakeView, state: ModelsState) -> Fits:
    knobs, interrupts = group_columns(view.catalogue), _detections_of(view, state)
    return fit_groups(model_runs(view, state), knobs, interrupts)


def _detections_of(view: LakeView, state: ModelsState) -> Detections:
    return view.once(_detections, _of_runs(state))


def _detections(view: LakeView, state: ModelsState) -> Detections:
    return detections(model_runs(view, state))


def group_columns(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the columns that are the same within a group of runs: all knobs but the swept ones.

    Frequency, interrupt delay, power limit and load vary within a group; the models explain them.
    """
    knobs = catalogue.knob_of_column
    return tuple(name for name in catalogue.configuration if name in knobs and name not in SWEPT)


def with_groups(rows: pl.DataFrame, labels: dict[str, str], catalogue: Catalogue) -> pl.DataFrame:
    """Add the column `group`: a label of the group's columns that vary among the rows.

    A label leaves out knobs that are NULL.

    Args:
        rows: Rows with the columns of `group_columns`.
        labels: System to its label.
    """
    columns = group_columns(catalogue)
    groups = rows.select(columns).unique(maintain_order=True)
    varying = [name for name in columns if name != "system" and groups[name].n_unique() > 1]
    knobs = catalogue.knob_of_column

    def label(row: dict[str, Any]) -> str:
        parts = [labels.get(str(row["system"])) or str(row["system"])]
        for name in varying:
            if row[name] is not None:
                parts.append(value_words(knobs[name], row[name], labels))
        return " · ".join(parts)

    named = groups.with_columns(
        group=pl.Series([label(row) for row in groups.to_dicts()], dtype=pl.String)
    )
    return rows.join(named, on=columns, how="left", nulls_equal=True, maintain_order="left")


def group_styles(rows: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Return symbol and hue by group: those of the system if each system is one group."""
    pairs = rows.select("group", "system").unique().sort("group").rows()
    systems = [str(system) for _, system in pairs]
    order = {system: i for i, system in enumerate(system_order(systems))}
    styles = {}
    for i, (group, system) in enumerate(sorted(pairs, key=lambda p: (order[str(p[1])], p[0]))):
        if len(set(systems)) == len(systems):
            symbol, hue = system_style(str(system), systems)
        else:
            hue = OKABE_ITO[i % len(OKABE_ITO)]
            symbol = SYMBOLS[(i + i // len(OKABE_ITO)) % len(SYMBOLS)]
        styles[str(group)] = {"symbol": symbol, "hue": hue}
    return styles


def run_notes(runs: pl.DataFrame) -> list[str]:
    """Return how many of the matching runs were read, and how many are impossible, if any.

    Args:
        runs: Answer of `model_runs`.
    """
    notes = []
    matching, impossible = int(runs["matching"].max() or 0), int(runs["impossible"].sum())  # type: ignore[arg-type]
    if matching > MOST_RUNS:
        notes.append(f"{MOST_RUNS:,} of {matching:,} runs, evenly by configuration")
    if impossible:
        notes.append(
            f"time awake of {impossible:,} left out: more reference cycles than their cores can "
            "count"
        )
    return notes


def absence_words(view: LakeView) -> str:
    """Return why there are no runs."""
    return EMPTY_LAKE_PLAIN if not view.runs else (
        "No run that the filters leave has what the models need: a duration with reference cycles "
        "or interrupts. Explore can show all runs."
    )  # fmt: skip
