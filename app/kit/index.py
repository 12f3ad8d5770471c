"""The first HTML response: the frame with placeholders, then Dash's scripts.

It is visible without scripts. Dash renders below it; the style sheet hides it once the page is
there.
"""

from collections.abc import Sequence
from typing import Any, Final

import dash
from flask import request

from app.kit.page import Page
from app.kit.template import fill

# Runs before the first paint to set the chosen theme; otherwise the media query decides.
_THEME_SCRIPT: Final = (
    'try{const t=localStorage.getItem("wattlas-theme");'
    'if(t)document.documentElement.setAttribute("data-theme",t)}catch(e){}'
)


class Atlas(dash.Dash):
    """Dash with an index page that shows the frame and placeholders."""

    pages: Sequence[Page] = ()

    def interpolate_index(self, **parts: Any) -> str:
        """Render the index for the requested address."""
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
