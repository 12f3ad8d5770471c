"""The whole state of Modes as a URL query; kept like Explore's (see `url_state.py`)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

from app.kit.performance import PERFORMANCE
from app.kit.url_codec import (
    Parameters,
    pairs_of,
    read_lake_version,
    read_number,
    read_query,
    write_query,
)
from data.analysis.significance import CORRECTIONS, TESTS, Correction, Test
from data.analysis.ties import OUTCOMES, Rules
from data.errors import SelectionError
from data.knobs import KNOBS, Knob
from data.metrics import metric, plottable
from data.selection import Selection, Value

VERSION: Final = 1
UPGRADERS: Final[dict[int, Callable[[Parameters], Parameters]]] = {}

Margin = Literal["percent", "absolute"]
PICK_MAX_CHARS: Final = 6000
_VALUE_MAX: Final = 2.0**53


@dataclass(frozen=True, slots=True)
class Pick:
    """What is selected on the map.

    Attributes:
        kind: `cell`: the one at `x` and `y`; `cells`: several, as the way from Explore brings
            them; `won`: those that `value` wins; `outcome`: those that ended so.
        value: A competitor (None for NULL), or an outcome.
    """

    kind: Literal["cell", "cells", "won", "outcome"]
    x: Value | None = None
    y: Value | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class ModesState:
    """Everything that decides what Modes shows.

    Attributes:
        x: Knob along the map's x axis, by its name; None lets the page choose, as for the next
            three.
        competitor: Knob whose values compete.
        metric: Column that is the prize.
        margin: How cells write the winner's lead.
        against: Column, or `performance`, of the Pareto view's x axis.
        pick: The selection as the browser wrote it (see assets/modes/page.js); empty for none.
        lake_version: A version that the link pins; None for the newest.
    """

    selection: Selection = field(default_factory=Selection)
    x: str | None = None
    y: str | None = None
    competitor: str | None = None
    metric: str | None = None
    test: Test = "student"
    correction: Correction = "none"
    level: float = 0.05
    margin: Margin = "percent"
    against: str = PERFORMANCE
    pick: str = ""
    lake_version: int | None = None

    def __post_init__(self) -> None:
        for role in ("x", "y", "competitor"):
            _check(role, getattr(self, role), (None, *KNOBS))
        knobs = [name for name in (self.x, self.y, self.competitor) if name is not None]
        if len(set(knobs)) < len(knobs):
            raise SelectionError(f"axes and competitor must differ, not {', '.join(knobs)}")
        _check("test", self.test, TESTS)
        _check("corr", self.correction, CORRECTIONS)
        _check("margin", self.margin, ("percent", "absolute"))
        if not 0 < self.level < 1:
            raise SelectionError(f"level is {self.level:g}, expected a number between 0 and 1")
        if self.metric is not None and self.metric not in prizes():
            raise SelectionError(f"no metric of which one direction is better: {self.metric!r}")
        if self.against != PERFORMANCE and self.against not in plottable():
            raise SelectionError(f"no such column to plot: {self.against!r}")
        read_pick(self.pick)

    @property
    def rules(self) -> Rules:
        """How cells are judged."""
        return Rules(self.test, self.correction, self.level)

    @property
    def picked(self) -> Pick | None:
        """What is selected."""
        return read_pick(self.pick)

    def knobs(self) -> tuple[Knob, Knob, Knob]:
        """The knobs of x, y and competitor; all must have been chosen."""
        x, y, competitor = (KNOBS[str(name)] for name in (self.x, self.y, self.competitor))
        return x, y, competitor

    def with_choice(self, x: str, y: str, competitor: str, metric: str) -> "ModesState":
        """A copy with axes, competitor and prize chosen."""
        return replace(self, x=x, y=y, competitor=competitor, metric=metric)

    def to_query(self) -> str:
        """Write the query string, defaults left out: the same state, the same text."""
        return write_query(VERSION, self.selection, _KEYS, self, _DEFAULT)

    @classmethod
    def from_query(cls, query: str) -> "ModesState":
        """Read a query string, of this version or an older one.

        Raises:
            SelectionError: A version from the future, an unknown key, or a bad value; the message
                names it.
        """
        return cls(**read_query(query, VERSION, UPGRADERS, _KEYS, _parse))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ModesState":
        """Read what the page's controls were gathered into."""
        return cls.from_query(urlencode(pairs_of(raw, VERSION)))


def prizes() -> tuple[str, ...]:
    """Columns that one can win: those of which one direction is better, in schema order."""
    return tuple(name for name in plottable() if metric(name).better)


def read_pick(text: str) -> Pick | None:
    """Read a selection; "" is none.

    It is `["cell", x, y]`, `["cells", [y, x, x, ...], ...]` (row by row), `["won", competitor]` or
    `["outcome", "tie"]`.

    Raises:
        SelectionError: It is none of these.
    """
    if not text:
        return None
    try:
        parts = json.loads(text) if len(text) <= PICK_MAX_CHARS else None
    except ValueError:
        parts = None
    kind, *values = parts if isinstance(parts, list) and parts else [None]
    if kind == "cells" and values and all(_is_row(row) for row in values):
        return Pick("cells")
    if all(map(_is_value, values)):
        if kind == "cell" and len(values) == 2:
            return Pick("cell", x=values[0], y=values[1])
        if kind == "won" and len(values) == 1:
            return Pick("won", value=values[0])
        if kind == "outcome" and len(values) == 1 and values[0] in OUTCOMES:
            return Pick("outcome", value=values[0])
    raise SelectionError(f"the link has a selection that is none: {text[:40]!r}")


def _is_value(value: object) -> bool:
    if type(value) in (int, float):
        # JSON knows NaN and endless digits; no knob has such a value.
        return abs(value) < _VALUE_MAX  # type: ignore[arg-type]
    return value is None or isinstance(value, str)


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) > 1 and all(map(_is_value, row))


def _check(name: str, value: object, known: tuple) -> None:
    if value not in known:
        words = ", ".join(str(v) for v in known if v is not None)
        raise SelectionError(f"{name} is {str(value)[:40]!r}, expected one of {words}")


def _parse(key: str, text: str) -> Any:
    if key == "level":
        return read_number(key, text)
    return read_lake_version(text) if key == "lake" else text


_DEFAULT: Final = ModesState()
_KEYS: Final = {
    "x": "x",
    "y": "y",
    "who": "competitor",
    "metric": "metric",
    "test": "test",
    "corr": "correction",
    "level": "level",
    "margin": "margin",
    "against": "against",
    "pick": "pick",
    "lake": "lake_version",
}
