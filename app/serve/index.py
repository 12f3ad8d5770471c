"""Pages in Dash: their registration, the layout for a link, and the first HTML response.

The first response is the frame with placeholders and the list of keys, visible without scripts.
Dash renders below it; the style sheet hides it once the page is there.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import dash
from dash import html
from flask import Flask, abort, redirect, request

from app.kit.context import lake_view, lakes
from app.kit.export import fill
from app.kit.links import address, open_page
from app.kit.page import Page
from app.kit.shell import (
    no_page,
    not_followed,
    nothing_to_show,
    say_ignored,
    show_parts,
    unreadable,
)
from app.serve.callback_bodies import callback_problem
from app.serve.figures import add_figure_routes
from app.serve.guard import allow_scripts, status_of
from app.serve.response_cache import keep_no_response
from app.serve.routes import add_page_routes
from app.serve.scripts import STYLES, bundle_tag, scripts_in_turn
from data.errors import SelectionError, UnknownVersionError, WattlasError

# The keys of every page.
_KEYS: Final = (
    ("Tab, Shift+Tab", "move between controls and views"),
    ("?", "show or hide this list"),
    ("m", "maximise the view that has the focus, or the first one; Escape ends it"),
    ("p", "present it: alone, with large text; left and right arrow show the others"),
)
# Runs before the first paint to set the chosen theme; otherwise the media query decides.
_THEME_SCRIPT: Final = (
    'try{const t=localStorage.getItem("wattlas-theme");'
    'if(t)document.documentElement.setAttribute("data-theme",t)}catch(e){}'
)
_THEME_HASH: Final = (
    f"'sha256-{base64.b64encode(hashlib.sha256(_THEME_SCRIPT.encode()).digest()).decode()}'"
)


def register(server: Flask, page: Page, pages: Sequence[Page]) -> None:
    """Register one of the pages with Dash and its addresses with the server."""
    dash.register_page(
        f"app.{page.name}.page",
        path=page.path,
        order=pages.index(page),
        name=page.title,
        title=f"wattlas · {page.title}",
        state_version=page.state.VERSION,
        tab=page.tab,
        layout=lambda **parts: open_layout(page, parts, pages),
    )
    add_page_routes(server, page)
    add_figure_routes(server, page)


def open_layout(
    page: Page, parts: Mapping[str, str | Sequence[str]], pages: Sequence[Page] = ()
) -> html.Main:
    """Lay a page out for its link.

    If the link cannot be followed, the page says why and offers the default view. If the lake
    cannot be read, the page says so; the header says why. If the page can show none of the lake's
    runs, it says what is missing and which pages can.

    Args:
        parts: The parameters of the link.
        pages: All pages.
    """
    try:
        try:
            view, state, notice = open_page(page, lakes(), urlencode(parts, doseq=True))
        except WattlasError as error:
            lake_view(None)
            return not_followed(page, error, parts)
        notice = " ".join(part for part in (lakes().trouble, notice) if part)
        missing = page.missing(view, state) if view.runs and page.missing else ""
        if missing:
            return nothing_to_show(page, view, missing, notice, pages)
        main = page.layout(view, state, notice)
        show_parts(main, page, pages)
        main.children.insert(0, html.H1(page.title, className="unseen"))
    except WattlasError:
        keep_no_response()
        return unreadable(page)
    say_ignored(main, state.ignored)
    return main


def register_no_page(pages: Sequence[Page]) -> None:
    """Register what an address shows that no page has."""
    # Dash finds it by this name.
    dash.register_page(
        "app.not_found_404",
        path="/404",
        name="Not found",
        title="wattlas · no page",
        layout=lambda **_: no_page(pages),
    )


class Atlas(dash.Dash):
    """Dash with an index page that shows the frame and placeholders."""

    pages: Sequence[Page] = ()

    def index(self, *args: Any, **kwargs: Any) -> Any:
        """Return the index.

        Its status is 404 for an address that no page has and for an unknown version of the lake,
        400 for a link that cannot be read.
        """
        text, page = super().index(*args, **kwargs), self._page()
        try:
            if page and request.query_string:
                open_page(page, lakes(), request.query_string.decode())
            elif page is self.pages[0]:
                view = lake_view(None)
                # A visit that names no page opens the first, or one that says so of this lake.
                front = next((p for p in self.pages if p.opens_first and p.opens_first(view)), None)
                if front:
                    return redirect(address(front.path))
        except (SelectionError, UnknownVersionError) as error:
            return text, status_of(error)
        except WattlasError:
            pass  # The page says that the lake cannot be read.
        return text, 200 if page else 404

    def _page(self) -> Page | None:
        asked = "/" + request.path.removeprefix(self.config.routes_pathname_prefix)
        return next((page for page in self.pages if page.path == asked), None)

    def _initialize_context(self, body: Any) -> Any:
        """Refuse a callback's request of a form that Dash cannot read."""
        problem = callback_problem(body, self.callback_map)
        if problem:
            abort(400, problem)
        return super()._initialize_context(body)

    def interpolate_index(self, **parts: Any) -> str:
        """Render the index for the requested address."""
        allow_scripts([*self.csp_hashes(), _THEME_HASH])
        prefix = self.config.requests_pathname_prefix
        parts["css"] += bundle_tag(STYLES, prefix)
        page, query = self._page(), request.query_string.decode()
        first, parts["scripts"], later = scripts_in_turn(parts["scripts"], prefix, page)
        has_opening = page is not None and page.opening is not None
        opening = f"{prefix}{page.name}/opening?{query}" if page and has_opening else ""
        return fill(
            "index.html",
            **parts,
            first_scripts=first,
            later_scripts=later,
            opening=opening,
            theme_script=_THEME_SCRIPT,
            keys=_KEYS,
            page=page,
            framed=page and (page.framed(request.args) if page.framed else page.views)[:4],
            pages=self.pages,
            prefix=prefix,
        )
