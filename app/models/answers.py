"""Answers to requests of the browser: points of runs, and fits, as JSON."""

import math
from typing import Any, Final

import polars as pl

from app.kit.lakes import LakeView
from app.kit.words import EMPTY_LAKE_PLAIN
from app.models.fits import events, fits
from app.models.groups import group_styles
from app.models.runs import MOST_RUNS, NO_RUNS, model_runs, points
from app.models.state import ModelsState

_MOST_POINTS: Final = 3_000


def runs_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the runs as points of a queue, and k of the throttle formula by group."""
    runs = model_runs(view, state)
    rows = points(runs)
    words = []
    if not len(rows):
        words.append(missing_words(view))
    words += taken_words(runs) + impossible_words(runs)
    every = max(1, math.ceil(len(rows) / _MOST_POINTS))
    if every > 1:
        words.append(f"one configuration of every {every} is drawn, of {len(rows):,}")
    return {
        "points": plain(rows.gather_every(every)),
        "events": events(view, state) if len(rows) else {},
        "styles": group_styles(rows),
        "words": " · ".join(words),
        "runs": int(rows["n"].sum()),
    }


def fits_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the table of fitted numbers, predicted power, and hosts for the sliders."""
    found = fits(view, state)
    runs = model_runs(view, state)
    notes = [*found.notes, *taken_words(runs), *impossible_words(runs)]
    if not len(found.table):
        notes = [missing_words(view)]
    return {
        "table": found.table.to_dicts(),
        "predicted": plain(found.predicted),
        "hosts": found.hosts,
        "styles": group_styles(found.table),
        "notes": notes,
    }


def taken_words(runs: pl.DataFrame) -> list[str]:
    """Return how many of the matching runs were read, if not all; else an empty list."""
    matching = int(runs["matching"].max() or 0)  # type: ignore[arg-type]
    if matching <= MOST_RUNS:
        return []
    return [f"{MOST_RUNS:,} of {matching:,} runs, evenly by configuration"]


def impossible_words(runs: pl.DataFrame) -> list[str]:
    """Return how many runs have an impossible time awake, in a sentence; empty if none has."""
    count = int(runs["impossible"].sum())
    return [
        f"{count:,} runs have more reference cycles than their cores can count; their time awake "
        "is left out"
    ] if count else []  # fmt: skip


def missing_words(view: LakeView) -> str:
    """Return why there are no runs."""
    return NO_RUNS if view.runs else EMPTY_LAKE_PLAIN


def plain(rows: pl.DataFrame) -> dict[str, list[Any]]:
    """Return a table as lists by column, NaN as None."""
    floats = [name for name, kind in rows.schema.items() if kind.is_float()]
    return rows.with_columns(pl.col(floats).fill_nan(None)).to_dict(as_series=False)
