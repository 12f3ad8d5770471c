"""What one view of Storage is: its picture, its rows, its queries, how it is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import polars as pl

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
