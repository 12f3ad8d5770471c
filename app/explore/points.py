"""The drawn points as compact columns for the browser, which links and hovers by itself.

Numbers travel as base64 typed arrays in the form that Plotly uses; a knob is a small index into its
list of values. The order is that of the scatter's traces.
"""

from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.roles import Encoding, trace_groups
from app.kit.typed_arrays import typed
from data.knobs import KNOBS as ALL_KNOBS

# The knobs of a configuration.
KNOBS: Final = (
    "dataset", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes",
)  # fmt: skip
# Knobs of storage studies; sent only if a point has a value.
STORAGE_KNOBS: Final = ("mode", "device", "rw", "request_bytes", "io_depth", "threads")
_VALUES: Final = ("x", "y", "performance", "energy_j", "edp_js")
_SPREADS: Final = ("x_sd", "y_sd")


def encode_points(points: pl.DataFrame, encoding: Encoding) -> dict[str, Any]:
    """Encode the drawn points.

    Args:
        points: Rows of `points_query` in the order of the traces.
        encoding: Tells the traces.

    Returns:
        `count`; `traces` (first row of each trace, and the count at the end); `knobs` (name to
        `{values, index}`; a NULL value stays null); `values` (name to typed array; NaN where not
        measured; float64, because limits and boxes are compared with them; spreads in float32);
        `n`, `logged`, `replicate`; `flags` as a knob, where a point has any.
    """
    groups = trace_groups(points, encoding)
    further = [n for n in (*STORAGE_KNOBS, *_further()) if points[n].null_count() < len(points)]
    return {
        "count": len(points),
        "traces": [start for start, _ in groups] + [len(points)],
        "knobs": {name: _dictionary(points[name]) for name in (*KNOBS, *further)},
        "words": {n: _words(points[n]) for n in _further() if n in further},
        "labels": dict(points.select("system", "system_label").unique().sort("system").iter_rows()),
        "values": {
            **{name: _column(_numbers(points[name])) for name in _VALUES},
            **{name: _column(_numbers(points[name]).astype(np.float32)) for name in _SPREADS},
            **{
                name: _column(_numbers(points[name]))
                for name in ("clause_x", "clause_y")
                if name in points.columns
            },
        },
        "n": _column(_narrow(points["n"].to_numpy())),
        **({"flags": _dictionary(points["flags"])} if points["flags"].count() else {}),
        "logged": _column(_narrow(points["logged"].to_numpy())),
        "replicate": _column(_numbers(points["replicate"]).astype(np.float32)),
    }


def _further() -> list[str]:
    """Knobs that no list above has: machine, and those that datasets declare."""
    known = {*KNOBS, *STORAGE_KNOBS, "workload"}
    return [knob.column for knob in ALL_KNOBS.values() if knob.column not in known]


def _words(column: pl.Series) -> list[str]:
    """The values of a knob in a sentence, in the order of its dictionary."""
    knob = next(knob for knob in ALL_KNOBS.values() if knob.column == column.name)
    values = _dictionary(column)["values"]
    return ["" if value is None else knob.words(value) for value in values]


def _dictionary(column: pl.Series) -> dict[str, Any]:
    if len(column) and column.n_unique() == 1:
        return {"values": [column[0]], "index": _column(np.zeros(len(column), np.uint8))}
    values = column.unique().sort(nulls_last=True)
    lookup = pl.DataFrame({"v": values, "i": pl.Series(range(len(values)), dtype=pl.UInt16)})
    index = (
        pl.DataFrame({"v": column}).join(lookup, on="v", how="left", nulls_equal=True)["i"]
        if len(values)
        else pl.Series([], dtype=pl.UInt16)
    )
    return {"values": values.to_list(), "index": _column(_narrow(index.to_numpy()))}


def _numbers(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _narrow(counts: np.ndarray) -> np.ndarray:
    """Return whole numbers from 0 in the narrowest unsigned type."""
    most = int(counts.max()) if counts.size else 0
    return counts.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32)


def _column(array: np.ndarray) -> dict[str, Any]:
    """Encode a column with `typed`; a constant column as one number and a count."""
    if not array.size or (not (array == array[0]).all() and not np.isnan(array).all()):
        return typed(array)
    value = array[0].item()
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    return {"dtype": kind, "repeat": None if value != value else value, "count": array.size}
