"""The state of the timeline as a URL query."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, Self
from urllib.parse import parse_qs

from app.kit.clause import read_clause, write_knobs
from app.kit.url_state import Parameters, UrlState, parameter
from app.kit.url_values import read_number
from app.timeline.panels import DEFAULT_PANELS, HEATS, PANELS
from data.catalogue import Catalogue
from data.errors import SelectionError
from data.selection import Selection
from data.timeline.question import MOST_RUNS, NO_HEAT, WIDTHS, Question, check_window, chosen_cores

_NONE: Final = "none"
_LONGEST_ID: Final = 300
_LONGEST_CONFIGURATION: Final = 2000

Layout = Literal["overlay", "stacked"]


def _read_whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 4):
        raise SelectionError(f"{name} is {text[:40]!r}, expected a whole number")
    return int(text)


def _from_version_1(old: Parameters) -> Parameters:
    """Upgrade version 1, which named configurations picked in Explore as JSON, one `open` each."""
    picked = old.pop("open", [])
    new = {"picked" if key == "of" else key: texts for key, texts in old.items()}
    if picked:
        new["sel"] = [write_knobs([_configuration(text) for text in picked])]
    return new


def _configuration(text: str) -> dict[str, Any]:
    try:
        knobs = json.loads(text[:_LONGEST_CONFIGURATION])
    except ValueError:
        knobs = None
    if not isinstance(knobs, dict):
        raise SelectionError(f"a configuration is {text[:60]!r}, expected knobs as a JSON object")
    return knobs


@dataclass(frozen=True)
class TimelineState(UrlState):
    """The whole state of the timeline.

    Attributes:
        selection: Filters and `sel`, a clause, of another page's link. The page resolves them to
            runs when it opens.
        picked: Number of configurations picked there, if `sel` does not name all of them.
        runs: Run ids in the order in which they were added.
        hues: Index of each run's colour, which stays when another run is removed; empty: by order.
        panels: Names of PANELS; None for the default ones.
        cores: `all`, `packages`, or a list such as `0,2,5-7`.
        align: What the x axis counts, one of ALIGNMENTS.
        from_x: Start of the window in the unit of `align`: seconds after that of the run's own
            window, or work done since; None: its start.
        to_x: End of the window; None: the end of the longest run.
        heat: A name of HEATS, or `none`.
        base: Index of the reference run for totals.
        other: Index of the run whose difference is shown; None for the first other run.
        width: Width of lines, pixels; only in links to files.
        is_first_look: The link has no version and no runs: the page chooses some.
    """

    VERSION: ClassVar[int] = 2
    UPGRADERS: ClassVar = {1: _from_version_1}

    selection: Selection = field(default_factory=Selection)
    sel: str = parameter("sel", "")
    picked: int = parameter("picked", 0, _read_whole)
    runs: tuple[str, ...] = parameter("run", (), is_kept=True)
    hues: tuple[int, ...] = parameter("hue", (), _read_whole, is_kept=True)
    panels: tuple[str, ...] | None = parameter("panel", None, is_list=True)
    cores: str = parameter("cores", "all")
    align: str = parameter("align", "time")
    from_x: float | None = parameter("from", None, read_number, is_kept=True)
    to_x: float | None = parameter("to", None, read_number, is_kept=True)
    heat: str = parameter("heat", "interrupts")
    layout: Layout = parameter("layout", "overlay")
    base: int = parameter("base", 0, _read_whole, is_kept=True)
    other: int | None = parameter("other", None, _read_whole, is_kept=True)
    width: int = parameter("width", 1000, _read_whole)
    is_first_look: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        _check_runs(self.runs)
        if self.hues and len(self.hues) != len(self.runs):
            raise SelectionError(f"{len(self.hues)} colours for {len(self.runs)} runs")
        for name in self.panels or ():
            if name not in PANELS:
                known = ", ".join(PANELS)
                raise SelectionError(f"no panel {name[:40]!r}; known: {known}, or {_NONE} alone")
        if self.heat != NO_HEAT and self.heat not in HEATS:
            raise SelectionError(f"no heatmap of {self.heat[:40]!r}; known: {', '.join(HEATS)}")
        chosen_cores(self.cores)
        if self.layout not in ("overlay", "stacked"):
            raise SelectionError(f"layout is {self.layout[:40]!r}, expected overlay or stacked")
        check_window(self.from_x, self.to_x, self.align)
        if not WIDTHS[0] <= self.width <= WIDTHS[1]:
            raise SelectionError(f"width is {self.width}, expected {WIDTHS[0]} to {WIDTHS[1]}")
        if self.base < 0 or (self.base and self.base >= len(self.runs)):
            raise SelectionError(f"base is {self.base}, there are {len(self.runs)} runs")
        _check_other(self.other, self.base, len(self.runs))

    def check(self, catalogue: Catalogue) -> None:
        """Refuse a selection of columns that the lake lacks."""
        read_clause(self.sel, catalogue=catalogue)

    @property
    def shown_panels(self) -> tuple[str, ...]:
        """Names of the panels that are switched on."""
        return DEFAULT_PANELS if self.panels is None else self.panels

    @property
    def shown_hues(self) -> tuple[int, ...]:
        """Index of each run's colour."""
        return self.hues or tuple(range(len(self.runs)))

    def question(self) -> Question:
        """Return the question to ask of the state's runs.

        Raises:
            SelectionError: It has no runs.
        """
        return Question(
            self.runs,
            self.cores,
            self.from_x,
            self.to_x,
            self.width,
            self.shown_panels,
            self.heat,
            align=self.align,
        )

    def write(self, key: str, value: Any) -> list[str]:
        """Write one attribute; default colours are left out, and no panel is written as `none`."""
        if key == "hue" and value == tuple(range(len(self.runs))):
            return []
        if key == "panel" and value == ():
            return [_NONE]
        return super().write(key, value)

    @classmethod
    def read(cls, key: str, texts: Sequence[str]) -> Any:
        """Read the texts of one key; `none` alone means no panel."""
        if key == "hue":
            return tuple(_read_whole(key, text) for text in texts)
        if key == "panel" and list(texts) == [_NONE]:
            return ()
        return super().read(key, texts)

    @classmethod
    def from_query(cls, query: str, catalogue: Catalogue) -> Self:
        """Read a query string. Version 1's links from Explore had no version."""
        keys = parse_qs(query.lstrip("?"), keep_blank_values=True).keys()
        if "open" in keys and "v" not in keys:
            query = f"v=1&{query.lstrip('?')}"
        state = super().from_query(query, catalogue)
        is_free = "v" not in keys and not (state.runs or state.sel or state.selection.clauses)
        return replace(state, is_first_look=is_free)


def _check_other(other: int | None, base: int, runs: int) -> None:
    if other is None:
        return
    if other >= runs:
        raise SelectionError(f"other is {other}, there are {runs} runs")
    if other == base:
        raise SelectionError(f"other is {other}, which is also the base")


def _check_runs(runs: tuple[str, ...]) -> None:
    if len(runs) > MOST_RUNS:
        raise SelectionError(f"{len(runs)} runs; a timeline shows {MOST_RUNS} at most")
    for run_id in runs:
        if not run_id or len(run_id) > _LONGEST_ID:
            raise SelectionError(f"no run has the id {run_id[:40]!r}")
    if len(set(runs)) < len(runs):
        raise SelectionError(f"a run is named twice: {max(runs, key=runs.count)}")
