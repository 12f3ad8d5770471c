"""The defaults of Models, and links from other pages."""

import polars as pl

from app.kit.clause import read_clause
from app.kit.lakes import LakeView
from app.kit.links import configurations
from app.models.state import ModelsState
from data.analysis.facets import Choice
from data.selection import Selection


def offered(view: LakeView, selection: Selection) -> dict[str, list[Choice]]:
    """Return the choices of each filter under the others."""
    return {name: view.counts_of(selection).of(name, selection) for name in ModelsState.FILTERS}


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
    clause = read_clause(state.sel)
    if clause is None or not view.runs:
        return state, ""
    found = len(configurations(view, state.selection, clause))
    return state, "" if found else "The link's selection holds no configuration of this lake."
