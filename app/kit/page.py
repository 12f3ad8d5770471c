"""What a page is: its name, state, layout, views and what it gives away.

A page is one folder in `app/`, one in `assets/` and one line in `app/pages.py`. Everything that
every page owes (routes, downloads, explanations, exports, keys, tests) is made from this
description.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import polars as pl
from dash import html
from flask import Flask

from app.kit.export import ExportedPage
from app.kit.ids import PageIds
from app.kit.lakes import LakeView
from data.errors import SelectionError


class PageState(Protocol):
    """What the state of every page has; `kit.url_state.UrlState` has the rest."""

    @property
    def lake_version(self) -> int | None:
        """The version of the lake that a link pins; None for the newest."""

    def to_query(self) -> str:
        """Write the URL query."""

    @classmethod
    def from_query(cls, query: str) -> Self:
        """Read a URL query."""

    @classmethod
    def spec(cls) -> dict[str, Any]:
        """What the browser needs to write the URL query."""


@dataclass(frozen=True, slots=True)
class View:
    """One view of a page: a picture or a table with a menu of its own.

    Attributes:
        name: In addresses of downloads; also the id of its element, after the page's prefix if any.
        title: For menus and screen readers.
        is_picture: Whether it has a figure that leaves as PNG and SVG.
    """

    name: str
    title: str
    is_picture: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        name: Its folder, the class of its main element, the prefix of its ids and addresses.
        title: In the header.
        state: Class of its URL state.
        default_state: What a visitor without a link sees.
        layout: From the lake, a state and the words of the notice to the main element.
        views: Its views; `rows` and `explain` take their names.
        rows: The rows behind a view.
        explain: How a view was computed: the query that was executed, the filters, the version.
        export: The page as one file.
        keys: What its keys do, for the help.
        open_link: Turns the state of a link into the one that the page shows: resolves a selection
            that another page handed over. Returns the state and words for the notice.
        add_routes: Adds routes that no other page has.
        example: URL query of the page's screenshot in `docs/`; empty for the default view.
        old_paths: Addresses of earlier versions to the present ones; `<view>` stands for a view.
    """

    name: str
    title: str
    path: str
    state: type[Any]
    default_state: Callable[[LakeView], Any]
    layout: Callable[[LakeView, Any, str], html.Main]
    views: tuple[View, ...]
    rows: Callable[[LakeView, Any, str], pl.DataFrame]
    explain: Callable[[LakeView, Any, str], str]
    export: Callable[[LakeView, Any], ExportedPage]
    keys: tuple[tuple[str, str], ...] = ()
    open_link: Callable[[LakeView, Any], tuple[Any, str]] | None = None
    add_routes: Callable[[Flask], None] | None = None
    example: str = ""
    old_paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> PageIds:
        """The ids of its components."""
        return PageIds(self.name)

    def view(self, name: str) -> View:
        """One of its views.

        Raises:
            SelectionError: The page has no such view.
        """
        for view in self.views:
            if view.name == name:
                return view
        known = ", ".join(view.name for view in self.views)
        raise SelectionError(f"no view {name[:40]!r}; known: {known}")
