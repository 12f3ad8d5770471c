"""Arrays as base64 text with a type, in the form that Plotly and `assets/_kit/columns.js` read."""

import base64
from typing import Any

import numpy as np
import polars as pl


def typed(array: np.ndarray) -> dict[str, str]:
    """Convert an array to `{dtype, bdata}`, little-endian."""
    kind = array.dtype.newbyteorder("<")
    data = base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
    return {"dtype": f"{array.dtype.kind}{array.dtype.itemsize}", "bdata": data}


def floats(column: pl.Series) -> np.ndarray:
    """Convert a column to float64, shape (n,); NaN where it is NULL."""
    return column.cast(pl.Float64).to_numpy()


def compact_figure(part: Any) -> Any:
    """Convert the numeric arrays of a figure to typed ones; 8-byte integers to 4 bytes."""
    if isinstance(part, dict):
        return {name: compact_figure(value) for name, value in part.items()}
    if isinstance(part, list):
        return [compact_figure(value) for value in part]
    if not isinstance(part, np.ndarray) or part.dtype.kind not in "iuf":
        return part
    numbers = (
        part.astype(np.int32) if part.dtype.itemsize == 8 and part.dtype.kind in "iu" else part
    )
    shape = {"shape": ", ".join(map(str, part.shape))} if part.ndim > 1 else {}
    return {**typed(numbers), **shape}
