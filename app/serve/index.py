"""The first HTML response: the frame with placeholders, the list of keys, then Dash's scripts.

It is visible without scripts. Dash renders below it; the style sheet hides it once the page is
there.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, Final

import dash
from flask import abort, request

from app.kit.context import lakes
from app.kit.lakes import Lakes
from app.kit.links import open_page
from app.kit.page import Page
from app.kit.template import fill
from app.serve.bundles import bundle_tag
from app.serve.callback_bodies import callback_problem
from app.serve.guard import status_of
from app.serve.headers import allow_scripts
from data.errors import SelectionError, UnknownVersionError, WattlasError

# The keys of every page.
_KEYS: Final = (
    ("Tab, Shift+Tab", "move between controls and views"),
    ("?", "show or hide this list"),
)
# Runs before the first paint to set the chosen theme; otherwise the media query decides.
_THEME_SCRIPT: Final = (
    'try{const t=localStorage.getItem("wattlas-theme");'
    'if(t)document.documentElement.setAttribute("data-theme",t)}catch(e){}'
)
_THEME_HASH: Final = (
    f"'sha256-{base64.b64encode(hashlib.sha256(_THEME_SCRIPT.encode()).digest()).decode()}'"
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
        return text, link_status(page, lakes(), request.query_string.decode()) if page else 404

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
        parts["css"] += bundle_tag("css", prefix)
        parts["scripts"] += bundle_tag("js", prefix)
        return fill(
            "index.html",
            **parts,
            theme_script=_THEME_SCRIPT,
            keys=_KEYS,
            page=self._page(),
            pages=self.pages,
            prefix=prefix,
        )


def link_status(page: Page, found: Lakes, query: str) -> int:
    """Return the HTTP status of a page for its link; 200 if the lake cannot be read."""
    try:
        if query:
            open_page(page, found, query)
    except WattlasError as error:
        is_refused = isinstance(error, (SelectionError, UnknownVersionError))
        return status_of(error) if is_refused else 200
    return 200
