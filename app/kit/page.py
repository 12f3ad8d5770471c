"""The definition of a page: name, state, layout, views, downloads and export.

A page is one folder in `app/`, one in `assets/` and one line in `app/pages.py`. All common parts of
pages (routes, downloads, explanations, exports, keys, tests) are derived from this definition.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl
from dash import html
from flask import Flask

from app.kit.export import ExportedPage
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from data.errors import SelectionError
from data.selection import Selection


class Recomputed(NamedTuple):
    """How an artifact computes the numbers of a view again.

    Attributes:
        query: SQL without parameters over the runs and the artifact's tables, which it names as
            `read_parquet('tables/...')`.
        keys: Columns of the view that tell its rows apart; the query has them too.
        values: Columns whose numbers the query yields.
        skip: SQL that is true of rows that are not computed again, such as those of a model.
        again: What verify.py computes the numbers by, instead of a query; `how` names its way.
        tolerances: Of values that the page reads rounded, relative, by column.
        scales: Sizes that differences are compared with where values are near 0, by column.
        has_means: Whether its columns that have the names of metrics are computed again besides.
    """

    query: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    skip: str = "FALSE"
    again: Mapping[str, Any] | None = None
    tolerances: Mapping[str, float] = MappingProxyType({})
    scales: Mapping[str, float] = MappingProxyType({})
    has_means: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One view of a page: a figure or a table with its own menu.

    Attributes:
        name: Name in download addresses; also the element's id, after the page's prefix if any.
        title: Title for menus and screen readers.
        is_picture: Whether it has a figure that can be saved as PNG and SVG.
    """

    name: str
    title: str
    is_picture: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        name: Name of its folder, class of its main element, prefix of its ids and addresses.
        title: Title in the header.
        state: Class of its URL state.
        default_state: Returns the state for a visitor without a link.
        layout: Returns the main element from the lake, a state and the notice's text.
        views: Its views; `rows` and `explain` receive their names.
        pictures: Pictures besides, whose rows the page itself saves.
        rows: Returns the rows behind a view.
        explain: Returns how a view was computed: executed query, filters, version.
        export: Returns the page as one file.
        scope: Returns the filters of the runs behind a view; None where they are the state's.
        recomputed: Returns how an artifact computes a view's numbers again, besides means of
            metrics if none of these is a query.
        opens_first: Returns whether a visit that names no page opens this one; None for never.
        opening: Returns what browsers show before Dash is loaded: the `figure` of the first view,
            or what the page's script makes one of (`wattlas.openings`), or the `html` of all views
            if the first is no picture; None for nothing.
        missing: Returns which measurement would make it useful on a lake that holds runs, in one
            sentence; empty where it can show some of them for the state. None for a page that needs
            no run.
        keys: Its keys and what they do, for the help.
        open_link: Converts a link's state to the state that the page shows: resolves a selection of
            another page. Returns the state and text for the notice.
        add_routes: Adds routes that no other page has.
        cached_routes: Those of them whose responses follow from the lake and the request alone.
        examples: Name of a screenshot in `docs/` to its URL query; empty: the default view.
        old_paths: Old addresses to current ones; `<view>` is a placeholder for a view.
        framed: Returns the views that stand in the frame before Dash, by a link's parameters; None:
            the first four.
        part_of: Name of the page in whose tab of the header it is; empty for a tab of its own.
        part_title: What it is called among the parts of its tab; empty for its title.
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
    missing: Callable[[LakeView, Any], str] | None
    pictures: tuple[View, ...] = ()
    scope: Callable[[LakeView, Any, str], Selection] | None = None
    recomputed: Callable[[LakeView, Any, str], list[Recomputed]] | None = None
    opening: Callable[[LakeView, Any], dict[str, Any] | None] | None = None
    opens_first: Callable[[LakeView], bool] | None = None
    keys: tuple[tuple[str, str], ...] = ()
    open_link: Callable[[LakeView, Any], tuple[Any, str]] | None = None
    add_routes: Callable[[Flask], None] | None = None
    cached_routes: tuple[str, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    old_paths: Mapping[str, str] = field(default_factory=dict)
    framed: Callable[[Mapping[str, str]], Sequence[View]] | None = None
    part_of: str = ""
    part_title: str = ""

    @property
    def tab(self) -> str:
        """Name of the page in whose tab of the header it is."""
        return self.part_of or self.name

    @property
    def ids(self) -> PageIds:
        """The ids of its components."""
        return PageIds(self.name)

    def view(self, name: str) -> View:
        """Return one of its views.

        Raises:
            SelectionError: The page has no such view.
        """
        return _named(self.views, name)

    def picture(self, name: str) -> View:
        """Return one of its views or other pictures.

        Raises:
            SelectionError: The page has no such picture.
        """
        return _named((*self.views, *self.pictures), name)


def _named(views: tuple[View, ...], name: str) -> View:
    for view in views:
        if view.name == name:
            return view
    known = ", ".join(view.name for view in views)
    raise SelectionError(f"no view {name[:40]!r}; known: {known}")
