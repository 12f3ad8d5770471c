"""Links to pages: written with filters, a selection and a version of the lake; read; resolved."""

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import polars as pl
import polars.selectors as cs
from flask import current_app, has_app_context

from app.kit.clause import Clause, matching
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.kit.page import Page
from app.kit.url_state import LINK_VERSION, filter_pairs, has_state
from data.queries.explore import points_query
from data.selection import Selection

# The page that says what the lake holds: its name in the header leads there.
LAKE_PATH: Final = "/lake"
# A clause of knobs needs no measured column, but the query of points requires one.
_ANY: Final = {"any": "duration_s"}


def address(path: str) -> str:
    """Return a path of the app as visitors address it, under the prefix of the proxy if any."""
    if not has_app_context():
        return path
    return str(current_app.config["APPLICATION_ROOT"]).rstrip("/") + path


def page_link(
    path: str, selection: Selection, sel: str = "", lake: int | None = None, claim: str = ""
) -> str:
    """Return the address of a page under some filters.

    Args:
        sel: A clause (see app/kit/clause.py); the page resolves it to what it can select.
        lake: The version of the lake that the link pins.
        claim: The id of the claim that Findings brings into view.
    """
    pairs = [("v", str(LINK_VERSION)), *filter_pairs(selection)]
    pairs += [("sel", sel)] if sel else []
    pairs += [("claim", claim)] if claim else []
    pairs += [("lake", str(lake))] if lake is not None else []
    return f"{address(path)}?{urlencode(pairs)}"


def open_page(page: Page, lakes: Lakes, query: str) -> tuple[LakeView, Any, str]:
    """Read a link to a page and open its version of the lake.

    Args:
        query: If it says nothing about what to show, the page chooses.

    Returns:
        The lake, the state, and a sentence for the page's notice, empty if there is nothing to say.

    Raises:
        WattlasError: The link cannot be followed, or the lake cannot be read.
    """
    view, state = lakes.follow(page.state.from_query, query)
    notices = []
    if not has_state(query, state.ignored):
        default = page.default_state(view)
        state = replace(default, lake_version=state.lake_version, ignored=state.ignored)
    elif page.open_link:
        linked = state
        state, more = page.open_link(view, linked)
        taken = set(linked.handed_on()) - set(state.handed_on())
        state = replace(state, carried=(*state.carried, *sorted(taken)))
        notices.append(more)
    newest = lakes.newest
    if state.lake_version is not None and view.version != newest:
        notices.insert(
            0, f"This link pins version {view.version} of the lake; the newest is {newest}."
        )
    return view, state, " ".join(part for part in notices if part)


def configurations(
    view: LakeView, selection: Selection, clause: Clause | None = None
) -> pl.DataFrame:
    """Return the configurations that match filters and a clause.

    A box or a lasso selects by the means over a configuration's replicates. A clause that names
    replicates selects single runs.

    Args:
        clause: Of kind `knobs`, `box` or `lasso`; None for all configurations.

    Returns:
        The columns of a configuration, plus `replicate` if the clause names it. One row per
        configuration or run, sorted as the points of Explore.
    """
    is_runs = clause is not None and any("replicate" in knobs for knobs in clause.knobs)
    fields = clause.fields if clause else None
    columns = dict(zip(("x", "y"), fields, strict=True)) if fields else _ANY

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        return points_query(selection, columns, not is_runs, limit, catalogue=view.catalogue)

    rows = view.narrowed(query, selection, is_each_run=is_runs).rows
    found = rows.filter(matching(clause, rows)) if clause else rows
    names = [*view.catalogue.configuration, *(["replicate"] if is_runs else [])]
    return found.select(names).with_columns(cs.categorical().cast(pl.String))
