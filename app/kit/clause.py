"""The selection language: the selection of a view as one clause of text.

Each page has it in its URL as `sel`. `assets/_kit/clause.js` reads, writes and evaluates the same
texts; `tests/fixtures/clauses.json` tests both with one table of inputs and expected outputs.

    knobs~JSON                          an object of columns and values: rows with these values; a
                                        value may be a list (any of them), null is NULL, and the
                                        whole may be a list of such objects (any of them)
    box~X~Y~x0~x1~y0~y1[~JSON]          rows in a closed rectangle over the columns X and Y, and
                                        with the knobs of the object
    lasso~X~Y~x,y~x,y~x,y...            rows in a polygon over the columns X and Y
    won~JSON                            cells of a map that this competitor wins
    outcome~NAME                        cells of a map with this outcome, such as `tie`
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from app.kit.columns import floats
from data.analysis.rules import OUTCOMES
from data.catalogue import Catalogue
from data.errors import SelectionError

Kind = Literal["knobs", "box", "lasso", "won", "outcome"]
Knobs = tuple[dict[str, list[Any]], ...]

MAX_CHARS: Final = 6000
_SHOWN: Final = 40
_MOST: Final = 2.0**53
# Python and JavaScript each convert other texts too, such as 1_0 and 0x10.
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Clause:
    """One selection.

    Attributes:
        fields: The columns along x and y of a box or a lasso.
        bounds: x0, x1, y0, y1 of a box, each pair rising.
        corners: Corners of a lasso as x, y.
        knobs: Alternatives of a `knobs` clause; for a box at most one object of required values.
        value: The competitor of `won` (None for NULL), or the outcome.
    """

    kind: Kind
    fields: tuple[str, str] | None = None
    bounds: tuple[float, float, float, float] | None = None
    corners: tuple[tuple[float, float], ...] = ()
    knobs: Knobs = ()
    value: str | float | None = None


def read_clause(
    text: str,
    kinds: Sequence[Kind] = ("knobs", "box", "lasso"),
    catalogue: Catalogue | None = None,
) -> Clause | None:
    """Read a clause; None for an empty text.

    Args:
        kinds: The kinds that the page supports.
        catalogue: Columns that it lacks are refused. None for a text that was read with one.

    Raises:
        SelectionError: The text is not a clause of one of these kinds; the message quotes its
            start.
    """
    if not text:
        return None
    if len(text) > MAX_CHARS:
        raise SelectionError(f"a selection of {len(text)} characters is too long")
    kind, _, rest = text.partition("~")
    if kind not in kinds:
        raise SelectionError(f"unknown kind of selection: {text[:_SHOWN]!r}")
    try:
        clause = _READERS[kind](rest)
        if catalogue is not None:
            _check_columns(clause, catalogue)
        return clause
    except (ValueError, TypeError, IndexError) as error:
        raise SelectionError(f"the selection cannot be read: {text[:_SHOWN]!r} ({error})") from None


def write_knobs(alternatives: Sequence[Mapping[str, Any]]) -> str:
    """Write a `knobs` clause of one object or several, in the browser's form."""
    # JavaScript writes 2 where Python writes 2.0.
    plain = [
        {
            name: [int(v) if isinstance(v, float) and v.is_integer() else v for v in value]
            if isinstance(value, (list, tuple))
            else int(value)
            if isinstance(value, float) and value.is_integer()
            else value
            for name, value in one.items()
        }
        for one in alternatives
    ]
    body = plain[0] if len(plain) == 1 else plain
    return "knobs~" + json.dumps(body, separators=(",", ":"))


def matching(clause: Clause, rows: pl.DataFrame, x: str = "x", y: str = "y") -> pl.Series:
    """Return which rows a clause of kind `knobs`, `box` or `lasso` selects.

    Args:
        rows: Columns of knobs; for a box or a lasso also its two fields.
        x: Name in `rows` of the field along x.
        y: Name in `rows` of the field along y.

    Returns:
        Booleans, one per row. A row without a value in a field is not selected; a knob without a
        column is NULL in all rows.
    """
    mask = np.ones(len(rows), dtype=bool)
    if clause.kind in ("box", "lasso"):
        xs, ys = (floats(rows[name]) for name in (x, y))
        x0, x1, y0, y1 = clause.bounds or (0.0, 0.0, 0.0, 0.0)
        in_box = (xs >= x0) & (xs <= x1) & (ys >= y0) & (ys <= y1)
        mask = in_box if clause.kind == "box" else _in_polygon(clause, xs, ys)
    if clause.knobs:
        alternatives = (_has_knobs(rows, knobs) for knobs in clause.knobs)
        mask &= reduce(np.logical_or, alternatives)
    return pl.Series("selected", mask, dtype=pl.Boolean)


def _in_polygon(clause: Clause, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Apply the even-odd rule. Source: Shimrat, CACM 5(8), 1962."""
    inside = np.zeros(len(x), dtype=bool)
    corners = clause.corners
    for (xi, yi), (xj, yj) in zip(corners, (corners[-1], *corners[:-1]), strict=True):
        if yi != yj:
            crosses = (yi > y) != (yj > y)
            inside ^= crosses & (x < (xj - xi) * (y - yi) / (yj - yi) + xi)
    return inside


def _has_knobs(rows: pl.DataFrame, knobs: Mapping[str, list[Any]]) -> np.ndarray:
    is_match = np.ones(len(rows), dtype=bool)
    for name, values in knobs.items():
        if name not in rows.columns:
            is_match &= None in values
            continue
        column = rows[name]
        known = [v for v in values if v is not None]
        texts = not column.dtype.is_numeric()
        kind = pl.String if texts else pl.Float64
        same = pl.Series(
            [v for v in known if isinstance(v, str) == texts], dtype=kind, strict=False
        )
        is_among = column.cast(kind).is_in(same.implode()).fill_null(False)
        if len(known) < len(values):
            is_among |= column.is_null()
        is_match &= is_among.to_numpy()
    return is_match


def _read_knobs(text: str) -> Clause:
    parsed = _json(text)
    alternatives = parsed if isinstance(parsed, list) else [parsed]
    if not alternatives:
        raise ValueError("no configuration")
    return Clause("knobs", knobs=tuple(_knobs(one) for one in alternatives))


def _knobs(raw: object) -> dict[str, list[Any]]:
    if not isinstance(raw, dict) or not raw:
        raise ValueError("expected an object of columns and values")
    knobs = {name: value if isinstance(value, list) else [value] for name, value in raw.items()}
    for name, values in knobs.items():
        if not values or not all(map(_is_plain, values)):
            raise ValueError(f"a value of {name} is not text, number or null")
    return knobs


def _read_box(text: str) -> Clause:
    x, y, *parts = text.split("~", 6)
    x0, x1, y0, y1 = map(_number, parts[:4])
    knobs = (_knobs(_json(parts[4])),) if len(parts) > 4 else ()
    bounds = (min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1))
    return Clause("box", (x, y), bounds, knobs=knobs)


def _read_lasso(text: str) -> Clause:
    x, y, *parts = text.split("~")
    corners = [tuple(map(_number, part.split(","))) for part in parts]
    if len(corners) < 3 or any(len(corner) != 2 for corner in corners):
        raise ValueError("a polygon has three corners or more")
    return Clause("lasso", (x, y), corners=tuple((c[0], c[1]) for c in corners))


def _read_won(text: str) -> Clause:
    value = _json(text)
    if not _is_plain(value):
        raise ValueError("expected a text, a number or null")
    return Clause("won", value=value)


def _read_outcome(text: str) -> Clause:
    if text not in OUTCOMES:
        raise ValueError(f"expected one of {', '.join(OUTCOMES)}")
    return Clause("outcome", value=text)


_READERS: Final = {
    "knobs": _read_knobs,
    "box": _read_box,
    "lasso": _read_lasso,
    "won": _read_won,
    "outcome": _read_outcome,
}


def _check_columns(clause: Clause, catalogue: Catalogue) -> None:
    """Refuse fields that are no column of numbers, and knobs that are none or the replicate."""
    for name in clause.fields or ():
        knob = catalogue.knob_of_column.get(name)
        if name not in catalogue.plottable and not (knob and knob.facet.is_number):
            raise ValueError(f"unknown column of numbers {name[:_SHOWN]!r}")
    for name in (name for knobs in clause.knobs for name in knobs):
        if name not in catalogue.knob_of_column and name != "replicate":
            raise ValueError(f"no knob has the column {name[:_SHOWN]!r}")


def _json(text: str) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not a value")

    return json.loads(text, parse_constant=refuse)


def _number(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else np.nan
    if not np.isfinite(value):
        raise ValueError(f"{text[:_SHOWN]!r} is not a finite number")
    return value


def _is_plain(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        # JSON integers have no limit; no knob has a larger value.
        return abs(value) < _MOST
    return value is None or isinstance(value, str)
