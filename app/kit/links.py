"""Links between pages: filters, a selection and a version of the lake."""

from urllib.parse import urlencode

from flask import current_app, has_app_context

from app.kit.url_state import LINK_VERSION, filter_pairs
from data.selection import Selection


def address(path: str) -> str:
    """Return a path of the app as visitors address it, under the prefix of the proxy if any."""
    if not has_app_context():
        return path
    return str(current_app.config["APPLICATION_ROOT"]).rstrip("/") + path


def page_link(path: str, selection: Selection, sel: str = "", lake: int | None = None) -> str:
    """Return the address of a page under some filters.

    Args:
        sel: A clause (see app/kit/clause.py); the page resolves it to what it can select.
        lake: The version of the lake that the link pins.
    """
    pairs = [("v", str(LINK_VERSION)), *filter_pairs(selection)]
    pairs += [("sel", sel)] if sel else []
    pairs += [("lake", str(lake))] if lake is not None else []
    return f"{address(path)}?{urlencode(pairs)}"
