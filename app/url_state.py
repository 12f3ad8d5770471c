"""The whole state of a view as a URL query: versioned, upgraded when old, refused with words.

`v` is the version of the encoding. A query without `v` is no state: the page chooses. To change the
encoding, raise VERSION and add to UPGRADERS the function that turns the previous version's
parameters into the next one's, so that a link in a paper works for years.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlencode

from data.errors import SelectionError
from data.metrics import plottable
from data.selection import FACETS, Selection, Value, check_value

VERSION: Final = 1
Parameters = dict[str, list[str]]
UPGRADERS: Final[dict[int, Callable[[Parameters], Parameters]]] = {}

# Stands for the workload's own performance metric, whatever that is.
PERFORMANCE: Final = "performance"
BRUSH_MAX_CHARS: Final = 6000
_BRUSH_KINDS: Final = ("box", "lasso", "cells", "configs")

Replicates = Literal["means", "runs"]


@dataclass(frozen=True, slots=True)
class ViewState:
    """Everything that decides what Explore shows.

    Attributes:
        replicates: `means`: one point a configuration; `runs`: one a run.
        x: Column of the scatter's x axis, or `performance`.
        heat_system: System of the heatmap; None lets the page choose.
        limit: Latency limit in the unit of the workload's performance metric.
        brush: The selection as the browser wrote it (see assets/20_clause.js); empty for none.
        zoom: Range of the scatter's axes, `x0~x1~y0~y1`; empty for all points.
        lake_version: A version that the link pins; None for the newest.
    """

    selection: Selection = field(default_factory=Selection)
    replicates: Replicates = "means"
    x: str = PERFORMANCE
    y: str = "energy_j"
    x_log: bool = False
    y_log: bool = False
    frontier: bool = True
    heat_system: str | None = None
    heat_metric: str = "energy_j"
    limit: float | None = None
    brush: str = ""
    zoom: str = ""
    lake_version: int | None = None

    def __post_init__(self) -> None:
        if self.replicates not in ("means", "runs"):
            raise SelectionError(f"replicates is {self.replicates!r}, expected means or runs")
        for name in (self.x, self.y, self.heat_metric):
            if name != PERFORMANCE and name not in plottable():
                raise SelectionError(f"no such column to plot: {name!r}")
        if self.brush and self.brush.split("~", 1)[0] not in _BRUSH_KINDS:
            raise SelectionError(f"unknown kind of selection: {self.brush[:40]!r}")
        if self.limit is not None and self.limit <= 0:
            raise SelectionError(f"limit is {self.limit:g}, expected a number above 0")
        brush_fields(self.brush)
        if self.zoom:
            bounds = [_number("zoom", text) for text in self.zoom.split("~")]
            if len(bounds) != 4:
                raise SelectionError(f"zoom is {self.zoom!r}, expected four numbers")
        if len(self.brush) > BRUSH_MAX_CHARS:
            raise SelectionError(f"a selection of {len(self.brush)} characters is too long")

    def to_query(self) -> str:
        """Write the query string, defaults left out: the same state, the same text."""
        pairs: list[tuple[str, str]] = [("v", str(VERSION))]
        for name in FACETS:
            pairs += [(name, text) for text in sorted(map(_text, self.selection.values(name)))]
        for key, attribute in _KEYS.items():
            value = getattr(self, attribute)
            if value != getattr(_DEFAULT, attribute):
                pairs.append((key, _text(value)))
        return urlencode(pairs)

    @classmethod
    def from_query(cls, query: str) -> "ViewState":
        """Read a query string, of this version or an older one.

        Raises:
            SelectionError: A version from the future, an unknown key, or a bad value; the message
                names it.
        """
        parameters = _upgrade(parse_qs(query.lstrip("?"), keep_blank_values=True))
        values = {}
        for name in FACETS:
            found = [_facet_value(name, text) for text in parameters.pop(name, [])]
            values[name] = list(dict.fromkeys(found))
        state: dict[str, Any] = {"selection": Selection.of(**values)}
        for key, texts in parameters.items():
            if key not in _KEYS:
                raise SelectionError(f"the link has an unknown part {key!r}")
            state[_KEYS[key]] = _parse(key, texts[-1])
        return cls(**state)

    def with_performance(self, column: str) -> "ViewState":
        """A copy in which `performance` is replaced by the column that it means."""
        x, y, heat_metric = (
            column if name == PERFORMANCE else name for name in (self.x, self.y, self.heat_metric)
        )
        return replace(self, x=x, y=y, heat_metric=heat_metric)

    def to_json(self) -> dict[str, Any]:
        """The form in which the browser hands it back: the query string and nothing else."""
        return {"query": self.to_query()}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ViewState":
        """Read what `to_json` wrote, or what the page's controls were gathered into."""
        if "query" in raw:
            return cls.from_query(raw["query"])
        return cls.from_query(urlencode(_pairs(raw)))


def brush_fields(brush: str) -> tuple[str, str] | None:
    """The two columns that a box or lasso was drawn over; None for other selections."""
    kind, *parts = brush.split("~")
    if kind not in ("box", "lasso") or len(parts) < 2:
        return None
    if not set(parts[:2]) <= set(plottable()):
        raise SelectionError(f"a selection over unknown columns: {parts[:2]}")
    return parts[0], parts[1]


def has_state(query: str) -> bool:
    """Whether a URL query holds a state at all; without one the page chooses what to show."""
    return "v" in parse_qs(query.lstrip("?"))


_DEFAULT: Final = ViewState()
_KEYS: Final = {
    "rep": "replicates",
    "x": "x",
    "y": "y",
    "xlog": "x_log",
    "ylog": "y_log",
    "frontier": "frontier",
    "hsys": "heat_system",
    "hmet": "heat_metric",
    "limit": "limit",
    "brush": "brush",
    "zoom": "zoom",
    "lake": "lake_version",
}


def _pairs(raw: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Flatten the controls' values: None and empty lists say nothing, lists repeat their key."""
    pairs = [("v", str(VERSION))]
    for key, value in raw.items():
        values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
        pairs += [(key, _text(v)) for v in values if v is not None and v != ""]
    return pairs


def _upgrade(parameters: Parameters) -> Parameters:
    text = parameters.pop("v", [str(VERSION)])[-1]
    if not _is_version(text) or int(text) > VERSION:
        raise SelectionError(
            f"the link has version {text[:40]!r}; this wattlas reads up to {VERSION}: "
            "it may be newer"
        )
    for version in range(int(text), VERSION):
        if version not in UPGRADERS:
            raise SelectionError(f"the link has version {version}, which never was")
        parameters = UPGRADERS[version](parameters)
    return parameters


def _facet_value(name: str, text: str) -> Value:
    facet = FACETS[name]
    value: Value = text
    if facet.is_number and text != facet.null_word:
        value = _number(name, text)
    check_value(facet, value)
    return value


def _parse(key: str, text: str) -> Any:
    if key in ("xlog", "ylog", "frontier"):
        if text not in ("0", "1"):
            raise SelectionError(f"{key} is {text!r}, expected 0 or 1")
        return text == "1"
    if key == "limit":
        return _number(key, text)
    if key == "lake":
        if not _is_version(text):
            raise SelectionError(f"lake is {text[:40]!r}, expected a version number")
        return int(text)
    return text


def _is_version(text: str) -> bool:
    """Whether it is a whole number as we write them: `str.isdigit` also takes superscripts."""
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise SelectionError(f"{name} is {text!r}, expected a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise SelectionError(f"{name} is {text!r}, expected a finite number")
    return value


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)
