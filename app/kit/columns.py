"""Columns in the browser's form: the one encoder of tables and arrays.

`assets/_kit/columns.js` decodes them. Numbers are base64 typed arrays in Plotly's form; names and
knobs are indices into the list of their values.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import polars as pl

from data.analysis.coded_rows import Coded, Part, distinct
from data.selection import Value

_GOLDEN = 0.6180339887498949


def encode_columns(
    rows: Part, knobs: Iterable[str], fields: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Encode the rows that the views of a page link: what clauses are evaluated over.

    Args:
        knobs: Columns with few distinct values, by which rows are selected.
        fields: Name to numbers of each row, shape (rows,): what boxes and polygons select by.

    Returns:
        `count`, `knobs` (name to the answer of `encode_knob`), `fields` (name to numbers).
    """
    return {
        "count": len(rows),
        "knobs": {
            name: encode_knob(Coded(own.values, own.codes[rows.at]))
            for name in knobs
            for own in [rows.table.codes[name]]
        },
        "fields": {name: encode_numbers(numbers) for name, numbers in fields.items()},
    }


def encode_knob(column: Coded) -> dict[str, Any]:
    """Encode a column as its distinct values, ascending with NULL last, and indices into them."""
    values = column.values
    there = np.flatnonzero(np.bincount(column.codes, minlength=len(values)))
    order = sorted(there.tolist(), key=lambda i: (values[i] is None, values[i]))
    rank = np.zeros(len(values), np.min_scalar_type(max(len(order) - 1, 0)))
    rank[order] = range(len(order))
    return {"values": [values[i] for i in order], "index": encode_numbers(rank[column.codes])}


def values_of(column: pl.Series) -> list[Any]:
    """Return the distinct values of a column, in any order."""
    return [column[row] for row in distinct(column)[0].tolist()]


def index_in(column: pl.Series, values: Sequence[Value | None]) -> np.ndarray:
    """Return the index of each value in a list of distinct values, NULL included."""
    lookup = pl.DataFrame({"v": pl.Series(values, dtype=column.dtype), "i": range(len(values))})
    joined = pl.DataFrame({"v": column}).join(
        lookup, on="v", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["i"].to_numpy()


def encode_counts(counts: np.ndarray) -> dict[str, Any]:
    """Encode whole numbers from 0 in the narrowest unsigned type."""
    most = int(counts.max()) if counts.size else 0
    narrow = np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32
    return encode_numbers(counts.astype(narrow))


def encode_numbers(array: np.ndarray) -> dict[str, Any]:
    """Encode numbers with `typed`; a constant array as one number and a count.

    Whole numbers of 8 bytes become float64: scripts have no plain array of them.
    """
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        array = array.astype(np.float64)
    if not array.size or (not (array == array[0]).all() and not np.isnan(array).all()):
        return typed(array)
    value = array[0].item()
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    return {"dtype": kind, "repeat": None if value != value else value, "count": array.size}


def typed(array: np.ndarray) -> dict[str, str]:
    """Convert an array to `{dtype, bdata}`, little-endian."""
    kind = array.dtype.newbyteorder("<")
    data = base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
    return {"dtype": f"{array.dtype.kind}{array.dtype.itemsize}", "bdata": data}


def floats(column: pl.Series) -> np.ndarray:
    """Convert a column to float64, shape (n,); NaN where it is NULL."""
    return column.cast(pl.Float64).to_numpy()


def encode_view(answer: dict[str, Any]) -> dict[str, Any]:
    """Encode what the server answers for a picture: `figure`, and `columns` where it has them."""
    return {**answer, "figure": compact_figure(answer["figure"])} if "figure" in answer else answer


def compact_figure(figure: Any) -> Any:
    """Convert the numeric arrays of a figure to typed ones; 8-byte integers to 4 bytes."""
    whole = [figure]
    left: list[Any] = [whole]
    while left:
        part = left.pop()
        for key, value in [*(part.items() if isinstance(part, dict) else enumerate(part))]:
            if isinstance(value, (dict, list)):
                part[key] = value.copy()
                left.append(part[key])
            elif isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
                is_long = value.dtype.itemsize == 8 and value.dtype.kind in "iu"
                part[key] = typed(value.astype(np.int32) if is_long else value)
                if value.ndim > 1:
                    part[key]["shape"] = ", ".join(map(str, value.shape))
    return whole[0]


def thin(count: int, limit: int, keep: np.ndarray) -> np.ndarray:
    """Choose which of `count` points to draw.

    Points in `keep` (frontier members, best settings) always stay. A low-discrepancy sequence over
    their order picks the others, so that each group keeps its share and equal input gives equal
    points.

    Args:
        count: Number of points.
        limit: Maximum number of points to draw; `keep` may exceed it.
        keep: Indices that must stay, any order, shape (k,).

    Returns:
        Sorted indices, shape (m,), m <= max(limit, k).
    """
    if count <= limit:
        return np.arange(count)
    rank = (np.arange(count) * _GOLDEN) % 1.0
    rank[keep] = -1.0
    size = max(limit, np.unique(keep).size)
    return np.sort(np.argpartition(rank, size - 1)[:size])


def callback_json(response: Any) -> str:
    """Encode the response of a callback, in a tenth of the time that Plotly's encoders take.

    One of them copies all parts in Python before. The other encodes twice what has `NaN` in a text,
    as base64 often has, and escapes each slash.

    Raises:
        TypeError: A part has no form in JSON.
    """
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(response, _plain, options).decode()


def _plain(part: Any) -> Any:
    """Return a component or an array that orjson cannot read in plain form."""
    if hasattr(part, "to_plotly_json"):
        return part.to_plotly_json()
    if hasattr(part, "tolist"):
        return part.tolist()
    raise TypeError(type(part).__name__)
