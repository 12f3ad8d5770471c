"""The whole state of the timeline as a URL query: versioned, upgraded when old, refused with words.

To change the encoding, raise VERSION and add to UPGRADERS the function that turns the previous
version's parameters into the next one's, so that a link in a paper works for years.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlencode

from app.kit.url_codec import (
    Parameters,
    read_lake_version,
    read_number,
    read_parameters,
    write_value,
)
from app.timeline.panels import DEFAULT_PANELS, HEATS, PANELS
from data.errors import SelectionError
from data.timeline.question import MOST_RUNS, check_window, chosen_cores

VERSION: Final = 1
UPGRADERS: Final[dict[int, Callable[[Parameters], Parameters]]] = {}

_NONE: Final = "none"
_LONGEST_ID: Final = 300

Layout = Literal["overlay", "stacked"]


@dataclass(frozen=True, slots=True)
class TimelineState:
    """Everything that decides what the timeline shows.

    Attributes:
        runs: Run ids in the order in which they were added.
        hues: Place of each run's colour, so that it is kept when another run goes; empty: by order.
        panels: Names of PANELS; None for those that are there by default.
        cores: `all`, `packages`, or a list such as `0,2,5-7`.
        from_s: Where the window begins, seconds after the run's own window does; None: its start.
        to_s: Where it ends; None: the end of the longest run.
        heat: A name of HEATS, or `none`.
        base: Place of the run that the others' totals are compared with.
        other: Place of the run whose difference to it is shown; None for the first other.
        lake_version: A version that the link pins; None for the newest.
    """

    runs: tuple[str, ...] = ()
    hues: tuple[int, ...] = ()
    panels: tuple[str, ...] | None = None
    cores: str = "all"
    from_s: float | None = None
    to_s: float | None = None
    heat: str = "interrupts"
    layout: Layout = "overlay"
    base: int = 0
    other: int | None = None
    lake_version: int | None = None

    def __post_init__(self) -> None:
        _check_runs(self.runs)
        if self.hues and len(self.hues) != len(self.runs):
            raise SelectionError(f"{len(self.hues)} colours for {len(self.runs)} runs")
        for name in self.panels or ():
            if name not in PANELS:
                known = ", ".join(PANELS)
                raise SelectionError(f"no panel {name[:40]!r}; known: {known}, or {_NONE} alone")
        if self.heat != _NONE and self.heat not in HEATS:
            raise SelectionError(f"no heatmap of {self.heat[:40]!r}; known: {', '.join(HEATS)}")
        chosen_cores(self.cores)
        if self.layout not in ("overlay", "stacked"):
            raise SelectionError(f"layout is {self.layout[:40]!r}, expected overlay or stacked")
        check_window(self.from_s, self.to_s)
        if self.base < 0 or (self.base and self.base >= len(self.runs)):
            raise SelectionError(f"base is {self.base}, there are {len(self.runs)} runs")
        _check_other(self.other, self.base, len(self.runs))

    @property
    def shown_panels(self) -> tuple[str, ...]:
        """Names of the panels that are switched on."""
        return DEFAULT_PANELS if self.panels is None else self.panels

    def to_query(self) -> str:
        """Write the query string, defaults left out: the same state, the same text."""
        pairs: list[tuple[str, str]] = [("v", str(VERSION))]
        pairs += [("run", run_id) for run_id in self.runs]
        if self.hues != tuple(range(len(self.runs))):
            pairs += [("hue", str(hue)) for hue in self.hues]
        if self.panels is not None:
            pairs += [("panel", name) for name in self.panels or (_NONE,)]
        for key, attribute in _KEYS.items():
            value = getattr(self, attribute)
            if value != getattr(_DEFAULT, attribute):
                pairs.append((key, write_value(value)))
        return urlencode(pairs)

    @classmethod
    def from_query(cls, query: str) -> "TimelineState":
        """Read a query string, of this version or an older one.

        Raises:
            SelectionError: A version from the future, an unknown key, or a bad value; the message
                names it.
        """
        return _Reading(read_parameters(query, VERSION, UPGRADERS)).state()


_KEYS: Final = {
    "cores": "cores",
    "from": "from_s",
    "to": "to_s",
    "heat": "heat",
    "layout": "layout",
    "base": "base",
    "other": "other",
    "lake": "lake_version",
}


@dataclass(slots=True)
class _Reading:
    parameters: Parameters
    values: dict[str, object] = field(default_factory=dict)

    def state(self) -> TimelineState:
        lists: dict[str, object] = {"runs": self._list("run")}
        if panels := self._list("panel"):
            lists["panels"] = () if panels == (_NONE,) else panels
        hues = self.parameters.pop("hue", [])
        lists["hues"] = tuple(_read_whole("hue", text) for text in hues)
        for key, texts in self.parameters.items():
            if key not in _KEYS:
                raise SelectionError(f"the link has an unknown part {key[:40]!r}")
            self.values[_KEYS[key]] = _parse(key, texts[-1])
        return TimelineState(**lists, **self.values)  # type: ignore[arg-type]

    def _list(self, key: str) -> tuple[object, ...]:
        return tuple(dict.fromkeys(self.parameters.pop(key, [])))


def _parse(key: str, text: str) -> object:
    if key in ("from", "to"):
        return read_number(key, text)
    if key in ("base", "other"):
        return _read_whole(key, text)
    if key == "lake":
        return read_lake_version(text)
    return text


def _read_whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 4):
        raise SelectionError(f"{name} is {text[:40]!r}, expected a whole number")
    return int(text)


def _check_other(other: int | None, base: int, runs: int) -> None:
    if other is None:
        return
    if other >= runs:
        raise SelectionError(f"other is {other}, there are {runs} runs")
    if other == base:
        raise SelectionError(f"other is {other}, which is the base as well")


def _check_runs(runs: tuple[str, ...]) -> None:
    if len(runs) > MOST_RUNS:
        raise SelectionError(f"{len(runs)} runs; a timeline shows {MOST_RUNS} at most")
    for run_id in runs:
        if not run_id or len(run_id) > _LONGEST_ID:
            raise SelectionError(f"no run has the id {run_id[:40]!r}")
    if len(set(runs)) < len(runs):
        raise SelectionError(f"a run is named twice: {max(runs, key=runs.count)}")


_DEFAULT: Final = TimelineState()
