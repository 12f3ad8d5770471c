"""The drawn points as columns, from which the browser makes hovers and links views."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.columns import encode_columns, encode_counts, encode_numbers, floats
from app.kit.words import configuration_knobs, knob_words
from data.catalogue import Catalogue
from data.knobs import Knob
from data.selection import Value, unset_itr

# Knobs that every configuration names; others are sent only if a point has a value.
KNOBS: Final = (
    "dataset", "workload", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes",
)  # fmt: skip
# What a point may have besides, as a knob: a link may name one run.
_MARKS: Final = ("replicate", "flags", "odd", "standing", "next_run", "best")


def encode_points(
    points: pl.DataFrame,
    measured: Mapping[str, str],
    varying: Collection[str],
    catalogue: Catalogue,
) -> dict[str, Any]:
    """Encode the drawn points.

    Args:
        points: Rows of `points_query` in the order of the traces.
        measured: Column of `points` to the metric that it holds.
        varying: Columns with several values in the study, which hovers and tables name.

    Returns:
        The answer of `encode_columns`: metrics in float64, because limits and boxes are compared
        with them; `configuration` (the knobs of one); `named` (those that hovers and tables name:
        `column`, `title`, `hint`, `words` and `cells` of each value, `is_given`); `labels`
        (system to label); `runs` and `logged` (counts); `spreads` (of both axes).
    """
    knobs = catalogue.knobs
    given = [knobs[name] for name in ("load", "message") if knobs[name].column in varying]
    named = [*given, *configuration_knobs(varying, catalogue)]
    others = (n for n in catalogue.configuration if n in catalogue.knob_of_column)
    further = [n for n in others if n not in KNOBS and points[n].null_count() < len(points)]
    configuration = [*KNOBS, *further]
    marks = [name for name in _MARKS if name in points.columns and points[name].count()]
    fields = {name: floats(points[column]) for column, name in measured.items()}
    encoded = encode_columns(points, [*configuration, *marks], fields)
    return {
        **encoded,
        "configuration": configuration,
        "named": [
            _named(
                knob,
                catalogue.metric(knob.column).short,
                encoded["knobs"][knob.column]["values"],
                knob in given,
                _unset(points, knob.name),
            )
            for knob in named
            if knob.column in configuration
        ],
        "labels": dict(points.select("system", "system_label").unique().sort("system").iter_rows()),
        "runs": encode_counts(points["n"].to_numpy()),
        "logged": encode_counts(points["logged"].to_numpy()),
        "spreads": {
            axis: encode_numbers(floats(points[f"{axis}_sd"]).astype(np.float32)) for axis in "xy"
        },
    }


def _unset(points: pl.DataFrame, knob: str) -> list[str | None]:
    """Return the systems of points without an ITR, for which the word depends on them."""
    if knob != "itr":
        return []
    return points.filter(pl.col("itr_us").is_null())["system"].unique().to_list()


def _named(
    knob: Knob,
    short: str,
    values: Sequence[Value | None],
    is_given: bool,
    unset: Sequence[str | None],
) -> dict[str, Any]:
    """Encode a knob for hovers and the table of selected points."""
    return {
        "column": knob.column,
        "title": f"{short}, {knob.unit}" if knob.unit else short,
        "hint": knob.title,
        "words": [knob_words(knob, value, unset) for value in values],
        "cells": [_cell(knob, value, unset) for value in values],
        "is_given": is_given,
    }


def _cell(knob: Knob, value: Value | None, unset: Sequence[str | None]) -> Value:
    if value is None and knob.name == "itr":
        return unset_itr(unset)
    return value if knob.is_plain_number and value is not None else knob.label(value)
