"""The page that the server sends first: the frame with placeholders, then Dash's scripts.

It needs no script to be seen. Dash draws below it; the style sheet hides it when the page is there.
"""

from collections.abc import Sequence
from typing import Any, Final

import dash
from flask import request

from app.kit.page import Page
from app.kit.template import fill

# Before the first picture, so that it has the theme that was chosen; the media query has the rest.
_THEME_SCRIPT: Final = (
    'try{const t=localStorage.getItem("wattlas-theme");'
    'if(t)document.documentElement.setAttribute("data-theme",t)}catch(e){}'
)


class Atlas(dash.Dash):
    """Dash with a first page that shows what is to come."""

    pages: Sequence[Page] = ()

    def interpolate_index(self, **parts: Any) -> str:
        """Write the first page for the address that was asked for."""
        prefix = self.config.requests_pathname_prefix
        asked = "/" + request.path.removeprefix(self.config.routes_pathname_prefix)
        page = next((page for page in self.pages if page.path == asked), None)
        return fill(
            "index.html",
            **parts,
            theme_script=_THEME_SCRIPT,
            page=page,
            pages=self.pages,
            prefix=prefix,
        )
