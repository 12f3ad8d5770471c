"""The state of Storage as a URL query, and what one of its views is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

import polars as pl

from app.kit.clause import read_clause
from app.kit.url_state import Parameters, Upgraders, UrlState, parameter
from app.kit.url_values import check_choice, read_number
from data.analysis.like_with_like import check_pool
from data.catalogue import Catalogue
from data.errors import SelectionError
from data.selection import Selection

DEPTH: Final = "io_depth"

Spread = Literal["ci", "sd"]
SPREADS: Final[tuple[Spread, ...]] = ("ci", "sd")
# Knobs of network runs and their workloads, which the page neither filters nor names.
_OF_NETWORKS: Final = ("workload", "load_qps", "message_bytes", "itr_us")
# A box of version 1: `panel~VIEW~PANEL~x0~x1~y0~y1`, in the coordinates of one panel of a view.
# `answer.py` resolves it, because that needs the figures.
OLD_BOX: Final = "panel"
VIEWS_OF_VERSION_1: Final = (
    "iops", "latency", "latency-p99", "cpu", "power", "power-cpu", "switches", "switches-io",
    "interrupts", "cpu-interrupts", "power-interrupts", "loads-stores", "loads", "stores",
    "devices", "difference", "proportionality", "bytes-joule", "ios-joule",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StorageState(UrlState):
    """The whole state of Storage.

    Attributes:
        at_device: Device of the views that show one device; None lets the page choose, also for
            the next two.
        at_rw: Access of these views.
        at_request: Request size of these views, bytes.
        pool: Settings that heatmaps, bars and idle power pool, by name.
        spread: Kind of the error bars: 95 % confidence interval of the mean, or standard deviation.
    """

    VERSION: ClassVar[int] = 3
    UPGRADERS: ClassVar[Upgraders] = {
        1: lambda parameters: _from_version_1(parameters),
        # Energy proportionality is against the IO rate alone, as published.
        2: lambda parameters: {key: text for key, text in parameters.items() if key != "use"},
    }

    selection: Selection = field(default_factory=Selection)
    at_device: str | None = parameter("at", None)
    at_rw: str | None = parameter("access", None)
    at_request: float | None = parameter("size", None, read_number)
    spread: Spread = parameter("err", "ci")
    pool: tuple[str, ...] = parameter("pool", ())
    sel: str = parameter("sel", "", is_kept=True)

    def __post_init__(self) -> None:
        check_choice("err", self.spread, SPREADS)
        if self.at_request is not None and self.at_request <= 0:
            raise SelectionError(f"size is {self.at_request:g}, expected bytes above 0")

    @classmethod
    def filters(cls, catalogue: Catalogue) -> tuple[str, ...]:
        """Return the names of the filters over the knobs of a configuration."""
        knobs = knob_columns(catalogue)
        return tuple(name for name, facet in catalogue.facets.items() if facet.column in knobs)

    def check(self, catalogue: Catalogue) -> None:
        """Refuse knobs that cannot be pooled, and a selection of columns that the lake lacks."""
        check_pool(self.pool, catalogue)
        if not read_old_box(self.sel):
            read_clause(self.sel, catalogue=catalogue)

    @property
    def place(self) -> dict[str, Any]:
        """Device, access and size of the views that show one, by column."""
        return {"device": self.at_device, "rw": self.at_rw, "request_bytes": self.at_request}


def knob_columns(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the columns of the knobs that name a configuration."""
    knobs = (name for name in catalogue.configuration if name in catalogue.knob_of_column)
    return tuple(name for name in knobs if name not in _OF_NETWORKS)


def read_old_box(text: str) -> tuple[str, int, tuple[float, ...]] | None:
    """Read a box of version 1 as view, panel and x0, x1, y0, y1; None for any other text.

    Raises:
        SelectionError: The view is unknown, or a bound is not a number.
    """
    kind, *parts = text.split("~")
    if kind != OLD_BOX:
        return None
    if len(parts) != 6 or parts[0] not in VIEWS_OF_VERSION_1 or not parts[1].isdecimal():
        raise SelectionError(f"the selection cannot be read: {text[:40]!r}")
    return parts[0], int(parts[1]), tuple(read_number("sel", part) for part in parts[2:])


def _from_version_1(parameters: Parameters) -> Parameters:
    """Rename `pick` to `sel`; mark boxes, whose bounds were coordinates of a view."""
    upgraded = {**parameters}
    for text in upgraded.pop("pick", [])[-1:]:
        kind, _, rest = text.partition("~")
        upgraded["sel"] = [f"{OLD_BOX}~{rest}" if kind == "box" else text]
    return upgraded


NAME: Final = "storage"
# Columns of the grid that a panel spans, of six, to the most characters in a line of its subtitle,
# in the narrowest window.
_ROOM_CHARS: Final = {2: 60, 3: 78, 6: 100}


@dataclass(frozen=True, slots=True)
class View:
    """One view.

    Attributes:
        name: Name in addresses of downloads.
        section: Name of its section; empty for a view that no section shows.
        title: Title for menus and screen readers.
        figure: Builds the picture of a `Study`, the view and `Comparisons`; None for a view without
            one.
        rows: Returns the rows of a download, from the study and the view.
        queries: Write the queries behind it, from the same.
        how: How it is computed.
        x: Column along the x axis of lines: `io_depth` or a metric.
        y: Metric that the view shows.
        by: What its lines or panels are of: `mode`, at one device, or `device`, in one mode.
        source: Figure of a paper that it draws for the lake's runs; may be empty.
        claims: Names of the claims that it decides.
        span: Columns of the grid, of six.
        has_legend: Whether the panel has a legend of its own.
    """

    name: str
    section: str
    title: str
    figure: Callable[[Any, Any, Any], dict[str, Any]] | None
    rows: Callable[[Any, Any], pl.DataFrame]
    queries: tuple[Callable[[Any, Any], str], ...]
    how: str
    x: str = ""
    y: str = ""
    by: Literal["mode", "device"] = "mode"
    source: str = ""
    claims: tuple[str, ...] = ()
    span: int = 3
    has_legend: bool = False

    @property
    def graph(self) -> str:
        """Id of the figure on the page."""
        return f"{NAME}-{self.name}"

    @property
    def room_chars(self) -> int:
        """Maximum characters in a line of the subtitle, in the narrowest window."""
        return _ROOM_CHARS[self.span]
