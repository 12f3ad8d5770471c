"""The whole state of a view as a URL query: versioned, upgraded when old, refused with words.

`v` is the version of the encoding. A query without `v` is no state: the page chooses. To change the
encoding, raise VERSION and add to UPGRADERS the function that turns the previous version's
parameters into the next one's, so that a link in a paper works for years.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

from app.kit.performance import PERFORMANCE
from app.kit.url_codec import (
    Parameters,
    pairs_of,
    read_flag,
    read_lake_version,
    read_number,
    read_query,
    write_query,
)
from data.errors import SelectionError
from data.metrics import plottable
from data.selection import Selection

VERSION: Final = 1
UPGRADERS: Final[dict[int, Callable[[Parameters], Parameters]]] = {}

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
        brush: The selection as the browser wrote it (see assets/_kit/selection.js); empty for none.
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
            bounds = [read_number("zoom", text) for text in self.zoom.split("~")]
            if len(bounds) != 4:
                raise SelectionError(f"zoom is {self.zoom!r}, expected four numbers")
        if len(self.brush) > BRUSH_MAX_CHARS:
            raise SelectionError(f"a selection of {len(self.brush)} characters is too long")

    def to_query(self) -> str:
        """Write the query string, defaults left out: the same state, the same text."""
        return write_query(VERSION, self.selection, _KEYS, self, _DEFAULT)

    @classmethod
    def from_query(cls, query: str) -> "ViewState":
        """Read a query string, of this version or an older one.

        Raises:
            SelectionError: A version from the future, an unknown key, or a bad value; the message
                names it.
        """
        return cls(**read_query(query, VERSION, UPGRADERS, _KEYS, _parse))

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
        return cls.from_query(urlencode(pairs_of(raw, VERSION)))


def brush_fields(brush: str) -> tuple[str, str] | None:
    """The two columns that a box or lasso was drawn over; None for other selections."""
    kind, *parts = brush.split("~")
    if kind not in ("box", "lasso") or len(parts) < 2:
        return None
    if not set(parts[:2]) <= set(plottable()):
        raise SelectionError(f"a selection over unknown columns: {parts[:2]}")
    return parts[0], parts[1]


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


def _parse(key: str, text: str) -> Any:
    if key in ("xlog", "ylog", "frontier"):
        return read_flag(key, text)
    if key == "limit":
        return read_number(key, text)
    return read_lake_version(text) if key == "lake" else text
