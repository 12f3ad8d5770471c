"""The drawn points as compact columns, from which the browser makes hovers and links views.

Numbers are base64 typed arrays in Plotly's form; a knob is an index into its list of values. The
points are in the order of the scatter's traces.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.roles import Encoding, trace_groups
from app.kit.columns import encode_counts, encode_knob, encode_numbers, floats
from app.kit.words import configuration_knobs, knob_words
from data.knobs import KNOBS as ALL_KNOBS
from data.knobs import Knob
from data.metrics import metric
from data.selection import Value, unset_itr

# The knobs of a configuration.
KNOBS: Final = (
    "dataset", "workload", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes",
)  # fmt: skip
# Knobs of storage studies; sent only if a point has a value.
STORAGE_KNOBS: Final = ("mode", "device", "rw", "request_bytes", "io_depth", "threads")
_VALUES: Final = ("x", "y", "limited")
_SPREADS: Final = ("x_sd", "y_sd")


def encode_points(
    points: pl.DataFrame, encoding: Encoding, varying: Collection[str]
) -> dict[str, Any]:
    """Encode the drawn points.

    Args:
        points: Rows of `points_query` in the order of the traces.
        varying: Columns with several values in the study, which hovers and tables name.

    Returns:
        `count`; `traces` (first row of each trace, then the count); `knobs` (name to `{values,
        index}`; NULL is null); `named` (the knobs that hovers and tables name: `column`, `title`,
        `hint`, `words` and `cells` of each value, `is_given`); `values` (name to typed array; NaN
        if not measured; float64, because limits and boxes are compared with them; spreads in
        float32); `n`, `logged`, `replicate`; `flags` and `odd` as knobs, if a point has
        any.
    """
    groups = trace_groups(points, encoding)
    given = [ALL_KNOBS[name] for name in ("load", "message") if ALL_KNOBS[name].column in varying]
    named = [*given, *configuration_knobs(varying)]
    further = [n for n in (*STORAGE_KNOBS, *_further()) if points[n].null_count() < len(points)]
    knobs = {name: encode_knob(points[name]) for name in (*KNOBS, *further)}
    return {
        "count": len(points),
        "traces": [start for start, _ in groups] + [len(points)],
        "knobs": knobs,
        "named": [
            _named(knob, knobs[knob.column]["values"], knob in given, _unset(points, knob.name))
            for knob in named
            if knob.column in knobs
        ],
        "labels": dict(points.select("system", "system_label").unique().sort("system").iter_rows()),
        "values": {
            **{name: encode_numbers(floats(points[name])) for name in _VALUES},
            **{name: encode_numbers(floats(points[name]).astype(np.float32)) for name in _SPREADS},
            **{
                name: encode_numbers(floats(points[name]))
                for name in ("clause_x", "clause_y")
                if name in points.columns
            },
        },
        "n": encode_counts(points["n"].to_numpy()),
        **{
            name: encode_knob(points[name])
            for name in ("flags", "odd")
            if name in points.columns and points[name].count()
        },
        "logged": encode_counts(points["logged"].to_numpy()),
        "replicate": encode_numbers(floats(points["replicate"]).astype(np.float32)),
    }


def _further() -> list[str]:
    """Return the other knobs: machine, and those that datasets declare."""
    known = {*KNOBS, *STORAGE_KNOBS}
    return [knob.column for knob in ALL_KNOBS.values() if knob.column not in known]


def _unset(points: pl.DataFrame, knob: str) -> list[str | None]:
    """Return the systems of points without an ITR, for which the word depends on them."""
    if knob != "itr":
        return []
    return points.filter(pl.col("itr_us").is_null())["system"].unique().to_list()


def _named(
    knob: Knob, values: Sequence[Value | None], is_given: bool, unset: Sequence[str | None]
) -> dict[str, Any]:
    """Encode a knob for hovers and the table of selected points."""
    short = metric(knob.column).short
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
