"""What the browser asks the server for: points of runs, and fits, as JSON."""

import math
from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.messages import EMPTY_LAKE
from app.models.fits import events, fits
from app.models.runs import NO_RUNS, model_runs, points
from app.models.state import ModelsState

_MOST_POINTS: Final = 3_000


def runs_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the runs as points of a queue, with k of the throttle formula by system."""
    rows = points(model_runs(view, state))
    words = "" if len(rows) else missing_words(view)
    if len(rows) > _MOST_POINTS:
        words = f"{len(rows):,} configurations; {_MOST_POINTS:,} of them are drawn"
    drawn = rows.gather_every(math.ceil(len(rows) / _MOST_POINTS)) if len(rows) else rows
    return {
        "points": plain(drawn),
        "events": events(view, state) if len(rows) else {},
        "labels": labels(model_runs(view, state)),
        "words": words,
        "runs": int(rows["n"].sum()),
    }


def fits_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the table of fitted numbers, predicted power, and hosts for the sliders."""
    found = fits(view, state)
    notes = list(found.notes)
    if not len(found.table):
        notes = [missing_words(view)]
    return {
        "table": found.table.to_dicts(),
        "predicted": plain(found.predicted),
        "hosts": found.hosts,
        "labels": labels(model_runs(view, state)),
        "notes": notes,
    }


def labels(rows: pl.DataFrame) -> dict[str, str]:
    """Return what each system is called."""
    named = rows.select("system", "system_label").drop_nulls().unique()
    return {str(system): str(label) for system, label in named.iter_rows()}


def missing_words(view: LakeView) -> str:
    """Say why there are no runs."""
    return NO_RUNS if view.runs else EMPTY_LAKE.replace("<br>", " ")


def plain(rows: pl.DataFrame) -> dict[str, list[Any]]:
    """Return a table as lists by column; what is not finite is null."""
    floats = [name for name, kind in rows.schema.items() if kind.is_float()]
    return rows.with_columns(pl.col(floats).fill_nan(None)).to_dict(as_series=False)
