"""Pages in Dash: their registration, the layout for a link, and the first HTML response.

The first response is the frame with placeholders and the list of keys, visible without scripts.
Dash renders below it; the style sheet hides it once the page is there.

Dash does not check the body of a request for a callback: a malformed one raises a KeyError deep
inside Dash, so its form is checked before. Its values are compared with the types that the callback
declares where the callback fails: then the page that sent them is told.
"""

import base64
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict
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
    not_drawn,
    not_followed,
    nothing_to_show,
    say_ignored,
    show_parts,
)
from app.kit.words import empty_lake
from app.serve.figures import add_figure_routes
from app.serve.guard import allow_scripts, bug, status_of
from app.serve.response_cache import keep_no_response
from app.serve.routes import add_page_routes
from app.serve.scripts import STYLES, bundle_tag, scripts_in_turn
from data.errors import SelectionError, UnknownVersionError, WattlasError

# Properties that Dash's own callbacks read.
_OF_ADDRESSES: Final = ("pathname", "search")
# The keys of every page.
_KEYS: Final = (
    ("Tab, Shift+Tab", "move between controls and views"),
    ("?", "show or hide this list"),
    ("Ctrl+z", "undo the last change of the page, as the browser's Back"),
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


def callback_problem(body: Any, callbacks: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong with a body; empty if a callback can be called with it.

    Args:
        body: The decoded JSON.
        callbacks: Dash's `callback_map`: by output the declared inputs and states.
    """
    if not isinstance(body, dict):
        return "the body is no JSON object"
    name = body.get("output")
    if not isinstance(name, str) or "callback" not in callbacks.get(name, {}):
        return f"no callback has the output {str(name)[:100]!r}"
    declared, changed = callbacks[name], body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(one, str) for one in changed):
        return "changedPropIds is no list of texts"
    for key, expected in (("inputs", declared["inputs"]), ("state", declared["state"])):
        problem = _values_problem(key, body.get(key, []), expected)
        if problem:
            return problem
    return _outputs_problem(body.get("outputs", []), declared["output"])


def _values_problem(key: str, values: Any, expected: Sequence[Mapping[str, Any]]) -> str:
    if not isinstance(values, list) or len(values) != len(expected):
        return f"{key} is no list of {len(expected)} values"
    for value, wanted in zip(values, expected, strict=True):
        if not _is_place(value, wanted["id"], wanted["property"]):
            return f"{key} lacks {wanted['id']}.{wanted['property']}"[:200]
        if wanted["property"] in _OF_ADDRESSES and not isinstance(value.get("value"), str | None):
            return f"{wanted['property']} is no text"
    return ""


def _outputs_problem(outputs: Any, declared: Any) -> str:
    wanted = declared if isinstance(declared, (list, tuple)) else [declared]
    places = outputs if isinstance(declared, (list, tuple)) else [outputs]
    if not isinstance(places, list) or len(places) != len(wanted):
        return f"outputs is no list of {len(wanted)} places"
    for one, output in zip(places, wanted, strict=True):
        if not _is_place(one, output.component_id_str(), output.component_property):
            return f"outputs lacks {output.component_id_str()}"[:200]
    return ""


def _is_place(part: Any, wanted: str, prop: str) -> bool:
    """Return whether a value names a component, or a list names some that match a pattern."""
    name = json.loads(wanted) if wanted.startswith("{") else wanted
    if isinstance(name, dict) and any(isinstance(value, list) for value in name.values()):
        return isinstance(part, list) and all(
            isinstance(one, dict) and isinstance(one.get("id"), dict)
            and one.get("property") == prop for one in part
        )  # fmt: skip
    return isinstance(part, dict) and (part.get("id"), part.get("property")) == (name, prop)


def values_of(body: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a callback in a body of the right form."""
    places = [*body.get("inputs", []), *body.get("state", [])]
    return [
        [one.get("value") for one in place] if isinstance(place, list) else place.get("value")
        for place in places
    ]


def misfit(function: Callable[..., Any], values: Sequence[Any]) -> str:
    """Return which value does not have the type that a function declares; empty if all do."""
    hints = get_type_hints(function)
    for name, value in zip(inspect.signature(function).parameters, values, strict=False):
        if name in hints and not _fits(value, hints[name]):
            return f"{name.removesuffix('_')} is {str(value)[:40]!r}, which no page sends"
    return ""


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if is_typeddict(kind):
        fields = get_type_hints(kind)
        return isinstance(value, dict) and all(
            name in value and _fits(value[name], fields[name]) for name in fields
        )
    if kind in (dict, Mapping):
        return isinstance(value, dict) and all(_fits(one, parts[1]) for one in value.values())
    if kind in (list, Sequence):
        return isinstance(value, list) and all(_fits(one, parts[0]) for one in value)
    if kind in (int, float):
        kinds = (int,) if kind is int else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


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
    runs, or the lake has none, it says what is missing and which pages can. If wattlas fails, the
    page says that too.

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
        if page.missing and not view.runs:
            # Without runs no menu has a choice.
            return nothing_to_show(page, view, empty_lake(view), notice, ())
        if page.missing and (missing := page.missing(view, state)):
            return nothing_to_show(page, view, missing, notice, pages)
        main = page.layout(view, state, notice)
        show_parts(main, page, pages)
        main.children.insert(0, html.H1(page.title, className="unseen"))
    except WattlasError:
        words = "There is nothing to show: the lake cannot be read. Reload once it can."
    except Exception as error:
        words = bug(f"the page {page.title}", error)
    else:
        say_ignored(main, state.ignored)
        return main
    keep_no_response()
    return not_drawn(page, words)


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
