"""The selection of a link as cells of the map that the page shows."""

from dataclasses import replace
from typing import Any

import polars as pl

from app.kit.clause import MAX_CHARS, write_knobs
from app.kit.lakes import LakeView
from app.kit.links import configurations
from app.modes.defaults import chosen
from app.modes.state import ModesState


def open_link(view: LakeView, state: ModesState) -> tuple[ModesState, str]:
    """Convert a selection of another page to the cells that hold it.

    Returns:
        The state, and text for the notice if the selection had to be dropped.
    """
    clause = state.clause
    if clause is None or clause.kind in ("won", "outcome") or not view.runs:
        return state, ""
    state = chosen(view, state)
    x, y, _ = state.knobs()
    columns = {x.column, y.column}
    if clause.kind == "knobs" and all(set(knobs) == columns for knobs in clause.knobs):
        return state, ""
    sel = cells_clause(configurations(view, state.selection, clause), x.column, y.column)
    if not sel:
        return replace(state, sel=""), "No run under these filters is in the link's selection."
    if len(sel) > MAX_CHARS:
        return replace(state, sel=""), "The link's selection has too many cells for an address."
    return replace(state, sel=sel), ""


def cells_clause(rows: pl.DataFrame, x: str, y: str) -> str:
    """Write the cells that hold some configurations, one object per row of the map.

    Args:
        rows: With the columns `x` and `y`, named by the arguments.

    Returns:
        A `knobs` clause; empty for no rows.
    """
    pairs = rows.select(x, y).unique().sort(y, x, nulls_last=True)
    lines: dict[Any, list] = {}
    for x_value, y_value in pairs.iter_rows():
        lines.setdefault(y_value, []).append(x_value)
    one = [{y: key, x: xs[0] if len(xs) == 1 else xs} for key, xs in lines.items()]
    return write_knobs(one) if one else ""
